/* A B that lies by columns, token by token: a plan of two kernels. Operands in frameworks' order against known
   sums; the same kernel and record as of a plan whose B lies in rows; what executions refuse; workspaces; a
   captured graph. Products of all kinds are in plan_test.c and batch_test.c, launches in execute_test.c. */
#include <stdlib.h>
#include "base/real.h"
#include "check.h"
#include "context/matrix.h"
#include "device/cuda.h"
#include "mcrt_internal.h"
#include "problem/transpose.h"

enum {
    ROWS = 40,
    COLS = 56,
    VEC = 8,
    MOST_TOKENS = 65,
    X_LD = COLS + 9 /* of 4 bits even, one more */,
    Y_LD = ROWS + 3,
    POISON = 0x7e
};

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static void refused(const char *why, mc_status status) {
    CHECK(status == MC_CANNOT, "%s: status %d", why, (int)status);
    CHECK_TEXT(mc_diag_text(diag), why);
    mc_diag_clear(diag);
}

/* -- Operands: small integers, which all types hold, and exact sums */

static int weight(int row, int col) {
    int place = row / VEC * 7 + col * 5;
    return place % 3 == 0 ? (row * 3 + col) % 5 : 0;
}
static int activation(int token, int col) { return (token * 11 + col * 3) % 8; }

static float result(int token, int row) {
    int sum = 0;
    for (int col = 0; col < COLS; col++) sum += weight(row, col) * activation(token, col);
    return (float)sum;
}

static int64_t element(mc_type type, int value) {
    return mc_type_is_real(type) ? (int64_t)real_to_bits(type, (float)value) : value;
}

static mc_matrix *make_matrix(mc_type type) {
    mc_matrix *matrix = NULL;
    mc_dense dense;
    if (!worked("weights", mc_dense_create(type, ROWS, COLS, COLS, &dense, diag))) return NULL;
    for (int i = 0; i < ROWS * COLS; i++)
        mc_dense_set(&dense, i / COLS, i % COLS, element(type, weight(i / COLS, i % COLS)));
    const mc_dense_config config = {
        .size = sizeof config, .type = type, .vec = VEC, .rows = ROWS, .cols = COLS, .data = dense.data};
    (void)worked("matrix", mc_matrix_from_dense(context, &config, &matrix, diag));
    mc_dense_free(&dense);
    return matrix;
}

static int x_ld(mc_type type) { return X_LD + (mc_type_bytes(type) == 0); }

/* TOKENS rows of X_LD elements; gaps stay unwritten, and the simulator stops who reads them. */
static mc_address put_tokens(mc_type type, int tokens) {
    mc_address address = 0;
    mc_dense x;
    if (!worked("x", mc_dense_create(type, tokens, COLS, x_ld(type), &x, diag))) return 0;
    for (int i = 0; i < tokens * COLS; i++)
        mc_dense_set(&x, i / COLS, i % COLS, element(type, activation(i / COLS, i % COLS)));
    size_t row = (size_t)mc_type_size(type, COLS), step = (size_t)mc_type_size(type, x_ld(type));
    (void)worked("x", mc_memory_create(context, (size_t)tokens * step, &address, diag));
    for (size_t i = 0; i < (size_t)tokens; i++)
        (void)worked(
            "x", mc_memory_write(context, address + i * step, (const char *)x.data + i * step, row, diag));
    mc_dense_free(&x);
    return address;
}

static mc_address poisoned(size_t bytes) {
    mc_address address = 0;
    void *poison = malloc(bytes + 1);
    memset(poison, POISON, bytes + 1);
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("poison", mc_memory_write(context, address, poison, bytes, diag));
    free(poison);
    return address;
}

/* -- Token-major on both sides: Y[tokens, rows] = X[tokens, cols] A^T, as PyTorch has a linear layer */

typedef struct layer {
    mc_matrix *matrix;
    mc_plan *plan;
    int tokens;
    mc_address x, y, workspace;
} layer;

enum { Y_BYTES = MOST_TOKENS * Y_LD * (int)sizeof(float) };

