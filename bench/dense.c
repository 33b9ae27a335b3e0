#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "dense.h"

enum { QUICK_LAUNCHES = 10, CAREFUL = 4, CAREFUL_ROUNDS = 9, K_UNIT = 16, SCALES_APART = 64 };

/* -- Library --------------------------------------------------------------------------------------------- */

mc_status dense_library_open(dense_library *library, gpu_device *gpu, mc_diag *diag) {
    *library = (dense_library){0};
    mc_status status = cublaslt_open(&library->lt, diag);
    if (status == MC_OK) status = LT_CALL(&library->lt, diag, Create, &library->handle);
    if (status == MC_OK) status = mc_device_alloc(gpu->device, DENSE_WORKSPACE, &library->workspace, diag);
    static const float scales[SCALES_APART + 1] = {2, [SCALES_APART] = 0.5F}; /* whose product is 1 */
    if (status == MC_OK) status = mc_device_alloc(gpu->device, sizeof scales, &library->scales, diag);
    if (status == MC_OK) status = mc_device_write(gpu->device, library->scales, scales, sizeof scales, diag);
    if (status == MC_OK) library->version = (int)library->lt.GetVersion();
    return status;
}

void dense_library_close(dense_library *library, gpu_device *gpu) {
    if (library->handle != NULL) (void)library->lt.Destroy(library->handle);
    if (gpu->device != NULL) mc_device_free(gpu->device, library->workspace);
    if (gpu->device != NULL) mc_device_free(gpu->device, library->scales);
    *library = (dense_library){0};
}

/* -- One product ----------------------------------------------------------------------------------------- */

static int64_t round_up(int64_t value) { return (value + K_UNIT - 1) / K_UNIT * K_UNIT; }

static void set_shape(dense_product_state *p, const peer_problem *problem) {
    bool whole = p->kind->whole;
    int64_t columns = p->turned ? problem->m : problem->n;
    p->m = p->turned ? problem->n : problem->m;
    p->n = whole ? round_up(columns) : columns;
    p->padded = p->n - columns;
    p->k = whole ? round_up(problem->k) : problem->k;
    p->lda = round_up(problem->k);
    p->k_contiguous = whole || problem->k_contiguous;
    p->ldb = p->k_contiguous ? round_up(problem->k) : p->n;
}

static bool is_integer(const dense_product_state *p) { return p->kind->result == MC_S32; }
/* Turned, our B is the product's A. */
static mc_type type_a(const dense_product_state *p) { return p->turned ? p->kind->b : p->kind->a; }
static mc_type type_b(const dense_product_state *p) { return p->turned ? p->kind->a : p->kind->b; }

static int compute_type(const dense_product_state *p) {
    return is_integer(p) ? LT_COMPUTE_32I : p->kind->a == MC_TF32 ? LT_COMPUTE_TF32 : LT_COMPUTE_32F;
}

typedef struct attribute {
    int name;
    const void *value;
    size_t size;
} attribute;

static mc_status set_attributes(dense_product_state *p, const attribute *list, size_t count, mc_diag *diag) {
    const cublaslt *lt = &p->library->lt;
    mc_status status = MC_OK;
    for (size_t i = 0; i < count && status == MC_OK; i++)
        status =
            LT_CALL(lt, diag, MatmulDescSetAttribute, p->desc, list[i].name, list[i].value, list[i].size);
    return status;
}

/* Of floats of 8 bits: how they are added up, and where their scales are. */
static mc_status describe_bytes(dense_product_state *p, mc_diag *diag) {
    const int8_t fast = p->kind->sums == SUMS_FAST;
    const uint64_t first = p->library->scales + SCALES_APART * sizeof(float), second = p->library->scales;
    const attribute list[] = {{LT_DESC_FAST_ACCUM, &fast, sizeof fast},
                              {LT_DESC_A_SCALE, &first, sizeof first},
                              {LT_DESC_B_SCALE, &second, sizeof second}};
    return p->kind->sums == SUMS_F32 ? MC_OK : set_attributes(p, list, sizeof list / sizeof *list, diag);
}

