/* transposed-steps: what the kernel of A^T B reads of the pattern of A. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "formats/sampled.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/stride.h"
#include "matrix/vsparse.h"
#include "parts/transposed.h"

extern const packed_format format_transposed;

/* Which vectors each row block has in the part at hand: those from `from` to `to`. `next` are the ones of the
   row blocks at hand that are in no step yet. */
typedef struct walk {
    const mc_vsparse *a;
    const mc_transposed *form;
    int64_t parts, steps; /* steps: so far */
    int64_t *from, *to;
    int64_t next[TRANSPOSED_MAX_BLOCKS];
    int32_t *part_ptr, *step;
    int32_t *slot; /* NULL: steps are counted alone */
} walk;

static int64_t ceil_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static mc_status check_form(const mc_vsparse *a, const mc_transposed *f, mc_diag *diag) {
    bool whole = f->warp_k > 0 && f->tile_k % f->warp_k == 0 && f->warp_k <= TRANSPOSED_MAX_PART &&
                 (f->slots == TRANSPOSED_MMA_SLOTS || f->slots == TRANSPOSED_MAX_SLOTS) && f->turn > 0 &&
                 f->blocks >= 1 && f->blocks <= TRANSPOSED_MAX_BLOCKS &&
                 f->stage_rows % (f->blocks * a->vec) == 0 && f->stage_rows / (f->blocks * a->vec) >= f->turn;
    if (!whole) return mc_fail(diag, MC_USAGE, "there are no transposed-steps of such a form");
    if (a->vectors <= INT32_MAX) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%" PRId64 " vectors, the kernel counts them in s32", a->vectors);
}

/* -- A step ------------------------------------------------------------------------------------------- */

/* Slots 2 i and 2 i + 1 are read at once, without waiting where one of their columns is even and one odd.
   So each pair gets one of both; those that are left get a pair for themselves, as long as there are any. */
typedef struct dealing {
    int slot[TRANSPOSED_MAX_SLOTS]; /* of each vector of the step */
    int other;                      /* pairs that have both */
} dealing;

static void deal(const int32_t *columns, int count, int slots, dealing *d) {
    int met[2] = {0, 0}, odds = 0;
    for (int i = 0; i < count; i++) odds += columns[i] & 1;
    int both = odds < count - odds ? odds : count - odds, left = 0, free_pairs = slots / 2 - both;
    for (int i = 0; i < count; i++) {
        int odd = columns[i] & 1;
        if (met[odd] < both) {
            d->slot[i] = 2 * met[odd]++ + odd;
            continue;
        }
        d->slot[i] = 2 * (both + left % free_pairs) + left / free_pairs;
        left++;
    }
    d->other = both;
}

/* A step's columns, counted from the part's first one, and the vector of each row block in each. */
typedef struct filling {
    int count;
    int32_t column[TRANSPOSED_MAX_SLOTS];
    int32_t vector[TRANSPOSED_MAX_SLOTS][TRANSPOSED_MAX_BLOCKS];
} filling;

/* The next column of the row blocks from BLOCK on, or the part's end. */
static int64_t next_column(const walk *w, int64_t block) {
    int64_t column = INT64_MAX;
    for (int i = 0; i < w->form->blocks && block + i < w->a->row_blocks; i++)
        if (w->next[i] < w->to[block + i]) column = least(column, w->a->col_idx[w->next[i]]);
    return column;
}

/* Takes up to MOST columns. */
static void fill(walk *w, int64_t block, int64_t part_column, int64_t most, filling *f) {
    f->count = 0;
    for (int64_t column = next_column(w, block); column < INT64_MAX && f->count < most;
         column = next_column(w, block)) {
        int32_t *vector = f->vector[f->count];
        for (int i = 0; i < w->form->blocks; i++) {
            bool left = block + i < w->a->row_blocks && w->next[i] < w->to[block + i];
            bool has = left && w->a->col_idx[w->next[i]] == column;
            vector[i] = has ? (int32_t)w->next[i]++ : TRANSPOSED_NO_VECTOR;
        }
        f->column[f->count++] = (int32_t)(column - part_column);
    }
}

