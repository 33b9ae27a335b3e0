/* windowed-bcrs: what the ring SpMM reads. gen/windowed.h says what it means, and what the kernel relies on. */
#include "windowed.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "memory.h"
#include "stride.h"

enum {
    POOL = 160, /* vectors among which a stride's are chosen: more choice, more windows that must be there */
    MAX_STRIDES = INT32_MAX / WINDOWED_SLOTS, /* the kernel counts lanes in s32 */
};

/* -- Row blocks in the order of places ---------------------------------------------------------------- */

typedef struct row_length {
    int64_t vectors, block;
} row_length;

static int longer_first(const void *a, const void *b) {
    const row_length *x = a, *y = b;
    if (x->vectors != y->vectors) return x->vectors < y->vectors ? 1 : -1;
    return (x->block > y->block) - (x->block < y->block);
}

static int64_t first_free(int64_t *next_free, int64_t at) {
    while (next_free[at] != at) at = next_free[at] = next_free[next_free[at]];
    return at;
}

/* Spreads the lengths evenly: the sorted row blocks in steps of the golden ratio, so that any few neighbouring
   places have about equal work in all, be they the warps of a thread block or the turns of a warp. */
static void spread(const row_length *rows, int64_t count, int32_t *order, int64_t *next_free) {
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15); /* of 2^64 */
    for (int64_t i = 0; i <= count; i++) next_free[i] = i;
    for (int64_t place = 0; place < count; place++) {
        uint64_t turn = ((uint64_t)place * golden) >> 32;
        int64_t at = first_free(next_free, (int64_t)(turn * (uint64_t)count >> 32));
        if (at == count) at = first_free(next_free, 0);
        order[place] = (int32_t)rows[at].block;
        next_free[at] = at + 1;
    }
}

static mc_status make_order(const mc_vsparse *a, int32_t *order, mc_diag *diag) {
    row_length *rows = mcrt_array(a->row_blocks, sizeof *rows);
    int64_t *next_free = mcrt_array(a->row_blocks + 1, sizeof *next_free);
    if (!rows || !next_free) {
        free(rows);
        free(next_free);
        return mcrt_no_memory(diag, a->row_blocks, "row blocks");
    }
    for (int64_t b = 0; b < a->row_blocks; b++) rows[b] = (row_length){a->row_ptr[b + 1] - a->row_ptr[b], b};
    qsort(rows, (size_t)a->row_blocks, sizeof *rows, longer_first);
    spread(rows, a->row_blocks, order, next_free);
    free(rows);
    free(next_free);
    return MC_OK;
}

/* -- Strides as they are made ------------------------------------------------------------------------- */

typedef struct stride_record {
    int32_t control, places[WINDOWED_STRIDE_WORDS];
    int8_t values[WINDOWED_STRIDE_VALUES];
} stride_record;

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

/* -- A row block -------------------------------------------------------------------------------------- */

/* Vectors below `seen` are in the pool. Of each bank class (row of B mod 8) the pool's vectors go in order, so that
   all before cursor[class] are taken. */
typedef struct row_packer {
    const mc_vsparse *a;
    const mc_ring *ring;
    int64_t windows;
    stride_list *out;
    bool *taken;
    int64_t first, count; /* the row block's vectors: first + 0 .. count - 1 */
    int64_t oldest, seen, taken_count;
    int64_t cursor[WINDOWED_GROUP], available[WINDOWED_GROUP];
    int64_t left, waited; /* windows, so far */
} row_packer;

static int64_t column(const row_packer *p, int64_t v) { return p->a->col_idx[p->first + v]; }
static int64_t window(const row_packer *p, int64_t v) { return column(p, v) / p->ring->window; }
static int bank(const row_packer *p, int64_t v) { return (int)(column(p, v) % WINDOWED_GROUP); }

/* Windows that a stride may span: one stage stays free for the next copy, unless all of B is in the ring. */
static int64_t span(const row_packer *p) {
    if (p->windows <= p->ring->stages) return p->windows;
    return p->ring->stages > 2 ? p->ring->stages - 1 : 1;
}

static void fill_pool(row_packer *p) {
    while (p->oldest < p->count && p->taken[p->oldest]) p->oldest++;
    int64_t end = p->oldest < p->count ? window(p, p->oldest) + span(p) : 0;
    while (p->seen < p->count && p->seen - p->taken_count < POOL && window(p, p->seen) < end)
        p->available[bank(p, p->seen++)]++;
}

/* The class to take a group's next vector from: one that the group has not used yet, if it can be; then the fullest. -1:
   the pool is empty. */
static int choose_bank(const row_packer *p, const int used[WINDOWED_GROUP]) {
    int best = -1;
    for (int c = 0; c < WINDOWED_GROUP; c++) {
        if (!p->available[c]) continue;
        bool better = best < 0 || used[c] < used[best] ||
                      (used[c] == used[best] && p->available[c] > p->available[best]);
        if (better) best = c;
    }
    return best;
}

