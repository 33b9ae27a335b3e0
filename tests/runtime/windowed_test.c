/* windowed-bcrs, decoded from what gen/windowed.h says: every vector once with its values, and what the ring kernel
 * relies on. The swizzle is worked out here from the tensor copy's rule, not from windowed_place. */
#include "arithmetic/integer/digit.h"
#include "base/real.h"
#include "scratch.h"

enum { SLOTS = 32, GROUP = 8, WORDS = 16, MAX_SPLIT = 8 };

/* -- Matrices ----------------------------------------------------------------------------------------- */

typedef enum shape_law {
    SHAPE_UNIFORM,  /* sparsity / 100 */
    SHAPE_EMPTY,    /* nothing */
    SHAPE_LAST,     /* one vector a row block, in the last column */
    SHAPE_ONE_BANK, /* columns that are 3 mod 8 */
    SHAPE_ENDS,     /* the first 5 and the last 5 columns: the windows between pass by */
    SHAPE_ONE_FULL, /* every column in one row block, none in the others */
    SHAPE_SKEWED,   /* columns that are 0 to 3 mod 8, and column 7 */
} shape_law;

typedef struct shape {
    shape_law law;
    int row_blocks, cols, sparsity;
} shape;

static bool wanted(const shape *s, int row, int col) {
    switch (s->law) {
    case SHAPE_LAST: return col == s->cols - 1;
    case SHAPE_ONE_BANK: return col % 8 == 3;
    case SHAPE_ENDS: return col < 5 || col >= s->cols - 5;
    case SHAPE_ONE_FULL: return row == s->row_blocks / 2;
    case SHAPE_SKEWED: return col % 8 < 4 || col == 7;
    default: return false;
    }
}

static mc_status make_pattern(const shape *s, mc_csr *csr, mc_diag *diag) {
    if (s->law == SHAPE_UNIFORM)
        return mc_csr_generate(
            &(mc_pattern){s->row_blocks, s->cols, s->sparsity / 100., MC_PATTERN_UNIFORM, 0, 5}, csr, diag);
    *csr = (mc_csr){.rows = s->row_blocks, .cols = s->cols};
    csr->row_ptr = calloc((size_t)s->row_blocks + 1, sizeof *csr->row_ptr);
    csr->col_idx = malloc((size_t)s->row_blocks * (size_t)s->cols * sizeof *csr->col_idx + 1);
    if (!csr->row_ptr || !csr->col_idx) return MC_NOMEM;
    for (int row = 0; row < s->row_blocks; row++) {
        for (int col = 0; col < s->cols; col++)
            if (wanted(s, row, col)) csr->col_idx[csr->nnz++] = col;
        csr->row_ptr[row + 1] = csr->nnz;
    }
    return MC_OK;
}

/* What A holds. No vector may be all zeros, which padding is: few small values are extreme ones. */
typedef struct kind {
    mc_type type;
    int vec;
    mc_value_law law;
    mc_digits digits;
} kind;

