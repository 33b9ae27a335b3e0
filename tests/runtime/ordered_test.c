/* Sums of floats in the kernels' orders: cases where the order decides, a plain definition of the gather kernel's
   order, and the bounds that every order keeps. */
#include <math.h>
#include "arithmetic/mma_sum.h"
#include "base/real.h"
#include "formats/windowed_choose.h"
#include "matrix/random.h"
#include "scratch.h"

enum { MOST_STRIDE = 64, GROUP = 32 };

/* -- Where the order decides -------------------------------------------------------------------------- */

/* 2^24, 2^26, 1 and so on, as bf16. */
enum {
    ZERO = 0x8000, /* -0 */
    ONE = 0x3f80,
    SMALL = 0x33c0, /* 3 * 2^-25 */
    BIG = 0x4b80,
    VAST = 0x4c80,
    MINUS = 0x8000, /* ^ MINUS */
    INF = 0x7f80,
    F32_ONE = 0x3f800000,
    F32_NAN = 0x7fffffff,
    TERMS = 4,
    VECTORS = 300 /* of the row block, if there are not fewer */
};

static const struct order_case {
    const char *name;
    int stride, split;
    struct {
        int vector;
        uint32_t value;
    } terms[TERMS]; /* the others are +0 */
    uint32_t sum;
} cases[] = {
    {"one mma cuts off 1", 32, 1, {{0, VAST}, {1, ONE}, {2, VAST ^ MINUS}}, 0},
    {"the second mma has slots 4 to 7", 32, 1, {{0, VAST}, {4, ONE}, {8, VAST ^ MINUS}}, F32_ONE},
    {"and 12 to 15", 32, 1, {{3, VAST}, {15, ONE}, {27, VAST ^ MINUS}}, F32_ONE},
    {"the first one has 24 to 27", 32, 1, {{0, VAST}, {24, ONE}, {31, VAST ^ MINUS}}, 0},
    {"the first group comes first", 32, 1, {{0, VAST}, {31, VAST ^ MINUS}, {32, ONE}}, F32_ONE},
    {"and stays in the sum", 32, 1, {{0, VAST}, {32, ONE}, {64, VAST ^ MINUS}}, 0},
    {"strides go from warp to warp", 32, 2, {{0, VAST}, {32, ONE}, {64, VAST ^ MINUS}}, F32_ONE},
    {"strides of 64", 64, 2, {{0, VAST}, {32, ONE}, {64, VAST ^ MINUS}}, 0},
    {"strides of 64, to the next warp", 64, 2, {{0, VAST}, {64, ONE}, {128, VAST ^ MINUS}}, F32_ONE},
    {"four warps: the second round", 32, 4, {{0, VAST}, {32, ONE}, {128, VAST ^ MINUS}}, F32_ONE},
    {"eight warps", 32, 8, {{31, VAST}, {32, ONE}, {287, VAST ^ MINUS}}, F32_ONE},
    {"warps' sums: the first two", 32, 4, {{0, BIG}, {32, ONE}, {64, ONE}, {96, BIG ^ MINUS}}, 0},
    {"and then the next", 32, 4, {{0, BIG}, {32, BIG ^ MINUS}, {64, ONE}, {96, ONE}}, 0x40000000},
    {"are rounded, not cut off", 32, 2, {{0, ONE}, {32, SMALL}}, F32_ONE + 1},
    {"one warp cuts off", 32, 1, {{0, ONE}, {32, SMALL}}, F32_ONE},
    {"zeros of both signs are +0", 32, 1, {{0, ZERO}, {1, ZERO}, {4, ZERO}}, 0},
    {"of several warps, too", 32, 4, {{0, ZERO}, {32, ZERO}, {64, ZERO}}, 0},
    {"1 - 1 is +0", 32, 2, {{0, ONE}, {32, ONE ^ MINUS}}, 0},
    {"infinity beside padding", 32, 2, {{0, INF}}, 0x7f800000},
    {"infinities of both signs", 32, 2, {{0, INF}, {32, INF ^ MINUS}}, F32_NAN},
    {"that NaN stays", 32, 4, {{0, INF}, {32, INF ^ MINUS}, {64, ONE}}, F32_NAN},
};

