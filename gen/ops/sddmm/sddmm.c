/* The family `sddmm`: C = A B where a mask of V x 1 vectors is nonzero. Schema and plan; check.c
   says what fields have against each other, contract.c what a launch takes.

   The mask's vectors are given out in items, of up to 16 * groups neighbours of one row block, and a warp
   computes an item. How columns of B reach the warp is the field `method`:

     gather   from global memory: emit.c, wide.c and, for what is not aligned, edge.c
     window   from a window of B in shared memory: window.c
     dense    no items: a thread block computes a tile of A B, and stores what the mask has of it (dense.c)

   sides.c makes operands of the two sides' values, lines.c says which lane reads what of B and whose sums
   follow from it, store.c writes C. */
#include "schema/family.h"
#include "ops/sddmm/fields.h"
#include <stdio.h>

static const char *const ops[] = {"sddmm", NULL};
static const char *const outs[] = {"s32", "f16", "bf16", "f32", "s8", "u8", NULL};
static const out_element out_elements[] = {OUT_S32, OUT_F16, OUT_BF16, OUT_F32, OUT_S8, OUT_U8}; /* of outs */
static const char *const masks[] = {"pattern", "values", NULL};             /* of sddmm_mask */
static const char *const orders[] = {"bcrs", "srbcrs16", "srbcrs32", NULL}; /* of sddmm_order */
static const char *const layouts[] = {"columns", "rows", NULL};             /* of sddmm_layout */
/* of the lane groups abreast, less 1 */
static const char *const reads[] = {"chunks", "lines", NULL};
static const char *const lhs_places[] = {"registers", "shared", NULL};    /* of sddmm_lhs_in */
static const char *const methods[] = {"gather", "window", "dense", NULL}; /* of sddmm_method */
static const int group_counts[] = {1, 2, 4, 8, 0}, warp_counts[] = {1, 2, 4, 8, 12, 16, 20, 24, 32, 0},
                 tiles[] = {32, 64, 128, 256, SDDMM_MAX_TILE, 0}, dense_tiles[] = {32, 64, 128, 0};

