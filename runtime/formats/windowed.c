/* windowed-bcrs: what the ring SpMM reads. gen/windowed.h says what it means,
   and what the kernel relies on. */
#include <stdlib.h>
#include <string.h>
#include "base/element.h"
#include "base/memory.h"
#include "formats/format.h"
#include "formats/order.h"
#include "formats/stride.h"
#include "formats/windowed.h"
#include "formats/windowed_choose.h"

extern const packed_format format_windowed;

enum { MAX_SPLIT = 8 };

/* -- Strides as they are made ------------------------------------------------------------------------- */

typedef struct stride_record {
    int32_t control, places[WINDOWED_STRIDE_WORDS];
    int32_t vectors[WINDOWED_SLOTS];          /* numbers of its vectors, -1: none */
    uint32_t values[WINDOWED_MAX_VALUES / 4]; /* of the code's unit */
} stride_record;

/* Of one part, of all row blocks so far. */
typedef struct stride_list {
    stride_record *items;
    int64_t count, room;
} stride_list;

static stride_record *add_stride(stride_list *list) {
    if (list->count == list->room) {
        int64_t room = list->room ? 2 * list->room : 1024;
        stride_record *items = realloc(list->items, (size_t)room * sizeof *items);
        if (!items) return NULL;
        list->items = items, list->room = room;
    }
    stride_record *stride = &list->items[list->count++];
    memset(stride, 0, sizeof *stride);
    return stride;
}

/* -- A part of a row block ---------------------------------------------------------------------------- */

typedef struct part_packer {
    const mc_vsparse *a;
    const mc_ring *ring;
    const value_code *code;
    stride_list *out;
    int64_t first;        /* the row block's first vector, or the first one of this part */
    int64_t first_window; /* of the part's windows: its row 0 is the ring's */
    int64_t span;         /* windows that a stride may span */
    int64_t left, waited; /* windows, so far, and those before the part's */
} part_packer;

static int64_t column(const part_packer *p, int64_t v) { return p->a->col_idx[p->first + v]; }

/* The ring's row of each slot; a padding slot gets a row of the oldest window that is there, in a bank that
   its group leaves free. Of floats it gets the row of zeros behind the last stage. */
static void place_group(const part_packer *p, const int64_t *slots, int places[WINDOWED_GROUP]) {
    int64_t ring_rows = (int64_t)p->ring->stages * p->ring->window;
    int64_t before = p->first_window * p->ring->window;
    unsigned used = 0;
    for (int i = 0; i < WINDOWED_GROUP; i++)
        if (slots[i] >= 0) used |= 1u << column(p, slots[i]) % WINDOWED_GROUP;
    for (int i = 0, spare = 0; i < WINDOWED_GROUP; i++) {
        int64_t row;
        if (slots[i] >= 0) {
            row = column(p, slots[i]);
        } else if (windowed_pads_zeros(p->ring, p->a->type)) {
            places[i] = windowed_place((int)ring_rows, p->ring->tile_n);
            continue;
        } else {
            while (spare < WINDOWED_GROUP - 1 && used >> spare & 1) spare++;
            used |= 1u << spare;
            row = p->left * p->ring->window + spare;
        }
        places[i] = windowed_place((int)((row - before) % ring_rows), p->ring->tile_n);
    }
}

bool windowed_pads_zeros(const mc_ring *ring, mc_type type) { return ring->zeros || mc_type_is_real(type); }
bool windowed_reads_words(mc_type type) { return mc_type_is_real(type) && mc_type_bytes(type) == 4; }

/* Where a piece lies in its plane, counted in pieces. */
static int piece_place(const mc_ring *ring, const value_code *code, int row, int slot) {
    if (ring->fours) return windowed_fours_offset(row, slot);
    if (mc_type_bytes(code->unit) == 4) return windowed_word_place(row, slot);
    return mc_type_is_real(code->unit) ? windowed_float_place(row, slot) : windowed_value_offset(row, slot);
}

