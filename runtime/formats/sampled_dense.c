/* sampled-dense: what the SDDMM's dense tiles read of their mask. */
#include <inttypes.h>
#include <stdlib.h>
#include "formats/sampled.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/order.h"
#include "formats/stride.h"
#include "matrix/vsparse.h"

extern const packed_format format_sampled_dense;

typedef struct plan {
    const mc_vsparse *mask;
    int64_t tile_n, tiles;
    int64_t *start; /* order_starts */
} plan;

static int64_t tiles_of(int64_t cols, int64_t tile_n) { return cols / tile_n + (cols % tile_n != 0); }

static mc_status check_form(const mc_sampled_tiles *form, mc_diag *diag) {
    if (form->tile_n > 0) return MC_OK;
    return mc_fail(diag, MC_USAGE, "tiles of %" PRId64 " columns", form->tile_n);
}

/* -- Packing */

static mc_status plan_open(plan *p, const mc_vsparse *mask, const mc_sampled_tiles *form, mc_diag *diag) {
    *p = (plan){.mask = mask, .tile_n = form->tile_n};
    mc_status status = check_form(form, diag);
    if (status != MC_OK) return status;
    p->tiles = tiles_of(mask->cols, form->tile_n);
    return order_starts(mask, form->order, &p->start, diag);
}

/* PTR[w] = the first slot of BLOCK in tile w or behind it. */
static void put_tile_ptr(const plan *p, int64_t block, int32_t *ptr) {
    int64_t first = p->mask->row_ptr[block], last = p->mask->row_ptr[block + 1], vector = first;
    for (int64_t w = 0; w <= p->tiles; w++) {
        while (vector < last && p->mask->col_idx[vector] / p->tile_n < w) vector++;
        ptr[w] = (int32_t)(vector < last ? p->start[block] + vector - first : p->start[block + 1]);
    }
}

static void put_columns(const plan *p, int64_t block, int32_t *col_idx) {
    int64_t vector = p->mask->row_ptr[block];
    for (int64_t slot = p->start[block]; slot < p->start[block + 1]; slot++, vector++)
        col_idx[slot] = vector < p->mask->row_ptr[block + 1] ? p->mask->col_idx[vector] : -1;
}

static mc_status pack_all(const plan *p, mc_packed *packed, mc_diag *diag) {
    int64_t blocks = p->mask->row_blocks;
    mc_status status = packed_add(packed, "tile_ptr", MC_S32, mcrt_product(blocks, p->tiles + 1), diag);
    if (status == MC_OK) status = packed_add(packed, "col_idx", MC_S32, p->start[blocks], diag);
    if (status != MC_OK) return status;
    int32_t *tile_ptr = packed->arrays[0].data, *col_idx = packed->arrays[1].data;
    for (int64_t b = 0; b < blocks; b++) {
        put_tile_ptr(p, b, tile_ptr + b * (p->tiles + 1));
        put_columns(p, b, col_idx);
    }
    return MC_OK;
}

