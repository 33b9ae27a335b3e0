/* mma.sp: of each few elements along k a row of A has some, and metadata say which (ISA, "mma.sp"). A's
 * registers hold these as those of an mma of half the K do. Products are those of the elements that there
 * are; sums of floats go as an mma's of half the K (exec_mma_float.c). */
#include "exec_mma.h"

enum { COLUMNS = SIM_MMA_COLUMNS, ROWS = SIM_MMA_ROWS, MAX_KEPT = 64, MAX_DEPTH = 128 };

/* A type's figures. A group of `group` elements along k has a nibble of metadata and keeps half of them: one
   of two, two of four, or two pairs of four pairs. */
struct form {
    int bits, group, kept; /* of an element; elements of a group, and how many of them stay */
    bool halves;           /* rows g and g + 8 share a lane's metadata, else they have lanes of their own */
    bool is_real;
};

static struct form form_of(unsigned type) {
    switch (type) {
    case SIM_tf32: return (struct form){32, 2, 1, true, true};
    case SIM_f16:
    case SIM_bf16: return (struct form){16, 4, 2, true, true};
    case SIM_e4m3:
    case SIM_e5m2: return (struct form){8, 4, 2, false, true};
    case SIM_s8:
    case SIM_u8: return (struct form){8, 4, 2, false, false};
    default: return (struct form){4, 8, 4, false, false};
    }
}

/* An mma.sp: where its operands are, and what its metadata say. */
struct sparse {
    struct form form;
    int depth, chunks, selector; /* K; of B's registers, 16 bytes of a column each */
    const struct sim_value *a, *b, *c, *metadata;
    uint8_t at[ROWS][MAX_KEPT]; /* along k, each of a row's elements */
};

/* -- Metadata ------------------------------------------------------------------------------------------- */

/* Which lane has the nibble of ROW's group GROUP of GROUPS, and at which bit. */
static int lane_of(const struct sparse *s, int row, int group, int groups, int *bit) {
    const int first = row % 8 * 4, high = row / 8;
    if (!s->form.halves) {
        *bit = 4 * (group % 8);
        return first + (groups == 16 ? group / 8 * 2 : 2 * s->selector) + high;
    }
    *bit = 16 * high + 4 * (group % 4);
    return first + (groups == 8 ? 2 * s->selector + group / 4 : s->selector);
}

/* Whether NIBBLE is one that the ISA gives a meaning. In order both places ascend. */
static bool is_legal(const struct form *form, unsigned nibble, bool ordered) {
    const unsigned low = nibble & 3, high = nibble >> 2;
    if (form->kept == 1) return nibble == 0x4 || nibble == 0xe;
    return ordered ? low < high : low != high;
}

static void put_places(struct sparse *s, int row, int group, unsigned nibble) {
    const struct form *form = &s->form;
    uint8_t *at = &s->at[row][group * form->kept];
    const int first = group * form->group, each = form->group / 4;
    if (form->kept == 1) {
        at[0] = (uint8_t)(first + (nibble == 0xe));
        return;
    }
    for (int i = 0; i < form->kept; i++)
        at[i] = (uint8_t)(first + (int)(nibble >> 2 * (i / each) & 3) * each + i % each);
}

/* False after a fault. */
static bool read_metadata(struct sim_warp *warp, const struct sim_insn *insn, struct sparse *s) {
    const uint32_t *lanes = sim_source(warp, s->metadata);
    const int groups = s->depth / s->form.group;
    for (int row = 0; row < ROWS; row++)
        for (int group = 0; group < groups; group++) {
            int bit, lane = lane_of(s, row, group, groups, &bit);
            unsigned nibble = lanes[lane] >> bit & 15;
            if (!is_legal(&s->form, nibble, insn->modifiers & SIM_ORDERED)) {
                sim_fault_at(warp, insn, lane, PTXSIM_TRAP,
                             "metadata 0x%x of row %d, elements %d to %d: no meaning%s", nibble, row,
                             group * s->form.group, (group + 1) * s->form.group - 1,
                             insn->modifiers & SIM_ORDERED ? ", or not in order" : "");
                return false;
            }
            put_places(s, row, group, nibble);
        }
    return true;
}

