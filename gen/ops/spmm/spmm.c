/* The family `spmm`: C = A B with A in V x 1 nonzero vectors. Schema, plan, contract and facts; check.c says
   what fields have against each other.

   Operands are swapped, C^T = B^T A^T: columns of B are the mma's 16 rows and the rows of a row block its 8
   columns, so that m16n8k32 is full at V = 8. At V = 4 and 2 the other columns are empty. Without a ring,
   `order` can be the paper's instead: rows of A are then the 8 rows of m8n8k16, columns of B its columns.

   A warp takes a stride of nonzero vectors at a time. How their rows of B reach it is the field `staging`:

     direct   Each lane loads its vectors' rows straight into registers; `split` warps share a row block's
              strides and add up through shared memory. direct.c plans; emit.c, loop.c and store.c emit.
     tma      Windows of B go through a ring in shared memory, from which all row blocks of the thread block
              gather; a warp of its own copies. ring.c plans, ring_emit.c emits.
     async    The same ring, copied by all threads (ring_async.c).
     shared   As direct, but the rows of B go through shared memory, as in Magicube (shared.c). */
#include "ops/spmm/fields.h"
#include "parts/batch.h"
#include "parts/fragment.h"
#include <stdio.h>
#include <string.h>

static const char *const ops[] = {"spmm", NULL};
static const char *const biases[] = {"none", "row", "column", NULL};
static const char *const sum_kinds[] = {"wrap", "exact", NULL};
static const char *const stackings[] = {"auto", "off", "on", NULL};
static const char *const orders[] = {"swapped", "paper", NULL};        /* in the order of spmm_order */
static const char *const mma_types[] = {"auto", "int8", "int4", NULL}; /* in the order of spmm_mma_type */
const char *const spmm_stagings[] = {"direct", "tma", "async", "shared", NULL};
static const int strides[] = {32, 64, 0}, tiles[] = {32, 64, 128, 256, 0}, splits[] = {1, 2, 4, 8, 0},
                 warp_counts[] = {1, 2, 3, 4, 7, 8, 11, 15, 16, 0}, windows[] = {64, 128, 256, 0},
                 stage_counts[] = {2, 3, 4, 6, 8, 12, 0};

static const char *const outs[] = {"s32", "f16", "bf16",
                                   "f32", "s64", NULL}; /* in the order of out_element */

