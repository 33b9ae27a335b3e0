/* Tensor copies, and a model of the box, the fill and the swizzles that is written from the CUDA programming guide's
 * pictures. */
#ifndef TESTS_SIM_TENSOR_TABLE_H
#define TESTS_SIM_TENSOR_TABLE_H

#include "async_kernel.h"

enum { TENSOR_SHARED = 16384, TENSOR_SENTINEL = 0xa5 };

/* The pictures: which 16 bytes of a row of 128 hold what would be the nth, by row. */
static const char *const pattern_128[8] = {"01234567", "10325476", "23016745", "32107654",
                                           "45670123", "54761032", "67452301", "76543210"};
static const char *const pattern_64[4] = {"01234567", "10325476", "23016745", "32107654"};
static const char *const pattern_32[2] = {"01234567", "10325476"};

static unsigned swizzled(ptxsim_swizzle swizzle, unsigned at) {
    unsigned row = at / 128, chunk = at / 16 % 8;
    const char *pattern = "01234567";
    if (swizzle == PTXSIM_SWIZZLE_128B) pattern = pattern_128[row % 8];
    if (swizzle == PTXSIM_SWIZZLE_64B) pattern = pattern_64[row % 4];
    if (swizzle == PTXSIM_SWIZZLE_32B) pattern = pattern_32[row % 2];
    return row * 128 + (unsigned)(pattern[chunk] - '0') * 16 + at % 16;
}

struct tensor_case {
    const char *name;
    ptxsim_element element;
    unsigned rank;
    uint64_t dims[3], strides[2];
    unsigned box[3];
    ptxsim_swizzle swizzle;
    int fill_nan;
    int at[3];       /* coordinates */
    unsigned shared; /* where the box lies */
};

#define NONE PTXSIM_SWIZZLE_NONE
#define S32  PTXSIM_SWIZZLE_32B
#define S64  PTXSIM_SWIZZLE_64B
#define S128 PTXSIM_SWIZZLE_128B

static const struct tensor_case tensor_cases[] = {
    {"1-d", PTXSIM_ELEMENT_U32, 1, {1000}, {0}, {64}, NONE, 0, {8}, 0},
    {"1-d before and behind", PTXSIM_ELEMENT_U32, 1, {100}, {0}, {128}, NONE, 0, {-12}, 128},
    {"1-d outside", PTXSIM_ELEMENT_U8, 1, {100}, {0}, {16}, NONE, 0, {112}, 256},
    {"bytes behind", PTXSIM_ELEMENT_U8, 1, {77}, {0}, {64}, NONE, 0, {32}, 0},
    {"bytes in front", PTXSIM_ELEMENT_U8, 1, {77}, {0}, {64}, NONE, 0, {-16}, 0},
    {"2-d", PTXSIM_ELEMENT_U8, 2, {256, 64}, {256}, {64, 16}, NONE, 0, {64, 8}, 1024},
    {"2-d, all sides", PTXSIM_ELEMENT_U16, 2, {20, 10}, {48}, {32, 16}, NONE, 0, {-8, -3}, 0},
    {"2-d above", PTXSIM_ELEMENT_U16, 2, {64, 10}, {128}, {32, 8}, NONE, 0, {8, -8}, 0},
    {"2-d below", PTXSIM_ELEMENT_U16, 2, {64, 10}, {128}, {32, 8}, NONE, 0, {8, 7}, 0},
    {"2-d left", PTXSIM_ELEMENT_U16, 2, {64, 10}, {128}, {32, 8}, NONE, 0, {-24, 1}, 0},
    {"2-d right", PTXSIM_ELEMENT_U16, 2, {64, 10}, {128}, {32, 8}, NONE, 0, {56, 1}, 0},
    {"NaN of halves", PTXSIM_ELEMENT_F16, 2, {20, 10}, {48}, {32, 16}, NONE, 1, {-8, -3}, 0},
    {"NaN of floats", PTXSIM_ELEMENT_F32, 2, {20, 10}, {96}, {32, 16}, NONE, 1, {-4, -3}, 0},
    {"swizzle 32", PTXSIM_ELEMENT_U8, 2, {256, 64}, {256}, {32, 32}, S32, 0, {32, 3}, 0},
    {"swizzle 64", PTXSIM_ELEMENT_U16, 2, {128, 64}, {256}, {32, 32}, S64, 0, {32, 3}, 0},
    {"swizzle 128", PTXSIM_ELEMENT_U8, 2, {256, 64}, {256}, {128, 32}, S128, 0, {128, 3}, 0},
    {"swizzle 128 of words", PTXSIM_ELEMENT_U32, 2, {64, 64}, {256}, {32, 64}, S128, 0, {8, 0}, 2048},
    {"swizzle 128 of a base between two patterns",
     PTXSIM_ELEMENT_U8,
     2,
     {256, 64},
     {256},
     {128, 16},
     S128,
     0,
     {0, 3},
     384},
    {"swizzle 64 of a base between two patterns",
     PTXSIM_ELEMENT_U8,
     2,
     {256, 64},
     {256},
     {64, 16},
     S64,
     0,
     {0, 3},
     128},
    {"swizzle 32 of a base between two patterns",
     PTXSIM_ELEMENT_U8,
     2,
     {256, 64},
     {256},
     {32, 16},
     S32,
     0,
     {0, 3},
     128},
    {"swizzle 128 at the edges", PTXSIM_ELEMENT_U8, 2, {100, 20}, {112}, {128, 32}, S128, 0, {-16, -7}, 1024},
    {"3-d", PTXSIM_ELEMENT_U8, 3, {64, 16, 16}, {64, 1024}, {32, 4, 4}, NONE, 0, {16, 5, 6}, 0},
    {"3-d, all sides", PTXSIM_ELEMENT_U16, 3, {12, 6, 5}, {32, 256}, {16, 8, 7}, NONE, 0, {-8, -1, -1}, 128},
    {"3-d, swizzled", PTXSIM_ELEMENT_U32, 3, {64, 16, 8}, {256, 4096}, {16, 8, 4}, S64, 0, {48, 12, 6}, 0},
    {"swizzle 128 of rows of 64", PTXSIM_ELEMENT_U8, 2, {256, 64}, {256}, {64, 16}, S128, 0, {0, 3}, 0},
    {"swizzle 128 of rows of 32", PTXSIM_ELEMENT_U16, 2, {128, 64}, {256}, {16, 16}, S128, 0, {8, 3}, 128},
    {"swizzle 128 of rows of 96", PTXSIM_ELEMENT_U8, 2, {256, 64}, {256}, {96, 16}, S128, 0, {0, 3}, 384},
    {"swizzle 64 of rows of 32", PTXSIM_ELEMENT_U8, 2, {256, 64}, {256}, {32, 16}, S64, 0, {0, 3}, 128},
    {"swizzle 32 of rows of 16", PTXSIM_ELEMENT_U32, 2, {64, 64}, {256}, {4, 16}, S32, 0, {0, 3}, 128},
    {"3-d, swizzle 64 of rows of 48",
     PTXSIM_ELEMENT_U8,
     3,
     {64, 16, 16},
     {64, 1024},
     {48, 4, 4},
     S64,
     0,
     {16, 5, 6},
     0},
    {"right edge in the middle of 16 bytes",
     PTXSIM_ELEMENT_U8,
     2,
     {77, 32},
     {256},
     {32, 4},
     NONE,
     0,
     {64, 0},
     0},
    {"right edge, words", PTXSIM_ELEMENT_U32, 2, {61, 32}, {256}, {32, 4}, NONE, 0, {32, 29}, 0},
    {"right and lower edge, swizzled",
     PTXSIM_ELEMENT_U8,
     2,
     {100, 20},
     {112},
     {128, 32},
     S128,
     0,
     {0, 7},
     1024},
    {"8 bytes", PTXSIM_ELEMENT_U64, 2, {32, 32}, {256}, {16, 16}, S128, 0, {4, 4}, 0},
};

