/* The solver `wgmma` of a dense product: its plan, its contract and its facts. */
#include "ops/gemm/fields.h"
#include "ops/gemm/problem.h"
#include "ops/gemm/solvers.h"
#include "parts/wgmma/wgmma.h"
#include "parts/emit.h"
#include "parts/tensor_copy.h"
#include <stdio.h>

static int out_bytes_of(const wgmma_plan *plan) { return out_element_bytes(plan->problem.output.element); }
/* The same of a C that tensor copies store; 1 for elements that share a byte, which they do not store. */
static int tensor_bytes_of(const wgmma_plan *plan) {
    int bytes = out_bytes_of(plan);
    return bytes > 0 ? bytes : 1;
}

/* -- Checks ------------------------------------------------------------------------------------------- */

/* Leaves a form in any case, so that the rest of the plan can be made. */
static void check_types(const int64_t *point, wgmma_plan *plan, mc_complaints *complaints) {
    const gemm_problem *p = &plan->problem;
    const char *sums = p->lhs.integer ? "s32" : p->sums == GEMM_HALVES ? "f16" : "f32";
    plan->form = wgmma_form_of(p->lhs.name, p->rhs.name, sums);
    if (!plan->form)
        complain(complaints, F_LHS, "wgmma does not multiply \"%s\" by \"%s\"", p->lhs.name, p->rhs.name);
    else if (strcmp(p->lhs.name, "tf32") == 0)
        complain(
            complaints, F_LHS,
            "values of \"tf32\" are rounded before they are multiplied, which wgmma does not do: \"tf32rz\" "
            "are cut off");
    if (!plan->form) plan->form = wgmma_form_of("f16", "f16", "f32");
    if (p->b_rows && plan->form->bytes != 2)
        complain(complaints, F_LAYOUT,
                 "\"rows\" goes with elements of 2 bytes: rhs = \"%s\" wants \"columns\"", p->rhs.name);
    if (!mc_archs[point[FIELD_ARCH]].wgmma)
        complain(complaints, F_METHOD, "\"wgmma\" wants arch = \"sm_90a\"");
}

static void check_tile(wgmma_plan *plan, mc_complaints *complaints) {
    int consumers = plan->turns ? 1 : plan->consumers, rows = consumers * WARPGROUP_ROWS;
    int blocks = plan->tile_m / rows;
    if (plan->turns && plan->consumers != 2) complain(complaints, F_TURNS, "\"on\" wants consumers = 2");
    if (plan->tile_m % rows || blocks < 1 || blocks > WARPGROUP_BLOCKS)
        complain(complaints, F_TILE_M, "%d rows for %d consumers: each takes 64 or 128", plan->tile_m,
                 consumers);
    if (plan->problem.b_rows && plan->tile_n % 64)
        complain(complaints, F_TILE_N, "%d: layout = \"rows\" wants a multiple of 64", plan->tile_n);
    /* of the registers that sums leave, a thread needs some */
    enum { OTHERS = 60 };
    int share = roles_shares(plan->consumers, plan->helpers).consumer,
        most = share ? share : roles_shares(1, 0).launch;
    if (wgmma_sum_registers(plan) > most - OTHERS)
        complain(complaints, F_TILE_N, "%d x %d sums a consumer%s: too many for %d registers a thread",
                 blocks * WARPGROUP_ROWS, plan->tile_n, wgmma_is_promoted(plan) ? ", and their totals" : "",
                 most);
}

static void check_block_scales(const wgmma_plan *plan, mc_complaints *complaints) {
    if (plan->problem.block_scales && GEMM_BLOCK % plan->tile_n)
        complain(complaints, F_TILE_N,
                 "%d: a tile's columns have one scale of B, as 8, 16, 32, 64 and 128 have", plan->tile_n);
}

static void check_split(wgmma_plan *plan, mc_complaints *complaints) {
    if (wgmma_is_split(plan) && plan->turns)
        complain(complaints, F_SPLIT, "%d: consumers that take turns have no parts of k", plan->split);
    else if (wgmma_is_split(plan) && plan->problem.sums == GEMM_HALVES)
        complain(complaints, F_SPLIT, "%d: parts' sums are added up in f32", plan->split);
    if (plan->turns) plan->split = 1;
}

