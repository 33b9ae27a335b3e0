#include "rows.h"
#include <stdio.h>
#include <string.h>
#include "check.h"

/* Vectors of row blocks: none, fewer and more than a stride, whole strides, and more than small kernels hold. */
static const int lengths[] = {0, 1, 5, 16, 17, 32, 0, 33, 64, 100, 0}, long_ones[] = {3, 1200, 0, 1031, 130};

mc_status rows_make_mask(rows_bench *t, int vec) {
    int64_t vectors = 0;
    for (int b = 0; b < t->blocks; b++) vectors += t->lengths[b];
    mc_status status = mcrt_vsparse_create(MC_F32, vec, t->blocks, ROWS_COLUMNS, vectors, &t->mask, t->diag);
    if (status != MC_OK) return status;
    for (int b = 0; b < t->blocks; b++) {
        int64_t first = t->mask.row_ptr[b];
        t->mask.row_ptr[b + 1] = first + t->lengths[b];
        for (int i = 0; i < t->lengths[b]; i++)
            t->mask.col_idx[first + i] = (int32_t)((int64_t)i * ROWS_COLUMNS / t->lengths[b]);
    }
    mc_bias_fill(t->mask.values, vectors * vec, MC_VALUES_FULL, 3);
    return MC_OK;
}

void rows_make_long(rows_bench *t) {
    t->lengths = long_ones, t->blocks = sizeof long_ones / sizeof *long_ones;
}

void rows_make_short(rows_bench *t) {
    enum { ROWS = 203 };
    static int short_ones[ROWS];
    for (int i = 0; i < ROWS; i++) short_ones[i] = i * 7 % 13 * (i * 5 % 11) / 4;
    short_ones[3] = short_ones[150] = 129, short_ones[77] = ROWS_COLUMNS, short_ones[202] = 33;
    t->lengths = short_ones, t->blocks = ROWS;
}

void rows_make_edges(rows_bench *t, rows_edge edge, int held) {
    enum { ROWS = 37 };
    static int of[ROWS];
    for (int i = 0; i < ROWS; i++)
        of[i] = edge == ROWS_EMPTY ? i == 20 : held + (edge == ROWS_BEYOND) + i % 2;
    t->lengths = of, t->blocks = ROWS;
}

void rows_try(rows_bench *t, const char *spec, const mc_setting *settings, size_t count) {
    mc_diag_clear(t->diag);
    t->kernel = choices_kernel(spec, settings, count, t->diag);
    bool made = t->kernel != NULL && plan_problem_read(t->kernel, &t->problem, t->diag) == MC_OK;
    CHECK(made, "%s: %s", t->text, mc_diag_text(t->diag));
    if (!made) {
        mc_kernel_destroy(t->kernel);
        return;
    }
    t->op = operator_of(t->problem.op);
    mc_status status = rows_make_mask(t, t->problem.vec);
    if (status == MC_OK) status = t->run(t);
    CHECK(status == MC_OK, "%s: %s", t->text, mc_diag_text(t->diag));
    mc_vsparse_free(&t->mask);
    mc_kernel_destroy(t->kernel);
}

typedef struct rows_spec {
    rows_bench *bench;
    const char *spec;
} rows_spec;

static void try_settings(void *user, const char *text, const mc_setting *settings, size_t count) {
    const rows_spec *of = user;
    of->bench->text = text;
    rows_try(of->bench, of->spec, settings, count);
    of->bench->text = "";
}

void rows_try_all(rows_bench *t, const char *spec, const choice *choices, size_t count, int step) {
    rows_spec of = {t, spec};
    choices_try_all(choices, count, step, try_settings, &of);
}

int rows_main(int argc, char **argv, mc_status (*run)(rows_bench *t), const rows_part *parts, size_t count) {
    rows_bench t = {.diag = mc_diag_create(),
                    .text = "",
                    .lengths = lengths,
                    .blocks = sizeof lengths / sizeof *lengths,
                    .run = run};
    bool found = false;
    if (argc < 3 || argc > 4 || mc_device_open(argc == 4 ? argv[3] : "sim", &t.device, t.diag) != MC_OK)
        return 2;
    for (size_t i = 0; i < count && !found; i++) {
        found = strcmp(argv[2], parts[i].name) == 0;
        if (found) parts[i].run(&t, argv[1]);
    }
    CHECK(found, "there is no part %s", argv[2]);
    mc_device_close(t.device);
    mc_diag_destroy(t.diag);
    return check_end();
}