static int64_t take(row_packer *p, int c) {
    int64_t v = p->cursor[c];
    while (p->taken[v] || bank(p, v) != c) v++;
    p->taken[v] = true;
    p->cursor[c] = v + 1;
    p->available[c]--;
    p->taken_count++;
    return v;
}

/* Fills SLOTS with vectors of the pool, -1 where there is none. Returns the last window that they need. */
static int64_t choose_slots(row_packer *p, int64_t slots[WINDOWED_SLOTS]) {
    int64_t last = 0;
    for (int first = 0; first < WINDOWED_SLOTS; first += WINDOWED_GROUP) {
        int used[WINDOWED_GROUP] = {0};
        for (int i = 0; i < WINDOWED_GROUP; i++) {
            int c = choose_bank(p, used);
            slots[first + i] = c < 0 ? -1 : take(p, c);
            if (c < 0) continue;
            used[c]++;
            if (window(p, slots[first + i]) > last) last = window(p, slots[first + i]);
        }
    }
    return last;
}

/* The ring's row of each slot; a padding slot gets a row of the oldest window that is there, in a bank that its group
   leaves free. */
static void place_group(const row_packer *p, const int64_t *slots, int places[WINDOWED_GROUP]) {
    int64_t ring_rows = (int64_t)p->ring->stages * p->ring->window;
    unsigned used = 0;
    for (int i = 0; i < WINDOWED_GROUP; i++)
        if (slots[i] >= 0) used |= 1u << bank(p, slots[i]);
    for (int i = 0, spare = 0; i < WINDOWED_GROUP; i++) {
        int64_t row;
        if (slots[i] >= 0) {
            row = column(p, slots[i]);
        } else {
            while (spare < WINDOWED_GROUP - 1 && used >> spare & 1) spare++;
            used |= 1u << spare;
            row = p->left * p->ring->window + spare;
        }
        places[i] = windowed_place((int)(row % ring_rows), p->ring->tile_n);
    }
}

static void put_slots(const row_packer *p, stride_record *stride, const int64_t slots[WINDOWED_SLOTS]) {
    int places[WINDOWED_SLOTS];
    for (int first = 0; first < WINDOWED_SLOTS; first += WINDOWED_GROUP)
        place_group(p, slots + first, places + first);
    for (int w = 0; w < WINDOWED_STRIDE_WORDS; w++)
        stride->places[w] = (int32_t)((uint32_t)places[w] | (uint32_t)places[WINDOWED_HALF + w] << 16);
    for (int s = 0; s < WINDOWED_SLOTS; s++)
        for (int r = 0; slots[s] >= 0 && r < p->a->vec; r++)
            stride->values[windowed_value_offset(r, s)] =
                (int8_t)mc_vsparse_value(p->a, p->first + slots[s], r);
}

/* One step towards windows before LEAVE left and those up to LAST waited for, as far as the ring allows: the control
   word. */
static int32_t step_windows(row_packer *p, int64_t leave, int64_t last) {
    int64_t left = leave < p->waited ? leave : p->waited;
    int64_t waited = last + 1 < left + p->ring->stages ? last + 1 : left + p->ring->stages;
    if (waited < p->waited) waited = p->waited;
    int32_t control = (int32_t)((left - p->left) << WINDOWED_LEAVE_SHIFT | (waited - p->waited));
    p->left = left, p->waited = waited;
    return control;
}

/* Strides of padding while windows pass, then the stride of SLOTS. */
static bool put_stride(row_packer *p, const int64_t slots[WINDOWED_SLOTS], int64_t leave, int64_t last) {
    int64_t none[WINDOWED_SLOTS];
    for (int s = 0; s < WINDOWED_SLOTS; s++) none[s] = -1;
    for (;;) {
        stride_record *stride = add_stride(p->out);
        if (!stride) return false;
        stride->control = step_windows(p, leave, last);
        bool there = p->left == leave && p->waited > last;
        put_slots(p, stride, there ? slots : none);
        if (there) return true;
    }
}

static bool pack_row_block(row_packer *p, int64_t block) {
    p->first = p->a->row_ptr[block], p->count = p->a->row_ptr[block + 1] - p->first;
    p->oldest = p->seen = p->taken_count = p->left = p->waited = 0;
    memset(p->cursor, 0, sizeof p->cursor);
    memset(p->available, 0, sizeof p->available);
    memset(p->taken, 0, (size_t)p->count * sizeof *p->taken);
    while (p->taken_count < p->count) {
        int64_t slots[WINDOWED_SLOTS];
        fill_pool(p);
        int64_t leave = window(p, p->oldest), last = choose_slots(p, slots);
        if (!put_stride(p, slots, leave, last)) return false;
    }
    return true;
}

