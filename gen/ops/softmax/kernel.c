/* The kernel as a whole. A row block that all threads can hold is read once; of a longer one the greatest
   elements are found first, then the sums, then the quotients. */
#include "ops/softmax/kernel.h"

/* What is done with unit I. */
typedef void (*unit_step)(softmax_emitter *e, int i);

static void each_unit(softmax_emitter *e, unit_step step) {
    for (int i = 0; i < e->rows.units.count; i++) step(e, i);
}

static void add_powers(softmax_emitter *e, int i) {
    softmax_take_powers(e, i);
    softmax_add_powers(e, i);
}

static void load_held(void *user) { softmax_load(user); }

/* Of row blocks that stay in registers, whose units are loaded. */
static void emit_held(void *user) {
    softmax_emitter *e = user;
    bool one_word = rows_one_word(&e->plan->deal);
    softmax_start_greatest(e);
    softmax_take_greatest(e);
    softmax_join_greatest(e);
    softmax_start_parts(e);
    each_unit(e, add_powers);
    if (!one_word) softmax_start_sums(e), softmax_add_parts(e);
    softmax_join_sums(e, one_word);
    softmax_divide(e);
    softmax_start_store(e);
    each_unit(e, softmax_store);
    softmax_store_lse(e);
    EMIT_RET(e->b);
}

static void add_reals(softmax_emitter *e, int i) {
    softmax_take_powers_once(e, i);
    softmax_add_reals(e, i);
}

/* The same with one exchange. */
static void emit_held_once(void *user) {
    softmax_emitter *e = user;
    softmax_start_greatest(e);
    softmax_take_greatest(e);
    softmax_join_warp(e);
    softmax_start_reals(e);
    each_unit(e, add_reals);
    softmax_join_reals(e);
    softmax_divide_once(e);
    softmax_leave_if_apart(e);
    softmax_start_store(e);
    each_unit(e, softmax_store);
    EMIT_RET(e->b);
}

/* -- What is done with all units of a turn ------------------------------------------------------------ */

static void turn_greatest(void *user) {
    softmax_emitter *e = user;
    softmax_load(e);
    softmax_take_greatest(e);
}

static void turn_powers(void *user) {
    softmax_emitter *e = user;
    softmax_load(e);
    each_unit(e, softmax_take);
    softmax_start_parts(e);
    each_unit(e, add_powers);
    softmax_add_parts(e);
}

static void turn_quotients(void *user) {
    softmax_emitter *e = user;
    softmax_load(e);
    each_unit(e, softmax_take);
    each_unit(e, softmax_take_powers);
    softmax_start_store(e);
    each_unit(e, softmax_store);
}

static void emit_long(softmax_emitter *e) {
    mc_builder *b = e->b;
    heading(b, e->plan->once ? "A longer one, or one of which rows are far apart: greatest elements"
                             : "A longer one: greatest elements");
    if (e->plan->once) set_label(b, e->longer);
    b->prefix = "long_";
    softmax_start_greatest(e);
    rows_emit_loop(&e->rows, e, "long_greatest_", turn_greatest);
    b->prefix = "long_";
    softmax_join_greatest(e);
    heading(b, "Its sums");
    softmax_start_sums(e);
    rows_emit_loop(&e->rows, e, "long_sums_", turn_powers);
    b->prefix = "long_";
    softmax_join_sums(e, false);
    softmax_divide(e);
    heading(b, "Its quotients");
    rows_emit_loop(&e->rows, e, "long_quotients_", turn_quotients);
    b->prefix = "long_";
    softmax_store_lse(e);
    b->prefix = NULL;
}

/* -- Teams -------------------------------------------------------------------------------------------- */

static void take_whole(void *user) {
    softmax_emitter *e = user;
    softmax_place_block(e);
    emit_long(e);
}

static void emit_teams(const softmax_plan *plan, mc_builder *b, const mc_batch_array *arrays) {
    softmax_plan all = *plan;
    softmax_emitter whole, team;
    all.deal = rows_whole(&plan->deal);
    softmax_begin(&whole, b, &all, arrays);
    whole.grid = rows_load_grid(b, plan->m);
    rows_emit_whole(&whole.rows, &whole.grid, &plan->deal, plan->lse, &whole, take_whole);
    team = whole;
    team.plan = plan;
    rows_find_team(&team.rows, &plan->deal, &whole.rows, &whole.grid, plan->lse);
    softmax_place_block(&team);
    rows_emit_ways(&team.rows, &team, load_held, emit_held);
}

void softmax_emit(const void *data, mc_builder *b) {
    const softmax_plan *plan = data;
    mc_batch_array arrays[SOFTMAX_BATCH_ARRAYS];
    softmax_emitter e;
    softmax_list_batch(plan, arrays);
    if (rows_in_teams(&plan->deal)) {
        emit_teams(plan, b, arrays);
        return;
    }
    softmax_begin(&e, b, plan, arrays);
    if (plan->once) e.longer = label(b, "LONGER");
    rows_emit_ways(&e.rows, &e, load_held, plan->once ? emit_held_once : emit_held);
    emit_long(&e);
    EMIT_RET(b);
}