/* The library's first operand is our B, its second our A. */
static mc_status describe(dense_product_state *p, mc_diag *diag) {
    const cublaslt *lt = &p->library->lt;
    const int first = p->k_contiguous ? LT_OP_T : LT_OP_N, second = LT_OP_N;
    const attribute list[] = {{LT_DESC_TRANSA, &first, sizeof first},
                              {LT_DESC_TRANSB, &second, sizeof second}};
    uint64_t m = (uint64_t)p->m, n = (uint64_t)p->n, k = (uint64_t)p->k;
    int scale = is_integer(p) ? VENDOR_R_32I : VENDOR_R_32F;
    mc_status status = LT_CALL(lt, diag, MatmulDescCreate, &p->desc, compute_type(p), scale);
    if (status == MC_OK) status = set_attributes(p, list, sizeof list / sizeof *list, diag);
    if (status == MC_OK) status = describe_bytes(p, diag);
    if (status == MC_OK)
        status = LT_CALL(lt, diag, MatrixLayoutCreate, &p->layout_b, vendor_type(type_b(p)),
                         p->k_contiguous ? k : n, p->k_contiguous ? n : k, p->ldb);
    if (status == MC_OK)
        status = LT_CALL(lt, diag, MatrixLayoutCreate, &p->layout_a, vendor_type(type_a(p)), k, m, p->lda);
    if (status == MC_OK)
        status =
            LT_CALL(lt, diag, MatrixLayoutCreate, &p->layout_d, vendor_type(p->kind->result), n, m, p->n);
    return status;
}

static mc_status ask_heuristic(dense_product_state *p, mc_diag *diag) {
    const cublaslt *lt = &p->library->lt;
    const size_t workspace = DENSE_WORKSPACE;
    void *preference = NULL;
    mc_status status = LT_CALL(lt, diag, MatmulPreferenceCreate, &preference);
    if (status == MC_OK)
        status = LT_CALL(lt, diag, MatmulPreferenceSetAttribute, preference, LT_PREF_MAX_WORKSPACE_BYTES,
                         &workspace, sizeof workspace);
    if (status == MC_OK)
        status =
            LT_CALL(lt, diag, MatmulAlgoGetHeuristic, p->library->handle, p->desc, p->layout_b, p->layout_a,
                    p->layout_d, p->layout_d, preference, DENSE_REQUESTED, p->algos, &p->algo_count);
    if (preference != NULL) (void)lt->MatmulPreferenceDestroy(preference);
    return status;
}

/* Every set holds the same values, so that one reference serves them all. */
static mc_status make_operands(dense_product_state *p, gpu_device *gpu, helpers *h, bool cold,
                               mc_diag *diag) {
    uint64_t a_count = (uint64_t)(p->m * p->lda);
    uint64_t b_count = (uint64_t)(p->k_contiguous ? p->n * p->ldb : p->k * p->ldb);
    p->a = slab_part(&p->slab, a_count * mc_type_bytes(type_a(p)));
    p->b = slab_part(&p->slab, b_count * mc_type_bytes(type_b(p)));
    p->d = slab_part(&p->slab, (size_t)(p->m * p->n) * mc_type_bytes(p->kind->result));
    mc_status status = slab_create(gpu, &p->slab, gpu_sets(gpu, &p->slab, cold), diag);
    for (int set = 0; set < p->slab.sets && status == MC_OK; set++) {
        status = helpers_fill(h, type_a(p), p->law, slab_address(&p->slab, p->a, set), a_count, 1, diag);
        if (status == MC_OK)
            status = helpers_fill(h, type_b(p), p->law, slab_address(&p->slab, p->b, set), b_count, 2, diag);
    }
    return status;
}

static mc_status make_reference(dense_product_state *p, gpu_device *gpu, helpers *h, mc_diag *diag) {
    mc_status status = mc_device_alloc(gpu->device, (size_t)(p->m * p->n) * 4, &p->want, diag);
    const dense_product product = {.a = slab_address(&p->slab, p->a, 0),
                                   .b = slab_address(&p->slab, p->b, 0),
                                   .c = p->want,
                                   .m = p->m,
                                   .n = p->n,
                                   .k = p->k,
                                   .lda = p->lda,
                                   .b_k = p->k_contiguous ? 1 : p->ldb,
                                   .b_n = p->k_contiguous ? p->ldb : 1};
    return status == MC_OK ? helpers_reference(h, type_a(p), type_b(p), &product, diag) : status;
}

static mc_status product_open(dense_product_state *p, gpu_device *gpu, helpers *h, bool cold, mc_diag *diag) {
    mc_status status = describe(p, diag);
    if (status == MC_OK) status = ask_heuristic(p, diag);
    if (status == MC_OK && p->algo_count == 0)
        status = mc_fail(diag, MC_CANNOT, "the heuristic knows no algorithm for this shape");
    if (status == MC_OK) status = make_operands(p, gpu, h, cold, diag);
    if (status == MC_OK) status = make_reference(p, gpu, h, diag);
    return status;
}

