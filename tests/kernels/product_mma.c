/* Parts of product_test: kernels of method mma. Their rows of A and B begin at multiples of as many bytes as `copy` says,
 * and no others: operands are moved, and leading dimensions may be odd. */
#include "product.h"

#define SMALL_PART                                                                                           \
    {"tile_m", {"64", "128"}}, {"tile_n", {"64"}}, {"warp_m", {"32", "64"}}, {"warp_n", {"32", "64"}}, {     \
        "stages", { "2", "3", "4" }                                                                          \
    }

void product_mma_types(bench *t) {
    static const char *const pairs[][3] = {{"f16", "f16", "sm_80"},   {"bf16", "bf16", "sm_80"},
                                           {"e4m3", "e4m3", "sm_89"}, {"e4m3", "e5m2", "sm_89"},
                                           {"e5m2", "e4m3", "sm_90"}, {"e5m2", "e5m2", "sm_89"},
                                           {"s8", "s8", "sm_80"},     {"s8", "u8", "sm_90"},
                                           {"u8", "s8", "sm_80"},     {"u8", "u8", "sm_80"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool integer = pairs[i][0][1] == '8';
        const choice all[] = {
            {"arch", {pairs[i][2]}},         {"lhs", {pairs[i][0]}},
            {"rhs", {pairs[i][1]}},          {"out", {integer ? "s32" : "f32", integer ? NULL : "f16"}},
            {"copy", {"16", "4", "1", "8"}}, {"span", {"64", "128"}},
            {"store", {"single", "pairs"}},  SMALL_PART};
        TRY(t, integer ? 199 : 389, all);
    }
}

/* Integers of 4 bits, which others than sm_80 to sm_89 emulate. Of an odd k the last byte of a row has half an element
 * too much, which is none of the matrix's. */
void product_mma_fours(bench *t) {
    static const char *const archs[] = {"sm_80", "sm_86", "sm_89", "sm_90"};
    static const choice tall[] = {{"lhs", {"s4"}},    {"rhs", {"s4"}},     {"arch", {"sm_80"}},
                                  {"out", {"s32"}},   {"tile_m", {"256"}}, {"tile_n", {"32", "64"}},
                                  {"warp_m", {"64"}}, {"warp_n", {"32"}},  {"stages", {"2", "3"}},
                                  {"span", {"64"}},   {"copy", {"16"}},    {"store", {"single"}}},
                        outputs[] = {{"lhs", {"s4", "u4"}},
                                     {"rhs", {"u4", "s4"}},
                                     {"out", {"f16", "s8", "u4", "e4m3", "s4", "f32", "bf16"}},
                                     {"scale", {"row", "column", "tensor"}},
                                     {"bias", {"none", "row", "column"}},
                                     {"act", {"none", "relu", "gelu"}},
                                     {"b_scale", {"none", "column"}},
                                     {"residual", {"none", "f16", "f32"}},
                                     {"arch", {"sm_89"}},
                                     {"tile_m", {"64"}},
                                     {"tile_n", {"64"}},
                                     {"warp_m", {"32"}},
                                     {"warp_n", {"32"}}},
                        deep[] = {{"lhs", {"s4", "u4"}},
                                  {"rhs", {"s4"}},
                                  {"arch", {"sm_80"}},
                                  {"out", {"s32"}},
                                  {"tile_m", {"64"}},
                                  {"tile_n", {"64"}},
                                  {"warp_m", {"32"}},
                                  {"warp_n", {"32"}},
                                  {"stages", {"2", "3", "4"}},
                                  {"span", {"64", "128"}},
                                  {"copy", {"16", "8", "4", "1"}}},
                        batches[] = {{"batch", {"on"}},     {"lhs", {"s4"}},       {"rhs", {"u4"}},
                                     {"out", {"s32"}},      {"tile_m", {"64"}},    {"tile_n", {"64"}},
                                     {"copy", {"16", "1"}}, {"store", {"single"}}, {"warp_n", {"32"}}};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        const choice all[] = {
            {"arch", {archs[i]}},
            {"lhs", {i % 2 ? "s4" : "u4"}},
            {"rhs", {i / 2 ? "s4" : "u4"}},
            {"out", {"s32"}},
            {"copy", {"16", "4", "1", "8"}},
            {"span", {"64", "128"}},
            {"store", {"single", "pairs"}},
            {"tile_m", {"64", "128"}},
            {"tile_n", {"64"}},
            {"warp_m", {"32", "64"}},
            {"warp_n", {"32", i == 3 ? NULL : "64"}}, /* which would spill where mma are emulated */
            {"stages", {"2", "3", "4"}}};
        TRY(t, 23, all);
    }
    TRY(t, 1, tall);
    TRY(t, 37, outputs);
    TRY(t, 1, batches);
    product_take_odd_depths(t);
    TRY(t, 5, deep);
}