static void put_slot(const walk *w, int32_t *words, int slot, int32_t column, const int32_t *vector) {
    int slots = w->form->slots, blocks = w->form->blocks, flags = 0;
    for (int i = 0; i < blocks; i++) {
        words[transposed_vector_place(slot, slots, blocks, i)] = vector[i];
        if (blocks > 1 && vector[i] == TRANSPOSED_NO_VECTOR) flags |= 1 << i;
    }
    words[transposed_column_place(slot, slots)] = column * TRANSPOSED_ROW_BYTES | flags;
}

static void put_slots(const walk *w, const filling *f) {
    int slots = w->form->slots, all = transposed_step_words(slots, w->form->blocks);
    int32_t *words = w->slot + w->steps * all;
    dealing d;
    for (int i = 0; i < all; i++) words[i] = i < slots ? (int32_t)TRANSPOSED_NO_SLOT : TRANSPOSED_NO_VECTOR;
    deal(f->column, f->count, slots, &d);
    for (int i = 0; i < f->count; i++) put_slot(w, words, d.slot[i], f->column[i], f->vector[i]);
}

/* Adds a step of the row blocks from BLOCK on. */
static void put_step(walk *w, int64_t block, const filling *f) {
    int64_t all = w->form->stage_rows / w->a->vec * TRANSPOSED_STAGES;
    if (w->slot != NULL) {
        w->step[w->steps] = (int32_t)(block % all * w->a->vec);
        put_slots(w, f);
    }
    w->steps++;
}

static void put_empty(walk *w, int64_t block, int count) {
    const filling none = {0};
    for (int i = 0; i < count; i++) put_step(w, block, &none);
}

/* -- A part ------------------------------------------------------------------------------------------- */

static int64_t count_columns(walk *w, int64_t block) {
    filling f;
    int64_t count = 0, before[TRANSPOSED_MAX_BLOCKS];
    memcpy(before, w->next, sizeof before);
    do {
        fill(w, block, 0, TRANSPOSED_MAX_SLOTS, &f);
        count += f.count;
    } while (f.count > 0);
    memcpy(w->next, before, sizeof before);
    return count;
}

/* The row blocks that are taken together, from BLOCK on. */
static void put_blocks(walk *w, int64_t block, int64_t part_column) {
    for (int i = 0; i < w->form->blocks && block + i < w->a->row_blocks; i++) w->next[i] = w->from[block + i];
    int64_t count = count_columns(w, block), steps = ceil_of(count, w->form->slots);
    if (steps == 0) steps = 1;
    for (int64_t i = 0; i < steps; i++) {
        filling f;
        fill(w, block, part_column, ceil_of(count, steps), &f);
        put_step(w, block, &f);
    }
}

/* The stage of step STEP is the next one: a turn reads rows of B of as many steps, from its third one on.
   Stage 0 comes before all. */
static void put_stage(walk *w, int64_t part_first, int64_t step) {
    int64_t before = step - TRANSPOSED_LEAD - part_first, turn = part_first + before - before % w->form->turn;
    if (w->slot == NULL || before < 0) return;
    int32_t *row = &w->step[turn];
    *row = (int32_t)((uint32_t)*row | TRANSPOSED_NEXT_STAGE);
}

static void find_vectors(walk *w, int64_t end_column) {
    for (int64_t b = 0; b < w->a->row_blocks; b++) {
        w->from[b] = w->to[b];
        while (w->to[b] < w->a->row_ptr[b + 1] && w->a->col_idx[w->to[b]] < end_column) w->to[b]++;
    }
}

static void put_part(walk *w, int64_t part) {
    const mc_transposed *f = w->form;
    int64_t blocks = w->a->row_blocks, first = w->steps, column = part * f->warp_k,
            stage_blocks = f->stage_rows / w->a->vec,
            last = blocks > 0 ? (blocks - 1) / f->blocks * f->blocks : 0;
    find_vectors(w, column + f->warp_k);
    for (int64_t b = 0; b < blocks; b += f->blocks) {
        int64_t step = w->steps;
        put_blocks(w, b, column);
        if (b % stage_blocks == 0) put_stage(w, first, step);
    }
    int over = (int)((w->steps - first) % f->turn);
    put_empty(w, last, (over > 0 ? f->turn - over : 0) + TRANSPOSED_LEAD);
}