static const kind bytes_of_8 = {MC_S8, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED};
static const kind kinds[] = {
    {MC_S4, 2, MC_VALUES_EXTREME, MC_DIGITS_TOP_SIGNED}, {MC_S8, 4, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
    {MC_U8, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},    {MC_S12, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
    {MC_U12, 4, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},   {MC_S16, 2, MC_VALUES_EXTREME, MC_DIGITS_TOP_SIGNED},
    {MC_U16, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},   {MC_S16, 4, MC_VALUES_FULL, MC_DIGITS_BALANCED},
    {MC_S12, 8, MC_VALUES_FULL, MC_DIGITS_BALANCED},     {MC_S16, 2, MC_VALUES_FULL, MC_DIGITS_OFFSET},
    {MC_S12, 8, MC_VALUES_EXTREME, MC_DIGITS_OFFSET},    {MC_F16, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
    {MC_BF16, 4, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},  {MC_F16, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
    {MC_E4M3, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},  {MC_E5M2, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
    {MC_TF32, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},  {MC_TF32, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED}};
static const kind words_of_8 = {MC_TF32, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED};
enum { KINDS = sizeof kinds / sizeof *kinds };

static mc_status make_matrix(const shape *s, const kind *k, mc_vsparse *a, mc_diag *diag) {
    mc_csr csr = {0};
    *a = (mc_vsparse){0};
    mc_status status = make_pattern(s, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, k->vec, k->type, a, diag);
    if (status == MC_OK) mc_vsparse_fill(a, k->law, 9, NULL);
    if (status == MC_OK) mc_vsparse_clamp(a, mc_digits_most(k->digits, 8, k->type));
    mc_csr_free(&csr);
    return status;
}

/* -- The decoder -------------------------------------------------------------------------------------- */

typedef struct decoder {
    const mc_vsparse *a;
    const mc_ring *ring;
    int digits, stride_values; /* or bytes, of a value; bytes of a stride */
    const int32_t *row_order, *row_ptr, *control, *places;
    const uint8_t *values;
    int64_t strides;
    int row_at[1 << 16];      /* place -> row of the ring, -1: none */
    int64_t first, end;       /* windows of the part at hand: all, or those of a part of them */
    int64_t left, waited;     /* windows, in the part at hand */
    int64_t groups, accesses; /* of 8 slots; the turns in which their banks can be read */
    int bad;
} decoder;

static const void *array(const mc_packed *packed, const char *name, mc_type type, int64_t count) {
    const mc_packed_array *found = mc_packed_find(packed, name);
    CHECK(found && found->type == type && (count < 0 || found->count == count), "array %s", name);
    return found && found->type == type && (count < 0 || found->count == count) ? found->data : NULL;
}

/* A swizzle of N bytes (16 units of 2^4): bits 4.. of a byte address in shared memory are xored with bits 7.., as
   many as N / 16 has values. */
static int place_of(int row, int tile_n) {
    int address = row * tile_n;
    return (address ^ (address >> 3 & (tile_n - 1) & ~15)) / 16;
}

/* Sequences of strides that a row block has: parts of its strides, or parts of all windows. */
static int sequences(const mc_ring *ring) { return ring->parts > 1 ? ring->parts : ring->split; }

static bool decoder_open(decoder *d, const mc_vsparse *a, const mc_ring *ring, const mc_packed *packed) {
    *d = (decoder){.a = a,
                   .ring = ring,
                   .digits = mc_type_bits(a->type) > 16  ? 4
                             : mc_type_bits(a->type) > 8 ? 2
                                                         : 1};
    d->stride_values = (d->digits * a->vec + (ring->coding == MC_DIGITS_OFFSET)) * SLOTS;
    d->row_order = array(packed, "row_order", MC_S32, a->row_blocks);
    d->row_ptr = array(packed, "row_ptr", MC_S32, sequences(ring) * a->row_blocks + 1);
    if (!d->row_order || !d->row_ptr) return false;
    d->strides = d->row_ptr[sequences(ring) * a->row_blocks];
    d->control = array(packed, "control", MC_S32, d->strides);
    d->places = array(packed, "places", MC_S32, d->strides * WORDS);
    d->values = array(packed, "values", MC_S8, d->strides * d->stride_values);
    memset(d->row_at, -1, sizeof d->row_at);
    for (int row = 0; row < ring->stages * ring->window; row++) d->row_at[place_of(row, ring->tile_n)] = row;
    return d->control && d->places && d->values;
}

/* The first window that a stride must not read: one stage is for the next copy, unless all of the part is in the ring. */
static int64_t windows_end(const decoder *d) {
    int64_t stages = d->ring->stages;
    if (d->end - d->first <= stages) return d->end;
    return d->left + (stages > 2 ? stages - 1 : 1);
}

/* The unit that slot SLOT of STRIDE names. Of words lane t has those of slots t and t + 4 of each group of 8. */
static int slot_place(const decoder *d, int64_t stride, int slot) {
    bool words = d->a->type == MC_TF32;
    int word = words ? 4 * (slot % 4) + slot / 8 : slot % 16, high = words ? slot % 8 / 4 : slot / 16;
    return (int)((uint32_t)d->places[stride * WORDS + word] >> 16 * high & 0xffff);
}

/* The B row that slot SLOT of STRIDE reads: the only one in its ring row between left and waited. -1: none is there. */
static int64_t slot_row(const decoder *d, int64_t stride, int slot) {
    int ring_row = d->row_at[slot_place(d, stride, slot)];
    int window = d->ring->window, ring_rows = window * d->ring->stages;
    if (ring_row < 0) return -1;
    int64_t before = d->first * window, first = d->left * window - before,
            row = first / ring_rows * ring_rows + ring_row;
    if (row < first) row += ring_rows;
    return before + row < d->waited * window ? before + row : -1;
}

/* For sparse mma: lane 4 (row mod 8) + t has 16 bytes, four for each half of the slots and each 8 rows, of slots
   4t to 4t + 3. A digit has 16 rows. */
static uint8_t slot_byte_of_fours(const decoder *d, int64_t stride, int row, int slot) {
    int lane = 4 * (row % 8) + slot % 16 / 4;
    return d->values[stride * d->stride_values + row / 16 * 512 + 16 * lane + slot / 16 * 8 +
                     row / 8 % 2 * 4 + slot % 4];
}

/* Bytes as windowed.h puts them: lane 4 row + t has 4 bytes of slots 0-15 and 4 of slots 16-31; bytes 0 and 2 are slots
   2t and 2t + 1, bytes 1 and 3 slots 8 + 2t and 9 + 2t. The second digits lie behind the first ones of all rows, and a row of
   ones behind those. */
static uint8_t slot_byte_of(const decoder *d, int64_t stride, int row, int slot) {
    if (d->ring->fours) return slot_byte_of_fours(d, stride, row, slot);
    int t = slot % 8 / 2, byte = slot % 2 * 2 + slot / 8 % 2;
    return d->values[stride * d->stride_values + (4 * row + t) * 8 + slot / 16 * 4 + byte];
}

/* The bits of a float: lane 4 row + t has 8, slots 2t and 2t + 1 of each group of 8, of words slots t and t + 4. */
static int slot_float(const decoder *d, int64_t stride, int row, int slot) {
    int bytes = d->digits, t = bytes == 4 ? slot % 4 : slot % 8 / 2,
        odd = bytes == 4 ? slot / 4 % 2 : slot % 2;
    int place = (4 * row + t) * 8 + slot / 8 * 2 + odd;
    uint32_t bits = 0;
    memcpy(&bits, d->values + stride * d->stride_values + bytes * place, (size_t)bytes);
    return (int)bits;
}

/* With offset digits a slot without a 1 is padding, whose digits are zeros. */
static int slot_value(const decoder *d, int64_t stride, int row, int slot) {
    if (mc_type_is_real(d->a->type)) return slot_float(d, stride, row, slot);
    int low = slot_byte_of(d, stride, row, slot);
    int top = slot_byte_of(d, stride, (d->digits - 1) * d->a->vec + row, slot);
    bool has_sign = mc_type_min(d->a->type) < 0;
    if (d->ring->coding == MC_DIGITS_OFFSET) {
        bool used = slot_byte_of(d, stride, d->digits * d->a->vec, slot) == 1;
        return 256 * top + low + (used ? (int)mc_type_min(d->a->type) : 0);
    }
    if (d->ring->coding == MC_DIGITS_BALANCED) low = (int8_t)low;
    if (has_sign) top = (int8_t)top;
    return d->digits == 1 ? top : 256 * top + low;
}

/* Padding of floats: the row of zeros behind the last stage. */
static bool names_zeros(const decoder *d, int64_t stride, int slot) {
    return mc_type_is_real(d->a->type) &&
           slot_place(d, stride, slot) == place_of(d->ring->stages * d->ring->window, d->ring->tile_n);
}

static void step_windows(decoder *d, int32_t control) {
    int64_t leave = (control & INT32_MAX) / 256, wait = control & 255;
    d->left += leave;
    d->bad += d->left > d->waited; /* only what was waited for is left */
    d->waited += wait;
    d->bad += d->waited - d->left > d->ring->stages || d->left >= d->waited;
    d->bad += d->waited > d->end;
}

/* Of words: two units of four rows are read at once if the rows lie in different pairs of units. */
static void count_word_banks(decoder *d, int64_t stride, int first) {
    int pairs[4] = {0}, most = 0;
    for (int slot = first; slot < first + 4; slot++)
        if (!names_zeros(d, stride, slot) && ++pairs[slot_place(d, stride, slot) % 8 / 2] > most) most++;
    d->groups++;
    d->accesses += most;
}

/* Eight rows are read at once if they lie in eight different units of 16 bytes modulo 128, else in as many turns as the
   fullest unit has. Rows that are the same are read together. */
static void count_banks(decoder *d, int64_t stride, int first) {
    int units[GROUP] = {0}, most = 0, seen[GROUP], count = 0;
    for (int slot = first; slot < first + GROUP; slot++) {
        int place = slot_place(d, stride, slot), twice = 0;
        for (int i = 0; i < count; i++) twice |= seen[i] == place;
        if (twice) continue;
        seen[count++] = place;
        if (++units[place % GROUP] > most) most = units[place % GROUP];
    }
    d->groups++;
    d->accesses += most;
}

/* Values of slots at rows of B add up to GOT[vec][cols]; slots that a vector of A is at count in USED. */
static void decode_stride(decoder *d, int64_t stride, int *got, int *used) {
    step_windows(d, d->control[stride]);
    for (int slot = 0; slot < SLOTS; slot++) {
        int64_t row = slot_row(d, stride, slot);
        int any = 0;
        if (row < 0 && names_zeros(d, stride, slot)) {
            for (int r = 0; r < d->a->vec; r++) d->bad += slot_value(d, stride, r, slot) != 0;
            continue;
        }
        if (row < 0) {
            d->bad++;
            continue;
        }
        for (int r = 0; r < d->a->vec; r++) any |= slot_value(d, stride, r, slot);
        d->bad += any && slot >= 16 && d->control[stride] < 0; /* not in a half that is skipped */
        /* Padding: no vector is all zeros. That of floats names no row of a window. */
        if (!any) d->bad += row / d->ring->window != d->left || mc_type_is_real(d->a->type);
        if (!any) continue;
        d->bad += row >= d->a->cols || row / d->ring->window >= windows_end(d);
        for (int r = 0; row < d->a->cols && r < d->a->vec; r++)
            got[r * d->a->cols + row] += slot_value(d, stride, r, slot);
        if (row < d->a->cols) used[row]++;
    }
    bool words = d->a->type == MC_TF32;
    for (int first = 0; first < SLOTS; first += words ? 4 : GROUP)
        (words ? count_word_banks : count_banks)(d, stride, first);
}

/* What is packed of it: tf32 is rounded. */
static int64_t value_of(const mc_vsparse *a, int64_t vector, int row) {
    int64_t value = mc_vsparse_value(a, vector, row);
    return a->type == MC_TF32 ? (int)real_factor(a->type, (uint32_t)value) : value;
}

/* All parts of a row block add up to it. */
static void check_row_block(decoder *d, int64_t place, int *got, int *used) {
    int64_t cols = d->a->cols, block = d->row_order[place], strides[MAX_SPLIT];
    memset(got, 0, (size_t)(d->a->vec * cols) * sizeof *got);
    memset(used, 0, (size_t)cols * sizeof *used);
    const int64_t windows = (cols + d->ring->window - 1) / d->ring->window;
    const int shared = d->ring->parts > 1 ? d->ring->parts : 1;
    for (int part = 0; part < sequences(d->ring); part++) {
        const int32_t *at = &d->row_ptr[part * d->a->row_blocks + place];
        d->first = shared > 1 ? windows * part / shared : 0;
        d->end = shared > 1 ? windows * (part + 1) / shared : windows;
        d->left = d->waited = d->first;
        for (int64_t s = at[0]; s < at[1]; s++) decode_stride(d, s, got, used);
        strides[part] = at[1] - at[0];
    }
    bool padded = shared > 1 || d->a->cols > d->ring->stages * d->ring->window; /* with whole strides */
    d->bad +=
        !padded && (strides[0] < strides[d->ring->split - 1] || strides[0] > strides[d->ring->split - 1] + 1);
    for (int64_t v = d->a->row_ptr[block]; v < d->a->row_ptr[block + 1]; v++) {
        int64_t col = d->a->col_idx[v];
        for (int r = 0; r < d->a->vec; r++) {
            d->bad += got[r * cols + col] != value_of(d->a, v, r);
            got[r * cols + col] = 0;
        }
        d->bad += used[col] > 1;
    }
    for (int64_t i = 0; i < d->a->vec * cols; i++) d->bad += got[i] != 0;
}

static void check_order(decoder *d) {
    int64_t blocks = d->a->row_blocks;
    char *seen = calloc((size_t)blocks + 1, 1);
    CHECK(seen != NULL);
    for (int64_t p = 0; seen && p < blocks; p++) {
        int64_t block = d->row_order[p];
        bool fresh = block >= 0 && block < blocks && !seen[block];
        CHECK(fresh, "place %lld has row block %lld", (long long)p, (long long)block);
        if (fresh) seen[block] = 1;
        else d->bad++;
    }
    for (int64_t p = 0; p < sequences(d->ring) * blocks; p++) {
        CHECK(d->row_ptr[p] <= d->row_ptr[p + 1], "strides of place %lld", (long long)p);
        d->bad += d->row_ptr[p] > d->row_ptr[p + 1];
    }
    CHECK(d->row_ptr[0] == 0, "the first stride is %d", d->row_ptr[0]);
    free(seen);
}

typedef struct cost {
    double accesses, strides; /* a group of 8 slots; a row block */
} cost;

/* Packs S with values of K for RING and decodes it. */
static cost round_trip(const shape *s, const kind *k, const mc_ring *ring, mc_diag *diag) {
    static decoder d;
    mc_vsparse a;
    mc_packed packed;
    cost spent = {0};
    expect_ok("matrix", make_matrix(s, k, &a, diag), diag);
    expect_ok("pack", mc_windowed_pack(&a, ring, &packed, diag), diag);
    int *got = calloc((size_t)(a.vec * a.cols) + 1, sizeof *got),
        *used = calloc((size_t)a.cols + 1, sizeof *used);
    CHECK(got && used);
    if (got && used && decoder_open(&d, &a, ring, &packed)) {
        check_order(&d);
        for (int64_t p = 0; d.bad == 0 && p < a.row_blocks; p++) check_row_block(&d, p, got, used);
        CHECK(d.bad == 0,
              "%s, vec %d, law %d, %d x %d at %d %%, %d windows of %d rows of %d, %d parts: %d wrong",
              mc_type_text(k->type), k->vec, (int)s->law, s->row_blocks, s->cols, s->sparsity, ring->stages,
              ring->window, ring->tile_n, sequences(ring), d.bad);
        if (d.groups) spent.accesses = (double)d.accesses / (double)d.groups;
        spent.strides = (double)d.strides / s->row_blocks;
    }
    free(got);
    free(used);
    mc_packed_free(&packed);
    mc_vsparse_free(&a);
    return spent;
}

/* -- Tests -------------------------------------------------------------------------------------------- */

static const shape shapes[] = {
    {SHAPE_UNIFORM, 1, 1, 0},      {SHAPE_UNIFORM, 7, 130, 50},  {SHAPE_UNIFORM, 5, 900, 70},
    {SHAPE_UNIFORM, 9, 2500, 99},  {SHAPE_UNIFORM, 3, 1024, 0},  {SHAPE_EMPTY, 4, 300, 0},
    {SHAPE_LAST, 3, 3000, 0},      {SHAPE_ONE_BANK, 3, 1500, 0}, {SHAPE_ENDS, 2, 2900, 0},
    {SHAPE_ONE_FULL, 21, 1300, 0}, {SHAPE_UNIFORM, 60, 200, 90}, {SHAPE_SKEWED, 2, 2000, 0},
};
static const mc_ring rings[] = {
    {64, 2, 128, 1, 0, false, 1, 0, false},  {64, 2, 128, 2, 0, false, 1, 0, false},
    {64, 3, 64, 8, 0, false, 1, 0, false},   {64, 12, 32, 2, 0, false, 1, 0, false},
    {64, 5, 32, 4, 0, false, 1, 0, false},   {128, 4, 128, 1, 0, false, 1, 0, false},
    {256, 6, 128, 4, 0, false, 1, 0, false}, {256, 6, 128, 1, 0, false, 1, 0, false},
    {256, 2, 32, 4, 0, false, 1, 0, false},  {128, 3, 64, 1, 0, false, 1, 0, false},
    {128, 8, 64, 8, 0, false, 1, 0, false},  {64, 2, 64, 1, 0, false, 1, 2, false},
    {64, 3, 64, 1, 0, false, 1, 4, false},   {64, 12, 32, 1, 0, false, 1, 8, false},
    {256, 6, 64, 1, 0, false, 1, 8, false},  {64, 2, 16, 1, 0, false, 1, 0, false},
    {1024, 4, 16, 8, 0, false, 1, 0, false}, {512, 14, 16, 2, 0, false, 1, 0, false},
};

static void test_round_trips(mc_diag *diag) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof rings / sizeof *rings; j++) {
            const kind *k = &kinds[(i + j) % KINDS];
            mc_ring ring = rings[j];
            round_trip(&shapes[i], &bytes_of_8, &ring, diag);
            ring.coding = k->digits;
            round_trip(&shapes[i], k, &ring, diag);
        }
}

/* Values as sparse mma take them, and what has none such. */
static void test_fours(mc_diag *diag) {
    static const kind tall[] = {{MC_S8, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
                                {MC_U8, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
                                {MC_S16, 16, MC_VALUES_FULL, MC_DIGITS_BALANCED},
                                {MC_U12, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED}};
    const mc_ring ring = {256, 6, 128, 1, 0, false, 1, 0, true};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof tall / sizeof *tall; j++) {
            mc_ring coded = ring;
            coded.coding = tall[j].digits;
            round_trip(&shapes[i], &tall[j], &coded, diag);
        }
    static const kind others[] = {{MC_S8, 8, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
                                  {MC_F16, 16, MC_VALUES_FULL, MC_DIGITS_TOP_SIGNED},
                                  {MC_S12, 16, MC_VALUES_FULL, MC_DIGITS_OFFSET}};
    for (size_t j = 0; j < sizeof others / sizeof *others; j++) {
        mc_vsparse a;
        mc_packed packed;
        mc_ring coded = ring;
        coded.coding = others[j].digits;
        expect_ok("matrix", make_matrix(&shapes[1], &others[j], &a, diag), diag);
        expect_failure("fours", mc_windowed_pack(&a, &coded, &packed, diag), MC_CANNOT, diag,
                       "sparse mma take integers in vectors of 16, without offset digits");
        mc_vsparse_free(&a);
    }
}

/* Neighbours stay together, by the longest of them; those that make no whole group come last. */
static void test_together(mc_diag *diag) {
    enum { BLOCKS = 7 };
    static int64_t starts[BLOCKS + 1] = {0, 1, 2, 2, 6, 6, 8, 13};
    static int32_t columns[] = {5, 0, 1, 2, 3, 4, 0, 9, 0, 1, 2, 3, 4};
    static uint8_t values[13];
    static const int32_t want[][BLOCKS] = {
        {6, 3, 5, 0, 1, 2, 4}, {2, 3, 4, 5, 0, 1, 6}, {0, 1, 2, 3, 4, 5, 6}};
    const mc_vsparse a = {MC_U8, 1, BLOCKS, 16, BLOCKS, 13, starts, columns, values, {0}};
    for (int i = 0; i < 3; i++) {
        mc_packed packed;
        mc_ring ring = {64, 3, 128, 1, 0, false, 1 << i, 0, false};
        expect_ok("pack", mc_windowed_pack(&a, &ring, &packed, diag), diag);
        const mc_packed_array *order = mc_packed_find(&packed, "row_order");
        CHECK(order != NULL && order->count == BLOCKS && memcmp(order->data, want[i], sizeof want[i]) == 0,
              "row_order, %d together", ring.together);
        mc_packed_free(&packed);
    }
}

/* Conflicts cannot be bought with more strides. */
static void test_banks(mc_diag *diag) {
    static const struct {
        shape mask;
        mc_ring ring;
        cost most;
        double words; /* accesses of four slots of 32 bits */
    } cases[] = {
        {{SHAPE_UNIFORM, 64, 2048, 70}, {256, 6, 128, 1, 0, false, 1, 0, false}, {1.11, 19.8}, 1.065},
        {{SHAPE_UNIFORM, 64, 2048, 70}, {256, 3, 64, 1, 0, false, 1, 0, false}, {1.145, 19.82}, 0},
        {{SHAPE_UNIFORM, 64, 1024, 90}, {256, 6, 32, 1, 0, false, 1, 0, false}, {1.22, 3.8}, 0},
        {{SHAPE_UNIFORM, 64, 512, 70}, {256, 3, 128, 1, 0, false, 1, 0, false}, {1.17, 5.3}, 1.09},
        {{SHAPE_UNIFORM, 64, 4608, 90}, {256, 3, 128, 1, 0, false, 1, 0, false}, {1.36, 17}, 1.18},
        {{SHAPE_SKEWED, 2, 4000, 0}, {256, 3, 128, 1, 0, false, 1, 0, false}, {2.1, 63}, 2},
        {{SHAPE_UNIFORM, 64, 4096, 70}, {1024, 4, 16, 1, 0, false, 1, 0, false}, {1.11, 40}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const shape *s = &cases[i].mask;
        cost spent = round_trip(s, &bytes_of_8, &cases[i].ring, diag), most = cases[i].most;
        printf("%d columns, %d %% sparse: %.3f accesses a group of 8 slots, %.2f strides a row block\n",
               s->cols, s->sparsity, spent.accesses, spent.strides);
        CHECK(spent.accesses <= most.accesses && spent.strides <= most.strides, "above %.3f or %.2f",
              most.accesses, most.strides);
        if (cases[i].ring.tile_n != 128) continue;
        cost words = round_trip(s, &words_of_8, &cases[i].ring, diag);
        printf("    of words: %.3f accesses of four slots\n", words.accesses);
        CHECK(words.accesses <= cases[i].words && words.strides == spent.strides, "words: above %.3f or %.2f",
              cases[i].words, spent.strides);
    }
}

static void test_refused(mc_diag *diag) {
    static int8_t values[16];
    static int32_t columns[] = {0};
    static int64_t starts[] = {0, 1};
    static const mc_ring good = {64, 3, 128, 1, 0, false, 1, 0, false};
    static const mc_ring bad[] = {
        {64, 1, 128, 1, 0, false, 1, 0, false},
        {64, 0, 128, 1, 0, false, 1, 0, false},
        {64, -1, 128, 1, 0, false, 1, 0, false},
        {4, 3, 128, 1, 0, false, 1, 0, false},
        {-64, 3, 128, 1, 0, false, 1, 0, false},
        {64, 3, 8, 1, 0, false, 1, 0, false},
        {64, 3, 96, 1, 0, false, 1, 0, false},
        {64, 3, 0, 1, 0, false, 1, 0, false},
        {64, 3, 256, 1, 0, false, 1, 0, false},
        {256, 256, 128, 1, 0, false, 1, 0, false},
        {INT32_MAX, INT32_MAX, 128, 1, 0, false, 1, 0, false},
        {64, 3, 128, 0, 0, false, 1, 0, false},
        {64, 3, 128, 1, 0, false, 1, -1, false},
        {64, 3, 128, 1, 0, false, 1, 3, false},
        {64, 3, 128, 1, 0, false, 1, 16, false},
        {64, 3, 128, 2, 0, false, 1, 2, false}, /* warps share a row block, and thread blocks windows */
        {64, 3, 128, -1, 0, false, 1, 0, false},
        {64, 3, 128, 3, 0, false, 1, 0, false},
        {64, 3, 128, 16, 0, false, 1, 0, false},
        {8, 256, 32, 1, 0, false, 1, 0, false}, /* more windows than a control counts */
        {12, 3, 128, 1, 0, false, 1, 0, false}, /* a ring row's bank would not be its row of B's */
    };
    mc_packed packed;
    mc_vsparse a = {MC_S8, 8, 8, 1, 1, 1, starts, columns, values, {0}};
    expect_ok("good", mc_windowed_pack(&a, &good, &packed, diag), diag);
    mc_packed_free(&packed);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_failure("ring", mc_windowed_pack(&a, &bad[i], &packed, diag), MC_USAGE, diag, "no ring: ");
    a.vec = 17;
    expect_failure("vec", mc_windowed_pack(&a, &good, &packed, diag), MC_CANNOT, diag,
                   "vectors of 1 to 16 elements, the matrix 17");
    a.vec = 17, a.type = MC_F16;
    expect_failure("vec", mc_windowed_pack(&a, &good, &packed, diag), MC_CANNOT, diag,
                   "vectors of 1 to 16 elements, the matrix 17");
    a.vec = 8, a.type = MC_S32;
    expect_failure("type", mc_windowed_pack(&a, &good, &packed, diag), MC_CANNOT, diag, "the matrix s32");
    mc_ring balanced = good;
    balanced.coding = MC_DIGITS_BALANCED;
    a.type = MC_S8;
    expect_failure("digits", mc_windowed_pack(&a, &balanced, &packed, diag), MC_CANNOT, diag,
                   "balanced digits are for signed values of several digits, the matrix holds s8");
    static const mc_ring parts = {64, 3, 128, 4, 0, false, 1, 0, false};
    a.type = MC_S8, a.row_blocks = INT32_MAX / 4;
    expect_failure("parts", mc_windowed_pack(&a, &parts, &packed, diag), MC_CANNOT, diag,
                   "row blocks in 4 parts");
    CHECK(packed.array_count == 0, "arrays are left");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_round_trips(diag);
    test_banks(diag);
    test_fours(diag);
    test_together(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
