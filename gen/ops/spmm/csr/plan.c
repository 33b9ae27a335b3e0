/* The plan of a csr kernel, and what its fields have against each other. */
#include "ops/spmm/csr/csr.h"
#include "parts/fragment.h"
#include "parts/panels.h"

enum {
    MOST_SUMS = 16,      /* of a lane */
    MOST_NONZEROS = 128, /* of a row, in flight */
    MOST_IN_FLIGHT = 32, /* elements of B of a lane */
    SORTED_STRIDES = 32  /* of a thread block, at least */
};

int spmm_csr_piece_bytes(const csr_plan *plan) {
    int sums = plan->base.tile_n * WORD;
    return (sums > CSR_LOAD_BYTES ? sums : CSR_LOAD_BYTES) + PANEL_FLAGS;
}

/* -- Paths -------------------------------------------------------------------------------------------- */

/* The most columns, a power of two up to MOST, of accesses to elements of BYTES in rows LD apart. */
static int widest(int most, int bytes, int64_t ld) {
    int columns = CSR_LOAD_BYTES / bytes < most ? CSR_LOAD_BYTES / bytes : most;
    while (columns > 1 && spmm_divides(columns, ld) == SPMM_NEVER) columns /= 2;
    return columns;
}

static bool is_open(int columns, int64_t ld) { return spmm_divides(columns, ld) == SPMM_MAYBE; }

/* The wide path, and what must be tested before it. */
static void plan_wide(csr_plan *plan, int load) {
    const spmm_plan *base = &plan->base;
    csr_path *wide = &plan->wide;
    csr_checks *checks = &plan->checks;
    spmm_proof full = spmm_tile_is_full(base);
    int element = out_element_bytes(base->output.element), residual = out_residual_bytes(&base->output);
    *wide = (csr_path){.emitted = full != SPMM_NEVER && spmm_divides(load, base->ldb) != SPMM_NEVER,
                       .load = load,
                       .runs = csr_sums(plan) / load,
                       .store = widest(load, element, base->ldc),
                       .residual = residual ? widest(load, residual, base->ldr) : 0};
    if (!wide->emitted) return;
    checks->full_tile = full == SPMM_MAYBE;
    checks->ldb = is_open(load, base->ldb);
    checks->b_address = base->align % (load * csr_element_bytes(plan)) != 0;
    checks->ldc = is_open(wide->store, base->ldc);
    checks->c_address = wide->store > 1 && base->align % (wide->store * element) != 0;
    checks->ldr = residual && is_open(wide->residual, base->ldr);
    checks->r_address = wide->residual > 1 && base->align % (wide->residual * residual) != 0;
}

/* Loads of the edge path take one element, so that it takes any rows. */
static void plan_paths(csr_plan *plan) {
    const csr_checks *c = &plan->checks;
    const int tile_n = plan->base.tile_n, bytes = csr_element_bytes(plan);
    const csr_lanes lanes =
        plan->segmented ? csr_lanes_segmented(tile_n, bytes) : csr_lanes_of(tile_n, plan->lanes, bytes);
    plan->columns = lanes.columns, plan->groups = lanes.groups;
    plan_wide(plan, lanes.load);
    bool tested = c->full_tile || c->ldb || c->b_address || c->ldc || c->c_address || c->ldr || c->r_address;
    plan->edge = (csr_path){.emitted = !plan->wide.emitted || tested,
                            .load = 1,
                            .runs = csr_sums(plan),
                            .last = spmm_tile_is_full(&plan->base) != SPMM_ALWAYS,
                            .store = 1,
                            .residual = out_residual_bytes(&plan->base.output) ? 1 : 0};
}

/* -- Checks ------------------------------------------------------------------------------------------- */