static const mc_field fields[] = {
    {"op", NAMES = ops, .doc = "The kernel family."},
    ARCH_FIELD,
    {"lhs", NAMES = digit_side_names,
     .doc = "Type of A, row-major. Two elements of 4 bits make a byte, the even column in its low half; lda "
            "is even "
            "then. Those of 12 and 16 bits take two bytes and are multiplied as two digits of 8 bits."},
    {"rhs", NAMES = digit_side_names,
     .doc = "Type of B, in the same way along k. Those of 4 bits are multiplied as 8 bits."},
    {"precision_split", NAMES = digit_split_names, .quiet = true,
     .doc = "Widths of the digits that lhs is multiplied in, the top one first. There is one for each type: "
            "\"4\", \"8\", \"4+8\" or \"8+8\"."},
    {"out", NAMES = outs,
     .doc = "Type of C. s32: the sums, modulo 2^32. Others: out(f32(sum) * scale), or with the mask's values "
            "out((f32(sum) * scale) * value), each step rounded to nearest even; s8 and u8 are cut off at "
            "their ends, "
            "and 0 for a NaN."},
    {"scale", NAMES = out_per_names, .quiet = true,
     .doc = "Scales of all but s32: one f32 for all of C, or one for each of A's m rows or B's n "
            "columns."},
    {"mask", NAMES = masks, .quiet = true,
     .doc = "pattern: the mask says where C is computed. values: C is also multiplied by the mask's own "
            "values, f32."},
    {"vec", NUMBERS = family_vecs, .standard = 8,
     .doc = "V: rows of a nonzero vector, and so of a row block."},
    {"order", NAMES = orders,
     .doc = "Order of C. bcrs: vector after vector, row block by row block. srbcrs16, srbcrs32: in strides "
            "of 16 or "
            "32 vectors of a row block, each row-major; zeros fill up a row block's last one."},
    {"layout", NAMES = layouts, .quiet = true,
     .doc = "How B lies in memory. columns: [n][ldb], the k values of a column side by side. rows: [k][ldb], "
            "row-major; each value is "
            "a load of its own, slower by far."},
    {"method", NAMES = methods, .quiet = true,
     .doc = "gather: each warp loads the columns of B that its vectors name from global memory to registers. "
            "window: a thread block copies a window of columns to shared memory, and its warps compute the "
            "vectors "
            "in it from there; that wants k fixed, rows aligned, and many vectors a window. "
            "dense: a thread block computes a tile of A B and stores what the mask has of it, for masks that "
            "are hardly sparse; that wants k fixed and rows aligned too."},
    {"groups", NUMBERS = group_counts, .standard = 4, .tunable = true,
     .doc = "A warp computes up to 16 * groups vectors of a row block, for which it loads A once. Fewer make "
            "more "
            "warps."},
    {"warps", NUMBERS = warp_counts, .standard = 4, .tunable = true,
     .doc = "Warps of a thread block; of method gather up to 8."},
    {"tile_k", NUMBERS = tiles, .standard = 256, .tunable = true,
     .doc = "k that a lane group holds in registers of a row of A, and loads of a column of B, at once: 64 "
            "to 512 bytes of "
            "B. Best not less than k; more than k wants registers for nothing, unless k is fixed."},
    {"tile_n", NUMBERS = dense_tiles, .standard = 64, .tunable = true, .quiet = true,
     .doc = "dense: columns of B in a thread block's tile."},
    {"tile_rows", NUMBERS = dense_tiles, .standard = 64, .tunable = true, .quiet = true,
     .doc = "dense: rows of A in it."},
    {"window", SHAPE, .tunable = true, .quiet = true,
     .doc = "Columns of B that the items of neighbouring warps are taken from, so that they stay in the "
            "caches: the mask's "
            "vectors are given out window by window. open: row block by row block. Method window: the "
            "columns that a "
            "thread block has in shared memory."},
    {"reads", NAMES = reads, .tunable = true, .quiet = true,
     .doc = "What neighbouring lanes read of a column of B at once. chunks: four of them 64 bytes. lines: "
            "eight of them "
            "128 bytes, in half the passes of the load unit, and twice the mma."},
    {"prefetch", SWITCH, .standard = 1, .tunable = true,
     .doc = "on: the next group's columns of B are loaded before this group's mma; those of more groups "
            "where k, or tile_k, "
            "is small. Method window: the next item's rows of A before this one's."},
    {"lhs_in", NAMES = lhs_places, .tunable = true, .quiet = true,
     .doc =
         "Where a warp keeps its tile_k values of its rows of A. shared: in shared memory, from where each "
         "group reads them again: fewer registers, for more warps a multiprocessor."},
    {"prefetch_lhs", SWITCH, .tunable = true, .quiet = true,
     .doc =
         "on: the next tile_k values of A are loaded before the mma of these, to registers or, with lhs_in "
         "shared, to a second place there, as in Magicube, whose authors found no gain in it. Wants k open, "
         "or more than tile_k."},
    {"overlap", SWITCH, .tunable = true, .quiet = true,
     .doc = "on: launched with programmatic stream serialization, the kernel starts while the one before it "
            "still runs, and reads the packed items meanwhile: nothing in the stream may be writing them."},
    BATCH_FIELD,
    {"align", NUMBERS = family_aligns, .standard = 16,
     .doc = "Bytes that the addresses of A and B are promised to be multiples of; C's too, and at least an "
            "element's size. cuMemAlloc gives 256. Below 16 the kernel tests them."},
    {"m", SHAPE, .doc = "Rows of the mask and of A, a multiple of vec."},
    {"n", SHAPE, .doc = "Columns of the mask and of B."},
    {"k", SHAPE,
     .doc =
         "Columns of A, rows of B. Fixed, it saves loops and guards, and a product of another k is refused."},
    {"lda", SHAPE,
     .doc = "Elements from one row of A to the next, at least k. Vector loads want a multiple of 16 bytes, "
            "or of what "
            "16 bytes of B take of A."},
    {"ldb", SHAPE,
     .doc =
         "Elements from one column of B to the next, at least k. Vector loads want a multiple of 16 bytes."},
};
SCHEMA_FITS(fields, F_LDB);