/* f32 that are rounded, or cut off; both layouts. */
void product_mma_words(bench *t) {
    static const char *const words[] = {"tf32", "tf32rz"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const choice all[] = {{"lhs", {words[i]}},
                              {"rhs", {words[i]}},
                              {"out", {"f32", "f16"}},
                              {"layout", {"columns", "rows"}},
                              {"copy", {"4", "16", "8"}},
                              {"span", {"128", "64"}},
                              {"store", {"single", "pairs"}},
                              SMALL_PART};
        TRY(t, i ? 397 : 211, all);
    }
}

void product_mma_tiles(bench *t) {
    static const choice square[] = {{"tile_m", {"64", "128"}},   {"tile_n", {"64", "128"}},
                                    {"warp_m", {"32", "64"}},    {"warp_n", {"32", "64"}},
                                    {"stages", {"2", "3", "4"}}, {"span", {"64", "128"}},
                                    {"group", {"1", "4", "16"}}, {"copy", {"16", "8"}}},
                        long_m[] = {{"tile_m", {"256"}},   {"tile_n", {"32", "64"}}, {"warp_m", {"64"}},
                                    {"warp_n", {"32"}},    {"stages", {"2", "3"}},   {"span", {"64"}},
                                    {"copy", {"16", "1"}}, {"store", {"single"}}},
                        long_n[] = {{"tile_m", {"64", "128"}}, {"tile_n", {"256"}}, {"warp_m", {"64"}},
                                    {"warp_n", {"64"}},        {"stages", {"3"}},   {"span", {"64", "128"}},
                                    {"copy", {"4", "16"}}};
    TRY(t, 71, square);
    TRY(t, 7, long_m);
    TRY(t, 3, long_n);
}

/* B row-major, with columns at any place. */
void product_mma_rows(bench *t) {
    static const choice all[] = {{"layout", {"rows"}},          {"lhs", {"f16"}},
                                 {"out", {"f16", "f32"}},       {"tile_m", {"64", "128"}},
                                 {"tile_n", {"64", "128"}},     {"warp_m", {"32", "64"}},
                                 {"warp_n", {"32", "64"}},      {"copy", {"16", "1", "4", "8"}},
                                 {"stages", {"3", "2"}},        {"span", {"128"}},
                                 {"store", {"single", "pairs"}}},
                        bf16[] = {{"layout", {"rows"}}, {"lhs", {"bf16"}},         {"rhs", {"bf16"}},
                                  {"out", {"bf16"}},    {"tile_n", {"32", "256"}}, {"tile_m", {"64"}},
                                  {"warp_m", {"32"}},   {"warp_n", {"32"}},        {"span", {"64"}},
                                  {"copy", {"16", "1"}}};
    TRY(t, 97, all);
    TRY(t, 3, bf16);
}

