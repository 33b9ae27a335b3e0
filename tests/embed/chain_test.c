/* What an SDDMM writes an SpMM reads as its values, batched, exact; on the simulator (tests/gpu/chain.c: captured, on a
   GPU). */
#include "chain.h"

static const chain_kind kinds[] = {
    {"s8, one pattern", MC_S8, 8, 3, 64, 100, 64, 64, 0.7, .gap = 0},
    {"u8, one pattern, gaps", MC_U8, 8, 3, 64, 100, 64, 32, 0.7, .gap = 512},
    {"s8, V = 4, open", MC_S8, 4, 2, 64, 100, 48, 64, 0.8, .shapes = MC_SHAPES_OPEN},
    {"u8, V = 2", MC_U8, 2, 2, 32, 64, 64, 128, 0.8, .gap = 0},
    {"s8, a pattern each", MC_S8, 8, 4, 64, 100, 64, 64, 0.7, .patterns = true},
    {"u8, a pattern each, V = 4", MC_U8, 4, 3, 64, 96, 32, 64, 0.8, .patterns = true,
     .shapes = MC_SHAPES_OPEN},
    {"one head", MC_S8, 8, 1, 64, 100, 64, 64, 0.7, .gap = 0},
};

static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

static void run(mc_context *context, const chain_kind *kind, uint64_t seed) {
    chain c;
    mc_plan_info first = {.size = sizeof first}, second = {.size = sizeof second};
    if (worked(kind->name, chain_open(&c, context, kind, seed, diag))) {
        mc_status status = chain_poison(&c, diag);
        if (status == MC_OK) status = chain_launch(&c, NULL, diag);
        if (status == MC_OK) status = chain_check(&c, diag);
        (void)worked(kind->name, status);
        (void)worked("info", mc_plan_get_info(c.sddmm, &first, diag));
        (void)worked("info", mc_plan_get_info(c.spmm, &second, diag));
        printf("%s\n    %s\n    %s\n", kind->name, first.fields, second.fields);
    }
    chain_close(&c);
}

/* S itself is an operand like others. */
static void test_missing(mc_context *context) {
    chain c;
    if (worked("open", chain_open(&c, context, &kinds[0], 1, diag))) {
        const mc_argument other = {.name = "value", .address = c.device_s},
                          odd = {"values", c.device_s + 8, 0};
        mc_args args = {.size = sizeof args, .b = c.device_v, .c = c.device_c};
        CHECK(mc_execute(c.spmm, &args, 0, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "values is missing");
        mc_diag_clear(diag);
        args.list = &other;
        args.list_count = 1;
        CHECK(mc_execute(c.spmm, &args, 0, NULL, diag) == MC_USAGE);
        CHECK_TEXT(mc_diag_text(diag), "list[0] is 'value', which is no operand of an SpMM");
        mc_diag_clear(diag);
        args.list = &odd;
        CHECK(mc_execute(c.spmm, &args, 0, NULL, diag) == MC_CANNOT);
        CHECK_TEXT(mc_diag_text(diag), "values lies at");
        mc_diag_clear(diag);
    }
    chain_close(&c);
}

int main(int argc, char **argv) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config,
                                      .device = argc > 1 ? argv[1] : "sim",
                                      .cache = MC_CACHE_OFF,
                                      .tuning = MC_TUNING_OFF};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) run(context, &kinds[i], 100 * i + 1);
        test_missing(context);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
