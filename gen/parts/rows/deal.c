/* Which thread has which elements of a row block. */
#include "parts/rows/rows.h"
#include <math.h>

const int rows_ways[ROWS_WAYS] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32};

static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }

bool rows_one_word(const rows_plan *plan) {
    enum { MOST = 511 };
    int lanes = 1;
    for (int bit = 0; 1 << bit < MC_WARP; bit++) lanes <<= plan->lane_bits >> bit & 1;
    /* what a thread has of a row */
    int elements = plan->hold * plan->unit / plan->rows;
    return lanes * elements <= MOST;
}

int rows_store_elements(const rows_plan *plan, int bits, int align) {
    return least(plan->unit, most(1, 8 * least(align, ROWS_UNIT_BYTES) / bits));
}

/* Lanes that have the same rows differ in these bits of their numbers. */
static unsigned bits_from(int low) { return (MC_WARP - 1U) & ~((1U << low) - 1U); }

static void deal_vectors(rows_plan *plan) {
    plan->beside = plan->per_step = plan->vec / plan->unit;
    plan->rows = plan->unit;
    plan->row_step = 1;
    plan->row_warps = plan->warps;
    plan->lane_bits = bits_from(log2_of(plan->beside));
    if (rows_in_teams(plan)) plan->lane_bits = (unsigned)plan->team - 1U;
}

static void deal_strides(rows_plan *plan) {
    int threads = rows_threads(plan), high;
    plan->beside = plan->stride / plan->unit;
    plan->per_step = plan->beside * plan->vec;
    high = log2_of(plan->per_step);
    plan->rows = most(1, plan->per_step / threads);
    plan->row_step = plan->rows > 1 ? threads / plan->beside : 0;
    plan->row_warps = least(plan->warps, most(1, threads / plan->per_step));
    plan->lane_bits = ((unsigned)plan->beside - 1U) | (plan->per_step < MC_WARP ? bits_from(high) : 0);
}

void rows_deal(rows_plan *plan, int unit_bytes, int element_bytes, int align) {
    static const int strides[] = {1, 16, 32};
    int bytes = most(element_bytes, least(align, unit_bytes));
    plan->stride = strides[plan->order];
    plan->team = plan->per_warp > 1 ? MC_WARP / plan->per_warp : rows_threads(plan);
    plan->unit = bytes / element_bytes;
    if (plan->order == ROWS_BCRS) plan->unit = least(plan->unit, plan->vec);
    if (plan->order == ROWS_BCRS) deal_vectors(plan);
    else deal_strides(plan);
    plan->again = least(plan->hold, most(plan->rows, 4));
    if (plan->order == ROWS_BCRS) plan->again = least(plan->hold, 4 * ROWS_UNIT_BYTES / bytes);
}

enum { SM_REGISTERS = 65536, MOST_REGISTERS = 255 };

void rows_check(const rows_plan *plan, int words, int registers, int hold_field, int warps_field,
                mc_complaints *complaints) {
    int held = plan->hold * (plan->unit + words) + registers,
        limit = least(MOST_REGISTERS, SM_REGISTERS / rows_threads(plan));
    bool in_turn = plan->order != ROWS_BCRS;
    if (plan->hold * plan->unit > ROWS_MAX_VALUES)
        complain(complaints, hold_field, "%d units have %d elements, a thread keeps %d at the most",
                 plan->hold, plan->hold * plan->unit, ROWS_MAX_VALUES);
    else if (held > limit)
        complain(complaints, hold_field, "%d registers a thread are too many for %d warps", held,
                 plan->warps);
    if (in_turn && plan->rows > ROWS_MAX_ROWS)
        complain(complaints, warps_field,
                 "threads of %d warps have %d rows each, at most %d will do: want more warps", plan->warps,
                 plan->rows, ROWS_MAX_ROWS);
    else if (in_turn && plan->rows > plan->hold)
        complain(complaints, hold_field,
                 "a stride has %d units, which %d warps do not hold: want more of either", plan->per_step,
                 plan->warps);
}

void rows_check_teams(const rows_plan *plan, int field, mc_complaints *complaints) {
    if (!rows_in_teams(plan)) return;
    if (plan->vec != 1)
        complain(complaints, field, "%d wants vec = 1, rows of single nonzeros", plan->per_warp);
    else if (plan->order != ROWS_BCRS)
        complain(complaints, field, "%d wants order = \"bcrs\"", plan->per_warp);
}

int64_t rows_most_columns(const rows_plan *plan) {
    int64_t turn = (int64_t)rows_threads(plan) * plan->hold, each = plan->vec / plan->unit;
    return (INT32_MAX - 2 * turn) / (each > 0 ? each : 1) - plan->stride;
}

/* -- Estimates ---------------------------------------------------------------------------------------- */

/* Units of a row block of LENGTH vectors. */
static double units_of(const rows_plan *plan, double length) {
    return plan->order == ROWS_BCRS ? length * plan->beside : ceil(length / plan->stride) * plan->per_step;
}

bool rows_is_long(const rows_plan *plan, double length) {
    return units_of(plan, length) > (double)plan->team * plan->hold;
}

double rows_steps(const rows_plan *plan, double length, int reads) {
    double turn = (double)rows_threads(plan) * plan->again;
    for (int i = 0; i < ROWS_WAYS && rows_ways[i] <= plan->hold; i++)
        if (units_of(plan, length) <= (double)plan->team * rows_ways[i]) return rows_ways[i];
    return reads * plan->again * ceil(units_of(plan, length) / turn);
}

/* The part of rows of more than HELD elements: at most that of Cantelli's inequality, which tells of rows
   that are alike; of others, whose deviation a few make, as if lengths beyond the mean fell off by 1 / e for
   each mean. */
static double part_beyond(const mc_problem *problem, double mean, double held) {
    double above = held - mean, square = problem->spread * problem->spread;
    if (above <= 0 || mean <= 0) return 1;
    return fmin(square / (square + above * above), exp(-above / mean));
}

rows_lengths rows_lengths_of(const rows_plan *plan, const mc_problem *problem) {
    double mean = (double)problem->vectors * plan->vec / (double)problem->m,
           held = (double)plan->team * plan->hold;
    if (!rows_in_teams(plan) || (double)problem->longest <= held) return (rows_lengths){.held = mean};
    return (rows_lengths){.held = fmin(mean, held),
                          .longer = part_beyond(problem, mean, held) * rows_each(plan),
                          .length = 2 * fmax(mean, held)};
}
