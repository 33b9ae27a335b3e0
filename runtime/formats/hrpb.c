/* HRPB as published: Xiang, Asudeh, Sabin, Sukumaran-Rajam, Sadayappan, "cuTeSpMM: Accelerating Sparse-Dense
   Matrix Multiplication using GPU Tensor Cores" (2025), section 3.2 and figures 3 to 5. */
#include "formats/hrpb.h"
#include <inttypes.h>
#include <stdlib.h>
#include "base/element.h"
#include "base/memory.h"
#include "base/real.h"
#include "matrix/row_panels.h"

_Static_assert((int)HRPB_TILE_ROWS == (int)HRPB_BRICK_ROWS && (int)HRPB_TILE_COLS == (int)HRPB_BRICK_COLS,
               "bricks are alike in statistics and in the format");

mc_status hrpb_check_form(const mc_hrpb *form, mc_type type, mc_diag *diag) {
    if (form->tile_rows != HRPB_TILE_ROWS && form->tile_rows != HRPB_MOST_TM)
        return mc_fail(diag, MC_USAGE, "HRPB with panels of %d rows: must be %d or %d", form->tile_rows,
                       HRPB_TILE_ROWS, HRPB_MOST_TM);
    if (form->tile_cols < HRPB_TILE_COLS || form->tile_cols > HRPB_MOST_TK ||
        form->tile_cols % HRPB_TILE_COLS != 0)
        return mc_fail(diag, MC_USAGE, "HRPB with blocks of %d columns: must be a multiple of %d, at most %d",
                       form->tile_cols, HRPB_TILE_COLS, HRPB_MOST_TK);
    if (mc_type_bytes(type) > 0) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "HRPB holds values of whole bytes, the matrix %s", mc_type_text(type));
}

static mc_status check_matrix(const mc_vsparse *a, mc_diag *diag) {
    if (a->vec == 1) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "HRPB is of single nonzeros, the matrix has vectors of %d", a->vec);
}

/* -- Panel by panel ----------------------------------------------------------------------------------- */

typedef struct packing {
    const mc_vsparse *a;
    mc_hrpb form;
    hrpb_block layout;
    int64_t panels, blocks, bytes; /* so far */
    int64_t next[HRPB_MOST_TM];    /* of each row of the panel the first nonzero that is in no brick yet */
    int32_t *blocked_row_ptr, *size_ptr, *active_cols;
    uint8_t *packed;
} packing;

typedef void take_panel(packing *p, const row_panel *panel);