static const mc_field fields[] = {
    {"op", NAMES = ops, .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = digit_side_names,
     .doc = "Type of A's values. Those of 12 and 16 bits are multiplied as two digits of 8 bits each, those "
            "of 4 bits are packed a byte each; mma = \"int4\" takes digits of 4 bits, two to a byte."},
    {"rhs", NAMES = digit_side_names,
     .doc = "Type of B. Two elements of 4 bits make a byte, the even column in its low half; ldb is even "
            "then; mma says what they are multiplied as. Those of 12 and 16 bits take two bytes and are "
            "multiplied as two digits: tile_n is 32 or 64 then."},
    {"out", NAMES = outs,
     .doc = "Type of C. s32 and s64: the sums. Others: out(f32(sum) * scale), or "
            "out(fma(f32(sum), scale, bias)), each step rounded to nearest even (docs/output.md)."},
    {"scale", NAMES = out_per_names, .quiet = true,
     .doc = "Scales of f16, bf16 and f32: one f32 for all of C, or one for each of its m rows or n "
            "columns."},
    {"bias", NAMES = biases, .quiet = true,
     .doc = "Biases of f16, bf16 and f32: an f32 for each of C's m rows or n columns."},
    {"act", NAMES = out_act_names, .quiet = true,
     .doc = "Activation of f16, bf16 and f32, of what scale and bias give, before it is rounded to C's type. "
            "relu: "
            "the greater of it and 0, a NaN stays one."},
    {"sum", NAMES = sum_kinds, .quiet = true,
     .doc =
         "wrap: sums are exact modulo 2^32. exact: in s64, for out = s64 or what is rounded from it, in the "
         "kernels without a ring. --describe says from which length of a row on it matters."},
    {"vec", NUMBERS = family_vecs, .standard = 8,
     .doc = "V: rows of a nonzero vector, and so of a row block."},
    {"stride", NUMBERS = strides, .standard = 32, .tunable = true,
     .doc = "Nonzero vectors that a warp takes at a time; row blocks are padded to whole strides. 64 has "
            "twice the loads in flight and wants more registers."},
    {"tile_n", NUMBERS = tiles, .standard = 128, .tunable = true,
     .doc =
         "Columns of C that a thread block computes. A row of B is read in pieces of 32 to 128 bytes: 128 is "
         "a whole line, less makes more blocks. 256 is for 4 bits."},
    {"warps", NUMBERS = warp_counts, .standard = 4, .tunable = true,
     .doc = "Warps of a thread block that multiply. tma has one more, which copies: 3, 7, 11 and 15 make "
            "whole fours, "
            "which is how registers are given out."},
    {"split", NUMBERS = splits, .standard = 1, .tunable = true,
     .doc = "Warps that share one row block's strides and add up through shared memory; warps / split row "
            "blocks make a thread block. More helps where row blocks are few. A row block is padded to a "
            "stride for "
            "each of them."},
    {"prefetch", SWITCH, .standard = 1, .tunable = true,
     .doc = "What is under way during a stride's mma. on, staging direct: the next stride's indices and "
            "values of A; its rows of B are asked for when its turn comes. on, staging shared: the next "
            "stride's rows of B and values, and the indices of the stride behind it, as in Magicube's "
            "Algorithm 1 (on the edge path, as direct). off: nothing. The ring of tma and async is always "
            "ahead."},
    {"digits", NAMES = digit_mode_names, .quiet = true,
     .doc = "How values of lhs that take several digits are cut. top-signed: the top digit has their sign, "
            "the others "
            "none. balanced: all have one, -128 to 127 (of 4 bits: -8 to 7), so that signed values can be "
            "stacked; the greatest ones have no such digits, of s16 those from 32640 (30584) on, and packing "
            "refuses them. offset: digits of the value plus half its range, without signs; a row of ones in "
            "the packed values takes that out of the sums again, in a column of the mma that vec = 8 does "
            "not leave free."},
    {"precision_split", NAMES = digit_split_names, .tunable = true, .quiet = true,
     .doc = "Widths of the digits that lhs is multiplied in, the top one first. s8 takes \"8\", s12 "
            "\"4+8\", s16 \"8+8\"; with a 4-bit rhs and staging direct or shared also digits of 4, \"4+4\", "
            "\"4+4+4\" and \"4+4+4+4\", by 4-bit mma. auto: as mma has it; where mma is auto, the split "
            "decides."},
    {"stacking", NAMES = stackings, .tunable = true,
     .doc =
         "Digits of lhs side by side in columns of the mma that a vector of 2 or 4 rows leaves empty: one "
         "mma for "
         "several. They must have one sign: those of unsigned values, balanced or offset ones. auto: where "
         "possible."},
    {"mma", NAMES = mma_types, .tunable = true, .quiet = true,
     .doc = "What a 4-bit rhs is multiplied as. int4: as it is, by 4-bit mma, with lhs in digits of 4 bits; "
            "without a ring (staging direct and shared); on every GPU, natively on sm_80, "
            "sm_86 and sm_89. int8: as bytes. auto: int4 where arch has it natively, the kernel takes it, "
            "digits are top-signed and sums wrap, or where precision_split says so; tile_n = 256 wants int8 "
            "then."},
    {"shuffle", SWITCH, .standard = 1, .tunable = true, .quiet = true,
     .doc = "Of 4-bit mma. on: the packer permutes the indices inside each 8 slots, Magicube's index "
            "shuffle, so that a transpose by bytes leaves 4-bit values in the right order. off: indices are "
            "in plain order, and the kernel orders the values, two prmt more for 16 of them."},
    {"staging", NAMES = spmm_stagings,
     .doc = "How rows of B reach the mma. direct: from global memory to registers, transposed there. tma: in "
            "windows of rows through a ring in shared memory, from which the warps of a thread block gather; "
            "B's address and ldb must be multiples of 16. async: the same ring, copied by the threads "
            "themselves (cp.async), on every GPU; multiples of 4 are enough, of 16 best. shared: direct by "
            "the way "
            "of shared memory, as in Magicube: each warp copies the rows of a stride (cp.async) and reads "
            "them back."},
    {"padding", SWITCH, .standard = 1, .tunable = true, .quiet = true,
     .doc = "Of staging shared. on: 32 bytes behind the rows of each 8 vectors, so that reads meet no bank "
            "twice "
            "(Magicube, figure 4). off: rows back to back."},
    {"heads", SWITCH, .standard = 1, .quiet = true,
     .doc = "Where A's strides lie. on: the first strides of all row blocks come first, so that no warp "
            "waits for "
            "row_ptr. off: row block after row block, each in whole strides, as an SDDMM of order srbcrs32 "
            "writes "
            "its result, which may then be the values of A: of 8 bits, with stride 32 and staging direct or "
            "shared."},
    {"order", NAMES = orders, .tunable = true, .quiet = true,
     .doc = "Which operand of the mma A is, where there is no ring. swapped: its columns, and B the 16 rows: "
            "m16n8k32. paper: its "
            "rows, and B the columns, as in Magicube: m8n8k16, four of them for one of the others (int4: "
            "m8n8k32)."},
    {"window", NUMBERS = windows, .standard = STANDARD_WINDOW, .tunable = true, .quiet = true,
     .doc = "Rows of B that are copied at once into the ring of staging tma or async."},
    {"stages", NUMBERS = stage_counts, .standard = STANDARD_STAGES, .tunable = true, .quiet = true,
     .doc = "Windows that the ring of staging tma or async holds."},
    {"resident", SWITCH, .tunable = true, .quiet = true,
     .doc = "on: where the ring holds all rows of B (k <= window * stages), a thread block fills it once and "
            "takes row blocks in turn, as many thread blocks as the GPU holds at once; elsewhere as off."},
    {"overlap", SWITCH, .tunable = true, .quiet = true,
     .doc = "on: launched with programmatic stream serialization, the kernel starts while the one before it "
            "still runs, and reads A's packed arrays meanwhile: nothing in the stream may be writing them."},
    BATCH_FIELD,
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that B's address is promised to be a multiple of; C's too, and at least "
            "an element's size. cuMemAlloc gives 256. Below 16 the kernel tests the addresses."},
    {"m", SHAPE,
     .doc = "Rows of A and C, a multiple of vec. open: a kernel parameter, where the kernel needs it."},
    {"n", SHAPE, .doc = "Columns of B and C. Fixed, it saves the guards that can be proven away."},
    {"k", SHAPE, .doc = "Columns of A, rows of B. Fixed, a matrix of another width is refused."},
    {"ldb", SHAPE,
     .doc =
         "Elements from one row of B to the next, at least n. 16-byte loads want a multiple of tile_n / 8."},
    {"ldc", SHAPE,
     .doc = "Elements from one row of C to the next, at least n. 16-byte stores want a multiple of 4, "
            "or of 8 where elements have 16 bits, 2 where they have 64."},
};
SCHEMA_FITS(fields, F_LDC);

