/* How fast a softmax from f16 to f16 is beside a plain kernel that reads and writes the same bytes. Kernels
 * of all numbers of warps and units, and plain kernels of several shapes; each is timed in a graph of many
 * launches, so that operands which fit into L2 lie there. Run by hand, in the root of the repository:
 *
 *   softmax_gpu [approx] BATCH MASK.smtx...      each nonzero becomes an 8x1 vector; C of a batch's first and last
 *                                       products is compared with the reference
 *   softmax_gpu [approx] sim MASK.smtx...        on the simulator, which has no time
 *
 * approx: with the hardware's exponential, and with each kernel of both exchanges, `twice` and `once`; the
 * fastest ones of each are printed, as microseconds, GB/s and parts of the plain kernel's speed.
 *
 * Exit status 77: no GPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "context/matrix.h"
#include "matrix/csr.h"
#include "entrant_spec.h"
#include "plain.h"
#include "replay.h"

enum { X, SCALE };
enum { VEC = 8, LAUNCHES = 16, FEW_LAUNCHES = 2, FEW_ELEMENTS = 1 << 24, MOST = 128, SHOWN = 3 };

typedef struct bench {
    const cuda_driver *driver; /* NULL: the simulator */
    cuda_stream stream;
    mc_context *context;
    mc_matrix *matrix;
    mc_vsparse mask;
    mc_exp exp;
    mc_dense x;
    reference_result want;
    int64_t batch, elements; /* elements: of a product */
    mc_address x_at, c_at;
    int launches; /* of a graph */
    mc_diag *diag;
    int failed;
} bench;

static const float scale = 0.125F;

/* -- Operands ----------------------------------------------------------------------------------------- */

static mc_status expect(bench *t) {
    const mc_operator *op = operator_of(MC_OP_SOFTMAX);
    const plan_problem p = {.op = MC_OP_SOFTMAX,
                            .lhs = MC_F16,
                            .out = MC_F16,
                            .scale = MC_PER_TENSOR,
                            .exp = t->exp,
                            .vec = VEC,
                            .m = t->mask.rows,
                            .n = t->mask.cols};
    const host_operands operands = {
        .problem = &p, .matrix = &t->mask, .inputs[X] = &t->x, .factors[SCALE] = &scale};
    return operator_expect(op, &operands, &t->want, t->diag);
}

static mc_status load(bench *t, const char *path) {
    mc_csr csr = {0};
    mc_status status = mc_csr_read(path, &csr, t->diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, VEC, MC_F32, &t->mask, t->diag);
    mc_csr_free(&csr);
    if (status == MC_OK) status = matrix_of_host(t->context, &t->mask, &t->matrix, t->diag);
    if (status != MC_OK) return status;
    t->elements = t->mask.vectors * VEC;
    t->launches = t->batch * t->elements > FEW_ELEMENTS ? FEW_LAUNCHES : LAUNCHES;
    size_t bytes = (size_t)t->elements * sizeof(uint16_t);
    status = mc_dense_create(MC_F16, t->mask.vectors, VEC, VEC, &t->x, t->diag);
    if (status == MC_OK) mc_dense_fill(&t->x, MC_VALUES_FULL, 1), status = expect(t);
    if (status == MC_OK) status = mc_memory_create(t->context, bytes * (size_t)t->batch, &t->x_at, t->diag);
    if (status == MC_OK) status = mc_memory_create(t->context, bytes * (size_t)t->batch, &t->c_at, t->diag);
    for (int64_t i = 0; i < t->batch && status == MC_OK; i++)
        status = mc_memory_write(t->context, t->x_at + bytes * (size_t)i, t->x.data, bytes, t->diag);
    return status;
}

static void release(bench *t) {
    if (t->x_at != 0) mc_memory_destroy(t->context, t->x_at);
    if (t->c_at != 0) mc_memory_destroy(t->context, t->c_at);
    mc_matrix_destroy(t->matrix);
    mc_vsparse_free(&t->mask);
    mc_dense_free(&t->x), mc_result_free(&t->want);
}

