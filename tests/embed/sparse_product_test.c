/* Plans of products by a 2:4 matrix (gemm24) by the C interface, on the simulator: a matrix from the host and from dense memory, its
 * shapes fixed and open, new values, and what is refused. Sums are of small integers, and so exact in every type. What kernels compute
 * is in tests/kernels/product_test.c, values in all formats in values_test.c. */
#include <stdlib.h>
#include <string.h>
#include "base/real.h"
#include "check.h"
#include "mcrt_internal.h"
#include "plan/plan.h"

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* -- Operands: of each four neighbours of a row of A two are there, or one; of 4 bits of each four pairs */

static int unit = 1;

static bool is_kept(int64_t row, int64_t place) {
    const int64_t col = place / unit;
    int64_t first = (row + col / 4) % 3, second = first + 1 + (row * 5 + col / 4) % (3 - first);
    return col % 4 == first || (col % 4 == second && (row + col / 4) % 5);
}

static int value_of(int64_t row, int64_t col, int salt) { return (int)((row * 7 + col * 3 + salt) % 5) - 2; }
/* What is kept is not 0, so that a matrix has a vector there whatever the SALT. */
static int value_of_a(int64_t row, int64_t col, int salt) {
    int value = value_of(row, col, salt);
    return !is_kept(row, col) ? 0 : value < 0 ? value : value + 1;
}

static mc_dense make(mc_type type, int64_t rows, int64_t cols, int64_t ld,
                     int (*value)(int64_t, int64_t, int), int salt) {
    mc_dense dense = {0};
    if (!worked("operand", mc_dense_create(type, rows, cols, ld, &dense, diag))) exit(1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < cols; j++) {
            int number = value(i, j, salt);
            bool real = mc_type_is_real(type);
            mc_dense_set(&dense, i, j, real ? (int64_t)real_to_bits(type, (float)number) : number);
        }
    return dense;
}

static mc_address put(const mc_dense *dense) {
    mc_address address = 0;
    size_t bytes = (size_t)mc_type_size(dense->type, dense->rows * dense->ld);
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("write", mc_memory_write(context, address, dense->data, bytes, diag));
    return address;
}

/* -- A product */

enum { B_SALT = 2 };

static float want(const mc_plan_config *p, int64_t k, int64_t row, int64_t col, int salt) {
    int sum = 0;
    bool by_rows = p->b_layout == MC_LAYOUT_ROWS;
    for (int64_t i = 0; i < k; i++)
        sum += value_of_a(row, i, salt) * value_of(by_rows ? i : col, by_rows ? col : i, B_SALT);
    return (float)sum;
}

static void compare(const mc_plan_config *p, const mc_dense *a, mc_address c, int salt) {
    mc_dense got;
    int wrong = 0;
    if (!worked("c", mc_dense_create(p->c, a->rows, p->n, p->n, &got, diag))) return;
    size_t bytes = (size_t)mc_type_size(p->c, a->rows * p->n);
    if (worked("read", mc_memory_read(context, c, got.data, bytes, diag)))
        for (int64_t i = 0; i < a->rows * p->n; i++)
            wrong +=
                (float)mc_dense_real(&got, i / p->n, i % p->n) != want(p, a->cols, i / p->n, i % p->n, salt);
    CHECK(wrong == 0, "%d x %d x %d: %d elements wrong", (int)a->rows, (int)p->n, (int)a->cols, wrong);
    mc_dense_free(&got);
}

static void execute(const mc_plan *plan, const mc_plan_config *p, const mc_dense *a, int salt) {
    bool by_rows = p->b_layout == MC_LAYOUT_ROWS;
    int64_t lines = by_rows ? a->cols : p->n, line = by_rows ? p->n : a->cols;
    mc_dense b = make(p->b, lines, line,
                      p->ldb     ? p->ldb
                      : unit > 1 ? line + line % 2
                                 : line,
                      value_of, B_SALT),
             c = {0};
    mc_address room = 0;
    if (mc_plan_workspace(plan) > 0)
        (void)worked("workspace", mc_memory_create(context, mc_plan_workspace(plan), &room, diag));
    if (!worked("c", mc_dense_create(p->c, a->rows, p->n, p->n, &c, diag))) return;
    const mc_args args = {.size = sizeof args, .b = put(&b), .c = put(&c)};
    if (worked("execute", mc_execute(plan, &args, room, NULL, diag))) compare(p, a, args.c, salt);
    mc_memory_destroy(context, args.b);
    mc_memory_destroy(context, args.c);
    if (room != 0) mc_memory_destroy(context, room);
    mc_dense_free(&b);
    mc_dense_free(&c);
}