/* What becomes of sums. */
void product_mma_outputs(bench *t) {
    static const choice reals[] = {{"out", {"f16", "bf16", "f32"}},
                                   {"lhs", {"f16", "s8"}},
                                   {"rhs", {"f16", "s8"}},
                                   {"store", {"pairs", "single"}},
                                   {"scale", {"row", "column", "tensor"}},
                                   {"bias", {"none", "row", "column"}},
                                   {"act", {"none", "relu", "gelu", "silu"}},
                                   {"b_scale", {"none", "column"}},
                                   {"residual", {"none", "f16", "f32", "bf16"}},
                                   SMALL_PART},
                        bytes[] = {{"out", {"s8", "u8", "e4m3", "e5m2"}},
                                   {"arch", {"sm_89"}},
                                   {"lhs", {"f16", "s8"}},
                                   {"rhs", {"f16", "s8"}},
                                   {"store", {"pairs", "single"}},
                                   {"scale", {"tensor", "row", "column"}},
                                   {"bias", {"none", "row", "column"}},
                                   {"c_scale", {"none", "tensor"}},
                                   {"residual", {"none", "f16"}},
                                   {"tile_m", {"64"}},
                                   {"tile_n", {"64"}},
                                   {"warp_n", {"32"}}},
                        fours[] = {{"out", {"s4", "u4"}},
                                   {"scale", {"tensor", "row"}},
                                   {"c_scale", {"none", "tensor"}},
                                   {"zero", {"tensor", "none"}},
                                   {"tile_n", {"64"}},
                                   {"warp_n", {"32"}}},
                        shifted[] = {{"align", {"4", "1"}}, {"residual", {"f32", "f16", "bf16"}},
                                     {"store", {"single"}}, {"out", {"f16", "f32"}},
                                     {"tile_n", {"64"}},    {"warp_n", {"32"}}};
    TRY(t, 9001, reals);
    TRY(t, 83, bytes);
    TRY(t, 5, fours);
    TRY(t, 5, shifted);
}

/* Sums of f16: dense, and by a 2:4 matrix where the spec is of one. */
void product_mma_sums(bench *t) {
    static const choice all[] = {{"sums", {"f16"}},
                                 {"arch", {"sm_80", "sm_90"}},
                                 {"out", {"f16", "f32", "bf16"}},
                                 {"copy", {"16", "4", "1"}},
                                 {"store", {"single", "pairs"}},
                                 {"bias", {"none", "row", "column"}},
                                 {"tile_m", {"64", "128"}},
                                 {"tile_n", {"64", "128"}},
                                 {"warp_m", {"32"}},
                                 {"warp_n", {"32", "64"}},
                                 {"stages", {"2"}}};
    TRY(t, 71, all);
}