/* Leading dimensions of X keep its rows off multiples of 16 bytes: the promise is about addresses alone. */
static mc_plan_config problem_of(mc_matrix *matrix, mc_type type, int tokens) {
    mc_plan_config config = {.size = sizeof config,
                             .matrix = matrix,
                             .b = type,
                             .c = MC_F32,
                             .n = tokens,
                             .ldb = x_ld(type),
                             .b_major = MC_MAJOR_COLUMN,
                             .ldc = Y_LD,
                             .c_major = MC_MAJOR_COLUMN};
    if (!mc_type_is_real(type)) config.scale = MC_PER_TENSOR;
    return config;
}

static bool layer_open(layer *l, mc_type type, int tokens, const char *spec) {
    *l = (layer){.matrix = make_matrix(type), .tokens = tokens};
    mc_plan_config config = problem_of(l->matrix, type, tokens);
    config.specs = &spec, config.spec_count = spec != NULL;
    if (!worked(mc_type_text(type), mc_plan_create(context, &config, &l->plan, diag))) return false;
    l->x = put_tokens(type, tokens);
    l->y = poisoned(Y_BYTES);
    l->workspace = poisoned(mc_plan_workspace(l->plan));
    return true;
}

static void layer_close(layer *l) {
    const mc_address memory[] = {l->x, l->y, l->workspace};
    mc_plan_destroy(l->plan);
    mc_matrix_destroy(l->matrix);
    for (int i = 0; i < 3; i++)
        if (memory[i] != 0) mc_memory_destroy(context, memory[i]);
}

static mc_status execute(const layer *l, mc_address workspace, void *stream) {
    const mc_args args = {.size = sizeof args, .b = l->x, .c = l->y, .scale_value = 1};
    return mc_execute(l->plan, &args, workspace, stream, diag);
}

/* A token's gap, and tokens behind the last, stay as they were. EMPTY: all does. */
static void check_layer(const layer *l, const char *what, bool empty) {
    static float y[MOST_TOKENS * Y_LD];
    float gap;
    int wrong = 0;
    memset(&gap, POISON, sizeof gap);
    if (!worked("read", mc_memory_read(context, l->y, y, sizeof y, diag))) return;
    for (int i = 0; i < MOST_TOKENS * Y_LD; i++) {
        int token = i / Y_LD, row = i % Y_LD;
        float want = !empty && token < l->tokens && row < ROWS ? result(token, row) : gap;
        wrong += memcmp(&y[i], &want, sizeof want) != 0;
    }
    CHECK(wrong == 0, "%s, %d tokens: %d elements are wrong", what, l->tokens, wrong);
}

static void test_layers(void) {
    static const mc_type types[] = {MC_S8,   MC_U8,   MC_S12,  MC_U12,  MC_S16, MC_U16, MC_F16,
                                    MC_BF16, MC_TF32, MC_E4M3, MC_E5M2, MC_S4,  MC_U4};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        layer l;
        if (layer_open(&l, types[i], i % 2 == 0 ? MOST_TOKENS : 16, NULL) &&
            worked("execute", execute(&l, l.workspace, NULL)))
            check_layer(&l, mc_type_text(types[i]), false);
        layer_close(&l);
    }
}

/* Tensor copies from the workspace, and copies of units. */
static void test_rings(void) {
    static const struct {
        mc_type type;
        const char *spec;
    } rings[] = {{MC_S8, "spmm_l8r8_tiled"}, {MC_F16, "spmm_f16_tiled"}, {MC_S8, "spmm_l8r8_tiled_sm80"}};
    for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
        layer l;
        if (layer_open(&l, rings[i].type, 50, rings[i].spec) &&
            worked("execute", execute(&l, l.workspace, NULL)))
            check_layer(&l, rings[i].spec, false);
        layer_close(&l);
    }
}

