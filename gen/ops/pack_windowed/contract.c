/* What launching the two kernels takes, and what --describe says of them. */
#include "ops/pack_windowed/choose.h"
#include "ops/pack_windowed/place.h"

static void add_pattern(mc_contract *c) {
    add_param(c, (mc_param){"row_order", "u64", MC_PARAM_ARRAY, WORD,
                            "s32[row_blocks], the row block at each place"});
    add_param(c, (mc_param){"offsets", "u64", MC_PARAM_ARRAY, WORD,
                            "s32[row_blocks + 1], a row block's first vector"});
    add_param(c,
              (mc_param){"columns", "u64", MC_PARAM_ARRAY, WORD, "s32[vectors], ascending in a row block"});
    add_param(c, (mc_param){"starts", "u64", MC_PARAM_ARRAY, WORD,
                            "s32[row_blocks], where strides of each place begin in chosen and windows"});
}

/* The ring, which both walk through, of all row blocks. */
static void add_ring(mc_contract *c) {
    add_shape(c, "row_blocks", MC_OPEN, "row blocks");
    add_shape(c, "window", MC_OPEN, "rows of B in a window");
    add_shape(c, "span", MC_OPEN, "windows that a stride may span");
    add_shape(c, "stages", MC_OPEN, "windows in the ring");
    add_shape(c, "split", MC_OPEN, "parts of a row block: 1, 2, 4 or 8");
}

/* A thread block for each row block. */
static void add_launch(mc_contract *c, unsigned threads) {
    c->grid[0] = (mc_grid_axis){"row_blocks", 1};
    c->grid[1] = c->grid[2] = (mc_grid_axis){NULL, 1};
    c->block[0] = threads, c->block[1] = c->block[2] = 1;
}

/* -- choose ------------------------------------------------------------------------------------------- */

void choose_contract(const void *data, mc_contract *c) {
    (void)data;
    add_pattern(c);
    add_param(
        c,
        (mc_param){"chosen", "u64", MC_PARAM_ARRAY, 128,
                   "s32[strides][32], which the kernel writes: vectors of the row block, from 0; -1: none"});
    add_param(
        c, (mc_param){"windows", "u64", MC_PARAM_ARRAY, 32,
                      "s32[strides][8], which the kernel writes: the oldest and the last window of a stride; "
                      "windows left and waited for, and strides of its part, before it"});
    add_param(
        c,
        (mc_param){"counts", "u64", MC_PARAM_ARRAY, WORD,
                   "s32[split + 1][row_blocks], which the kernel writes: strides of each part, with padding; "
                   "chosen strides"});
    add_ring(c);
    add_launch(c, MC_WARP);
    c->shared_static = BANKS * QUEUE_BYTES + WINDOWED_SLOTS * WORD;
}

void choose_facts(const void *data, mc_facts *facts) {
    (void)data;
    add_fact(facts, "threads", MC_WARP, "a thread block");
    add_fact(facts, "pool", WINDOWED_POOL, "vectors that a stride is chosen from");
    add_fact(facts, "shared_bytes", BANKS * QUEUE_BYTES + WINDOWED_SLOTS * WORD, "a thread block");
}

/* -- place -------------------------------------------------------------------------------------------- */

static void add_inputs(mc_contract *c) {
    add_pattern(c);
    add_param(c, (mc_param){"chosen", "u64", MC_PARAM_ARRAY, WORD, "as the kernel choose wrote it"});
    add_param(c, (mc_param){"windows", "u64", MC_PARAM_ARRAY, 16, "as the kernel choose wrote it"});
    add_param(c, (mc_param){"counts", "u64", MC_PARAM_ARRAY, WORD, "as the kernel choose wrote it"});
    add_param(c, (mc_param){"row_ptr", "u64", MC_PARAM_ARRAY, WORD,
                            "s32[split * row_blocks + 1], sums of counts: the packed array"});
}

static void add_outputs(mc_contract *c) {
    add_param(c, (mc_param){"control", "u64", MC_PARAM_ARRAY, WORD, "s32[strides], which the kernel writes"});
    add_param(c,
              (mc_param){"places", "u64", MC_PARAM_ARRAY, WORD, "s32[strides][16], which the kernel writes"});
    add_param(c, (mc_param){"values", "u64", MC_PARAM_ARRAY, ZERO_UNIT,
                            "of each stride units of zeros, and the row of ones, which the kernel writes"});
    add_param(
        c,
        (mc_param){"vectors", "u64", MC_PARAM_ARRAY, WORD,
                   "s32[strides][32], which the kernel writes: the number of each slot's vector; -1: none"});
}

void place_contract(const void *data, mc_contract *c) {
    (void)data;
    add_inputs(c);
    add_outputs(c);
    add_ring(c);
    add_shape(c, "units", MC_OPEN, "zeros among a stride's values, 16 bytes each");
    add_launch(c, PLACE_THREADS);
}

void place_facts(const void *data, mc_facts *facts) {
    (void)data;
    add_fact(facts, "threads", PLACE_THREADS, "a thread block");
    add_fact(facts, "stride_bytes", (WINDOWED_SLOTS + WINDOWED_STRIDE_WORDS + 1) * WORD,
             "written, without values");
}
