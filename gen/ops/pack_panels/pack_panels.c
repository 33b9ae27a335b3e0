/* The family `pack_panels`: schema, hints, names, its one solver. */
#include "ops/pack_panels/pack_panels.h"

static const mc_field fields[] = {
    {"op", WORDS("pack_panels"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"step", WORDS("rank", "count", "sums", "list", "measure", "deal", "write"),
     .doc = "In this order, sums also behind measure. rank: nonzeros of a panel by column, then by row. "
            "count: the first one of each column, a bit each, and how many. sums: of what comes before. "
            "list: their places. measure: strides and items of 32 panels. deal: where each panel's strides "
            "begin, and its items. write: columns and nonzeros of each stride."},
    {"panel", COUNTS(8, 16), .standard = 8, .doc = "Rows of a panel."},
    {"values", WORDS("slots", "nonzeros"),
     .doc = "Which values are packed, of step write. slots: one for each row of a panel and slot. nonzeros: "
            "those that are there, with masks."},
};
SCHEMA_FITS(fields, F_VALUES);

static const mc_hint hints[] = {
    {" warps share ", "how panels are shared is told to steps measure and deal by parameters of the launch"},
    {0},
};

static void make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    pack_panels_plan *plan = data;
    (void)complaints;
    *plan = (pack_panels_plan){
        .step = (panels_step)point[F_STEP], .panel = (int)point[F_PANEL], .nonzeros = point[F_VALUES] == 1};
}

/* -- Steps -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    bool has_panel; /* it depends on the rows of a panel */
    void (*emit)(const pack_panels_plan *plan, mc_builder *b);
    const char *computes, *how;
} steps[PANELS_STEPS] = {
    [PANELS_RANK] = {"rank", true, panels_emit_rank,
                     "sorted, elements = columns and numbers of nonzeros, in each panel by column, then row.",
                     "A thread has a nonzero, and looks for its column in each row of the panel."},
    [PANELS_COUNT] = {"count", false, panels_emit_count,
                      "bits = the first nonzeros of columns of panels, counts = how many of 1024 are.",
                      "A warp takes 1024 nonzeros, 32 at a time."},
    [PANELS_SUMS] = {"sums", false, panels_emit_sums, "sums[i] = the sum of numbers before the i-th.",
                     "One thread block takes 1024 numbers at a time."},
    [PANELS_LIST] = {"list", false, panels_emit_list,
                     "leaders[...] = places whose bits are set, before[word] = how many are before it.",
                     "A warp takes 1024 places, 32 at a time."},
    [PANELS_MEASURE] = {"measure", true, panels_emit_measure,
                        "counts = strides and items of each class of 32 panels.", "A thread has a panel."},
    [PANELS_DEAL] = {"deal", true, panels_emit_deal,
                     "starts = the first stride of each panel, items = who takes which strides.",
                     "A thread has a panel; a long one's items are written by its warp."},
    [PANELS_WRITE] = {"write", true, panels_emit_write,
                      "col_idx, vectors, masks = columns of strides, and which nonzero each row has there.",
                      "A warp has a stride, and a lane a slot."},
};

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const pack_panels_plan *plan = data;
    int length = snprintf(name, MC_MAX_ENTRY, "pack_panels_%s", steps[plan->step].name);
    if (steps[plan->step].has_panel)
        length += snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_p%d", plan->panel);
    if (plan->step == PANELS_WRITE && plan->nonzeros)
        snprintf(name + length, MC_MAX_ENTRY - (size_t)length, "_nz");
}

static const char *computes(const void *data) {
    const pack_panels_plan *plan = data;
    return steps[plan->step].computes;
}

static const char *how(const void *data) {
    const pack_panels_plan *plan = data;
    return steps[plan->step].how;
}

static void emit(const void *data, mc_builder *b) {
    const pack_panels_plan *plan = data;
    steps[plan->step].emit(plan, b);
}

static const mc_solver all_steps = {.name = "steps",
                                    .plan = make_plan,
                                    .contract = pack_panels_contract,
                                    .facts = pack_panels_facts,
                                    .emit = emit,
                                    .entry_name = entry_name,
                                    .computes = computes,
                                    .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &all_steps;
}

const mc_family mc_family_pack_panels = {
    .name = "pack_panels",
    .summary = "a pattern on the device is packed as panels",
    .computes = "The arrays of the format panels, but for values, and which nonzero each value is.",
    .fields = fields,
    .field_count = sizeof fields / sizeof *fields,
    .solver = solver,
    .chooser = F_STEP,
    .hints = hints};