static void check_stream(wgmma_plan *plan, mc_complaints *complaints) {
    const gemm_problem *p = &plan->problem;
    int64_t most = wgmma_stream_k(plan);
    if (!plan->stream) return;
    if (wgmma_is_split(plan))
        complain(complaints, F_STREAM, "tiles are dealt out along k in one way: split = 1");
    if (p->batch) complain(complaints, F_STREAM, "products of a batch have whole tiles");
    if (plan->early) complain(complaints, F_STREAM, "no part of A is copied early: early = \"off\"");
    if (p->block_scales) complain(complaints, F_STREAM, "scales of blocks are those of whole tiles");
    if (p->sums == GEMM_HALVES) complain(complaints, F_STREAM, "parts' sums are added up in f32, not in f16");
    if (p->k > most)
        complain(complaints, F_K, "%lld: with stream at most %lld", (long long)p->k, (long long)most);
}

static void check_store(wgmma_plan *plan, mc_complaints *complaints) {
    int bytes = out_bytes_of(plan), columns = wgmma_store_columns(plan);
    if (plan->tile_n % columns)
        complain(complaints, F_TILE_N, "%d: store = \"tensor\" wants a multiple of %d columns of %s",
                 plan->tile_n, columns, out_element_name(plan->problem.output.element));
    if (plan->store == STORE_TENSOR && bytes != 2 && bytes != WORD)
        complain(complaints, F_STORE,
                 "\"tensor\" stores f16, bf16, f32 and s32: out = \"%s\" wants \"pairs\"",
                 out_element_name(plan->problem.output.element));
    gemm_check_store(&plan->problem, plan->store, complaints);
}

/* Elements of which rows of A and B are multiples; and those of C, and n. */
static int64_t operand_multiple(const wgmma_plan *plan) { return MC_TENSOR_MAP_ALIGN / plan->form->bytes; }
static int64_t c_multiple(const wgmma_plan *plan) {
    if (plan->store != STORE_TENSOR) return plan->store == STORE_PAIRS ? 2 : 1;
    return MC_TENSOR_MAP_ALIGN / tensor_bytes_of(plan);
}

/* What a spec fixes is what the contract asks for. */
static void check_fixed(const wgmma_plan *plan, mc_complaints *complaints) {
    const gemm_problem *p = &plan->problem;
    gemm_check_multiple(F_LDA, p->lda, operand_multiple(plan), complaints);
    gemm_check_multiple(F_LDB, p->ldb, operand_multiple(plan), complaints);
    gemm_check_multiple(F_N, p->n, c_multiple(plan), complaints);
    gemm_check_multiple(F_LDC, p->ldc, c_multiple(plan), complaints);
    gemm_check_multiple(F_LDR, p->ldr, gemm_residual_load(p, wgmma_store_run(plan)), complaints);
}

static void check_room(const int64_t *point, const wgmma_plan *plan, mc_complaints *complaints) {
    int room = (int)mc_archs[point[FIELD_ARCH]].shared << 10, wanted = wgmma_shared_bytes(plan);
    if (wanted > room)
        complain(complaints, F_STAGES,
                 "%d stages of %d bytes, and C%s: %d bytes of shared memory, %d there are", plan->stages,
                 wgmma_stage_bytes(plan), wgmma_is_split(plan) ? " and its parts" : "", wanted, room);
}

/* -- Plan --------------------------------------------------------------------------------------------- */

