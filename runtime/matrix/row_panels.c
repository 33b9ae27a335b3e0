#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "matrix/row_panels.h"

/* -- Walking */

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Nonzeros of the fullest panel. */
static int64_t most_nonzeros(const mc_csr *csr, int rows) {
    int64_t most = 0;
    for (int64_t row = 0; row < csr->rows; row += rows) {
        int64_t count = csr->row_ptr[smaller(row + rows, csr->rows)] - csr->row_ptr[row];
        if (count > most) most = count;
    }
    return most;
}

mc_status row_panels_open(const mc_csr *csr, int rows, row_panel_walk *walk, mc_diag *diag) {
    *walk = (row_panel_walk){.csr = csr, .rows = rows};
    if (rows < 1 || rows > ROW_PANEL_MOST_ROWS)
        return mc_fail(diag, MC_USAGE, "panels of %d rows: must be 1 to %d", rows, ROW_PANEL_MOST_ROWS);
    int64_t most = most_nonzeros(csr, rows);
    for (int i = 0; i < 2; i++) {
        walk->side[i].column = mcrt_array(most, sizeof *walk->side[i].column);
        walk->side[i].row_mask = mcrt_array(most, sizeof *walk->side[i].row_mask);
        if (walk->side[i].column == NULL || walk->side[i].row_mask == NULL)
            return mcrt_no_memory(diag, most, "nonzeros of a panel");
    }
    return MC_OK;
}

void row_panels_close(row_panel_walk *walk) {
    for (int i = 0; i < 2; i++) {
        free(walk->side[i].column);
        free(walk->side[i].row_mask);
    }
    *walk = (row_panel_walk){0};
}

/* Puts each row of PANEL into side 0, a list that ascends. */
static void take_rows(row_panel_walk *walk, const row_panel *panel) {
    const mc_csr *csr = walk->csr;
    const int64_t first = csr->row_ptr[panel->first_row];
    if (panel->nonzeros > 0)
        memcpy(walk->side[0].column, csr->col_idx + first, (size_t)panel->nonzeros * sizeof *csr->col_idx);
    for (int r = 0; r < panel->rows; r++) {
        const int64_t begin = csr->row_ptr[panel->first_row + r] - first;
        walk->end[r] = csr->row_ptr[panel->first_row + r + 1] - first;
        for (int64_t i = begin; i < walk->end[r]; i++) walk->side[0].row_mask[i] = (uint64_t)1 << r;
    }
}

/* Appends to side TO, from AT on, what the other side has from LEFT to MIDDLE and from there to END, both
   ascending; a column of both becomes one. Returns the end of what was appended. */
static int64_t merge(row_panel_walk *walk, int to, int64_t at, int64_t left, int64_t middle, int64_t end) {
    const int32_t *column = walk->side[!to].column;
    const uint64_t *row_mask = walk->side[!to].row_mask;
    for (int64_t right = middle; left < middle || right < end; at++) {
        const bool from_right = left == middle || (right < end && column[right] <= column[left]);
        const bool from_left = right == end || (left < middle && column[left] <= column[right]);
        walk->side[to].column[at] = column[from_left ? left : right];
        walk->side[to].row_mask[at] = (from_left ? row_mask[left] : 0) | (from_right ? row_mask[right] : 0);
        left += from_left;
        right += from_right;
    }
    return at;
}

/* Merges the COUNT lists of the other side in pairs into side TO; returns how many are left. */
static int merge_pairs(row_panel_walk *walk, int to, int count) {
    int64_t at = 0, begin = 0;
    int left = 0;
    for (int i = 0; i < count; i += 2) {
        const int64_t middle = walk->end[i], end = i + 1 < count ? walk->end[i + 1] : middle;
        at = merge(walk, to, at, begin, middle, end);
        begin = end;
        walk->end[left++] = at;
    }
    return left;
}

