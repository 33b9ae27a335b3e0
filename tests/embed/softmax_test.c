/* An attention on the device: S = mask of (Q K), P = softmax(S), O = P V, batched, of heads with one pattern and with one
 * each. S and P never leave the device and are not packed again. On the simulator, and in one captured graph on a driver
 * that is the simulator. softmax_test [DEVICE] */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "context/context.h"
#include "device/cuda_driver.h"
#include "matrix/vsparse.h"
#include "mcrt_internal.h"

enum { HEADS = 3, QUERIES = 48, KEYS = 80, DEPTH = 32, WIDTH = 64, VEC = 8, BLOCKS = QUERIES / VEC };
enum { X, SCALE, C_SCALE, LSE, SOFTMAX_OPERANDS };

static const float scale = 0x1p-12F;
static mc_diag *diag;
static mc_context *context;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

typedef struct attention {
    bool patterns;
    mc_vsparse masks[HEADS];
    mc_dense q[HEADS], k[HEADS], v[HEADS], want[HEADS], lse[HEADS];
    mc_matrix *matrix;
    mc_plan *sddmm, *softmax, *spmm;
    mc_address q_at, k_at, v_at, s_at, p_at, o_at, lse_at;
} attention;

/* -- What must come of it */

/* Row block B of head H has no vectors if B is 1. */
static void make_mask(attention *a, int h) {
    int seed = a->patterns ? h : 0;
    mc_vsparse *mask = &a->masks[h];
    int64_t counts[BLOCKS], vectors = 0;
    for (int b = 0; b < BLOCKS; b++) vectors += counts[b] = b == 1 ? 0 : 7 + 11 * b + 5 * seed;
    if (!worked("mask", mcrt_vsparse_create(MC_U8, VEC, BLOCKS, KEYS, vectors, mask, diag))) return;
    for (int b = 0; b < BLOCKS; b++) {
        int64_t first = mask->row_ptr[b];
        mask->row_ptr[b + 1] = first + counts[b];
        for (int64_t i = 0; i < counts[b]; i++) mask->col_idx[first + i] = (int32_t)(i * KEYS / counts[b]);
    }
}

static void make_random(int64_t rows, int64_t cols, uint64_t seed, mc_dense *dense) {
    if (worked("dense", mc_dense_create(MC_S8, rows, cols, cols, dense, diag)))
        mc_dense_fill(dense, MC_VALUES_FULL, seed);
}

/* P of the sums S, in the mask; and the rows' lse. */
static mc_status soften(mc_vsparse *mask, const mc_dense *s, mc_dense *lse) {
    const mc_operator *op = operator_of(MC_OP_SOFTMAX);
    const plan_problem p = {.op = MC_OP_SOFTMAX,
                            .lhs = MC_S32,
                            .out = MC_U8,
                            .scale = MC_PER_TENSOR,
                            .vec = VEC,
                            .lse = MC_PER_ROW,
                            .m = QUERIES,
                            .n = KEYS};
    const host_operands operands = {.problem = &p, .matrix = mask, .inputs[X] = s, .factors[SCALE] = &scale};
    mc_dense scores = {0}, made = {0};
    reference_result rows = {0};
    mc_status status = op->sums(&operands, &scores, diag);
    if (status == MC_OK) status = op->finish(&operands, &scores, &made, diag);
    if (status == MC_OK) status = op->other(&operands, &scores, LSE, &rows, diag);
    *lse = rows.low;
    for (int64_t i = 0; status == MC_OK && i < mask->vectors; i++)
        for (int r = 0; r < VEC; r++) mc_vsparse_set_value(mask, i, r, mc_dense_get(&made, i, r));
    mc_dense_free(&scores), mc_dense_free(&made);
    return status;
}

static void make_want(attention *a, int h) {
    const mc_output as_they_are = {.type = MC_S32};
    mc_dense sums = {0}, s = {0}, products = {0};
    mc_vsparse *mask = &a->masks[h];
    mc_status status = mc_reference_sddmm(mask, &a->q[h], &a->k[h], MC_LAYOUT_COLUMNS, &sums, diag);
    if (status == MC_OK)
        status = mc_reference_sampled(&as_they_are, mask, MC_ORDER_BCRS, NULL, &sums, &s, diag);
    if (status == MC_OK) status = soften(mask, &s, &a->lse[h]);
    if (status == MC_OK) status = mc_reference_spmm(mask, &a->v[h], &products, diag);
    if (status == MC_OK) status = mc_reference_output(&as_they_are, NULL, &products, &a->want[h], diag);
    (void)worked("want", status);
    mc_dense_free(&sums), mc_dense_free(&s), mc_dense_free(&products);
}

