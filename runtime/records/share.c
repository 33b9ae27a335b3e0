/* Records from others and for others; and where one's own are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "text/file.h"
#include "base/memory.h"
#include "records/parts.h"
#include "text/text.h"

bool record_default_path(char *path, size_t size) {
    const struct {
        const char *variable, *below;
    } places[] = {{"MCGEN_RECORDS", ""},
                  {"XDG_DATA_HOME", "/mcgen/records.jsonl"},
                  {"HOME", "/.local/share/mcgen/records.jsonl"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        const char *value = secure_getenv(places[i].variable);
        bool usable = value != NULL && (places[i].below[0] == '\0' ? value[0] != '\0' : value[0] == '/');
        if (usable) return snprintf(path, size, "%s%s", value, places[i].below) < (int)size;
    }
    return false;
}

/* -- Import */

typedef struct importing {
    record_store *store;
    mc_text lines;
    size_t count;
} importing;

static mc_status import_record(void *user, record *r, const char *line, size_t size, mc_diag *diag) {
    importing *in = user;
    char *whole = NULL;
    (void)line, (void)size;
    mc_status status = record_take(in->store, r, &whole, diag);
    if (whole != NULL) {
        text_add(&in->lines, "%s\n", whole);
        in->count++;
    }
    free(whole);
    return status;
}

mc_status record_import(record_store *store, const char *path, size_t *count, mc_diag *diag) {
    importing in = {.store = store};
    mc_status status = record_file_read(path, record_store_settings(store), import_record, &in, NULL, diag);
    if (count != NULL) *count = in.count;
    size_t size = in.lines.size;
    char *lines = text_take(&in.lines);
    if (lines == NULL && status == MC_OK) status = mc_fail(diag, MC_NOMEM, "no memory for records");
    const char *own = record_store_path(store);
    if (status == MC_OK && own != NULL && size != 0) status = record_file_extend(own, lines, size, diag);
    free(lines);
    return status;
}

/* -- Export */

typedef struct exporting {
    record_store *all; /* own and shipped ones of a problem become one */
    unsigned what;
    mc_status status;
    char **lines;
    size_t count, room;
} exporting;

static bool join_record(void *user, const record *r, bool own) {
    exporting *out = user;
    record copy;
    char *line = NULL;
    if (!own && (out->what & RECORD_SHIPPED) == 0) return false;
    out->status = record_copy(r, &copy, NULL);
    if (out->status == MC_OK) out->status = record_take(out->all, &copy, &line, NULL);
    free(line);
    return out->status == MC_OK;
}

/* Candidates with fields come first, the fastest ones. */
static char *print_brief(const record *r) {
    enum { MOST = 3 };
    record brief = *r;
    size_t count = 0;
    while (count < MOST && count < r->candidate_count && r->candidates[count].fields[0] != '\0') count++;
    brief.candidate_count = count;
    return record_print(&brief);
}

static bool print_record(void *user, const record *r, bool own) {
    exporting *out = user;
    bool brief = (out->what & RECORD_BRIEF) != 0;
    (void)own;
    if ((out->what & RECORD_LATEST) != 0 && record_is_outdone(out->all, r)) return true;
    char **lines = mcrt_room(out->lines, out->count, &out->room, sizeof *lines);
    if (lines != NULL) out->lines = lines;
    char *line = lines == NULL ? NULL : brief ? print_brief(r) : record_print(r);
    if (line == NULL) out->status = MC_NOMEM;
    else out->lines[out->count++] = line;
    return line != NULL;
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static mc_status write_lines(const exporting *out, const char *path, mc_diag *diag) {
    file_output output;
    mc_status status = file_open(path, &output, diag);
    if (status != MC_OK) return status;
    for (size_t i = 0; i < out->count; i++) {
        file_write(&output, out->lines[i], strlen(out->lines[i]));
        file_write(&output, "\n", 1);
    }
    return file_commit(&output, diag);
}

mc_status record_export(record_store *store, const char *path, unsigned what, size_t *count, mc_diag *diag) {
    exporting out = {.what = what};
    mc_status status = record_store_open(&(record_store_config){0}, &out.all, diag);
    if (status != MC_OK) return status;
    record_walk(store, join_record, &out);
    if (out.status == MC_OK) record_walk(out.all, print_record, &out);
    if (out.status != MC_OK) mc_fail(diag, out.status, "no memory for records");
    if (out.count != 0) qsort(out.lines, out.count, sizeof *out.lines, compare_lines);
    if (out.status == MC_OK) out.status = write_lines(&out, path, diag);
    if (count != NULL) *count = out.status == MC_OK ? out.count : 0;
    for (size_t i = 0; i < out.count; i++) free(out.lines[i]);
    free(out.lines);
    record_store_close(out.all);
    return out.status;
}