/* -- Our kernels -------------------------------------------------------------------------------------- */

typedef struct entrant {
    char text[80];
    bool once;
    double us;
} entrant;

static int by_time(const void *a, const void *b) {
    const entrant *x = a, *y = b;
    return (x->us > y->us) - (x->us < y->us);
}

typedef struct execution {
    mc_plan *plan;
    mc_args args;
    int launches;
} execution;

static mc_status execute(const void *user, void *stream, mc_diag *diag) {
    const execution *e = user;
    mc_status status = MC_OK;
    for (int i = 0; i < e->launches && status == MC_OK; i++)
        status = mc_execute(e->plan, &e->args, 0, stream, diag);
    return status;
}

static mc_status verify(bench *t, const execution *e) {
    size_t bytes = (size_t)t->elements * sizeof(uint16_t), all = bytes * (size_t)t->batch;
    uint8_t *c = malloc(all);
    if (c == NULL) return mc_fail(t->diag, MC_NOMEM, "out of memory");
    memset(c, 0x7b, all);
    mc_status status = mc_memory_write(t->context, t->c_at, c, all, t->diag);
    if (status == MC_OK) status = mc_execute(e->plan, &e->args, 0, NULL, t->diag);
    if (status == MC_OK) status = mc_memory_read(t->context, t->c_at, c, all, t->diag);
    mc_dense first = t->want.low, last = t->want.low;
    first.data = c, last.data = c + all - bytes;
    if (status == MC_OK) status = mc_result_compare(&first, &t->want, t->diag);
    if (status == MC_OK) status = mc_result_compare(&last, &t->want, t->diag);
    free(c);
    return status;
}

static mc_status time_plan(bench *t, const char *spec, double *us) {
    const mc_plan_config config = {.size = sizeof config,
                                   .op = MC_OP_SOFTMAX,
                                   .matrix = t->matrix,
                                   .a = MC_F16,
                                   .c = MC_F16,
                                   .scale = MC_PER_TENSOR,
                                   .exp = t->exp,
                                   .batch = t->batch > 1 ? t->batch : 0,
                                   .specs = &spec,
                                   .spec_count = 1};
    execution e = {.args = {.size = sizeof e.args, .a = t->x_at, .c = t->c_at, .scale_value = scale},
                   .launches = t->launches};
    double times[3] = {0};
    mc_status status = mc_plan_create(t->context, &config, &e.plan, t->diag);
    if (status == MC_OK) status = verify(t, &e);
    if (status == MC_OK && t->driver != NULL)
        status = replay_time(t->driver, t->stream, execute, &e, times, t->diag);
    mc_plan_destroy(e.plan);
    *us = times[0] / t->launches;
    return status;
}

#define TURNS(list) (sizeof(list) / sizeof *(list))

typedef struct form {
    int warps, hold, unit;
    bool once;
} form;

static mc_status write_spec(const bench *t, const char *path, const form *of) {
    FILE *f = fopen(path, "w");
    if (f == NULL) return mc_fail(t->diag, MC_IO, "cannot write %s", path);
    fprintf(f, "op = \"softmax\" lhs = \"f16\" out = \"f16\" scale = \"tensor\" vec = %d exp = \"%s\"\n", VEC,
            t->exp == MC_EXP_APPROX ? "approx" : "polynomial");
    fprintf(f, "warps = %d hold = %d unit = %d exchange = \"%s\"\n", of->warps, of->hold, of->unit,
            of->once ? "once" : "twice");
    return fclose(f) == 0 ? MC_OK : mc_fail(t->diag, MC_IO, "cannot write %s", path);
}

static const int warps[] = {1, 2, 4, 8, 16}, holds[] = {1, 2, 4, 8}, unit_bytes[] = {16, 8};
enum { FORMS = TURNS(warps) * TURNS(holds) * TURNS(unit_bytes) };