/* -- Plan --------------------------------------------------------------------------------------------- */

static out_kind output_of(const int64_t *point) {
    static const out_per bias_of[] = {OUT_PER_NONE, OUT_PER_ROW, OUT_PER_COLUMN};
    return (out_kind){(out_element)point[F_OUT], (out_per)point[F_SCALE], bias_of[point[F_BIAS]],
                      point[F_SUM] != 0, (out_act)point[F_ACT]};
}

static void plan_digits(const int64_t *point, spmm_plan *plan, mc_complaints *complaints) {
    char why[SPMM_WHY];
    bool can_stack = spmm_can_stack(plan, why);
    spmm_plan_mma(plan, can_stack && point[F_STACKING] != STACKING_OFF);
    if (plan->mode != DIGITS_TOP_SIGNED && (!plan->lhs.is_signed || plan->a.count == 1))
        complain(complaints, F_DIGITS, "\"%s\" is for a signed lhs of several digits, not for \"%s\"",
                 digit_mode_names[plan->mode], plan->lhs.name);
    else if (plan->ones && plan->vec == SPMM_MMA_ROWS)
        complain(complaints, F_DIGITS, "\"offset\" wants a free column of the mma: vec = 8 leaves none");
    else if (!can_stack && point[F_STACKING] == STACKING_ON) complain(complaints, F_STACKING, "%s", why);
}

/* Whether mma = "auto" takes digits of 4 bits. The split of lhs says it. Where that is auto, too, the answer
   is no where such digits do less, and the spec has to ask for them: balanced digits of 4 bits reach less far
   than those of 8, and up to four sums of an element leave fewer registers for exact ones. */
