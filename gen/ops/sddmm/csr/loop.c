/* The loop over a group's nonzeros: rows of A times columns of B.
 *
 * A group takes `ahead` nonzeros at a time. All their columns of B are loaded before the first of them is
 * multiplied, and the items of the next ones are under way meanwhile. A row of A is loaded where it is not
 * that of the nonzero before. Behind the last nonzero of all, loads are of rows that were loaded before, or
 * of row 0 and column 0: what comes out of them is not stored. */
#include "ops/sddmm/csr/emit.h"
#include "parts/fused.h"
#include "parts/words.h"

enum { MOST_REGS = CSR_MOST_RUNS * CSR_MOST_UNIT };

/* The items of the next nonzeros, and what the last ones said: row and column of each. */
typedef struct csr_items {
    mc_reg at, left;                 /* where the next ones are; nonzeros that are listed from there on */
    mc_reg turns;                    /* of the loop, that are left; none: there is one */
    mc_reg word[2 * CSR_MOST_AHEAD]; /* the next ones: row, column */
    mc_reg row[CSR_MOST_AHEAD], column[CSR_MOST_AHEAD];
} csr_items;

/* Of A or B: where this lane's first unit of row, or column, 0 lies: of all of k, and of a panel of it. */
typedef struct csr_side {
    mc_operand row_bytes;
    mc_reg first, lane, at; /* at: scratch */
} csr_side;

/* How much of k there is: from the lane's first unit on, and in all; whether a panel has all of it; runs, or
   of single elements these, that are before k. */
typedef struct csr_depth {
    mc_reg left, panels_left, whole, inside[CSR_MOST_RUNS];
} csr_depth;

typedef struct csr_loop {
    csr_emitter *e;
    const csr_path *path;
    int regs; /* that a lane has of a panel: words, or single elements */
    csr_items items;
    csr_side a, b;
    csr_depth k;
    mc_reg held, changes, loads; /* the row of A that is in registers; -1: none */
    mc_reg a_word[MOST_REGS], b_word[CSR_MOST_AHEAD * MOST_REGS];
    mc_reg real[2]; /* values of 16 bits, made f32 */
} csr_loop;

static int element_bytes_of(const csr_loop *l) { return element_bytes(l->e->plan->problem.arithmetic.lhs); }
static bool halves(const csr_loop *l) { return element_bytes_of(l) < WORD; }
/* What is loaded at once: a unit, or an element. Registers of a load, loads of a panel, and of a run. */
static int load_bytes(const csr_loop *l) { return l->path->singles ? element_bytes_of(l) : SDDMM_UNIT; }
static int load_regs(const csr_loop *l) { return l->path->singles ? 1 : SDDMM_UNIT / WORD; }
static int loads_of(const csr_loop *l) { return l->regs / load_regs(l); }
/* The element of the panel with which load LOAD begins, counted from the lane's first one. */
static int first_of(const csr_loop *l, int load) {
    return l->path->singles ? load : load * csr_run_k(l->e->plan);
}
static int64_t bytes_of(const csr_loop *l, int64_t elements) { return elements * element_bytes_of(l); }

/* -- Registers ---------------------------------------------------------------------------------------- */

static void declare_words(csr_loop *l) {
    mc_builder *b = l->e->b;
    const int ahead = l->e->plan->ahead;
    b32_array(b, "a_word", l->regs, l->a_word);
    b32_array(b, "b_word", ahead * l->regs, l->b_word);
    b32_array(b, "sum", CSR_CHAINS * ahead, l->e->sum);
    if (halves(l)) b32_array(b, "value", 2, l->real);
    for (int i = 0; i < l->regs; i++) EMIT(b, mov_b32, l->a_word[i], I(0));
    for (int i = 0; i < ahead * l->regs && l->path->guards; i++) EMIT(b, mov_b32, l->b_word[i], I(0));
}

static void declare_items(csr_loop *l) {
    csr_emitter *e = l->e;
    mc_builder *b = e->b;
    const int ahead = e->plan->ahead;
    l->items.at = carried_b64(b, "item_at", mad_wide(b, "item_first", e->first, I(2 * WORD), e->items));
    l->items.left = b32(b, "item_left");
    EMIT(b, sub_s32, l->items.left, e->listed, e->first);
    if (e->plan->share > ahead) l->items.turns = carried(b, "turns", I(e->plan->share / ahead));
    b32_array(b, "item", 2 * ahead, l->items.word);
    b32_array(b, "row", ahead, l->items.row);
    b32_array(b, "col", ahead, l->items.column);
    l->loads = pred(b, "loads");
    for (int i = 0; i < 2 * ahead; i++) EMIT(b, mov_b32, l->items.word[i], I(0));
    l->held = carried(b, "held", I(-1));
    l->changes = pred(b, "changes");
}

