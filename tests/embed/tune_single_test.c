/* Tuning of matrices without vectors: the record is taken by later plans of the same pattern, by a spec and by
   all specs, of a matrix from the host and of one from device memory, and by no other pattern. */
#include <math.h>
#include "matrix/unstructured.h"
#include "tune_common.h"

enum { VERTICES = 90 };

static const struct single {
    const char *spec;
    mc_type matrix;
    mc_plan_config config;
} singles[] = {
    {"spmm_csr_f16", MC_F16, {.b = MC_F16, .c = MC_F16, .n = 128}},
    {"spmm_csr_f16_shared", MC_F16, {.b = MC_F16, .c = MC_F16, .n = 72}},
    {"spmm_csr_tf32", MC_TF32, {.b = MC_TF32, .c = MC_F32, .n = 64}},
    {"spmm_csr_f32", MC_F32, {.b = MC_F32, .c = MC_F32, .n = 64}},
    {"spmm_csr_f32_vector", MC_F32, {.b = MC_F32, .c = MC_F32, .n = 1}},
    {"sddmm_panels_f16", MC_F16, {.op = MC_OP_SDDMM, .a = MC_F16, .b = MC_F16, .c = MC_F16, .k = 32}},
    {"sddmm_csr_f32", MC_F32, {.op = MC_OP_SDDMM, .a = MC_F32, .b = MC_F32, .c = MC_F32, .k = 32}},
};

/* A graph's pattern; its arrays belong to the caller. */
typedef struct graph {
    mc_csr csr;
    int32_t *row_ptr;
} graph;

static graph make_graph(uint64_t seed, mc_diag *diag) {
    const mc_power_law law = {.rows = VERTICES, .cols = VERTICES, .degree = 5, .exponent = 2.5, .seed = seed};
    graph g;
    expect_ok("graph", mc_csr_generate_power(&law, &g.csr, diag), diag);
    g.row_ptr = calloc(VERTICES + 1, sizeof *g.row_ptr);
    for (int i = 0; i <= VERTICES; i++) g.row_ptr[i] = (int32_t)g.csr.row_ptr[i];
    return g;
}

static void free_graph(graph *g) {
    mc_csr_free(&g->csr);
    free(g->row_ptr);
}

static mc_matrix *on_host(mc_context *context, const graph *g, mc_type type, mc_diag *diag) {
    const mc_matrix_config config = {.size = sizeof config,
                                     .type = type,
                                     .vec = 1,
                                     .rows = VERTICES,
                                     .cols = VERTICES,
                                     .row_ptr = g->row_ptr,
                                     .col_idx = g->csr.col_idx};
    mc_matrix *matrix = NULL;
    expect_ok("matrix", mc_matrix_create(context, &config, &matrix, diag), diag);
    return matrix;
}

static mc_address upload(mc_context *context, const void *data, size_t bytes, mc_diag *diag) {
    mc_address address = 0;
    expect_ok("memory", mc_memory_create(context, bytes, &address, diag), diag);
    expect_ok("write", mc_memory_write(context, address, data, bytes, diag), diag);
    return address;
}

static mc_matrix *on_device(mc_context *context, const graph *g, mc_type type, mc_diag *diag) {
    const mc_device_matrix_config config = {
        .size = sizeof config,
        .type = type,
        .vec = 1,
        .rows = VERTICES,
        .cols = VERTICES,
        .row_ptr = upload(context, g->row_ptr, (VERTICES + 1) * sizeof *g->row_ptr, diag),
        .col_idx = upload(context, g->csr.col_idx, (size_t)g->csr.nnz * sizeof *g->csr.col_idx, diag)};
    mc_matrix *matrix = NULL;
    expect_ok("device", mc_matrix_from_device(context, &config, NULL, &matrix, diag), diag);
    mc_memory_destroy(context, config.row_ptr);
    mc_memory_destroy(context, config.col_idx);
    return matrix;
}

/* Whether the kernel of a plan of CONFIG and MATRIX comes from the record of its problem is RECORDED. Returns
   the kernel's hash. */
static uint64_t check_plan(mc_context *context, const struct single *s, const mc_plan_config *config,
                           mc_matrix *matrix, const char *what, bool recorded, mc_diag *diag) {
    mc_plan_config of = *config;
    mc_plan *plan = NULL;
    mc_plan_info info = {.size = sizeof info};
    of.matrix = matrix;
    of.tuning = MC_TUNING_REPLAY;
    expect_ok(s->spec, mc_plan_create(context, &of, &plan, diag), diag);
    expect_ok(s->spec, mc_plan_get_info(plan, &info, diag), diag);
    CHECK((info.origin == MC_ORIGIN_MEASURED) == recorded, "%s, %s: %s, %s", s->spec, what, info.fields,
          info.reason);
    mc_plan_destroy(plan);
    return info.hash;
}

/* The same kernel, however the matrix was made. */
static void check_alike(mc_context *context, const struct single *s, const mc_plan_config *config,
                        mc_matrix *host, mc_matrix *device, const char *what, mc_diag *diag) {
    uint64_t one = check_plan(context, s, config, host, what, true, diag),
             other = check_plan(context, s, config, device, what, true, diag);
    CHECK(one == other, "%s, %s: %016llx from the host, %016llx from device memory", s->spec, what,
          (unsigned long long)one, (unsigned long long)other);
}

static void check_single(const struct single *s, mc_diag *diag) {
    mc_context *context = open_context("/dev/null/records", diag);
    graph g = make_graph(1, diag), another = make_graph(2, diag);
    mc_matrix *host = on_host(context, &g, s->matrix, diag),
              *device = on_device(context, &g, s->matrix, diag),
              *other = on_host(context, &another, s->matrix, diag);
    mc_plan_config config = s->config, any = s->config;
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 3};
    mc_tune_result result = {.size = sizeof result};
    config.size = any.size = sizeof config;
    config.specs = &s->spec, config.spec_count = 1;
    config.matrix = host;
    expect_ok(s->spec, mc_tune(context, &config, &tune, &result, diag), diag);
    CHECK(result.measured >= 2 && result.wrong == 0 && result.failed == 0 && result.complete,
          "%s: %zu measured, %zu wrong, %zu failed\n%s", s->spec, result.measured, result.wrong,
          result.failed, log_text);
    check_alike(context, s, &config, host, device, "of the spec", diag);
    check_alike(context, s, &any, host, device, "of all specs", diag);
    (void)check_plan(context, s, &config, other, "another graph", false, diag);

    /* What lies on the device is known, and is not measured again. */
    mc_tune_result again = {.size = sizeof again};
    config.matrix = device;
    expect_ok(s->spec, mc_tune(context, &config, &tune, &again, diag), diag);
    CHECK(again.measured == 0 && again.known > 0, "%s: %zu measured again", s->spec, again.measured);
    mc_matrix_destroy(host);
    mc_matrix_destroy(device);
    mc_matrix_destroy(other);
    free_graph(&g);
    free_graph(&another);
    mc_context_destroy(context);
}

int main(void) {
    mc_diag *diag = mc_diag_create();
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++) check_single(&singles[i], diag);
    mc_diag_destroy(diag);
    return check_end();
}