/* A row block of a single 1, and that of the case. B is 1, except in row VECTORS, which no vector has. */
static void check_case(const struct order_case *c, bool heads, mc_diag *diag) {
    const mc_gather_order order = {c->stride, c->split, heads, false};
    static int64_t row_ptr[] = {0, 1, VECTORS + 1};
    static int32_t columns[VECTORS + 1];
    uint16_t values[2 * (VECTORS + 1)] = {ONE};
    const mc_vsparse a = {MC_BF16, 2, 4, VECTORS + 1, 2, VECTORS + 1, row_ptr, columns, values, {0}};
    mc_dense b, sums;
    for (int v = 0; v < VECTORS; v++) columns[v + 1] = v;
    for (int i = 0; i < TERMS; i++) values[2 * (1 + c->terms[i].vector) + 1] |= (uint16_t)c->terms[i].value;
    expect_ok("create", mc_dense_create(MC_BF16, VECTORS + 1, 3, 5, &b, diag), diag);
    for (int i = 0; i <= VECTORS; i++)
        for (int j = 0; j < 3; j++) mc_dense_set(&b, i, j, i < VECTORS ? ONE : INF);
    expect_ok(c->name, mc_reference_spmm_ordered(&a, &b, &order, &sums, diag), diag);
    CHECK(sums.type == MC_F32 && sums.rows == 4 && sums.cols == 3, "%s: the sums' shape", c->name);
    for (int j = 0; j < 3; j++) {
        uint32_t sum = (uint32_t)mc_dense_get(&sums, 3, j);
        CHECK(sum == c->sum, "%s, heads %d: %08x, must be %08x", c->name, heads, sum, c->sum);
        CHECK(mc_dense_get(&sums, 0, j) == F32_ONE, "%s: the row block before", c->name);
        CHECK(mc_dense_get(&sums, 2, j) == 0, "%s: the row before", c->name);
    }
    mc_dense_free(&b);
    mc_dense_free(&sums);
}

static void test_cases(mc_diag *diag) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int heads = 0; heads < 2; heads++) check_case(&cases[i], heads, diag);
}

/* -- The ring kernel's order -------------------------------------------------------------------------- */

enum { RING_VECTORS = 128, RING_STRIDES = 4, TILE = 32, TILES_END = 40 /* columns of C */ };
static const mc_ring whole_ring = {.window = 64, .stages = 4, .tile_n = 2 * TILE, .split = 4};

/* A row of A, B of ones, and the strides of the row. */
typedef struct ring_row {
    mc_vsparse a;
    mc_dense b;
    int64_t row_ptr[2];
    int32_t columns[RING_VECTORS];
    uint16_t values[RING_VECTORS], ones[RING_VECTORS * TILES_END];
    stride_choice strides;
} ring_row;

static void make_row(ring_row *r) {
    *r = (ring_row){.row_ptr = {0, RING_VECTORS}};
    r->a = (mc_vsparse){MC_BF16, 1, 1, RING_VECTORS, 1, RING_VECTORS, r->row_ptr, r->columns, r->values, {0}};
    r->b = (mc_dense){MC_BF16, RING_VECTORS, TILES_END, TILES_END, r->ones};
    for (int v = 0; v < RING_VECTORS; v++) r->columns[v] = v;
    for (int i = 0; i < RING_VECTORS * TILES_END; i++) r->ones[i] = ONE;
    CHECK(windowed_choose(&whole_ring, RING_VECTORS, r->columns, RING_VECTORS, &r->strides) &&
              r->strides.count == RING_STRIDES,
          "%d strides", (int)r->strides.count);
}

static void put(ring_row *r, int stride, int slot, uint32_t value) {
    r->values[r->strides.items[stride].slots[slot]] = (uint16_t)value;
}

/* The sums of each part's columns in the first tile, and of the second tile's first column. */
static void check_ring(ring_row *r, const char *what, int split, const uint32_t sum[5], mc_diag *diag) {
    mc_ring ring = whole_ring;
    mc_dense sums;
    ring.split = split;
    expect_ok(what, mc_reference_spmm_ring_ordered(&r->a, &r->b, &ring, false, &sums, diag), diag);
    for (int j = 0; j <= TILE; j++) {
        uint32_t is = (uint32_t)mc_dense_get(&sums, 0, j);
        CHECK(is == sum[j / 8], "%s, split %d, column %d: %08x, must be %08x", what, split, j, is,
              sum[j / 8]);
    }
    mc_dense_free(&sums);
    memset(r->values, 0, sizeof r->values);
}

