/* Digits of A side by side in an mma (`stacking`). Where a vector has fewer rows than the mma has columns,
   column p * vec + r holds row r of digit plane p, so that one mma multiplies several planes. Offset digits
   also want a column of ones: its sum, which is that of the gathered rows of B, takes the offset out of the
   others again.

   Packed values are planes of rows anyway: lane group g reads row g of those that its mma takes. After the
   loop the planes' sums lie in different lanes. Lane 4 g + t has columns 2 t and 2 t + 1 (fragment.h,
   frag_c_col), so that planes are vec / 2 lanes apart. In the paper's order A's rows are the mma's rows, row
   g is that of the lanes 4 g + t, and planes are 4 vec lanes apart. */
#include "parts/fragment.h"
#include "ops/spmm/emit.h"
#include <stdio.h>

/* -- Plan --------------------------------------------------------------------------------------------- */

/* How many planes fit into the mma's columns. */
static int room(const spmm_plan *plan) {
    int planes = SPMM_MMA_ROWS / plan->vec;
    return planes < plan->a.count ? planes : plan->a.count;
}

bool spmm_can_stack(const spmm_plan *plan, char why[SPMM_WHY]) {
    const digit_set *a = &plan->a;
    const char *name = plan->lhs.name;
    int columns = a->count * plan->vec + plan->ones;
    if (plan->vec == SPMM_MMA_ROWS)
        snprintf(why, SPMM_WHY, "a vector of 8 rows fills the mma's 8 columns: there is nothing to stack");
    else if (a->count == 1)
        snprintf(why, SPMM_WHY, "lhs = \"%s\" is one digit: there is nothing to stack", name);
    else if (a->low_signed != a->top_signed)
        snprintf(why, SPMM_WHY,
                 "the top digit of lhs = \"%s\" has a sign, the others have none: digits = \"balanced\" or "
                 "\"offset\"",
                 name);
    else if (plan->ones && columns > SPMM_MMA_ROWS)
        snprintf(why, SPMM_WHY,
                 "%d digits of %d rows leave no column of the mma for the ones of digits = \"offset\"",
                 a->count, plan->vec);
    else return true;
    return false;
}

void spmm_plan_mma(spmm_plan *plan, bool stacked) {
    plan->planes = stacked ? room(plan) : 1;
    plan->mma = (plan->a.count + plan->planes - 1) / plan->planes;
    plan->sums = spmm_sum_of(plan, plan->mma - 1, plan->b.count - 1) + 1;
}

int spmm_mma_rows(const spmm_plan *plan, int mma) {
    int before = mma * plan->planes, left = plan->a.count - before;
    bool last = mma == plan->mma - 1;
    return (left < plan->planes ? left : plan->planes) * plan->vec + (last && plan->ones);
}

void spmm_plan_values(spmm_plan *plan, int stride_bytes) {
    plan->stride_values = stride_bytes;
    snprintf(plan->value_extent, sizeof plan->value_extent, "strides * %d", stride_bytes);
}

/* -- Values ------------------------------------------------------------------------------------------- */

static bool has_empty(const spmm_plan *plan, int mma) { return spmm_mma_rows(plan, mma) < SPMM_MMA_ROWS; }

/* Whether the mma before has the same empty columns. */
static bool is_as_before(const spmm_plan *plan, int mma) {
    return mma > 0 && spmm_mma_rows(plan, mma) == spmm_mma_rows(plan, mma - 1);
}

bool spmm_emit_has_values(spmm_emitter *e) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    bool any = false;
    for (int m = 0; m < plan->mma; m++) {
        if (!has_empty(plan, m)) continue;
        if (!any) note(b, "lanes of the mma's empty columns have no values");
        any = true;
        e->has_values[m] =
            is_as_before(plan, m) ? e->has_values[m - 1] : pred(b, m ? "has_last_values" : "has_values");
        if (is_as_before(plan, m)) continue;
        EMIT(b, setp_lt, e->has_values[m], e->place.g, I(spmm_mma_rows(plan, m)));
    }
    return any;
}

void spmm_declare_guards(const spmm_emitter *e, const char *const names[2], mc_reg always, mc_reg *guards) {
    const spmm_plan *plan = e->plan;
    for (int m = 0; m < plan->mma; m++) {
        if (!has_empty(plan, m)) guards[m] = always;
        else guards[m] = is_as_before(plan, m) ? guards[m - 1] : pred(e->b, names[m > 0]);
    }
}

void spmm_emit_guards(const spmm_emitter *e, mc_reg at, mc_reg end, const mc_reg *guards) {
    const spmm_plan *plan = e->plan;
    for (int m = 0; m < plan->mma; m++)
        if (has_empty(plan, m) && !is_as_before(plan, m))
            EMIT(e->b, setp_lt_and, guards[m], at, end, e->has_values[m]);
}

/* -- Sums --------------------------------------------------------------------------------------------- */

