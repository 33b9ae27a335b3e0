/* Plans that are never slower than dense: by records, where both products have one; and captured in a graph, on the
 * driver that is the simulator. */
#include "device/cuda.h" /* first: product.h has a name that is a parameter here */
#include "context/context.h"
#include "dense_plan.h"
#include "plan/plan.h"
#include "problem/densify.h"
#include "records/record.h"

mc_diag *diag;
static mc_context *context;

/* -- Records, where both have one, count for more than estimates */

static void record_one(const plan_problem *problem, const char *fields, double microseconds, bool cold) {
    record_candidate candidate = {1, RECORD_TIMED, microseconds, "mine.lua", fields};
    const record r = {.problem = *problem,
                      .gpu = mc_device_get_info(context->device)->name,
                      .driver = "1",
                      .generator = mc_generator_id(),
                      .fields = fields,
                      .spec = "mine.lua",
                      .microseconds = microseconds,
                      .cold = cold,
                      .candidates = &candidate,
                      .candidate_count = 1};
    (void)worked("record", record_add(context->records, &r, diag));
}

typedef struct recorded {
    product_kind kind;
    const char *fields;   /* of the dense kernel that has a record; NULL: none */
    double dense, sparse; /* microseconds */
    bool taken, cold;     /* cold: the dense one was measured so */
} recorded;

#define MMA "op=gemm method=mma arch=sm_80 tile_m=64 tile_n=64 warp_m=32 warp_n=32 stages=3 "
static const recorded records[] = {
    {.kind = {"the sparse kernel's record alone", MC_F16, FULL(8),
              .config = CONFIG(32, .b = MC_F16, .c = MC_F16)},
     .sparse = 1e-3,
     .taken = true},
    {.kind = {"a slow dense kernel", MC_F16, FULL(8), .config = CONFIG(16, .b = MC_F16, .c = MC_F16)},
     .fields = MMA "store=pairs",
     .dense = 9,
     .sparse = 5},
    {.kind = {"a fast one", MC_F16, EMPTY(8), .config = CONFIG(24, .b = MC_F16, .c = MC_F16)},
     .fields = MMA "store=pairs",
     .dense = 4,
     .sparse = 5,
     .taken = true},
    {.kind = {"one with cold operands", MC_F16, EMPTY(8), .config = CONFIG(12, .b = MC_F16, .c = MC_F16)},
     .fields = MMA "store=pairs",
     .dense = 4,
     .sparse = 5,
     .cold = true},
    {.kind = {"tf32, V = 2", MC_TF32, FULL(2), .config = CONFIG(24, .b = MC_TF32, .c = MC_F32)},
     .fields = MMA "store=pairs copy=4",
     .dense = 4,
     .sparse = 5,
     .taken = true},
    {.kind = {"rows that begin anywhere", MC_BF16, FULL(4),
              .config = CONFIG(41, .b = MC_BF16, .c = MC_F32, .ldb = 43)},
     .fields = MMA "store=single copy=1",
     .dense = 4,
     .sparse = 5,
     .taken = true},
};

static void run_recorded(const recorded *r) {
    product p;
    plan_problem sparse, dense;
    if (product_open(&p, context, &r->kind, 5) &&
        worked("problem", plan_problem_of(&p.config, &p.host, &sparse, diag)) &&
        worked("dense", plan_problem_densify(&sparse, &dense, diag))) {
        const bool both = r->fields != NULL && !r->cold;
        if (r->fields != NULL) record_one(&dense, r->fields, r->dense, r->cold);
        record_one(&sparse, "op=spmm arch=sm_80 tile_n=32 warps=4 split=4", r->sparse, false);
        if (product_plan(&p)) {
            const mc_plan_info info = info_of(p.plan);
            check_said(&p, r->taken, both ? "by records" : "by estimates");
            CHECK(info.dense_measured == both, "%s", r->kind.name);
            CHECK(!both || (info.dense_microseconds == r->dense && info.sparse_microseconds == r->sparse),
                  "%s: %g and %g", r->kind.name, info.dense_microseconds, info.sparse_microseconds);
            product_check(&p);
        }
    }
    product_close(&p);
}

