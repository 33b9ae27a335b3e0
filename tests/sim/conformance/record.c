#include "record.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 5, BASE = 85, FIRST = '!' };

static bool fail(struct record *record, const char *path, const char *reason) {
    fprintf(stderr, "%s: %s\n", path, reason);
    record_free(record);
    return false;
}

static char *read_text(const char *path) {
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    long size;
    if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
        rewind(file);
        text = calloc((size_t)size + 1, 1);
        if (text && fread(text, 1, (size_t)size, file) != (size_t)size) free(text), text = NULL;
    }
    if (file) fclose(file);
    return text;
}

static bool read_head(struct record *record, char **rest) {
    int used = 0;
    int fields = sscanf(record->text, RECORD_TITLE "\ndevice %127[^\n]\ncapability %d\ndriver %d\n%n",
                        record->device, &record->capability, &record->driver, &used);
    *rest = record->text + used;
    return fields == 3 && used > 0;
}

static bool read_line(char *text, struct record_line *line) {
    int used = 0;
    if (sscanf(text, "%8" SCNx32 " %d %n", &line->hash, &line->blocks, &used) != 2 || line->blocks < 1)
        return false;
    line->text = text + used;
    return true;
}

bool record_read(const char *path, struct record *record) {
    char *rest;
    *record = (struct record){.text = read_text(path)};
    if (!record->text) return fail(record, path, "cannot be read");
    if (!read_head(record, &rest)) return fail(record, path, "not a conformance record");
    size_t lines = 0;
    for (const char *s = rest; *s; s++) lines += *s == '\n';
    record->lines = calloc(lines + 1, sizeof *record->lines);
    if (!record->lines) return fail(record, path, "out of memory");
    for (char *line = strtok(rest, "\n"); line; line = strtok(NULL, "\n"))
        if (!read_line(line, &record->lines[record->count++]))
            return fail(record, path, "a line that does not parse");
    return true;
}

void record_free(struct record *record) {
    free(record->lines);
    free(record->text);
    *record = (struct record){0};
}

const struct record_line *record_find(const struct record *record, uint32_t hash) {
    for (size_t i = 0; i < record->count; i++)
        if (record->lines[i].hash == hash) return &record->lines[i];
    return NULL;
}

bool record_decode(const struct record_line *line, uint32_t *words, size_t count) {
    if (strlen(line->text) != count * DIGITS) return false;
    const char *text = line->text;
    for (size_t i = 0; i < count; i++) {
        words[i] = 0;
        for (int d = 0; d < DIGITS; d++) words[i] = words[i] * BASE + (uint32_t)(*text++ - FIRST);
    }
    return true;
}

void record_write_head(FILE *file, const char *device, int capability, int driver) {
    fprintf(file, RECORD_TITLE "\ndevice %s\ncapability %d\ndriver %d\n", device, capability, driver);
}

void record_write_line(FILE *file, uint32_t hash, int blocks, const uint32_t *words, size_t count) {
    fprintf(file, "%08" PRIx32 " %d ", hash, blocks);
    for (size_t i = 0; i < count; i++) {
        char digits[DIGITS + 1] = "";
        uint32_t rest = words[i];
        for (int d = DIGITS; d-- > 0; rest /= BASE) digits[d] = (char)(FIRST + rest % BASE);
        fputs(digits, file);
    }
    fputc('\n', file);
}