static void put_parts(walk *w) {
    w->steps = 0;
    for (int64_t b = 0; b < w->a->row_blocks; b++) w->to[b] = w->a->row_ptr[b];
    for (int64_t part = 0; part < w->parts; part++) {
        if (w->slot != NULL) w->part_ptr[part] = (int32_t)w->steps;
        put_part(w, part);
    }
    if (w->slot != NULL) w->part_ptr[w->parts] = (int32_t)w->steps;
    if (w->slot != NULL) put_empty(w, 0, 2 * w->form->turn);
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status add_arrays(walk *w, mc_packed *packed, mc_diag *diag) {
    int64_t steps = w->steps + 2 * w->form->turn;
    int words = transposed_step_words(w->form->slots, w->form->blocks);
    if (steps > INT32_MAX)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " steps, the kernel counts them in s32", steps);
    mc_status status = packed_add(packed, "part_ptr", MC_S32, w->parts + 1, diag);
    if (status == MC_OK) status = packed_add(packed, "steps", MC_S32, steps, diag);
    if (status == MC_OK) status = packed_add(packed, "step_slots", MC_S32, mcrt_product(steps, words), diag);
    if (status != MC_OK) return status;
    w->part_ptr = packed->arrays[0].data;
    w->step = packed->arrays[1].data;
    w->slot = packed->arrays[2].data;
    return MC_OK;
}

static mc_status pack_all(walk *w, mc_packed *packed, mc_diag *diag) {
    int64_t blocks = w->a->row_blocks;
    w->from = mcrt_array(blocks, sizeof *w->from);
    w->to = mcrt_array(blocks, sizeof *w->to);
    if (!w->from || !w->to) return mcrt_no_memory(diag, blocks, "row blocks");
    put_parts(w);
    mc_status status = add_arrays(w, packed, diag);
    if (status == MC_OK) put_parts(w);
    return status;
}

mc_status mc_transposed_pack(const mc_vsparse *a, const mc_transposed *form, mc_packed *packed,
                             mc_diag *diag) {
    walk w = {.a = a, .form = form};
    *packed = (mc_packed){0};
    mc_status status = check_form(a, form, diag);
    if (status != MC_OK) return status;
    w.parts = ceil_of(a->cols, form->tile_k) * (form->tile_k / form->warp_k);
    status = pack_all(&w, packed, diag);
    free(w.from);
    free(w.to);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

mc_status mc_transposed_pack_values(const mc_vsparse *a, const mc_transposed *form, const mc_packed *packed,
                                    mc_diag *diag) {
    mc_packed want;
    mc_status status = mc_transposed_pack(a, form, &want, diag);
    if (status == MC_OK) status = packed_check_same(packed, &want, "this matrix", diag);
    mc_packed_free(&want);
    return status;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

static mc_transposed form_of(const mc_kernel *kernel) {
    return (mc_transposed){.tile_k = (int)mc_kernel_field(kernel, "tile_k"),
                           .warp_k = (int)mc_kernel_field(kernel, "warp_k"),
                           .slots = (int)mc_kernel_field(kernel, "slots"),
                           .blocks = (int)mc_kernel_field(kernel, "blocks"),
                           .turn = 2 * (int)mc_kernel_field(kernel, "ahead"),
                           .stage_rows = (int)mc_kernel_field(kernel, "stage_rows")};
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    const mc_transposed form = form_of(kernel);
    return mc_transposed_pack(a->vectors, &form, packed, diag);
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    const mc_transposed form = form_of(kernel);
    return mc_transposed_pack_values(a->vectors, &form, packed, diag);
}

const packed_format format_transposed = {.name = "transposed-steps",
                                         .doc =
                                             "the vectors of a pattern's row blocks, by parts of its columns",
                                         .kind = MATRIX_VECTORS,
                                         .unit = MC_U8,
                                         .cols = "k",
                                         .form = "vec tile_k warp_k slots blocks ahead stage_rows",
                                         .pack = pack,
                                         .pack_values = pack_values};