/* By a 2:4 matrix. */
void product_mma_sparse(bench *t) {
    static const char *const pairs[][3] = {
        {"f16", "f16", "sm_80"},   {"bf16", "bf16", "sm_86"},     {"e4m3", "e4m3", "sm_89"},
        {"e4m3", "e5m2", "sm_89"}, {"e5m2", "e4m3", "sm_89"},     {"e5m2", "e5m2", "sm_89"},
        {"tf32", "tf32", "sm_80"}, {"tf32rz", "tf32rz", "sm_80"}, {"s8", "s8", "sm_80"},
        {"s8", "u8", "sm_90"},     {"u8", "s8", "sm_80"},         {"u8", "u8", "sm_90"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        bool integer = pairs[i][0][1] == '8', words = pairs[i][0][0] == 't';
        const choice all[] = {{"arch", {pairs[i][2]}},
                              {"lhs", {pairs[i][0]}},
                              {"rhs", {pairs[i][1]}},
                              {"out", {integer ? "s32" : "f32", integer ? NULL : "f16"}},
                              {"copy", {"16", "4", words ? "8" : "1", words ? NULL : "8"}},
                              {"store", {"single", "pairs"}},
                              {"tile_m", {"64", "128"}},
                              {"tile_n", {"64", "128"}},
                              {"warp_m", {"32"}},
                              {"warp_n", {"32", "64"}},
                              {"stages", {"2"}}};
        TRY(t, integer ? 23 : words ? 31 : 47, all);
    }
    static const char *const fours[][3] = {
        {"s4", "s4", "sm_80"}, {"s4", "u4", "sm_86"}, {"u4", "s4", "sm_89"}, {"u4", "u4", "sm_90"}};
    for (size_t i = 0; i < sizeof fours / sizeof *fours; i++) {
        const choice all[] = {{"arch", {fours[i][2]}},
                              {"lhs", {fours[i][0]}},
                              {"rhs", {fours[i][1]}},
                              {"out", {"s32"}},
                              {"copy", {"16", "4", "1", "8"}},
                              {"store", {"single", "pairs"}},
                              {"tile_m", {"64", "128"}},
                              {"tile_n", {"64", "128"}},
                              {"warp_m", {"32", "64"}},
                              {"warp_n", {"32"}},
                              {"stages", {"2"}}},
                     scaled[] = {{"arch", {fours[i][2]}},
                                 {"lhs", {fours[i][0]}},
                                 {"rhs", {fours[i][1]}},
                                 {"out", {"f16", "s8", "u4"}},
                                 {"scale", {"tensor", "row"}},
                                 {"bias", {"none", "column"}},
                                 {"residual", {"none", "f32"}},
                                 {"batch", {"off", "on"}},
                                 {"tile_m", {"64"}},
                                 {"tile_n", {"64"}},
                                 {"warp_n", {"32"}}};
        TRY(t, 17, all);
        TRY(t, 13, scaled);
    }
    static const choice tall[] = {{"tile_m", {"64", "128"}}, {"tile_n", {"32", "64"}}, {"warp_m", {"64"}},
                                  {"warp_n", {"32"}},        {"stages", {"3", "2"}},   {"copy", {"16"}}},
                        rows[] = {{"layout", {"rows"}},      {"tile_m", {"64", "128"}},
                                  {"tile_n", {"128", "64"}}, {"warp_m", {"32", "64"}},
                                  {"warp_n", {"32"}},        {"copy", {"1", "16", "4"}},
                                  {"store", {"single"}},     {"stages", {"2"}}};
    TRY(t, 3, tall);
    TRY(t, 7, rows);
}

/* Several products in one launch, dense or by one 2:4 matrix. */
void product_mma_batches(bench *t) {
    static const choice all[] = {{"batch", {"on"}},
                                 {"copy", {"16", "4", "1", "8"}},
                                 {"store", {"single", "pairs"}},
                                 {"out", {"f16", "f32", "s8"}},
                                 {"scale", {"row", "tensor"}},
                                 {"bias", {"none", "column"}},
                                 {"residual", {"f16", "none", "f32"}},
                                 {"tile_m", {"64", "128"}},
                                 {"tile_n", {"64", "128"}},
                                 {"warp_m", {"32"}},
                                 {"warp_n", {"64"}},
                                 {"stages", {"2"}}},
                        integers[] = {{"batch", {"on"}},     {"lhs", {"s8"}},
                                      {"rhs", {"u8"}},       {"out", {"s32"}},
                                      {"tile_m", {"64"}},    {"tile_n", {"64"}},
                                      {"copy", {"16", "1"}}, {"warp_m", {"32"}},
                                      {"warp_n", {"32"}},    {"store", {"pairs", "single"}}},
                        words[] = {{"batch", {"on"}},    {"lhs", {"tf32"}},
                                   {"rhs", {"tf32"}},    {"out", {"f32"}},
                                   {"tile_m", {"64"}},   {"tile_n", {"64"}},
                                   {"copy", {"4", "8"}}, {"warp_m", {"32"}},
                                   {"warp_n", {"32"}},   {"layout", {"rows", "columns"}}},
                        fours[] = {{"batch", {"on"}},  {"out", {"s4"}},    {"scale", {"tensor"}},
                                   {"tile_m", {"64"}}, {"tile_n", {"64"}}, {"warp_n", {"32"}},
                                   {"warp_m", {"32"}}};
    TRY(t, 127, all);
    TRY(t, 3, integers);
    TRY(t, 3, words);
    TRY(t, 1, fours);
}