static void test_ring(mc_diag *diag) {
    enum { TWO = 0x40000000 };
    static const uint32_t zeros[5] = {0}, ones[5] = {F32_ONE, F32_ONE, F32_ONE, F32_ONE, F32_ONE},
                          parts[5] = {0, F32_ONE, TWO, TWO, 0};
    static ring_row r;
    make_row(&r);
    put(&r, 0, 0, VAST), put(&r, 0, 7, ONE), put(&r, 0, 15, VAST ^ MINUS);
    check_ring(&r, "the first mma has slots 0 to 15", 1, zeros, diag);
    put(&r, 0, 0, VAST), put(&r, 0, 16, ONE), put(&r, 0, 15, VAST ^ MINUS);
    check_ring(&r, "and the second one those from 16 on", 1, ones, diag);
    put(&r, 0, 0, VAST), put(&r, 1, 0, ONE), put(&r, 2, 0, VAST ^ MINUS);
    check_ring(&r, "strides come in their order", 1, zeros, diag);
    put(&r, 0, 0, VAST), put(&r, 1, 0, ONE), put(&r, 2, 0, VAST ^ MINUS);
    check_ring(&r, "strides go from part to part", 2, ones, diag);
    put(&r, 0, 0, BIG), put(&r, 1, 0, ONE), put(&r, 2, 0, ONE), put(&r, 3, 0, BIG ^ MINUS);
    check_ring(&r, "each part begins with its own sum", 4, parts, diag);
    free(r.strides.items);
    free(r.strides.taken);
}

/* Steps of an mma of 8 bits: slots 0 to 7 and 16 to 23 come first, then the others and the first sum. 448 *
   448 leaves no bit for 2^-18. */
static void test_ring_steps(mc_diag *diag) {
    enum { GREAT = 0x7e, LEAST = 0x01, NEGATIVE = 0x80, TINY_SUM = 0x36800000 /* 2^-18 */ };
    static const struct {
        const char *what;
        int great, least, minus;
        uint32_t sum;
    } steps[] = {{"one step", 0, 7, 16, 0},
                 {"both halves", 23, 16, 0, 0},
                 {"the second step", 8, 31, 24, 0},
                 {"behind the first", 0, 8, 23, TINY_SUM},
                 {"before the second", 15, 0, 8, 0}};
    static uint8_t values[RING_VECTORS], rows[RING_VECTORS];
    static ring_row r;
    mc_ring ring = whole_ring;
    make_row(&r);
    ring.split = 1;
    r.a.type = r.b.type = MC_E4M3, r.a.values = values, r.b.data = rows, r.b.cols = r.b.ld = 1;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const int64_t *slots = r.strides.items[0].slots;
        mc_dense sums;
        memset(values, 0, sizeof values);
        values[slots[steps[i].great]] = rows[slots[steps[i].great]] = rows[slots[steps[i].minus]] = GREAT;
        values[slots[steps[i].minus]] = GREAT | NEGATIVE;
        values[slots[steps[i].least]] = rows[slots[steps[i].least]] = LEAST;
        expect_ok("steps", mc_reference_spmm_ring_ordered(&r.a, &r.b, &ring, false, &sums, diag), diag);
        uint32_t is = (uint32_t)mc_dense_get(&sums, 0, 0);
        CHECK(is == steps[i].sum, "%s: %08x, must be %08x", steps[i].what, is, steps[i].sum);
        mc_dense_free(&sums);
    }
    free(r.strides.items);
    free(r.strides.taken);
}

/* -- Random matrices ---------------------------------------------------------------------------------- */

typedef struct matrices {
    mc_vsparse a;
    mc_dense b, sums, bounds;
} matrices;

/* Of either sign; within SPREAD powers of two of 1; and now and then zero, subnormal or, of f16, near it. */
static uint32_t number(mc_type type, mcrt_random *random, int spread) {
    uint32_t sign = type == MC_F16 || type == MC_BF16 ? 0x8000 : 0;
    uint64_t r = random_next(random);
    if (r % 16 == 0) return (uint32_t)(r >> 32) & (sign | (type == MC_F16 ? 0x7ff : 0xff));
    int exponent = (int)(r / 16 % (unsigned)(2 * spread + 1)) - spread;
    return real_to_bits(type, ldexpf((float)random_normal(random), exponent));
}

static void make_matrices(mc_type type, int vec, int spread, uint64_t seed, matrices *m, mc_diag *diag) {
    const mc_pattern pattern = {5, 700, .4, MC_PATTERN_UNIFORM, .5, seed};
    mcrt_random random = random_start(seed, 3);
    mc_csr csr;
    expect_ok("generate", mc_csr_generate(&pattern, &csr, diag), diag);
    expect_ok("dilate", mc_vsparse_dilate(&csr, vec, type, &m->a, diag), diag);
    expect_ok("create", mc_dense_create(type, m->a.cols, 3, 4, &m->b, diag), diag);
    for (int64_t i = 0; i < m->a.vectors * vec; i++)
        mc_vsparse_set_value(&m->a, i / vec, (int)(i % vec), number(type, &random, spread));
    for (int64_t i = 0; i < m->b.rows * 3; i++)
        mc_dense_set(&m->b, i / 3, i % 3, number(type, &random, spread));
    expect_ok("sums", mc_reference_spmm(&m->a, &m->b, &m->sums, diag), diag);
    expect_ok("bounds", mc_reference_spmm_bounds(&m->a, &m->b, &m->bounds, diag), diag);
    mc_csr_free(&csr);
}

