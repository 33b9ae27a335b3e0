/* What tests have in common whose offsets leave 32 bits. The simulator backs memory where it is written, and stops a kernel that
 * reads anything else: so an operand of many gigabytes takes what is written of it, and that is all that the kernel may read. */
#ifndef MC_TESTS_FAR_H
#define MC_TESTS_FAR_H

#include "products.h"
#include "sparse_cases.h"
#include <sys/resource.h>

enum {
    MOST_SETTINGS = 12,
    MOST_BUFFERS = 16,
    FAR = (1 << 26) - 5, /* as many columns */
    MOST_MEGABYTES = 500 /* of memory that a test may take */
};

typedef struct session {
    mc_device *device;
    mc_kernel *kernel;
    mc_diag *diag;
    long sums, far; /* of them those whose operands or results lie beyond 2 GB */
} session;

static inline const char *entry(const session *s) { return mc_kernel_contract(s->kernel)->entry; }

/* -- A launch ------------------------------------------------------------------------------------------ */

typedef struct launcher {
    session *s;
    mc_binding bindings[32];
    size_t count, buffers;
    uint64_t buffer[MOST_BUFFERS];
    mc_status status;
} launcher;

static inline void bind_to(launcher *l, const char *name, int64_t value) {
    l->bindings[l->count++] = (mc_binding){name, value};
}

/* Memory that takes none until it is written; NAME is bound to it. */
static inline uint64_t room(launcher *l, const char *name, size_t bytes) {
    uint64_t address = 0;
    if (l->status == MC_OK) l->status = mc_device_alloc(l->s->device, bytes, &address, l->s->diag);
    if (l->status == MC_OK) l->buffer[l->buffers++] = address;
    bind_to(l, name, (int64_t)address);
    return address;
}

static inline void put(launcher *l, uint64_t address, const void *data, size_t bytes) {
    if (l->status == MC_OK) l->status = mc_device_write(l->s->device, address, data, bytes, l->s->diag);
}

static inline void run(launcher *l) {
    session *s = l->s;
    mc_launch launch;
    mc_module *module = NULL;
    if (l->status == MC_OK) l->status = mc_bind(s->kernel, l->bindings, l->count, &launch, s->diag);
    if (l->status == MC_OK)
        l->status = mc_module_load(s->device, mc_kernel_ptx(s->kernel), entry(s), &module, s->diag);
    if (l->status == MC_OK) l->status = mc_module_launch(module, &launch, s->diag);
    mc_module_unload(module);
}

static inline void finish(launcher *l) {
    CHECK(l->status == MC_OK, "%s: %s", entry(l->s), mc_diag_text(l->s->diag));
    for (size_t i = 0; i < l->buffers; i++) mc_device_free(l->s->device, l->buffer[i]);
    mc_diag_clear(l->s->diag);
}

/* -- Rows far from each other -------------------------------------------------------------------------- */

static inline size_t bytes_of(const mc_dense *dense, int64_t elements) {
    return (size_t)mc_type_size(dense->type, elements);
}

/* Of COUNT columns or rows number I, where there are ALL: half of them stay, half come last. */
static inline int64_t spread(int64_t i, int64_t count, int64_t all) {
    return i < count / 2 ? i : all - count + i;
}

/* The matrix has COLS columns (0: its own), and those that it has something in are spread over them. */
static inline void spread_columns(mc_vsparse *a, int64_t cols) {
    const int64_t own = a->cols;
    if (cols == 0) return;
    for (int64_t i = 0; i < a->vectors; i++) a->col_idx[i] = (int32_t)spread(a->col_idx[i], own, cols);
    a->cols = cols;
}

/* Rows of DENSE, LD elements from one to the next, the second half of them at the end of ALL. Between them nothing is written. */
static inline void put_rows(launcher *l, const char *name, const mc_dense *dense, int64_t all, int64_t ld) {
    const uint64_t address = room(l, name, bytes_of(dense, (all - 1) * ld + dense->cols));
    for (int64_t r = 0; r < dense->rows; r++)
        put(l, address + bytes_of(dense, spread(r, dense->rows, all) * ld),
            (const char *)dense->data + bytes_of(dense, r * dense->ld), bytes_of(dense, dense->cols));
}

