/* The solver `mma` of a dense product: its plan, its contract and its facts. */
#include "ops/gemm/mma/mma.h"
#include "ops/gemm/fields.h"
#include "ops/gemm/solvers.h"
#include "parts/integer/integer.h"
#include "parts/packed24.h"
#include "parts/real/mma.h"
#include <stdio.h>

/* -- Checks ------------------------------------------------------------------------------------------- */

/* Whether both sides are integers of BITS bits. */
static bool are_integers(const gemm_problem *p, int bits) {
    return p->lhs.integer && side_value_bits(p->lhs.type) == bits && p->rhs.integer &&
           side_value_bits(p->rhs.type) == bits;
}

/* How the pairs of real/mma.h call it: tf32rz is tf32 without the rounding. */
static const char *paired(const gemm_side *side) {
    return strcmp(side->name, "tf32rz") == 0 ? "tf32" : side->name;
}

/* Of integers. */
static bool find_integers(const gemm_problem *p, const mc_arch *arch, mma_form *form) {
    const digit_side *sides = digit_sides;
    bool a_signed = sides[p->lhs.type].is_signed, b_signed = sides[p->rhs.type].is_signed;
    if (are_integers(p, 8)) *form = (mma_form){.mma = mma_int8(a_signed, b_signed), .bytes = 1};
    else if (are_integers(p, NIBBLE_BITS))
        *form = (mma_form){.mma = mma_int4(2 * MMA_K_BYTES, a_signed, b_signed),
                           .bytes = 1,
                           .two_in_byte = true,
                           .emulated = !arch->int4};
    else return false;
    return true;
}

/* Of values that are multiplied as they are stored; false: there is none for GPUs of capability SM. */
static bool find_floats(const gemm_problem *p, int sm, mma_form *form) {
    const char *lhs = paired(&p->lhs), *rhs = paired(&p->rhs);
    const real_pair *pair = real_pair_of(lhs, rhs, sm);
    if (!pair || (lhs == p->lhs.name) != (rhs == p->rhs.name)) return false;
    if (real_widens(pair->a_form) || real_widens(pair->b_form)) return false;
    *form = (mma_form){.mma = pair->mma,
                       .bytes = pair->bits / 8,
                       .rounded = pair->b_form == REAL_ROUNDED && lhs == p->lhs.name,
                       .emulated = real_pair_wide(lhs, rhs, sm) != pair};
    return true;
}

/* Leaves a form in any case, so that the rest of the plan can be made. */
static void check_form(const gemm_problem *p, const mc_arch *arch, mma_form *form,
                       mc_complaints *complaints) {
    if (p->lhs.integer && p->rhs.integer ? find_integers(p, arch, form) : find_floats(p, arch->sm, form))
        return;
    if (find_floats(p, REAL_ADA, form))
        complain(complaints, F_LHS, "\"%s\" by \"%s\" wants sm_%d or later", p->lhs.name, p->rhs.name,
                 REAL_ADA);
    else complain(complaints, F_LHS, "mma does not multiply \"%s\" by \"%s\"", p->lhs.name, p->rhs.name);
    *form = (mma_form){.mma = OP_mma_f16, .bytes = 2};
}

static void check_types(const int64_t *point, mma_plan *plan, mc_complaints *complaints) {
    const gemm_problem *p = &plan->problem;
    check_form(p, &mc_archs[point[FIELD_ARCH]], &plan->form, complaints);
    if (p->sums == GEMM_HALVES) plan->form.mma = OP_mma_f16_sums, plan->form.halves = true;
    if (p->sums == GEMM_PROMOTED)
        complain(complaints, F_SUMS, "\"promoted\" is for method = \"wgmma\": an mma keeps 25 bits as it is");
    if (p->b_rows && plan->form.bytes == 1)
        complain(complaints, F_LAYOUT,
                 "\"rows\" goes with elements of 2 and 4 bytes: rhs = \"%s\" wants \"columns\"", p->rhs.name);
    if (p->sparse && plan->form.emulated && !p->lhs.integer)
        complain(complaints, F_LHS,
                 "\"%s\" by \"%s\" wants sm_89 or sm_120, since others have no such mma.sp", p->lhs.name,
                 p->rhs.name);
    if (plan->copy == 1 && plan->form.bytes == WORD)
        complain(complaints, F_COPY, "\"%s\" has 4 bytes, which are copied as they are: copy = 4",
                 p->lhs.name);
}

static bool is_power(int x) { return (x & (x - 1)) == 0; }

/* Each thread copies as many pieces as any other one. */
static void check_share(const mma_plan *plan, const shared_tile *tile, int field, mc_complaints *complaints) {
    mma_share s = mma_share_of(plan, tile);
    if (s.step < 1 || s.count < 1)
        complain(complaints, field,
                 "%d lines of %d pieces of %d bytes do not go evenly to %d threads: take another \"copy\"",
                 s.lines, s.pieces, s.width, mma_threads(plan));
}