/* This lane's first unit of row 0 of A and of column 0 of B. */
static void declare_places(csr_loop *l) {
    csr_emitter *e = l->e;
    mc_builder *b = e->b;
    const sddmm_problem *p = &e->plan->problem;
    const mc_operand unit = I(SDDMM_UNIT);
    l->a.row_bytes = sddmm_emit_row_bytes(b, "a_row_bytes", p->arithmetic.lhs, p->lda, e->lda);
    l->b.row_bytes = sddmm_emit_row_bytes(b, "b_row_bytes", p->arithmetic.rhs, p->ldb, e->ldb);
    l->a.first = e->part.id ? mad_wide(b, "a_first", e->part, unit, e->a) : e->a;
    l->b.first = e->part.id ? mad_wide(b, "b_first", e->part, unit, e->b_array) : e->b_array;
    l->a.lane = l->a.first, l->b.lane = l->b.first;
    if (l->path->loops) l->a.lane = b64(b, "a_lane"), l->b.lane = b64(b, "b_lane");
    l->a.at = b64(b, "a_at"), l->b.at = b64(b, "b_at");
}

/* The k from the lane's first unit on. */
static void set_left(const csr_loop *l) {
    mc_builder *b = l->e->b;
    const csr_plan *plan = l->e->plan;
    const mc_operand k = dim_operand(plan->problem.k, l->e->k);
    if (!l->path->guards) return;
    if (!l->e->part.id) EMIT(b, mov_b32, l->k.left, k);
    else {
        mc_reg before = mul_s32(b, "k_before", l->e->part, I(csr_unit(plan)));
        EMIT(b, sub_s32, l->k.left, k, before);
    }
}

static void find_inside(const csr_loop *l) {
    for (int i = 0; i < loads_of(l) && l->path->guards; i++)
        EMIT(l->e->b, setp_gt, l->k.inside[i], l->k.left, I(first_of(l, i)));
}

static void declare_k(csr_loop *l) {
    mc_builder *b = l->e->b;
    const csr_plan *plan = l->e->plan;
    if (l->path->guards) {
        l->k.left = b32(b, "k_left");
        pred_array(b, "inside", loads_of(l), l->k.inside);
    }
    if (!l->path->loops) {
        set_left(l);
        find_inside(l);
        return;
    }
    l->k.panels_left = b32(b, "panels_left");
    l->k.whole =
        setp_lt(b, "whole", dim_operand(plan->problem.k, l->e->k), I(csr_panel_k(plan, l->path) + 1));
}

/* -- Items -------------------------------------------------------------------------------------------- */

static void load_items(const csr_loop *l) {
    for (int i = 0; i < l->e->plan->ahead; i += 2) {
        EMIT(l->e->b, setp_gt, l->loads, l->items.left, I(i));
        EMIT_IF(l->e->b, l->loads, ldr_v4, V4(&l->items.word[2 * i]), AT(l->items.at, i * 2 * WORD));
    }
}

/* Takes the items that are there, and asks for the next ones. */
static void take_items(const csr_loop *l) {
    mc_builder *b = l->e->b;
    const int ahead = l->e->plan->ahead;
    for (int i = 0; i < ahead; i++) {
        EMIT(b, mov_b32, l->items.row[i], l->items.word[2 * i]);
        EMIT(b, max_s32, l->items.column[i], l->items.word[2 * i + 1], I(0));
    }
    if (!l->items.turns.id) return;
    EMIT(b, add_s64, l->items.at, l->items.at, I(csr_turn(l->e->plan) * 2 * WORD));
    EMIT(b, add_s32, l->items.left, l->items.left, I(-csr_turn(l->e->plan)));
    load_items(l);
}

/* -- A panel ------------------------------------------------------------------------------------------ */

static void load_b(const csr_loop *l, int nonzero) {
    mc_builder *b = l->e->b;
    EMIT(b, mad_wide, l->b.at, l->items.column[nonzero], l->b.row_bytes, l->b.lane);
    for (int i = 0; i < loads_of(l); i++)
        emit_load_words(b, l->path->guards ? l->k.inside[i] : (mc_reg){0}, WORDS_GLOBAL, load_bytes(l),
                        &l->b_word[nonzero * l->regs + i * load_regs(l)],
                        AT(l->b.at, bytes_of(l, first_of(l, i))));
}