/* COUNT sums, AT bytes from the beginning of an operand. */
static inline void count_sums(session *s, int64_t count, uint64_t at) {
    s->sums += count, s->far += at > INT32_MAX ? count : 0;
}

/* Where a kernel that computes with 32 bits would write, it wrote nothing. */
static inline void check_unwritten(launcher *l, uint64_t c, const mc_dense *want, int64_t row, int64_t ld) {
    const uint64_t at = bytes_of(want, row * ld), low = (uint32_t)at, step = bytes_of(want, ld);
    char byte;
    if (low == at || low % step < bytes_of(want, want->cols)) return;
    CHECK(mc_device_read(l->s->device, c + low, &byte, 1, l->s->diag) != MC_OK, "%s: row %d is at %llu",
          entry(l->s), (int)row, (unsigned long long)low);
    mc_diag_clear(l->s->diag);
}

static inline void check_rows(launcher *l, uint64_t c, const mc_dense *want, int64_t ld) {
    const size_t bytes = bytes_of(want, want->cols);
    char *got = malloc(bytes);
    for (int64_t r = 0; r < want->rows && l->status == MC_OK; r++) {
        const size_t at = bytes_of(want, r * ld);
        l->status = mc_device_read(l->s->device, c + at, got, bytes, l->s->diag);
        if (l->status != MC_OK) break;
        CHECK(memcmp(got, (const char *)want->data + bytes_of(want, r * want->ld), bytes) == 0,
              "%s: row %d of C, at %llu, is another", entry(l->s), (int)r, (unsigned long long)at);
        check_unwritten(l, c, want, r, ld);
        count_sums(l->s, want->cols, at);
    }
    free(got);
}

static inline void put_near(launcher *l, const mc_packed_array *array) {
    const size_t bytes = (size_t)mc_type_size(array->type, array->count);
    put(l, room(l, array->name, bytes), array->data, bytes);
}

/* A leading dimension of a table: LD itself; where that is 0 LEAST; below 0 it counts from the end, and -1 is MOST. */
static inline int64_t leading(int64_t ld, int64_t least, int64_t most) {
    return ld > 0 ? ld : ld == 0 ? least : most + 1 + ld;
}

/* Of rows that kernels take: they are fewer than 2^31 bytes apart. */
static inline int64_t most_leading(const mc_dense *dense) { return INT32_MAX / mc_type_size(dense->type, 1); }

/* -- The whole ----------------------------------------------------------------------------------------- */

typedef void far_check(session *s);

/* The kernel of spec ARGV[0] with the settings behind it, NAME=VALUE each. */
static inline int far_main(int argc, char **argv, far_check *check) {
    session s = {.diag = mc_diag_create()};
    mc_setting settings[MOST_SETTINGS];
    mc_spec *spec = NULL;
    struct rusage used = {0};
    size_t count = 0;
    if (argc < 1 || mc_device_open("sim", &s.device, s.diag) != MC_OK) return 2;
    for (int i = 1; i < argc && count < MOST_SETTINGS; i++) {
        char *value = strchr(argv[i], '=');
        if (value == NULL) return 2;
        *value = '\0';
        settings[count++] = (mc_setting){argv[i], value + 1};
    }
    mc_status status = mc_spec_read(argv[0], settings, count, &spec, s.diag);
    if (status == MC_OK) status = mc_kernel_generate(spec, 0, &s.kernel, s.diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(s.diag));
    if (status == MC_OK) check(&s);
    CHECK(s.far > 0, "nothing was far");
    if (getrusage(RUSAGE_SELF, &used) == 0)
        CHECK(used.ru_maxrss / 1024 < MOST_MEGABYTES, "%ld MB", used.ru_maxrss / 1024);
    printf("%ld sums, %ld far, %ld MB\n", s.sums, s.far, used.ru_maxrss / 1024);
    mc_kernel_destroy(s.kernel);
    mc_spec_destroy(spec);
    mc_device_close(s.device);
    mc_diag_destroy(s.diag);
    return check_end();
}

#endif
