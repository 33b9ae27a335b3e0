/* What launching an SDDMM takes, and what --describe says of it. */
#include "schema/family.h"
#include "ops/sddmm/sddmm.h"

static const char *const index_docs[] = {
    [SDDMM_GATHER] = "[8][2 * groups] an item: column of its slot 16 j + 8 h + g at [g][2 j + h]; -1: none",
    [SDDMM_WINDOW] =
        "[8][2 * groups] an item: column in the window | place in the item << 16 of a vector of mma j, row "
        "8 h + g, at [g][2 j + h]; negative: none, column 0",
};

static void add_packed(const sddmm_plan *plan, mc_contract *c) {
    bool windows = plan->method == SDDMM_WINDOW;
    c->format = windows ? "sampled-windows" : "sampled-list";
    add_array(c, 16, (mc_array){"items", "s32", "items * 4", plan->items_doc});
    add_array(c, 16, (mc_array){"col_idx", "s32", plan->index_extent, index_docs[plan->method]});
    if (windows) add_array(c, 4, (mc_array){"window_ptr", "s32", "windows + 1", "first item of each window"});
    if (plan->mask == SDDMM_VALUES)
        add_array(c, 16, (mc_array){"mask_values", "f32", "elements of C", "in C's order; 0 where padded"});
}

/* How values lie: A's, B's by columns, B's by rows. */
typedef enum matrix { MATRIX_A, MATRIX_COLUMNS, MATRIX_ROWS } matrix;

static const char *side_doc(digit_side side, matrix which) {
#define THREE(type, more, more_rows)                                                                         \
    {                                                                                                        \
        "A: " type "[m][lda], row-major" more, "B: " type "[n][ldb], columns of B" more,                     \
            "B: " type "[k][ldb], row-major" more_rows                                                       \
    }
#define OF(bits, more, more_rows)                                                                            \
    { THREE("u" bits, more, more_rows), THREE("s" bits, more, more_rows) }
    static const char *const docs[][2][3] = {
        [0] = OF("4", ", the even k in a byte's low half", ", the even column in a byte's low half"),
        [1] = OF("8", "", ""),
        [2] = OF("16", "", "")};
#undef OF
#undef THREE
    return docs[side.bits == 4 ? 0 : side_bytes(side)][side.is_signed][which];
}

static void add_side(const sddmm_plan *plan, bool is_b, mc_contract *c) {
    digit_side side = is_b ? plan->rhs : plan->lhs;
    int align = plan->align > side_bytes(side) ? plan->align : side_bytes(side);
    matrix which = !is_b ? MATRIX_A : plan->layout == SDDMM_ROWS ? MATRIX_ROWS : MATRIX_COLUMNS;
    add_param(c, (mc_param){is_b ? "b" : "a", "u64", MC_PARAM_ARRAY, (unsigned)align, side_doc(side, which)});
    unsigned multiple = side.bits == 4 ? 2 : 0;
    if (plan->method != SDDMM_GATHER) multiple = (unsigned)sddmm_row_unit(plan, is_b);
    int64_t limit = side_bytes(side) > 1 ? INT32_MAX / side_bytes(side) : 0;
    if (is_b) c->ldb_multiple = multiple, c->ldb_limit = limit;
    else c->lda_multiple = multiple, c->lda_limit = limit;
}

#define C_DOC(type, what)                                                                                    \
    {                                                                                                        \
        "C: " type "[vectors][vec]; " what, "C: " type "[strides][vec][16]; " what,                          \
            "C: " type "[strides][vec][32]; " what                                                           \
    }
#define ROUNDED(type)                                                                                        \
    {                                                                                                        \
        C_DOC(type, "C = " type "(f32(sum) * scale)"),                                                       \
            C_DOC(type, "C = " type "((f32(sum) * scale) * mask value)")                                     \
    }

static void add_c(const sddmm_plan *plan, mc_contract *c) {
    static const char *const docs[][2][3] = {[OUT_S32] = {C_DOC("s32", "the sums")},
                                             [OUT_F16] = ROUNDED("f16"),
                                             [OUT_BF16] = ROUNDED("bf16"),
                                             [OUT_F32] = ROUNDED("f32"),
                                             [OUT_S8] = ROUNDED("s8"),
                                             [OUT_U8] = ROUNDED("u8")};
    out_element element = plan->output.element;
    add_param(c, (mc_param){"c", "u64", MC_PARAM_ARRAY, out_align(element, (unsigned)plan->align),
                            docs[element][plan->mask][plan->order]});
    out_add_factors(&plan->output, c);
}

