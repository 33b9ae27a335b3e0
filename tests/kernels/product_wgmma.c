/* Parts of product_test: kernels of method wgmma; what becomes of sums is the same of all. */
#include "product.h"

#define SMALL_TILE                                                                                           \
    {"tile_m", {"64", "128"}}, {"tile_n", {"64", "96"}}, {                                                   \
        "stages", { "3", "2" }                                                                               \
    }

void product_types(bench *t) {
    static const char *const pairs[][2] = {{"f16", "f16"},      {"bf16", "bf16"}, {"e4m3", "e4m3"},
                                           {"e4m3", "e5m2"},    {"e5m2", "e4m3"}, {"e5m2", "e5m2"},
                                           {"tf32rz", "tf32rz"}};
    static const char *const integers[][2] = {{"s8", "s8"}, {"s8", "u8"}, {"u8", "s8"}, {"u8", "u8"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const choice all[] = {{"lhs", {pairs[i][0]}},
                              {"rhs", {pairs[i][1]}},
                              {"out", {"f16", "bf16", "f32"}},
                              {"consumers", {"1"}},
                              SMALL_TILE};
        TRY(t, 5, all);
    }
    for (size_t i = 0; i < sizeof integers / sizeof *integers; i++) {
        const choice all[] = {{"lhs", {integers[i][0]}},
                              {"rhs", {integers[i][1]}},
                              {"out", {"s32"}},
                              {"consumers", {"1"}},
                              SMALL_TILE};
        TRY(t, 3, all);
    }
}

/* How the work is divided: the bits stay the same. */
void product_tiles(bench *t) {
    static const choice together[] = {{"tile_m", {"128", "256"}},
                                      {"tile_n", {"32", "64"}},
                                      {"stages", {"4", "3", "2"}},
                                      {"group", {"4", "1", "16"}},
                                      {"consumers", {"2"}}},
                        wide[] = {{"tile_m", {"128"}},
                                  {"tile_n", {"160", "192", "224", "256"}},
                                  {"stages", {"2"}},
                                  {"consumers", {"2"}}},
                        three[] = {{"tile_m", {"192"}},
                                   {"tile_n", {"64", "128"}},
                                   {"stages", {"3"}},
                                   {"consumers", {"3"}}},
                        turns[] = {{"turns", {"on"}},         {"tile_m", {"64", "128"}},
                                   {"tile_n", {"64", "128"}}, {"stages", {"3", "2"}},
                                   {"consumers", {"2"}},      {"store", {"tensor", "pairs"}}};
    /* of a 2:4 A little room is left for C */
    static const choice tall[] = {{"lhs", {"e4m3"}},   {"rhs", {"e4m3"}},   {"out", {"f16", "f32"}},
                                  {"tile_m", {"256"}}, {"tile_n", {"128"}}, {"stages", {"3"}},
                                  {"consumers", {"2"}}};
    TRY(t, 1, tall);
    TRY(t, 3, together);
    TRY(t, 1, wide);
    TRY(t, 1, three);
    TRY(t, 3, turns);
}

/* B row-major. */
void product_rows(bench *t) {
    static const choice all[] = {
        {"layout", {"rows"}},    {"lhs", {"f16"}},          {"rhs", {"f16"}},
        {"out", {"f16", "f32"}}, {"tile_m", {"64", "128"}}, {"tile_n", {"64", "128"}},
        {"stages", {"3"}},       {"consumers", {"1"}},      {"store", {"tensor", "single"}}};
    static const choice bf16[] = {
        {"layout", {"rows"}}, {"lhs", {"bf16"}}, {"rhs", {"bf16"}}, {"out", {"bf16"}}, {"tile_n", {"192"}}};
    TRY(t, 3, all);
    TRY(t, 1, bf16);
}

/* What becomes of sums. */
void product_outputs(bench *t) {
    static const choice reals[] = {{"out", {"f16", "bf16", "f32"}},
                                   {"lhs", {"f16", "s8"}},
                                   {"rhs", {"f16", "s8"}},
                                   {"store", {"tensor", "pairs", "single"}},
                                   {"scale", {"row", "column", "tensor"}},
                                   {"bias", {"none", "row", "column"}},
                                   {"act", {"none", "relu", "gelu", "silu"}},
                                   {"b_scale", {"none", "column"}},
                                   {"residual", {"none", "f16", "f32", "bf16"}},
                                   {"tile_n", {"64"}},
                                   {"stages", {"2"}}},
                        bytes[] = {{"out", {"s8", "u8", "e4m3", "e5m2"}},
                                   {"lhs", {"f16", "s8"}},
                                   {"rhs", {"f16", "s8"}},
                                   {"store", {"pairs", "single"}},
                                   {"scale", {"tensor", "row", "column"}},
                                   {"bias", {"none", "row", "column"}},
                                   {"c_scale", {"none", "tensor"}},
                                   {"residual", {"none", "f16"}},
                                   {"tile_n", {"64"}},
                                   {"stages", {"2"}}},
                        fours[] = {{"out", {"s4", "u4"}},
                                   {"store", {"pairs"}},
                                   {"scale", {"tensor", "row"}},
                                   {"c_scale", {"none", "tensor"}},
                                   {"zero", {"tensor", "none"}},
                                   {"tile_n", {"64"}},
                                   {"stages", {"2"}}},
                        plain[] = {{"out", {"f16", "bf16", "f32"}},
                                   {"store", {"tensor", "pairs", "single"}},
                                   {"tile_n", {"64"}},
                                   {"stages", {"2"}}},
                        sums[] = {{"lhs", {"s8"}},
                                  {"rhs", {"u8"}},
                                  {"out", {"s32"}},
                                  {"store", {"tensor", "pairs", "single"}},
                                  {"tile_n", {"64"}}};
    static const choice shifted[] = {{"align", {"4", "1"}},
                                     {"residual", {"f32", "f16", "bf16"}},
                                     {"store", {"tensor", "single"}},
                                     {"out", {"f16", "f32"}},
                                     {"tile_n", {"64"}},
                                     {"stages", {"2"}}};
    TRY(t, 5, shifted);
    TRY(t, 53, reals);
    TRY(t, 29, bytes);
    TRY(t, 3, fours);
    TRY(t, 1, plain);
    TRY(t, 1, sums);
}

/* Few columns, and k split among the thread blocks of a cluster: slices of all shapes, and fewer than there are
   thread blocks; parts without k; types and outputs. */
void product_split(bench *t) {
    static const choice
        narrow[] = {{"tile_n", {"8", "24", "16"}},
                    {"split", {"8", "2", "1", "4"}},
                    {"store", {"pairs", "single"}},
                    {"tile_m", {"64", "128"}},
                    {"stages", {"3", "8"}},
                    {"out", {"f16", "f32"}},
                    {"consumers", {"1"}}},
        wide[] = {{"tile_n", {"64", "32"}},   {"split", {"4", "2", "8"}},      {"store", {"tensor", "pairs"}},
                  {"tile_m", {"128", "256"}}, {"out", {"f16", "f32", "bf16"}}, {"consumers", {"2"}},
                  {"stages", {"2"}}},
        bytes[] = {{"lhs", {"e4m3", "e5m2"}}, {"rhs", {"e5m2", "e4m3"}}, {"split", {"4", "8", "2"}},
                   {"tile_n", {"8", "16"}},   {"tile_m", {"64"}},        {"store", {"pairs"}},
                   {"consumers", {"1"}},      {"stages", {"5"}}},
        integers[] = {{"lhs", {"s8", "u8"}},      {"rhs", {"u8", "s8"}},
                      {"split", {"8", "2", "4"}}, {"tile_n", {"24", "8", "64"}},
                      {"tile_m", {"128"}},        {"store", {"single"}},
                      {"out", {"s32"}},           {"consumers", {"1"}},
                      {"stages", {"2"}}},
        outputs[] = {{"out", {"s8", "f16", "e4m3"}},
                     {"lhs", {"f16", "s8"}},
                     {"rhs", {"f16", "s8"}},
                     {"split", {"2", "4"}},
                     {"scale", {"row", "column", "tensor"}},
                     {"bias", {"column", "row"}},
                     {"residual", {"f16", "none"}},
                     {"act", {"gelu", "none"}},
                     {"tile_n", {"16", "32"}},
                     {"store", {"pairs"}},
                     {"consumers", {"1"}},
                     {"stages", {"2"}}},
        ahead[] = {{"overlap", {"on", "wait"}}, {"early", {"on", "off"}}, {"once", {"on", "off"}},
                   {"split", {"4", "1"}},       {"stages", {"2", "8"}},   {"tile_n", {"16"}},
                   {"tile_m", {"64"}},          {"store", {"pairs"}},     {"consumers", {"1"}}},
        rows[] = {{"layout", {"rows"}}, {"split", {"2", "8"}}, {"tile_n", {"64"}},
                  {"tile_m", {"128"}},  {"stages", {"3"}},     {"consumers", {"1"}}};
    product_take_few_columns(t);
    TRY(t, 7, narrow);
    TRY(t, 11, wide);
    TRY(t, 5, bytes);
    TRY(t, 7, integers);
    TRY(t, 61, outputs);
    TRY(t, 7, ahead);
    TRY(t, 1, rows);
}

/* The last tiles dealt out along k: of all numbers of consumers and rows, stores, types and outputs. */
void product_stream(bench *t) {
    static const choice
        floats[] = {{"stream", {"on"}},        {"tile_n", {"32", "64"}},
                    {"tile_m", {"64", "128"}}, {"store", {"tensor", "pairs", "single"}},
                    {"out", {"f16", "f32"}},   {"group", {"4", "1", "2"}},
                    {"stages", {"3", "2"}},    {"consumers", {"1"}}},
        wide[] = {{"stream", {"on"}},
                  {"tile_m", {"128", "256"}},
                  {"tile_n", {"64", "96"}},
                  {"out", {"f16", "f32", "bf16"}},
                  {"bias", {"none", "column"}},
                  {"residual", {"none", "f16"}},
                  {"stages", {"2"}},
                  {"consumers", {"2"}}},
        bytes[] = {{"stream", {"on"}},   {"lhs", {"e4m3", "e5m2"}},      {"rhs", {"e5m2", "e4m3"}},
                   {"tile_m", {"64"}},   {"sums", {"fast", "promoted"}}, {"tile_n", {"64", "24"}},
                   {"store", {"pairs"}}, {"consumers", {"1"}},           {"stages", {"4"}}},
        integers[] = {{"stream", {"on"}}, {"lhs", {"s8", "u8"}},   {"rhs", {"u8", "s8"}},
                      {"tile_m", {"64"}}, {"tile_n", {"64", "8"}}, {"store", {"single"}},
                      {"out", {"s32"}},   {"consumers", {"1"}},    {"stages", {"2"}}},
        words[] = {{"stream", {"on"}}, {"lhs", {"tf32rz"}}, {"rhs", {"tf32rz"}}, {"out", {"f32"}},
                   {"tile_m", {"64"}}, {"tile_n", {"32"}},  {"consumers", {"1"}}},
        ahead[] = {{"stream", {"on"}}, {"overlap", {"on", "wait"}}, {"once", {"on", "off"}},
                   {"tile_m", {"64"}}, {"tile_n", {"64"}},          {"consumers", {"1"}}},
        three[] = {{"stream", {"on"}},
                   {"tile_m", {"192"}},
                   {"tile_n", {"64"}},
                   {"stages", {"3"}},
                   {"consumers", {"3"}}},
        turns[] = {{"stream", {"on"}},         {"turns", {"on"}},      {"tile_m", {"64", "128"}},
                   {"tile_n", {"64", "32"}},   {"stages", {"3", "2"}}, {"store", {"tensor", "pairs"}},
                   {"overlap", {"off", "on"}}, {"out", {"f16", "f32"}}},
        byte_turns[] =
            {{"stream", {"on"}}, {"turns", {"on"}},  {"lhs", {"e4m3", "e5m2"}},     {"rhs", {"e4m3"}},
             {"tile_m", {"64"}}, {"tile_n", {"64"}}, {"sums", {"fast", "promoted"}}},
        rows[] = {{"stream", {"on"}},
                  {"layout", {"rows"}},
                  {"tile_m", {"64"}},
                  {"tile_n", {"64"}},
                  {"consumers", {"1"}}};
    product_take_stream(t);
    TRY(t, 11, floats);
    TRY(t, 17, wide);
    TRY(t, 3, bytes);
    TRY(t, 3, integers);
    TRY(t, 1, words);
    TRY(t, 3, ahead);
    TRY(t, 1, three);
    TRY(t, 13, turns);
    TRY(t, 3, byte_turns);
    TRY(t, 1, rows);
}

/* Other ways to add up. */
void product_sums(bench *t) {
    static const choice promoted[] = {{"sums", {"promoted"}},         {"lhs", {"e4m3", "e5m2"}},
                                      {"rhs", {"e4m3", "e5m2"}},      {"out", {"f16", "f32", "bf16"}},
                                      {"tile_m", {"128", "256"}},     {"tile_n", {"64", "32"}},
                                      {"stages", {"3", "2"}},         {"consumers", {"2"}},
                                      {"store", {"tensor", "pairs"}}, {"bias", {"none", "column"}}},
                        in_turn[] = {{"sums", {"promoted"}}, {"lhs", {"e4m3"}},     {"rhs", {"e4m3"}},
                                     {"turns", {"on"}},      {"tile_m", {"64"}},    {"tile_n", {"128", "64"}},
                                     {"consumers", {"2"}},   {"stages", {"2", "4"}}},
                        shared[] = {{"sums", {"promoted"}},    {"lhs", {"e5m2"}},
                                    {"rhs", {"e4m3"}},         {"split", {"2", "4"}},
                                    {"tile_m", {"64", "128"}}, {"tile_n", {"16", "32"}},
                                    {"consumers", {"1"}},      {"stages", {"3"}},
                                    {"store", {"pairs"}}},
                        halves[] = {{"sums", {"f16"}},
                                    {"out", {"f16", "f32", "bf16"}},
                                    {"tile_m", {"128", "64"}},
                                    {"tile_n", {"64", "96"}},
                                    {"stages", {"2", "3"}},
                                    {"consumers", {"1"}},
                                    {"store", {"tensor", "pairs", "single"}},
                                    {"bias", {"none", "row"}},
                                    {"act", {"none", "relu"}}},
                        half_rows[] = {
                            {"sums", {"f16"}}, {"layout", {"rows"}}, {"tile_n", {"64"}}, {"turns", {"on"}}};
    TRY(t, 37, promoted);
    TRY(t, 1, in_turn);
    TRY(t, 2, shared);
    TRY(t, 41, halves);
    TRY(t, 1, half_rows);
}

/* Scales of blocks: of both layouts of A's, in tiles whose columns are all of a block's and a part of them, with
   all that may be made of the sums; of few columns, also where a part of k has no block. */
void product_blocks(bench *t) {
    static const choice scaled[] = {{"sums", {"promoted"}},          {"block_scales", {"on"}},
                                    {"lhs", {"e4m3", "e5m2"}},       {"rhs", {"e4m3", "e5m2"}},
                                    {"out", {"bf16", "f32", "f16"}}, {"a_blocks_major", {"row", "column"}},
                                    {"tile_m", {"128", "256"}},      {"tile_n", {"64", "32"}},
                                    {"stages", {"3", "2"}},          {"consumers", {"2"}},
                                    {"store", {"tensor", "pairs"}},  {"bias", {"none", "column"}},
                                    {"residual", {"none", "f16"}}},
                        square[] = {{"a_blocks_major", {"column", "row"}}, {"out", {"bf16", "f16"}}},
                        in_turn[] = {{"sums", {"promoted"}},
                                     {"block_scales", {"on"}},
                                     {"lhs", {"e4m3"}},
                                     {"rhs", {"e4m3"}},
                                     {"out", {"f16", "e4m3"}},
                                     {"a_blocks_major", {"column", "row"}},
                                     {"tile_m", {"64"}},
                                     {"tile_n", {"128"}},
                                     {"stages", {"2", "4"}},
                                     {"consumers", {"2"}},
                                     {"turns", {"on"}},
                                     {"scale", {"tensor", "row"}},
                                     {"b_scale", {"column", "none"}},
                                     {"store", {"single"}}},
                        shared[] = {{"sums", {"promoted"}},     {"block_scales", {"on"}},
                                    {"lhs", {"e5m2"}},          {"rhs", {"e4m3"}},
                                    {"split", {"2", "4", "8"}}, {"a_blocks_major", {"row", "column"}},
                                    {"tile_m", {"64", "128"}},  {"tile_n", {"16", "32", "8"}},
                                    {"consumers", {"1"}},       {"stages", {"3"}},
                                    {"overlap", {"off", "on"}}, {"store", {"pairs"}}};
    TRY(t, 61, scaled);
    TRY(t, 7, in_turn);
    TRY(t, 1, square);
    product_take_few_columns(t);
    TRY(t, 5, shared);
}

/* Several products in one launch, dense or by one 2:4 matrix. */
void product_batches(bench *t) {
    static const choice
        all[] = {{"batch", {"on"}},
                 {"store", {"tensor", "pairs", "single"}},
                 {"out", {"f16", "f32", "bf16"}},
                 {"scale", {"row", "tensor"}},
                 {"bias", {"none", "column"}},
                 {"residual", {"f16", "none", "f32"}},
                 {"tile_m", {"128", "64"}},
                 {"tile_n", {"64", "96"}},
                 {"stages", {"2", "3"}},
                 {"consumers", {"1"}}},
        bytes[] = {{"batch", {"on"}},
                   {"lhs", {"e4m3", "e5m2"}},
                   {"rhs", {"e5m2"}},
                   {"sums", {"promoted", "fast"}},
                   {"tile_m", {"128"}},
                   {"tile_n", {"64"}},
                   {"store", {"tensor", "pairs"}}},
        integers[] = {{"batch", {"on"}},
                      {"lhs", {"s8"}},
                      {"rhs", {"u8"}},
                      {"out", {"s32"}},
                      {"tile_n", {"64"}},
                      {"stages", {"2"}},
                      {"store", {"tensor", "single"}}},
        turns[] = {{"batch", {"on"}},  {"turns", {"on"}},      {"tile_m", {"64", "128"}},
                   {"tile_n", {"64"}}, {"stages", {"3", "2"}}, {"store", {"tensor", "pairs"}}},
        rows[] = {{"batch", {"on"}}, {"layout", {"rows"}}, {"tile_n", {"64", "128"}}, {"stages", {"3"}}},
        split[] = {{"batch", {"on"}},          {"split", {"2", "4"}},   {"tile_n", {"16", "64"}},
                   {"tile_m", {"64"}},         {"stages", {"3"}},       {"consumers", {"1"}},
                   {"overlap", {"off", "on"}}, {"once", {"off", "on"}}, {"store", {"pairs"}}};
    TRY(t, 97, all);
    TRY(t, 3, bytes);
    TRY(t, 1, integers);
    TRY(t, 3, turns);
    TRY(t, 1, rows);
    product_take_few_columns(t);
    TRY(t, 5, split);
}