_Static_assert(sizeof(wgmma_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan_of(const int64_t *point, bool sparse, wgmma_plan *plan, mc_complaints *complaints) {
    *plan = (wgmma_plan){.problem = gemm_problem_of(point, sparse, complaints),
                         .tile_m = (int)point[F_TILE_M],
                         .tile_n = (int)point[F_TILE_N],
                         .stages = (int)point[F_STAGES],
                         .consumers = (int)point[F_CONSUMERS],
                         .turns = point[F_TURNS] != 0,
                         .store = (gemm_store)point[F_STORE],
                         .group = (int)point[F_GROUP],
                         .split = (int)point[F_SPLIT],
                         .stream = point[F_STREAM] != 0,
                         .overlap = (family_overlap)point[F_OVERLAP],
                         .early = point[F_EARLY] != 0,
                         .once = point[F_ONCE] != 0};
    check_overlap(point, F_OVERLAP, complaints);
    if (plan->early && plan->overlap == OVERLAP_OFF)
        complain(complaints, F_EARLY, "without overlap the kernel ahead has always ended");
    check_types(point, plan, complaints);
    check_tile(plan, complaints);
    check_block_scales(plan, complaints);
    check_split(plan, complaints);
    check_stream(plan, complaints);
    check_store(plan, complaints);
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

static void add_operand_map(const wgmma_plan *plan, bool is_b, mc_contract *c) {
    const gemm_problem *p = &plan->problem;
    shared_tile tile = is_b ? wgmma_rhs(plan) : wgmma_lhs(plan);
    tensor_box box = tensor_copy_box(&tile, 1);
    const mc_map_param map = {.param = is_b ? "b_map" : "a_map",
                              .array = is_b ? "b" : "a",
                              .type = is_b ? "rhs" : "lhs",
                              .rows = is_b ? gemm_b_rows(p) : "m",
                              .cols = is_b ? gemm_b_columns(p) : "k",
                              .ld = is_b ? "ldb" : "lda",
                              .box_rows = (unsigned)box.outer,
                              .box_cols = (unsigned)box.inner,
                              .swizzle = (unsigned)tile.span,
                              .element_bytes = (unsigned)tile.bytes,
                              .per_byte = 1,
                              .stride = !p->batch ? NULL
                                        : is_b    ? "b_stride"
                                                  : "a_stride"};
    add_map(c, map, is_b ? p->b_rows ? "B, [k][ldb]" : "B, [n][ldb]" : "A, [m][lda]");
    add_constraint(c, (mc_constraint){map.ld, (unsigned)operand_multiple(plan), 0, NULL});
}

static void add_c_map(const wgmma_plan *plan, mc_contract *c) {
    int bytes = tensor_bytes_of(plan), span = store_span(wgmma_result_columns(plan), bytes);
    const mc_map_param map = {.param = "c_map",
                              .array = "c",
                              .type = "out",
                              .rows = "m",
                              .cols = "n",
                              .ld = "ldc",
                              .box_rows = (unsigned)wgmma_slots(plan).rows,
                              .box_cols = (unsigned)(span / bytes),
                              .swizzle = (unsigned)span,
                              .element_bytes = (unsigned)bytes,
                              .per_byte = 1,
                              .stride = plan->problem.batch ? "c_stride" : NULL};
    add_map(c, map, plan->problem.c_doc);
}

/* Integers whose sums are exact have a smaller k. */
static void add_stream(const wgmma_plan *plan, mc_contract *c) {
    const stream_sums sums = wgmma_stream(plan);
    if (!plan->stream) return;
    stream_add_contract(&sums, c);
    if (plan->problem.k == MC_OPEN && !plan->problem.lhs.integer)
        add_constraint(c, (mc_constraint){"k", 0, wgmma_stream_k(plan), "stages are counted in s32"});
}

static void contract(const void *data, mc_contract *c) {
    const wgmma_plan *plan = data;
    const gemm_problem *p = &plan->problem;
    bool tensor = plan->store == STORE_TENSOR;
    if (tensor) out_add_factors(&p->output, c);
    else out_add_dense(&p->output, p->c_doc, (unsigned)p->align, c);
    out_add_residual(&p->output, false, (unsigned)p->align, c);
    gemm_add_block_scales(p, c);
    gemm_add_shapes(p, !tensor, c);
    if (p->sparse) gemm_add_packed(p, c);
    else add_operand_map(plan, false, c);
    add_operand_map(plan, true, c);
    if (tensor) add_c_map(plan, c);
    gemm_add_c_limits(p, plan->tile_m, plan->tile_n, c_multiple(plan), wgmma_store_run(plan), c);
    gemm_add_sums(p, c);
    c->shared_dynamic = (unsigned)wgmma_shared_bytes(plan);
    c->grid[0] = (mc_grid_axis){"m", plan->tile_m};
    c->columns = (mc_grid_axis){"n", plan->tile_n};
    c->grid[1] = (mc_grid_axis){NULL, plan->split};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    if (wgmma_is_split(plan)) c->cluster[0] = c->cluster[2] = 1, c->cluster[1] = (unsigned)plan->split;
    c->turn_k = INT32_MAX;
    c->overlap = plan->overlap != OVERLAP_OFF;
    c->block[0] = (unsigned)roles_threads(plan->consumers, plan->helpers);
    c->block[1] = c->block[2] = 1;
    gemm_add_batch(p, operand_multiple(plan), c_multiple(plan), wgmma_store_run(plan), c);
    add_stream(plan, c);
}

static void facts(const void *data, mc_facts *facts) {
    const wgmma_plan *plan = data;
    shared_tile rhs = wgmma_rhs(plan);
    add_fact(facts, "threads", roles_threads(plan->consumers, plan->helpers), "a thread block");
    add_fact(facts, "tile_m", plan->tile_m, "rows of C, a thread block");
    add_fact(facts, "tile_n", plan->tile_n, "columns of C, a thread block");
    add_fact(facts, "stage_k", rhs.k, "of k, a stage");
    add_fact(facts, "stage_bytes", wgmma_stage_bytes(plan), "of A and B, a stage");
    add_fact(facts, "stages", plan->stages, "in shared memory");
    if (wgmma_is_split(plan))
        add_fact(facts, "split", plan->split, "thread blocks a tile, each with a part of k");
}

/* -- Solver ------------------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const stores[] = {"", "_pairs", "_single"};
    const wgmma_plan *plan = data;
    size_t length = gemm_entry_name(&plan->problem, name);
    length += (size_t)snprintf(name + length, MC_MAX_ENTRY - length, "_%dx%d_s%d_w%d%s%s%s", plan->tile_m,
                               plan->tile_n, plan->stages, plan->consumers, plan->turns ? "_turns" : "",
                               stores[plan->store], plan->problem.b_rows ? "_rows" : "");
    if (wgmma_is_split(plan)) snprintf(name + length, MC_MAX_ENTRY - length, "_k%d", plan->split);
    if (plan->stream) snprintf(name + length, MC_MAX_ENTRY - length, "_stream");
}

/* Behind what is said of tiles. */
#define STREAMED                                                                                             \
    "\nThe last tiles are dealt out along k, and sums of their pieces added up through a workspace."

static const char *how24(const void *data) {
    const wgmma_plan *plan = data;
    if (wgmma_is_split(plan))
        return "The thread blocks of a cluster share a tile of C: each multiplies a part of k, and their "
               "sums\n"
               "are added up, from the first part on, in the cluster's shared memory, each thread block a\n"
               "slice of the tile. One thread copies atoms of A with their metadata, and tiles of B, into\n"
               "stages ahead of the warpgroups that multiply them by wgmma.sp. Thread blocks stay, and take\n"
               "tiles in turn.";
#define TURNS                                                                                                \
    "One thread copies atoms of A with their metadata, and tiles of B, into stages in shared\n"              \
    "memory, ahead of two warpgroups. These take tiles of C in turn: one multiplies by wgmma.sp\n"           \
    "while the other one stores."
#define TOGETHER                                                                                             \
    "One thread copies atoms of A with their metadata, and tiles of B, into stages in shared\n"              \
    "memory, ahead of the warpgroups that multiply them by wgmma.sp, each its rows of a tile of\n"           \
    "C. Thread blocks stay, and take tiles in turn."
    static const char *const texts[][2] = {{TOGETHER, TOGETHER STREAMED}, {TURNS, TURNS STREAMED}};
    return texts[plan->turns][plan->stream];
#undef TURNS
#undef TOGETHER
}

static const char *how(const void *data) {
    const wgmma_plan *plan = data;
    if (wgmma_is_split(plan))
        return "The thread blocks of a cluster share a tile of C: each multiplies a part of k, and their "
               "sums\n"
               "are added up, from the first part on, in the cluster's shared memory, each thread block a\n"
               "slice of the tile. One thread copies tiles of A and B into stages ahead of the warpgroups\n"
               "that multiply them by wgmma. Thread blocks stay, and take tiles in turn.";
#define TURNS                                                                                                \
    "One thread copies tiles of A and B into stages in shared memory, ahead of two warpgroups.\n"            \
    "These take tiles of C in turn: one multiplies by wgmma while the other one stores."
#define TOGETHER                                                                                             \
    "One thread copies tiles of A and B into stages in shared memory, ahead of the warpgroups\n"             \
    "that multiply them by wgmma, each its rows of a tile of C. Thread blocks stay, and take\n"              \
    "tiles in turn."
    static const char *const texts[][2] = {{TOGETHER, TOGETHER STREAMED}, {TURNS, TURNS STREAMED}};
    return texts[plan->turns][plan->stream];
#undef TURNS
#undef TOGETHER
}

const mc_solver gemm_wgmma = {
    .name = "wgmma",
    .plan = make_plan,
    .contract = contract,
    .facts = facts,
    .emit = wgmma_emit,
    .entry_name = entry_name,
    .estimate = gemm_wgmma_estimate,
    .computes = gemm_computes,
    .how = how,
};

const mc_solver gemm24_wgmma = {
    .name = "wgmma",
    .plan = make_plan24,
    .contract = contract,
    .facts = facts,
    .emit = wgmma_emit,
    .entry_name = entry_name,
    .estimate = gemm_wgmma_estimate,
    .computes = gemm24_computes,
    .how = how24,
};
