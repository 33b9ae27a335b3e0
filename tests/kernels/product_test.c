/* Products, dense or by a 2:4 matrix, on the simulator: floats bit for bit in the order of mc_reference_gemm_ordered or mc_reference_gemm24_ordered and within the
 * operator's bounds, integers exactly; every type, store, tile and epilogue, shapes at the edges of tiles and
 * stages, special values, several schedules. product_test SPEC PART of those in `parts`; with a DEVICE on that
 * one alone. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "product.h"
#include "product_batch.h"
#include "base/real.h"
#include "matrix/sparse24.h"
#include "verify/run.h"
#include "mcrt_internal.h"
#include "ptxsim.h"

/* From b on: an A of its own is operand 0. A gemm has scales of blocks behind the residual. */
enum { B, SCALE, BIAS, B_SCALE, C_SCALE, ZERO, RESIDUAL, A_BLOCKS, B_BLOCKS };
enum { SCHEDULES = 4, SKIPPED = 77 };

/* -- Shapes */

/* N is rounded up to what the kernel can store. GAPS: units of 16 bytes that rows of A and B are longer, and
   elements, of 16 bytes or two where the kernel wants that, that rows of C are. */
typedef struct shape {
    int64_t m, n, k;
    int gap_a, gap_b, gap_c;
    mc_value_law law;
    bool special;
} shape;

static const shape shapes[] = {
    {1, 1, 1, 0, 0, 0, MC_VALUES_FULL, false},       {7, 8, 7, 0, 1, 0, MC_VALUES_FULL, false},
    {8, 65, 63, 1, 0, 1, MC_VALUES_FULL, false},     {63, 64, 64, 0, 0, 0, MC_VALUES_FULL, false},
    {64, 7, 65, 0, 0, 3, MC_VALUES_EXTREME, false},  {65, 129, 129, 2, 0, 0, MC_VALUES_FULL, false},
    {129, 63, 200, 0, 3, 1, MC_VALUES_FULL, true},   {200, 257, 8, 0, 0, 5, MC_VALUES_FULL, false},
    {257, 200, 255, 0, 0, 0, MC_VALUES_FULL, false}, {130, 72, 1030, 0, 0, 1, MC_VALUES_FULL, true},
};

/* Of few columns: k of fewer stages than parts, as many, and more; a part's last wgmma may be half empty. */
static const shape few_columns[] = {
    {1, 1, 1, 0, 0, 0, MC_VALUES_FULL, false},       {7, 8, 200, 0, 1, 0, MC_VALUES_FULL, false},
    {8, 7, 63, 1, 0, 1, MC_VALUES_FULL, false},      {63, 65, 64, 0, 0, 0, MC_VALUES_FULL, false},
    {64, 1, 257, 0, 0, 3, MC_VALUES_EXTREME, false}, {65, 17, 129, 2, 0, 0, MC_VALUES_FULL, false},
    {129, 8, 513, 0, 3, 1, MC_VALUES_FULL, true},    {200, 63, 65, 0, 0, 5, MC_VALUES_FULL, false},
    {257, 9, 1030, 0, 0, 0, MC_VALUES_FULL, false},
};

/* Depths of several stages of 4 bits, most of them odd: k ends in the first byte of a stage, in the last one, and between. */
static const shape odd_depths[] = {
    {9, 8, 257, 0, 0, 0, MC_VALUES_FULL, false},   {65, 10, 511, 1, 0, 0, MC_VALUES_FULL, false},
    {70, 64, 513, 0, 2, 1, MC_VALUES_FULL, false}, {8, 66, 767, 0, 0, 0, MC_VALUES_EXTREME, false},
    {33, 7, 1023, 0, 1, 0, MC_VALUES_FULL, false}, {130, 40, 2047, 0, 0, 0, MC_VALUES_FULL, false},
    {17, 9, 2050, 1, 1, 0, MC_VALUES_FULL, false},
};
/* Of tiles that are dealt out along k: fewer than thread blocks, as many, one more, many; of one stage, of fewer
   than there are thread blocks, of many. */
static const shape streamed[] = {
    {1, 1, 1, 0, 0, 0, MC_VALUES_FULL, false},       {64, 64, 1100, 0, 1, 0, MC_VALUES_FULL, false},
    {63, 65, 200, 1, 0, 1, MC_VALUES_FULL, false},   {65, 63, 520, 0, 0, 0, MC_VALUES_EXTREME, false},
    {190, 60, 64, 0, 0, 3, MC_VALUES_FULL, false},   {129, 129, 257, 2, 0, 0, MC_VALUES_FULL, true},
    {257, 200, 130, 0, 3, 1, MC_VALUES_FULL, false}, {320, 129, 63, 0, 0, 5, MC_VALUES_FULL, false},
    {70, 190, 777, 0, 0, 0, MC_VALUES_FULL, true},
};
static const int stream_multiprocessors[] = {3, 4, 1, 7, 2, 5, 13};

