/* sampled-list and sampled-windows: literal layouts, what every list of items must be, round trips, and refusal of arrays that no mask has. */
#include <math.h>
#include <stdlib.h>
#include "scratch.h"

static void check_array(const mc_packed *packed, const char *name, const void *want, int64_t count) {
    const mc_packed_array *array = mc_packed_find(packed, name);
    CHECK(array != NULL && array->count == count, "%s is missing, or of another length", name);
    if (array && array->count == count)
        CHECK(memcmp(array->data, want, (size_t)count * 4) == 0, "%s is not as written here", name);
}

/* -- Layout: row block 0 has vectors at columns 1, 4, 6 and 9, row block 1 none, row block 2 one at column 0. Vectors of 2 */

static int64_t tiny_row_ptr[] = {0, 4, 4, 5};
static int32_t tiny_col_idx[] = {1, 4, 6, 9, 0};
static float tiny_values[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
static const mc_vsparse tiny = {MC_F32, 2, 6, 12, 3, 5, tiny_row_ptr, tiny_col_idx, tiny_values, {0}};

static const mc_sampled plain = {.groups = 1, .window = MC_OPEN},
                        in_windows = {.groups = 1, .window = 5, .values = true},
                        in_strides = {.groups = 2, .window = 8, .order = MC_ORDER_SRBCRS32, .values = true},
                        windowed = {.groups = 1, .window = 5, .values = true, .windows = true},
                        strides_windowed = {
                            .groups = 2, .window = 8, .order = MC_ORDER_SRBCRS32, .windows = true};

#define NONE                                                                                                 \
    { -1, -1 }
#define NONE4 NONE, NONE, NONE, NONE

static void test_plain(mc_diag *diag) {
    static const int32_t items[][4] = {{0, 0, 4, 0}, {2, 4, 1, 0}};
    static const int32_t col_idx[2][8][2] = {{{1, -1}, {4, -1}, {6, -1}, {9, -1}, NONE4},
                                             {{0, -1}, NONE, NONE, NONE, NONE4}};
    mc_packed packed;
    expect_ok("pack", mc_sampled_pack(&tiny, &plain, &packed, diag), diag);
    CHECK(packed.array_count == 2 && mc_sampled_items(&packed) == 2, "%zu arrays", packed.array_count);
    check_array(&packed, "items", items, 8);
    check_array(&packed, "col_idx", col_idx, 32);
    mc_packed_free(&packed);
    CHECK(mc_sampled_items(&packed) == 0, "items of nothing");
}

/* Windows of columns 0 to 4, 5 to 9 and 10 to 14: row block 2's vector is in the first. */
static void test_windows(mc_diag *diag) {
    static const int32_t items[][4] = {{0, 0, 2, 0}, {2, 4, 1, 0}, {0, 2, 2, 0}};
    static const int32_t col_idx[3][8][2] = {{{1, -1}, {4, -1}, NONE, NONE, NONE4},
                                             {{0, -1}, NONE, NONE, NONE, NONE4},
                                             {{6, -1}, {9, -1}, NONE, NONE, NONE4}};
    mc_packed packed;
    expect_ok("pack", mc_sampled_pack(&tiny, &in_windows, &packed, diag), diag);
    check_array(&packed, "items", items, 12);
    check_array(&packed, "col_idx", col_idx, 48);
    check_array(&packed, "mask_values", tiny_values, 10);
    mc_packed_free(&packed);
}

/* An index of sampled-windows: a slot of the item, and the column in the window, or none. */
#define IN(slot, column) ((slot) << 16 | (column))
#define NO(slot)         (INT32_MIN | (slot) << 16)

/* The same windows: columns 1 and 4 of the first, 6 and 9 of the second are odd and even there, and change places. */
static void test_windowed(mc_diag *diag) {
#define REST                                                                                                 \
    {NO(2), NO(10)}, {NO(3), NO(11)}, {NO(4), NO(12)}, {NO(5), NO(13)}, {NO(6), NO(14)}, { NO(7), NO(15) }
    static const int32_t items[][4] = {{0, 0, 2, 0}, {2, 4, 1, 0}, {0, 2, 2, 0}}, window_ptr[] = {0, 2, 3, 3};
    static const int32_t col_idx[3][8][2] = {{{IN(1, 4), NO(8)}, {IN(0, 1), NO(9)}, REST},
                                             {{IN(0, 0), NO(8)}, {NO(1), NO(9)}, REST},
                                             {{IN(1, 4), NO(8)}, {IN(0, 1), NO(9)}, REST}};
#undef REST
    mc_packed packed;
    expect_ok("pack", mc_sampled_pack(&tiny, &windowed, &packed, diag), diag);
    CHECK(packed.array_count == 4 && mc_sampled_items(&packed) == 3 && mc_sampled_longest(&packed) == 2,
          "%zu arrays", packed.array_count);
    check_array(&packed, "items", items, 12);
    check_array(&packed, "col_idx", col_idx, 48);
    check_array(&packed, "window_ptr", window_ptr, 4);
    check_array(&packed, "mask_values", tiny_values, 10);
    mc_packed_free(&packed);
    CHECK(mc_sampled_longest(&packed) == 0, "a window of nothing");
}

/* Strides of 32 slots, the second of which is row block 2's. Padding goes with a row block's last vector: 28 slots of row
   block 0 in window 1, 31 of row block 2 in window 0. */
static void test_strides(mc_diag *diag) {
    static const int32_t items[][4] = {{0, 0, 3, 0}, {2, 32, 32, 0}, {0, 3, 29, 0}};
    static const int32_t first[] = {1, 4, 6};
    static const float values[128] = {1, 3, 5, 7, [32] = 2, 4, 6, 8, [64] = 9, [96] = 10};
    int32_t col_idx[3][8][4];
    mc_packed packed;
    memset(col_idx, -1, sizeof col_idx);
    for (int g = 0; g < 3; g++) col_idx[0][g][0] = first[g];
    col_idx[1][0][0] = 0;
    col_idx[2][0][0] = 9;
    expect_ok("pack", mc_sampled_pack(&tiny, &in_strides, &packed, diag), diag);
    check_array(&packed, "items", items, 12);
    check_array(&packed, "col_idx", col_idx, 96);
    check_array(&packed, "mask_values", values, 128);
    mc_packed_free(&packed);
}

/* 37 vectors, vector i in column i: an item of 32 and one of 5. */
static void test_groups(mc_diag *diag) {
    static int64_t row_ptr[] = {0, 37};
    static const int32_t items[][4] = {{0, 0, 32, 0}, {0, 32, 5, 0}};
    static const int32_t want[2][8][4] = {{{0, 8, 16, 24},
                                           {1, 9, 17, 25},
                                           {2, 10, 18, 26},
                                           {3, 11, 19, 27},
                                           {4, 12, 20, 28},
                                           {5, 13, 21, 29},
                                           {6, 14, 22, 30},
                                           {7, 15, 23, 31}},
                                          {{32, -1, -1, -1},
                                           {33, -1, -1, -1},
                                           {34, -1, -1, -1},
                                           {35, -1, -1, -1},
                                           {36, -1, -1, -1},
                                           {-1, -1, -1, -1},
                                           {-1, -1, -1, -1},
                                           {-1, -1, -1, -1}}};
    int32_t col_idx[37];
    int8_t values[37] = {0};
    for (int i = 0; i < 37; i++) col_idx[i] = i;
    const mc_vsparse mask = {MC_S8, 1, 1, 37, 1, 37, row_ptr, col_idx, values, {0}};
    mc_packed packed;
    expect_ok("pack", mc_sampled_pack(&mask, &(mc_sampled){.groups = 2}, &packed, diag), diag);
    check_array(&packed, "items", items, 8);
    check_array(&packed, "col_idx", want, 64);
    mc_packed_free(&packed);
}

/* COUNT columns from 0 on are added to the end of COL_IDX, and MORE from 32 on. */
static int64_t put_range(int32_t *col_idx, int64_t at, int count, int more) {
    for (int i = 0; i < count; i++) col_idx[at++] = i;
    for (int i = 0; i < more; i++) col_idx[at++] = 32 + i;
    return at;
}

/* Row blocks of 3, 32 + 8, 3 + 1 and 20 + 8 vectors in two windows of 32 columns: of sampled-windows the longest come first, and
   of equally long ones those of the first row block. Items of sampled-list stay in the order of row blocks. */
static void test_uneven(mc_diag *diag) {
    static const int lengths[4][2] = {{3, 0}, {32, 8}, {3, 1}, {20, 8}};
    static const int32_t longest_first[][4] = {{1, 3, 32, 0}, {3, 47, 20, 0}, {0, 0, 3, 0}, {2, 43, 3, 0},
                                               {1, 35, 8, 0}, {3, 67, 8, 0},  {2, 46, 1, 0}},
                         by_row_blocks[][4] = {{0, 0, 3, 0},  {1, 3, 32, 0}, {2, 43, 3, 0}, {3, 47, 20, 0},
                                               {1, 35, 8, 0}, {2, 46, 1, 0}, {3, 67, 8, 0}},
                         window_ptr[] = {0, 4, 7};
    int64_t row_ptr[5] = {0};
    int32_t col_idx[75];
    int8_t values[75] = {0};
    mc_packed packed;
    for (int b = 0; b < 4; b++) row_ptr[b + 1] = put_range(col_idx, row_ptr[b], lengths[b][0], lengths[b][1]);
    const mc_vsparse mask = {MC_S8, 1, 4, 40, 4, 75, row_ptr, col_idx, values, {0}};
    mc_sampled form = {.groups = 2, .window = 32, .windows = true};
    expect_ok("pack", mc_sampled_pack(&mask, &form, &packed, diag), diag);
    check_array(&packed, "items", longest_first, 28);
    check_array(&packed, "window_ptr", window_ptr, 3);
    mc_packed_free(&packed);
    form.windows = false;
    expect_ok("pack", mc_sampled_pack(&mask, &form, &packed, diag), diag);
    check_array(&packed, "items", by_row_blocks, 28);
    mc_packed_free(&packed);
}

static void test_arrange(mc_diag *diag) {
    static const float want[4][16] = {{1, 3, 5, 7}, {2, 4, 6, 8}, {9}, {10}};
    const mc_dense vectors = {MC_F32, 5, 2, 2, tiny_values}, gap = {MC_F32, 4, 2, 3, tiny_values};
    mc_dense c, back;
    expect_ok("strides", mc_sampled_arrange(&tiny, MC_ORDER_SRBCRS16, &vectors, &c, diag), diag);
    CHECK(c.rows == 4 && c.cols == 16 && c.ld == 16 && memcmp(c.data, want, sizeof want) == 0, "strides");
    expect_ok("back", mc_sampled_collect(&tiny, MC_ORDER_SRBCRS16, &c, &back, diag), diag);
    CHECK(back.rows == 5 && back.cols == 2 && memcmp(back.data, tiny_values, sizeof tiny_values) == 0,
          "back");
    mc_dense_free(&back);
    expect_failure("size", mc_sampled_collect(&tiny, MC_ORDER_SRBCRS32, &c, &back, diag), MC_USAGE, diag,
                   "C has 64 slots of 2 elements, the matrix is 4 x 16");
    mc_dense_free(&c);
    expect_ok("vectors", mc_sampled_arrange(&tiny, MC_ORDER_BCRS, &vectors, &c, diag), diag);
    CHECK(c.rows == 5 && c.cols == 2 && memcmp(c.data, tiny_values, sizeof tiny_values) == 0, "vectors");
    mc_dense_free(&c);
    expect_failure("shape", mc_sampled_arrange(&tiny, MC_ORDER_BCRS, &gap, &c, diag), MC_USAGE, diag,
                   "the mask has 5 vectors of 2 elements, the matrix to arrange is 4 x 2 with rows 3 apart");
    expect_ok("create", mc_sampled_create(&tiny, MC_ORDER_SRBCRS32, MC_F16, &c, diag), diag);
    CHECK(c.type == MC_F16 && c.rows == 4 && c.cols == 32 && mc_dense_get(&c, 3, 31) == 0, "created");
    mc_dense_free(&c);
}

/* -- Random masks */

static const mc_pattern patterns[] = {
    {7, 90, .5, MC_PATTERN_UNIFORM, 0, 1},     {7, 90, 0, MC_PATTERN_UNIFORM, 0, 2},
    {5, 200, .8, MC_PATTERN_REALISTIC, .9, 3}, {40, 33, .97, MC_PATTERN_UNIFORM, 0, 4},
    {3, 50, 1, MC_PATTERN_UNIFORM, 0, 5},      {0, 50, .5, MC_PATTERN_UNIFORM, 0, 6},
    {4, 0, .5, MC_PATTERN_UNIFORM, 0, 7},      {2, 1, 0, MC_PATTERN_UNIFORM, 0, 8},
};
static const mc_order orders[] = {MC_ORDER_BCRS, MC_ORDER_SRBCRS16, MC_ORDER_SRBCRS32};
static const int64_t windows[] = {MC_OPEN, 0, 1, 7, 32, 65536};

/* Among the values are 0, -0, NaN and infinity. */
static mc_vsparse make_mask(const mc_pattern *pattern, int vec, mc_diag *diag) {
    static const float few[] = {0, -0.f, NAN, INFINITY};
    mc_csr csr;
    mc_vsparse mask;
    expect_ok("generate", mc_csr_generate(pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, MC_F32, &mask, diag), diag);
    float *values = mask.values;
    mc_scale_fill(values, mask.vectors * vec, MC_VALUES_FULL, pattern->seed);
    for (int64_t i = 0; i < mask.vectors * vec; i += 5) values[i] = few[i / 5 % 4];
    mc_csr_free(&csr);
    return mask;
}

static int64_t slots_of(const mc_vsparse *mask, int64_t block, mc_order order) {
    int64_t slots = mask->row_ptr[block + 1] - mask->row_ptr[block];
    while (order != MC_ORDER_BCRS && slots % (int64_t)order != 0) slots++;
    return slots;
}

/* The column of slot I of item N; -1: none. -2: no index says so, or two do. */
static int32_t column_at(const mc_packed *packed, const mc_sampled *form, int64_t n, int i) {
    const int32_t *indices = (const int32_t *)mc_packed_find(packed, "col_idx")->data + n * 16 * form->groups;
    int run = form->run > 1 ? form->run : 1;
    if (!form->windows)
        return indices[i % (8 * run) / run * 2 * form->groups + i / (8 * run) * run + i % run];
    const mc_packed_array *window_ptr = mc_packed_find(packed, "window_ptr");
    const int32_t *first = window_ptr->data;
    int64_t window = 0;
    int32_t column = -2;
    while (window + 2 < window_ptr->count && first[window + 1] <= n) window++;
    for (int r = 0; r < 16 * form->groups; r++) {
        if ((indices[r] >> 16 & 0x7fff) != i) continue;
        if (column != -2) return -2;
        column = indices[r] < 0 ? -1 : (int32_t)(window * form->window + (indices[r] & 0xffff));
    }
    return column;
}

/* Rows 2 q and 2 q + 1 of an item's mma have columns of both kinds, of which one has the bit pair_bit, as often as there are such;
   slots in use come first; an index without a vector says column 0. */
static void check_pairs(const mc_sampled *form, const mc_packed *packed) {
    const int32_t(*items)[4] = mc_packed_find(packed, "items")->data,
          *indices = mc_packed_find(packed, "col_idx")->data;
    int64_t wrong = 0;
    for (int64_t n = 0; n < mc_sampled_items(packed); n++, indices += 16 * form->groups) {
        int odds = 0, alike = 0, rows = (items[n][2] + 15) / 16 * 16, before = 0;
        for (int r = 0; r < 16 * form->groups; r++) {
            int32_t index = indices[(r % 8 * form->groups + r / 16) * 2 + r / 8 % 2];
            wrong += ((index >> 16 & 0x7fff) < rows) != (r < rows) || (index < 0 && (index & 0xffff) != 0);
            if (r >= rows) continue;
            int kind = index >> form->pair_bit & 1;
            odds += kind;
            if (r % 2) alike += before == kind;
            before = kind;
        }
        wrong += alike != abs(rows - 2 * odds) / 2;
    }
    CHECK(wrong == 0, "%d items' vectors in another order", (int)wrong);
}

/* What a kernel takes for granted. The slots, one after another in C, each go to the item that says so; items are as long as
   they can be. */
static void check_items(const mc_vsparse *mask, const mc_sampled *form, const mc_packed *packed) {
    const int32_t(*items)[4] = mc_packed_find(packed, "items")->data;
    int64_t count = mc_sampled_items(packed), slot = 0, most = 16 * form->groups, wrong = 0, listed = 0;
    int64_t window = form->window > 0 ? form->window : INT32_MAX;
    for (int64_t b = 0; b < mask->row_blocks; b++) {
        int64_t first = slot, vectors = mask->row_ptr[b + 1] - mask->row_ptr[b], before = -1, used = 0;
        for (; slot < first + slots_of(mask, b, form->order); slot++) {
            int64_t n = 0;
            while (n < count &&
                   !(items[n][0] == b && items[n][1] <= slot && slot < items[n][1] + items[n][2]))
                n++;
            if (n == count) {
                wrong++;
                continue;
            }
            int64_t i = slot - items[n][1], v = slot - first;
            int32_t want = v < vectors ? mask->col_idx[mask->row_ptr[b] + v] : -1;
            wrong += column_at(packed, form, n, (int)i) != want;
            int64_t in = mask->col_idx[mask->row_ptr[b] + (v < vectors ? v : vectors - 1)] / window;
            wrong += before >= 0 && (in == before && used < most) != (i > 0);
            used = i + 1, before = in, listed++;
        }
    }
    for (int64_t n = 0; n < count; n++) listed -= items[n][2];
    CHECK(wrong == 0 && listed == 0, "%d slots wrong, %d listed twice or for nothing", (int)wrong,
          (int)listed);
}

static void check_order(const mc_vsparse *mask, const mc_sampled *form, const mc_packed *packed) {
    const int32_t(*items)[4] = mc_packed_find(packed, "items")->data;
    int64_t wrong = 0, before[4] = {-1, INT32_MIN, -1, -1}, most = 16 * form->groups;
    for (int64_t n = 0; n < mc_sampled_items(packed); n++) {
        /* An item of padding alone is behind its row block's last vector. */
        int32_t col = column_at(packed, form, n, 0), last = mask->col_idx[mask->row_ptr[items[n][0] + 1] - 1];
        if (col < 0) col = last;
        int64_t key[4] = {form->window > 0 ? col / form->window : 0, form->windows ? -items[n][2] : 0,
                          items[n][0], items[n][1]};
        if (form->turn > 1) {
            int64_t first = 0; /* slot of the row block */
            for (int b = 0; b < items[n][0]; b++) first += slots_of(mask, b, form->order);
            key[0] = items[n][0] / form->turn, key[1] = (items[n][1] - first) / most;
        }
        int first = 0;
        while (first < 4 && key[first] == before[first]) first++;
        wrong += first == 4 || key[first] < before[first] || items[n][3] != 0;
        memcpy(before, key, sizeof key);
    }
    CHECK(wrong == 0, "%d items out of order", (int)wrong);
}

static bool same_packed(const mc_packed *a, const mc_packed *b) {
    bool same = a->array_count == b->array_count;
    for (size_t i = 0; same && i < a->array_count; i++)
        same = a->arrays[i].count == b->arrays[i].count &&
               memcmp(a->arrays[i].data, b->arrays[i].data, (size_t)a->arrays[i].count * 4) == 0;
    return same;
}

/* Packing, the way back, and the values of another mask in its place. */
static void check_mask(const mc_vsparse *mask, const mc_sampled *form, mc_diag *diag) {
    mc_packed packed, again;
    mc_vsparse back, other = *mask;
    expect_ok("pack", mc_sampled_pack(mask, form, &packed, diag), diag);
    check_items(mask, form, &packed);
    check_order(mask, form, &packed);
    if (form->windows) check_pairs(form, &packed);
    expect_ok("unpack", mc_sampled_unpack(&packed, mask->vec, form, mask->rows, mask->cols, &back, diag),
              diag);
    if (!back.row_ptr) {
        mc_packed_free(&packed);
        return;
    }
    if (!form->values) memset(mask->values, 0, (size_t)(mask->vectors * mask->vec) * 4);
    CHECK(same_vsparse(mask, &back), "groups %d, window %d, order %d", form->groups, (int)form->window,
          (int)form->order);
    other.values = back.values;
    if (form->values) mc_scale_fill(other.values, other.vectors * other.vec, MC_VALUES_EXTREME, 9);
    expect_ok("values", mc_sampled_pack_values(&other, form, &packed, diag), diag);
    expect_ok("pack", mc_sampled_pack(&other, form, &again, diag), diag);
    CHECK(same_packed(&packed, &again), "new values");
    mc_packed_free(&packed);
    mc_packed_free(&again);
    mc_vsparse_free(&back);
}

static void test_masks(mc_diag *diag) {
    static const int vecs[] = {2, 4, 8, 1, 16};
    for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++)
        for (int order = 0; order < 3; order++)
            for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
                for (int i = 0; i < 5; i++) {
                    mc_vsparse mask = make_mask(&patterns[p], vecs[i], diag);
                    mc_sampled form = {.groups = 1 << i % 4,
                                       .window = windows[w],
                                       .order = orders[order],
                                       .values = i % 2 == 0};
                    check_mask(&mask, &form, diag);
                    form.run = i % 4 > 0 && w % 2 == 0 ? 4 : 2;
                    form.turn = form.window > 0 ? 0 : 1 << (i + 1) % 4;
                    check_mask(&mask, &form, diag);
                    form.run = 1, form.turn = 0;
                    form.windows = form.window > 0;
                    if (form.windows) check_mask(&mask, &form, diag);
                    form.pair_bit = 2;
                    if (form.windows) check_mask(&mask, &form, diag);
                    mc_vsparse_free(&mask);
                }
}

