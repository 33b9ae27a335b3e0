/* The instructions of the SDDMM in panels, from its plan.
 *
 *   this warp's item -> rows of A -> each stride: its columns and masks
 *   a stride: tiles.c (units of 16 bytes) -> rounds.c (the rest of k) -> store.c (scales, mask values, C) */
#include "ops/sddmm/panels/emit.h"
#include "parts/words.h"

/* Registers that ptxas 13 takes besides where values are made f16 or rounded. */
enum { OTHER_SPARE = 8 };

/* -- This warp's item --------------------------------------------------------------------------------- */

static void emit_item(panels_emitter *e) {
    mc_builder *b = e->b;
    const int warps = e->plan->problem.warps;
    heading(b, "This warp's item; lane = 4 g + t");
    e->place = load_thread_place(b, MC_WARP * warps);
    mc_reg item = load_special(b, "block", "ctaid.x");
    if (warps > 1) {
        item = mad_s32(b, "item", item, I(warps), e->place.warp);
        mc_reg beyond = setp_ge(b, "beyond", item, load_shape(b, "item_count", true));
        builder_emit(b, beyond, OP_ret, NULL, 0);
    }
    mc_reg at = mad_wide(b, "item_at", item, I(SAMPLED_PANEL_WORDS * WORD), load_array(b, "items"));
    b32_array(b, "record", SAMPLED_PANEL_WORDS, e->item);
    note(b, "panel, first stride, strides, last row of the panel");
    EMIT(b, ldr_v4, V4(e->item), AT(at, 0));
}

/* -- Strides ------------------------------------------------------------------------------------------ */

static void load_columns(const panels_emitter *e, mc_reg guard, int64_t offset) {
    const panels_stride *s = &e->stride;
    emit_load_words(e->b, guard, WORDS_RELAXED, panels_lane_slots(e->plan) * WORD, s->next,
                    AT(s->columns_at, offset));
}

/* Bytes of a stride: of lane groups' columns, and of lanes' masks and numbers. */
static int columns_bytes(const panels_plan *plan) { return panels_slots(plan) * WORD; }
static int rows_bytes(const panels_plan *plan) { return 2 * panels_rows(plan) * WORD; }

static void begin_strides(panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    panels_stride *s = &e->stride;
    const mc_operand lane_columns = I(panels_lane_slots(plan) * WORD),
                     lane_rows = I(2 * panels_lane_rows(plan) * WORD);
    const mc_reg first = e->item[SAMPLED_STRIDE];
    heading(b, "The item's strides, of %d active columns: lane group g has 8 q + g", panels_slots(plan));
    b32_array(b, "next_column", panels_lane_slots(plan), s->next);
    b32_array(b, "column", panels_lane_slots(plan), s->column);
    b32_array(b, "row_word", 2 * panels_lane_rows(plan), s->row_words);
    mc_reg columns = mad_wide(b, "lane_columns", e->place.g, lane_columns, load_array(b, "col_idx")),
           rows = mad_wide(b, "lane_rows", e->place.t, lane_rows, load_array(b, "row_slots"));
    s->columns_at =
        carried_b64(b, "columns_at", mad_wide(b, "first_columns", first, I(columns_bytes(plan)), columns));
    s->rows_at = carried_b64(b, "rows_at", mad_wide(b, "first_rows", first, I(rows_bytes(plan)), rows));
    s->left = carried(b, "strides_left", e->item[SAMPLED_STRIDES]);
    load_columns(e, (mc_reg){0}, 0);
}

/* Takes the columns that are there, and asks for masks, and for the columns of the stride behind. */
static void take_stride(const panels_emitter *e, mc_reg more) {
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    const panels_stride *s = &e->stride;
    for (int i = 0; i < panels_lane_slots(plan); i++) EMIT(b, mov_b32, s->column[i], s->next[i]);
    note(b, "masks of this lane's rows, and their first nonzeros; columns of the next stride");
    for (int i = 0; i < 2 * panels_lane_rows(plan); i += 4)
        EMIT(b, ldr_v4, V4(&s->row_words[i]), AT(s->rows_at, i * WORD));
    EMIT(b, setp_gt, more, s->left, I(1));
    load_columns(e, more, columns_bytes(plan));
}

static void next_stride(const panels_emitter *e, mc_reg more, mc_label loop) {
    mc_builder *b = e->b;
    const panels_stride *s = &e->stride;
    EMIT(b, add_s64, s->columns_at, s->columns_at, I(columns_bytes(e->plan)));
    EMIT(b, add_s64, s->rows_at, s->rows_at, I(rows_bytes(e->plan)));
    EMIT(b, add_s32, s->left, s->left, I(-1));
    EMIT(b, setp_gt, more, s->left, I(0));
    EMIT_IF(b, more, bra_uni, TO(loop));
}

static void emit_strides(panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    const int accs = SDDMM_ACC * plan->octets * plan->groups;
    mc_label loop = label(b, "STRIDES");
    mc_reg more = pred(b, "more");
    b32_array(b, "acc", accs, e->acc);
    set_label(b, loop);
    take_stride(e, more);
    sddmm_emit_zero(b, e->acc, accs);
    panels_emit_factors(e);
    if (plan->wide) panels_emit_tiles(e);
    if (plan->rounds) panels_emit_rounds(e);
    panels_emit_store(e);
    next_stride(e, more, loop);
}