struct bench {
    const shape *shapes;
    size_t shape_count;
    mc_device *devices[SCHEDULES], *device; /* schedules, which runs take in turn */
    unsigned runs;
    mc_kernel *kernel;
    const mc_operator *op;
    plan_problem problem;
    int b;             /* B's index */
    mc_vsparse matrix; /* gemm24 */
    mc_dense inputs[MAX_OPERANDS];
    float *factors[MAX_OPERANDS];
    mc_diag *diag;
    const char *spec;
    int64_t product;     /* of a batch: the one at hand */
    unsigned shared;     /* a bit for each operand that all its products have */
    int multiprocessors; /* that a stream is dealt to */
};

/* -- Operands */

static int64_t round_up(int64_t count, int64_t multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

/* What the kernel wants SHAPE to be a multiple of. */
static int64_t multiple_of(const bench *t, const char *name) {
    unsigned multiple = mc_contract_of_shape(mc_kernel_contract(t->kernel), name).multiple;
    return multiple > 0 ? multiple : 1;
}

/* Some elements of floats become what makes a product special: zeros by infinities, too. */
static void spoil(mc_dense *of, int step) {
    static const float values[] = {INFINITY, 0, -INFINITY, NAN, 448, -448, 0x1p-9F, -0.F};
    if (!mc_type_is_real(of->type)) return;
    for (int64_t i = 0; i < of->rows * of->cols; i += step)
        mc_dense_set(of, i / of->cols, i % of->cols, real_to_bits(of->type, values[i / step % 8]));
}

/* Each product of a batch has other values, but for what all have. */
static uint64_t seed_of(const bench *t, int operand) {
    return (uint64_t)operand + 1 + (t->shared >> operand & 1 ? 0 : 100 * (uint64_t)t->product);
}

static mc_status make_input(bench *t, int operand, int64_t ld, const shape *s) {
    const mc_dense like = operand_shape(&t->problem, &t->op->operands[operand]);
    mc_dense *input = &t->inputs[operand];
    mc_status status = mc_dense_create(like.type, like.rows, like.cols, ld, input, t->diag);
    if (status == MC_OK) mc_dense_fill(input, s->law, seed_of(t, operand));
    if (status == MC_OK && s->special) spoil(input, operand < t->b ? 61 : 97);
    return status;
}

static void make_factors(bench *t, const shape *s) {
    for (int i = t->b + SCALE; i <= t->b + ZERO; i++) {
        const operand_row *operand = &t->op->operands[i];
        int64_t count = operand_factors(&t->problem, operand);
        if (count == 0) continue;
        t->factors[i] = malloc((size_t)count * sizeof(float));
        operand->fill(t->factors[i], count, s->law, 2 + (uint64_t)i);
    }
}

/* One of seven groups has a vector less, one of seven none. */
static void thin_out(mc_csr *csr) {
    int64_t left = 0, first = 0;
    for (int64_t row = 0; row < csr->rows; row++) {
        for (int64_t i = first; i < csr->row_ptr[row + 1]; i++) {
            int64_t kind = (row + csr->col_idx[i] / 4) % 7;
            if (kind == 0 || (kind == 3 && csr->col_idx[i] % 2)) continue;
            csr->col_idx[left++] = csr->col_idx[i];
        }
        first = csr->row_ptr[row + 1];
        csr->row_ptr[row + 1] = left;
    }
    csr->nnz = left;
}

static mc_status make_matrix(bench *t, const shape *s) {
    mc_sparse24_rule rule = {0};
    mc_csr csr = {0};
    mc_status status = mc_sparse24_rule_of(t->problem.lhs, &rule, t->diag);
    const mc_grouped groups = {t->problem.m, t->problem.k, rule.kept, rule.group, (uint64_t)s->n, rule.unit};
    if (status == MC_OK) status = mc_csr_generate_grouped(&groups, &csr, t->diag);
    if (status == MC_OK) thin_out(&csr);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, 1, t->problem.lhs, &t->matrix, t->diag);
    if (status == MC_OK) {
        mc_vsparse_fill(&t->matrix, s->law, 1, NULL);
        mc_dense values = {.type = t->problem.lhs, .rows = t->matrix.vectors, .cols = 1, .ld = 1};
        values.data = t->matrix.values;
        if (s->special) spoil(&values, 61);
    }
    mc_csr_free(&csr);
    return status;
}