static void load_a(const csr_loop *l, int nonzero) {
    mc_builder *b = l->e->b;
    EMIT(b, setp_ne, l->changes, l->items.row[nonzero], nonzero > 0 ? l->items.row[nonzero - 1] : l->held);
    EMIT(b, mad_wide, l->a.at, l->items.row[nonzero], l->a.row_bytes, l->a.lane);
    for (int i = 0; i < loads_of(l); i++) {
        mc_reg guard = l->changes;
        if (l->path->guards) {
            guard = l->loads;
            EMIT(b, setp_lt_and, guard, I(first_of(l, i)), l->k.left, l->changes);
        }
        emit_load_words(b, guard, WORDS_GLOBAL, load_bytes(l), &l->a_word[i * load_regs(l)],
                        AT(l->a.at, bytes_of(l, first_of(l, i))));
    }
}

static void multiply(const csr_loop *l, int nonzero) {
    mc_builder *b = l->e->b;
    const char *type = l->e->plan->problem.arithmetic.lhs.name;
    const bool pairs = halves(l) && !l->path->singles;
    const int elements = pairs ? 2 * l->regs : l->regs, each = elements / loads_of(l);
    for (int i = 0; i < elements; i++) {
        const int word = pairs ? i / 2 : i, high = pairs && i % 2;
        mc_reg sum = l->e->sum[CSR_CHAINS * nonzero + i % CSR_CHAINS];
        mc_reg of_a = fused_element(b, type, l->a_word[word], high, l->real[0]);
        mc_reg of_b = fused_element(b, type, l->b_word[nonzero * l->regs + word], high, l->real[1]);
        builder_emit(b, l->path->guards ? l->k.inside[i / each] : (mc_reg){0}, OP_fma_f32,
                     MC_OPERANDS(sum, of_a, of_b, sum));
    }
}

static void emit_panel(const csr_loop *l) {
    const int ahead = l->e->plan->ahead;
    for (int i = 0; i < ahead; i++) load_b(l, i);
    for (int i = 0; i < ahead; i++) {
        load_a(l, i);
        multiply(l, i);
    }
}

/* -- The loop ----------------------------------------------------------------------------------------- */

static void first_panel(const csr_loop *l) {
    mc_builder *b = l->e->b;
    EMIT(b, mov_b64, l->a.lane, l->a.first);
    EMIT(b, mov_b64, l->b.lane, l->b.first);
    set_left(l);
    EMIT(b, mov_b32, l->k.panels_left, dim_operand(l->e->plan->problem.k, l->e->k));
}

/* Where k has several panels, none stays for the next nonzeros. */
static void emit_panels(const csr_loop *l) {
    mc_builder *b = l->e->b;
    const int step = csr_panel_k(l->e->plan, l->path);
    mc_label panels = label(b, "PANELS");
    mc_reg more = pred(b, "more_k");
    first_panel(l);
    set_label(b, panels);
    find_inside(l);
    emit_panel(l);
    EMIT(b, selp_b32, l->held, l->items.row[l->e->plan->ahead - 1], I(-1), l->k.whole);
    EMIT(b, add_s64, l->a.lane, l->a.lane, I(bytes_of(l, step)));
    EMIT(b, add_s64, l->b.lane, l->b.lane, I(bytes_of(l, step)));
    if (l->path->guards) EMIT(b, add_s32, l->k.left, l->k.left, I(-step));
    EMIT(b, add_s32, l->k.panels_left, l->k.panels_left, I(-step));
    EMIT(b, setp_gt, more, l->k.panels_left, I(0));
    EMIT_IF(b, more, bra_uni, TO(panels));
}

static void emit_products(const csr_loop *l) {
    mc_builder *b = l->e->b;
    for (int i = 0; i < CSR_CHAINS * l->e->plan->ahead; i++) EMIT(b, mov_b32, l->e->sum[i], I(0));
    if (l->path->loops) {
        emit_panels(l);
        return;
    }
    emit_panel(l);
    EMIT(b, mov_b32, l->held, l->items.row[l->e->plan->ahead - 1]);
}

void sddmm_csr_emit_loop(csr_emitter *e, const csr_path *path) {
    mc_builder *b = e->b;
    csr_loop l = {.e = e, .path = path};
    mc_label next = label(b, "NONZEROS");
    l.regs = path->runs * (path->singles ? csr_unit(e->plan) : SDDMM_UNIT / WORD);
    declare_items(&l);
    load_items(&l);
    declare_places(&l);
    declare_words(&l);
    declare_k(&l);
    if (l.items.turns.id) set_label(b, next);
    take_items(&l);
    sddmm_csr_emit_factors(e);
    emit_products(&l);
    sddmm_csr_emit_store(e);
    if (!l.items.turns.id) return;
    mc_reg more = pred(b, "more");
    sddmm_csr_emit_next_store(e);
    EMIT(b, add_s32, l.items.turns, l.items.turns, I(-1));
    EMIT(b, setp_gt, more, l.items.turns, I(0));
    EMIT_IF(b, more, bra_uni, TO(next));
}