bool row_panels_next(row_panel_walk *walk, row_panel *panel) {
    const mc_csr *csr = walk->csr;
    const int64_t row = walk->next_row, end = smaller(row + walk->rows, csr->rows);
    if (row >= csr->rows) return false;
    walk->next_row = end;
    *panel = (row_panel){
        .first_row = row, .rows = (int)(end - row), .nonzeros = csr->row_ptr[end] - csr->row_ptr[row]};
    take_rows(walk, panel);
    int side = 0;
    for (int lists = panel->rows; lists > 1; side = !side) lists = merge_pairs(walk, !side, lists);
    panel->columns = walk->end[0];
    panel->column = walk->side[side].column;
    panel->row_mask = walk->side[side].row_mask;
    return true;
}

/* -- Facts */

mc_status row_panel_facts_of(const mc_csr *csr, int rows, row_panel_facts *facts, mc_diag *diag) {
    row_panel_walk walk;
    row_panel panel;
    *facts = (row_panel_facts){0};
    mc_status status = row_panels_open(csr, rows, &walk, diag);
    while (status == MC_OK && row_panels_next(&walk, &panel)) {
        facts->panels++;
        facts->columns += panel.columns;
        if (panel.columns > facts->most_columns) facts->most_columns = panel.columns;
    }
    if (facts->columns > 0) facts->reuse = (double)csr->nnz / (double)facts->columns;
    row_panels_close(&walk);
    return status;
}

/* The bricks of HRPB_BRICK_COLS active columns from FIRST on that have a nonzero. */
static int64_t count_bricks(const row_panel *panel, int64_t first) {
    const uint64_t brick = ((uint64_t)1 << HRPB_BRICK_ROWS) - 1;
    const int64_t end = smaller(first + HRPB_BRICK_COLS, panel->columns);
    uint64_t rows = 0;
    int64_t count = 0;
    for (int64_t i = first; i < end; i++) rows |= panel->row_mask[i];
    for (; rows != 0; rows >>= HRPB_BRICK_ROWS) count += (rows & brick) != 0;
    return count;
}

static void add_panel(hrpb_facts *facts, const row_panel *panel) {
    const int64_t blocks = (panel->columns + HRPB_BLOCK_COLS - 1) / HRPB_BLOCK_COLS;
    facts->panels++;
    facts->blocks += blocks;
    if (blocks > facts->most_blocks) facts->most_blocks = blocks;
    for (int64_t i = 0; i < panel->columns; i += HRPB_BRICK_COLS) {
        facts->brick_columns++;
        facts->bricks += count_bricks(panel, i);
    }
}

static hrpb_synergy synergy_of(double alpha) {
    if (alpha < 0.125) return HRPB_LOW;
    return alpha < 0.25 ? HRPB_MEDIUM : HRPB_HIGH;
}

mc_status hrpb_facts_of(const mc_csr *csr, int tile_rows, hrpb_facts *facts, mc_diag *diag) {
    row_panel_walk walk;
    row_panel panel;
    *facts = (hrpb_facts){0};
    if (tile_rows % HRPB_BRICK_ROWS != 0)
        return mc_fail(diag, MC_USAGE, "panels of %d rows: must be a multiple of %d", tile_rows,
                       HRPB_BRICK_ROWS);
    mc_status status = row_panels_open(csr, tile_rows, &walk, diag);
    while (status == MC_OK && row_panels_next(&walk, &panel)) add_panel(facts, &panel);
    row_panels_close(&walk);
    if (facts->bricks > 0) {
        facts->alpha = (double)csr->nnz / ((double)facts->bricks * HRPB_BRICK_ROWS * HRPB_BRICK_COLS);
        facts->beta = (double)facts->bricks / (double)facts->brick_columns;
    }
    facts->intensity = hrpb_intensity(facts->alpha, facts->beta);
    facts->synergy = synergy_of(facts->alpha);
    return status;
}

/* A's transactions are N nnz / (512 alpha), B's the same over beta. */
double hrpb_intensity(double alpha, double beta) { return beta > 0 ? 2 * 512 * alpha / (1 + 1 / beta) : 0; }

int64_t hrpb_parts(int64_t blocks, double mean_blocks, double waves) {
    const double parts = ceil((double)blocks / mean_blocks / waves);
    if (!(parts > 1)) return 1;
    return parts < (double)blocks ? (int64_t)parts : blocks;
}