/* -- Refusals */

/* One element of the packed tiny mask is overwritten. */
typedef struct corruption {
    const char *array;
    int index, value;
    const char *message;
} corruption;

static void check_corruption(const corruption *c, const mc_sampled *form, mc_diag *diag) {
    mc_packed packed;
    mc_vsparse mask;
    expect_ok("pack", mc_sampled_pack(&tiny, form, &packed, diag), diag);
    ((int32_t *)mc_packed_find(&packed, c->array)->data)[c->index] = c->value;
    mc_status status = mc_sampled_unpack(&packed, 2, form, 6, 12, &mask, diag);
    CHECK(!mask.values && mask.vectors == 0, "the output is not zeroed");
    expect_failure(c->message, status, MC_FORMAT, diag, c->message);
    mc_packed_free(&packed);
}

static void test_corrupted(mc_diag *diag) {
    static const corruption vectors[] = {
        {"items", 0, -1, "item 0 is of row block -1 of 3"},
        {"items", 4, 3, "item 1 is of row block 3 of 3"},
        {"items", 2, 0, "item 0 has 0 slots, must have 1 to 16"},
        {"items", 2, 17, "item 0 has 17 slots, must have 1 to 16"},
        {"items", 1, 1, "slot 3 of item 0 holds a vector, but is none of the 4 that row block 0 has"},
        {"items", 1, INT32_MIN, "slot 0 of item 0 holds a vector, but is none of the 4"},
        {"items", 1, INT32_MAX, "slot 0 of item 0 holds a vector, but is none of the 4"},
        {"items", 2, 5, "items[2] is 5, must be 4 for the mask that the columns make"},
        {"items", 2, 3, "slot 0 of item 1 holds a vector, but is none of the 1 that row block 2 has"},
        {"items", 3, 1, "items[3] is 1, must be 0"},
        {"items", 0, 2, "vector 4 of row block 2 has column 0 after column 9: columns must ascend"},
        {"col_idx", 0, 12, "slot 0 of item 0 has column 12 of 12"},
        {"col_idx", 0, -2, "slot 0 of item 0 has column -2 of 12"},
        {"col_idx", 2, 6, "vector 2 of row block 0 has column 6 after column 6: columns must ascend"},
        {"col_idx", 2, -1, "slot 3 of item 0 holds a vector, but is none of the 3"},
        {"col_idx", 1, 9, "col_idx[1] is 9, must be -1"},
        {"col_idx", 31, 0, "col_idx[31] is 0, must be -1"},
    };
    static const corruption strides[] = {
        {"col_idx", 4 * 3, 2, "col_idx[12] is 2, must be -1"},
        {"col_idx", 4 * 2, 8, "items[2] is 3, must be 2"},
        {"items", 2, 4, "items[2] is 4, must be 3"},
        {"mask_values", 4, 1, "mask_values[4] is of padding and must be 0"},
        {"mask_values", 127, INT32_MIN, "mask_values[127] is of padding"},
    };
    static const corruption in_window[] = {
        {"col_idx", 0, IN(16, 4), "item 0 has a vector in slot 16 of 16"},
        {"col_idx", 0, IN(1, 12), "slot 1 of item 0 has column 12 of 12"},
        {"col_idx", 0, IN(1, 5), "items[2] is 2, must be 1"},
        {"col_idx", 0, IN(2, 4), "slot 0 of item 1 holds a vector, but is none of the 1"},
        {"col_idx", 0, IN(0, 4), "slot 0 of item 1 holds a vector, but is none of the 1"},
        {"col_idx", 0, NO(1), "slot 0 of item 1 holds a vector, but is none of the 1"},
        {"col_idx", 0, IN(1, 3), "col_idx[0] is 65539, must be -2147352576"},
        {"col_idx", 1, NO(9), "col_idx[1] is -2146893824, must be -2146959360"},
        {"col_idx", 1, NO(8) + 1, "col_idx[1] is -2146959359, must be -2146959360"},
        {"window_ptr", 0, 1, "window_ptr[0] is 1, must be 0"},
        {"window_ptr", 1, 1, "items[4] is 2, must be 0"},
        {"window_ptr", 1, INT32_MIN, "vector 2 of row block 0 has column 6 after column 9"},
        {"window_ptr", 2, INT32_MAX, "window_ptr[2] is 2147483647, must be 3"},
        {"window_ptr", 3, 2, "window_ptr[3] is 2, must be 3"},
    };
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) check_corruption(&vectors[i], &plain, diag);
    for (size_t i = 0; i < sizeof in_window / sizeof *in_window; i++)
        check_corruption(&in_window[i], &windowed, diag);
    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        check_corruption(&strides[i], &in_strides, diag);
}