/* How many selectors name other lanes. */
static int selectors(const struct sparse *s) {
    const int groups = s->depth / s->form.group;
    if (!s->form.halves) return groups == 16 ? 1 : 2;
    return groups == 8 ? 2 : 4;
}

static bool read_operands(struct sim_warp *warp, const struct sim_insn *insn, unsigned type,
                          struct sparse *s) {
    const int sums = insn->destination_count, values = insn->value_count - 2 * sums - 2;
    *s = (struct sparse){.form = form_of(type), .chunks = values / 2};
    s->depth = s->chunks * 4 * 32 / s->form.bits;
    s->a = &insn->value[sums], s->b = s->a + s->chunks, s->c = s->b + s->chunks, s->metadata = s->c + sums;
    s->selector = (int)*(const uint32_t *)sim_source(warp, s->metadata + 1);
    if (s->selector < selectors(s)) return read_metadata(warp, insn, s);
    sim_fault_at(warp, insn, 0, PTXSIM_TRAP, "selector %d, must be below %d", s->selector, selectors(s));
    return false;
}

/* -- Elements ------------------------------------------------------------------------------------------- */

/* The bits of element K of ROW in VALUE, a register that has K. Those of A's rows g and g + 8 stand side by
   side. */
static uint32_t element(const struct sim_warp *warp, const struct sparse *s, const struct sim_value *value,
                        int row, int k) {
    const int bits = s->form.bits, count = 32 / bits;
    const uint32_t *lanes = sim_source(warp, value);
    const uint32_t word = lanes[row % 8 * 4 + k / count % 4];
    return bits == 32 ? word : word >> bits * (k % count) & ((1u << bits) - 1);
}

static uint32_t element_of_a(const struct sim_warp *warp, const struct sparse *s, int row, int i) {
    const int chunk = i / (4 * 32 / s->form.bits);
    return element(warp, s, &s->a[2 * chunk + row / 8], row, i);
}

static uint32_t element_of_b(const struct sim_warp *warp, const struct sparse *s, int column, int k) {
    return element(warp, s, &s->b[k / (4 * 32 / s->form.bits)], column, k);
}

/* -- Counts --------------------------------------------------------------------------------------------- */

/* Products of elements that are there; nonzero, where both are not zero. */
static void count(struct sim_warp *warp, const struct sim_insn *insn, const struct sparse *s) {
    ptxsim_line *line = &warp->block->lines[insn - warp->block->launch->function->code];
    const int kept = s->depth / 2;
    const uint32_t ones = s->form.is_real ? (1u << (s->form.bits - 1)) - 1 : UINT32_MAX;
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < kept; i++) {
            if ((element_of_a(warp, s, row, i) & ones) == 0) continue;
            for (int column = 0; column < COLUMNS; column++)
                line->mma_nonzero += (element_of_b(warp, s, column, s->at[row][i]) & ones) != 0;
        }
    line->mma_products += (unsigned)(ROWS * COLUMNS * kept);
    warp->block->counts.mma++;
}

/* -- Integers ------------------------------------------------------------------------------------------- */

static int32_t number(unsigned type, int bits, uint32_t element) {
    const int32_t sign = type == SIM_s8 || type == SIM_s4 ? 1 << (bits - 1) : 0;
    return ((int32_t)element ^ sign) - sign;
}

static int32_t accumulate(int32_t c, int64_t product, bool saturate) {
    const int64_t sum = c + product;
    if (saturate) return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
    return (int32_t)(uint32_t)(uint64_t)sum;
}