/* The pieces of its values, each in a plane of its own. */
static void put_vector(const part_packer *p, int64_t vector, int slot, stride_record *stride) {
    const value_code *code = p->code;
    int plane = p->a->vec * WINDOWED_SLOTS;
    for (int r = 0; r < p->a->vec; r++) {
        int64_t pieces[CODE_PIECES];
        code_split(code, mc_vsparse_value(p->a, vector, r), pieces);
        for (int i = 0; i < code->pieces; i++)
            element_set(code->unit, stride->values, i * plane + piece_place(p->ring, code, r, slot),
                        pieces[i]);
    }
    if (code->ones)
        element_set(code->unit, stride->values, code->pieces * plane + piece_place(p->ring, code, 0, slot),
                    1);
}

/* Deals a group's vectors, ordered by row mod 8 / 2, to its first four slots and its last four in turn, so
   that as few as can be of either have the same. */
static void deal_words(const part_packer *p, const int64_t *from, int64_t to[WINDOWED_GROUP]) {
    int dealt = 0;
    for (int i = 0; i < WINDOWED_GROUP; i++) to[i] = -1;
    for (int pair = 0; pair < WINDOWED_GROUP / 2; pair++)
        for (int i = 0; i < WINDOWED_GROUP; i++)
            if (from[i] >= 0 && column(p, from[i]) % WINDOWED_GROUP / 2 == pair)
                to[dealt % 2 * 4 + dealt / 2] = from[i], dealt++;
}

static void put_places(const part_packer *p, stride_record *stride, const int places[WINDOWED_SLOTS]) {
    bool words = windowed_reads_words(p->a->type);
    for (int s = 0; s < WINDOWED_SLOTS; s++) {
        int word = words ? windowed_word_of(s) : s % WINDOWED_HALF;
        int high = words ? windowed_is_high(s) : s / WINDOWED_HALF;
        stride->places[word] |= (int32_t)((uint32_t)places[s] << 16 * high);
    }
}

static void put_slots(const part_packer *p, stride_record *stride, const int64_t chosen[WINDOWED_SLOTS]) {
    int64_t slots[WINDOWED_SLOTS];
    int places[WINDOWED_SLOTS];
    memcpy(slots, chosen, sizeof slots);
    for (int first = 0; first < WINDOWED_SLOTS; first += WINDOWED_GROUP) {
        if (windowed_reads_words(p->a->type)) deal_words(p, chosen + first, slots + first);
        place_group(p, slots + first, places + first);
    }
    put_places(p, stride, places);
    for (int s = 0; s < WINDOWED_SLOTS; s++) {
        stride->vectors[s] = slots[s] >= 0 ? (int32_t)(p->first + slots[s]) : -1;
        if (slots[s] >= 0) put_vector(p, p->first + slots[s], s, stride);
    }
}

static bool is_half(const int64_t slots[WINDOWED_SLOTS]) {
    for (int s = WINDOWED_HALF; s < WINDOWED_SLOTS; s++)
        if (slots[s] >= 0) return false;
    return true;
}

/* One step towards windows before LEAVE left and those up to LAST waited for,
   as far as the ring allows: the control word. */
static int32_t step_windows(part_packer *p, int64_t leave, int64_t last) {
    int64_t left = leave < p->waited ? leave : p->waited;
    int64_t waited = last + 1 < left + p->ring->stages ? last + 1 : left + p->ring->stages;
    if (waited < p->waited) waited = p->waited;
    int32_t control = (int32_t)((left - p->left) << WINDOWED_LEAVE_SHIFT | (waited - p->waited));
    p->left = left, p->waited = waited;
    return control;
}

/* Strides of padding while windows pass, then the chosen one. */
static bool put_stride(part_packer *p, const chosen_stride *chosen) {
    int64_t none[WINDOWED_SLOTS];
    for (int s = 0; s < WINDOWED_SLOTS; s++) none[s] = -1;
    for (;;) {
        stride_record *stride = add_stride(p->out);
        if (!stride) return false;
        stride->control = step_windows(p, chosen->oldest, chosen->last);
        bool there = chosen->last < p->left + p->span && chosen->last < p->waited;
        if (!there || is_half(chosen->slots)) stride->control |= WINDOWED_ONE_HALF;
        put_slots(p, stride, there ? chosen->slots : none);
        if (there) return true;
    }
}

