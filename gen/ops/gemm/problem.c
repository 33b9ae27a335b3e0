/* Products, dense or of a 2:4 sparse A: what all solvers have of the problem, from a point; its checks, and
   its part of a contract. */
#include "ops/gemm/problem.h"
#include "ops/gemm/fields.h"
#include "parts/integer/integer.h"
#include <stdio.h>
#include <string.h>

enum { ATOM_ALIGN = 16 }; /* bulk copies want that */

const char *const gemm_out_names[] = {"s32", "f16", "bf16", "f32",  "s8", "u8",
                                      "s4",  "u4",  "e4m3", "e5m2", NULL};
static const out_element out_elements[] = {OUT_S32, OUT_F16, OUT_BF16, OUT_F32,  OUT_S8,
                                           OUT_U8,  OUT_S4,  OUT_U4,   OUT_E4M3, OUT_E5M2};

/* -- Checks ------------------------------------------------------------------------------------------- */

static const out_fields output_fields = {.out = F_OUT,
                                         .scale = F_SCALE,
                                         .bias = F_BIAS,
                                         .sum = F_OUT,
                                         .act = F_ACT,
                                         .b_scale = F_B_SCALE,
                                         .c_scale = F_C_SCALE,
                                         .zero = F_ZERO,
                                         .residual = F_RESIDUAL,
                                         .pairs = true};

static void check_ld(int field, int64_t ld, const char *shape, int64_t least, mc_complaints *complaints) {
    if (ld != MC_OPEN && least != MC_OPEN && ld < least)
        complain(complaints, field, "%lld is less than %s = %lld", (long long)ld, shape, (long long)least);
}

static void check_shapes(const gemm_problem *p, mc_complaints *complaints) {
    check_ld(F_LDA, p->lda, "k", p->k, complaints);
    check_ld(F_LDB, p->ldb, gemm_b_columns(p), p->b_rows ? p->n : p->k, complaints);
    check_ld(F_LDC, p->ldc, "n", p->n, complaints);
    check_ld(F_LDR, p->ldr, "n", p->n, complaints);
    if (p->ldr != MC_OPEN && p->output.residual == OUT_NO_ADDEND)
        complain(complaints, F_LDR, "there is no residual: leave it out");
    if (out_least_store(p->output.element) > 1 && p->ldc != MC_OPEN && p->ldc % 2)
        complain(complaints, F_LDC, "out = \"%s\" wants an even number, not %lld",
                 out_element_name(p->output.element), (long long)p->ldc);
}

static bool is_of(const gemm_problem *p, const char *name) {
    return strcmp(p->lhs.name, name) == 0 && strcmp(p->rhs.name, name) == 0;
}

static void check_sums(gemm_problem *p, mc_complaints *complaints) {
    bool bytes = !p->lhs.integer && side_value_bits(p->lhs.type) == 8;
    if (p->sums == GEMM_PROMOTED && !bytes)
        complain(complaints, F_SUMS, "\"promoted\" is for floats of 8 bits, lhs is \"%s\"", p->lhs.name);
    else if (p->sums == GEMM_HALVES && !is_of(p, "f16"))
        complain(complaints, F_SUMS, "\"f16\" is for a product of f16 by f16");
    else return;
    p->sums = GEMM_FAST;
}

static void check_block_scales(gemm_problem *p, mc_complaints *complaints) {
    if (!p->block_scales && p->a_blocks_columns)
        complain(complaints, F_A_BLOCKS_MAJOR, "there are no scales of blocks: leave it out");
    if (p->block_scales && p->sums != GEMM_PROMOTED)
        complain(complaints, F_BLOCK_SCALES, "\"on\" wants sums = \"promoted\"");
    else if (p->block_scales && p->batch)
        complain(complaints, F_BLOCK_SCALES, "a batch has no scales of blocks");
    else return;
    p->block_scales = false;
}

/* -- Problem ------------------------------------------------------------------------------------------ */

