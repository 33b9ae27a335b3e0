/* The family `pack_csr`: schema, names, what launching takes, its one solver. */
#include "ops/pack_csr/pack_csr.h"
#include <stdio.h>
#include "parts/panels.h"
#include "parts/steps.h"

static const mc_field fields[] = {
    {"op", WORDS("pack_csr"), .doc = "The kernel family."},
    ARCH_FIELD,
    {"step", WORDS("count", "deal", "copy"),
     .doc = "count: items of each class, of each 256 rows. deal: the items, behind sums of these numbers, "
            "which step sums of the family pack_panels makes. copy: words from one array to another."},
    {"segmented", SWITCH,
     .doc = "Items are of kernels with this field, of steps count and deal: short rows are joined by their "
            "nonzeros, not by their number."},
};
SCHEMA_FITS(fields, F_SEGMENTED);

static const mc_hint hints[] = {
    {" warps share groups ",
     "how rows are shared is told to steps count and deal by parameters of the launch"},
    {0},
};

static void make_plan(const int64_t *point, void *data, mc_complaints *complaints) {
    pack_csr_plan *plan = data;
    (void)complaints;
    *plan = (pack_csr_plan){.step = (csr_step)point[F_STEP], .segmented = point[F_SEGMENTED] != 0};
}

/* -- Contract ----------------------------------------------------------------------------------------- */

static const step_array arrays[] = {
    {"offsets", 1, "s32[rows + 1], the first nonzero of each row"},
    {"counts", 1, "s32[6][blocks], which count writes: items of each class"},
    {"sums", 1, "s32[6 * blocks + 1], of the counts before each"},
    {"totals", 1, "s32[7], the sums before each class, and of all"},
    {"items", PANEL_ITEM_WORDS, "s32[items][4], which deal writes: what each warp of a kernel does"},
    {"source", 1, "b32[count]"},
    {"target", 1, "b32[count], which copy writes"},
};

static const step_shape shapes[] = {
    {"rows", "rows"},
    {"blocks", "rows / 256, rounded up"},
    {"most", "nonzeros of a row that is not long, and of joined ones"},
    {"joined", "rows of an item, at most: 1 to 32"},
    {"warps", "warps of a kernel's thread block"},
    {"share", "strides of 32 nonzeros that a warp takes of a long row, before others share it; at most 2^26"},
    {"count", "words"},
};

static const step_params params = {arrays, sizeof arrays / sizeof *arrays, shapes,
                                   sizeof shapes / sizeof *shapes};

static const step_launch launches[CSR_STEPS] = {
    [CSR_COUNT] = {{"offsets", "counts"},
                   {"rows", "blocks", "most", "joined", "warps", "share"},
                   "blocks",
                   1},
    [CSR_DEAL] = {{"offsets", "sums", "totals", "items"},
                  {"rows", "blocks", "most", "joined", "warps", "share"},
                  "blocks",
                  1},
    [CSR_COPY] = {{"source", "target"}, {"count"}, "count", PACK_CSR_THREADS},
};

static void contract(const void *data, mc_contract *c) {
    const pack_csr_plan *plan = data;
    step_contract(c, &params, &launches[plan->step], PACK_CSR_THREADS);
    c->shared_static = plan->step == CSR_COPY ? 0 : csr_blocks_shared(plan);
}

static void facts_of(const void *data, mc_facts *facts) {
    (void)data;
    add_fact(facts, "threads", PACK_CSR_THREADS, "a thread block");
}

/* -- Steps -------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    void (*emit)(const pack_csr_plan *plan, mc_builder *b);
    const char *computes, *how;
} steps[CSR_STEPS] = {
    [CSR_COUNT] = {"count", csr_emit_blocks, "counts = items of each class of 256 rows.",
                   "A thread has a row, and a thread block 256 of them."},
    [CSR_DEAL] = {"deal", csr_emit_blocks, "items = who takes which rows.",
                  "A thread has a row, and writes the items that begin with it."},
    [CSR_COPY] = {"copy", csr_emit_copy, "target = source.", "A thread has a word."},
};

static void entry_name(const void *data, char name[MC_MAX_ENTRY]) {
    const pack_csr_plan *plan = data;
    snprintf(name, MC_MAX_ENTRY, "pack_csr_%s%s", steps[plan->step].name,
             plan->segmented ? "_segmented" : "");
}

static const char *computes(const void *data) {
    const pack_csr_plan *plan = data;
    return steps[plan->step].computes;
}

static const char *how(const void *data) {
    const pack_csr_plan *plan = data;
    return steps[plan->step].how;
}

static void emit(const void *data, mc_builder *b) {
    const pack_csr_plan *plan = data;
    steps[plan->step].emit(plan, b);
}

static const mc_solver all_steps = {.name = "steps",
                                    .plan = make_plan,
                                    .contract = contract,
                                    .facts = facts_of,
                                    .emit = emit,
                                    .entry_name = entry_name,
                                    .computes = computes,
                                    .how = how};

static const mc_solver *solver(const int64_t *point) {
    (void)point;
    return &all_steps;
}

const mc_family mc_family_pack_csr = {.name = "pack_csr",
                                      .summary = "rows on the device are dealt out as items of csr",
                                      .computes = "The list of items of the format csr.",
                                      .fields = fields,
                                      .field_count = sizeof fields / sizeof *fields,
                                      .solver = solver,
                                      .chooser = F_STEP,
                                      .hints = hints};
