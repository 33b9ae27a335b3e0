/* The loop over the nonzeros of a row: rows of B times values of A.
 *
 * A lane has `ahead` nonzeros at a time: 0 of them is the next one of its part, 1 is `lanes` behind that, and
 * so on. What is not there is not loaded, and not added. The columns of the next ones are under way while
 * these are multiplied, and their values while the rows of B are. */
#include "ops/spmm/csr/emit.h"
#include "parts/fragment.h"
#include "parts/fused.h"
#include "parts/words.h"

enum { MOST_WORDS = 64 /* of B, in flight */ };

typedef struct csr_loop {
    csr_emitter *e;
    const csr_path *path;
    int words;                 /* registers of a load of B */
    mc_reg left;               /* nonzeros from the next one of this lane on */
    mc_reg index_at, value_at; /* where its column and its value are */
    mc_reg has[CSR_MOST_AHEAD], index[CSR_MOST_AHEAD], value[CSR_MOST_AHEAD], row_at[CSR_MOST_AHEAD];
    mc_reg b_lane;                /* this lane's elements of B's row 0 */
    mc_reg offset[CSR_MOST_SUMS]; /* where columns may lie beyond n: bytes to each run's in a row */
    mc_reg word[MOST_WORDS];
} csr_loop;

static int step_bytes(const csr_loop *l, int bytes) { return l->e->plan->lanes * bytes; }
static mc_operand bytes_of(const csr_loop *l, int64_t elements) {
    return I(elements * csr_element_bytes(l->e->plan));
}

/* -- Where things are --------------------------------------------------------------------------------- */

/* A column beyond n is read as the last one, and not stored. */
mc_reg spmm_csr_find_columns(const csr_emitter *e, const csr_path *path, mc_reg lane_col, mc_reg *offset) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    const mc_operand bytes = I(csr_element_bytes(plan));
    if (!path->last) return mad_wide(b, "b_lane", lane_col, bytes, e->at.b_array);
    note(b, "columns beyond n are read as the last one");
    mc_reg last = add_s32(b, "last_col", dim_operand(plan->base.n, e->at.n), I(-1));
    b32_array(b, "offset", path->runs, offset);
    for (int j = 0; j < path->runs; j++) {
        EMIT(b, add_s32, offset[j], lane_col, I(j * csr_pitch(plan, path)));
        EMIT(b, min_s32, offset[j], offset[j], last);
        EMIT(b, mul_s32, offset[j], offset[j], bytes);
    }
    return e->at.b_array;
}

static void declare(csr_loop *l, mc_reg lane_col) {
    csr_emitter *e = l->e;
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    int load_bytes = l->path->load * csr_element_bytes(plan);
    l->words = load_bytes > WORD ? load_bytes / WORD : 1;
    l->b_lane = spmm_csr_find_columns(e, l->path, lane_col, l->offset);
    mc_reg next = plan->lanes > 1 ? add_s32(b, "next", e->first, e->part) : e->first;
    l->left = b32(b, "left");
    EMIT(b, sub_s32, l->left, e->last, next);
    l->index_at = carried_b64(b, "index_at", mad_wide(b, "index_lane", next, I(WORD), e->col_idx));
    l->value_at = carried_b64(b, "value_at", mad_wide(b, "value_lane", next, bytes_of(l, 1), e->values));
    pred_array(b, "has", plan->ahead, l->has);
    b32_array(b, "index", plan->ahead, l->index);
    b32_array(b, "value", plan->ahead, l->value);
    b64_array(b, "row_at", plan->ahead, l->row_at);
    b32_array(b, "b_word", plan->ahead * l->path->runs * l->words, l->word);
    b32_array(b, "sum", csr_sums(plan), e->sum);
    if (plan->base.math.b_bits < 32) e->scratch[0] = b32(b, "a_real"), e->scratch[1] = b32(b, "b_real");
    for (int i = 0; i < plan->ahead; i++) EMIT(b, mov_b32, l->index[i], I(0));
    for (int i = 0; i < plan->ahead; i++) EMIT(b, mov_b32, l->value[i], I(0));
    for (int i = 0; i < plan->ahead * l->path->runs * l->words; i++) EMIT(b, mov_b32, l->word[i], I(0));
    for (int i = 0; i < csr_sums(plan); i++) EMIT(b, mov_b32, e->sum[i], I(0));
}

/* -- Loads -------------------------------------------------------------------------------------------- */

/* Which of the next `ahead` nonzeros there are. */
static void find_next(const csr_loop *l, const mc_reg *has) {
    for (int i = 0; i < l->e->plan->ahead; i++)
        EMIT(l->e->b, setp_gt, has[i], l->left, I(i * l->e->plan->lanes));
}

static void load_indices(const csr_loop *l, const mc_reg *has) {
    for (int i = 0; i < l->e->plan->ahead; i++)
        EMIT_IF(l->e->b, has[i], ldr_b32, l->index[i], AT(l->index_at, i * step_bytes(l, WORD)));
}

