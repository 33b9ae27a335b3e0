/* The kernel as a whole. A row block that all threads can hold is read once; of a longer one the greatest
   terms are found first, then the sums, then the elements of C. A row block with a term that is infinite or
   NaN takes the longer way, which keeps their signs. */
#include "ops/softmax_grad/kernel.h"
#include <stdio.h>

/* What is done with unit I. */
typedef void (*unit_step)(grad_emitter *e, int i);

static void each_unit(grad_emitter *e, unit_step step) {
    for (int i = 0; i < e->rows.units.count; i++) step(e, i);
}

static void store_units(grad_emitter *e) {
    grad_start_store(e);
    each_unit(e, grad_store);
}

/* All warps have the same rows' powers, so all threads of the thread block leave. */
static void leave_if_infinite(grad_emitter *e) {
    mc_builder *b = e->b;
    mc_reg most = redux_max_u32(b, "most_power", e->own.power, H(0xffffffff));
    mc_reg infinite = setp_ge(b, "is_infinite", most, H(GRAD_INFINITY_BITS));
    EMIT_IF(b, infinite, bra_uni, TO(e->longer));
}

static void load_held(void *user) { grad_load(user); }

/* Of row blocks that stay in registers, whose units are loaded. */
static void emit_held(void *user) {
    grad_emitter *e = user;
    bool one_word = rows_one_word(&e->plan->deal);
    grad_start_greatest(e);
    each_unit(e, grad_take);
    grad_take_greatest(e);
    grad_join_greatest(e);
    grad_start_parts(e);
    each_unit(e, grad_add);
    if (!one_word) grad_start_sums(e), grad_add_parts(e);
    grad_join_sums(e, one_word);
    leave_if_infinite(e);
    grad_spread_sums(e);
    store_units(e);
    EMIT_RET(e->b);
}

/* -- What is done with all units of a turn ------------------------------------------------------------ */

static void turn_ends(void *user) {
    grad_emitter *e = user;
    grad_load(e);
    each_unit(e, grad_take);
    each_unit(e, grad_take_ends);
}

static void turn_sums(void *user) {
    grad_emitter *e = user;
    grad_load(e);
    each_unit(e, grad_take);
    grad_start_parts(e);
    each_unit(e, grad_add);
    grad_add_parts(e);
}

static void turn_store(void *user) {
    grad_emitter *e = user;
    grad_load(e);
    store_units(e);
}

/* PREFIX is of registers: "long_" of all threads, "team_" of a team. */
static void emit_long(grad_emitter *e, const char *prefix) {
    static const rows_step turns[] = {turn_ends, turn_sums, turn_store};
    static const char *const of[] = {"ends_", "sums_", "store_"};
    char loops[3][MC_MAX_NAME];
    mc_builder *b = e->b;
    for (int i = 0; i < 3; i++) snprintf(loops[i], MC_MAX_NAME, "%s%s", prefix, of[i]);
    heading(b, rows_in_teams(&e->plan->deal)
                   ? "A row with an infinite term: greatest terms of either sign"
                   : "A longer one, or one with an infinite term: greatest terms of either sign");
    set_label(b, e->longer);
    b->prefix = prefix;
    grad_start_ends(e);
    rows_emit_loop(&e->rows, e, loops[0], turns[0]);
    b->prefix = prefix;
    grad_join_ends(e);
    heading(b, "Its sums");
    grad_start_sums(e);
    rows_emit_loop(&e->rows, e, loops[1], turns[1]);
    b->prefix = prefix;
    grad_join_sums(e, false);
    grad_mend_sums(e);
    grad_spread_sums(e);
    heading(b, "Its elements of C");
    rows_emit_loop(&e->rows, e, loops[2], turns[2]);
}

/* -- Teams -------------------------------------------------------------------------------------------- */

static void take_whole(void *user) {
    grad_emitter *e = user;
    grad_place_block(e);
    emit_long(e, "long_");
}

static void emit_teams(const grad_plan *plan, mc_builder *b, const mc_batch_array *arrays) {
    grad_plan all = *plan;
    grad_emitter whole, team;
    all.deal = rows_whole(&plan->deal);
    grad_begin(&whole, b, &all, arrays);
    whole.longer = label(b, "LONGER");
    rows_grid grid = rows_load_grid(b, plan->m);
    rows_emit_whole(&whole.rows, &grid, &plan->deal, false, &whole, take_whole);
    team = whole;
    team.plan = plan;
    team.longer = label(b, "INFINITE");
    rows_find_team(&team.rows, &plan->deal, &whole.rows, &grid, false);
    grad_place_block(&team);
    rows_emit_ways(&team.rows, &team, load_held, emit_held);
    emit_long(&team, "team_");
    EMIT_RET(b);
}

void grad_emit(const void *data, mc_builder *b) {
    const grad_plan *plan = data;
    mc_batch_array arrays[GRAD_BATCH_ARRAYS];
    grad_emitter e;
    grad_list_batch(plan, arrays);
    if (rows_in_teams(&plan->deal)) {
        emit_teams(plan, b, arrays);
        return;
    }
    grad_begin(&e, b, plan, arrays);
    e.longer = label(b, "LONGER");
    rows_emit_ways(&e.rows, &e, load_held, emit_held);
    emit_long(&e, "long_");
    EMIT_RET(b);
}