/* -- All parts of a row block ------------------------------------------------------------------------- */

typedef struct packer {
    const mc_vsparse *a;
    const mc_ring *ring;
    value_code code;
    stride_choice choice;
    stride_list parts[MAX_SPLIT];
} packer;

/* Parts of windows; lists of strides, of which a row block has one in each. */
static int window_parts(const mc_ring *ring) { return ring->parts > 1 ? ring->parts : 1; }
static int list_count(const mc_ring *ring) { return ring->split * window_parts(ring); }

/* Packs the vectors from FIRST to LAST - 1, those of a row block in part PART of the windows. */
static bool pack_window_part(packer *p, int part, int64_t first, int64_t last) {
    const mc_ring *ring = p->ring;
    const int64_t first_window = windowed_part_first(ring, p->a->cols, part);
    const int64_t rows = windowed_part_rows(ring, p->a->cols, part);
    const int64_t span = windowed_span(ring, rows, p->a->vectors / ring->parts, p->a->row_blocks);
    part_packer to = {.a = p->a,
                      .ring = ring,
                      .code = &p->code,
                      .out = &p->parts[part],
                      .first = first,
                      .first_window = first_window,
                      .span = span,
                      .left = first_window,
                      .waited = first_window};
    if (!windowed_choose(ring, span, p->a->col_idx + first, last - first, &p->choice)) return false;
    for (int64_t s = 0; s < p->choice.count; s++)
        if (!put_stride(&to, &p->choice.items[s])) return false;
    return true;
}

static bool pack_window_parts(packer *p, int64_t block) {
    const mc_vsparse *a = p->a;
    int64_t first = a->row_ptr[block];
    for (int part = 0; part < p->ring->parts; part++) {
        const int64_t end = windowed_part_first(p->ring, a->cols, part + 1) * p->ring->window;
        int64_t last = first;
        while (last < a->row_ptr[block + 1] && a->col_idx[last] < end) last++;
        if (!pack_window_part(p, part, first, last)) return false;
        first = last;
    }
    return true;
}

static bool pack_row_block(packer *p, int64_t block) {
    const mc_vsparse *a = p->a;
    int64_t first = a->row_ptr[block], count = a->row_ptr[block + 1] - first;
    if (window_parts(p->ring) > 1) return pack_window_parts(p, block);
    const int64_t span = windowed_span(p->ring, a->cols, a->vectors, a->row_blocks);
    if (!windowed_choose(p->ring, span, a->col_idx + first, count, &p->choice)) return false;
    for (int part = 0; part < p->ring->split; part++) {
        part_packer to = {
            .a = a, .ring = p->ring, .code = &p->code, .out = &p->parts[part], .first = first, .span = span};
        for (int64_t s = part; s < p->choice.count; s += p->ring->split)
            if (!put_stride(&to, &p->choice.items[s])) return false;
    }
    return true;
}

/* -- The matrix --------------------------------------------------------------------------------------- */

/* A row of B and its ring row are in one bank if windows are whole groups of 8; controls and places have 8
   and 16 bits. */
static bool is_ring(const mc_ring *ring) {
    bool tile = ring->tile_n == 16 || ring->tile_n == 32 || ring->tile_n == 64 || ring->tile_n == 128;
    bool stages = ring->stages >= 2 && ring->stages <= WINDOWED_WAIT_MASK;
    bool split = ring->split == 1 || ring->split == 2 || ring->split == 4 || ring->split == MAX_SPLIT;
    bool parts = ring->parts >= 0 && ring->parts <= MAX_SPLIT && (ring->parts & (ring->parts - 1)) == 0 &&
                 (ring->parts <= 1 || ring->split == 1);
    if (!tile || !stages || !split || !parts || ring->window < WINDOWED_GROUP ||
        ring->window % WINDOWED_GROUP)
        return false;
    return ring->window <= UINT16_MAX * WINDOWED_UNIT / ring->tile_n / ring->stages;
}