/* Two patterns: a token has what the first one multiplies, and behind it what the second one does. */
static void test_patterns(void) {
    enum { V = 2, K = 3, N = 4 };
    static const int8_t values[] = {1, 2, 3, 4, 5, 6},
                        x[N][2 * K] = {
                            {1, 0, 2, 0, 3, 0}, {0, 1, 1, 1, 1, 1}, {5, 4, 3, 2, 1, 0}, {9, 9, 9, 9, 9, 9}};
    static const int32_t row_ptr[] = {0, 2, 3}, col_idx[] = {0, 2, 1};
    const mc_matrix_config of = {.size = sizeof of,
                                 .type = MC_S8,
                                 .vec = V,
                                 .rows = 2 * V,
                                 .cols = K,
                                 .row_ptr = row_ptr,
                                 .col_idx = col_idx,
                                 .values = values,
                                 .patterns = 2};
    mc_plan_config config = {
        .size = sizeof config, .b = MC_S8, .c = MC_S32, .n = N, .b_major = MC_MAJOR_COLUMN};
    mc_args args = {.size = sizeof args};
    mc_plan *plan = NULL;
    int32_t c[2 * V][N];
    if (worked("matrix", mc_matrix_create(context, &of, &config.matrix, diag)) &&
        worked("plan", mc_plan_create(context, &config, &plan, diag))) {
        const mc_address workspace = poisoned(mc_plan_workspace(plan));
        args.b = poisoned(sizeof x), args.c = poisoned(sizeof c);
        (void)worked("write", mc_memory_write(context, args.b, x, sizeof x, diag));
        (void)worked("execute", mc_execute(plan, &args, workspace, NULL, diag));
        (void)worked("read", mc_memory_read(context, args.c, c, sizeof c, diag));
        for (int i = 0; i < V * N; i++) {
            int r = i / N, t = i % N;
            CHECK(c[r][t] == values[r] * x[t][0] + values[V + r] * x[t][2], "(%d, %d) is %d", r, t, c[r][t]);
            CHECK(c[V + r][t] == values[2 * V + r] * x[t][K + 1], "(%d, %d) is %d", V + r, t, c[V + r][t]);
        }
        const mc_address memory[] = {workspace, args.b, args.c};
        for (int i = 0; i < 3; i++) mc_memory_destroy(context, memory[i]);
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(config.matrix);
}

/* Nothing is launched then. */
static void test_refused(void) {
    layer l;
    if (layer_open(&l, MC_F16, 16, NULL)) {
        size_t bytes = mc_plan_workspace(l.plan);
        char missing[80];
        CHECK(bytes == 16 * COLS * 2, "%zu", bytes);
        snprintf(missing, sizeof missing, "the workspace is missing: this plan wants %zu bytes", bytes);
        refused(missing, execute(&l, 0, NULL));
        refused("which is not a multiple of 16 bytes", execute(&l, l.workspace + 8, NULL));
        const mc_args no_b = {.size = sizeof no_b, .c = l.y}, no_c = {.size = sizeof no_c, .b = l.x},
                      odd_b = {.size = sizeof odd_b, .b = l.x + 2, .c = l.y};
        refused("b is missing", mc_execute(l.plan, &no_b, l.workspace, NULL, diag));
        refused("c is missing", mc_execute(l.plan, &no_c, l.workspace, NULL, diag));
        refused("b lies at", mc_execute(l.plan, &odd_b, l.workspace, NULL, diag));
        check_layer(&l, "refused", true);
        unsigned char first;
        (void)worked("read", mc_memory_read(context, l.workspace, &first, 1, diag));
        CHECK(first == POISON, "the workspace was written");
    }
    layer_close(&l);
}

/* B by its name, and workspaces that executions take in turn. */
static void test_turns(void) {
    layer l;
    if (layer_open(&l, MC_S8, 33, NULL)) {
        const mc_address other = poisoned(mc_plan_workspace(l.plan));
        const mc_argument b = {.name = "b", .address = l.x};
        const mc_args args = {.size = sizeof args, .c = l.y, .scale_value = 1, .list = &b, .list_count = 1};
        (void)worked("one", execute(&l, l.workspace, NULL));
        (void)worked("other", mc_execute(l.plan, &args, other, NULL, diag));
        check_layer(&l, "two workspaces", false);
        mc_memory_destroy(context, other);
    }
    layer_close(&l);
}

/* -- The problem becomes two */

static void test_problem(void) {
    mc_matrix *matrix = make_matrix(MC_E4M3);
    mc_plan_config config = problem_of(matrix, MC_E4M3, 50);
    plan_problem p;
    problem_passes t;
    config.batch = 3, config.b_stride = 64 * X_LD, config.shapes = MC_SHAPES_OPEN, config.align = 4;
    if (matrix == NULL || !worked("problem", plan_problem_of(&config, &matrix->host, &p, diag)) ||
        !worked("transpose", plan_problem_transpose(&p, &t, diag)))
        return;
    const plan_problem *a = &t.items[0].problem;
    CHECK(t.count == 1 && t.items[0].operand == operator_operand(operator_of(p.op), "b"), "%d", t.count);
    CHECK(p.b_major == MC_MAJOR_ROW && p.ldb == 64 && p.b_stride == COLS * 64 &&
          p.c_major == MC_MAJOR_COLUMN);
    CHECK(t.items[0].bytes == 3 * COLS * 64, "%lld", (long long)t.items[0].bytes);
    CHECK(a->op == MC_OP_QUANTISE && a->lhs == MC_S8 && a->out == MC_S8 && a->scale == MC_PER_NONE);
    CHECK(a->m == 50 && a->n == COLS && a->lda == X_LD && a->ldc == 64 && a->shapes == MC_SHAPES_OPEN);
    CHECK(a->batch == 3 && a->a_stride == 64 * X_LD && a->c_stride == COLS * 64 && a->align == 4);
    config.b_stride = MC_SHARED;
    (void)worked("problem", plan_problem_of(&config, &matrix->host, &p, diag));
    (void)worked("transpose", plan_problem_transpose(&p, &t, diag));
    CHECK(p.b_stride == 0 && p.batch == 3 && a->batch == 0 && t.items[0].bytes == COLS * 64);
    (void)worked("again", plan_problem_transpose(&p, &t, diag));
    CHECK(t.count == 0, "B lies in rows by now");
    mc_matrix_destroy(matrix);
}

/* Both operands of a gemm: which of them want a pass, by how they lie and how large B's elements are. */
static void check_passes(mc_type type, bool a_columns, mc_layout b, int count, int first) {
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_GEMM,
                                   .a = type,
                                   .b = type,
                                   .c = mc_type_is_real(type) ? MC_F32 : MC_S32,
                                   .m = 30,
                                   .n = 20,
                                   .k = 50,
                                   .a_major = a_columns ? MC_MAJOR_COLUMN : MC_MAJOR_ROW,
                                   .b_layout = b};
    const int64_t line = type_leading(type, 50);
    plan_problem p;
    problem_passes t;
    if (!worked("problem", plan_problem_of(&config, NULL, &p, diag)) ||
        !worked("passes", plan_problem_transpose(&p, &t, diag)))
        return;
    const bool by_rows = b == MC_LAYOUT_ROWS, turned = count > a_columns;
    CHECK(t.count == count && (count == 0 || t.items[0].operand == first), "%s: %d", mc_type_text(type),
          t.count);
    CHECK(p.a_major == MC_MAJOR_ROW && p.lda == (a_columns ? line : 50), "%lld", (long long)p.lda);
    CHECK(p.layout == (by_rows && !turned ? MC_LAYOUT_ROWS : MC_LAYOUT_COLUMNS), "%d", (int)p.layout);
    CHECK(p.ldb == (turned ? line : by_rows ? 20 : 50), "%lld", (long long)p.ldb);
    if (a_columns) CHECK(t.items[0].problem.m == 50 && t.items[0].problem.n == 30);
    if (turned) {
        const problem_pass *of_b = &t.items[count - 1];
        CHECK(of_b->operand == 1 && of_b->bytes == mc_type_size(type, 20 * line), "%d", of_b->operand);
        CHECK(of_b->problem.m == 50 && of_b->problem.n == 20 && of_b->problem.lda == 20 &&
              of_b->problem.ldc == line);
    }
}