/* -- Plan --------------------------------------------------------------------------------------------- */

typedef enum proof { NEVER, MAYBE, ALWAYS } proof;

static proof divides(int64_t divisor, int64_t shape) {
    if (shape == MC_OPEN) return divisor == 1 ? ALWAYS : MAYBE;
    return shape % divisor == 0 ? ALWAYS : NEVER;
}

int64_t sddmm_times_16_k(const sddmm_plan *plan) {
    int64_t bound = INT64_MAX, times = plan->lhs.bits == 4 ? 256 : 16;
    for (int digit = 0; digit < plan->a.count; digit++) {
        digit_span product =
            span_of_product(span_of_digit(plan->lhs, plan->a, digit), span_of_digit(plan->rhs, plan->b, 0));
        int64_t terms = span_terms_in_s32((digit_span){times * product.low, times * product.high});
        if (terms < bound) bound = terms;
    }
    return bound;
}

static void plan_sides(sddmm_plan *plan) {
    bool halves = plan->rhs.bits == 4;
    plan->sums = plan->a.count + plan->b.count - 1;
    plan->times_16 = halves && plan->k <= sddmm_times_16_k(plan); /* an open k is bounded instead */
    plan->parities = halves ? 2 : 1;
    plan->unit_k = 8 * SDDMM_UNIT / sddmm_stored_bits(plan->rhs);
    plan->steps = sddmm_stored_bits(plan->rhs) == 16 ? 1 : 2;
    plan->step_k = plan->unit_k / plan->steps;
    if (plan->layout == SDDMM_ROWS) plan->unit_k = plan->step_k, plan->steps = 1;
}

/* Whether the wide path exists, whether the edge path must stand beside it, and what is left to test. */
static void plan_paths(sddmm_plan *plan) {
    int a_access = sddmm_a_access(plan);
    int a_elements = a_access * 8 / sddmm_stored_bits(plan->lhs);
    bool rows = plan->layout == SDDMM_ROWS; /* each value of B is a load of its own */
    proof a = divides(a_elements, plan->lda), b = rows ? ALWAYS : divides(plan->unit_k, plan->ldb);
    bool open = plan->k == MC_OPEN, has_unit = open || plan->k >= plan->unit_k;
    plan->wide = a != NEVER && b != NEVER && has_unit;
    plan->checks = (sddmm_checks){.lda = a == MAYBE,
                                  .ldb = b == MAYBE,
                                  .a_address = plan->align < a_access,
                                  .b_address = !rows && plan->align < SDDMM_UNIT};
    if (plan->method == SDDMM_WINDOW) { /* the contract promises all of it */
        plan->wide = true, plan->checks = (sddmm_checks){0};
        return;
    }
    const sddmm_checks *c = &plan->checks;
    bool whole = !open && plan->k % plan->unit_k == 0;
    plan->edge = !plan->wide || !whole || c->lda || c->ldb || c->a_address || c->b_address;
}

/* Plans how many groups are loaded ahead. With prefetch it is one, and more where they are small. */
static void plan_buffers(sddmm_plan *plan) {
    enum { REGISTERS = 64 };
    int group = sddmm_group_regs(plan);
    plan->buffers = plan->prefetch && plan->groups > 1 ? 2 : 1;
    if (plan->buffers == 1) return;
    while (plan->buffers < plan->groups && plan->buffers < SDDMM_MAX_BUFFERS &&
           (plan->buffers + 1) * group <= REGISTERS)
        plan->buffers++;
}