static mc_sums sums_of(const sddmm_plan *plan) {
    digit_span product = span_of_product(span_of_side(plan->lhs), span_of_side(plan->rhs));
    return (mc_sums){.lhs = plan->lhs.name,
                     .rhs = plan->rhs.name,
                     .largest_product = span_magnitude(product),
                     .bound = span_terms_in_s32(product),
                     .products = "products",
                     .k = plan->k};
}

/* Sets the grid. The warps of all thread blocks along y take a window's items in turn. */
static void set_grid(const sddmm_plan *plan, mc_contract *c) {
    c->grid[0] = (mc_grid_axis){"item_count", plan->warps};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    if (plan->method == SDDMM_DENSE) {
        sddmm_dense_set_launch(plan, c);
        return;
    }
    if (plan->method == SDDMM_GATHER) {
        c->shared_static = plan->shared_bytes;
        return;
    }
    c->grid[0] = (mc_grid_axis){"n", plan->window};
    c->grid[1] = (mc_grid_axis){"window_items", plan->warps};
    c->turn_axis = 1, c->turn_k = plan->k;
    c->shared_dynamic = plan->shared_bytes;
}

void sddmm_list_batch(const sddmm_plan *plan, mc_batch_array arrays[SDDMM_BATCH_ARRAYS]) {
    arrays[0] = (mc_batch_array){"a", "a_stride", "elements from one product's A to the next's",
                                 sddmm_stored_bits(plan->lhs)};
    arrays[1] = (mc_batch_array){"b", "b_stride", "elements from one product's B to the next's",
                                 sddmm_stored_bits(plan->rhs)};
    arrays[2] = (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's",
                                 8 * out_element_bytes(plan->output.element)};
}

void sddmm_contract(const void *data, mc_contract *c) {
    const sddmm_plan *plan = data;
    if (plan->method == SDDMM_DENSE) sddmm_dense_add_packed(plan, c);
    else add_packed(plan, c);
    add_side(plan, false, c);
    add_side(plan, true, c);
    add_c(plan, c);
    if (plan->method == SDDMM_DENSE) add_shape(c, "m", plan->m, "rows of A");
    if (plan->method != SDDMM_GATHER) add_shape(c, "n", plan->n, "columns of B");
    add_shape(c, "k", plan->k, "columns of A, rows of B");
    add_shape(c, "lda", plan->lda, "elements from one row of A to the next");
    add_shape(c, "ldb", plan->ldb,
              plan->layout == SDDMM_ROWS ? "elements from one row of B to the next"
                                         : "elements from one column of B to the next");
    if (plan->method == SDDMM_GATHER) add_shape(c, "item_count", MC_OPEN, "items");
    if (plan->times_16 && plan->k == MC_OPEN) c->k_limit = sddmm_times_16_k(plan);
    c->sums = sums_of(plan);
    c->overlap = plan->overlap;
    set_grid(plan, c);
    mc_batch_array arrays[SDDMM_BATCH_ARRAYS];
    sddmm_list_batch(plan, arrays);
    if (plan->batch) batch_contract(c, arrays, SDDMM_BATCH_ARRAYS);
    c->block[0] = (unsigned)(MC_WARP * plan->warps);
    c->block[1] = c->block[2] = 1;
}

void sddmm_facts(const void *data, mc_facts *facts) {
    const sddmm_plan *plan = data;
    if (plan->method == SDDMM_DENSE) {
        sddmm_dense_facts(plan, facts);
        return;
    }
    int64_t panel_k = (int64_t)sddmm_chunk_k(plan) * plan->chunks;
    int unit_mma = plan->steps * plan->parities * plan->b.count * plan->a.count * plan->abreast;
    add_fact(facts, "item_vectors", MC_SAMPLED_SLOTS * plan->groups, "at most, a warp");
    add_fact(facts, "threads", MC_WARP * plan->warps, "a thread block");
    add_fact(facts, "panel_k", panel_k, "in registers at once");
    add_fact(facts, "group_b_bytes", MC_SAMPLED_SLOTS * side_row_bytes(plan->rhs, panel_k),
             plan->method == SDDMM_WINDOW ? "read from the window, a group"
                                          : "gathered from B, a group and panel");
    add_fact(facts, "group_mma", plan->chunks * unit_mma, "m16n8k32 instructions, a group and panel");
    if (plan->shared_bytes)
        add_fact(facts, "shared_bytes", plan->shared_bytes,
                 "of a thread block: panels of A, or its window of B");
    add_fact(facts, "wide_path", plan->wide, "vector loads of A and B");
    add_fact(facts, "edge_path", plan->edge, "guarded narrow loads of A and B");
}
