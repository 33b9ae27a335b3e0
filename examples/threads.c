/* Several threads that plan and execute at once, in two contexts: on two GPUs, on one of them, or on the
 * simulator.
 *
 *   cc threads.c $(pkg-config --cflags --libs mcrt) -pthread -o threads && ./threads [DEVICE DEVICE]
 *
 * The threads of a context want the same two kernels, which are compiled once. */
#include <mcrt.h>
#include <stdio.h>
#include <threads.h>

enum { CONTEXTS = 2, THREADS = 4, ROWS = 64, COLS = 200, VEC = 8, MOST_N = 96, BATCHES = 3 };

typedef struct job {
    mc_context *context;
    unsigned seed;
    mc_diag *diag;
    mc_status status;
    int8_t a[ROWS][COLS], b[COLS * MOST_N];
    int32_t c[ROWS * MOST_N];
} job;

static int8_t draw(job *j) { return (int8_t)((j->seed = j->seed * 1103515245u + 12345u) >> 16); }

/* Three of four vectors are zeros. */
static void fill_matrix(job *j) {
    for (int row = 0; row < ROWS; row += VEC)
        for (int col = 0; col < COLS; col++)
            for (int r = 0, kept = (draw(j) & 3) == 0; kept && r < VEC; r++) j->a[row + r][col] = draw(j);
}

static mc_status check(const job *j, int n) {
    for (int i = 0; i < ROWS * n; i++) {
        int32_t sum = 0;
        for (int k = 0; k < COLS; k++) sum += j->a[i / n][k] * j->b[k * n + i % n];
        if (j->c[i] != sum)
            return mc_fail(j->diag, MC_MISMATCH, "C[%d][%d] is %d, must be %d", i / n, i % n, j->c[i], sum);
    }
    return MC_OK;
}

/* One batch after another through a plan. */
static mc_status run_batches(job *j, const mc_plan *plan, int n, const mc_args *args, mc_address workspace) {
    mc_status status = MC_OK;
    size_t b_bytes = (size_t)(COLS * n), c_bytes = (size_t)(ROWS * n) * sizeof *j->c;
    for (int batch = 0; status == MC_OK && batch < BATCHES; batch++) {
        for (int i = 0; i < COLS * n; i++) j->b[i] = draw(j);
        status = mc_memory_write(j->context, args->b, j->b, b_bytes, j->diag);
        if (status == MC_OK) status = mc_execute(plan, args, workspace, NULL, j->diag);
        if (status == MC_OK) status = mc_synchronize(j->context, NULL, j->diag);
        if (status == MC_OK) status = mc_memory_read(j->context, args->c, j->c, c_bytes, j->diag);
        if (status == MC_OK) status = check(j, n);
    }
    return status;
}

static mc_status multiply(job *j, mc_matrix *matrix, int n) {
    mc_context *context = j->context;
    mc_plan *plan = NULL;
    mc_args args = {.size = sizeof args};
    mc_address workspace = 0;
    mc_plan_config problem = {
        .size = sizeof problem, .op = MC_OP_SPMM, .matrix = matrix, .b = MC_S8, .c = MC_S32, .n = n};
    mc_status status = mc_plan_create(context, &problem, &plan, j->diag);
    size_t bytes = status == MC_OK ? mc_plan_workspace(plan) : 0;
    if (status == MC_OK) status = mc_memory_create(context, sizeof j->b, &args.b, j->diag);
    if (status == MC_OK) status = mc_memory_create(context, sizeof j->c, &args.c, j->diag);
    if (status == MC_OK && bytes > 0) status = mc_memory_create(context, bytes, &workspace, j->diag);
    if (status == MC_OK) status = run_batches(j, plan, n, &args, workspace);
    mc_memory_destroy(context, workspace);
    mc_memory_destroy(context, args.c);
    mc_memory_destroy(context, args.b);
    mc_plan_destroy(plan);
    return status;
}

static int work(void *data) {
    job *j = data;
    mc_matrix *matrix = NULL;
    fill_matrix(j);
    mc_dense_config dense = {
        .size = sizeof dense, .type = MC_S8, .vec = VEC, .rows = ROWS, .cols = COLS, .data = j->a};
    j->status = mc_matrix_from_dense(j->context, &dense, &matrix, j->diag);
    if (j->status == MC_OK) j->status = multiply(j, matrix, 64);
    if (j->status == MC_OK) j->status = multiply(j, matrix, MOST_N);
    mc_matrix_destroy(matrix);
    return 0;
}

/* Two devices by name, else the second GPU beside the first, else twice the same. */
static mc_status open_context(int i, char **devices, mc_context **context, mc_diag *diag) {
    mc_context_config config = {.size = sizeof config,
                                .device = devices ? devices[i]
                                          : i     ? "cuda:1"
                                                  : "auto"};
    mc_status status = mc_context_create(&config, context, diag);
    if (status == MC_OK || devices || i == 0) return status;
    mc_diag_clear(diag);
    config.device = "auto";
    return mc_context_create(&config, context, diag);
}

static int report(int i, mc_status status, const mc_diag *diag) {
    if (status != MC_OK) fprintf(stderr, "%d: %s: %s\n", i, mc_status_text(status), mc_diag_text(diag));
    return status != MC_OK;
}

int main(int argc, char **argv) {
    static job jobs[THREADS];
    static thrd_t threads[THREADS];
    mc_context *contexts[CONTEXTS] = {NULL};
    mc_diag *diag = mc_diag_create();
    int failed = 0;
    for (int i = 0; i < CONTEXTS; i++)
        failed += report(i, open_context(i, argc > CONTEXTS ? argv + 1 : NULL, &contexts[i], diag), diag);
    if (failed) return 1;
    for (int i = 0; i < THREADS; i++) {
        jobs[i].context = contexts[i % CONTEXTS];
        jobs[i].seed = (unsigned)i + 1;
        jobs[i].diag = mc_diag_create();
        if (thrd_create(&threads[i], work, &jobs[i]) != thrd_success) return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        thrd_join(threads[i], NULL);
        failed += report(i, jobs[i].status, jobs[i].diag);
        mc_diag_destroy(jobs[i].diag);
    }
    for (int i = 0; i < CONTEXTS; i++) {
        mc_context_info info = {.size = sizeof info};
        if (mc_context_get_info(contexts[i], &info, diag) == MC_OK)
            printf("%s: %d kernels loaded\n", info.device, (int)info.kernels_loaded);
        mc_context_destroy(contexts[i]);
    }
    mc_diag_destroy(diag);
    return failed > 0;
}