static mc_status walk(packing *p, take_panel *take, mc_diag *diag) {
    const mc_vsparse *a = p->a;
    const mc_csr pattern = {
        .rows = a->rows, .cols = a->cols, .nnz = a->vectors, .row_ptr = a->row_ptr, .col_idx = a->col_idx};
    row_panel_walk panels;
    row_panel panel;
    p->panels = p->blocks = p->bytes = 0;
    mc_status status = row_panels_open(&pattern, p->form.tile_rows, &panels, diag);
    while (status == MC_OK && row_panels_next(&panels, &panel)) {
        take(p, &panel);
        p->panels++;
    }
    row_panels_close(&panels);
    return status;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static void count_panel(packing *p, const row_panel *panel) {
    for (int64_t first = 0; first < panel->columns; first += p->form.tile_cols) {
        const int64_t end = smaller(first + p->form.tile_cols, panel->columns);
        int64_t nonzeros = 0;
        for (int64_t i = first; i < end; i++) nonzeros += hrpb_bits(panel->row_mask[i]);
        p->bytes += hrpb_block_bytes(&p->layout, nonzeros, (int)mc_type_bytes(p->a->type));
        p->blocks++;
    }
}

/* -- Block by block ----------------------------------------------------------------------------------- */

/* A block that is being filled. */
typedef struct filling {
    uint8_t *at;
    uint32_t bricks;
    int64_t values;
} filling;

/* As packed arrays hold it: of tf32 it is rounded. */
static int64_t packed_value(const mc_vsparse *a, int64_t nonzero) {
    const int64_t value = mc_vsparse_value(a, nonzero, 0);
    return mc_type_is_real(a->type) ? real_packed(a->type, (uint32_t)value) : value;
}

/* The values in row ROW of the panel's active columns FIRST to END - 1. Returns 4 bits of the pattern. */
static uint64_t take_row(packing *p, const row_panel *panel, int row, int64_t first, int64_t end,
                         filling *f) {
    const mc_vsparse *a = p->a;
    uint64_t pattern = 0;
    for (int64_t i = first; i < end; i++) {
        if ((panel->row_mask[i] >> row & 1) == 0) continue;
        const int64_t value = a->values != NULL ? packed_value(a, p->next[row]) : 0;
        element_set(a->type, f->at + p->layout.values, f->values++, value);
        pattern |= (uint64_t)1 << (i - first);
        p->next[row]++;
    }
    return pattern;
}

static void take_brick(packing *p, const row_panel *panel, int brick_row, int64_t first, int64_t end,
                       filling *f) {
    uint64_t pattern = 0;
    for (int r = 0; r < HRPB_TILE_ROWS && brick_row * HRPB_TILE_ROWS + r < panel->rows; r++)
        pattern |= take_row(p, panel, brick_row * HRPB_TILE_ROWS + r, first, end, f) << r * HRPB_TILE_COLS;
    if (pattern == 0) return;
    memcpy(f->at + f->bricks * sizeof pattern, &pattern, sizeof pattern);
    hrpb_set(f->at + p->layout.rows, f->bricks, (uint32_t)brick_row);
    f->bricks++;
}

/* The block that begins with the panel's active column FIRST. */
static void fill_block(packing *p, const row_panel *panel, int64_t first) {
    filling f = {.at = p->packed + p->bytes};
    for (int i = 0; i < p->form.tile_cols; i++)
        p->active_cols[p->blocks * p->form.tile_cols + i] =
            first + i < panel->columns ? panel->column[first + i] : -1;
    for (int c = 0; c < p->layout.brick_cols; c++) {
        const int64_t begin = first + (int64_t)c * HRPB_TILE_COLS,
                      end = smaller(begin + HRPB_TILE_COLS, panel->columns);
        for (int r = 0; r < p->layout.brick_rows && begin < end; r++) take_brick(p, panel, r, begin, end, &f);
        hrpb_set(f.at + p->layout.col_ptr, c + 1, f.bricks);
    }
    p->bytes += hrpb_block_bytes(&p->layout, f.values, (int)mc_type_bytes(p->a->type));
    p->size_ptr[++p->blocks] = (int32_t)p->bytes;
}

static void fill_panel(packing *p, const row_panel *panel) {
    for (int r = 0; r < panel->rows; r++) p->next[r] = p->a->row_ptr[panel->first_row + r];
    for (int64_t first = 0; first < panel->columns; first += p->form.tile_cols) fill_block(p, panel, first);
    p->blocked_row_ptr[p->panels + 1] = (int32_t)p->blocks;
}

static mc_status check_room(const packing *p, mc_diag *diag) {
    if (p->bytes <= INT32_MAX && p->blocks <= INT32_MAX / p->form.tile_cols && p->panels < INT32_MAX)
        return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " blocks of HRPB with %" PRId64 " bytes leave s32", p->blocks,
                   p->bytes);
}

static mc_status add_arrays(packing *p, mc_packed *packed, mc_diag *diag) {
    mc_status status = packed_add(packed, "blocked_row_ptr", MC_S32, p->panels + 1, diag);
    if (status == MC_OK) status = packed_add(packed, "size_ptr", MC_S32, p->blocks + 1, diag);
    if (status == MC_OK)
        status = packed_add(packed, "active_cols", MC_S32, p->blocks * p->form.tile_cols, diag);
    if (status == MC_OK) status = packed_add(packed, "packed_blocks", MC_S8, p->bytes, diag);
    if (status != MC_OK) return status;
    p->blocked_row_ptr = packed->arrays[0].data;
    p->size_ptr = packed->arrays[1].data;
    p->active_cols = packed->arrays[2].data;
    p->packed = packed->arrays[3].data;
    return MC_OK;
}