static void check_tile(const mma_plan *plan, mc_complaints *complaints) {
    shared_tile lhs = mma_lhs(plan), rhs = mma_rhs(plan);
    if (plan->tile_m % plan->warp_m || !is_power(plan->tile_m))
        complain(complaints, F_TILE_M, "%d rows in parts of warp_m = %d: take 64, 128 or 256", plan->tile_m,
                 plan->warp_m);
    else if (plan->tile_n % plan->warp_n || !is_power(plan->tile_n))
        complain(complaints, F_TILE_N, "%d columns in parts of warp_n = %d: take 32, 64, 128 or 256",
                 plan->tile_n, plan->warp_n);
    else if (mma_warps(plan) > MMA_MOST_WARPS)
        complain(complaints, F_WARP_M, "%d warps: there are %d at most", mma_warps(plan), MMA_MOST_WARPS);
    else {
        if (!plan->problem.sparse) check_share(plan, &lhs, F_TILE_M, complaints);
        check_share(plan, &rhs, F_TILE_N, complaints);
    }
}

/* Sums, two steps' operands, and two stages' metadata; and what is beside them. */
static void check_registers(const mma_plan *plan, mc_complaints *complaints) {
    enum { SM_REGISTERS = 65536, MOST = 255, OTHERS = 44 };
    int sums = plan->warp_m * plan->warp_n / 32 / (plan->form.halves ? 2 : 1),
        b_regs = mma_b_regs(plan) / MMA_B_REGS;
    int operands = (plan->warp_m + b_regs * plan->warp_n) / 2;
    if (plan->problem.sparse) operands += 2 * mma_row_tiles(plan) * packed24_words(plan->form.bytes);
    if (plan->form.two_in_byte && plan->form.emulated) operands += MMA_EMULATION4;
    int warps = mma_warps(plan), most = warps ? SM_REGISTERS / mma_threads(plan) : MOST;
    if (sums + operands + OTHERS > (most < MOST ? most : MOST))
        complain(complaints, F_WARP_M, "%d x %d sums a warp: too many for the registers of %d warps",
                 plan->warp_m, plan->warp_n, warps);
}

static void check_store(const int64_t *point, const mma_plan *plan, mc_complaints *complaints) {
    gemm_store store = (gemm_store)point[F_STORE];
    if (store == STORE_TENSOR)
        complain(complaints, F_STORE, "\"tensor\" wants method = \"wgmma\": \"pairs\" or \"single\" here");
    gemm_check_store(&plan->problem, store, complaints);
}

/* Elements of which rows of A and B are multiples. */
static int64_t operand_multiple(const mma_plan *plan) {
    return (plan->copy > plan->form.bytes ? plan->copy / plan->form.bytes : 1) * mma_held(plan);
}

/* What a spec fixes is what the contract asks for. */
static void check_fixed(const mma_plan *plan, mc_complaints *complaints) {
    const gemm_problem *p = &plan->problem;
    gemm_check_multiple(F_LDA, p->lda, operand_multiple(plan), complaints);
    gemm_check_multiple(F_LDB, p->ldb, operand_multiple(plan), complaints);
    gemm_check_multiple(F_N, p->n, plan->store, complaints);
    gemm_check_multiple(F_LDC, p->ldc, plan->store, complaints);
    gemm_check_multiple(F_LDR, p->ldr, gemm_residual_load(&plan->problem, plan->store), complaints);
}

static void check_room(const int64_t *point, const mma_plan *plan, mc_complaints *complaints) {
    int room = (int)mc_archs[point[FIELD_ARCH]].shared << 10, wanted = mma_shared_bytes(plan);
    if (wanted > room)
        complain(complaints, F_STAGES, "%d stages of %d bytes: %d bytes of shared memory, %d there are",
                 plan->stages, mma_stage_bytes(plan), wanted, room);
}