void sim_mma_sparse(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sparse s;
    int32_t a[ROWS][MAX_KEPT], b[COLUMNS][MAX_DEPTH];
    (void)mask;
    if (!read_operands(warp, insn, insn->type2, &s)) return;
    const int kept = s.depth / 2;
    for (int row = 0; row < ROWS; row++)
        for (int i = 0; i < kept; i++)
            a[row][i] = number(insn->type2, s.form.bits, element_of_a(warp, &s, row, i));
    for (int column = 0; column < COLUMNS; column++)
        for (int k = 0; k < s.depth; k++)
            b[column][k] = number(insn->type3, s.form.bits, element_of_b(warp, &s, column, k));
    for (int reg = 0; reg < insn->destination_count; reg++) {
        const int32_t *lanes = sim_source(warp, &s.c[reg]);
        int32_t r[SIM_LANES];
        SIM_EACH_LANE(l) {
            const int row = l / 4 + reg / 2 * 8, column = l % 4 * 2 + reg % 2;
            int64_t product = 0;
            for (int i = 0; i < kept; i++) product += a[row][i] * b[column][s.at[row][i]];
            r[l] = accumulate(lanes[l], product, insn->modifiers & SIM_SATFINITE);
        }
        sim_put(warp, &insn->value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
    count(warp, insn, &s);
}

/* -- Floats --------------------------------------------------------------------------------------------- */

/* Where the sum has element I of a row: as an mma of half the K. */
static int place_of(const struct sparse *s, int i) {
    const int count = 32 / s->form.bits;
    return sim_mma_place(s->form.bits, s->depth / 2, i / (4 * count), i / count % 4, i % count);
}

/* B's elements that ROW's meet, in the places of the sum. */
static void select_b(const struct sim_warp *warp, const struct sparse *s, int row, unsigned type,
                     struct sim_operand *b) {
    for (int column = 0; column < COLUMNS; column++)
        for (int i = 0; i < s->depth / 2; i++)
            sim_mma_put(b, column, place_of(s, i), type, element_of_b(warp, s, column, s->at[row][i]));
}

/* The sums of ROW. */
static void multiply_row(const struct sim_warp *warp, const struct sparse *s, int row, unsigned a_type,
                         unsigned b_type, const struct sim_sum_rule *rule, uint32_t sums[COLUMNS]) {
    struct sim_operand a, b;
    for (int i = 0; i < s->depth / 2; i++)
        sim_mma_put(&a, 0, place_of(s, i), a_type, element_of_a(warp, s, row, i));
    select_b(warp, s, row, b_type, &b);
    for (int column = 0; column < COLUMNS; column++)
        sums[column] = sim_mma_element(&a, 0, &b, column, sums[column], rule);
}

static void multiply(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, unsigned b_type,
                     unsigned type) {
    struct sparse s;
    uint32_t sums[ROWS][COLUMNS];
    if (!read_operands(warp, insn, a_type, &s)) return;
    const struct sim_sum_rule rule = sim_sum_rule_of(a_type, type, s.depth / 2);
    const int columns = type == SIM_f16 ? 2 : 1; /* of an accumulator's register */
    for (int reg = 0; reg < insn->destination_count; reg++) {
        const uint32_t *lanes = sim_source(warp, &s.c[reg]);
        SIM_EACH_LANE(l) {
            for (int i = 0; i < columns; i++) {
                const int at = reg * columns + i;
                sums[l / 4 + at / 2 * 8][l % 4 * 2 + at % 2] =
                    columns == 2 ? lanes[l] >> 16 * i & 0xffff : lanes[l];
            }
        }
    }
    for (int row = 0; row < ROWS; row++) multiply_row(warp, &s, row, a_type, b_type, &rule, sums[row]);
    for (int reg = 0; reg < insn->destination_count; reg++) {
        uint32_t r[SIM_LANES] = {0};
        SIM_EACH_LANE(l) {
            for (int i = 0; i < columns; i++) {
                const int at = reg * columns + i;
                r[l] |= sums[l / 4 + at / 2 * 8][l % 4 * 2 + at % 2] << 16 * i;
            }
        }
        sim_put(warp, &insn->value[reg], r, sizeof *r, SIM_FULL_MASK);
    }
    count(warp, insn, &s);
}

#define SPARSE(name, a, b, type)                                                                             \
    void sim_mma_sparse_##name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {          \
        (void)mask;                                                                                          \
        multiply(warp, insn, a, b, type);                                                                    \
    }
SPARSE(f16, SIM_f16, SIM_f16, SIM_f32)
SPARSE(f16_to_f16, SIM_f16, SIM_f16, SIM_f16)
SPARSE(bf16, SIM_bf16, SIM_bf16, SIM_f32)
SPARSE(tf32, SIM_tf32, SIM_tf32, SIM_f32)
SPARSE(f8, insn->type2, insn->type3, SIM_f32)