/* A policy that tunes measures both. */
static void test_tuned(void) {
    static const product_kind kind = {"tuned",
                                      MC_S8,
                                      .vec = 8,
                                      .row_blocks = 2,
                                      .cols = 64,
                                      .sparsity = 0.3,
                                      .config = CONFIG(8, BY_COLUMNS, .c = MC_S32, .tuning = MC_TUNING_TUNE)};
    product p;
    if (product_open(&p, context, &kind, 7) && product_plan(&p)) {
        const mc_plan_info info = info_of(p.plan);
        CHECK(info.dense_measured && info.origin == MC_ORIGIN_MEASURED, "%s: %s", info.dense_reason,
              info.reason);
        CHECK(info.dense == (info.dense_microseconds < info.sparse_microseconds), "%g and %g",
              info.dense_microseconds, info.sparse_microseconds);
        product_check(&p);
    }
    product_close(&p);
}

/* -- Captured: By records: estimates are of a GPU of two multiprocessors. */
static bool plan_dense_one(product *p) {
    plan_problem sparse, dense;
    mc_plan_info info = {.size = sizeof info};
    if (!worked("problem", plan_problem_of(&p->config, &p->host, &sparse, diag)) ||
        !worked("dense", plan_problem_densify(&sparse, &dense, diag)))
        return false;
    record_one(&dense, "op=gemm arch=sm_90a tile_m=64 tile_n=64 stages=3 consumers=1 store=pairs", 4, false);
    record_one(&sparse, "op=spmm arch=sm_80 tile_n=32 warps=4 split=4", 5, false);
    if (!product_plan(p) || !worked("info", mc_plan_get_info(p->plan, &info, diag))) return false;
    CHECK(info.dense && info.origin == MC_ORIGIN_MEASURED, "%s: %s", info.dense_reason, info.fields);
    return true;
}

static void set_values(product *p, uint64_t seed) {
    mc_vsparse_fill(&p->host, MC_VALUES_FULL, seed, NULL);
    (void)worked("values", mc_matrix_set_values(p->matrix, p->host.values, NULL, diag));
    (void)worked("wait", mc_synchronize(context, NULL, diag));
}

/* The driver that is the simulator runs what it captures, and replays nothing. */
static void capture(const product *p) {
    const cuda_driver *driver = NULL;
    const char *why = "";
    context_visit visit;
    cuda_stream stream = NULL;
    cuda_graph graph = NULL;
    CHECK(cuda_driver_get(&driver, &why) == CUDA_READY, "%s", why);
    if (driver == NULL) return;
    product_poison(p);
    (void)worked("enter", context_enter(context, &visit, diag));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamCreate, &stream, 1));
    (void)worked("capture", CUDA_CALL(driver, diag, StreamBeginCapture, stream, 0));
    (void)worked("execute", mc_execute(p->plan, &p->args, 0, stream, diag));
    (void)worked("end", CUDA_CALL(driver, diag, StreamEndCapture, stream, &graph));
    (void)worked("graph", CUDA_CALL(driver, diag, GraphDestroy, graph));
    (void)worked("stream", CUDA_CALL(driver, diag, StreamDestroy, stream));
    context_leave(context, &visit);
    product_compare(p);
}

/* A replay reads new values where those lay that were captured. */
static void test_graph(void) {
    static const product_kind kind = {
        "captured",
        MC_S8,
        8,
        .row_blocks = 4,
        .cols = 96,
        .sparsity = 0.3,
        .config = {
            .b = MC_S8, .b_major = MC_MAJOR_COLUMN, .c = MC_S32, .n = 24, .dense = MC_DENSE_IF_FASTER}};
    product p;
    if (product_open(&p, context, &kind, 7) && plan_dense_one(&p)) {
        const mc_address before = p.plan->packing->arrays[0];
        const plan_launch launch = p.plan->launch;
        capture(&p);
        set_values(&p, 8);
        CHECK(p.plan->packing->arrays[0] == before, "the weight lies elsewhere");
        CHECK(memcmp(&launch, &p.plan->launch, sizeof launch) == 0, "another launch");
        capture(&p);
    }
    product_close(&p);
}

int main(int argc, char **argv) {
    const char *device = argc > 1 ? argv[1] : "sim";
    const mc_context_config config = {
        .size = sizeof config, .device = device, .cache = MC_CACHE_OFF, .records = ""};
    diag = mc_diag_create();
    if (worked("context", mc_context_create(&config, &context, diag))) {
        if (argc > 1) test_graph();
        else test_tuned();
        for (size_t i = 0; argc == 1 && i < sizeof records / sizeof *records; i++) run_recorded(&records[i]);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