static void free_matrices(matrices *m) {
    mc_vsparse_free(&m->a);
    mc_dense_free(&m->b);
    mc_dense_free(&m->sums);
    mc_dense_free(&m->bounds);
}

/* The order in other words: vector v of a row block is in stride v / stride, which is warp (v / stride) mod
   split's; its mma is the (v / 32 * 2 + v / 4 % 2)-th. */
static uint32_t plain_sum(const matrices *m, const mc_gather_order *order, int64_t row, int64_t column) {
    const mc_vsparse *a = &m->a;
    int64_t block = row / a->vec, first = a->row_ptr[block], count = a->row_ptr[block + 1] - first;
    uint32_t total = 0;
    mma_form form = {0};
    CHECK(mma_form_of(a->type, a->type, &form), "no mma");
    for (int warp = 0; warp < order->split; warp++) {
        uint32_t sum = 0;
        for (int64_t mma = 0; mma < count / GROUP * 2 + 2; mma++) {
            uint32_t x[16] = {0}, y[16] = {0};
            int terms = 0;
            for (int64_t v = mma / 2 * GROUP; v < (mma / 2 + 1) * GROUP && v < count; v++) {
                if (v / 4 % 2 != mma % 2 || v / order->stride % order->split != warp) continue;
                x[terms] = (uint32_t)mc_vsparse_value(a, first + v, (int)(row % a->vec));
                y[terms++] = (uint32_t)mc_dense_get(&m->b, a->col_idx[first + v], column);
            }
            sum = mma_sum(&form, x, y, sum);
        }
        total = warp ? mma_add_sums(total, sum) : sum;
    }
    return total;
}

static void check_order(const matrices *m, const mc_gather_order *order, mc_diag *diag) {
    mc_dense got;
    expect_ok("ordered", mc_reference_spmm_ordered(&m->a, &m->b, order, &got, diag), diag);
    for (int64_t i = 0; i < m->a.rows; i++)
        for (int64_t j = 0; j < m->b.cols; j++) {
            uint32_t want = plain_sum(m, order, i, j), is = (uint32_t)mc_dense_get(&got, i, j);
            double error = fabs(mc_dense_real(&got, i, j) - mc_dense_real(&m->sums, i, j)),
                   bound = mc_dense_real(&m->bounds, i, j);
            CHECK(is == want, "V %d, stride %d, split %d: C[%d][%d] is %08x, must be %08x", m->a.vec,
                  order->stride, order->split, (int)i, (int)j, is, want);
            CHECK(error <= bound, "V %d, stride %d, split %d: C[%d][%d] is off by %g, bound %g", m->a.vec,
                  order->stride, order->split, (int)i, (int)j, error, bound);
        }
    mc_dense_free(&got);
}

static void check_bounds(const matrices *m, const mc_ring *ring, mc_diag *diag) {
    mc_dense got;
    expect_ok("ring", mc_reference_spmm_ring_ordered(&m->a, &m->b, ring, false, &got, diag), diag);
    for (int64_t i = 0; i < m->a.rows; i++)
        for (int64_t j = 0; j < m->b.cols; j++) {
            double error = fabs(mc_dense_real(&got, i, j) - mc_dense_real(&m->sums, i, j)),
                   bound = mc_dense_real(&m->bounds, i, j);
            CHECK(error <= bound, "ring, V %d, split %d: C[%d][%d] is off by %g, bound %g", m->a.vec,
                  ring->split, (int)i, (int)j, error, bound);
        }
    mc_dense_free(&got);
}

static void test_random(mc_diag *diag) {
    static const mc_type types[] = {MC_F16, MC_BF16};
    for (int i = 0; i < 2 * 3 * 2; i++) {
        matrices m;
        make_matrices(types[i % 2], 2 << i / 2 % 3, i / 6 ? 12 : 2, (uint64_t)i, &m, diag);
        for (int stride = GROUP; stride <= MOST_STRIDE; stride += GROUP)
            for (int split = 1; split <= 8; split *= 2)
                check_order(&m, &(mc_gather_order){stride, split, split != 4, false}, diag);
        for (int split = 1; split <= 8; split *= 2)
            check_bounds(&m, &(mc_ring){.window = 64, .stages = 3, .tile_n = 128, .split = split}, diag);
        free_matrices(&m);
    }
}

