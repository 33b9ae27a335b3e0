/* The family `pack_windowed`: schema, hints, its two kernels. */
#include "ops/pack_windowed/pack_windowed.h"

static const mc_field fields[] = {
    {"op", WORDS("pack_windowed"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"task", WORDS("choose", "place"),
     .doc = "choose: which vectors of a row block share a stride, and how many strides there are. place: the "
            "packed arrays of what was chosen."},
    {"padding", WORDS("banks", "zeros", "words"), .solvers = "place",
     .doc = "What slots without a vector name. banks: a row of B in a bank that their group leaves free. "
            "zeros: the row of zeros behind the last stage. words: the same, and slots in the order of "
            "elements of 32 bits."},
    {"ones", SWITCH, .solvers = "place",
     .doc = "Whether values have a row of ones behind their digits, as those with digits offset have."},
    {"tile", COUNTS(16, 32, 64, 128), .standard = 64, .solvers = "place",
     .doc = "Bytes of a row of the ring."},
};
SCHEMA_FITS(fields, F_TILE);

static const mc_hint hints[] = {
    {" window stages split ", "rings differ by parameters of the launch, but for tile, the bytes of a row"},
    {0},
};

static void plan(const int64_t *point, void *data, mc_complaints *complaints) {
    pack_windowed_plan *p = data;
    *p = (pack_windowed_plan){
        .padding = (packed_padding)point[F_PADDING], .ones = point[F_ONES] != 0, .tile = (int)point[F_TILE]};
    if (p->ones && p->padding == PADDING_WORDS)
        complain(complaints, F_ONES, "elements of 32 bits have no digits, and no row of ones");
}

/* -- choose ------------------------------------------------------------------------------------------- */

static void choose_name(const void *data, char name[MC_MAX_ENTRY]) {
    (void)data;
    snprintf(name, MC_MAX_ENTRY, "pack_windowed_choose");
}

static const char *choose_computes(const void *data) {
    (void)data;
    return "chosen = the vectors of each stride, windows = when each stride can be read, counts = strides.";
}

static const char *choose_how(const void *data) {
    (void)data;
    return "A warp has a row block. Four lanes have a bank class: what of the pool is of it, in a queue.";
}

/* -- place -------------------------------------------------------------------------------------------- */

static void place_name(const void *data, char name[MC_MAX_ENTRY]) {
    static const char *const paddings[] = {"banks", "zeros", "words"};
    const pack_windowed_plan *p = data;
    snprintf(name, MC_MAX_ENTRY, "pack_windowed_place_%s%s_t%d", paddings[p->padding], p->ones ? "_ones" : "",
             p->tile);
}

static const char *place_computes(const void *data) {
    (void)data;
    return "control, places, vectors = those of chosen strides, and of padding while windows pass; values = "
           "0.";
}

static const char *place_how(const void *data) {
    (void)data;
    return "A thread block has a row block, and its warps take the strides in turn, a slot a lane.";
}

static const mc_solver choose = {.name = "choose",
                                 .plan = plan,
                                 .contract = choose_contract,
                                 .facts = choose_facts,
                                 .emit = choose_emit,
                                 .entry_name = choose_name,
                                 .computes = choose_computes,
                                 .how = choose_how};
static const mc_solver place = {.name = "place",
                                .plan = plan,
                                .contract = place_contract,
                                .facts = place_facts,
                                .emit = place_emit,
                                .entry_name = place_name,
                                .computes = place_computes,
                                .how = place_how};

static const mc_solver *solver(const int64_t *point) { return point[F_TASK] == 0 ? &choose : &place; }

const mc_family mc_family_pack_windowed = {
    .name = "pack_windowed",
    .summary = "a pattern on the device becomes the packed arrays of the ring SpMM",
    .computes = "The arrays of the format windowed-bcrs, but for row_order, row_ptr and values.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_TASK,
    .hints = hints};