/* -- Matrix, plans, operands */

static void make_matrix(attention *a) {
    int count = a->patterns ? HEADS : 1;
    int32_t row_ptr[HEADS * BLOCKS + 1] = {0}, *col_idx = malloc(sizeof *col_idx * HEADS * BLOCKS * KEYS);
    int at = 0;
    for (int h = 0; h < count; h++) {
        const mc_vsparse *mask = &a->masks[h];
        for (int b = 1; b <= BLOCKS; b++) row_ptr[h * BLOCKS + b] = at + (int32_t)mask->row_ptr[b];
        memcpy(col_idx + at, mask->col_idx, (size_t)mask->vectors * sizeof *col_idx);
        at += (int)mask->vectors;
    }
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = MC_U8,
                                     .vec = VEC,
                                     .rows = count * QUERIES,
                                     .cols = KEYS,
                                     .row_ptr = row_ptr,
                                     .col_idx = col_idx,
                                     .patterns = a->patterns ? HEADS : 0};
    (void)worked("matrix", mc_matrix_create(context, &config, &a->matrix, diag));
    free(col_idx);
}

static void make_plans(attention *a) {
    int64_t batch = a->patterns ? 0 : HEADS;
    const mc_plan_config sddmm = {.size = sizeof sddmm,
                                  .op = MC_OP_SDDMM,
                                  .matrix = a->matrix,
                                  .a = MC_S8,
                                  .b = MC_S8,
                                  .c = MC_S32,
                                  .k = DEPTH,
                                  .c_order = MC_ORDER_SRBCRS32,
                                  .batch = batch},
                         softmax = {.size = sizeof softmax,
                                    .op = MC_OP_SOFTMAX,
                                    .matrix = a->matrix,
                                    .a = MC_S32,
                                    .c = MC_U8,
                                    .c_order = MC_ORDER_SRBCRS32,
                                    .scale = MC_PER_TENSOR,
                                    .lse = MC_PER_ROW,
                                    .batch = batch},
                         spmm = {.size = sizeof spmm,
                                 .op = MC_OP_SPMM,
                                 .matrix = a->matrix,
                                 .b = MC_S8,
                                 .c = MC_S32,
                                 .n = WIDTH,
                                 .given_values = true,
                                 .batch = batch};
    (void)worked("sddmm", mc_plan_create(context, &sddmm, &a->sddmm, diag));
    (void)worked("softmax", mc_plan_create(context, &softmax, &a->softmax, diag));
    (void)worked("spmm", mc_plan_create(context, &spmm, &a->spmm, diag));
}

static mc_address put(const mc_dense *heads) {
    size_t bytes = (size_t)(heads[0].rows * heads[0].cols);
    mc_address at = 0;
    (void)worked("memory", mc_memory_create(context, bytes * HEADS, &at, diag));
    for (int h = 0; h < HEADS; h++)
        (void)worked("write", mc_memory_write(context, at + (size_t)h * bytes, heads[h].data, bytes, diag));
    return at;
}

static mc_address room(size_t bytes) {
    mc_address at = 0;
    (void)worked("memory", mc_memory_create(context, bytes, &at, diag));
    return at;
}

enum { SLOTS = HEADS * BLOCKS * 96 * VEC };

static void open_attention(attention *a, bool patterns) {
    *a = (attention){.patterns = patterns};
    for (int h = 0; h < HEADS; h++) {
        make_mask(a, h);
        make_random(QUERIES, DEPTH, (uint64_t)h + 1, &a->q[h]);
        make_random(KEYS, DEPTH, (uint64_t)h + 10, &a->k[h]);
        make_random(KEYS, WIDTH, (uint64_t)h + 20, &a->v[h]);
        make_want(a, h);
    }
    make_matrix(a);
    make_plans(a);
    a->q_at = put(a->q), a->k_at = put(a->k), a->v_at = put(a->v);
    a->s_at = room(SLOTS * sizeof(int32_t)), a->p_at = room(SLOTS);
    a->o_at = room(HEADS * QUERIES * WIDTH * sizeof(int32_t)),
    a->lse_at = room(HEADS * QUERIES * sizeof(float));
}

static void close_attention(attention *a) {
    const mc_address addresses[] = {a->q_at, a->k_at, a->v_at, a->s_at, a->p_at, a->o_at, a->lse_at};
    mc_plan_destroy(a->sddmm), mc_plan_destroy(a->softmax), mc_plan_destroy(a->spmm);
    mc_matrix_destroy(a->matrix);
    for (size_t i = 0; i < sizeof addresses / sizeof *addresses; i++)
        if (addresses[i] != 0) mc_memory_destroy(context, addresses[i]);
    for (int h = 0; h < HEADS; h++) {
        mc_vsparse_free(&a->masks[h]);
        mc_dense_free(&a->q[h]), mc_dense_free(&a->k[h]), mc_dense_free(&a->v[h]);
        mc_dense_free(&a->want[h]), mc_dense_free(&a->lse[h]);
    }
}

