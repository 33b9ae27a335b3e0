/* Two layers: what one SpMM writes in 4 bits the next one reads as its B, exact, with nothing in between. */
#include "product.h"

mc_diag *diag;

static const char *const ring[] = {SPECS "/spmm_l8r4_tiled.lua"}, *const to_ring[] = {SPECS
                                                                                      "/spmm_l8r8_tiled.lua"};

/* Columns of activations: tokens. The first layer has 64 inputs and 48 outputs. */
static const struct {
    const char *name;
    mc_type type;
    int64_t n, ld;
    bool tiled;
} layers[] = {
    {"s4", MC_S4, 64, 64, false},
    {"u4, one token", MC_U4, 1, 2, false},
    {"s4, an odd number of tokens, gaps", MC_S4, 33, 40, false},
    {"u4, from ring to ring", MC_U4, 96, 96, true},
};

static void run(mc_context *context, size_t i) {
    const bool tiled = layers[i].tiled;
    const product_kind first = {layers[i].name,
                                MC_S8,
                                8,
                                6,
                                64,
                                0.6,
                                .config = {.b = MC_S8,
                                           .c = layers[i].type,
                                           .n = layers[i].n,
                                           .ldc = layers[i].ld,
                                           .scale = MC_PER_ROW,
                                           .bias = MC_PER_ROW,
                                           .c_scale = MC_PER_TENSOR,
                                           .b_scale = MC_PER_COLUMN,
                                           .activation = MC_ACTIVATION_GELU,
                                           .specs = to_ring,
                                           .spec_count = tiled}};
    const product_kind second = {layers[i].name,
                                 MC_S8,
                                 8,
                                 5,
                                 48,
                                 0.6,
                                 .config = {.b = layers[i].type,
                                            .c = MC_S32,
                                            .n = layers[i].n,
                                            .ldb = layers[i].ld,
                                            .specs = ring,
                                            .spec_count = tiled}};
    product a, b;
    bool opened = product_open(&a, context, &first, 10 * i + 1);
    opened &= product_open(&b, context, &second, 10 * i + 2);
    if (opened && product_plan(&a) && product_plan(&b)) {
        product_check(&a);
        mc_dense_free(&b.b);
        b.b = product_want(&a);
        b.args.b = a.args.c;
        product_check(&b);
    }
    product_close(&a);
    product_close(&b);
}

int main(int argc, char **argv) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag)))
        for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) run(context, i);
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