static bool prefers_int4(const int64_t *point) {
    digit_side lhs = digit_sides[point[F_LHS]];
    bool usual = point[F_DIGITS] == DIGITS_TOP_SIGNED && !point[F_SUM] && mc_archs[point[FIELD_ARCH]].int4;
    bool in_bytes = digit_split_fits(point[F_PRECISION_SPLIT], lhs, DIGIT_BITS);
    bool in_nibbles = digit_split_fits(point[F_PRECISION_SPLIT], lhs, NIBBLE_BITS);
    return in_bytes == in_nibbles ? usual : in_nibbles;
}

static bool takes_int4(const int64_t *point) {
    bool gathers = point[F_STAGING] == SPMM_DIRECT || point[F_STAGING] == SPMM_SHARED;
    if (digit_sides[point[F_RHS]].bits != 4 || !gathers || point[F_MMA] == SPMM_INT8) return false;
    return point[F_MMA] == SPMM_INT4 || prefers_int4(point);
}

_Static_assert(sizeof(spmm_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    spmm_plan *plan = out;
    bool int4 = takes_int4(point);
    int digit_bits = int4 ? NIBBLE_BITS : DIGIT_BITS;
    *plan = (spmm_plan){
        .output = output_of(point),
        .lhs = digit_sides[point[F_LHS]],
        .rhs = digit_sides[point[F_RHS]],
        .vec = (int)point[F_VEC],
        .a = digits_of(digit_sides[point[F_LHS]], digit_bits, (digit_mode)point[F_DIGITS]),
        .b = digits_of(digit_sides[point[F_RHS]], digit_bits, DIGITS_TOP_SIGNED),
        .mode = (digit_mode)point[F_DIGITS],
        .ones = point[F_DIGITS] == DIGITS_OFFSET,
        .int4 = int4,
        .shuffle = point[F_SHUFFLE] != 0,
        .staging = (spmm_staging)point[F_STAGING],
        .window = (int)point[F_WINDOW],
        .stages = (int)point[F_STAGES],
        .overlap = point[F_OVERLAP] != 0,
        .resident = point[F_RESIDENT] != 0,
        .padding = point[F_PADDING] != 0,
        .heads = point[F_HEADS] != 0,
        .batch = point[F_BATCH] != 0,
        .order = (spmm_order)point[F_ORDER],
        .stride = (int)point[F_STRIDE],
        .tile_n = (int)point[F_TILE_N],
        .warps = (int)point[F_WARPS],
        .split = (int)point[F_SPLIT],
        .align = (int)point[F_ALIGN],
        .prefetch = point[F_PREFETCH] != 0,
        .m = point[F_M],
        .n = point[F_N],
        .k = point[F_K],
        .ldb = point[F_LDB],
        .ldc = point[F_LDC],
    };
    plan_digits(point, plan, complaints);
    plan->takes_halves = plan->rhs.bits == 4 && plan->b.bits == DIGIT_BITS;
    plan->times_16 = plan->takes_halves && plan->k <= spmm_exact_k(plan); /* an open k is bounded instead */
    if (plan->split > plan->warps) {
        complain(complaints, F_SPLIT, "%d warps cannot share a row block in a thread block of %d",
                 plan->split, plan->warps);
        plan->split = plan->warps;
    }
    spmm_check_fields(point, plan, complaints);
    plan->row_blocks = plan->warps / plan->split;
    plan->guard_rows = plan->resident || (plan->row_blocks > 1 &&
                                          (plan->m == MC_OPEN || plan->m / plan->vec % plan->row_blocks));
    if (spmm_is_ring(plan)) spmm_ring_plan(plan);
    else spmm_direct_plan(plan);
    spmm_check_kernel(point, plan, complaints);
}

/* -- Contract and facts ------------------------------------------------------------------------------- */

const char *spmm_b_doc(const spmm_plan *plan, bool as_map) {
    static const char *const docs[][2][2] = {
#define OF(type, more)                                                                                       \
    {{"B: u" type more, "B: s" type more}, {"tensor map of B: u" type more, "tensor map of B: s" type more}}
        [0] = OF("4[k][ldb], row-major", ", the even column in a byte's low half"),
        [1] = OF("8[k][ldb], row-major", ""),
        [2] = OF("16[k][ldb], row-major", ""),
#undef OF
    };
    int bytes = plan->rhs.bits == 4 ? 0 : side_bytes(plan->rhs);
    return docs[bytes][as_map][plan->rhs.is_signed];
}

enum { BATCH_ARRAYS = 3 };

static void list_batch(const spmm_plan *plan, mc_batch_array arrays[BATCH_ARRAYS]) {
    int b_bits = plan->rhs.bits == 4 ? 4 : 8 * side_bytes(plan->rhs);
    arrays[0] =
        (mc_batch_array){"values", "values_stride", "elements from one product's values to the next's", 8};
    arrays[1] = (mc_batch_array){"b", "b_stride", "elements from one product's B to the next's", b_bits};
    arrays[2] = (mc_batch_array){"c", "c_stride", "elements from one product's C to the next's",
                                 8 * out_element_bytes(plan->output.element)};
}

static void make_contract(const void *data, mc_contract *c) {
    const spmm_plan *plan = data;
    bool ring = spmm_is_ring(plan), map = plan->staging == SPMM_TMA;
    if (ring) spmm_ring_contract(plan, c);
    else spmm_direct_contract(plan, c);
    out_add_dense(&plan->output, (unsigned)plan->align, c);
    add_shape(c, "m", plan->guard_rows ? plan->m : 0, "rows of A and C, a multiple of vec");
    add_shape(c, "n", plan->n, "columns of B and C");
    add_shape(c, "k", ring ? plan->k : 0, "columns of A, rows of B");
    add_shape(c, "ldb", map ? 0 : plan->ldb, "elements from one row of B to the next");
    add_shape(c, "ldc", plan->ldc, "elements from one row of C to the next");
    c->sums = (mc_sums){.lhs = plan->lhs.name,
                        .rhs = plan->rhs.name,
                        .exact = plan->output.exact,
                        .largest_product = spmm_largest_product(plan),
                        .bound = spmm_sum_bound(plan),
                        .products = "vectors a row",
                        .k = plan->k};
    c->overlap = plan->overlap;
    c->turn_k = plan->resident ? (int64_t)plan->window * plan->stages : 0;
    c->grid[0] = (mc_grid_axis){"m", (int64_t)plan->vec * plan->row_blocks};
    c->grid[1] = (mc_grid_axis){"n", plan->tile_n};
    c->grid[2] = (mc_grid_axis){NULL, 1};
    mc_batch_array arrays[BATCH_ARRAYS];
    list_batch(plan, arrays);
    if (plan->batch) batch_contract(c, arrays, BATCH_ARRAYS);
    c->block[0] = (unsigned)plan->threads;
    c->block[1] = c->block[2] = 1;
    *(ring ? &c->shared_dynamic : &c->shared_static) = plan->shared_bytes;
}

static const char *mma_doc(const spmm_plan *plan) {
    if (plan->order == SPMM_PAPER)
        return plan->int4 ? "m8n8k32 instructions, a stride and warp"
                          : "m8n8k16 instructions, a stride and warp";
    return plan->depth == 64 ? "m16n8k64 instructions, a stride and warp"
                             : "m16n8k32 instructions, a stride and warp";
}

static void make_facts(const void *data, mc_facts *facts) {
    const spmm_plan *plan = data;
    add_fact(facts, "tile_rows", plan->vec * plan->row_blocks, "rows of C a thread block");
    add_fact(facts, "tile_columns", plan->tile_n, "columns of C a thread block");
    add_fact(facts, "threads", plan->threads, "a thread block");
    add_fact(facts, "shared_bytes", plan->shared_bytes, "of a thread block");
    add_fact(facts, "stride_b_bytes", plan->stride * side_row_bytes(plan->rhs, plan->tile_n),
             "gathered from B, a stride and warp");
    add_fact(facts, "stride_a_bytes", plan->stride_a_bytes, "of A's packed arrays, a stride and warp");
    add_fact(facts, "stride_mma", plan->stride_mma, mma_doc(plan));
    if (plan->planes > 1) add_fact(facts, "stacked_digits", plan->planes, "of lhs that share an mma");
    if (spmm_is_ring(plan)) {
        add_fact(facts, "window_bytes", plan->window * side_row_bytes(plan->rhs, plan->tile_n),
                 "of B, copied at once");
        return;
    }
    if (plan->output.exact)
        add_fact(facts, "flush_strides", plan->flush_strides,
                 "after which accumulators are added to sums in s64; 0: once, at the end");
    add_fact(facts, "wide_path", plan->wide.emitted, "vector loads of B");
    add_fact(facts, "edge_path", plan->edge.emitted, "guarded narrow loads of B");
}

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const spmm_plan *plan = data;
    const char *out = out_element_name(plan->output.element);
    const char *act = plan->output.act == OUT_ACT_RELU ? "_relu" : "";
    if (spmm_is_ring(plan))
        snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s_v%d_%s_n%d_w%d_s%d_b%dx%d%s", plan->lhs.name,
                 plan->rhs.name, out, act, plan->vec, spmm_stagings[plan->staging], plan->tile_n, plan->warps,
                 plan->split, plan->stages, plan->window, plan->resident ? "_resident" : "");
    else
        snprintf(name, MC_MAX_ENTRY, "spmm_%s%s%s%s%s_v%d_k%d_n%d_w%d_s%d%s%s%s%s", plan->lhs.name,
                 plan->rhs.name, out, plan->output.exact ? "_exact" : "", act, plan->vec, plan->stride,
                 plan->tile_n, plan->warps, plan->split, plan->staging == SPMM_SHARED ? "_shared" : "",
                 plan->order == SPMM_PAPER ? "_paper" : "", plan->int4 ? "_int4" : "",
                 plan->shuffle ? "" : "_plain");
}