static void product_close(dense_product_state *p, gpu_device *gpu) {
    const cublaslt *lt = &p->library->lt;
    if (p->desc != NULL) (void)lt->MatmulDescDestroy(p->desc);
    if (p->layout_a != NULL) (void)lt->MatrixLayoutDestroy(p->layout_a);
    if (p->layout_b != NULL) (void)lt->MatrixLayoutDestroy(p->layout_b);
    if (p->layout_d != NULL) (void)lt->MatrixLayoutDestroy(p->layout_d);
    mc_device_free(gpu->device, p->want);
    slab_free(gpu, &p->slab);
}

/* -- Contenders ------------------------------------------------------------------------------------------ */

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    static const float one = 1, zero = 0;
    static const int32_t one_s32 = 1, zero_s32 = 0;
    const dense_product_state *p = c->state;
    const dense_library *library = p->library;
    bool integer = is_integer(p);
    const lt_heuristic *choice = &p->algos[c->index];
    uint64_t d = slab_address(&p->slab, p->d, set);
    return LT_CALL(&library->lt, diag, Matmul, library->handle, p->desc,
                   integer ? (const void *)&one_s32 : &one, slab_address(&p->slab, p->b, set), p->layout_b,
                   slab_address(&p->slab, p->a, set), p->layout_a, integer ? (const void *)&zero_s32 : &zero,
                   d, p->layout_d, d, p->layout_d, &choice->algo, library->workspace, choice->workspace,
                   stream);
}

/* Random terms of either sign: a partial sum is a few times sqrt(k) deviations of a product. Each of k
   additions may lose a last bit of such a sum, and so may the rounding of the result, or of partial results
   where the reduction is split. Fast sums lose as much of 2^-13 with each 32 terms; so do those that are
   promoted, but only of what up to 512 k add up to. */
static tolerance allowed(const dense_product_state *p) {
    if (is_integer(p)) return (tolerance){0, 0};
    double each = p->kind->sums == SUMS_F32 ? 0x1p-23 : 0x1p-13 / 32, k = (double)p->k;
    double terms = p->kind->sums == SUMS_PROMOTED && k > 512 ? 512 : k;
    double spread = helpers_deviation(type_a(p), p->law) * helpers_deviation(type_b(p), p->law);
    return (tolerance){type_rounding(p->kind->result) + k * each, 4 * sqrt(terms) * spread};
}

static contender contender_of(const dense_product_state *p, int algo) {
    const dense_kind *kind = p->kind;
    contender c = {.sets = p->slab.sets, .enqueue = enqueue, .state = p, .index = (size_t)algo};
    snprintf(c.label, sizeof c.label, "%s", kind->label);
    c.check = (result_check){.type = kind->result,
                             .got = slab_address(&p->slab, p->d, 0),
                             .want = p->want,
                             .count = (uint64_t)(p->m * p->n),
                             .allowed = allowed(p)};
    return c;
}

static void describe_algo(contender *c, int verified) {
    const dense_product_state *p = c->state;
    const lt_heuristic *choice = &p->algos[c->index];
    int id = -1, tile = -1, stages = -1, split = -1;
    size_t written;
    const cublaslt *lt = &p->library->lt;
    (void)lt->MatmulAlgoConfigGetAttribute(&choice->algo, LT_ALGO_ID, &id, sizeof id, &written);
    (void)lt->MatmulAlgoConfigGetAttribute(&choice->algo, LT_ALGO_TILE, &tile, sizeof tile, &written);
    (void)lt->MatmulAlgoConfigGetAttribute(&choice->algo, LT_ALGO_STAGES, &stages, sizeof stages, &written);
    (void)lt->MatmulAlgoConfigGetAttribute(&choice->algo, LT_ALGO_SPLITK, &split, sizeof split, &written);
    char padded[48] = "";
    if (p->padded > 0)
        snprintf(padded, sizeof padded, ", %s padded to %lld", p->turned ? "M" : "N", (long long)p->n);
    snprintf(
        c->detail, sizeof c->detail,
        "place %zu of the heuristic: algorithm %d, tile %d, stages %d, split-k %d, workspace %zu, %s%s; %d "
        "of %d verified",
        c->index, id, tile, stages, split, choice->workspace,
        p->turned         ? "C by columns"
        : p->k_contiguous ? "B by columns"
                          : "B by rows",
        padded, verified, p->algo_count);
}