static void check_fields(const int64_t *point, mc_complaints *complaints) {
    static const struct {
        int field, wanted;
        const char *why;
    } rows[] = {{F_VEC, 1, "staging = \"csr\" is for matrices without vectors: vec = 1"},
                {F_SPLIT, 1, "`lanes` says which lanes share a row: split = 1"},
                {F_C_MAJOR, 0, "staging = \"csr\" has a row-major C: c_major = \"row\""},
                {F_BATCH, 0, "staging = \"csr\" has single products: batch = false"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (point[rows[i].field] != rows[i].wanted) complain(complaints, rows[i].field, "%s", rows[i].why);
    if (point[F_WARPS] > 8 || (point[F_WARPS] & (point[F_WARPS] - 1)))
        complain(complaints, F_WARPS, "staging = \"csr\" takes 1, 2, 4 or 8");
}

/* What `stream` has against other fields. */
static void check_stream(const int64_t *point, const csr_plan *plan, mc_complaints *complaints) {
    if (!plan->stream && plan->column_form != CSR_COLUMNS_S32)
        complain(complaints, F_COLUMNS, "columns are packed for stream = true alone: leave it out");
    if (!plan->stream) return;
    if (plan->base.tile_n != 1)
        complain(complaints, F_STREAM, "is for products by a vector: tile_n = 1, not %d", plan->base.tile_n);
    if (!plan->deal) complain(complaints, F_STREAM, "wants the list of rows: deal = true");
    if (plan->column_form == CSR_COLUMNS_U16 && plan->ahead != CSR_LOAD_BYTES / 2)
        complain(complaints, F_AHEAD, "columns = \"u16\" loads as many at once as 16 bytes hold: ahead = %d",
                 CSR_LOAD_BYTES / 2);
    if (plan->column_form == CSR_COLUMNS_SORTED && plan->base.warps * plan->share < SORTED_STRIDES)
        complain(complaints, F_COLUMNS, "few are sorted together: warps * share = %d or more, not %d",
                 SORTED_STRIDES, plan->base.warps * plan->share);
    if (point[F_LANES] != 1)
        complain(complaints, F_LANES,
                 "stream = true has as many lanes for a row as packing gives it: leave it out");
}

/* What `segmented` has against other fields. */
static void check_segmented(const int64_t *point, const csr_plan *plan, mc_complaints *complaints) {
    if (!plan->segmented) return;
    if (plan->base.tile_n < MC_WARP)
        complain(complaints, F_SEGMENTED, "all lanes share the columns: tile_n = %d or more, not %d", MC_WARP,
                 plan->base.tile_n);
    if (!plan->deal) complain(complaints, F_SEGMENTED, "wants the list of rows: deal = true");
    if (plan->stream) complain(complaints, F_SEGMENTED, "a warp walks through nonzeros: stream = false");
    if (point[F_LANES] != 1)
        complain(complaints, F_LANES, "segmented = true has no lanes for a row: leave it out");
    if (plan->share > CSR_SEGMENT_SHARE)
        complain(complaints, F_SHARE,
                 "segmented = true keeps an item's nonzeros in shared memory: at most %d", CSR_SEGMENT_SHARE);
}

static void check_registers(const csr_plan *plan, mc_complaints *complaints) {
    int sums = csr_sums(plan);
    if (sums > MOST_SUMS)
        complain(complaints, F_LANES, "%d lanes leave %d columns to each of the others: at most %d",
                 plan->lanes, sums, MOST_SUMS);
    else if (!plan->stream && plan->lanes * plan->ahead > MOST_NONZEROS)
        complain(complaints, F_AHEAD, "%d lanes with %d nonzeros each have %d of a row at a time: at most %d",
                 plan->lanes, plan->ahead, plan->lanes * plan->ahead, MOST_NONZEROS);
    else if (sums * plan->ahead > MOST_IN_FLIGHT)
        complain(complaints, F_AHEAD,
                 "%d nonzeros of %d columns a lane are %d elements of B in flight: at most %d", plan->ahead,
                 sums, sums * plan->ahead, MOST_IN_FLIGHT);
}

/* Two elements of C that share a byte would be two lanes' on the edge path. */
static void check_output(csr_plan *plan, mc_complaints *complaints) {
    out_kind *output = &plan->base.output;
    if (out_element_bytes(output->element) > 0) return;
    complain(complaints, F_OUT, "staging = \"csr\" stores elements of 8 bits and more, not \"%s\"",
             out_element_name(output->element));
    output->element = OUT_F32;
}

void spmm_csr_make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    csr_plan *plan = out;
    spmm_plan *base = &plan->base;
    const bool stream = point[F_STREAM] != 0;
    *plan = (csr_plan){.lanes = stream ? MC_WARP : (int)point[F_LANES],
                       .stream = stream,
                       .segmented = point[F_SEGMENTED] != 0,
                       .column_form = (csr_columns)point[F_COLUMNS],
                       .ahead = (int)point[F_AHEAD],
                       .share = (int)point[F_SHARE],
                       .deal = point[F_DEAL] != 0};
    spmm_plan_problem(point, true, base, complaints);
    check_output(plan, complaints);
    plan_paths(plan);
    base->threads = MC_WARP * base->warps;
    base->row_blocks = csr_rows(plan);
    base->guard_rows = !plan->deal;
    base->shared_bytes = (unsigned)(csr_partial_bytes(plan) +
                                    base->warps * (csr_product_bytes(plan) + csr_segment_bytes(plan)));
    spmm_check_ldb(base, complaints);
    check_fields(point, complaints);
    check_stream(point, plan, complaints);
    check_segmented(point, plan, complaints);
    check_registers(plan, complaints);
}