static mc_matrix *matrix_of(const mc_dense *a, bool on_device) {
    mc_matrix *matrix = NULL;
    const mc_dense_config host = {.size = sizeof host,
                                  .type = a->type,
                                  .vec = 1,
                                  .rows = a->rows,
                                  .cols = a->cols,
                                  .ld = a->ld,
                                  .data = a->data};
    if (!on_device) {
        (void)worked("matrix", mc_matrix_from_dense(context, &host, &matrix, diag));
        return matrix;
    }
    const mc_device_dense_config device = {.size = sizeof device,
                                           .type = a->type,
                                           .vec = 1,
                                           .rows = a->rows,
                                           .cols = a->cols,
                                           .ld = a->ld,
                                           .data = put(a)};
    (void)worked("matrix", mc_matrix_from_device_dense(context, &device, NULL, &matrix, diag));
    mc_memory_destroy(context, device.data);
    return matrix;
}

/* Other values in the same places, from the device. */
static void set_values(mc_matrix *matrix, const mc_dense *a) {
    const mc_device_values values = {
        .size = sizeof values, .from = MC_FROM_ROWS, .address = put(a), .ld = a->ld};
    (void)worked("values", mc_matrix_set_device_values(matrix, &values, NULL, diag));
    (void)worked("synchronize", mc_synchronize(context, NULL, diag));
    mc_memory_destroy(context, values.address);
}

/* Kernels read B of 8 and 4 bits by columns: where it lies by rows a pass goes ahead, in whose columns each
   begins at 16 bytes. The kernel may begin early behind it all the same: A alone is read early. */
static void check_pass(const mc_plan *plan, const mc_plan_config *p, int64_t k) {
    const int bits = mc_type_bits(p->b), line = 128 / bits;
    const bool passes = p->b_layout == MC_LAYOUT_ROWS && bits <= 8;
    mc_pass_info pass = {.size = sizeof pass};
    CHECK((mc_plan_get_pass(plan, 0, &pass, diag) == MC_OK) == passes, "%s", mc_type_text(p->b));
    CHECK(mc_plan_workspace(plan) == (passes ? (size_t)(p->n * ((k + line - 1) / line * 16)) : 0), "%zu",
          mc_plan_workspace(plan));
    if (!passes) return;
    CHECK_TEXT(pass.operand, "b");
    CHECK(plan->launch.launch.overlap == (bits == 8) && pass.bytes == mc_plan_workspace(plan), "%zu",
          pass.bytes);
}