static void load_values(const csr_loop *l, const mc_reg *has) {
    int bytes = csr_element_bytes(l->e->plan);
    for (int i = 0; i < l->e->plan->ahead; i++)
        emit_load_words(l->e->b, has[i], WORDS_RELAXED, bytes, &l->value[i],
                        AT(l->value_at, i * step_bytes(l, bytes)));
}

/* Word of load J of nonzero I. */
static const mc_reg *words_of(const csr_loop *l, int i, int j) {
    return &l->word[(i * l->path->runs + j) * l->words];
}

static void load_rows(const csr_loop *l) {
    mc_builder *b = l->e->b;
    const csr_plan *plan = l->e->plan;
    int bytes = l->path->load * csr_element_bytes(plan);
    mc_reg at = l->path->last ? b64(b, "element_at") : (mc_reg){0};
    for (int i = 0; i < plan->ahead; i++)
        EMIT(b, mad_wide, l->row_at[i], l->index[i], l->e->at.row_bytes, l->b_lane);
    for (int i = 0; i < plan->ahead; i++)
        for (int j = 0; j < l->path->runs; j++) {
            if (l->path->last) EMIT(b, mad_wide, at, l->offset[j], I(1), l->row_at[i]);
            emit_load_words(b, l->has[i], WORDS_GLOBAL, bytes, words_of(l, i, j),
                            l->path->last
                                ? AT(at, 0)
                                : AT(l->row_at[i], j * csr_pitch(plan, l->path) * csr_element_bytes(plan)));
        }
}

/* -- Products ----------------------------------------------------------------------------------------- */

static void multiply_nonzero(const csr_loop *l, int i) {
    csr_emitter *e = l->e;
    const spmm_arithmetic *math = &e->plan->base.math;
    const bool halves = math->b_bits < 32;
    mc_reg value = fused_element(e->b, math->lhs, l->value[i], false, e->scratch[0]);
    for (int j = 0; j < l->path->runs; j++)
        for (int k = 0; k < l->path->load; k++) {
            mc_reg word = words_of(l, i, j)[halves ? k / 2 : k], sum = e->sum[j * l->path->load + k];
            mc_reg of_b = fused_element(e->b, math->lhs, word, halves && k % 2, e->scratch[1]);
            EMIT_IF(e->b, l->has[i], fma_f32, sum, value, of_b, sum);
        }
}

static void advance(const csr_loop *l) {
    mc_builder *b = l->e->b;
    int step = l->e->plan->ahead;
    EMIT(b, add_s64, l->index_at, l->index_at, I(step * step_bytes(l, WORD)));
    EMIT(b, add_s64, l->value_at, l->value_at, I(step * step_bytes(l, csr_element_bytes(l->e->plan))));
    EMIT(b, add_s32, l->left, l->left, I(-step * l->e->plan->lanes));
}

/* -- The loop ----------------------------------------------------------------------------------------- */

void spmm_csr_add_lanes(csr_emitter *e, int count, int apart, const char *scratch) {
    mc_builder *b = e->b;
    if (count == 1) return;
    mc_reg other = b32(b, scratch);
    for (int distance = count / 2; distance >= 1; distance /= 2)
        for (int i = 0; i < csr_sums(e->plan); i++) {
            EMIT(b, shfl_bfly, other, e->sum[i], I(distance * apart), I(MC_WARP - 1), H(0xffffffff));
            EMIT(b, add_f32, e->sum[i], e->sum[i], other);
        }
}

static void emit_loop(csr_loop l, mc_reg lane_col) {
    mc_builder *b = l.e->b;
    const csr_plan *plan = l.e->plan;
    mc_label next = label(b, "NONZEROS"), done = label(b, "ROW_DONE");
    mc_reg more[CSR_MOST_AHEAD];
    declare(&l, lane_col);
    pred_array(b, "more", plan->ahead, more);
    find_next(&l, l.has);
    load_indices(&l, l.has);
    load_values(&l, l.has);
    mc_reg none = pred(b, "row_is_done");
    set_label(b, next);
    EMIT(b, setp_lt, none, l.left, I(1));
    EMIT_IF(b, none, bra, TO(done));
    load_rows(&l);
    advance(&l);
    note(b, "the next columns are under way while these are multiplied");
    find_next(&l, more);
    load_indices(&l, more);
    for (int i = 0; i < plan->ahead; i++) multiply_nonzero(&l, i);
    find_next(&l, l.has);
    load_values(&l, l.has);
    EMIT(b, bra, TO(next));
    set_label(b, done);
}

void spmm_csr_emit_loop(csr_emitter *e, const csr_path *path, mc_reg lane_col) {
    mc_builder *b = e->b;
    const csr_plan *plan = e->plan;
    heading(b, "%d nonzeros of a row at a time, of each a row of B: %d load%s of %d element%s a lane",
            plan->ahead * plan->lanes, path->runs, path->runs > 1 ? "s" : "", path->load,
            path->load > 1 ? "s" : "");
    emit_loop((csr_loop){.e = e, .path = path}, lane_col);
    if (plan->lanes > 1) note(b, "lanes that share the row add up: in the end all of them have the sums");
    spmm_csr_add_lanes(e, plan->lanes, plan->columns, "other_part");
}