/* Which lanes a shuffle stays among. Sums of the same columns of C are in the lanes of one g, in the paper's
   order of one t. A segment says so (PTX ISA, "shfl.sync"): segment mask 0x1c and clamp 3 for lanes of one g,
   mask 3 and clamp 0x1c for lanes of one t. */
enum { LANES_OF_G = 0x1c03, LANES_OF_T = 0x031c };
static const uint32_t all_lanes = 0xffffffff;

typedef struct unstacker {
    spmm_emitter *e;
    mc_reg plane[MAX_DIGITS], ones; /* sums that come from other lanes */
    mc_reg half[2], from[2];        /* the two words of a total, which go one by one */
} unstacker;

/* How many lanes on the sums of row ROW of the mma's columns (in the paper's order: rows) are from those of
   row 0. */
static int lanes_to(const spmm_plan *plan, int row) {
    return plan->order == SPMM_SWAPPED ? row / 2 : row << FRAG_GROUP_SHIFT;
}

/* TO = FROM of another lane, which OP finds by PLACE: so many lanes on, or lane PLACE of the segment. */
static void emit_shuffle(const unstacker *u, mc_opcode op, mc_reg to, mc_reg from, int place) {
    mc_builder *b = u->e->b;
    const mc_reg none = {0};
    mc_operand segment = H(u->e->plan->order == SPMM_SWAPPED ? LANES_OF_G : LANES_OF_T);
    if (!u->e->plan->output.exact) {
        builder_emit(b, none, op, MC_OPERANDS(to, from, I(place), segment, H(all_lanes)));
        return;
    }
    EMIT(b, split_b64, V2(u->from), from);
    for (int i = 0; i < 2; i++)
        builder_emit(b, none, op, MC_OPERANDS(u->half[i], u->from[i], I(place), segment, H(all_lanes)));
    EMIT(b, join_b64, to, V2(u->half));
}

static void emit_add(const unstacker *u, mc_reg sum, mc_reg term, int64_t factor) {
    mc_builder *b = u->e->b;
    if (u->e->plan->output.exact) EMIT(b, mad_s64, sum, term, I(factor), sum);
    else EMIT(b, mad_s32, sum, term, I(factor), sum);
}

/* Adds planes 1 and up to plane 0. Plane p's sum comes from row p * vec. Lanes without plane 0 get sums of no
   use. */
static void emit_add_planes(const unstacker *u, mc_reg sum) {
    const spmm_plan *plan = u->e->plan;
    for (int p = 1; p < plan->planes; p++)
        emit_shuffle(u, OP_shfl_down, u->plane[p], sum, lanes_to(plan, p * plan->vec));
    for (int p = 1; p < plan->planes; p++) emit_add(u, sum, u->plane[p], (int64_t)1 << p * plan->a.bits);
}

/* SUM has one column of C in rows 2 t and 2 t + 1, in the paper's order two columns in row g. The row of ones
   is the even one of its lane, or the lane's only one. Its sum has been weighed like the last mma's first
   plane. */
static void emit_unstack_pair(const unstacker *u, const mc_reg sum[2]) {
    const spmm_plan *plan = u->e->plan;
    int row = spmm_mma_rows(plan, plan->mma - 1) - 1;
    bool for_both = plan->order == SPMM_SWAPPED;
    int weighed = plan->a.bits * plan->planes * (plan->mma - 1);
    for (int odd = 0; odd < 2; odd++) {
        if (plan->ones && !(odd && for_both))
            emit_shuffle(u, OP_shfl_idx, u->ones, sum[odd], lanes_to(plan, row));
        emit_add_planes(u, sum[odd]);
        if (plan->ones) emit_add(u, sum[odd], u->ones, -((int64_t)1 << (plan->lhs.bits - 1 - weighed)));
    }
}

static void declare_unstacker(unstacker *u) {
    mc_builder *b = u->e->b;
    const spmm_plan *plan = u->e->plan;
    bool wide = plan->output.exact;
    (wide ? b64_array : b32_array)(b, "plane", plan->planes - 1, u->plane + 1);
    if (plan->ones) u->ones = (wide ? b64 : b32)(b, "ones");
    if (!wide) return;
    b32_array(b, "half", 2, u->half);
    b32_array(b, "from", 2, u->from);
}

void spmm_emit_unstack(spmm_emitter *e, int count) {
    mc_builder *b = e->b;
    const spmm_plan *plan = e->plan;
    unstacker u = {.e = e};
    int apart = lanes_to(plan, plan->vec);
    if (plan->planes == 1 && !plan->ones) return;
    heading(b, "Sums of A's digits become sums of its rows");
    declare_unstacker(&u);
    if (plan->planes > 1) note(b, "those of the next digit lie %d lane%s on", apart, apart > 1 ? "s" : "");
    if (plan->ones)
        note(b, "2^%d times the sum of B's rows is in every one: the column of ones has it",
             plan->lhs.bits - 1);
    for (int i = 0; i < count; i += 2) emit_unstack_pair(&u, plan->output.exact ? &e->total[i] : &e->acc[i]);
}