/* Plans the chains: four, or one for each step where steps are fewer. Sums of several digits, and lines, are
   as many chains by themselves, and method window has many warps. */
static void plan_chains(sddmm_plan *plan) {
    int steps = plan->chunks * plan->steps;
    plan->chains = 1;
    if (!plan->store_early || plan->sums > 1 || plan->abreast > 1 || plan->method == SDDMM_WINDOW) return;
    while (plan->chains < SDDMM_MAX_CHAINS && 2 * plan->chains <= steps) plan->chains *= 2;
}

static void plan_panels(sddmm_plan *plan) {
    int chunk_k = sddmm_chunk_k(plan);
    bool open = plan->k == MC_OPEN;
    plan->chunks = plan->tile_k / chunk_k;
    plan->loops = open || plan->k / plan->unit_k * plan->unit_k > plan->tile_k;
    plan->guard_units = open || plan->k % (plan->loops ? plan->tile_k : chunk_k) >= plan->unit_k;
    if (!plan->loops) plan->chunks = (int)((plan->k / plan->unit_k + 3) / 4);
    if (plan->chunks % plan->abreast) plan->guard_units = true; /* a line of which the panel has only half */
    plan->store_early = plan->wide && !plan->edge && !plan->loops;
    plan_buffers(plan);
    plan_chains(plan);
    plan->shared_bytes = sddmm_lhs_shared_bytes(plan);
}

static void plan_docs(sddmm_plan *plan) {
    char window[64] = "";
    if (plan->window != MC_OPEN)
        snprintf(window, sizeof window, " in one window of %lld columns", (long long)plan->window);
    snprintf(plan->items_doc, sizeof plan->items_doc,
             "row block, first place in C, places (up to %d)%s, 0; by windows, row blocks, columns",
             MC_SAMPLED_SLOTS * plan->groups, window);
    snprintf(plan->index_extent, sizeof plan->index_extent, "items * %d", MC_SAMPLED_SLOTS * plan->groups);
}

/* Plans the window's shared memory; none for what sddmm_check then refuses. */
static void plan_window(sddmm_plan *plan) {
    bool fits = plan->k != MC_OPEN && plan->window != MC_OPEN && plan->window <= SAMPLED_MAX_WINDOW;
    int64_t column = fits ? side_row_bytes(plan->rhs, plan->k) : 0;
    plan->shared_bytes = column <= SDDMM_MAX_PANEL ? (unsigned)(plan->window * column) : 0;
}

_Static_assert(sizeof(sddmm_plan) <= MC_PLAN_BYTES, "a plan is made where there are MC_PLAN_BYTES");

static void make_plan(const int64_t *point, void *out, mc_complaints *complaints) {
    sddmm_plan *plan = out;
    *plan = (sddmm_plan){
        .lhs = digit_sides[point[F_LHS]],
        .rhs = digit_sides[point[F_RHS]],
        .a = digits_of(digit_sides[point[F_LHS]], DIGIT_BITS, DIGITS_TOP_SIGNED),
        .b = digits_of(digit_sides[point[F_RHS]], DIGIT_BITS, DIGITS_TOP_SIGNED),
        .output = {.element = out_elements[point[F_OUT]], .scale = (out_per)point[F_SCALE]},
        .mask = (sddmm_mask)point[F_MASK],
        .order = (sddmm_order)point[F_ORDER],
        .layout = (sddmm_layout)point[F_LAYOUT],
        .method = (sddmm_method)point[F_METHOD],
        .vec = (int)point[F_VEC],
        .groups = (int)point[F_GROUPS],
        .warps = (int)point[F_WARPS],
        .tile_k = (int)point[F_TILE_K],
        .abreast = 1 + (int)point[F_READS],
        .tile_n = (int)point[F_TILE_N],
        .tile_rows = (int)point[F_TILE_ROWS],
        .align = (int)point[F_ALIGN],
        .lhs_in = (sddmm_lhs_in)point[F_LHS_IN],
        .prefetch_lhs = point[F_PREFETCH_LHS] != 0,
        .prefetch = point[F_PREFETCH] != 0,
        .overlap = point[F_OVERLAP] != 0,
        .batch = point[F_BATCH] != 0,
        .m = point[F_M],
        .n = point[F_N],
        .k = point[F_K],
        .lda = point[F_LDA],
        .ldb = point[F_LDB],
        .window = point[F_WINDOW],
    };
    plan_sides(plan);
    plan_paths(plan);
    plan_panels(plan);
    if (plan->method == SDDMM_WINDOW) plan_window(plan);
    plan_docs(plan);
    sddmm_dense_plan(plan);
    bool pairs = plan->align % (2 * out_element_bytes(plan->output.element)) == 0;
    plan->store = pairs && plan->order == SDDMM_BCRS ? 2 : 1;
    sddmm_check(point, plan, complaints);
}