static mc_status make_operands(bench *t, const shape *s) {
    plan_problem *p = &t->problem;
    int64_t a_unit = multiple_of(t, "lda"), b_unit = multiple_of(t, "ldb");
    p->m = s->m, p->n = round_up(s->n, multiple_of(t, "n")), p->k = s->k;
    int64_t b_row = p->layout == MC_LAYOUT_COLUMNS ? p->k : p->n;
    mc_status status = t->op->matrix.wanted ? make_matrix(t, s)
                                            : make_input(t, 0, round_up(p->k, a_unit) + s->gap_a * a_unit, s);
    if (status == MC_OK) status = make_input(t, t->b + B, round_up(b_row, b_unit) + s->gap_b * b_unit, s);
    if (status == MC_OK && p->residual != MC_RESIDUAL_NONE)
        status = make_input(t, t->b + RESIDUAL, round_up(p->n + 3 * s->gap_c, multiple_of(t, "ldr")), s);
    for (int i = t->b + A_BLOCKS; i <= t->b + B_BLOCKS && p->block_scales && status == MC_OK; i++)
        status = make_input(t, i, operand_shape(p, &t->op->operands[i]).cols, s);
    make_factors(t, s);
    return status;
}

static void free_operands(bench *t) {
    mc_vsparse_free(&t->matrix);
    for (int i = 0; i < MAX_OPERANDS; i++) {
        mc_dense_free(&t->inputs[i]);
        free(t->factors[i]);
        t->inputs[i] = (mc_dense){0}, t->factors[i] = NULL;
    }
}

/* -- One kernel, one problem */

/* How its tiles are dealt out along k, if they are. */
static mc_gemm_stream stream_of(const bench *t) {
    if (mc_kernel_field(t->kernel, "stream") != 1) return (mc_gemm_stream){0};
    return (mc_gemm_stream){.blocks = t->multiprocessors * (int)mc_kernel_contract(t->kernel)->blocks_per_sm,
                            .tile_m = (int)mc_kernel_field(t->kernel, "tile_m"),
                            .tile_n = (int)mc_kernel_field(t->kernel, "tile_n"),
                            .group = (int)mc_kernel_field(t->kernel, "group")};
}

/* Floats, in their order. */
static mc_status compare_ordered(bench *t, const host_operands *o, const mc_dense *c) {
    const mc_output output = operator_output(o->problem);
    const int b = t->b;
    const mc_layout layout = o->problem->layout;
    const mc_factors factors = {.scale = o->factors[b + SCALE],
                                .b_scale = o->factors[b + B_SCALE],
                                .bias = o->factors[b + BIAS],
                                .c_scale = o->factors[b + C_SCALE],
                                .zero = o->factors[b + ZERO],
                                .residual = o->inputs[b + RESIDUAL]};
    reference_result want = {0};
    mc_dense sums;
    const mc_gemm_order order = {.method = (mc_gemm_method)mc_kernel_field(t->kernel, "method"),
                                 .parts = (int)mc_kernel_field(t->kernel, "split"),
                                 .sums = o->problem->sums,
                                 .a_blocks = o->problem->block_scales ? o->inputs[b + A_BLOCKS] : NULL,
                                 .b_blocks = o->problem->block_scales ? o->inputs[b + B_BLOCKS] : NULL,
                                 .a_blocks_major = o->problem->a_blocks_major,
                                 .stream = stream_of(t)};
    mc_status status =
        t->op->matrix.wanted
            ? mc_reference_gemm24_ordered(o->matrix, o->inputs[b + B], layout, &order, &sums, t->diag)
            : mc_reference_gemm_ordered(o->inputs[0], o->inputs[b + B], layout, &order, &sums, t->diag);
    if (status == MC_OK) status = mc_reference_output(&output, &factors, &sums, &want.low, t->diag);
    if (status == MC_OK) status = mc_result_compare(c, &want, t->diag);
    mc_dense_free(&sums);
    mc_result_free(&want);
    return status;
}

static mc_status compare(bench *t, const host_operands *o, const mc_dense *c) {
    reference_result want = {0};
    mc_status status = operator_expect(t->op, o, &want, t->diag);
    if (status == MC_OK) status = mc_result_compare(c, &want, t->diag);
    mc_result_free(&want);
    if (status == MC_OK && mc_type_is_real(o->problem->lhs)) status = compare_ordered(t, o, c);
    return status;
}

