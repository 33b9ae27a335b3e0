#include "metadata.h"

/* A type's figures. A group of `group` elements along k has a nibble of metadata and keeps `kept` of them:
   one of two, two of four, or two pairs of four pairs. */
struct form {
    int group, kept;
    bool halves; /* rows g and g + 8 share a lane's metadata, else they have lanes of their own */
};

static struct form form_of(unsigned type) {
    switch (type) {
    case SIM_tf32: return (struct form){2, 1, true};
    case SIM_f16:
    case SIM_bf16: return (struct form){4, 2, true};
    case SIM_s4:
    case SIM_u4: return (struct form){8, 4, false};
    default: return (struct form){4, 2, false};
    }
}

/* Which lane has the nibble of ROW's group GROUP of GROUPS, and at which bit. */
static int lane_of(const struct form *form, int row, int group, int groups, int selector, int *bit) {
    const int first = row % 8 * 4, high = row / 8;
    if (!form->halves) {
        *bit = 4 * (group % 8);
        return first + (groups == 16 ? group / 8 * 2 : 2 * selector) + high;
    }
    *bit = 16 * high + 4 * (group % 4);
    return first + (groups == 8 ? 2 * selector + group / 4 : selector);
}

/* How many selectors name other lanes. */
static int selectors(const struct form *form, int groups) {
    if (!form->halves) return groups == 16 ? 1 : 2;
    return groups == 8 ? 2 : 4;
}

/* Whether NIBBLE is one that the ISA gives a meaning. In order both places ascend. */
static bool is_legal(const struct form *form, unsigned nibble, bool ordered) {
    const unsigned low = nibble & 3, high = nibble >> 2;
    if (form->kept == 1) return nibble == 0x4 || nibble == 0xe;
    return ordered ? low < high : low != high;
}

static void put_places(const struct form *form, sim_places places, int group, unsigned nibble) {
    uint8_t *at = &places[group * form->kept];
    const int first = group * form->group, each = form->group / 4;
    if (form->kept == 1) {
        at[0] = (uint8_t)(first + (nibble == 0xe));
        return;
    }
    for (int i = 0; i < form->kept; i++)
        at[i] = (uint8_t)(first + (int)(nibble >> 2 * (i / each) & 3) * each + i % each);
}

bool sim_read_metadata(struct sim_warp *warp, const struct sim_insn *insn, unsigned a_type, int depth,
                       const struct sim_value *value, sim_places places[SIM_PRODUCT_ROWS]) {
    const struct form form = form_of(a_type);
    const uint32_t *lanes = sim_source(warp, &value[0]);
    const int groups = depth / form.group, most = selectors(&form, groups);
    const uint32_t selector = *(const uint32_t *)sim_source(warp, &value[1]);
    const bool ordered = insn->modifiers & SIM_ORDERED;
    if (selector >= (uint32_t)most) {
        sim_fault_at(warp, insn, 0, PTXSIM_TRAP, "selector %u, must be below %d", selector, most);
        return false;
    }
    for (int row = 0; row < SIM_PRODUCT_ROWS; row++)
        for (int group = 0; group < groups; group++) {
            int bit, lane = lane_of(&form, row, group, groups, (int)selector, &bit);
            const unsigned nibble = lanes[lane] >> bit & 15;
            if (!is_legal(&form, nibble, ordered)) {
                sim_fault_at(warp, insn, lane, PTXSIM_TRAP,
                             "metadata 0x%x of row %d, elements %d to %d: no meaning%s", nibble, row,
                             group * form.group, (group + 1) * form.group - 1,
                             ordered ? ", or not in order" : "");
                return false;
            }
            put_places(&form, places[row], group, nibble);
        }
    return true;
}
