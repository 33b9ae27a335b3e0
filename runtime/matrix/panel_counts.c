/* One pass for panels of all heights. For each column it is known which 8 rows had it last. Where the bits of
 * their number differ from those of the row at hand, the column is new to the panels that the differing bits
 * tell apart:
 *
 *   rows       1   7 | 9  13 | 17      groups of 8: 0, 1, 2
 *   nonzero at 13, after one at 9      differs in no bit: it is new to no panel
 *              at 9, after one at 7    in bit 0: new to the panel of 8 rows
 *              at 17, after one at 13  in bits 0 and 1: to those of 8 and of 16 rows */
#include "matrix/panel_counts.h"
#include <stdlib.h>

enum {
    GROUP = 8,                             /* rows of the lowest panel */
    TALLEST = 1 << (MC_PANEL_HEIGHTS - 1), /* groups of the highest one */
    STRIDE = 32,                           /* active columns */
    SPAN_ROWS = 32                         /* whose span is counted together */
};

typedef struct counting {
    const mc_vsparse *a;
    uint32_t *last; /* of each column: 1 + the group that had it last; 0: none had */
    mc_row_panels *counts;
    int64_t nonzeros; /* that were looked at */
} counting;

/* For how many heights a column is new to the panel of GROUP, of which LAST is known: bits of the difference,
   but no more than there are heights. Where no group had the column, all bits of LAST - 1 are set. */
static int heights_new(uint32_t last, uint32_t group) {
    const uint32_t most = (1u << MC_PANEL_HEIGHTS) - 1, differs = (last - 1) ^ group;
    const uint32_t bits = differs > most ? most : differs;
    return bits == 0 ? 0 : 32 - __builtin_clz(bits);
}

static int64_t smaller(int64_t x, int64_t y) { return x < y ? x : y; }

/* FRESH [heights]: active columns that a group adds to the panel of each height. */
static void look_at(counting *c, uint32_t group, int64_t fresh[MC_PANEL_HEIGHTS]) {
    const mc_vsparse *a = c->a;
    const int64_t row = (int64_t)group * GROUP, end = a->row_ptr[smaller(row + GROUP, a->rows)];
    int64_t by_heights[MC_PANEL_HEIGHTS + 1] = {0}, sum = 0;
    for (int64_t i = a->row_ptr[row]; i < end; i++) {
        uint32_t *last = &c->last[a->col_idx[i]];
        by_heights[heights_new(*last, group)]++;
        *last = group + 1;
    }
    for (int h = MC_PANEL_HEIGHTS; h > 0; h--) fresh[h - 1] = sum += by_heights[h];
    c->nonzeros += end - a->row_ptr[row];
}

static void add_panel(mc_panel_strides *of, int64_t columns) {
    const int64_t strides = (columns + STRIDE - 1) / STRIDE;
    int class = 0;
    while (class < MC_PANEL_CLASSES - 1 && strides > (int64_t)1 << class) class ++;
    of->panels[class]++;
    of->strides += strides;
    if (strides > of->longest) of->longest = strides;
}

static int64_t groups_of(const mc_vsparse *a) { return (a->rows + GROUP - 1) / GROUP; }

/* The panels of TALLEST groups from FIRST on. */
static void look_at_panels(counting *c, int64_t first) {
    const int64_t end = smaller(first + TALLEST, groups_of(c->a));
    int64_t pending = 0; /* columns of a panel of 16 rows, half of which has been looked at */
    for (int64_t group = first; group < end; group++) {
        int64_t fresh[MC_PANEL_HEIGHTS];
        look_at(c, (uint32_t)group, fresh);
        for (int h = 0; h < MC_PANEL_HEIGHTS; h++) c->counts->columns[h] += fresh[h];
        add_panel(&c->counts->of[0], fresh[0]);
        pending += fresh[1];
        if (group % 2 == 0 && group + 1 < end) continue;
        add_panel(&c->counts->of[1], pending);
        pending = 0;
    }
}