/* Bytes by which the residual may be out of place. */
static unsigned misplaced(const bench *t, const plan_problem *p) {
    if (p->residual == MC_RESIDUAL_NONE || mc_kernel_field(t->kernel, "align") >= 16) return 0;
    unsigned element = (unsigned)mc_type_bytes((mc_type)p->residual), align = p->align;
    return align > element ? align : element;
}

/* Bytes by which A and B may be: as much as the kernel's copies are wide. */
static unsigned moved(const bench *t, mc_type type) {
    if (mc_kernel_field(t->kernel, "method") == MC_GEMM_WGMMA) return 0;
    unsigned copy = (unsigned)mc_kernel_field(t->kernel, "copy"), element = (unsigned)mc_type_bytes(type);
    return copy > element ? copy : element;
}

/* Whether no two lanes met in a bank of shared memory, which kernels of method mma never do. */
static void check_banks(const bench *t) {
    const ptxsim *sim = mc_device_ptxsim(t->device);
    if (!sim || mc_kernel_field(t->kernel, "method") == MC_GEMM_WGMMA) return;
    ptxsim_line sum = ptxsim_line_sum(sim);
    CHECK(sum.shared_wavefronts == sum.shared_ideal, "%s: %d wavefronts too many",
          mc_kernel_fields(t->kernel), (int)(sum.shared_wavefronts - sum.shared_ideal));
}

/* Makes the operands, and what a run of them is given, whose problem is WHOLE. */
static mc_status make_run(bench *t, const shape *s, plan_problem *whole, mc_run *made) {
    mc_status status = make_operands(t, s);
    mc_run run = {.operands = {.problem = whole, .matrix = &t->matrix},
                  .ld = round_up(t->problem.n + s->gap_c, multiple_of(t, "ldc"))};
    if (mc_type_bytes(t->problem.out) == 0) run.ld = round_up(run.ld, 2);
    if (mc_kernel_field(t->kernel, "stream") == 1) run.multiprocessors = t->multiprocessors, run.repeats = 1;
    for (size_t i = 0; i + 1 < t->op->operand_count; i++) {
        run.operands.inputs[i] = t->inputs[i].data ? &t->inputs[i] : NULL;
        run.operands.factors[i] = t->factors[i];
    }
    run.offsets[t->b + RESIDUAL] = misplaced(t, &t->problem);
    run.offsets[t->b + B] = moved(t, t->problem.rhs);
    if (!t->op->matrix.wanted) run.offsets[0] = moved(t, t->problem.lhs);
    if (status == MC_OK) status = plan_problem_measure(t->kernel, &run.operands, run.ld, whole, t->diag);
    *made = run;
    return status;
}

static mc_status run_batch(bench *t, const shape *s, product_batch *all) {
    plan_problem whole;
    mc_run run;
    mc_status status = MC_OK;
    for (t->product = 0; t->product < all->count && status == MC_OK; t->product++) {
        status = make_run(t, s, &whole, &run);
        if (status == MC_OK) status = product_batch_put(all, t->product, &run, t->diag);
        free_operands(t);
    }
    if (status == MC_OK) status = product_batch_launch(all, t->diag);
    if (status == MC_OK) check_banks(t);
    for (t->product = 0; t->product < all->count && status == MC_OK; t->product++) {
        mc_dense c = {0};
        status = make_run(t, s, &whole, &run);
        if (status == MC_OK) status = product_batch_take(all, t->product, &c, t->diag);
        if (status == MC_OK) status = compare(t, &run.operands, &c);
        mc_dense_free(&c);
        free_operands(t);
    }
    return status == MC_OK ? product_batch_end(all, t->diag) : status;
}

/* Three products, of some shapes with an A, a B or a residual that all have. */
static mc_status try_batch(bench *t, const shape *s) {
    const unsigned a = t->b > 0, b = 1U << (t->b + B), residual = 1U << (t->b + RESIDUAL);
    const unsigned shared[] = {0, a, b, a | residual, a | b | residual};
    unsigned turn = (unsigned)(s - t->shapes);
    t->shared = shared[turn % (sizeof shared / sizeof *shared)];
    product_batch all = {
        .device = t->device, .kernel = t->kernel, .count = 3, .shared = t->shared, .gap = (int)(turn % 4)};
    mc_status status = run_batch(t, s, &all);
    product_batch_close(&all);
    t->product = 0, t->shared = 0;
    return status;
}

