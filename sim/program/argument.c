#include "program.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct type {
    char name[4];
    char kind;
    size_t bytes;
} types[] = {{"u8", 'u', 1},  {"u16", 'u', 2}, {"u32", 'u', 4}, {"u64", 'u', 8}, {"s8", 's', 1},
             {"s16", 's', 2}, {"s32", 's', 4}, {"s64", 's', 8}, {"f32", 'f', 4}, {"f64", 'f', 8}};
enum { TYPES = sizeof types / sizeof *types };
static const uint64_t most_bytes = UINT64_C(1) << 36;

/* The type that stands at TEXT before a colon; -1 if there is none. */
static int type_at(const char *text) {
    size_t length = strcspn(text, ":");
    for (int i = 0; i < TYPES; i++)
        if (strlen(types[i].name) == length && strncmp(types[i].name, text, length) == 0) return i;
    return -1;
}

/* -- Numbers ------------------------------------------------------------------------------------------ */

static bool parse_float(const char *text, const struct type *type, unsigned char value[8]) {
    char *end;
    double x = strtod(text, &end);
    float single = (float)x;
    if (end == text || *end) return false;
    memcpy(value, type->bytes == 4 ? (const void *)&single : &x, type->bytes);
    return true;
}

/* Decimal, or 0x and hexadecimal. */
static bool parse_integer(const char *text, const struct type *type, unsigned char value[8]) {
    bool negative = *text == '-';
    char *end;
    if (negative) text++;
    if (*text < '0' || *text > '9' || (negative && type->kind == 'u')) return false;
    errno = 0;
    uint64_t x = strtoull(text, &end, text[1] == 'x' ? 16 : 10);
    unsigned bits = 8 * (unsigned)type->bytes;
    uint64_t most = type->kind == 'u' ? UINT64_MAX >> (64 - bits) : (UINT64_C(1) << (bits - 1)) - !negative;
    if (*end || errno || x > most) return false;
    if (negative) x = 0 - x;
    memcpy(value, &x, type->bytes);
    return true;
}

static bool make_number(const char *text, int kind, size_t bytes, struct argument *a) {
    const struct type *type = &types[kind];
    const char *number = text + strlen(type->name) + 1;
    bool parsed =
        type->kind == 'f' ? parse_float(number, type, a->value) : parse_integer(number, type, a->value);
    if (!parsed) return complain("--arg %s: '%s' is no %s", text, number, type->name);
    if (type->bytes != bytes)
        return complain("--arg %s: the parameter has %zu bytes, a %s has %zu", text, bytes, type->name,
                        type->bytes);
    a->bytes = bytes;
    return true;
}

/* -- Buffers ------------------------------------------------------------------------------------------ */

/* A buffer of BYTES with the bytes of FROM, or, where that is NULL, zeros or, if FRESH, nothing. */
static bool make_buffer(ptxsim *sim, size_t bytes, const void *from, bool fresh, struct argument *a) {
    ptxsim_status status = ptxsim_alloc(sim, bytes, &a->address);
    if (status == PTXSIM_OK && from) status = ptxsim_write(sim, a->address, from, bytes);
    else if (status == PTXSIM_OK && !fresh) status = ptxsim_fill(sim, a->address, 0, bytes);
    if (status != PTXSIM_OK) return complain("--arg %s: %s", a->text, ptxsim_fault_text(sim));
    a->buffer_bytes = bytes;
    memcpy(a->value, &a->address, sizeof a->address);
    return true;
}

static bool make_in(ptxsim *sim, const char *rest, struct argument *a) {
    size_t bytes;
    void *data = file_read(rest, &bytes);
    a->unreadable = data == NULL;
    bool made = data && make_buffer(sim, bytes, data, false, a);
    free(data);
    return made;
}

static bool make_sized(ptxsim *sim, const char *rest, bool fresh, struct argument *a) {
    uint64_t bytes;
    if (!parse_count(rest, strlen(rest), most_bytes, &bytes))
        return complain("--arg %s: '%s' is no size", a->text, rest);
    return make_buffer(sim, (size_t)bytes, NULL, fresh, a);
}

static bool make_zero(ptxsim *sim, const char *rest, struct argument *a) {
    return make_sized(sim, rest, false, a);
}

static bool make_new(ptxsim *sim, const char *rest, struct argument *a) {
    return make_sized(sim, rest, true, a);
}

static bool make_out(ptxsim *sim, const char *rest, struct argument *a) {
    const char *colon = strrchr(rest, ':');
    if (!colon || colon == rest) return complain("--arg %s: out:FILE:BYTES is wanted", a->text);
    a->out = strndup(rest, (size_t)(colon - rest));
    if (!a->out) return complain("out of memory");
    return make_sized(sim, colon + 1, false, a);
}

