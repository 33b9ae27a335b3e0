/* A context, a matrix and a plan used from several threads at once, on the simulator. Under ThreadSanitizer
   it says more. Threads keep what happened; the first one looks at it when they have ended. */
#include <pthread.h>
#include "product.h"

enum { THREADS = 6, ROUNDS = 4 };

mc_diag *diag;

static const product_kind kinds[] = {
    {"SpMM", MC_S8, 8, .row_blocks = 4, .cols = 60, .sparsity = 0.6, .config = {.c = MC_S32, .n = 32}},
    {"SDDMM", MC_S8, 8, .row_blocks = 4, .cols = 60, .sparsity = 0.6,
     .config = {.op = MC_OP_SDDMM, .c = MC_S32, .k = 64}}};

typedef struct worker {
    pthread_t thread;
    pthread_barrier_t *start;
    product p;
    mc_status status;
    mc_diag *diag;
} worker;

typedef void *work(void *);

/* From opened products to ended threads. */
static void run_workers(worker *workers, work *body) {
    pthread_barrier_t start;
    pthread_barrier_init(&start, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) {
        workers[i].start = &start;
        workers[i].diag = mc_diag_create();
        pthread_create(&workers[i].thread, NULL, body, &workers[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK(workers[i].status == MC_OK, "thread %d: %s", i, mc_diag_text(workers[i].diag));
        mc_diag_destroy(workers[i].diag);
    }
    pthread_barrier_destroy(&start);
}

/* -- The same problems, planned at once */

static void *plan_and_execute(void *data) {
    worker *w = data;
    pthread_barrier_wait(w->start);
    w->status = mc_plan_create(w->p.context, &w->p.config, &w->p.plan, w->diag);
    for (int i = 0; i < ROUNDS && w->status == MC_OK; i++)
        w->status = mc_execute(w->p.plan, &w->p.args, 0, NULL, w->diag);
    return NULL;
}

static void test_planning(mc_context *context) {
    worker workers[THREADS] = {{.status = MC_OK}};
    mc_context_info info = {.size = sizeof info};
    for (int i = 0; i < THREADS; i++) {
        product_open(&workers[i].p, context, &kinds[i % 2], 40 + (uint64_t)i % 2);
        product_poison(&workers[i].p);
    }
    run_workers(workers, plan_and_execute);
    (void)worked("mc_context_get_info", mc_context_get_info(context, &info, diag));
    CHECK(info.kernels_compiled == 2, "of two kernels %llu were compiled",
          (unsigned long long)info.kernels_compiled);
    for (int i = 0; i < THREADS; i++) {
        product_compare(&workers[i].p);
        product_close(&workers[i].p);
    }
}

/* -- One plan, executed at once; each thread has a C of its own */

static void *execute(void *data) {
    worker *w = data;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < ROUNDS && w->status == MC_OK; i++)
        w->status = mc_execute(w->p.plan, &w->p.args, 0, NULL, w->diag);
    return NULL;
}

static void test_executing(mc_context *context) {
    worker workers[THREADS] = {{.status = MC_OK}};
    product own[THREADS];
    for (int i = 0; i < THREADS; i++) product_open(&own[i], context, &kinds[0], 50);
    if (!product_plan(&own[0])) return;
    for (int i = 0; i < THREADS; i++) {
        product_poison(&own[i]);
        workers[i].p = own[i];
        workers[i].p.plan = own[0].plan;
    }
    run_workers(workers, execute);
    for (int i = 0; i < THREADS; i++) {
        product_compare(&own[i]);
        product_close(&own[i]);
    }
}

/* -- One matrix: plans come and go, and look at it */

static void *come_and_go(void *data) {
    worker *w = data;
    mc_matrix_info info = {.size = sizeof info};
    pthread_barrier_wait(w->start);
    for (int i = 0; i < 3 * ROUNDS && w->status == MC_OK; i++) {
        mc_plan *plan;
        w->status = mc_plan_create(w->p.context, &w->p.config, &plan, w->diag);
        if (w->status == MC_OK) w->status = mc_execute(plan, &w->p.args, 0, NULL, w->diag);
        if (w->status == MC_OK) w->status = mc_matrix_get_info(w->p.matrix, &info, w->diag);
        mc_plan_destroy(plan);
    }
    return NULL;
}

static void test_sharing(mc_context *context) {
    worker workers[THREADS] = {{.status = MC_OK}};
    product own[THREADS];
    mc_matrix_info info = {.size = sizeof info};
    for (int i = 0; i < THREADS; i++) {
        product_open(&own[i], context, &kinds[i % 2], 60); /* equal matrices */
        product_poison(&own[i]);
        workers[i].p = own[i];
        workers[i].p.matrix = workers[i].p.config.matrix = own[0].matrix;
    }
    run_workers(workers, come_and_go);
    (void)worked("mc_matrix_get_info", mc_matrix_get_info(own[0].matrix, &info, diag));
    CHECK(info.device_bytes == 0, "no plan is left");
    for (int i = 0; i < THREADS; i++) {
        product_compare(&own[i]);
        product_close(&own[i]);
    }
}

int main(void) {
    mc_context *context = NULL;
    const mc_context_config config = {.size = sizeof config, .device = "sim", .cache = MC_CACHE_MEMORY};
    diag = mc_diag_create();
    if (worked("mc_context_create", mc_context_create(&config, &context, diag))) {
        test_planning(context);
        test_executing(context);
        test_sharing(context);
    }
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return product_end(check_end());
}
