/* wgmma.mma_async: a warp's 16 rows of D = A B + D. A comes from registers or, as B does, from shared
   memory. */
#include "wgmma.h"

enum { PITCH = SIM_PRODUCT_DEPTH / 2 }; /* elements of a row along k */

/* A wgmma on its way. */
struct product {
    struct sim_warp *warp;
    const struct sim_insn *insn;
    const struct sim_value *a, *b, *metadata, *adds; /* operands; metadata is NULL without .sp */
    int factors;                                     /* registers of A; 0: it has a descriptor */
    struct sim_descriptor descriptor_of_a, descriptor_of_b;
    bool clears; /* D is A B */
    int kept;    /* elements of a row of A */
};

/* Elements' bits, [row][k]. */
struct elements {
    uint32_t a[SIM_PRODUCT_ROWS][PITCH], b[SIM_PRODUCT_COLUMNS][PITCH];
};

/* -- Operands -------------------------------------------------------------------------------------------- */

/* A descriptor, which has to be the same in all lanes. */
static bool read_descriptor(const struct product *p, const struct sim_value *value, const char *name,
                            uint64_t *bits) {
    const uint64_t *lanes = sim_source(p->warp, value);
    *bits = lanes[0];
    SIM_EACH_LANE(l) {
        if (lanes[l] == lanes[0]) continue;
        sim_fault_at(p->warp, p->insn, l, PTXSIM_BARRIER,
                     "the descriptor of %s is 0x%llx here, and 0x%llx in lane 0", name,
                     (unsigned long long)lanes[l], (unsigned long long)lanes[0]);
        return false;
    }
    return true;
}

static bool read_scale(struct product *p) {
    const uint32_t adds = sim_predicate(p->warp, p->adds);
    p->clears = adds == 0;
    if (adds == 0 || adds == SIM_FULL_MASK) return true;
    sim_fault_at(p->warp, p->insn, __builtin_ctz(adds), PTXSIM_BARRIER,
                 "the predicate that says whether D is added is not the same in all lanes");
    return false;
}

static bool read_operands(struct product *p) {
    const bool sparse = p->insn->modifiers & SIM_SPARSE;
    uint64_t a = 0, b;
    p->a = &p->insn->value[p->insn->destination_count];
    p->factors = sim_types[p->a->type].bytes == 8 ? 0 : 4;
    p->b = p->a + (p->factors ? p->factors : 1);
    p->metadata = sparse ? p->b + 1 : NULL;
    p->adds = p->b + (sparse ? 3 : 1);
    p->kept = p->insn->depth / (sparse ? 2 : 1);
    if (p->factors == 0 && !read_descriptor(p, p->a, "A", &a)) return false;
    if (!read_descriptor(p, p->b, "B", &b) || !read_scale(p)) return false;
    p->descriptor_of_a = sim_descriptor_of(a);
    p->descriptor_of_b = sim_descriptor_of(b);
    return sim_wgmma_step(p->warp, p->insn, a, b) &&
           sim_wgmma_may_issue(p->warp, p->insn, p->factors, !p->clears);
}

/* Register i of A has row g or, if i is odd, g + 8, of the first or the second 16 bytes of a row. */
static void read_registers(const struct product *p, uint32_t elements[SIM_PRODUCT_ROWS][PITCH]) {
    const int bytes = sim_types[p->insn->type2].bytes, count = 4 / bytes;
    for (int i = 0; i < 4; i++) {
        const uint32_t *lanes = sim_source(p->warp, &p->a[i]);
        SIM_EACH_LANE(l) {
            uint32_t *to = &elements[l / 4 + i % 2 * 8][(i / 2 * 4 + l % 4) * count];
            for (int j = 0; j < count; j++)
                to[j] = bytes == 4 ? lanes[l] : lanes[l] >> 8 * bytes * j & ((1u << 8 * bytes) - 1);
        }
    }
}

static bool read_elements(const struct product *p, struct elements *e) {
    const struct sim_extent a = sim_extent_of_a(p->warp, p->insn), b = sim_extent_of_b(p->insn);
    if (p->factors) read_registers(p, e->a);
    else if (!sim_read_matrix(p->warp, p->insn, &p->descriptor_of_a, &a, e->a[0], PITCH)) return false;
    return sim_read_matrix(p->warp, p->insn, &p->descriptor_of_b, &b, e->b[0], PITCH);
}

/* -- Counts ---------------------------------------------------------------------------------------------- */

/* Shared memory hands out 128 bytes of A and of B at a time, whatever their layout, and B once to the
   warpgroup: so counted an H100. */
static void count_wavefronts(const struct product *p, ptxsim_line *line) {
    const int bytes = sim_types[p->insn->type2].bytes;
    const int a = p->factors ? 0 : SIM_PRODUCT_ROWS * p->kept * bytes,
              b = p->warp->index % SIM_GROUP_WARPS ? 0 : p->insn->columns * p->insn->depth * bytes;
    line->shared_wavefronts += (unsigned)(a + b) / 128;
    line->shared_ideal += (unsigned)(a + b) / 128;
}

