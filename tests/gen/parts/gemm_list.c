#include "gemm.h"
#include <stdio.h>

#define F16 .lhs = "f16", .rhs = "f16", .sums = "f32"

const gemm_config gemm_goldens[] = {
    {"gemm_cooperative", F16, .out = "f16", .tile_m = 128, .tile_n = 256, .stages = 4, .consumers = 2},
    {"gemm_cluster", F16, .out = "f16", .tile_m = 128, .tile_n = 256, .stages = 4, .consumers = 2,
     .cluster = 2},
    {"gemm_turns", F16, .out = "f32", .tile_m = 64, .tile_n = 128, .stages = 5, .consumers = 2,
     .turns = true},
    {"gemm_direct", F16, .out = "f32", .tile_m = 128, .tile_n = 96, .stages = 3, .consumers = 1,
     .direct = true},
    {"gemm_registers", F16, .out = "f16", .tile_m = 128, .tile_n = 128, .stages = 4, .consumers = 2,
     .a_registers = true},
    {"gemm_mn_major", F16, .out = "f16", .tile_m = 128, .tile_n = 192, .stages = 4, .consumers = 2,
     .b_mn_major = true},
    {"gemm_s8", .lhs = "s8", .rhs = "s8", .sums = "s32", .out = "s32", .tile_m = 128, .tile_n = 128,
     .stages = 4, .consumers = 2},
    {"gemm_sparse", F16, .out = "f16", .tile_m = 128, .tile_n = 128, .stages = 3, .consumers = 2,
     .sparse = true},
    {"gemm_split", F16, .out = "f16", .tile_m = 128, .tile_n = 16, .stages = 8, .consumers = 1, .split = 4,
     .direct = true},
};
const size_t gemm_golden_count = sizeof gemm_goldens / sizeof *gemm_goldens;

/* -- The sweep ---------------------------------------------------------------------------------------- */

/* What a configuration of the sweep multiplies, and how. */
typedef struct kind {
    const char *name, *lhs, *rhs, *sums, *out;
    bool turns, a_registers, a_mn_major, b_mn_major, sparse, adds;
    int span, tile_m, consumers, cluster; /* 0: as the sweep has them */
    int split;                            /* of tiles of few columns */
} kind;