static int faster(const void *a, const void *b) {
    double x = ((const contender *)a)->quick, y = ((const contender *)b)->quick;
    return (x > y) - (x < y);
}

/* The verified algorithms, fastest first. One that fails or is wrong is left out, and counted. */
static int verify_all(dense_product_state *p, gpu_device *gpu, helpers *h, contender *list, mc_diag *diag) {
    int count = 0;
    for (int i = 0; i < p->algo_count; i++) {
        contender c = contender_of(p, i);
        mc_status status = p->algos[i].state == 0 ? contender_verify(gpu, h, &c, diag) : MC_CANNOT;
        if (status == MC_OK) status = timer_quick(gpu, &c, QUICK_LAUNCHES, diag);
        if (status == MC_OK) list[count++] = c;
    }
    p->wrong = p->algo_count - count;
    qsort(list, (size_t)count, sizeof list[0], faster);
    return count;
}

/* Orders the first CAREFUL of LIST by interleaved rounds. */
static mc_status order_carefully(gpu_device *gpu, contender *list, int count, mc_diag *diag) {
    const contender *pointers[CAREFUL];
    timing timings[CAREFUL];
    int best = count < CAREFUL ? count : CAREFUL;
    for (int i = 0; i < best; i++) pointers[i] = &list[i];
    mc_status status = timer_rounds(gpu, pointers, (size_t)best, CAREFUL_ROUNDS, timings, diag);
    for (int i = 0; i < best && status == MC_OK; i++) list[i].quick = timings[i].median;
    if (status == MC_OK) qsort(list, (size_t)best, sizeof list[0], faster);
    return status;
}

static mc_status add_contenders(dense_peers *peers, dense_product_state *p, gpu_device *gpu, helpers *h,
                                mc_diag *diag) {
    contender list[DENSE_REQUESTED];
    int count = verify_all(p, gpu, h, list, diag);
    if (count == 0)
        return mc_fail(diag, MC_CANNOT, "none of %d algorithms gave the right result", p->algo_count);
    mc_diag_clear(diag);
    mc_status status = order_carefully(gpu, list, count, diag);
    for (int i = 0; i < count && i < DENSE_KEPT && status == MC_OK; i++) {
        describe_algo(&list[i], count);
        peers->contenders[peers->count++] = list[i];
    }
    return status;
}

/* What goes wrong is noted. */
static void open_product(dense_peers *peers, size_t index, gpu_device *gpu, helpers *h,
                         const peer_problem *problem, mc_diag *diag) {
    dense_product_state *p = &peers->products[index];
    set_shape(p, problem);
    mc_diag_clear(diag);
    mc_status status = peer_check_dense("A", problem->m, problem->k, p->kind->a, diag);
    if (status == MC_OK && problem->sampled)
        status = peer_check_dense("C", problem->m, problem->n, p->kind->result, diag);
    if (status == MC_OK) status = product_open(p, gpu, h, problem->cold, diag);
    if (status == MC_OK) status = add_contenders(peers, p, gpu, h, diag);
    if (status != MC_OK)
        snprintf(peers->notes[index], PEER_NOTE, "%s%s: %s", p->kind->label,
                 p->turned ? ", C by columns" : "", peer_last_message(diag));
    mc_diag_clear(diag);
}

mc_status dense_open(dense_peers *peers, const dense_library *library, gpu_device *gpu, helpers *h,
                     const peer_problem *problem, mc_diag *diag) {
    *peers = (dense_peers){0};
    for (size_t i = 0; i < DENSE_PRODUCTS; i++) {
        const dense_kind *kind = &dense_kinds[i / DENSE_WAYS];
        bool turned = i % DENSE_WAYS != 0;
        if (!dense_kind_takes(kind, problem) || (turned && !problem->turned)) continue;
        dense_product_state *p = &peers->products[i];
        p->library = library, p->kind = kind, p->turned = turned, p->law = problem->law;
        open_product(peers, i, gpu, h, problem, diag);
    }
    return MC_OK;
}

void dense_close(dense_peers *peers, gpu_device *gpu) {
    for (size_t i = 0; i < DENSE_PRODUCTS; i++)
        if (peers->products[i].library != NULL) product_close(&peers->products[i], gpu);
    *peers = (dense_peers){0};
}