/* -- Plan --------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(mma_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan_of(const int64_t *point, bool sparse, mma_plan *plan, mc_complaints *complaints) {
    *plan = (mma_plan){.problem = gemm_problem_of(point, sparse, complaints),
                       .tile_m = (int)point[F_TILE_M],
                       .tile_n = (int)point[F_TILE_N],
                       .warp_m = (int)point[F_WARP_M],
                       .warp_n = (int)point[F_WARP_N],
                       .stages = (int)point[F_STAGES],
                       .span = (int)point[F_SPAN],
                       .copy = (int)point[F_COPY],
                       .group = (int)point[F_GROUP],
                       .store = point[F_STORE] == STORE_SINGLE ? 1 : 2};
    check_types(point, plan, complaints);
    if (sparse && plan->span != PACKED24_ROW_BYTES)
        complain(complaints, F_SPAN, "%d: a 2:4 matrix is packed by %d bytes of a row", plan->span,
                 PACKED24_ROW_BYTES);
    if (sparse) plan->span = PACKED24_ROW_BYTES;
    check_tile(plan, complaints);
    check_registers(plan, complaints);
    check_store(point, plan, complaints);
    check_fixed(plan, complaints);
    check_room(point, plan, complaints);
}

static void make_plan(const int64_t *point, void *plan, mc_complaints *complaints) {
    make_plan_of(point, false, plan, complaints);
}

static void make_plan24(const int64_t *point, void *plan, mc_complaints *complaints) {
    make_plan_of(point, true, plan, complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

static void add_operand(const mma_plan *plan, bool is_b, mc_contract *c) {
    const gemm_problem *p = &plan->problem;
    int bytes = plan->form.bytes;
    add_param(c, (mc_param){is_b ? "b" : "a", "u64", MC_PARAM_ARRAY,
                            (unsigned)(plan->copy > bytes ? plan->copy : bytes),
                            is_b ? p->b_rows ? "B, [k][ldb]" : "B, [n][ldb]" : "A, [m][lda]"});
    const char *ld = is_b ? "ldb" : "lda";
    add_constraint(c, (mc_constraint){ld, gemm_multiple(operand_multiple(plan)), 0, NULL});
}

static void contract(const void *data, mc_contract *c) {
    const mma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    if (p->sparse) gemm_add_packed(p, c);
    else add_operand(plan, false, c);
    add_operand(plan, true, c);
    out_add_dense(&p->output, p->c_doc, (unsigned)p->align, c);
    out_add_residual(&p->output, false, (unsigned)p->align, c);
    gemm_add_shapes(p, true, c);
    if (!p->sparse) add_shape(c, "lda", p->lda, "elements from one row of A to the next");
    add_shape(c, "ldb", p->ldb,
              p->b_rows ? "elements from one row of B to the next"
                        : "elements from one column of B to the next");
    gemm_add_c_limits(p, plan->tile_m, plan->tile_n, plan->store, plan->store, c);
    gemm_add_sums(p, c);
    c->shared_dynamic = (unsigned)mma_shared_bytes(plan);
    c->grid[0] = (mc_grid_axis){"m", plan->tile_m};
    c->columns = (mc_grid_axis){"n", plan->tile_n};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = (unsigned)mma_threads(plan);
    c->block[1] = c->block[2] = 1;
    gemm_add_batch(p, operand_multiple(plan), plan->store, plan->store, c);
}

static void facts(const void *data, mc_facts *facts) {
    const mma_plan *plan = data;
    add_fact(facts, "threads", mma_threads(plan), "a thread block");
    add_fact(facts, "tile_m", plan->tile_m, "rows of C, a thread block");
    add_fact(facts, "tile_n", plan->tile_n, "columns of C, a thread block");
    add_fact(facts, "stage_k", mma_stage_k(plan), "of k, a stage");
    add_fact(facts, "stage_bytes", mma_stage_bytes(plan), "of A and B, a stage");
    add_fact(facts, "stages", plan->stages, "in shared memory");
}

/* -- Solver ------------------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const mma_plan *plan = data;
    size_t length = gemm_entry_name(&plan->problem, name);
    snprintf(name + length, MC_MAX_ENTRY - length, "_mma_%dx%d_%dx%d_s%dx%d_c%d%s%s", plan->tile_m,
             plan->tile_n, plan->warp_m, plan->warp_n, plan->stages, plan->span, plan->copy,
             plan->store == 1 ? "_single" : "_pairs", plan->problem.b_rows ? "_rows" : "");
}

static const char *how(const void *data) {
    const mma_plan *plan = data;
    return plan->copy == 1
               ? "All threads copy elements of A and B one by one into stages in shared memory. Each warp\n"
                 "multiplies its part of the tile by mma.sync, by operands that ldmatrix reads a step ahead."
               : "All threads copy tiles of A and B into stages in shared memory by cp.async. Each warp\n"
                 "multiplies its part of the tile by mma.sync, by operands that ldmatrix reads a step ahead.";
}

static const char *how24(const void *data) {
    (void)data;
    return "All threads copy atoms of A with their metadata, and tiles of B, into stages in shared memory. "
           "Each\n"
           "warp multiplies its part of the tile by mma.sp, by operands that ldmatrix reads a step ahead.";
}

const mc_solver gemm_mma = {
    .name = "mma",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = mma_emit,
    .entry_name = entry_name,
    .estimate = gemm_mma_estimate,
    .computes = gemm_computes,
    .how = how,
};

const mc_solver gemm24_mma = {
    .name = "mma",
    .plan = make_plan24,
    .contract = contract,
    .facts = facts,
    .emit = mma_emit,
    .entry_name = entry_name,
    .estimate = gemm_mma_estimate,
    .computes = gemm24_computes,
    .how = how24,
};