/* The I-th kernel of those with an exchange. */
static form form_of(size_t i, bool once) {
    int unit = unit_bytes[i / TURNS(holds) % TURNS(unit_bytes)], whole = holds[i % TURNS(holds)];
    return (form){warps[i / TURNS(holds) / TURNS(unit_bytes) % TURNS(warps)], whole * 16 / unit, unit, once};
}

static size_t enter_all(bench *t, entrant *all) {
    const char *path = entrant_spec("softmax_gpu");
    size_t count = 0, forms = t->exp == MC_EXP_APPROX ? 2 * FORMS : FORMS;
    for (size_t i = 0; i < forms; i++) {
        const form of = form_of(i % FORMS, i >= FORMS);
        entrant *e = &all[count];
        if (of.warps == 16 && of.hold * of.unit > 32) continue; /* too many registers */
        snprintf(e->text, sizeof e->text, "warps = %d, hold = %d, unit = %d%s", of.warps, of.hold, of.unit,
                 of.once ? ", exchange = once" : "");
        e->once = of.once;
        mc_diag_clear(t->diag);
        mc_status status = write_spec(t, path, &of);
        if (status == MC_OK) status = time_plan(t, path, &e->us);
        if (status == MC_OK) count++;
        else printf("  %s: %s\n", e->text, mc_diag_text(t->diag)), t->failed++;
    }
    (void)remove(path);
    return count;
}

/* -- The plain kernel --------------------------------------------------------------------------------- */

typedef struct plain {
    const cuda_driver *driver;
    cuda_function function;
    unsigned blocks, threads;
    mc_address in, out;
    int32_t units;
    int launches;
} plain;

static mc_status launch_plain(const void *user, void *stream, mc_diag *diag) {
    const plain *p = user;
    void *args[] = {(void *)(uintptr_t)&p->in, (void *)(uintptr_t)&p->out, (void *)(uintptr_t)&p->units};
    mc_status status = MC_OK;
    for (int i = 0; i < p->launches && status == MC_OK; i++)
        status = CUDA_CALL(p->driver, diag, LaunchKernel, p->function, p->blocks, 1, 1, p->threads, 1, 1, 0,
                           stream, args, NULL);
    return status;
}

static mc_status time_plain(bench *t, int threads, int unroll, unsigned most, entrant *e) {
    int64_t units = t->batch * t->elements / 8, all = (units + threads * unroll - 1) / (threads * unroll);
    cuda_module module = NULL;
    double times[3] = {0};
    plain p = {.driver = t->driver,
               .blocks = most > 0 && most < all ? most : (unsigned)all,
               .threads = (unsigned)threads,
               .in = t->x_at,
               .out = t->c_at,
               .units = (int32_t)units,
               .launches = t->launches};
    char *ptx = plain_ptx(threads, unroll, 1);
    snprintf(e->text, sizeof e->text, "plain: %u blocks of %d threads, %d units", p.blocks, threads, unroll);
    mc_status status = CUDA_CALL(t->driver, t->diag, ModuleLoadDataEx, &module, ptx, 0, NULL, NULL);
    free(ptx);
    if (status == MC_OK)
        status = CUDA_CALL(t->driver, t->diag, ModuleGetFunction, &p.function, module, "plain");
    if (status == MC_OK) status = replay_time(t->driver, t->stream, launch_plain, &p, times, t->diag);
    if (module != NULL) (void)t->driver->ModuleUnload(module);
    e->us = times[0] / t->launches;
    return status;
}

static size_t enter_plains(bench *t, entrant *all) {
    static const int threads[] = {128, 256, 512, 1024}, unrolls[] = {2, 4};
    static const unsigned blocks[] = {0, 528, 1056};
    size_t count = 0;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (size_t j = 0; j < sizeof unrolls / sizeof *unrolls; j++)
            for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) {
                mc_status status = time_plain(t, threads[i], unrolls[j], blocks[k], &all[count]);
                if (status == MC_OK) count++;
                else printf("  %s: %s\n", all[count].text, mc_diag_text(t->diag)), t->failed++;
            }
    return count;
}

