/* What launching takes, and what --describe says of it. */
#include "ops/pack_panels/pack_panels.h"
#include "parts/steps.h"

static const step_array arrays[] = {
    {"offsets", 1, "s32[rows + 1], the first nonzero of each row"},
    {"columns", 1, "s32[nonzeros], ascending in a row"},
    {"sorted", 1, "s32[nonzeros], which rank writes: columns panel by panel; bit 31: the first of its kind"},
    {"elements", 1, "s32[nonzeros], which rank writes: the nonzeros' numbers in the same order"},
    {"bits", 1, "b32[segments][32], which count writes: a bit for each leader, and one behind all nonzeros"},
    {"counts", 1,
     "s32, which is written: leaders of each segment; of measure [6][groups], strides and items of each "
     "class"},
    {"numbers", 1, "s32[count]"},
    {"sums", 1, "s32, which sums writes: of the numbers before each, and of all behind the last one"},
    {"totals", 1, "s32, which sums writes: the sums before numbers 0, each, 2 each, ..., and of all"},
    {"before", 1, "s32[segments][32], which list writes: leaders before each word of bits"},
    {"leaders", 1, "s32[leaders + 1], which list writes: their places, and how many nonzeros there are"},
    {"starts", PANEL_START_WORDS,
     "s32[panels + 1][2], which deal writes: the first stride of each panel, and its first leader"},
    {"items", PANEL_ITEM_WORDS, "s32[items][4], which deal writes: what each warp of a kernel does"},
    {"col_idx", 1, "s32[strides][32], which write writes: column of each slot; -1: none"},
    {"vectors", PANEL_ITEM_WORDS, "s32, which write writes: the nonzero of each packed value; -1: none"},
    {"masks", 2,
     "s32[strides][panel][2], which write writes: slots in which a row has something, and its first value"},
};

/* Step "write" of nonzeros takes more. */
enum { WRITE_MASKS = PANELS_STEPS };

static const step_launch launches[] = {
    [PANELS_RANK] = {{"offsets", "columns", "sorted", "elements"},
                     {"rows", "nonzeros"},
                     "nonzeros",
                     PANELS_THREADS},
    [PANELS_COUNT] = {{"sorted", "bits", "counts"}, {"nonzeros", "segments"}, "segments", PANELS_WARPS},
    [PANELS_SUMS] = {{"numbers", "sums", "totals"}, {"count", "each"}, NULL, 1},
    [PANELS_LIST] = {{"bits", "sums", "before", "leaders"}, {"segments"}, "segments", PANELS_WARPS},
    [PANELS_MEASURE] = {{"offsets", "bits", "before", "counts"},
                        {"rows", "panels", "groups", "warps", "share"},
                        "groups",
                        PANELS_WARPS},
    [PANELS_DEAL] = {{"offsets", "bits", "before", "sums", "totals", "starts", "items"},
                     {"rows", "panels", "groups", "warps", "share"},
                     "groups",
                     PANELS_WARPS},
    [PANELS_WRITE] = {{"offsets", "sorted", "elements", "leaders", "starts", "totals", "col_idx", "vectors"},
                      {"rows", "panels", "strides"},
                      "strides",
                      PANELS_WARPS},
    [WRITE_MASKS] = {{"offsets", "sorted", "elements", "leaders", "starts", "totals", "col_idx", "vectors",
                      "masks"},
                     {"rows", "panels", "strides", "nonzeros"},
                     "strides",
                     PANELS_WARPS},
};

static const step_shape shapes[] = {
    {"rows", "rows"},
    {"nonzeros", "nonzeros"},
    {"segments", "nonzeros / 1024 + 1"},
    {"count", "numbers"},
    {"each", "numbers from one total to the next"},
    {"panels", "panels"},
    {"groups", "panels / 32 + 1"},
    {"warps", "warps of a kernel's thread block"},
    {"share", "strides of a warp, before others share a panel"},
    {"strides", "strides, or more"},
};

static const step_params params = {arrays, sizeof arrays / sizeof *arrays, shapes,
                                   sizeof shapes / sizeof *shapes};

static int threads_of(const pack_panels_plan *plan) {
    return plan->step == PANELS_SUMS ? SUMS_THREADS : PANELS_THREADS;
}

void pack_panels_contract(const void *data, mc_contract *c) {
    const pack_panels_plan *plan = data;
    const bool masks = plan->step == PANELS_WRITE && plan->nonzeros;
    step_contract(c, &params, &launches[masks ? (int)WRITE_MASKS : (int)plan->step], threads_of(plan));
    if (plan->step == PANELS_SUMS) c->shared_static = SUMS_SHARED;
}

void pack_panels_facts(const void *data, mc_facts *facts) {
    add_fact(facts, "threads", threads_of(data), "a thread block");
}
