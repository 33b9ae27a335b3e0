/* The plan of a kernel that quantises: geometry, paths, and what fields have against each other. */
#include "ops/quantise/quantise.h"

static const struct {
    int bits, least, most;
    bool real;
} outs[] = {[QUANTISE_S8] = {8, -128, 127, false}, [QUANTISE_U8] = {8, 0, 255, false},
            [QUANTISE_S4] = {4, -8, 7, false},     [QUANTISE_U4] = {4, 0, 15, false},
            [QUANTISE_F16] = {16, 0, 0, true},     [QUANTISE_BF16] = {16, 0, 0, true},
            [QUANTISE_F32] = {32, 0, 0, true},     [QUANTISE_S16] = {16, 0, 0, false},
            [QUANTISE_S32] = {32, 0, 0, false}};
static const struct {
    int bits;
    quantise_out same; /* the C of this type */
} ins[] = {[QUANTISE_IN_F16] = {16, QUANTISE_F16}, [QUANTISE_IN_BF16] = {16, QUANTISE_BF16},
           [QUANTISE_IN_F32] = {32, QUANTISE_F32}, [QUANTISE_IN_S32] = {32, QUANTISE_S32},
           [QUANTISE_IN_S8] = {8, QUANTISE_S8},    [QUANTISE_IN_S16] = {16, QUANTISE_S16},
           [QUANTISE_IN_S4] = {4, QUANTISE_S4}};

static void take_point(const int64_t *point, quantise_plan *plan) {
    *plan = (quantise_plan){.in = (quantise_in)point[F_LHS],
                            .out = (quantise_out)point[F_OUT],
                            .scale = (out_per)point[F_SCALE],
                            .zero = point[F_ZERO] != OUT_PER_NONE,
                            .computed = point[F_SCALES] != 0,
                            .turned = point[F_LAYOUT] == 0,
                            .batch = point[F_BATCH] != 0,
                            .by_addition = point[F_ROUNDING] != 0,
                            .tile = (int)point[F_TILE],
                            .warps = (int)point[F_WARPS],
                            .hold = (int)point[F_HOLD],
                            .keep = (int)point[F_KEEP],
                            .words = (int)point[F_WORDS],
                            .align = (int)point[F_ALIGN],
                            .share = point[F_SHARE],
                            .cluster = (int)point[F_CLUSTER],
                            .overlap = (family_overlap)point[F_OVERLAP],
                            .m = point[F_M],
                            .n = point[F_N],
                            .lda = point[F_LDA],
                            .ldc = point[F_LDC]};
    plan->in_bits = ins[plan->in].bits;
    plan->out_bits = outs[plan->out].bits;
    plan->least = outs[plan->out].least, plan->most = outs[plan->out].most;
    plan->real = outs[plan->out].real;
    plan->moves = plan->out == ins[plan->in].same && plan->scale == OUT_PER_NONE;
    plan->by_token = plan->computed && plan->scale != OUT_PER_TENSOR;
    plan->reaches = plan->computed && !plan->by_token;
}

/* Four lanes below each other make 16 bytes of a row of C by columns. A thread block that computes scales has
   all its rows in every warp. */
static void plan_lanes(quantise_plan *plan) {
    plan->rows = plan->words * quantise_word_rows(plan);
    plan->unit = QUANTISE_UNIT * 8 / plan->in_bits;
    plan->lanes_down = plan->by_token ? plan->tile / plan->rows : 4;
    if (plan->lanes_down < 1) plan->lanes_down = 1;
    if (plan->lanes_down > MC_WARP) plan->lanes_down = MC_WARP;
    plan->lanes_across = MC_WARP / plan->lanes_down;
    plan->warps_down = plan->tile / (plan->lanes_down * plan->rows);
    if (plan->warps_down < 1) plan->warps_down = 1;
    plan->warps_across = plan->warps / plan->warps_down;
    if (plan->warps_across < 1) plan->warps_across = 1;
    plan->step = plan->warps_across * plan->lanes_across * plan->unit;
}

/* Equal parts of whole units, the last one of what is left. */
static void plan_part(quantise_plan *plan) {
    int64_t least = (int64_t)plan->cluster * plan->unit;
    plan->part = plan->n;
    if (plan->cluster > 1 && plan->n != MC_OPEN) plan->part = (plan->n + least - 1) / least * plan->unit;
}