static void launch(const attention *a, void *stream) {
    const mc_argument lse = {.name = "lse", .address = a->lse_at},
                      values = {.name = "values", .address = a->p_at};
    const mc_args first = {.size = sizeof first, .a = a->q_at, .b = a->k_at, .c = a->s_at},
                  second = {.size = sizeof second,
                            .a = a->s_at,
                            .c = a->p_at,
                            .scale_value = scale,
                            .list = &lse,
                            .list_count = 1},
                  third = {
                      .size = sizeof third, .b = a->v_at, .c = a->o_at, .list = &values, .list_count = 1};
    (void)worked("sddmm", mc_execute(a->sddmm, &first, 0, stream, diag));
    (void)worked("softmax", mc_execute(a->softmax, &second, 0, stream, diag));
    (void)worked("spmm", mc_execute(a->spmm, &third, 0, stream, diag));
}

static void check(const attention *a) {
    enum { O = QUERIES * WIDTH };
    static int32_t o[HEADS * O];
    static float lse[HEADS * QUERIES];
    (void)worked("read", mc_memory_read(context, a->o_at, o, sizeof o, diag));
    (void)worked("read", mc_memory_read(context, a->lse_at, lse, sizeof lse, diag));
    for (int h = 0; h < HEADS; h++) {
        CHECK(a->want[h].data != NULL && memcmp(o + h * O, a->want[h].data, O * sizeof *o) == 0,
              "O of head %d", h);
        CHECK(a->lse[h].data != NULL && memcmp(lse + h * QUERIES, a->lse[h].data, QUERIES * sizeof *lse) == 0,
              "lse of head %d", h);
        CHECK(isinf(lse[h * QUERIES + VEC]) && lse[h * QUERIES + VEC] < 0, "a row without vectors, head %d",
              h);
    }
}

static void test_launches(bool patterns) {
    attention a;
    open_attention(&a, patterns);
    launch(&a, NULL);
    check(&a);
    close_attention(&a);
}

/* -- In one graph. The driver that is the simulator runs what it captures, and replays nothing: what is seen is that all of it
   can be captured, and that it is right then. */

static void test_graph(void) {
    attention a;
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    cuda_graph_exec exec = NULL;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL) return;
    open_attention(&a, false);
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    launch(&a, stream);
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphInstantiateWithFlags, &exec, graph, 0));
    (void)worked("replay", CUDA_CALL(driver, diag, GraphLaunch, exec, stream));
    (void)worked("wait", mc_synchronize(context, stream, diag));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphExecDestroy, exec));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    check(&a);
    close_attention(&a);
}

/* -- What makes no sense */

static void refuse(mc_plan_config config, mc_status want, const char *text) {
    attention a = {0};
    mc_plan *plan = NULL;
    make_mask(&a, 0);
    make_matrix(&a);
    config.size = sizeof config, config.op = MC_OP_SOFTMAX, config.matrix = a.matrix;
    CHECK(mc_plan_create(context, &config, &plan, diag) == want, "%s", mc_diag_text(diag));
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
    mc_plan_destroy(plan);
    mc_matrix_destroy(a.matrix);
    mc_vsparse_free(&a.masks[0]);
}

static void test_refusals(void) {
    refuse((mc_plan_config){.a = MC_S8, .c = MC_F16}, MC_CANNOT,
           "a is s8, a softmax takes f32, f16, bf16 or s32");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_S12}, MC_CANNOT, "c is s12, a softmax gives");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .c_scale = MC_PER_TENSOR}, MC_USAGE,
           "c_scale goes with");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .scale = MC_PER_ROW}, MC_USAGE,
           "scale and c_scale must be");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .lse = MC_PER_TENSOR}, MC_USAGE, "lse must be");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .mask_values = true}, MC_USAGE,
           "mask_values wants a matrix of f32");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .bias = MC_PER_ROW}, MC_USAGE, "bias is set");
    refuse((mc_plan_config){.a = MC_F16, .c = MC_F16, .a_stride = 64}, MC_USAGE,
           "a_stride is set, which goes with batch");
}

int main(int argc, char **argv) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF,
                                      .records = ""};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_launches(false);
        test_launches(true);
        test_refusals();
        if (argc > 1) test_graph();
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