/* TYPE:COUNT, and in *MORE what stands behind a further colon, or NULL. */
static bool parse_elements(const char *rest, const struct argument *a, int *type, size_t *count,
                           const char **more) {
    uint64_t n = 0;
    *type = type_at(rest);
    const char *number = rest + strcspn(rest, ":");
    if (*type < 0 || *number == 0)
        return complain("--arg %s: a type and a number of elements are wanted", a->text);
    size_t length = strcspn(++number, ":");
    if (!parse_count(number, length, most_bytes / types[*type].bytes, &n))
        return complain("--arg %s: '%.*s' is no number of elements", a->text, (int)length, number);
    *count = (size_t)n;
    *more = number[length] ? number + length + 1 : NULL;
    return true;
}

static uint64_t draw(uint64_t *state) { /* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static void put_random(const struct type *type, uint64_t bits, unsigned char *to) {
    double real = (double)(int64_t)bits * 0x1p-63;
    float single = (float)real;
    if (type->kind != 'f') memcpy(to, &bits, type->bytes);
    else memcpy(to, type->bytes == 4 ? (const void *)&single : &real, type->bytes);
}

static bool make_random(ptxsim *sim, const char *rest, struct argument *a) {
    int type;
    size_t count;
    const char *more;
    uint64_t seed = 0;
    if (!parse_elements(rest, a, &type, &count, &more)) return false;
    if (more && !parse_count(more, strlen(more), UINT64_MAX, &seed))
        return complain("--arg %s: '%s' is no seed", a->text, more);
    unsigned char *data = malloc(count * types[type].bytes + 1);
    if (!data) return complain("out of memory");
    for (size_t i = 0; i < count; i++) put_random(&types[type], draw(&seed), data + i * types[type].bytes);
    bool made = make_buffer(sim, count * types[type].bytes, data, false, a);
    free(data);
    return made;
}

static bool make_show(ptxsim *sim, const char *rest, struct argument *a) {
    size_t count;
    const char *more;
    if (!parse_elements(rest, a, &a->shown, &count, &more)) return false;
    if (more) return complain("--arg %s: show:TYPE:COUNT is wanted", a->text);
    return make_buffer(sim, count * types[a->shown].bytes, NULL, false, a);
}

static const struct {
    const char *name;
    bool (*make)(ptxsim *sim, const char *rest, struct argument *a);
} buffers[] = {{"in", make_in},         {"zero", make_zero}, {"new", make_new},
               {"random", make_random}, {"out", make_out},   {"show", make_show}};

bool argument_make(ptxsim *sim, const char *text, size_t bytes, struct argument *a) {
    size_t length = strcspn(text, ":");
    int type = type_at(text);
    *a = (struct argument){.text = text, .shown = -1};
    if (text[length] && type >= 0) return make_number(text, type, bytes, a);
    for (size_t i = 0; text[length] && i < sizeof buffers / sizeof *buffers; i++) {
        if (strlen(buffers[i].name) != length || strncmp(buffers[i].name, text, length) != 0) continue;
        if (bytes != sizeof a->address)
            return complain("--arg %s: the parameter has %zu bytes, an address has 8", text, bytes);
        a->bytes = bytes;
        return buffers[i].make(sim, text + length + 1, a);
    }
    return complain("--arg %s: not a value (ptxsim run --help lists them)", text);
}

/* -- Afterwards --------------------------------------------------------------------------------------- */

static void print_element(const struct type *type, const unsigned char *from) {
    float single;
    double real;
    uint64_t bits = 0;
    memcpy(&bits, from, type->bytes);
    memcpy(&single, from, type->bytes < sizeof single ? type->bytes : sizeof single);
    memcpy(&real, &bits, sizeof real);
    unsigned spare = 64 - 8 * (unsigned)type->bytes;
    if (type->kind == 'f')
        printf("%.*g\n", type->bytes == 4 ? 9 : 17, type->bytes == 4 ? (double)single : real);
    else if (type->kind == 's') printf("%" PRId64 "\n", (int64_t)(bits << spare) >> spare);
    else printf("%" PRIu64 "\n", bits);
}

bool argument_finish(ptxsim *sim, const struct argument *a) {
    if (!a->out && a->shown < 0) return true;
    unsigned char *data = malloc(a->buffer_bytes + 1);
    bool done = data != NULL || complain("out of memory");
    if (done && ptxsim_read(sim, a->address, data, a->buffer_bytes) != PTXSIM_OK)
        done = complain("--arg %s: %s", a->text, ptxsim_fault_text(sim));
    if (done && a->out) done = file_write(a->out, data, a->buffer_bytes);
    if (done && a->shown >= 0)
        for (size_t at = 0; at < a->buffer_bytes; at += types[a->shown].bytes)
            print_element(&types[a->shown], data + at);
    free(data);
    return done;
}

void argument_free(struct argument *a) {
    free(a->out);
    a->out = NULL;
}
