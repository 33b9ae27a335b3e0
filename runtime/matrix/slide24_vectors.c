/* Spans of a vector-sparse matrix become groups (slide24.c says why all vectors find room). A group takes the
   first two units that are left, and all that were taken before are in front of these: so the vectors of a
   row stay in their order, and it is enough to walk along it. */
#include <inttypes.h>
#include "base/memory.h"
#include "matrix/slide24.h"

enum { STEP = 2, KEPT = 2 };

/* How a row's units become groups. */
typedef struct spreading {
    int span, unit;    /* units of a span, elements of a unit */
    int64_t at;        /* the span at hand */
    int64_t last;      /* the last unit that was taken */
    int group, taken;  /* where it went, and how many its group has */
    int count;         /* units of the span that have vectors */
    int64_t full, row; /* spans with too many, and where the first is */
    int64_t first;
} spreading;

static void begin_row(spreading *s) { s->at = s->last = -1; }

/* Whether COLUMN lies in another unit than the vector before it; that one is counted. */
static bool take_unit(spreading *s, int64_t column) {
    const int64_t unit = column / s->unit, at = unit / s->span;
    if (unit == s->last) return false;
    if (at != s->at) s->at = at, s->group = s->taken = s->count = 0;
    s->last = unit;
    s->count++;
    return true;
}

static void count_full(spreading *s, int64_t row, int64_t column) {
    if (!take_unit(s, column) || s->count != s->span - 1) return;
    if (s->full++ == 0) s->row = row, s->first = s->at * s->span * s->unit;
}

/* Where COLUMN goes: its unit into the first group that has room for it. */
static int64_t place(spreading *s, int64_t column) {
    const int groups = s->span / 2 - 1;
    const bool fresh = take_unit(s, column);
    const int in_span = (int)(s->last % s->span);
    while (fresh && (s->taken == KEPT || in_span >= STEP * s->group + MC_SLIDE24_GROUP))
        s->group++, s->taken = 0;
    s->taken += fresh;
    const int64_t unit = (s->at * groups + s->group) * MC_SLIDE24_GROUP + in_span - STEP * s->group;
    return unit * s->unit + column % s->unit;
}

static mc_status check_full(const mc_vsparse *a, spreading *s, mc_diag *diag) {
    for (int64_t row = 0; row < a->rows; row++) {
        begin_row(s);
        for (int64_t v = a->row_ptr[row]; v < a->row_ptr[row + 1]; v++) count_full(s, row, a->col_idx[v]);
    }
    if (s->full == 0) return MC_OK;
    return mc_fail(diag, MC_FORMAT,
                   "%" PRId64 " %s more than %d of %d %s, the first one is row %" PRId64 ", columns %" PRId64
                   " to %" PRId64,
                   s->full, s->full == 1 ? "span has" : "spans have", s->span - 2, s->span,
                   s->unit > 1 ? "pairs" : "elements", s->row, s->first,
                   s->first + (int64_t)s->span * s->unit - 1);
}

static void place_all(const mc_vsparse *a, spreading *s, int32_t *columns) {
    for (int64_t row = 0; row < a->rows; row++) {
        begin_row(s);
        for (int64_t v = a->row_ptr[row]; v < a->row_ptr[row + 1]; v++)
            columns[v] = (int32_t)place(s, a->col_idx[v]);
    }
}

mc_status mc_slide24_take(mc_vsparse *a, int span, mc_diag *diag) {
    int64_t cols;
    spreading s = {.span = span, .unit = mc_slide24_unit(a->type)};
    if (span == 0) return MC_OK;
    mc_status status = mc_slide24_cols(a->type, span, a->cols, &cols, diag);
    if (status == MC_OK && a->vec != 1)
        status = mc_fail(diag, MC_CANNOT, "spans are of vectors of one row, and these have %d", a->vec);
    if (status == MC_OK) status = check_full(a, &s, diag);
    if (status != MC_OK || span == MC_SLIDE24_LEAST) return status;
    int32_t *columns = mcrt_array(a->vectors, sizeof *columns);
    if (columns == NULL) return mcrt_no_memory(diag, a->vectors, "nonzero vectors");
    place_all(a, &s, columns);
    a->source.span = span, a->source.cols = a->cols, a->source.col_idx = a->col_idx;
    a->cols = cols, a->col_idx = columns;
    return MC_OK;
}

mc_vsparse mc_slide24_source(const mc_vsparse *a) {
    mc_vsparse source = *a;
    if (a->source.span == 0) return source;
    source.cols = a->source.cols, source.col_idx = a->source.col_idx;
    source.source.span = 0, source.source.cols = 0, source.source.col_idx = NULL;
    return source;
}