static void test_both(void) {
    static const mc_type small[] = {MC_S8, MC_U8, MC_E4M3, MC_E5M2, MC_S4, MC_U4},
                         large[] = {MC_F16, MC_BF16, MC_TF32, MC_TF32RZ};
    for (size_t i = 0; i < sizeof small / sizeof *small; i++) {
        check_passes(small[i], false, MC_LAYOUT_COLUMNS, 0, 0);
        check_passes(small[i], true, MC_LAYOUT_COLUMNS, 1, 0);
        check_passes(small[i], false, MC_LAYOUT_ROWS, 1, 1);
        check_passes(small[i], true, MC_LAYOUT_ROWS, 2, 0);
    }
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        check_passes(large[i], false, MC_LAYOUT_ROWS, 0, 0);
        check_passes(large[i], true, MC_LAYOUT_ROWS, 1, 0);
    }
}

/* Problems have room for as many passes as any operator's operands may want. */
static void test_room(void) {
    const mc_operator *o;
    for (size_t i = 0; (o = operator_at(i)) != NULL; i++) {
        int most = 0;
        for (size_t j = 0; j < o->operand_count; j++)
            most += operand_is_transposed(&o->operands[j]) || o->operands[j].rows_from > 0;
        CHECK(most <= MOST_PASSES, "%s: %d operands", o->name, most);
    }
}

