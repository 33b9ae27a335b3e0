/* transposed-steps: what the kernel of A^T B reads of the pattern of A. */
#include <inttypes.h>
#include <stdlib.h>
#include "formats/sampled.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/stride.h"
#include "matrix/vsparse.h"
#include "parts/transposed.h"

extern const packed_format format_transposed;

enum { NO_SLOT = TRANSPOSED_NONE };

/* Which vectors each row block has in the part at hand: those from `from` to `to`. */
typedef struct walk {
    const mc_vsparse *a;
    const mc_transposed *form;
    int64_t parts, steps; /* steps: so far */
    int64_t *from, *to;
    int32_t *part_ptr, *step;
    uint16_t *half; /* NULL: steps are counted alone */
} walk;

static int64_t ceil_of(int64_t count, int64_t each) { return count / each + (count % each != 0); }
static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static mc_status check_form(const mc_vsparse *a, const mc_transposed *f, mc_diag *diag) {
    bool whole = f->warp_k > 0 && f->tile_k % f->warp_k == 0 && f->warp_k <= TRANSPOSED_MAX_PART &&
                 (f->slots == TRANSPOSED_MMA_SLOTS || f->slots == TRANSPOSED_MAX_SLOTS) && f->turn > 0 &&
                 f->stage_rows % a->vec == 0 && f->stage_rows / a->vec >= f->turn;
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

static void put_slots(walk *w, int64_t first, int count, int64_t column) {
    const mc_transposed *f = w->form;
    int mmas = f->slots / TRANSPOSED_MMA_SLOTS;
    uint16_t *half = w->half + w->steps * f->slots;
    int32_t places[TRANSPOSED_MAX_SLOTS];
    dealing d;
    for (int i = 0; i < f->slots; i++) half[i] = NO_SLOT;
    for (int i = 0; i < count; i++) places[i] = (int32_t)(w->a->col_idx[first + i] - column);
    deal(places, count, f->slots, &d);
    for (int i = 0; i < count; i++)
        half[transposed_half_place(d.slot[i], mmas)] = (uint16_t)(places[i] * TRANSPOSED_ROW_BYTES + i);
}

/* Adds a step of COUNT vectors from FIRST on, of row block BLOCK, in the part that begins at COLUMN. */
static void put_step(walk *w, int64_t block, int64_t first, int count, int64_t column) {
    const mc_transposed *f = w->form;
    if (w->half != NULL) {
        int64_t blocks = f->stage_rows / w->a->vec * TRANSPOSED_STAGES;
        w->step[TRANSPOSED_STEP_WORDS * w->steps] = (int32_t)first;
        w->step[TRANSPOSED_STEP_WORDS * w->steps + 1] = (int32_t)(block % blocks * w->a->vec);
        put_slots(w, first, count, column);
    }
    w->steps++;
}

/* -- A part ------------------------------------------------------------------------------------------- */

static void put_block(walk *w, int64_t block, int64_t column) {
    int64_t count = w->to[block] - w->from[block], steps = ceil_of(count, w->form->slots);
    if (steps == 0) steps = 1;
    int64_t each = ceil_of(count, steps);
    for (int64_t i = 0; i < steps; i++) {
        int64_t first = least(i * each, count);
        put_step(w, block, w->from[block] + first, (int)least(each, count - first), column);
    }
}

/* The stage of step STEP is the next one: a turn reads rows of B of as many steps, from its third one on.
   Stage 0 comes before all. */
static void put_stage(walk *w, int64_t part_first, int64_t step) {
    int64_t before = step - TRANSPOSED_LEAD - part_first, turn = part_first + before - before % w->form->turn;
    if (w->half == NULL || before < 0) return;
    int32_t *row = &w->step[TRANSPOSED_STEP_WORDS * turn + 1];
    *row = (int32_t)((uint32_t)*row | TRANSPOSED_NEXT_STAGE);
}

static void find_vectors(walk *w, int64_t end_column) {
    for (int64_t b = 0; b < w->a->row_blocks; b++) {
        w->from[b] = w->to[b];
        while (w->to[b] < w->a->row_ptr[b + 1] && w->a->col_idx[w->to[b]] < end_column) w->to[b]++;
    }
}

static void put_part(walk *w, int64_t part) {
    int64_t blocks = w->a->row_blocks, first = w->steps, column = part * w->form->warp_k,
            stage_blocks = w->form->stage_rows / w->a->vec;
    find_vectors(w, column + w->form->warp_k);
    for (int64_t b = 0; b < blocks; b++) {
        int64_t step = w->steps;
        put_block(w, b, column);
        if (b % stage_blocks == 0) put_stage(w, first, step);
    }
    int64_t last = blocks > 0 ? blocks - 1 : 0;
    while ((w->steps - first) % w->form->turn != 0) put_step(w, last, 0, 0, column);
    for (int i = 0; i < TRANSPOSED_LEAD; i++) put_step(w, last, 0, 0, column);
}

static void put_parts(walk *w) {
    w->steps = 0;
    for (int64_t b = 0; b < w->a->row_blocks; b++) w->to[b] = w->a->row_ptr[b];
    for (int64_t part = 0; part < w->parts; part++) {
        if (w->half != NULL) w->part_ptr[part] = (int32_t)w->steps;
        put_part(w, part);
    }
    if (w->half == NULL) return;
    w->part_ptr[w->parts] = (int32_t)w->steps;
    for (int i = 0; i < w->form->turn; i++) put_step(w, 0, 0, 0, 0);
}

/* -- The whole ---------------------------------------------------------------------------------------- */

static mc_status add_arrays(walk *w, mc_packed *packed, mc_diag *diag) {
    int64_t steps = w->steps + w->form->turn;
    if (steps > INT32_MAX / TRANSPOSED_STEP_WORDS)
        return mc_fail(diag, MC_CANNOT, "%" PRId64 " steps, the kernel counts them in s32", steps);
    mc_status status = packed_add(packed, "part_ptr", MC_S32, w->parts + 1, diag);
    if (status == MC_OK) status = packed_add(packed, "steps", MC_S32, TRANSPOSED_STEP_WORDS * steps, diag);
    if (status == MC_OK)
        status = packed_add(packed, "step_slots", MC_S32, mcrt_product(steps, w->form->slots / 2), diag);
    if (status != MC_OK) return status;
    w->part_ptr = packed->arrays[0].data;
    w->step = packed->arrays[1].data;
    w->half = packed->arrays[2].data;
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
                                         .form = "vec tile_k warp_k slots ahead stage_rows",
                                         .pack = pack,
                                         .pack_values = pack_values};
