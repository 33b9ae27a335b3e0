/* The kernel as a whole. On the wide path a thread takes units: `hold` of them as long as all are whole, then
   one by one. The edge path takes an element at a time: those behind the last whole unit, or all of them
   where an address is no multiple of 16. */
#include "ops/optimise/kernel.h"

/* COUNT units of UNIT elements, from where the streams' addresses are. */
static void emit_units(optimise_emitter *e, int count, int unit) {
    for (int i = 0; i < count; i++) optimise_load(e, i, unit);
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < unit; k++) {
            optimise_take(e, i, unit, k);
            optimise_step(e);
            optimise_put(e, i, unit, k);
        }
        optimise_store(e, i, unit);
    }
}

/* While PLACE is below END: COUNT units of UNIT elements from there on, then STEP elements further. */
static void emit_loop(optimise_emitter *e, const char *prefix, mc_reg place, mc_reg end, int count, int unit,
                      mc_operand step) {
    mc_builder *b = e->b;
    b->prefix = prefix;
    mc_label loop = label(b, "LOOP"), done = label(b, "DONE");
    mc_reg more = pred(b, "more");
    EMIT_IF(b, setp_ge_s64(b, "none", place, end), bra, TO(done));
    set_label(b, loop);
    optimise_place(e, place);
    emit_units(e, count, unit);
    EMIT(b, add_s64, place, place, step);
    EMIT(b, setp_lt_s64, more, place, end);
    EMIT_IF(b, more, bra, TO(loop));
    set_label(b, done);
    b->prefix = NULL;
}

/* The thread's number among all, and how many there are. */
typedef struct places {
    mc_reg thread, block, blocks, total; /* total: elements, s64 */
} places;

static places find_places(const optimise_emitter *e) {
    const optimise_plan *plan = e->plan;
    mc_builder *b = e->b;
    places p = {.thread = load_special(b, "thread", "tid.x")};
    mc_reg beside = load_special(b, "multiprocessors", "nctaid.x");
    p.block = mad_s32(b, "block", load_special(b, "block_y", "ctaid.y"), beside,
                      load_special(b, "block_x", "ctaid.x"));
    p.blocks = mul_s32(b, "blocks", beside, I(plan->blocks));
    mc_operand m = dim_operand(plan->m, load_shape(b, "m", plan->m == MC_OPEN)),
               n = dim_operand(plan->n, load_shape(b, "n", plan->n == MC_OPEN));
    p.total = mul_wide(b, "total", m, n);
    return p;
}

/* Jumps to EDGE where an address is no multiple of 16. */
static void test_addresses(const optimise_emitter *e, mc_label edge) {
    mc_builder *b = e->b;
    if (e->plan->align >= OPTIMISE_PIECE) return;
    note(b, "units want addresses at multiples of %d", OPTIMISE_PIECE);
    mc_reg bits = carried(b, "address_bits", I(0)), low = b32(b, "address_low");
    for (int i = 0; i < e->stream_count; i++) {
        EMIT(b, cvt_low, low, e->streams[i].base);
        EMIT(b, or_b32, bits, bits, low);
    }
    mc_reg rest = and_b32(b, "address_rest", bits, I(OPTIMISE_PIECE - 1));
    EMIT_IF(b, setp_ne(b, "is_odd", rest, I(0)), bra, TO(edge));
}

/* Units of a turn lie T apart. The second loop has those of a last turn, which is not whole. */
static void emit_wide(optimise_emitter *e, const places *p) {
    const optimise_plan *plan = e->plan;
    mc_builder *b = e->b;
    int64_t beside = (int64_t)optimise_threads(plan) * plan->unit, turn = beside * plan->hold;
    mc_reg first = mad_s32(b, "first_unit", p->block, I(turn / plan->unit), p->thread);
    mc_reg place = carried_b64(b, "place", mul_wide(b, "first_place", first, I(plan->unit)));
    mc_reg step = mul_wide(b, "turn", p->blocks, I(turn));
    mc_reg turns_end = add_s64(b, "turns_end", p->total, I(1 - plan->unit - (turn - beside)));
    heading(b, "WIDE PATH: %d units of %d elements a thread", plan->hold, plan->unit);
    emit_loop(e, "turn_", place, turns_end, plan->hold, plan->unit, step);
    if (plan->hold == 1) return;
    heading(b, "The last turn, a unit at a time");
    mc_reg units_end = add_s64(b, "units_end", p->total, I(1 - plan->unit));
    emit_loop(e, "unit_", place, units_end, 1, plan->unit, I(beside));
}

/* Elements behind the last whole unit. */
static mc_reg rest_of(const optimise_emitter *e, const places *p) {
    mc_builder *b = e->b;
    mc_reg rest = and_b32(b, "rest", cvt_low(b, "total_low", p->total), I(e->plan->unit - 1));
    return cvt_s64(b, "minus_rest", sub_s32(b, "minus_rest_low", mov_b32(b, "zero", I(0)), rest));
}

static void emit_edge(optimise_emitter *e, const places *p, mc_reg from) {
    mc_builder *b = e->b;
    int threads = optimise_threads(e->plan);
    heading(b, "EDGE PATH: an element at a time");
    mc_reg number = mad_s32(b, "number", p->block, I(threads), p->thread);
    mc_reg first = add_s64(b, "first_element", from, cvt_s64(b, "number_wide", number));
    mc_reg place = carried_b64(b, "element", first);
    mc_reg step = mul_wide(b, "threads", p->blocks, I(threads));
    emit_loop(e, "element_", place, p->total, 1, 1, step);
}

void optimise_emit(const void *data, mc_builder *b) {
    optimise_emitter e = {.b = b, .plan = data};
    const places p = find_places(&e);
    optimise_declare_streams(&e);
    optimise_load_numbers(&e);
    mc_label edge = label(b, "EDGE");
    mc_reg from = carried_b64(b, "edge_from", I(0));
    test_addresses(&e, edge);
    emit_wide(&e, &p);
    EMIT(b, add_s64, from, p.total, rest_of(&e, &p));
    set_label(b, edge);
    emit_edge(&e, &p, from);
    EMIT_RET(b);
}