/* -- The same kernel, and the same record, as with a B in rows */

static mc_plan_info info_of(const mc_plan *plan) {
    mc_plan_info info = {.size = sizeof info};
    (void)worked("info", mc_plan_get_info(plan, &info, diag));
    return info;
}

static void check_same(const mc_plan_config *columns, mc_origin origin) {
    mc_plan_config rows = *columns;
    mc_plan *by_columns = NULL, *by_rows = NULL;
    rows.b_major = MC_MAJOR_ROW, rows.ldb = 64;
    if (worked("columns", mc_plan_create(context, columns, &by_columns, diag)) &&
        worked("rows", mc_plan_create(context, &rows, &by_rows, diag))) {
        const mc_plan_info a = info_of(by_columns), b = info_of(by_rows);
        CHECK(a.hash == b.hash && strcmp(a.fields, b.fields) == 0, "%s, but %s", a.fields, b.fields);
        CHECK(a.origin == origin && b.origin == origin, "%d and %d", (int)a.origin, (int)b.origin);
        CHECK_TEXT(a.transpose_fields, "op=quantise");
        CHECK(a.transpose_microseconds > 0 && a.microseconds == b.microseconds);
        CHECK(b.transpose_fields[0] == '\0' && b.transpose_microseconds == 0 &&
              mc_plan_workspace(by_rows) == 0);
    }
    mc_plan_destroy(by_columns);
    mc_plan_destroy(by_rows);
}

/* A policy that tunes measures the product alone. */
static void check_untuned(int tokens) {
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_QUANTISE,
                                   .a = MC_S8,
                                   .c = MC_S8,
                                   .m = tokens,
                                   .n = COLS,
                                   .lda = X_LD,
                                   .ldc = 64};
    mc_plan *plan = NULL;
    if (worked("transpose", mc_plan_create(context, &config, &plan, diag)))
        CHECK(info_of(plan).origin == MC_ORIGIN_ESTIMATED, "%d", (int)info_of(plan).origin);
    mc_plan_destroy(plan);
}

static void test_records(const char *device) {
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 2};
    mc_tune_result told = {.size = sizeof told};
    mc_context *usual = context;
    const mc_context_config with = {
        .size = sizeof with, .device = device, .cache = MC_CACHE_OFF, .records = ""};
    if (worked("context", mc_context_create(&with, &context, diag))) {
        mc_matrix *matrix = make_matrix(MC_S8);
        mc_plan_config config = problem_of(matrix, MC_S8, 50);
        check_same(&config, MC_ORIGIN_ESTIMATED);
        (void)worked("tune", mc_tune(context, &config, &tune, &told, diag));
        CHECK(told.measured >= 2 && told.wrong == 0 && told.failed == 0);
        check_same(&config, MC_ORIGIN_MEASURED);
        config.tuning = MC_TUNING_TUNE, config.n = 51;
        check_same(&config, MC_ORIGIN_MEASURED);
        check_untuned(51);
        mc_matrix_destroy(matrix);
    }
    mc_context_destroy(context);
    context = usual;
}

/* -- Captured, and replayed. The driver that is the simulator has run what it captures already then. */

static void test_graph(void) {
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    layer l;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver != NULL && layer_open(&l, MC_F16, MOST_TOKENS, NULL)) {
        (void)worked("enter", context_enter(context, &visit, diag));
        (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
        (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
        (void)worked("execute", execute(&l, l.workspace, stream));
        (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
        (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
        (void)worked("replay", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
        (void)worked("wait", mc_synchronize(context, stream, diag));
        (void)worked("exec", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
        (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
        (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
        context_leave(context, &visit);
        check_layer(&l, "a graph", false);
        layer_close(&l);
    }
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {.size = sizeof config,
                                      .device = device,
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag))) {
        test_layers();
        test_rings();
        test_patterns();
        test_refused();
        test_turns();
        test_problem();
        test_both();
        test_room();
        if (argc > 1) test_graph();
        else test_records(device);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