static mc_status try_shape(bench *t, const shape *s) {
    mc_dense c = {0};
    plan_problem whole;
    mc_run run;
    const size_t counts = sizeof stream_multiprocessors / sizeof *stream_multiprocessors;
    t->multiprocessors = stream_multiprocessors[t->runs % counts];
    t->device = t->devices[t->runs++ % SCHEDULES];
    if (mc_kernel_field(t->kernel, "batch") == 1) return try_batch(t, s);
    mc_status status = make_run(t, s, &whole, &run);
    if (status == MC_OK) status = mc_operator_run(t->device, t->kernel, NULL, &run, NULL, &c, t->diag);
    if (status == MC_OK) check_banks(t);
    if (status == MC_OK) status = compare(t, &run.operands, &c);
    mc_dense_free(&c);
    free_operands(t);
    return status;
}

/* Of combinations of types: floats do not go with integers. */
static bool is_mixed(const mc_setting *settings, size_t count) {
    bool integer[2] = {false, false};
    for (size_t i = 0; i < count; i++)
        for (int side = 0; side < 2; side++)
            if (strcmp(settings[i].field, side ? "rhs" : "lhs") == 0)
                integer[side] = settings[i].value[1] == '8' || settings[i].value[1] == '4';
    return integer[0] != integer[1];
}

void product_try(void *user, const char *text, const mc_setting *settings, size_t count) {
    bench *t = user;
    mc_diag_clear(t->diag);
    if (is_mixed(settings, count)) return;
    t->kernel = choices_kernel(t->spec, settings, count, t->diag);
    bool made = t->kernel != NULL && plan_problem_read(t->kernel, &t->problem, t->diag) == MC_OK;
    CHECK(made, "%s: %s", text, mc_diag_text(t->diag));
    if (!made) return;
    t->op = operator_of(t->problem.op);
    t->b = operator_operand(t->op, "b");
    for (size_t i = 0; i < t->shape_count; i++) {
        const shape *s = &t->shapes[i];
        mc_diag_clear(t->diag);
        mc_status status = try_shape(t, s);
        CHECK(status == MC_OK, "%s, %d x %d x %d: %s", text, (int)s->m, (int)s->n, (int)s->k,
              mc_diag_text(t->diag));
    }
    mc_kernel_destroy(t->kernel);
}

/* -- Parts */

void product_take_few_columns(bench *t) {
    t->shapes = few_columns, t->shape_count = sizeof few_columns / sizeof *few_columns;
}

void product_take_odd_depths(bench *t) {
    t->shapes = odd_depths, t->shape_count = sizeof odd_depths / sizeof *odd_depths;
}

void product_take_stream(bench *t) {
    t->shapes = streamed, t->shape_count = sizeof streamed / sizeof *streamed;
}

static const struct {
    const char *name;
    void (*run)(bench *t);
} parts[] = {{"types", product_types},
             {"tiles", product_tiles},
             {"rows", product_rows},
             {"outputs", product_outputs},
             {"split", product_split},
             {"stream", product_stream},
             {"sums", product_sums},
             {"blocks", product_blocks},
             {"mma_sums", product_mma_sums},
             {"mma_types", product_mma_types},
             {"mma_words", product_mma_words},
             {"mma_fours", product_mma_fours},
             {"mma_tiles", product_mma_tiles},
             {"mma_rows", product_mma_rows},
             {"mma_outputs", product_mma_outputs},
             {"mma_sparse", product_mma_sparse},
             {"batches", product_batches},
             {"mma_batches", product_mma_batches}};

int main(int argc, char **argv) {
    static const char *const schedules[] = {"sim", "sim:reversed", "sim:seed=7", "sim:seed=9:landing=last"};
    bench t = {.shapes = shapes, .shape_count = sizeof shapes / sizeof *shapes, .diag = mc_diag_create()};
    if (argc != 3 && argc != 4) return 2;
    for (size_t i = 0; i < SCHEDULES; i++)
        if (mc_device_open(argc == 4 ? argv[3] : schedules[i], &t.devices[i], t.diag) != MC_OK) {
            printf("SKIPPED: %s\n", mc_diag_text(t.diag));
            mc_diag_destroy(t.diag);
            return argc == 4 ? SKIPPED : 2;
        }
    t.spec = argv[1];
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(argv[2], parts[i].name) == 0) parts[i].run(&t);
    for (size_t i = 0; i < SCHEDULES; i++) mc_device_close(t.devices[i]);
    mc_diag_destroy(t.diag);
    return check_end();
}