/* -- A, B and k --------------------------------------------------------------------------------------- */

/* Rows behind the matrix's last one are that one again: their masks are empty. */
static void find_rows(panels_emitter *e) {
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    mc_reg first = mul_s32(b, "panel_row", e->item[SAMPLED_PANEL], I(panels_rows(plan)));
    note(b, "rows g of the panel's octets");
    for (int octet = 0; octet < plan->octets; octet++) {
        mc_reg row = octet ? add_s32(b, "row_below", e->place.g, I(SDDMM_MMA_ROWS)) : e->place.g;
        row = min_s32(b, octet ? "row_below_or_last" : "row_or_last", row, e->item[SAMPLED_LAST_ROW]);
        row = add_s32(b, octet ? "a_row_below" : "a_row", row, first);
        e->a_row[octet] = mad_wide(b, octet ? "a_row_below_at" : "a_row_at", row, e->a.row_bytes, e->a.array);
    }
}

static void load_operands(panels_emitter *e, mc_reg ld[2]) {
    mc_builder *b = e->b;
    const sddmm_problem *p = &e->plan->problem;
    e->k.open = load_shape(b, "k", p->k == MC_OPEN);
    e->k.all = dim_operand(p->k, e->k.open);
    ld[0] = load_shape(b, "lda", p->lda == MC_OPEN);
    ld[1] = load_shape(b, "ldb", p->ldb == MC_OPEN);
    e->a.array = load_array(b, "a"), e->b_side.array = load_array(b, "b");
    e->a.row_bytes = sddmm_emit_row_bytes(b, "a_row_bytes", p->arithmetic.lhs, p->lda, ld[0]);
    e->b_side.row_bytes = sddmm_emit_row_bytes(b, "b_row_bytes", p->arithmetic.rhs, p->ldb, ld[1]);
}

/* Where rows are not aligned no k comes in units. */
static void emit_checks(const panels_emitter *e, const mc_reg ld[2]) {
    mc_builder *b = e->b;
    const panels_checks *c = &e->plan->checks;
    const int unit = e->plan->problem.arithmetic.unit_k;
    mc_reg bits = b32(b, "odd_bits"), odd = pred(b, "is_odd");
    const struct {
        bool tested;
        mc_reg value;
        int unit;
        const char *why;
    } choices[] = {
        {c->lda, ld[0], unit, "rows of A are not aligned for vector loads"},
        {c->ldb, ld[1], unit, "columns of B are not"},
        {c->a_address, c->a_address ? cvt_low(b, "a_low", e->a.array) : ld[0], SDDMM_UNIT, "A itself is not"},
        {c->b_address, c->b_address ? cvt_low(b, "b_low", e->b_side.array) : ld[1], SDDMM_UNIT,
         "B itself is not"}};
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        if (!choices[i].tested) continue;
        note(b, "%s", choices[i].why);
        EMIT(b, and_b32, bits, choices[i].value, I(choices[i].unit - 1));
        EMIT(b, setp_ne, odd, bits, I(0));
        EMIT(b, selp_b32, e->k.units_left, I(0), e->k.units_left, odd);
    }
}

static void find_units(panels_emitter *e, const mc_reg ld[2]) {
    mc_builder *b = e->b;
    const panels_plan *plan = e->plan;
    const int unit = plan->problem.arithmetic.unit_k;
    const bool open = plan->problem.k == MC_OPEN;
    e->k.units = I(0);
    if (!plan->wide) return;
    e->k.units = I(open ? 0 : panels_units(plan));
    if (!open && !panels_is_checked(plan)) return;
    heading(b, "The k that come in loads of 16 bytes");
    e->k.units_left = b32(b, "units_k");
    if (open) EMIT(b, and_b32, e->k.units_left, e->k.open, I(-unit));
    else EMIT(b, mov_b32, e->k.units_left, e->k.units);
    emit_checks(e, ld);
    e->k.units = e->k.units_left;
}

/* -- The kernel --------------------------------------------------------------------------------------- */

void sddmm_panels_emit(const void *data, mc_builder *b) {
    const panels_plan *plan = data;
    const sddmm_arithmetic *a = &plan->problem.arithmetic;
    panels_emitter e = {.plan = plan, .b = b};
    mc_reg ld[2];
    sddmm_begin(&plan->problem, b);
    emit_launch_next(b, plan->problem.overlap);
    emit_item(&e);
    load_operands(&e, ld);
    find_units(&e, ld);
    find_rows(&e);
    begin_strides(&e);
    emit_grid_wait(b, plan->problem.overlap, "A or B");
    e.multiplier = sddmm_declare_multiplier(b, a, true);
    if (!a->a_is_plain || !a->b_is_plain) b->spare += OTHER_SPARE;
    panels_begin_store(&e);
    if (plan->wide) panels_begin_tiles(&e);
    emit_strides(&e);
    EMIT_RET(b);
}