static void plan_shared(quantise_plan *plan) {
    unsigned threads = (unsigned)(MC_WARP * plan->warps);
    if (!plan->by_token) {
        if (plan->turned)
            plan->shared_static = (unsigned)(quantise_out_bytes(plan, plan->tile) * plan->hold * plan->step);
        plan->shared_static += quantise_reach_bytes(plan);
        return;
    }
    /* of a row: those of each warp, what comes of them, and in a cluster those of each thread block */
    unsigned values = plan->zero ? 2 : 1;
    int places = plan->warps + 1 + (plan->cluster > 1 ? plan->cluster : 0);
    plan->shared_static = (unsigned)(plan->tile * places) * values * WORD;
    plan->shared_dynamic = (unsigned)plan->keep * threads * (unsigned)(plan->rows * QUANTISE_UNIT);
}

/* -- Paths */

typedef enum proof { NEVER, MAYBE, ALWAYS } proof;

static proof divides(int64_t divisor, int64_t shape) {
    if (shape == MC_OPEN) return divisor == 1 ? ALWAYS : MAYBE;
    return shape % divisor == 0 ? ALWAYS : NEVER;
}

/* What a store of the wide path writes at once, in bytes. */
static int store_bytes(const quantise_plan *plan) {
    if (plan->turned) return plan->by_token ? plan->words * WORD : QUANTISE_UNIT;
    int bytes = quantise_out_bytes(plan, plan->unit);
    return bytes < QUANTISE_UNIT ? bytes : QUANTISE_UNIT;
}

static void plan_paths(quantise_plan *plan) {
    plan->out_align = store_bytes(plan);
    proof lda = divides(plan->unit, plan->lda), n = divides(plan->unit, plan->n),
          ldc = divides((int64_t)plan->out_align * 8 / plan->out_bits, plan->ldc);
    plan->wide = lda != NEVER && n != NEVER && ldc != NEVER;
    plan->tests = (quantise_tests){.lda = lda == MAYBE,
                                   .ldc = ldc == MAYBE,
                                   .n = n == MAYBE,
                                   .a_address = plan->align < QUANTISE_UNIT,
                                   .c_address = plan->align < plan->out_align};
    const quantise_tests *t = &plan->tests;
    plan->edge = !plan->wide || t->lda || t->ldc || t->n || t->a_address || t->c_address;
    bool columns = plan->by_token || divides((int64_t)plan->hold * plan->step, plan->n) == ALWAYS;
    plan->whole = columns && divides(plan->tile, plan->m) == ALWAYS;
}

/* -- What cannot be */

/* Integers that nothing is computed with. */
static void check_moved(const quantise_plan *plan, mc_complaints *complaints) {
    bool same = plan->out == ins[plan->in].same, narrow = plan->in > QUANTISE_IN_S32;
    if (same && !plan->moves && !plan->real)
        complain(complaints, F_SCALE, "integers of one type on both sides stay as they are: want \"none\"");
    if (plan->moves && plan->computed)
        complain(complaints, F_SCALES, "elements that stay as they are have no scales to compute");
    if (!same && narrow)
        complain(complaints, F_LHS,
                 "integers of 4, 8 and 16 bits stay as they are: out must be the same type");
    else if (!same && plan->in == QUANTISE_IN_S32 && !plan->real)
        complain(complaints, F_LHS, "sums of s32 go back only: want out = \"f16\", \"bf16\" or \"f32\"");
    else if (!same && (plan->out == QUANTISE_S16 || plan->out == QUANTISE_S32))
        complain(complaints, F_OUT, "s16 and s32 come of themselves alone: lhs must be the same type");
}

/* Rows of elements that share bytes begin with one. */
static void check_even(int field, int bits, int64_t ld, mc_complaints *complaints) {
    if (bits < 8 && ld != MC_OPEN && ld % 2 != 0)
        complain(complaints, field, "must be even: two elements of 4 bits share a byte");
}