mc_status windowed_check_ring(const mc_ring *ring, mc_diag *diag) {
    if (is_ring(ring)) return MC_OK;
    return mc_fail(diag, MC_USAGE, "no ring: %d windows of %d rows of %d bytes, read in %d parts",
                   ring->stages, ring->window, ring->tile_n, list_count(ring));
}

/* Of values. */
int64_t windowed_stride_bytes(const value_code *code, int vec) {
    return mc_type_size(code->unit, (int64_t)code_rows(code, vec) * WINDOWED_SLOTS);
}

static mc_status check(const mc_vsparse *a, const mc_ring *ring, value_code *code, mc_diag *diag) {
    mc_status status = code_make(a->type, ring->coding, code_unit(a->type, MC_U8), code, diag);
    if (status != MC_OK) return status;
    if (a->vec < 1 || a->vec > MC_MAX_VEC)
        return mc_fail(diag, MC_CANNOT, "the packed format holds vectors of 1 to %d elements, the matrix %d",
                       MC_MAX_VEC, a->vec);
    if (ring->fours && (a->vec != MC_MAX_VEC || code->ones || mc_type_is_real(a->type)))
        return mc_fail(diag, MC_CANNOT, "sparse mma take integers in vectors of %d, without offset digits",
                       MC_MAX_VEC);
    status = windowed_check_ring(ring, diag);
    if (status != MC_OK) return status;
    if (a->row_blocks < INT32_MAX / list_count(ring)) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "%lld row blocks in %d parts: the kernel counts them in 31 bits",
                   (long long)a->row_blocks, list_count(ring));
}

mc_status windowed_check_count(int64_t strides, mc_diag *diag) {
    if (strides <= WINDOWED_MAX_STRIDES) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "more than %d strides of %d slots", WINDOWED_MAX_STRIDES, WINDOWED_SLOTS);
}

static int64_t count_strides(const packer *p) {
    int64_t count = 0;
    for (int part = 0; part < list_count(p->ring); part++) count += p->parts[part].count;
    return count;
}

/* row_ptr[part * row_blocks + place + 1] receives the strides of the part up to and with the place. */
static mc_status pack_rows(packer *p, const int32_t *order, int32_t *row_ptr, mc_diag *diag) {
    int64_t row_blocks = p->a->row_blocks;
    for (int64_t place = 0; place < row_blocks; place++) {
        if (!pack_row_block(p, order[place])) return mcrt_no_memory(diag, count_strides(p), "strides");
        mc_status status = windowed_check_count(count_strides(p), diag);
        if (status != MC_OK) return status;
        for (int part = 0; part < list_count(p->ring); part++)
            row_ptr[part * row_blocks + place + 1] = (int32_t)p->parts[part].count;
    }
    return MC_OK;
}

/* Part after part. */
static mc_status join_parts(const packer *p, int32_t *row_ptr, mc_packed *packed, mc_diag *diag) {
    int64_t count = count_strides(p), row_blocks = p->a->row_blocks;
    int64_t bytes = windowed_stride_bytes(&p->code, p->a->vec);
    mc_status status = packed_add(packed, "control", MC_S32, count, diag);
    if (status == MC_OK) status = packed_add(packed, "places", MC_S32, count * WINDOWED_STRIDE_WORDS, diag);
    if (status == MC_OK) status = packed_add(packed, "values", MC_S8, mcrt_product(count, bytes), diag);
    if (status != MC_OK) return status;
    int32_t *control = mc_packed_find(packed, "control")->data,
            *places = mc_packed_find(packed, "places")->data;
    int8_t *values = mc_packed_find(packed, "values")->data;
    for (int64_t part = 0, s = 0; part < list_count(p->ring); part++) {
        const stride_list *list = &p->parts[part];
        for (int64_t place = 0; place < row_blocks; place++)
            row_ptr[part * row_blocks + place + 1] += (int32_t)s;
        for (int64_t i = 0; i < list->count; i++, s++) {
            control[s] = list->items[i].control;
            memcpy(places + s * WINDOWED_STRIDE_WORDS, list->items[i].places, sizeof list->items[i].places);
            memcpy(values + s * bytes, list->items[i].values, (size_t)bytes);
        }
    }
    return MC_OK;
}