static out_kind output_of(const int64_t *point) {
    static const out_per bias_of[] = {OUT_PER_NONE, OUT_PER_ROW, OUT_PER_COLUMN};
    return (out_kind){.element = out_elements[point[F_OUT]],
                      .scale = (out_per)point[F_SCALE],
                      .bias = bias_of[point[F_BIAS]],
                      .act = (out_act)point[F_ACT],
                      .b_scale = point[F_B_SCALE] != 0,
                      .c_scale = point[F_C_SCALE] != 0,
                      .zero = point[F_ZERO] != 0,
                      .residual = (out_addend)point[F_RESIDUAL]};
}

gemm_problem gemm_problem_of(const int64_t *point, bool sparse, mc_complaints *complaints) {
    gemm_problem p = {.lhs = gemm_side_of(point[F_LHS]),
                      .rhs = gemm_side_of(point[F_RHS]),
                      .sums = (gemm_sums)point[F_SUMS],
                      .output = output_of(point),
                      .sparse = sparse,
                      .b_rows = point[F_LAYOUT] != 0,
                      .block_scales = !sparse && point[F_BLOCK_SCALES] != 0,
                      .a_blocks_columns = !sparse && point[F_A_BLOCKS_MAJOR] != 0,
                      .batch = point[F_BATCH] != 0,
                      .align = (int)point[F_ALIGN],
                      .m = point[F_M],
                      .n = point[F_N],
                      .k = point[F_K],
                      .lda = sparse ? MC_OPEN : point[F_LDA],
                      .ldb = point[F_LDB],
                      .ldc = point[F_LDC],
                      .ldr = point[F_LDR]};
    p.output.real = !p.lhs.integer;
    check_sums(&p, complaints);
    check_block_scales(&p, complaints);
    check_shapes(&p, complaints);
    out_check(&p.output, &output_fields, &mc_archs[point[FIELD_ARCH]], complaints);
    out_describe(&p.output, false, p.c_doc);
    return p;
}

void gemm_check_store(const gemm_problem *p, gemm_store store, mc_complaints *complaints) {
    int bytes = out_element_bytes(p->output.element);
    if (store == STORE_SINGLE && bytes == 0)
        complain(complaints, F_STORE, "out = \"%s\" has two columns in a byte, which wants \"pairs\"",
                 out_element_name(p->output.element));
    if (store == STORE_PAIRS && p->align < 2 * bytes)
        complain(complaints, F_STORE, "\"pairs\" wants C at multiples of %d bytes: align = %d", 2 * bytes,
                 p->align);
}

void gemm_check_multiple(int field, int64_t value, int64_t multiple, mc_complaints *complaints) {
    if (value != MC_OPEN && value % multiple)
        complain(complaints, field, "%lld is not a multiple of %lld, which this kernel wants",
                 (long long)value, (long long)multiple);
}

/* -- Texts -------------------------------------------------------------------------------------------- */

size_t gemm_entry_name(const gemm_problem *p, char name[MC_MAX_ENTRY]) {
    static const char *const sums[] = {"", "_promoted", "_sums_f16"};
    return (size_t)snprintf(name, MC_MAX_ENTRY, "gemm%s_%s%s%s%s%s%s%s", p->sparse ? "24" : "", p->lhs.name,
                            p->rhs.name, out_element_name(p->output.element), out_act_link(&p->output),
                            out_act_text(&p->output), sums[p->sums], p->block_scales ? "_blocks" : "");
}

/* Texts are [B row-major][what is added up]. */
enum { SCALED = 4, KINDS };
static int kind_of(const gemm_problem *p) {
    if (p->block_scales) return SCALED;
    return p->output.real ? 1 + (int)p->sums : 0;
}

#define TEXTS(operands)                                                                                      \
    {                                                                                                        \
        "C = A[m,k] B[k,n]: " operands "; integers, sums in s32.",                                           \
            "C = A[m,k] B[k,n]: " operands "; floats, sums in f32.",                                         \
            "C = A[m,k] B[k,n]: " operands "; floats, sums of 128 products promoted to f32.",                \
            "C = A[m,k] B[k,n]: " operands "; floats, sums in f16.",                                         \
            "C = A[m,k] B[k,n]: " operands "; floats, sums of 128 products scaled and promoted to f32."      \
    }

const char *gemm_computes(const void *plan) {
    const gemm_problem *p = plan;
    static const char *const texts[][KINDS] = {TEXTS("A row-major, B by columns"),
                                               TEXTS("A and B row-major")};
    return texts[p->b_rows][kind_of(p)];
}