/* A plan whose kernel has FIELD. */
static void try_plan(mc_plan_config p, mc_type type, int64_t m, int64_t k, bool on_device,
                     const char *field) {
    mc_dense a = make(type, m, k, k, value_of_a, 1), other = make(type, m, k, k + 2, value_of_a, 3);
    mc_plan *plan = NULL;
    p.matrix = matrix_of(&a, on_device);
    if (worked("plan", mc_plan_create(context, &p, &plan, diag))) {
        mc_plan_info info = {.size = sizeof info};
        if (worked("info", mc_plan_get_info(plan, &info, diag)))
            CHECK(strstr(info.fields, field) != NULL, "%s has no %s", info.fields, field);
        check_pass(plan, &p, k);
        execute(plan, &p, &a, 1);
        set_values(p.matrix, &other);
        execute(plan, &p, &other, 3);
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(p.matrix);
    mc_dense_free(&a);
    mc_dense_free(&other);
}

static mc_plan_config problem_of(mc_type b, mc_type c, int64_t n) {
    return (mc_plan_config){.size = sizeof(mc_plan_config), .op = MC_OP_GEMM24, .b = b, .c = c, .n = n};
}

/* -- Refusals */

static int all_of_a(int64_t row, int64_t col, int salt) {
    (void)salt;
    return row == 3 && col / 4 == 2 ? 1 : value_of_a(row, col, 1);
}

static int all_pairs_of_a(int64_t row, int64_t col, int salt) {
    (void)salt;
    return row == 3 && col / 8 == 2 ? 1 : value_of_a(row, col, 1);
}

static void refuse(mc_plan_config p, mc_type type, int vec, int (*value)(int64_t, int64_t, int),
                   const char *why) {
    mc_dense a = make(type, 32, 64, 64, value, 1);
    const mc_dense_config host = {
        .size = sizeof host, .type = type, .vec = vec, .rows = a.rows, .cols = a.cols, .data = a.data};
    mc_plan *plan = NULL;
    mc_matrix *matrix = NULL;
    if (worked("matrix", mc_matrix_from_dense(context, &host, &matrix, diag))) {
        p.matrix = matrix;
        mc_status status = mc_plan_create(context, &p, &plan, diag);
        CHECK(status == MC_CANNOT && plan == NULL, "%s: status %d", why, (int)status);
        CHECK_TEXT(mc_diag_text(diag), why);
        mc_diag_clear(diag);
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(matrix);
    mc_dense_free(&a);
}

int main(void) {
    diag = mc_diag_create();
    const mc_context_config config = {.size = sizeof config, .device = "sim", .records = ""};
    if (!worked("context", mc_context_create(&config, &context, diag))) return check_end();
    try_plan(problem_of(MC_F16, MC_F16, 72), MC_F16, 65, 136, false, "m=65");
    try_plan(problem_of(MC_BF16, MC_F32, 63), MC_BF16, 40, 200, true, "store=single");
    mc_plan_config p = problem_of(MC_S8, MC_S32, 36);
    p.shapes = MC_SHAPES_OPEN;
    try_plan(p, MC_S8, 130, 320, false, "n=open");
    p = problem_of(MC_E4M3, MC_F16, 40);
    p.ldb = 80;
    try_plan(p, MC_E4M3, 20, 70, true, "lhs=e4m3");
    p = problem_of(MC_E4M3, MC_F32, 41);
    p.b_layout = MC_LAYOUT_ROWS, p.ldb = 43;
    try_plan(p, MC_E4M3, 33, 68, false, "ldb=80");
    p = problem_of(MC_S8, MC_S32, 36);
    p.b_layout = MC_LAYOUT_ROWS;
    try_plan(p, MC_S8, 70, 200, true, "ldb=208");
    p.shapes = MC_SHAPES_OPEN, p.n = 1;
    try_plan(p, MC_S8, 64, 128, false, "n=open");
    p = problem_of(MC_S8, MC_S32, 8);
    p.b_layout = MC_LAYOUT_ROWS;
    try_plan(p, MC_S8, 128, 2048, false, "early=on");
    p = problem_of(MC_E5M2, MC_F16, 24);
    p.b_layout = MC_LAYOUT_ROWS;
    try_plan(p, MC_E5M2, 64, 96, false, "lhs=e5m2");
    p = problem_of(MC_F16, MC_F16, 64);
    p.b_layout = MC_LAYOUT_ROWS;
    try_plan(p, MC_F16, 40, 64, false, "layout=rows");
    unit = 2;
    try_plan(problem_of(MC_S4, MC_S32, 36), MC_S4, 70, 576, false, "lhs=s4");
    p = problem_of(MC_S4, MC_S32, 35);
    p.ldb = 130;
    try_plan(p, MC_S4, 65, 129 - 1, true, "lhs=s4");
    p.shapes = MC_SHAPES_OPEN;
    try_plan(p, MC_S4, 129, 63 + 1, false, "k=open");
    p = problem_of(MC_S4, MC_S32, 64);
    p.dense = MC_DENSE_IF_FASTER, p.ldb = 224; /* which estimates say it is */
    try_plan(p, MC_S4, 129, 200, false, "op=gemm arch");
    p = problem_of(MC_S4, MC_S32, 36);
    p.b_layout = MC_LAYOUT_ROWS;
    try_plan(p, MC_S4, 70, 576, false, "ldb=576");
    p.n = 35, p.ldb = 62, p.shapes = MC_SHAPES_OPEN;
    try_plan(p, MC_S4, 33, 98, true, "k=open");
    refuse(problem_of(MC_S4, MC_S32, 64), MC_S4, 1, all_pairs_of_a,
           "1 group has more than 2 of 4 pairs, the first one is row 3, columns 16 to 23");
    unit = 1;
    refuse(problem_of(MC_S4, MC_S32, 64), MC_S4, 1, value_of_a,
           "more than 2 of 4 pairs, the first one is row 0");
    refuse(problem_of(MC_S8, MC_S32, 64), MC_S4, 1, value_of_a, "4 bits are multiplied by 4 bits");
    p = problem_of(MC_F16, MC_F16, 64);
    refuse(p, MC_F16, 1, all_of_a,
           "1 group has more than 2 of 4 elements, the first one is row 3, columns 8 to 11");
    refuse(p, MC_F16, 2, value_of_a, "a 2:4 matrix has vectors of one row, this one of 2");
    refuse(problem_of(MC_F16, MC_S64, 64), MC_F16, 1, value_of_a, "c is s64, a gemm24 of floats gives");
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