/* -- A part of the rows ------------------------------------------------------------------------------- */

/* Columns of a panel of ROWS rows from FIRST on, SHARE for each nonzero: no less than its longest row has. */
static int64_t columns_guessed(const mc_vsparse *a, int64_t first, int rows, double share) {
    const int64_t end = smaller(first + rows, a->rows);
    int64_t longest = 0;
    for (int64_t row = first; row < end; row++) {
        const int64_t length = a->row_ptr[row + 1] - a->row_ptr[row];
        if (length > longest) longest = length;
    }
    const int64_t columns = (int64_t)((double)(a->row_ptr[end] - a->row_ptr[first]) * share + 0.5);
    return columns > longest ? columns : longest;
}

static void guess_panels(const mc_vsparse *a, int64_t first, const double share[MC_PANEL_FORMS],
                         mc_row_panels *counts) {
    const int64_t end = smaller(first + TALLEST, groups_of(a)) * GROUP;
    for (int form = 0; form < MC_PANEL_FORMS; form++)
        for (int64_t row = first * GROUP; row < end && row < a->rows; row += GROUP << form)
            add_panel(&counts->of[form], columns_guessed(a, row, GROUP << form, share[form]));
}

/* Of every EVERYth of the tallest panels everything is known, and of the others their rows' lengths. */
static void guess_others(counting *c, int64_t every) {
    mc_row_panels *counts = c->counts;
    double share[MC_PANEL_HEIGHTS];
    for (int h = 0; h < MC_PANEL_HEIGHTS; h++) {
        share[h] = c->nonzeros > 0 ? (double)counts->columns[h] / (double)c->nonzeros : 1;
        counts->columns[h] = (int64_t)(share[h] * (double)c->a->vectors + 0.5);
    }
    for (int64_t i = 0; i * TALLEST < groups_of(c->a); i++)
        if (i % every != 0) guess_panels(c->a, i * TALLEST, share, counts);
}

void panel_counts_of(const mc_vsparse *a, mc_row_panels *counts) {
    *counts = (mc_row_panels){0};
    if (a->vec != 1 || a->vectors == 0 || a->col_idx == NULL) return;
    counting c = {.a = a, .counts = counts, .last = calloc((size_t)a->cols, sizeof *c.last)};
    if (c.last == NULL) return;
    const int64_t every = (a->vectors + PANEL_COUNTS_MOST - 1) / PANEL_COUNTS_MOST;
    for (int64_t first = 0; first < groups_of(a); first += every * TALLEST) look_at_panels(&c, first);
    if (every > 1) guess_others(&c, every);
    free(c.last);
}

/* -- Spans -------------------------------------------------------------------------------------------- */

typedef struct column_span {
    int64_t first, end; /* end: behind the last one; as `first` where there is none */
} column_span;

static column_span joined(column_span a, column_span b) {
    if (a.first == a.end) return b;
    if (b.first == b.end) return a;
    return (column_span){smaller(a.first, b.first), a.end > b.end ? a.end : b.end};
}

/* Of SPAN_ROWS rows from FIRST on. */
static column_span rows_span(const mc_vsparse *a, int64_t first) {
    column_span span = {0, 0};
    for (int64_t row = first; row < first + SPAN_ROWS && row < a->rows; row++) {
        const int64_t begin = a->row_ptr[row], end = a->row_ptr[row + 1];
        if (begin < end)
            span = joined(span, (column_span){a->col_idx[begin], (int64_t)a->col_idx[end - 1] + 1});
    }
    return span;
}

int64_t column_span_of(const mc_vsparse *a) {
    int64_t widest = 0;
    if (a->vec != 1 || a->vectors == 0 || a->col_idx == NULL) return 0;
    column_span before = {0, 0};
    for (int64_t row = 0; row < a->rows; row += SPAN_ROWS) {
        const column_span here = rows_span(a, row), both = joined(before, here);
        if (both.end - both.first > widest) widest = both.end - both.first;
        before = here;
    }
    return widest;
}