/* -- The ends ----------------------------------------------------------------------------------------- */

/* A subnormal factor lets an mma cut off more than the products' magnitudes tell: 2^-24 * 2^15 counts as 2. */
static void test_subnormal(mc_diag *diag) {
    enum { COUNT = 8 };
    int64_t row_ptr[] = {0, COUNT};
    int32_t columns[COUNT];
    uint16_t values[COUNT], rows[COUNT];
    const mc_vsparse a = {MC_F16, 1, 1, COUNT, 1, COUNT, row_ptr, columns, values, {0}};
    const mc_dense b = {MC_F16, COUNT, 1, 1, rows};
    mc_dense sums, bounds, ordered;
    for (int i = 0; i < COUNT; i++) columns[i] = i, values[i] = 0x0800, rows[i] = 0x0c00; /* 2^-25 each */
    values[0] = 0x0001, rows[0] = 0x7800;
    expect_ok("sums", mc_reference_spmm(&a, &b, &sums, diag), diag);
    expect_ok("bounds", mc_reference_spmm_bounds(&a, &b, &bounds, diag), diag);
    expect_ok("ordered",
              mc_reference_spmm_ordered(&a, &b, &(mc_gather_order){32, 1, true, false}, &ordered, diag),
              diag);
    double error = mc_dense_real(&sums, 0, 0) - mc_dense_real(&ordered, 0, 0);
    CHECK(error > 0 && error <= mc_dense_real(&bounds, 0, 0), "off by %g, bound %g", error,
          mc_dense_real(&bounds, 0, 0));
    mc_dense_free(&sums);
    mc_dense_free(&bounds);
    mc_dense_free(&ordered);
}

static void expect_refusal(const mc_vsparse *a, const mc_dense *b, mc_gather_order order, mc_status want,
                           const char *text, mc_diag *diag) {
    mc_dense c = {.data = &c};
    expect_failure(text, mc_reference_spmm_ordered(a, b, &order, &c, diag), want, diag, text);
    CHECK(c.data == NULL, "%s: the output is not zeroed", text);
}

static void test_refused(mc_diag *diag) {
    int64_t row_ptr[] = {0, 0};
    mc_vsparse a = {MC_F16, 2, 2, 3, 1, 0, row_ptr, NULL, NULL, {0}};
    mc_dense b, c;
    expect_ok("create", mc_dense_create(MC_F16, 3, 1, 1, &b, diag), diag);
    expect_ok("nothing", mc_reference_spmm_ordered(&a, &b, &(mc_gather_order){32, 2, true, false}, &c, diag),
              diag);
    CHECK(mc_dense_get(&c, 0, 0) == 0 && mc_dense_get(&c, 1, 0) == 0, "an empty row block is not +0");
    mc_dense_free(&c);
    expect_refusal(&a, &b, (mc_gather_order){16, 1, true, false}, MC_USAGE, "strides of 16 slots", diag);
    expect_refusal(&a, &b, (mc_gather_order){0, 1, true, false}, MC_USAGE, "strides of 0 slots", diag);
    expect_refusal(&a, &b, (mc_gather_order){48, 1, true, false}, MC_USAGE, "strides of 48 slots", diag);
    expect_refusal(&a, &b, (mc_gather_order){32, 0, true, false}, MC_USAGE, "0 warps share", diag);
    expect_refusal(&a, &b, (mc_gather_order){32, 33, true, false}, MC_USAGE, "33 warps share", diag);
    expect_refusal(&a, &b, (mc_gather_order){1 << 30, 32, true, false}, MC_CANNOT, "leave s32", diag);
    expect_failure("ring", mc_reference_spmm_ring_ordered(&a, &b, &(mc_ring){0}, false, &c, diag), MC_USAGE,
                   diag, "no ring: 0 windows");
    CHECK(c.data == NULL, "the output is not zeroed");
    a.type = MC_BF16;
    expect_refusal(&a, &b, (mc_gather_order){32, 1, true, false}, MC_CANNOT, "A is bf16, B is f16: no mma",
                   diag);
    a.type = MC_F16, a.cols = 4;
    expect_refusal(&a, &b, (mc_gather_order){32, 1, true, false}, MC_USAGE, "A has 4 columns, B has 3", diag);
    mc_dense_free(&b);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    test_cases(diag);
    test_ring(diag);
    test_ring_steps(diag);
    test_random(diag);
    test_subnormal(diag);
    test_refused(diag);
    mc_diag_destroy(diag);
    return check_end();
}