/* -- The matrix --------------------------------------------------------------------------------------- */

/* A row of B and its ring row are in one bank if windows are whole groups of 8; controls and places have 8 and 16 bits. */
static bool is_ring(const mc_ring *ring) {
    bool tile = ring->tile_n == 32 || ring->tile_n == 64 || ring->tile_n == 128;
    bool stages = ring->stages >= 2 && ring->stages <= WINDOWED_WAIT_MASK;
    if (!tile || !stages || ring->window < WINDOWED_GROUP || ring->window % WINDOWED_GROUP) return false;
    return ring->window <= UINT16_MAX * WINDOWED_UNIT / ring->tile_n / ring->stages;
}

static mc_status check(const mc_vsparse *a, const mc_ring *ring, mc_diag *diag) {
    if (a->type != MC_S8)
        return mc_fail(diag, MC_CANNOT, "the packed format holds s8 values, the matrix %s",
                       mc_type_text(a->type));
    if (a->vec != WINDOWED_GROUP)
        return mc_fail(diag, MC_CANNOT, "the packed format holds vectors of %d elements, the matrix %d",
                       WINDOWED_GROUP, a->vec);
    if (!is_ring(ring))
        return mc_fail(diag, MC_USAGE, "no ring: %d windows of %d rows of %d bytes", ring->stages,
                       ring->window, ring->tile_n);
    return MC_OK;
}

static mc_status pack_rows(const mc_vsparse *a, const mc_ring *ring, const int32_t *order, int32_t *row_ptr,
                           stride_list *out, mc_diag *diag) {
    int64_t longest = 0;
    for (int64_t b = 0; b < a->row_blocks; b++)
        if (a->row_ptr[b + 1] - a->row_ptr[b] > longest) longest = a->row_ptr[b + 1] - a->row_ptr[b];
    row_packer p = {.a = a, .ring = ring, .windows = (a->cols + ring->window - 1) / ring->window, .out = out};
    p.taken = mcrt_array(longest, sizeof *p.taken);
    mc_status status = p.taken ? MC_OK : mcrt_no_memory(diag, longest, "vectors");
    for (int64_t place = 0; status == MC_OK && place < a->row_blocks; place++) {
        if (!pack_row_block(&p, order[place])) status = mcrt_no_memory(diag, out->count, "strides");
        if (out->count > MAX_STRIDES)
            status =
                mc_fail(diag, MC_CANNOT, "more than %d strides of %d slots", MAX_STRIDES, WINDOWED_SLOTS);
        row_ptr[place + 1] = (int32_t)out->count;
    }
    free(p.taken);
    return status;
}

static mc_status add_strides(const stride_list *list, mc_packed *packed, mc_diag *diag) {
    mc_status status = packed_add(packed, "control", MC_S32, list->count, diag);
    if (status == MC_OK)
        status = packed_add(packed, "places", MC_S32, list->count * WINDOWED_STRIDE_WORDS, diag);
    if (status == MC_OK)
        status = packed_add(packed, "values", MC_S8, list->count * WINDOWED_STRIDE_VALUES, diag);
    if (status != MC_OK) return status;
    int32_t *control = mc_packed_find(packed, "control")->data,
            *places = mc_packed_find(packed, "places")->data;
    int8_t *values = mc_packed_find(packed, "values")->data;
    for (int64_t s = 0; s < list->count; s++) {
        control[s] = list->items[s].control;
        memcpy(places + s * WINDOWED_STRIDE_WORDS, list->items[s].places, sizeof list->items[s].places);
        memcpy(values + s * WINDOWED_STRIDE_VALUES, list->items[s].values, sizeof list->items[s].values);
    }
    return MC_OK;
}

mc_status mc_windowed_pack(const mc_vsparse *a, const mc_ring *ring, mc_packed *packed, mc_diag *diag) {
    *packed = (mc_packed){0};
    stride_list strides = {0};
    mc_status status = check(a, ring, diag);
    if (status == MC_OK) status = packed_add(packed, "row_order", MC_S32, a->row_blocks, diag);
    if (status == MC_OK) status = packed_add(packed, "row_ptr", MC_S32, a->row_blocks + 1, diag);
    if (status == MC_OK) {
        int32_t *order = mc_packed_find(packed, "row_order")->data,
                *row_ptr = mc_packed_find(packed, "row_ptr")->data;
        status = make_order(a, order, diag);
        if (status == MC_OK) status = pack_rows(a, ring, order, row_ptr, &strides, diag);
    }
    if (status == MC_OK) status = add_strides(&strides, packed, diag);
    free(strides.items);
    if (status != MC_OK) mc_packed_free(packed);
    return status;
}
