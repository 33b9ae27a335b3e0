/* Group j of a span has its units 2j to 2j + 3. Each group, from the first to the last, takes the first two
   nonzero units of its four that no group before it has taken. Then all are taken, if the span has at most
   2N - 2 of them:

   - Units 2j and 2j + 1 lie in no group behind group j. They are the first of its four, so it takes them if
     no group has before. Of the groups before the last one, then, none leaves a unit that no other has;
     only the last one could.
   - The last group is number N - 2. If all groups before it took two, they took 2N - 4, and at most two are
     left.
   - Else let group i be the last before it that took fewer than two. It found no more in its units, so what
     is left behind it are at most the 2N - 2i - 4 units from 2i + 4 on. The N - 3 - i groups between it and
     the last one took 2N - 6 - 2i of these, so at most two are left. */
#include "matrix/slide24.h"
#include <inttypes.h>
#include "matrix/sparse24_choose.h"

enum { GROUP = 4, STEP = 2, KEPT = 2 };

/* How spans lie in A and A'. */
typedef struct slide {
    int span, unit;      /* units of a span, elements of a unit */
    int groups;          /* of a span */
    int64_t spans, cols; /* of a row, of A' */
} slide;

static mc_status slide_of(mc_type type, int span, int64_t cols, slide *s, mc_diag *diag) {
    mc_sparse24_rule rule;
    *s = (slide){0};
    mc_status status = mc_sparse24_rule_of(type, &rule, diag);
    if (status != MC_OK) return status;
    if (rule.group != GROUP)
        return mc_fail(diag, MC_CANNOT, "%s: one of two elements is kept, and no other pattern is possible",
                       mc_type_text(type));
    if (span < MC_SLIDE24_LEAST || span > MC_SLIDE24_MOST || span % 2 != 0)
        return mc_fail(diag, MC_USAGE, "a span of %d: must be even, %d to %d", span, MC_SLIDE24_LEAST,
                       MC_SLIDE24_MOST);
    if (cols < 0 || cols > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " columns: at most %d", cols, INT32_MAX);
    *s = (slide){.span = span, .unit = rule.unit, .groups = span / 2 - 1};
    s->spans = (cols + span * s->unit - 1) / (span * s->unit);
    s->cols = s->spans * s->groups * GROUP * s->unit;
    if (s->cols <= INT32_MAX) return MC_OK;
    status = mc_fail(diag, MC_CANNOT, "%" PRId64 " columns become %" PRId64 ": at most %d", cols, s->cols,
                     INT32_MAX);
    *s = (slide){0};
    return status;
}

/* The unit of A that is unit EXPANDED of A'. */
static int64_t source_of(const slide *s, int64_t expanded) {
    int64_t group = expanded / GROUP;
    return group / s->groups * s->span + group % s->groups * STEP + expanded % GROUP;
}

static int64_t even(int64_t count) { return count + count % 2; }

mc_status mc_slide24_cols(mc_type type, int span, int64_t cols, int64_t *expanded, mc_diag *diag) {
    slide s;
    mc_status status = slide_of(type, span, cols, &s, diag);
    *expanded = s.cols;
    return status;
}

mc_status mc_slide24_rows(mc_type type, int span, int64_t cols, mc_dense *rows, mc_diag *diag) {
    slide s;
    *rows = (mc_dense){0};
    mc_status status = slide_of(type, span, cols, &s, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S32, 1, s.cols, s.cols, rows, diag);
    for (int64_t i = 0; status == MC_OK && i < s.cols; i++) {
        int64_t row = source_of(&s, i / s.unit) * s.unit + i % s.unit;
        mc_dense_set(rows, 0, i, row < cols ? row : -1);
    }
    return status;
}

/* -- A */

/* Copies unit FROM_UNIT of A, as far as it has columns. */
static void copy_unit(const slide *s, const mc_dense *a, int64_t row, int64_t from_unit, mc_dense *out,
                      int64_t to_unit) {
    for (int i = 0; i < s->unit && from_unit * s->unit + i < a->cols; i++)
        mc_dense_set(out, row, to_unit * s->unit + i, mc_dense_get(a, row, from_unit * s->unit + i));
}

/* IS_KEPT: of the span's units, which are still to be spread. */
static void spread(const slide *s, const mc_dense *a, int64_t row, int64_t span, bool *is_kept,
                   mc_dense *out) {
    for (int group = 0; group < s->groups; group++) {
        int64_t first = (span * s->groups + group) * GROUP;
        for (int i = 0, taken = 0; i < GROUP && taken < KEPT; i++) {
            int unit = group * STEP + i;
            if (!is_kept[unit]) continue;
            copy_unit(s, a, row, span * s->span + unit, out, first + i);
            is_kept[unit] = false;
            taken++;
        }
    }
}