static unsigned element_bytes(ptxsim_element e) {
    static const unsigned bytes[] = {
#define X(name, bytes, is_float) bytes,
        PTXSIM_ELEMENT_LIST(X)
#undef X
    };
    return bytes[e];
}

static unsigned box_of(const struct tensor_case *c, unsigned d) { return d < c->rank ? c->box[d] : 1; }

static unsigned bytes_of(const struct tensor_case *c) {
    return box_of(c, 0) * box_of(c, 1) * box_of(c, 2) * element_bytes(c->element);
}

/* Calls VISIT for every element of the box: where it lies in shared memory and in the tensor, or -1 outside. */
typedef void visit_fn(unsigned shared, int64_t global, const struct tensor_case *c, void *context);

/* Rows that are shorter than the swizzle's span lie as far apart as it spans. */
static unsigned pitch_of(const struct tensor_case *c) {
    static const unsigned spans[] = {[NONE] = 0, [S32] = 32, [S64] = 64, [S128] = 128};
    unsigned row = box_of(c, 0) * element_bytes(c->element);
    return row > spans[c->swizzle] ? row : spans[c->swizzle];
}

static void visit_element(const struct tensor_case *c, unsigned x, unsigned y, unsigned z, visit_fn *visit,
                          void *context) {
    unsigned bytes = element_bytes(c->element),
             shared = c->shared + (z * box_of(c, 1) + y) * pitch_of(c) + x * bytes;
    int64_t at[3] = {(int64_t)x + c->at[0], (int64_t)y + c->at[1], (int64_t)z + c->at[2]}, global = 0;
    bool inside = true;
    for (unsigned d = 0; d < c->rank; d++) {
        inside = inside && at[d] >= 0 && at[d] < (int64_t)c->dims[d];
        global += at[d] * (int64_t)(d == 0 ? bytes : c->strides[d - 1]);
    }
    visit(swizzled(c->swizzle, shared), inside ? global : -1, c, context);
}

static void each_element(const struct tensor_case *c, visit_fn *visit, void *context) {
    for (unsigned z = 0; z < box_of(c, 2); z++)
        for (unsigned y = 0; y < box_of(c, 1); y++)
            for (unsigned x = 0; x < box_of(c, 0); x++) visit_element(c, x, y, z, visit, context);
}