/* -- Name, texts and PTX --------------------------------------------------------------------------------- */

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const sddmm_plan *plan = data;
    int length = snprintf(name, MC_MAX_ENTRY, "sddmm_%s%s%s%s_v%d_%s", plan->lhs.name, plan->rhs.name,
                          out_element_name(plan->output.element), plan->mask == SDDMM_VALUES ? "_values" : "",
                          plan->vec, orders[plan->order]);
    if (plan->method == SDDMM_DENSE) {
        snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_dense_%dx%d_w%d", plan->tile_rows,
                 plan->tile_n, plan->warps);
        return;
    }
    length += snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_g%d_w%d_k%d%s", plan->groups,
                       plan->warps, plan->tile_k, plan->abreast > 1 ? "_lines" : "");
    if (plan->method == SDDMM_WINDOW)
        snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_c%d", (int)plan->window);
}

static const char *how(const void *data) {
#define SWAPPED                                                                                              \
    "Swapped operands: 16 nonzero vectors, columns of B, are the mma's rows, the row block's rows its "      \
    "columns.\n"
    static const char *const texts[] = {
        [SDDMM_GATHER] =
            SWAPPED "A warp gathers its vectors' columns of B from global memory straight into registers.",
        [SDDMM_WINDOW] = SWAPPED
        "A thread block copies a window of columns of B to shared memory, from where its warps gather.",
        [SDDMM_DENSE] = "Swapped operands: columns of B are the mma's rows, rows of A its columns.\n"
                        "A thread block computes a tile of A B in shared memory, and copies the mask's "
                        "vectors from there.",
    };
#undef SWAPPED
    return texts[((const sddmm_plan *)data)->method];
}

#define COMPUTES                                                                                             \
    "C = A[m,k] B[k,n] where a mask of vec x 1 nonzero vectors is: A row-major, B by columns; "              \
    "integers, sums in s32."

static const char *computes(const void *data) {
    (void)data;
    return COMPUTES;
}

static void emit(const void *data, mc_builder *b) {
    const sddmm_plan *plan = data;
    mc_batch_array arrays[SDDMM_BATCH_ARRAYS];
    sddmm_list_batch(plan, arrays);
    if (plan->batch) batch_begin(b, arrays, SDDMM_BATCH_ARRAYS);
    if (plan->method == SDDMM_WINDOW) sddmm_emit_window(plan, b);
    else if (plan->method == SDDMM_DENSE) sddmm_dense_emit(plan, b);
    else sddmm_emit(plan, b);
}

static const mc_solver kernels = {
    .name = "sddmm",
    .plan = make_plan,
    .contract = sddmm_contract,
    .facts = sddmm_facts,
    .emit = emit,
    .entry_name = entry_name,
    .computes = computes,
    .how = how,
};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &kernels;
}

const mc_family mc_family_sddmm = {
    .name = "sddmm",
    .summary = "sampled product: C = A[m,k] B[k,n] where a mask of V x 1 vectors is nonzero",
    .computes = COMPUTES,
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .hints = sddmm_hints,
};