mc_status mc_hrpb_export(const mc_vsparse *a, const mc_hrpb *form, mc_packed *packed, mc_diag *diag) {
    packing p = {.a = a, .form = *form};
    *packed = (mc_packed){0};
    mc_status status = hrpb_check_form(form, a->type, diag);
    if (status == MC_OK) status = check_matrix(a, diag);
    if (status != MC_OK) return status;
    p.layout = hrpb_block_of(form->tile_rows, form->tile_cols);
    status = walk(&p, count_panel, diag);
    if (status == MC_OK) status = check_room(&p, diag);
    if (status == MC_OK) status = add_arrays(&p, packed, diag);
    if (status == MC_OK) status = walk(&p, fill_panel, diag);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

/* -- New values --------------------------------------------------------------------------------------- */

/* What lies in front of a block's values is alike. */
static mc_status check_metadata(const hrpb_block *layout, const mc_packed *packed, const mc_packed *made,
                                mc_diag *diag) {
    const mc_packed_array *sizes = mc_packed_find(made, "size_ptr");
    const uint8_t *is = mc_packed_find(packed, "packed_blocks")->data,
                  *must_be = mc_packed_find(made, "packed_blocks")->data;
    for (int64_t i = 0; i + 1 < sizes->count; i++) {
        const int32_t at = ((const int32_t *)sizes->data)[i];
        if (memcmp(is + at, must_be + at, (size_t)layout->values) != 0)
            return mc_fail(diag, MC_FORMAT, "packed for another pattern: block %" PRId64 " has other bricks",
                           i);
    }
    return MC_OK;
}

mc_status hrpb_replace_values(const mc_hrpb *form, const mc_packed *made, mc_packed *packed, mc_diag *diag) {
    const hrpb_block layout = hrpb_block_of(form->tile_rows, form->tile_cols);
    const mc_packed_array *from = mc_packed_find(made, "packed_blocks"), *blocks = NULL;
    mc_packed indices = *made;
    indices.array_count--; /* it is the last one */
    mc_status status = packed_check_same(packed, &indices, "this matrix", diag);
    if (status == MC_OK) status = packed_get(packed, from->name, from->type, from->count, &blocks, diag);
    if (status == MC_OK) status = check_metadata(&layout, packed, made, diag);
    if (status == MC_OK && from->count > 0) memcpy(blocks->data, from->data, (size_t)from->count);
    return status;
}

mc_status mc_hrpb_export_values(const mc_vsparse *a, const mc_hrpb *form, mc_packed *packed, mc_diag *diag) {
    mc_packed made;
    mc_status status = mc_hrpb_export(a, form, &made, diag);
    if (status == MC_OK) status = hrpb_replace_values(form, &made, packed, diag);
    mc_packed_free(&made);
    return status;
}

/* -- Virtual panels ----------------------------------------------------------------------------------- */

int64_t hrpb_panel_parts(const mc_packed_array *row_ptr, int64_t panel, double waves) {
    const int32_t *start = row_ptr->data;
    const int64_t panels = row_ptr->count - 1;
    const double mean = (double)start[panels] / (double)panels;
    const int64_t parts = waves > 0 ? hrpb_parts(start[panel + 1] - start[panel], mean, waves) : 1;
    return parts < HRPB_MOST_PARTS ? parts : HRPB_MOST_PARTS;
}

/* Puts them into LIST, unless that is NULL; returns how many there are. */
static int64_t list_parts(const mc_packed_array *row_ptr, double waves, int32_t *list) {
    const int32_t *start = row_ptr->data;
    int64_t count = 0;
    for (int64_t panel = 0; panel < row_ptr->count - 1; panel++) {
        const int64_t parts = hrpb_panel_parts(row_ptr, panel, waves);
        for (int64_t part = 0; part < parts; part++, count++) {
            if (list == NULL) continue;
            int32_t *to = list + count * HRPB_VIRTUAL_WORDS;
            to[0] = (int32_t)panel;
            to[1] = hrpb_cut(start[panel], start[panel + 1], part, parts);
            to[2] = hrpb_cut(start[panel], start[panel + 1], part + 1, parts);
            to[3] = (int32_t)(part | (parts - 1) << HRPB_PARTS_SHIFT);
        }
    }
    return count;
}

mc_status mc_hrpb_split(mc_packed *packed, double waves, mc_diag *diag) {
    const mc_packed_array *row_ptr = NULL;
    mc_status status = packed_get(packed, "blocked_row_ptr", MC_S32, -1, &row_ptr, diag);
    if (status != MC_OK) return status;
    const int64_t count = list_parts(row_ptr, waves, NULL);
    status = packed_add(packed, "virtual_panels", MC_S32, mcrt_product(count, HRPB_VIRTUAL_WORDS), diag);
    if (status == MC_OK) (void)list_parts(row_ptr, waves, packed->arrays[packed->array_count - 1].data);
    return status;
}