static unsigned char in_byte(int64_t i) { return (unsigned char)(in_word((unsigned)(i / 4)) >> i % 4 * 8); }

static void model_load(unsigned shared, int64_t global, const struct tensor_case *c, void *context) {
    unsigned char *to = (unsigned char *)context + shared;
    for (unsigned i = 0; i < element_bytes(c->element); i++) {
        unsigned char fill = !c->fill_nan ? 0 : i % 2 ? 0x7f : 0xf7;
        to[i] = global >= 0 ? in_byte(global + i) : fill;
    }
}

/* A store writes whole 16 bytes of a row that ends inside of them. */
static void model_store(unsigned shared, int64_t global, const struct tensor_case *c, void *context) {
    unsigned bytes = element_bytes(c->element);
    for (unsigned i = 0; global >= 0 && i < bytes; i++)
        ((unsigned char *)context)[global + i] = (unsigned char)((shared + i) * 7 / 3);
    int64_t pitch = c->rank > 1 ? (int64_t)c->strides[0] : INT64_MAX;
    bool last = global >= 0 && global % pitch == (int64_t)(c->dims[0] - 1) * bytes;
    for (unsigned i = bytes; last && (global + i) % 16; i++)
        ((unsigned char *)context)[global + i] = (unsigned char)((shared + i) * 7 / 3);
}

static bool can_store(const struct tensor_case *c) { return c->at[0] >= 0 && c->at[1] >= 0 && c->at[2] >= 0; }

/* -- The kernels ------------------------------------------------------------------------------------------ */

static void spell_coordinates(const struct tensor_case *c, char *text, size_t size) {
    static const char *const forms[] = {"", "{%d}", "{%d, %d}", "{%d, %d, %d}"};
    snprintf(text, size, forms[c->rank], c->at[0], c->at[1], c->at[2]);
}

/* Fills shared memory, loads the box over it and stores all of it. */
static void load_kernel(const struct tensor_case *c, char *text, size_t size) {
    char at[64], body[4096];
    spell_coordinates(c, at, sizeof at);
    snprintf(
        body, sizeof body,
        "mov.u32 %%r0, %%t; mov.u32 %%r2, 0xa5a5a5a5;\nF: shl.b32 %%r1, %%r0, 2; add.u32 %%r1, %%r1, %%s; "
        "st.shared.u32 [%%r1], %%r2; add.u32 %%r0, %%r0, 128; setp.lt.u32 %%p0, %%r0, 4096; @%%p0 bra F;\n"
        "setp.eq.u32 %%p1, %%t, 0; @%%p1 prefetch.tensormap [%%map]; @%%p1 mbarrier.init.shared::cta.b64 "
        "[%%b], "
        "1;\nfence.proxy.async; bar.sync 0;\n@%%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%%b], %u;\n"
        "@%%p1 cp.async.bulk.tensor.%ud.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%%s+%u], "
        "[%%map, "
        "%s], [%%b];\n{ W: mbarrier.try_wait.parity.shared::cta.b64 %%p0, [%%b], 0; @!%%p0 bra W; }\n"
        "mov.u32 %%r0, %%t;\nL: shl.b32 %%r1, %%r0, 2; mad.wide.u32 %%rd0, %%r0, 4, %%out; add.u32 %%r1, "
        "%%r1, "
        "%%s; ld.shared.u32 %%r2, [%%r1]; st.global.u32 [%%rd0], %%r2; add.u32 %%r0, %%r0, 128; setp.lt.u32 "
        "%%p0, "
        "%%r0, 4096; @%%p0 bra L;",
        bytes_of(c), c->rank, c->shared, at);
    snprintf(text, size, ASYNC_KERNEL, body);
}

/* Fills shared memory with bytes that say where they lie, and stores the box. */
static void store_kernel(const struct tensor_case *c, char *text, size_t size) {
    char at[64], body[4096];
    spell_coordinates(c, at, sizeof at);
    snprintf(
        body, sizeof body,
        "mov.u32 %%r0, %%t;\nF: add.u32 %%r1, %%r0, %%s; mul.lo.u32 %%r2, %%r0, 7; div.u32 %%r2, %%r2, 3; "
        "st.shared.u8 [%%r1], %%r2; add.u32 %%r0, %%r0, 128; setp.lt.u32 %%p0, %%r0, 16384; @%%p0 bra F;\n"
        "fence.proxy.async.shared::cta; bar.sync 0; setp.ne.u32 %%p1, %%t, 0; @%%p1 ret;\n"
        "cp.async.bulk.prefetch.tensor.%ud.L2.global [%%map, %s];\n"
        "cp.async.bulk.tensor.%ud.global.shared::cta.bulk_group [%%map, %s], [%%s+%u];\n"
        "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;",
        c->rank, at, c->rank, at, c->shared);
    snprintf(text, size, ASYNC_KERNEL, body);
}

enum { TENSOR_CASES = sizeof tensor_cases / sizeof *tensor_cases };

#endif