/* Each element in turn: refused, or packed again it is what it was. */
static void check_damage(const mc_sampled *form, mc_diag *diag) {
    static const int32_t by[] = {1, -1, 16, INT32_MIN};
    mc_packed packed, again;
    int accepted = 0;
    expect_ok("pack", mc_sampled_pack(&tiny, form, &packed, diag), diag);
    for (size_t a = 0; a < packed.array_count; a++)
        for (int64_t i = 0; i < packed.arrays[a].count; i++)
            for (int d = 0; d < 4; d++) {
                uint32_t *element = (uint32_t *)packed.arrays[a].data + i, was = *element;
                mc_vsparse mask;
                *element += (uint32_t)by[d];
                mc_status status = mc_sampled_unpack(&packed, 2, form, 6, 12, &mask, diag);
                CHECK(status == MC_OK || (status == MC_FORMAT && mc_diag_count(diag) == 1), "status %d",
                      (int)status);
                if (status == MC_OK) {
                    expect_ok("pack", mc_sampled_pack(&mask, form, &again, diag), diag);
                    CHECK(same_packed(&packed, &again), "%s[%d]", packed.arrays[a].name, (int)i);
                    mc_packed_free(&again);
                    accepted++;
                }
                mc_vsparse_free(&mask);
                mc_diag_clear(diag);
                *element = was;
            }
    CHECK(accepted > 0, "a column may be another");
    mc_packed_free(&packed);
}