/* ----------------------------------------------------------------------------------------------------- */

/* The fastest of those with one exchange, or two, beside the PLAIN kernel. */
static void print_best(const entrant *ours, size_t count, bool once, double plain_us, double bytes) {
    int shown = 0;
    for (size_t i = 0; i < count && shown < SHOWN; i++) {
        if (ours[i].once != once) continue;
        printf("  %8.2f us %6.0f GB/s   %.3f  %s\n", ours[i].us, bytes / ours[i].us / 1e3,
               plain_us / ours[i].us, ours[i].text);
        shown++;
    }
}

static void run(bench *t, const char *path) {
    static entrant ours[MOST], plains[MOST];
    mc_status status = load(t, path);
    if (status != MC_OK) {
        printf("%s: %s\n", path, mc_diag_text(t->diag)), t->failed++;
        return;
    }
    double bytes = 4.0 * (double)(t->batch * t->elements);
    printf("%s: %lld x %lld, batch %lld, %.2f M values, %.1f MB read and written\n", path,
           (long long)t->mask.rows, (long long)t->mask.cols, (long long)t->batch,
           (double)(t->batch * t->elements) / 1e6, bytes / 1e6);
    size_t count = enter_all(t, ours), others = t->driver != NULL ? enter_plains(t, plains) : 0;
    if (t->driver == NULL) printf("  %zu variants give what the reference allows\n", count);
    if (count == 0 || others == 0) return;
    qsort(ours, count, sizeof *ours, by_time);
    qsort(plains, others, sizeof *plains, by_time);
    printf("  %8.2f us %6.0f GB/s          %s\n", plains[0].us, bytes / plains[0].us / 1e3, plains[0].text);
    for (int once = 0; once < 2; once++) print_best(ours, count, once, plains[0].us, bytes);
    fflush(stdout);
}

static mc_status open_gpu(bench *t, mc_device **device) {
    mc_status status = mc_device_open("cuda:0", device, t->diag);
    if (status != MC_OK) return status;
    const cuda_device_state *state = (const cuda_device_state *)*device;
    t->driver = state->driver;
    status = CUDA_CALL(t->driver, t->diag, CtxSetCurrent, state->context);
    if (status == MC_OK)
        status = CUDA_CALL(t->driver, t->diag, StreamCreate, &t->stream, CUDA_STREAM_NON_BLOCKING);
    return status;
}

int main(int argc, char **argv) {
    bool approx = argc > 1 && strcmp(argv[1], "approx") == 0;
    if (approx) argc--, argv++;
    if (argc < 3) {
        fprintf(stderr, "usage: softmax_gpu [approx] BATCH|sim MASK.smtx...\n");
        return 2;
    }
    bool sim = strcmp(argv[1], "sim") == 0;
    if (!sim && mc_device_cuda_count() == 0) {
        printf("SKIPPED: no GPU\n");
        return 77;
    }
    mc_device *device = NULL;
    bench start = {.diag = mc_diag_create(),
                   .exp = approx ? MC_EXP_APPROX : MC_EXP_POLYNOMIAL,
                   .batch = sim ? 2 : atoi(argv[1])};
    const mc_context_config config = {.size = sizeof config, .device = sim ? "sim" : "cuda:0", .records = ""};
    mc_status status = sim ? MC_OK : open_gpu(&start, &device);
    if (status == MC_OK) status = mc_context_create(&config, &start.context, start.diag);
    if (status != MC_OK) fprintf(stderr, "softmax_gpu: %s\n", mc_diag_text(start.diag));
    for (int i = 2; i < argc && status == MC_OK; i++) {
        bench t = start;
        run(&t, argv[i]);
        release(&t);
        start.failed = t.failed;
    }
    mc_context_destroy(start.context);
    if (device != NULL) mc_device_close(device);
    mc_diag_destroy(start.diag);
    return status != MC_OK || start.failed > 0;
}
