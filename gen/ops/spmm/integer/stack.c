/* Digits of A side by side in an mma (`stacking`). Where a vector has fewer rows than the mma has columns,
   column p * vec + r holds row r of digit plane p, so that one mma multiplies several planes. Offset digits
   also want a column of ones: its sum, which is that of the gathered rows of B, takes the offset out of the
   others again.

   Packed values are planes of rows anyway: lane group g reads row g of those that its mma takes. After the
   loop the planes' sums lie in different lanes. Lane 4 g + t has columns 2 t and 2 t + 1 (fragment.h,
   frag_c_col), so that planes are vec / 2 lanes apart, and of one row two planes are in one lane. In the
   paper's order A's rows are the mma's rows, row g is that of the lanes 4 g + t, and planes are 4 vec lanes
   apart. */
#include "parts/fragment.h"
#include "ops/spmm/integer/products.h"

/* -- Sums --------------------------------------------------------------------------------------------- */

/* Which lanes a shuffle stays among. Sums of the same columns of C are in the lanes of one g, in the paper's
   order of one t. A segment says so (PTX ISA, "shfl.sync"): segment mask 0x1c and clamp 3 for lanes of one g,
   mask 3 and clamp 0x1c for lanes of one t. */
enum { LANES_OF_G = 0x1c03, LANES_OF_T = 0x031c };
static const uint32_t all_lanes = 0xffffffff;

typedef struct unstacker {
    const spmm_sums *s;
    mc_reg plane[MAX_DIGITS], ones; /* sums that come from other lanes */
    mc_reg half[2], from[2];        /* the two words of a total, which go one by one */
} unstacker;

/* How many lanes on the sums of row ROW of the mma's columns (in the paper's order: rows) are from those of
   row 0. */
static int lanes_to(const spmm_arithmetic *math, int row) {
    return math->order == SPMM_SWAPPED ? row / 2 : row << FRAG_GROUP_SHIFT;
}

/* Of a lane's sums the one of row ROW there. In the paper's order both are of one row, and ODD is the
   column. */
static mc_reg sum_of(const unstacker *u, const mc_reg sum[2], int row, int odd) {
    return sum[u->s->of->order == SPMM_SWAPPED ? row % 2 : odd];
}

/* TO = FROM of another lane, which OP finds by PLACE: so many lanes on, or lane PLACE of the segment. */
static void emit_shuffle(const unstacker *u, mc_opcode op, mc_reg to, mc_reg from, int place) {
    mc_builder *b = u->s->b;
    const mc_reg none = {0};
    mc_operand segment = H(u->s->of->order == SPMM_SWAPPED ? LANES_OF_G : LANES_OF_T);
    if (!u->s->of->exact) {
        builder_emit(b, none, op, MC_OPERANDS(to, from, I(place), segment, H(all_lanes)));
        return;
    }
    EMIT(b, split_b64, V2(u->from), from);
    for (int i = 0; i < 2; i++)
        builder_emit(b, none, op, MC_OPERANDS(u->half[i], u->from[i], I(place), segment, H(all_lanes)));
    EMIT(b, join_b64, to, V2(u->half));
}

static void emit_add(const unstacker *u, mc_reg sum, mc_reg term, int64_t factor) {
    mc_builder *b = u->s->b;
    if (u->s->of->exact) EMIT(b, mad_s64, sum, term, I(factor), sum);
    else EMIT(b, mad_s32, sum, term, I(factor), sum);
}

/* Adds planes 1 and up to plane 0 of SUM[ODD]. Plane p's sum comes from row p * vec. Lanes without plane 0
   get sums of no use. */
static void emit_add_planes(const unstacker *u, const mc_reg sum[2], int odd) {
    const spmm_arithmetic *math = u->s->of;
    mc_reg plane[MAX_DIGITS];
    for (int p = 1; p < math->integer.planes; p++) {
        mc_reg from = sum_of(u, sum, p * math->vec + odd, odd);
        int lanes = lanes_to(math, p * math->vec);
        plane[p] = lanes ? u->plane[p] : from;
        if (lanes) emit_shuffle(u, OP_shfl_down, plane[p], from, lanes);
    }
    for (int p = 1; p < math->integer.planes; p++)
        emit_add(u, sum[odd], plane[p], (int64_t)1 << p * math->integer.a.bits);
}

/* SUM has one column of C in rows 2 t and 2 t + 1, in the paper's order two columns in row g. The row of ones
   is the even one of its lane, or the lane's only one; where a row block has one row, either of them, and
   there is no second row. Its sum has been weighed like the last mma's first plane. */
static void emit_unstack_pair(const unstacker *u, const mc_reg sum[2]) {
    const spmm_arithmetic *math = u->s->of;
    int row = integer_mma_rows(math, math->mma - 1) - 1;
    bool for_both = math->order == SPMM_SWAPPED;
    int weighed = math->integer.a.bits * math->integer.planes * (math->mma - 1);
    int rows = for_both && math->vec == 1 ? 1 : 2;
    for (int odd = 0; odd < rows; odd++) {
        if (math->integer.ones && !(odd && for_both))
            emit_shuffle(u, OP_shfl_idx, u->ones, sum_of(u, sum, row, odd), lanes_to(math, row));
        emit_add_planes(u, sum, odd);
        if (math->integer.ones)
            emit_add(u, sum[odd], u->ones, -((int64_t)1 << (math->integer.lhs.bits - 1 - weighed)));
    }
}

static void declare_unstacker(unstacker *u) {
    mc_builder *b = u->s->b;
    const spmm_arithmetic *math = u->s->of;
    bool wide = math->exact;
    (wide ? b64_array : b32_array)(b, "plane", math->integer.planes - 1, u->plane + 1);
    if (math->integer.ones) u->ones = (wide ? b64 : b32)(b, "ones");
    if (!wide) return;
    b32_array(b, "half", 2, u->half);
    b32_array(b, "from", 2, u->from);
}

void spmm_emit_unstack(const spmm_sums *s) {
    mc_builder *b = s->b;
    const spmm_arithmetic *math = s->of;
    unstacker u = {.s = s};
    int apart = lanes_to(math, math->vec);
    if (math->integer.planes == 1 && !math->integer.ones) return;
    heading(b, "Sums of A's digits become sums of its rows");
    declare_unstacker(&u);
    if (math->integer.planes > 1 && apart == 0) note(b, "a lane has those of two digits");
    else if (math->integer.planes > 1)
        note(b, "those of the next digit lie %d lane%s on", apart, apart > 1 ? "s" : "");
    if (math->integer.ones)
        note(b, "2^%d times the sum of B's rows is in every one: the column of ones has it",
             math->integer.lhs.bits - 1);
    for (int i = 0; i < s->count; i += 2) emit_unstack_pair(&u, &sums_result(s)[i]);
}