static void test_arrays(mc_diag *diag) {
    mc_packed packed;
    mc_vsparse mask;
    expect_ok("pack", mc_sampled_pack(&tiny, &in_windows, &packed, diag), diag);
    expect_failure("rows", mc_sampled_unpack(&packed, 2, &in_windows, 4, 12, &mask, diag), MC_FORMAT, diag,
                   "item 1 is of row block 2 of 2");
    expect_failure("rows", mc_sampled_unpack(&packed, 2, &in_windows, 7, 12, &mask, diag), MC_USAGE, diag,
                   "7 rows are no row blocks of 2");
    expect_failure("vec", mc_sampled_unpack(&packed, 1, &in_windows, 3, 12, &mask, diag), MC_FORMAT, diag,
                   "mask_values has 10 elements, must have 5");
    packed.arrays[0].count = 11;
    expect_failure("items", mc_sampled_unpack(&packed, 2, &in_windows, 6, 12, &mask, diag), MC_FORMAT, diag,
                   "items has 11 elements, must have 4 for each item");
    packed.arrays[0].count = 8;
    expect_failure("items", mc_sampled_unpack(&packed, 2, &in_windows, 6, 12, &mask, diag), MC_FORMAT, diag,
                   "col_idx has 48 elements, must have 32");
    packed.arrays[0].count = 12;
    packed.array_count = 2;
    expect_failure("values", mc_sampled_unpack(&packed, 2, &in_windows, 6, 12, &mask, diag), MC_FORMAT, diag,
                   "there is no packed array mask_values");
    packed.array_count = 3;
    mc_packed_free(&packed);
}