/* Products of elements that there are; nonzero, where both are not zero in the bits of ONES. */
static void count(const struct product *p, const struct elements *e, const sim_places *places,
                  uint32_t ones) {
    const struct sim_insn *insn = p->insn;
    ptxsim_line *line = &p->warp->block->lines[insn - p->warp->block->launch->function->code];
    uint32_t columns[SIM_PRODUCT_DEPTH] = {0};
    for (int column = 0; column < insn->columns; column++)
        for (int k = 0; k < insn->depth; k++) columns[k] += (e->b[column][k] & ones) != 0;
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++)
        for (int i = 0; i < p->kept; i++)
            if (e->a[row][i] & ones) line->mma_nonzero += columns[places ? places[row][i] : i];
    line->mma_products += (unsigned)(SIM_PRODUCT_ROWS * insn->columns * p->kept);
    count_wavefronts(p, line);
    p->warp->block->counts.mma++;
}

/* -- Products -------------------------------------------------------------------------------------------- */

static void multiply_integers(const struct product *p, const struct elements *e, const sim_places *places,
                              uint32_t *sum) {
    const struct sim_insn *insn = p->insn;
    struct sim_integers b;
    int32_t a[SIM_PRODUCT_ROWS][SIM_PRODUCT_KEPT];
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++)
        for (int i = 0; i < p->kept; i++) a[row][i] = sim_integer_of(insn->type2, e->a[row][i]);
    b.columns = insn->columns;
    b.depth = insn->depth;
    for (int column = 0; column < b.columns; column++)
        for (int k = 0; k < b.depth; k++)
            b.value[sim_place_in_b(b.depth, k, column)] = sim_integer_of(insn->type3, e->b[column][k]);
    sim_multiply_integers(a, SIM_PRODUCT_ROWS, p->kept, &b, places, insn->modifiers & SIM_SATFINITE,
                          (int32_t *)sum);
}

/* imm-scale-a and imm-scale-b: behind the predicate, 1 or -1. */
static bool is_negated(const struct product *p) {
    const uint32_t a = *(const uint32_t *)p->adds[1].lanes, b = *(const uint32_t *)p->adds[2].lanes;
    return a != b;
}

static void multiply_reals(const struct product *p, struct elements *e, const sim_places *places,
                           uint32_t *sum) {
    const struct sim_insn *insn = p->insn;
    const struct sim_sum_rule rule = sim_wgmma_rule(insn->type2, insn->type, p->kept);
    const uint32_t sign = is_negated(p) ? 1u << (8 * sim_types[insn->type2].bytes - 1) : 0;
    struct sim_real_row a[SIM_PRODUCT_ROWS];
    struct sim_reals b;
    b.columns = insn->columns;
    b.depth = insn->depth;
    b.kind = (struct sim_real_kind){0};
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++) {
        a[row].kind = (struct sim_real_kind){0};
        for (int i = 0; i < p->kept; i++) e->a[row][i] ^= sign;
        sim_row_put(&a[row], insn->type2, e->a[row], p->kept);
    }
    for (int column = 0; column < b.columns; column++) sim_column_put(&b, column, insn->type3, e->b[column]);
    sim_multiply_reals(&rule, a, SIM_PRODUCT_ROWS, &b, places, sum);
}

/* D is written at once. Nobody may look at it before the wait. */
void sim_wgmma_mma(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct product p = {.warp = warp, .insn = insn};
    struct elements e;
    sim_places sparse[SIM_PRODUCT_ROWS];
    uint32_t sum[SIM_PRODUCT_ROWS * SIM_PRODUCT_COLUMNS] = {0};
    const sim_places *places = insn->modifiers & SIM_SPARSE ? (const sim_places *)sparse : NULL;
    const bool is_half = insn->type == SIM_f16, is_integer = insn->type == SIM_s32;
    const int sums = insn->destination_count;
    (void)mask;
    if (!read_operands(&p)) return;
    if (places && !sim_read_metadata(warp, insn, insn->type2, insn->depth, p.metadata, sparse)) return;
    if (!read_elements(&p, &e)) return;
    count(&p, &e, places, is_integer ? UINT32_MAX : (1u << (8 * sim_types[insn->type2].bytes - 1)) - 1);
    if (!p.clears) sim_accumulator_read(warp, insn->value, sums, is_half, insn->columns, sum);
    if (is_integer) multiply_integers(&p, &e, places, sum);
    else multiply_reals(&p, &e, places, sum);
    sim_accumulator_write(warp, insn->value, sums, is_half, insn->columns, sum);
    sim_wgmma_issue(warp, insn, p.factors, &p.descriptor_of_a, &p.descriptor_of_b);
}