#define SWAPPED(way)                                                                                         \
    "Swapped operands (C^T = B^T A^T): columns of B are the mma's 16 rows, the row block's rows its "        \
    "columns.\n" way
#define PAPER(way)                                                                                           \
    "Operands as in Magicube: the row block's rows are the mma's 8 rows, columns of B its columns.\n" way
#define DIRECT "Rows of B are gathered from global memory straight into registers and transposed there."
#define SHARED                                                                                               \
    "Rows of B are copied to shared memory, read from there into registers and transposed, as in Magicube."
#define RING                                                                                                 \
    "Windows of B pass through a ring in shared memory; every warp gathers its row block's rows from it by " \
    "ldmatrix."

#define INT4 "\nA 4-bit mma multiplies B's values as they are, and A's in digits of 4 bits."

static const char *how(const void *data) {
    static const char *const ways[][2] = {[SPMM_DIRECT] = {SWAPPED(DIRECT), PAPER(DIRECT)},
                                          [SPMM_SHARED] = {SWAPPED(SHARED), PAPER(SHARED)},
                                          [SPMM_TMA] = {SWAPPED(RING)},
                                          [SPMM_ASYNC] = {SWAPPED(RING)}};
    static const char *const int4_ways[][2] = {[SPMM_DIRECT] = {SWAPPED(DIRECT) INT4, PAPER(DIRECT) INT4},
                                               [SPMM_SHARED] = {SWAPPED(SHARED) INT4, PAPER(SHARED) INT4}};
    const spmm_plan *plan = data;
    return (plan->int4 ? int4_ways : ways)[plan->staging][plan->order];
}