static void expand_span(const slide *s, const unit_reader *reader, int64_t row, int64_t span, mc_dense *out,
                        full_groups *full) {
    int64_t magnitudes[SPARSE24_MOST_UNITS];
    bool is_kept[SPARSE24_MOST_UNITS];
    for (int i = 0; i < s->span; i++) magnitudes[i] = unit_magnitude(reader, row, span * s->span + i);
    full_groups_look(full, magnitudes, row, span);
    keep_greatest(magnitudes, s->span, full->kept, is_kept);
    for (int i = 0; i < s->span; i++) is_kept[i] &= magnitudes[i] != 0;
    spread(s, reader->a, row, span, is_kept, out);
}

mc_status mc_slide24_expand(const mc_dense *a, int span, mc_sparse24_mode mode, mc_dense *out, int64_t *lost,
                            mc_diag *diag) {
    slide s;
    unit_reader reader;
    *out = (mc_dense){0};
    *lost = 0;
    mc_status status = unit_reader_open(a, &reader, diag);
    if (status == MC_OK) status = slide_of(a->type, span, a->cols, &s, diag);
    if (status == MC_OK) status = mc_dense_create(a->type, a->rows, s.cols, s.cols, out, diag);
    if (status != MC_OK) return status;
    full_groups full = {.units = span, .kept = span - 2, .unit = s.unit};
    for (int64_t row = 0; s.spans > 0 && row < a->rows; row++)
        for (int64_t i = 0; i < s.spans; i++) expand_span(&s, &reader, row, i, out, &full);
    status = full_groups_end(&full, mode, diag);
    *lost = full.count;
    if (status != MC_OK) mc_dense_free(out);
    return status;
}

/* Puts element COL of A' back. */
static mc_status put_back(const slide *s, const mc_dense *expanded, int64_t row, int64_t col, mc_dense *out,
                          mc_diag *diag) {
    int64_t target = source_of(s, col / s->unit) * s->unit + col % s->unit;
    if (mc_dense_real(expanded, row, col) == 0) return MC_OK;
    if (target >= out->cols)
        return mc_fail(diag, MC_FORMAT,
                       "row %" PRId64 " has a nonzero in column %" PRId64 ", beyond the last of %" PRId64
                       " columns",
                       row, target, out->cols);
    if (mc_dense_real(out, row, target) != 0)
        return mc_fail(diag, MC_FORMAT, "row %" PRId64 " has column %" PRId64 " in two groups", row, target);
    mc_dense_set(out, row, target, mc_dense_get(expanded, row, col));
    return MC_OK;
}

mc_status mc_slide24_collapse(const mc_dense *expanded, int span, int64_t cols, mc_dense *out,
                              mc_diag *diag) {
    slide s;
    *out = (mc_dense){0};
    mc_status status = slide_of(expanded->type, span, cols, &s, diag);
    if (status == MC_OK && s.cols != expanded->cols)
        status = mc_fail(diag, MC_FORMAT,
                         "%" PRId64 " columns of spans of %d become %" PRId64 ", and there are %" PRId64,
                         cols, span, s.cols, expanded->cols);
    if (status == MC_OK)
        status = mc_dense_create(expanded->type, expanded->rows, cols, even(cols), out, diag);
    if (status != MC_OK) return status;
    for (int64_t row = 0; status == MC_OK && s.cols > 0 && row < out->rows; row++)
        for (int64_t col = 0; status == MC_OK && col < s.cols; col++)
            status = put_back(&s, expanded, row, col, out, diag);
    if (status != MC_OK) mc_dense_free(out);
    return status;
}

/* -- B */

mc_status mc_slide24_gather(const mc_dense *b, const mc_dense *rows, mc_dense *out, mc_diag *diag) {
    *out = (mc_dense){0};
    if (mc_type_is_real(rows->type) || rows->rows != 1)
        return mc_fail(diag, MC_FORMAT, "the rows of B are no list of integers");
    for (int64_t i = 0; i < rows->cols; i++) {
        int64_t row = mc_dense_get(rows, 0, i);
        if (row < -1 || row >= b->rows)
            return mc_fail(diag, MC_FORMAT,
                           "row %" PRId64 " of B' is row %" PRId64 " of B, which has %" PRId64, i, row,
                           b->rows);
    }
    mc_status status = mc_dense_create(b->type, rows->cols, b->cols, even(b->cols), out, diag);
    for (int64_t i = 0; status == MC_OK && i < rows->cols; i++) {
        int64_t row = mc_dense_get(rows, 0, i);
        for (int64_t col = 0; row >= 0 && col < b->cols; col++)
            mc_dense_set(out, i, col, mc_dense_get(b, row, col));
    }
    return status;
}