static const kind kinds[] = {
    {"f16", "f16", "f16", "f32", "f16", .turns = false},
    {"f16_turns", "f16", "f16", "f32", "f16", .turns = true},
    {"f16_f32", "f16", "f16", "f32", "f32", .turns = false},
    {"f16_sums", "f16", "f16", "f16", "f16", .turns = false},
    {"bf16_mn", "bf16", "bf16", "f32", "f32", .b_mn_major = true},
    {"tf32", "tf32", "tf32", "f32", "f32", .turns = true},
    {"e4m3", "e4m3", "e4m3", "f32", "f16", .turns = false},
    {"e5m2_e4m3", "e5m2", "e4m3", "f32", "f32", .a_registers = true},
    {"s8_u8", "s8", "u8", "s32", "s32", .turns = false},
    {"u8", "u8", "u8", "s32", "s32", .a_registers = true},
    {"f16_registers_mn", "f16", "f16", "f32", "f16", .a_registers = true, .b_mn_major = true},
    {"f16_sparse", "f16", "f16", "f32", "f32", .sparse = true},
    {"s8_sparse", "s8", "s8", "s32", "s32", .sparse = true},
    {"e4m3_sparse_turns", "e4m3", "e5m2", "f32", "f16", .sparse = true, .turns = true},
    {"bf16_sparse_registers", "bf16", "bf16", "f32", "f32", .sparse = true, .a_registers = true},
    {"tf32_sparse", "tf32", "tf32", "f32", "f32", .sparse = true},
    {"f16_span64", "f16", "f16", "f32", "f16", .span = 64},
    {"f16_span32_sparse", "f16", "f16", "f32", "f16", .span = 32, .sparse = true},
    {"s8_span16", "s8", "s8", "s32", "s32", .span = 16},
    {"bf16_mn_span64", "bf16", "bf16", "f32", "f32", .a_mn_major = true, .b_mn_major = true, .span = 64},
    {"f16_mn_span32", "f16", "f16", "f32", "f16", .a_mn_major = true, .span = 32},
    {"f16_mn_span16", "f16", "f16", "f32", "f16", .b_mn_major = true, .span = 16},
    {"s8_adds", "s8", "s8", "s32", "s32", .adds = true},
    {"f16_256_rows", "f16", "f16", "f32", "f16", .tile_m = 256},
    {"f16_sparse_tall", "f16", "f16", "f32", "f16", .sparse = true, .tile_m = 256},
    {"s8_sparse_tall", "s8", "s8", "s32", "s32", .sparse = true, .tile_m = 256},
    {"tf32_sparse_tall", "tf32", "tf32", "f32", "f32", .sparse = true, .tile_m = 256},
    {"e4m3_sparse_tall_turns", "e4m3", "e4m3", "f32", "f16", .sparse = true, .tile_m = 128, .turns = true},
    {"f16_three", "f16", "f16", "f32", "f16", .tile_m = 192, .consumers = 3},
    {"f16_one", "f16", "f16", "f32", "f32", .tile_m = 64, .consumers = 1},
    {"f16_four_blocks", "f16", "f16", "f32", "f16", .cluster = 4},
    {"f16_split", "f16", "f16", "f32", "f16", .consumers = 1, .split = 4},
    {"f16_split_two", "f16", "f16", "f32", "f32", .split = 2},
    {"s8_split", "s8", "s8", "s32", "s32", .consumers = 1, .split = 8},
    {"e4m3_split", "e4m3", "e5m2", "f32", "f16", .tile_m = 64, .consumers = 1, .split = 8},
    {"f16_sparse_split", "f16", "f16", "f32", "f16", .consumers = 1, .sparse = true, .split = 4},
    {"s8_sparse_split", "s8", "s8", "s32", "s32", .sparse = true, .split = 2},
    {"e4m3_sparse_split", "e4m3", "e4m3", "f32", "f16", .tile_m = 256, .sparse = true, .split = 4},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const int columns[] = {64, 96, 128, 160, 192, 224, 256};
static const int few_columns[] = {8, 16, 24, 32, 64, 96, 128};
enum { COLUMNS = sizeof columns / sizeof *columns, SHARED = 227 << 10 };

/* Few columns, whose C tensor copies may not take. */
static void split_columns(const kind *of, size_t index, gemm_config *c) {
    c->tile_n = few_columns[index % COLUMNS];
    c->split = of->split, c->cluster = 0;
    c->direct = c->tile_n % 32 != 0;
    if (c->tile_m > 128 && c->tile_n > 64) c->tile_n = 64;
    if (c->tile_n == 96) c->split = 2; /* of fewer slices than parts the sums take much room */
}

/* Tile sizes in every kind; stages and clusters go round. */
bool gemm_of_sweep(size_t index, gemm_config *c) {
    static char name[64];
    if (index >= KINDS * COLUMNS) return false;
    const kind *of = &kinds[index / COLUMNS];
    int n = columns[index % COLUMNS], stages = 2 + (int)(index % 5);
    *c = (gemm_config){.name = name,
                       .lhs = of->lhs,
                       .rhs = of->rhs,
                       .sums = of->sums,
                       .out = of->out,
                       .tile_m = of->tile_m               ? of->tile_m
                                 : of->turns && index % 2 ? 64
                                                          : 128,
                       .tile_n = n,
                       .stages = stages,
                       .consumers = of->consumers ? of->consumers : 2,
                       .cluster = of->cluster      ? of->cluster
                                  : index % 3 == 1 ? 2
                                                   : 0,
                       .turns = of->turns,
                       .a_registers = of->a_registers,
                       .a_mn_major = of->a_mn_major,
                       .b_mn_major = of->b_mn_major,
                       .span = of->span,
                       .adds = of->adds,
                       .sparse = of->sparse};
    if (c->turns && n > 128) c->tile_m = 64;              /* registers */
    if (of->tile_m > 128 && n > 128) c->tile_n = n - 128; /* registers */
    if (c->b_mn_major && n % 128) c->cluster = 0;         /* a part has whole panels */
    if (c->b_mn_major && n % 64) c->tile_n = n - 32;
    if (c->b_mn_major && of->span == 16 && n > 192)
        c->tile_n = 192; /* a copy for each panel: they are many */
    if (of->split) split_columns(of, index, c);
    while (gemm_shared(c) > SHARED) c->stages--;
    snprintf(name, sizeof name, "%s_%dx%d_s%d%s", of->name, c->tile_m, c->tile_n, c->stages,
             c->cluster == 4 ? "_c4"
             : c->cluster    ? "_c2"
                             : "");
    return true;
}