static mc_status pack_all(packer *p, mc_packed *packed, mc_diag *diag) {
    const mc_vsparse *a = p->a;
    const mc_ring *ring = p->ring;
    mc_status status = check(a, ring, &p->code, diag);
    if (status == MC_OK) status = code_check(&p->code, a, diag);
    if (status == MC_OK) status = packed_add(packed, "row_order", MC_S32, a->row_blocks, diag);
    if (status == MC_OK)
        status = packed_add(packed, "row_ptr", MC_S32, list_count(ring) * a->row_blocks + 1, diag);
    if (status != MC_OK) return status;
    int32_t *order = mc_packed_find(packed, "row_order")->data,
            *row_ptr = mc_packed_find(packed, "row_ptr")->data;
    status = order_longest_first(a, ring->together > 1 ? ring->together : 1, order, diag);
    if (status == MC_OK) status = pack_rows(p, order, row_ptr, diag);
    return status == MC_OK ? join_parts(p, row_ptr, packed, diag) : status;
}

static void packer_free(packer *p) {
    for (int part = 0; part < MAX_SPLIT; part++) free(p->parts[part].items);
    free(p->choice.items);
    free(p->choice.taken);
}

mc_status mc_windowed_pack(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    packer p = {.a = a, .ring = ring};
    mc_status status = pack_all(&p, packed, diag);
    packer_free(&p);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}

/* -- Slots -------------------------------------------------------------------------------------------- */

static void name_pieces(const mc_ring *ring, const value_code *code, packed_slots *slots) {
    int plane = slots->vec * WINDOWED_SLOTS;
    for (int slot = 0; slot < WINDOWED_SLOTS; slot++)
        for (int r = 0; r < slots->vec; r++)
            for (int i = 0; i < code->pieces; i++)
                slots->pieces[i * plane + piece_place(ring, code, r, slot)] = packed_piece(slots, slot, r, i);
}

static packed_slots begin_slots(const value_code *code, int vec) {
    return (packed_slots){
        .code = *code, .vec = vec, .group = WINDOWED_SLOTS, .period = code_rows(code, vec) * WINDOWED_SLOTS};
}

mc_status windowed_outline(const windowed_form *form, int vec, int64_t strides, packed_slots *slots,
                           mc_diag *diag) {
    *slots = begin_slots(&form->code, vec);
    mc_status status = packed_slots_outline("values", strides, slots, diag);
    if (status == MC_OK) name_pieces(&form->ring, &form->code, slots);
    return status;
}

static void name_vectors(const packer *p, int32_t *vectors) {
    for (int part = 0; part < list_count(p->ring); part++)
        for (int64_t i = 0; i < p->parts[part].count; i++, vectors += WINDOWED_SLOTS)
            memcpy(vectors, p->parts[part].items[i].vectors, sizeof p->parts[part].items[i].vectors);
}

static mc_status windowed_slots(const mc_vsparse *a, const mc_ring *ring, packed_slots *slots,
                                mc_diag *diag) {
    mc_packed packed = {0};
    packer p = {.a = a, .ring = ring};
    mc_status status = pack_all(&p, &packed, diag);
    *slots = begin_slots(&p.code, a->vec);
    if (status == MC_OK) status = packed_slots_create("values", count_strides(&p), slots, diag);
    if (status == MC_OK) name_pieces(ring, &p.code, slots);
    if (status == MC_OK) name_vectors(&p, slots->vectors);
    packer_free(&p);
    mc_packed_free(&packed);
    return status;
}