const char *gemm24_computes(const void *plan) {
    const gemm_problem *p = plan;
    static const char *const texts[][KINDS] = {TEXTS("A 2:4 sparse and packed, B by columns"),
                                               TEXTS("A 2:4 sparse and packed, B row-major")};
    return texts[p->b_rows][kind_of(p)];
}

/* -- Contract ----------------------------------------------------------------------------------------- */

void gemm_add_packed(const gemm_problem *p, mc_contract *c) {
    const bool pairs = side_value_bits(p->lhs.type) == 4; /* which are kept or dropped together */
    c->format = "packed24";
    add_array(c, ATOM_ALIGN,
              (mc_array){"values", "lhs", "atoms * 8192 bytes",
                         "what is kept of A, in atoms of 64 rows x 128 bytes"});
    add_array(c, ATOM_ALIGN,
              (mc_array){"meta", "u8", pairs ? "atoms * 2048" : "atoms * 1024, of 8 bits * 2048",
                         "the places of what is kept"});
}

void gemm_add_block_scales(const gemm_problem *p, mc_contract *c) {
    if (!p->block_scales) return;
    add_param(c, (mc_param){"a_blocks", "u64", MC_PARAM_ARRAY, sizeof(float),
                            p->a_blocks_columns ? "f32[k / 128][m]: scale of each row of A and 128 of k"
                                                : "f32[m][k / 128]: scale of each row of A and 128 of k"});
    add_param(c, (mc_param){"b_blocks", "u64", MC_PARAM_ARRAY, sizeof(float),
                            "f32[n / 128][k / 128]: scale of each 128 columns of B and 128 of k"});
}

void gemm_add_shapes(const gemm_problem *p, bool with_c, mc_contract *c) {
    add_shape(c, "m", p->m, "rows of A and C");
    add_shape(c, "n", p->n, "columns of B and C");
    add_shape(c, "k", p->k, "columns of A, rows of B");
    if (with_c) add_shape(c, "ldc", p->ldc, "elements from one row of C to the next");
    if (p->output.residual != OUT_NO_ADDEND)
        add_shape(c, "ldr", p->ldr, "elements from one row of the residual to the next");
}

void gemm_add_c_limits(const gemm_problem *p, int tile_m, int tile_n, int64_t columns, int store,
                       mc_contract *c) {
    static const char why[] = "a tile's last row and column are counted in s32";
    bool adds = p->output.residual != OUT_NO_ADDEND;
    unsigned multiple = gemm_multiple(columns),
             added = adds ? gemm_multiple(gemm_residual_load(p, store)) : 0;
    add_constraint(c, (mc_constraint){"m", 0, INT32_MAX - tile_m + 1, why});
    add_constraint(c, (mc_constraint){"n", multiple, INT32_MAX - tile_n + 1, why});
    add_constraint(c, (mc_constraint){"ldc", multiple, 0, NULL});
    if (adds) add_constraint(c, (mc_constraint){"ldr", added, 0, NULL});
}

void gemm_add_batch(const gemm_problem *p, int64_t operands, int64_t columns, int store, mc_contract *c) {
    const gemm_batch batch = gemm_batch_of(p);
    if (!p->batch) return;
    batch_contract(c, batch.arrays, batch.count);
    const unsigned added = gemm_multiple(gemm_residual_load(p, store));
    if (!p->sparse) add_constraint(c, (mc_constraint){"a_stride", gemm_multiple(operands), 0, NULL});
    add_constraint(c, (mc_constraint){"b_stride", gemm_multiple(operands), 0, NULL});
    add_constraint(c, (mc_constraint){"c_stride", gemm_multiple(columns), 0, NULL});
    if (p->output.residual != OUT_NO_ADDEND) add_constraint(c, (mc_constraint){"r_stride", added, 0, NULL});
}

void gemm_add_sums(const gemm_problem *p, mc_contract *c) {
    if (!p->lhs.integer) return;
    c->sums = sums_of_sides(digit_sides[p->lhs.type], digit_sides[p->rhs.type], p->k);
    if (p->k == MC_OPEN) add_constraint(c, (mc_constraint){"k", 0, c->sums.bound, SUMS_ARE_EXACT});
}