static void check_types(const quantise_plan *plan, mc_complaints *complaints) {
    bool integers = !plan->real && plan->out < QUANTISE_F16 && plan->in < QUANTISE_IN_S32;
    check_moved(plan, complaints);
    if (plan->real && !plan->moves && (plan->zero || plan->computed))
        complain(complaints, plan->zero ? F_ZERO : F_SCALES,
                 "the way back takes given scales, and no zero points");
    if (integers && plan->scale == OUT_PER_NONE)
        complain(complaints, F_SCALE, "integers want a scale: \"tensor\" or \"row\"");
    if (integers && plan->scale == OUT_PER_COLUMN)
        complain(complaints, F_SCALE,
                 "integers have a scale for the tensor or for each row, a token, not a column");
    if (plan->share != MC_OPEN && plan->share % QUANTISE_MAX_UNIT != 0)
        complain(complaints, F_SHARE, "must be a multiple of %d", QUANTISE_MAX_UNIT);
    if (plan->words > 1 && (!plan->turned || plan->rows > QUANTISE_MAX_ROWS))
        complain(complaints, F_WORDS, "2 are for out of 8 bits and layout = \"columns\"");
    if (plan->by_addition && (plan->least == 0 || plan->zero))
        complain(complaints, F_ROUNDING,
                 "additions do not cut off: that goes with s8 and s4 without zero points");
}

/* Registers that a thread has beside what it holds. */
enum { OTHER_REGISTERS = 40, SM_REGISTERS = 65536, MOST_HELD = 128, LEAST_GROUP = 128 };

static void check_size(const quantise_plan *plan, unsigned most_shared, mc_complaints *complaints) {
    int held = plan->hold * plan->rows * (QUANTISE_UNIT / WORD),
        limit = SM_REGISTERS / (MC_WARP * plan->warps);
    int least = plan->lanes_down * plan->rows;
    if (plan->tile < least || plan->tile % plan->rows != 0)
        complain(complaints, F_TILE, "a thread block of this kernel takes at least %d rows", least);
    if (plan->by_token && plan->tile > MC_WARP * plan->rows)
        complain(complaints, F_TILE, "where scales are computed a row, a warp has all rows, at most %d",
                 MC_WARP * plan->rows);
    if (plan->warps % plan->warps_down != 0)
        complain(complaints, F_WARPS, "%d rows want a multiple of %d warps", plan->tile, plan->warps_down);
    if (held + OTHER_REGISTERS > limit || held > MOST_HELD)
        complain(complaints, F_HOLD, "%d registers a thread for what it holds are too many for %d warps",
                 held, plan->warps);
    int group = quantise_group_bytes(plan), most = quantise_most_group(plan);
    if (!plan->by_token && plan->turned && (group > most || group < LEAST_GROUP))
        complain(complaints, F_TILE, "by columns a tile of these types has from %d to %d rows",
                 LEAST_GROUP * 8 / plan->unit / plan->out_bits, most * 8 / plan->unit / plan->out_bits);
    if (plan->shared_static > STATIC_SHARED)
        complain(complaints, F_HOLD, "a tile of %u bytes is more than the %d of shared memory",
                 plan->shared_static, STATIC_SHARED);
    else if (plan->shared_static + plan->shared_dynamic > most_shared)
        complain(complaints, F_KEEP, "%u bytes of shared memory, a thread block has %u",
                 plan->shared_static + plan->shared_dynamic, most_shared);
}

static void check_zero(const int64_t *point, mc_complaints *complaints) {
    if (point[F_ZERO] != OUT_PER_NONE && point[F_ZERO] != point[F_SCALE])
        complain(complaints, F_ZERO, "zero points go as scales do");
}

static void check_cluster(const quantise_plan *plan, const mc_arch *arch, mc_complaints *complaints) {
    if (plan->cluster == 1) return;
    if (!arch->clusters) complain(complaints, F_CLUSTER, "%s has no thread block clusters", arch->target);
    if (plan->share != MC_OPEN)
        complain(complaints, F_CLUSTER, "a cluster divides the columns as share does: want one of both");
}

void quantise_make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    quantise_plan *plan = data;
    take_point(point, plan);
    plan_lanes(plan);
    plan_part(plan);
    plan_shared(plan);
    plan_paths(plan);
    check_types(plan, complaints);
    check_even(F_LDA, plan->in_bits, plan->lda, complaints);
    check_even(F_LDC, plan->out_bits, plan->ldc, complaints);
    check_zero(point, complaints);
    check_cluster(plan, &mc_archs[point[FIELD_ARCH]], complaints);
    check_overlap(point, F_OVERLAP, complaints);
    check_size(plan, mc_archs[point[FIELD_ARCH]].shared << 10, complaints);
}