/* -- Replacing values --------------------------------------------------------------------------------- */

/* All arrays but the values depend on the pattern alone. */
static mc_status check_same(const mc_packed *packed, const mc_packed *fresh, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < fresh->array_count && status == MC_OK; i++) {
        const mc_packed_array *want = &fresh->arrays[i], *got;
        status = packed_get(packed, want->name, want->type, want->count, &got, diag);
        if (status != MC_OK || strcmp(want->name, "values") == 0) continue;
        if (memcmp(got->data, want->data, (size_t)mc_type_size(want->type, want->count)) != 0)
            status = mc_fail(diag, MC_FORMAT, "packed for another pattern: %s differs", want->name);
    }
    return status;
}

/* Which slot a vector has is what choosing strides again says: slots of padding point at rows of B that
   vectors elsewhere may want too, so that the packed arrays alone do not tell. */
mc_status mc_windowed_pack_values(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed,
                                  mc_diag *diag) {
    mc_packed fresh;
    mc_status status = mc_windowed_pack(a, ring, &fresh, diag);
    if (status == MC_OK) status = check_same(packed, &fresh, diag);
    if (status == MC_OK) {
        const mc_packed_array *values = mc_packed_find(&fresh, "values");
        memcpy(mc_packed_find(packed, "values")->data, values->data, (size_t)values->count);
    }
    mc_packed_free(&fresh);
    return status;
}

/* -- As a row ----------------------------------------------------------------------------------------- */

static mc_status ring_of(const mc_kernel *kernel, mc_ring *ring, mc_diag *diag) {
    mc_type rhs;
    mc_status status = mc_type_of(kernel, "rhs", &rhs, diag);
    if (status != MC_OK) return status;
    *ring = (mc_ring){.window = (int)mc_kernel_field(kernel, "window"),
                      .stages = (int)mc_kernel_field(kernel, "stages"),
                      .tile_n = (int)mc_type_size(rhs, mc_kernel_field(kernel, "tile_n")),
                      .split = (int)mc_kernel_field(kernel, "split"),
                      .together = (int)mc_kernel_field(kernel, "together"),
                      .parts = (int)mc_kernel_field(kernel, "parts"),
                      .fours = mc_kernel_field(kernel, "sparse_mma") != 0,
                      .coding = code_of_kernel(kernel),
                      .zeros = mc_type_is_real(rhs)};
    return MC_OK;
}

mc_status windowed_form_of(const mc_kernel *kernel, const mc_vsparse *a, windowed_form *form, mc_diag *diag) {
    mc_status status = mc_pack_fits(kernel, a, diag);
    if (status == MC_OK) status = ring_of(kernel, &form->ring, diag);
    return status == MC_OK ? check(a, &form->ring, &form->code, diag) : status;
}

static mc_status pack(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag) {
    mc_ring ring;
    mc_status status = ring_of(kernel, &ring, diag);
    return status == MC_OK ? mc_windowed_pack(a->vectors, &ring, packed, diag) : status;
}

static mc_status pack_values(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed,
                             mc_diag *diag) {
    mc_ring ring;
    mc_status status = ring_of(kernel, &ring, diag);
    return status == MC_OK ? mc_windowed_pack_values(a->vectors, &ring, packed, diag) : status;
}

static mc_status slots_of(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag) {
    mc_ring ring;
    mc_status status = ring_of(kernel, &ring, diag);
    return status == MC_OK ? windowed_slots(a->vectors, &ring, slots, diag) : status;
}

/* A slot of padding points at a row of B, as a vector would: there is no way back. */
const packed_format format_windowed = {
    .name = "windowed-bcrs",
    .doc = "strides in the order in which windows of B pass",
    .kind = MATRIX_VECTORS,
    .unit = MC_U8,
    .floats = true,
    .type = "lhs",
    .cols = "k",
    .form = "lhs vec rhs tile_n window stages split together parts digits sparse_mma",
    .pack = pack,
    .pack_values = pack_values,
    .slots = slots_of};
