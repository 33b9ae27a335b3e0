/* What it costs that C, or B too, lies token by token (column-major), beside row-major ones: each problem is tuned,
 * verified by that, and timed in a graph. Run by hand, on a GPU:
 *
 *   majors_gpu [V [TYPE]]      8 and f16, where nothing is said
 *
 * Weights are random V x 1 vectors. A B by columns costs a launch more, which writes B's rows into the workspace. */
#include <stdio.h>
#include <stdlib.h>
#include "context/matrix.h"
#include "replay.h"

typedef struct shape {
    int64_t m, k, n;
    double sparsity;
} shape;

static const shape shapes[] = {{1024, 1024, 64, .9},  {2048, 512, 256, .7},   {4096, 4096, 64, .7},
                               {4096, 4096, 64, .9},  {4096, 4096, 512, .7},  {4096, 4096, 512, .9},
                               {8192, 2048, 256, .8}, {8192, 2048, 512, .95}, {11008, 4096, 2048, .9}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct bench {
    const cuda_driver *driver;
    cuda_stream stream;
    mc_context *context;
    mc_matrix *matrix;
    mc_type type;
    mc_diag *diag;
} bench;

typedef struct execution {
    mc_plan *plan;
    mc_args args;
    mc_address workspace;
} execution;

static mc_status execute(const void *user, void *stream, mc_diag *diag) {
    const execution *e = user;
    return mc_execute(e->plan, &e->args, e->workspace, stream, diag);
}

static mc_status make_matrix(bench *on, const shape *s, int vec) {
    const mc_pattern pattern = {s->m / vec, s->k, s->sparsity, MC_PATTERN_UNIFORM, .8, 7};
    mc_csr csr = {0};
    mc_vsparse a = {0};
    mc_status status = mc_csr_generate(&pattern, &csr, on->diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, vec, on->type, &a, on->diag);
    if (status == MC_OK) status = matrix_of_host(on->context, &a, &on->matrix, on->diag);
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
    return status;
}

static mc_status make_b(const bench *on, const shape *s, mc_address *address) {
    mc_dense b = {0};
    size_t bytes = (size_t)mc_type_size(on->type, s->k * s->n);
    mc_status status = mc_dense_create(on->type, s->k, s->n, s->n, &b, on->diag);
    if (status != MC_OK) return status;
    mc_dense_fill(&b, MC_VALUES_FULL, 3);
    status = mc_memory_create(on->context, bytes, address, on->diag);
    if (status == MC_OK) status = mc_memory_write(on->context, *address, b.data, bytes, on->diag);
    mc_dense_free(&b);
    return status;
}

/* Microseconds of the fastest kernel with such a B and C. That of a B by rows serves one by columns, too, behind the
   transpose. */
static mc_status measure(const bench *on, const shape *s, mc_major b_major, mc_major c_major, double *us) {
    const mc_plan_config config = {.size = sizeof config,
                                   .matrix = on->matrix,
                                   .b = on->type,
                                   .c = on->type,
                                   .n = s->n,
                                   .b_major = b_major,
                                   .c_major = c_major};
    const mc_tune_config tune = {.size = sizeof tune, .candidates = 40, .seconds = 6, .worker = ""};
    execution e = {.args = {.size = sizeof e.args}};
    double times[3] = {0};
    mc_status status = b_major == MC_MAJOR_ROW ? mc_tune(on->context, &config, &tune, NULL, on->diag) : MC_OK;
    if (status == MC_OK) status = mc_plan_create(on->context, &config, &e.plan, on->diag);
    size_t workspace = status == MC_OK ? mc_plan_workspace(e.plan) : 0;
    if (status == MC_OK) status = make_b(on, s, &e.args.b);
    if (status == MC_OK)
        status =
            mc_memory_create(on->context, (size_t)mc_type_size(on->type, s->m * s->n), &e.args.c, on->diag);
    if (status == MC_OK && workspace > 0)
        status = mc_memory_create(on->context, workspace, &e.workspace, on->diag);
    if (status == MC_OK) status = replay_time(on->driver, on->stream, execute, &e, times, on->diag);
    *us = times[0];
    const mc_address addresses[] = {e.args.b, e.args.c, e.workspace};
    for (int i = 0; i < 3; i++)
        if (addresses[i] != 0) mc_memory_destroy(on->context, addresses[i]);
    mc_plan_destroy(e.plan);
    return status;
}

static mc_status measure_all(bench *on, int vec) {
    static const mc_major majors[][2] = {{MC_MAJOR_ROW, MC_MAJOR_ROW},
                                         {MC_MAJOR_ROW, MC_MAJOR_COLUMN},
                                         {MC_MAJOR_COLUMN, MC_MAJOR_ROW},
                                         {MC_MAJOR_COLUMN, MC_MAJOR_COLUMN}};
    mc_status status = MC_OK;
    printf("us, V = %d, %s: B and C by rows; C by columns; B; both\n", vec, mc_type_text(on->type));
    for (int i = 0; i < SHAPES && status == MC_OK; i++) {
        const shape *s = &shapes[i];
        double us[4] = {0};
        status = make_matrix(on, s, vec);
        for (int j = 0; j < 4 && status == MC_OK; j++)
            status = measure(on, s, majors[j][0], majors[j][1], &us[j]);
        mc_matrix_destroy(on->matrix);
        on->matrix = NULL;
        if (status == MC_OK)
            printf("%5lld x %-5lld n = %-5lld %.2f  %8.2f  %8.2f (%.3f)  %8.2f (+ %.2f)  %8.2f\n",
                   (long long)s->m, (long long)s->k, (long long)s->n, s->sparsity, us[0], us[1],
                   us[1] / us[0], us[2], us[2] - us[0], us[3]);
        fflush(stdout);
    }
    return status;
}

static mc_status run(mc_device *device, mc_type type, int vec, mc_diag *diag) {
    const cuda_device_state *state = (const cuda_device_state *)device;
    const mc_context_config config = {.size = sizeof config, .device = "cuda:0", .records = ""};
    bench on = {.driver = state->driver, .type = type, .diag = diag};
    mc_status status = CUDA_CALL(on.driver, diag, CtxSetCurrent, state->context);
    if (status == MC_OK)
        status = CUDA_CALL(on.driver, diag, StreamCreate, &on.stream, CUDA_STREAM_NON_BLOCKING);
    if (status == MC_OK) status = mc_context_create(&config, &on.context, diag);
    if (status == MC_OK) status = measure_all(&on, vec);
    mc_context_destroy(on.context);
    if (on.stream != NULL) (void)on.driver->StreamDestroy(on.stream);
    return status;
}

int main(int argc, char **argv) {
    if (mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    mc_type type = MC_F16;
    mc_status status = argc > 2 ? mc_type_from_text(argv[2], &type, diag) : MC_OK;
    if (status == MC_OK) status = mc_device_open("cuda:0", &device, diag);
    if (status == MC_OK) status = run(device, type, argc > 1 ? atoi(argv[1]) : 8, diag);
    if (status != MC_OK) fprintf(stderr, "majors_gpu: %s\n", mc_diag_text(diag));
    if (device != NULL) mc_device_close(device);
    mc_diag_destroy(diag);
    return status != MC_OK;
}