#define COMPUTES(sums)                                                                                       \
    "C[m,n] = A[m,k] B[k,n]: A of vec x 1 nonzero vectors, B and C dense and row-major; integers, " sums

static const char *computes(const void *data) {
    const spmm_plan *plan = data;
    return plan->output.exact ? COMPUTES("sums in s64.") : COMPUTES("sums in s32.");
}

static void emit(const void *data, mc_builder *b) {
    const spmm_plan *plan = data;
    mc_batch_array arrays[BATCH_ARRAYS];
    list_batch(plan, arrays);
    if (plan->batch) batch_begin(b, arrays, BATCH_ARRAYS);
    if (spmm_is_ring(plan)) spmm_ring_emit(plan, b);
    else spmm_emit(plan, b);
}

static const mc_solver kernels = {
    .name = "spmm",
    .plan = make_plan,
    .contract = make_contract,
    .facts = make_facts,
    .emit = emit,
    .entry_name = entry_name,
    .estimate = spmm_estimate,
    .computes = computes,
    .how = how,
};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &kernels;
}

const mc_family mc_family_spmm = {
    .name = "spmm",
    .summary = "sparse times dense: C[m,n] = A[m,k] B[k,n], A in V x 1 nonzero vectors",
    .computes = COMPUTES("sums in s32 or s64."),
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .hints = spmm_hints,
};