mc_status mc_sampled_dense_pack(const mc_vsparse *mask, const mc_sampled_tiles *form, mc_packed *packed,
                                mc_diag *diag) {
    plan p;
    *packed = (mc_packed){0};
    mc_status status = plan_open(&p, mask, form, diag);
    if (status == MC_OK) status = pack_all(&p, packed, diag);
    free(p.start);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

static mc_status check_same(const mc_vsparse *mask, const mc_sampled_tiles *form, const mc_packed *packed,
                            const char *what, mc_diag *diag) {
    mc_packed want;
    mc_status status = mc_sampled_dense_pack(mask, form, &want, diag);
    if (status == MC_OK) status = packed_check_same(packed, &want, what, diag);
    mc_packed_free(&want);
    return status;
}

mc_status mc_sampled_dense_pack_values(const mc_vsparse *mask, const mc_sampled_tiles *form,
                                       const mc_packed *packed, mc_diag *diag) {
    return check_same(mask, form, packed, "this mask", diag);
}

/* -- Unpacking */

typedef struct source {
    const int32_t *tile_ptr, *col_idx;
    int64_t row_blocks, cols, pitch, slots;
} source;

static mc_status find_arrays(const mc_packed *packed, source *s, mc_diag *diag) {
    const mc_packed_array *tile_ptr, *col_idx;
    mc_status status =
        packed_get(packed, "tile_ptr", MC_S32, mcrt_product(s->row_blocks, s->pitch), &tile_ptr, diag);
    if (status == MC_OK) status = packed_get(packed, "col_idx", MC_S32, -1, &col_idx, diag);
    if (status != MC_OK) return status;
    s->tile_ptr = tile_ptr->data;
    s->col_idx = col_idx->data;
    s->slots = col_idx->count;
    return MC_OK;
}

/* Row blocks have the slots in their order. */
static mc_status check_blocks(const source *s, mc_diag *diag) {
    int64_t slot = 0;
    for (int64_t b = 0; b < s->row_blocks; b++) {
        int32_t first = s->tile_ptr[b * s->pitch], end = s->tile_ptr[b * s->pitch + s->pitch - 1];
        if (first != slot || end < first || end > s->slots)
            return mc_fail(diag, MC_FORMAT,
                           "row block %" PRId64 " has slots %" PRId32 " to %" PRId32 " of %" PRId64
                           ", must begin with %" PRId64,
                           b, first, end, s->slots, slot);
        slot = end;
    }
    if (slot == s->slots) return MC_OK;
    return mc_fail(diag, MC_FORMAT, "col_idx has %" PRId64 " slots, the row blocks %" PRId64, s->slots, slot);
}

static int64_t count_vectors(const source *s) {
    int64_t count = 0;
    for (int64_t slot = 0; slot < s->slots; slot++) count += s->col_idx[slot] >= 0;
    return count;
}

/* MASK's row_ptr and col_idx, where MASK has room for all columns. */
static mc_status take_columns(const source *s, mc_vsparse *mask, mc_diag *diag) {
    int64_t vector = 0;
    for (int64_t b = 0; b < s->row_blocks; b++) {
        int32_t before = -1, end = s->tile_ptr[b * s->pitch + s->pitch - 1];
        for (int32_t slot = s->tile_ptr[b * s->pitch]; slot < end; slot++) {
            int32_t column = s->col_idx[slot];
            if (column < 0) continue;
            if (column <= before || column >= s->cols)
                return mc_fail(diag, MC_FORMAT,
                               "col_idx[%" PRId32 "] is %" PRId32 " after %" PRId32 " in row block %" PRId64
                               ": columns must ascend, below %" PRId64,
                               slot, column, before, b, s->cols);
            mask->col_idx[vector++] = before = column;
        }
        mask->row_ptr[b + 1] = vector;
    }
    return MC_OK;
}

/* What the columns do not say, tile_ptr and padding, is right if packing them again gives the same. */
mc_status mc_sampled_dense_unpack(const mc_packed *packed, int vec, const mc_sampled_tiles *form,
                                  int64_t rows, int64_t cols, mc_vsparse *mask, mc_diag *diag) {
    source s = {.cols = cols};
    *mask = (mc_vsparse){0};
    mc_status status = packed_check_shape(vec, rows, cols, diag);
    if (status == MC_OK) status = check_form(form, diag);
    if (status != MC_OK) return status;
    s.row_blocks = rows / vec;
    s.pitch = tiles_of(cols, form->tile_n) + 1;
    status = find_arrays(packed, &s, diag);
    if (status == MC_OK) status = check_blocks(&s, diag);
    if (status == MC_OK)
        status = mcrt_vsparse_create(MC_F32, vec, s.row_blocks, cols, count_vectors(&s), mask, diag);
    if (status == MC_OK) status = take_columns(&s, mask, diag);
    if (status == MC_OK) status = check_same(mask, form, packed, "the mask that the columns make", diag);
    if (status != MC_OK) mc_vsparse_free(mask);
    return status;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

static mc_status form_of(const mc_kernel *kernel, mc_sampled_tiles *form, mc_diag *diag) {
    *form = (mc_sampled_tiles){.tile_n = mc_kernel_field(kernel, "tile_n")};
    return mc_order_of(kernel, &form->order, diag);
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *mask, mc_packed *packed, mc_diag *diag) {
    mc_sampled_tiles form;
    mc_status status = form_of(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_dense_pack(mask->vectors, &form, packed, diag) : status;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *mask, mc_packed *packed,
                             mc_diag *diag) {
    mc_sampled_tiles form;
    mc_status status = form_of(kernel, &form, diag);
    return status == MC_OK ? mc_sampled_dense_pack_values(mask->vectors, &form, packed, diag) : status;
}

static mc_status unpack(const mc_kernel *kernel, const mc_packed *packed, mc_type type, int64_t rows,
                        int64_t cols, mc_vsparse *mask, mc_diag *diag) {
    mc_sampled_tiles form;
    (void)type; /* a mask's */
    mc_status status = form_of(kernel, &form, diag);
    if (status != MC_OK) return status;
    int vec = (int)mc_kernel_field(kernel, "vec");
    return mc_sampled_dense_unpack(packed, vec, &form, rows, cols, mask, diag);
}

const packed_format format_sampled_dense = {.name = "sampled-dense",
                                            .doc = "the slots of a mask in each tile of columns",
                                            .kind = MATRIX_VECTORS,
                                            .unit = MC_U8,
                                            .cols = "n",
                                            .form = "vec order tile_n",
                                            .pack = pack,
                                            .pack_values = pack_values,
                                            .unpack = unpack};