static void test_other_pattern(mc_diag *diag) {
    int32_t moved[] = {1, 4, 7, 9, 0};
    mc_vsparse other = tiny;
    mc_packed packed;
    other.col_idx = moved;
    expect_ok("pack", mc_sampled_pack(&tiny, &in_windows, &packed, diag), diag);
    float *values = mc_packed_find(&packed, "mask_values")->data;
    values[0] = 77;
    expect_failure("pattern", mc_sampled_pack_values(&other, &in_windows, &packed, diag), MC_FORMAT, diag,
                   "col_idx[32] is 6, must be 7 for this mask");
    CHECK(values[0] == 77, "written all the same");
    mc_packed_free(&packed);
}

static void test_refused(mc_diag *diag) {
    static const struct {
        mc_sampled form;
        const char *message;
    } forms[] = {{{.groups = 0}, "items of 0 groups: must be 1, 2, 4 or 8"},
                 {{.groups = 1, .window = 8, .windows = true, .pair_bit = 1},
                  "pairs of columns by bit 1: must be 0 or 2"},
                 {{.groups = 3}, "items of 3 groups"},
                 {{.groups = 1, .run = 4}, "runs of 4 slots in items of 1 groups: must be 1, 2 or 4"},
                 {{.groups = 4, .run = 3}, "runs of 3 slots"},
                 {{.groups = 4, .turn = 2, .window = 8}, "2 row blocks in turn in windows of 8 columns"},
                 {{.groups = 16}, "items of 16 groups"},
                 {{.groups = 1, .window = -2}, "windows of -2 columns"},
                 {{.groups = 1, .window = 0, .windows = true}, "windows of 0 columns: must be 1 to 65536"},
                 {{.groups = 1, .window = MC_OPEN, .windows = true}, "windows of -1 columns: must be 1"},
                 {{.groups = 1, .window = 65537, .windows = true}, "windows of 65537 columns: must be 1"}};
    mc_packed packed = {0};
    mc_vsparse back, other = tiny;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        expect_failure("form", mc_sampled_pack(&tiny, &forms[i].form, &packed, diag), MC_USAGE, diag,
                       forms[i].message);
        expect_failure("form", mc_sampled_unpack(&packed, 2, &forms[i].form, 6, 12, &back, diag), MC_USAGE,
                       diag, forms[i].message);
    }
    other.type = MC_S8;
    expect_failure("type", mc_sampled_pack(&other, &in_windows, &packed, diag), MC_CANNOT, diag,
                   "C is multiplied by the mask's values as f32, the mask holds s8");
    expect_ok("pattern", mc_sampled_pack(&other, &plain, &packed, diag), diag);
    mc_packed_free(&packed);
    other.vec = 17;
    expect_failure("vec", mc_sampled_pack(&other, &plain, &packed, diag), MC_CANNOT, diag,
                   "vectors of 1 to 16 elements, the mask 17");
    int64_t huge_row_ptr[] = {0, (int64_t)INT32_MAX + 1};
    mc_vsparse huge = {MC_F32, 1, 1, 12, 1, huge_row_ptr[1], huge_row_ptr, tiny_col_idx, tiny_values, {0}};
    expect_failure("slots", mc_sampled_pack(&huge, &plain, &packed, diag), MC_CANNOT, diag,
                   "C has 2147483648 slots or more, which leave s32");
    huge_row_ptr[1] = INT32_MAX;
    mc_sampled strided = plain;
    strided.order = MC_ORDER_SRBCRS16;
    expect_failure("slots", mc_sampled_pack(&huge, &strided, &packed, diag), MC_CANNOT, diag,
                   "C has 2147483648 slots or more");
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_plain(diag);
    test_windows(diag);
    test_windowed(diag);
    test_strides(diag);
    test_groups(diag);
    test_uneven(diag);
    test_arrange(diag);
    test_masks(diag);
    test_corrupted(diag);
    check_damage(&plain, diag);
    check_damage(&in_windows, diag);
    check_damage(&in_strides, diag);
    check_damage(&windowed, diag);
    check_damage(&strides_windowed, diag);
    test_arrays(diag);
    test_other_pattern(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
