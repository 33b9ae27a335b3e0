/* A layer of graph attention: the vertices of a graph, each with some features, attend to their neighbours,
 * by several heads.
 *
 *   cc gat.c $(pkg-config --cflags --libs mcrt) -lm -o gat
 *   ./gat [DEVICE [padded|csr|lent [VERTICES DEGREE HEADS FEATURES DEPTH]]]
 *
 *   project   Q, K, V = X W, dense products, one for each head and each of the three
 *   score     Q K^T where the graph has an edge: an SDDMM, whose mask is the graph
 *   softmax   over the edges of each vertex, of scores / sqrt(DEPTH) + what each edge brings
 *   mix       Y = P V, an SpMM: its matrix is the graph, whose values are the softmax's
 *
 * A graph has single nonzeros, vectors of one row (V = 1). What the SDDMM writes the softmax reads, and what
 * the softmax writes the SpMM reads; the host sees none of it. There are three ways:
 *
 *   padded    Rows are filled up to 32 edges (MC_ORDER_SRBCRS32). The SpMM reads the softmax's result as it
 *             lies, of all heads in one launch. Each step is one launch.
 *   csr       Edges lie one after another, as CSR has them (MC_ORDER_BCRS), and nothing is filled up. The
 *             SpMM joins rows to panels (docs/unstructured.md). A kernel puts each head's probabilities in
 *             their places in these before the head is mixed.
 *   lent      As csr, but the SpMM reads CSR where it lies: of each head a matrix has borrowed the graph's
 *             arrays and the softmax's result. One launch a head, in which no row is shared. */
#include <mcrt.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { UNIT = 8 /* f16 in 16 bytes */, ALONE = 10 /* one vertex in so many has no edges */ };
enum { PROJECT, SCORE, SOFTMAX, MIX, STEPS };
typedef enum way { PADDED, CSR, LENT } way;
enum { POISON = 0x7b };

static const char *const step_names[STEPS] = {"project", "score", "softmax", "mix"};

/* What Q, K and V are of a head, as they lie in memory: [3][heads]. */
enum { OF_Q, OF_K, OF_V, PROJECTIONS };

typedef struct graph {
    int64_t vertices, edges;
    int32_t *row_ptr, *col_idx; /* CSR; vertex i attends to those in row i */
    float *bias;                /* [edges]: added to the edge's scores */
} graph;

typedef struct layer {
    graph of;
    int64_t heads, features, depth;
    way way;
    uint16_t *x; /* f16 [vertices][features] */
    uint16_t *w; /* f16 [3][heads][features][depth] */
    uint16_t *y; /* f16 [heads][vertices][depth] */
} layer;

static double seconds(void) {
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* -- f16 ---------------------------------------------------------------------------------------------- */

static float float_of(uint16_t half) {
    int exponent = half >> 10 & 31, fraction = half & 1023;
    float value =
        exponent == 0 ? ldexpf((float)fraction, -24) : ldexpf((float)(fraction + 1024), exponent - 25);
    if (exponent == 31) value = fraction == 0 ? INFINITY : NAN;
    return half >> 15 ? -value : value;
}

/* The f16 nearest to VALUE, which is a small number, as a double. */
static double rounded(double value) {
    int exponent;
    (void)frexp(value, &exponent);
    double unit = ldexp(1, exponent < -13 ? -24 : exponent - 11);
    return rint(value / unit) * unit;
}

/* An f16 of either sign from 2^LEAST to 2^(LEAST + 4). */
static uint16_t random_half(int least) {
    return (uint16_t)((rand() & 1) << 15 | (15 + least + rand() % 4) << 10 | rand() % 1024);
}

/* -- A graph, and a layer of random numbers ------------------------------------------------------------- */

/* Vertex 0 has an edge to every vertex, as a hub has, one in ALONE has none, and the others have DEGREE on
   average: GAP is twice how far apart these are. */
static void make_graph(graph *g, int64_t vertices, int64_t degree) {
    int64_t room = vertices;
    *g = (graph){.vertices = vertices,
                 .row_ptr = calloc((size_t)vertices + 1, sizeof *g->row_ptr),
                 .col_idx = malloc((size_t)room * sizeof *g->col_idx)};
    for (int64_t row = 0; row < vertices; row++) {
        int64_t gap = row == 0 ? 1 : 2 * vertices / degree;
        bool alone = row % ALONE == ALONE - 1;
        for (int64_t col = rand() % gap; !alone && col < vertices; col += 1 + rand() % gap) {
            if (g->edges == room) g->col_idx = realloc(g->col_idx, (size_t)(room *= 2) * sizeof *g->col_idx);
            g->col_idx[g->edges++] = (int32_t)col;
        }
        g->row_ptr[row + 1] = (int32_t)g->edges;
    }
    g->bias = malloc((size_t)g->edges * sizeof *g->bias);
    for (int64_t i = 0; i < g->edges; i++) g->bias[i] = -(float)(rand() % 1024) / 512;
}

static uint16_t *random_halves(int64_t count, int least) {
    uint16_t *to = malloc((size_t)count * sizeof *to);
    for (int64_t i = 0; i < count; i++) to[i] = random_half(least);
    return to;
}

static void make_layer(layer *l, int64_t vertices, int64_t degree) {
    make_graph(&l->of, vertices, degree);
    l->x = random_halves(vertices * l->features, -3);
    l->w = random_halves(PROJECTIONS * l->heads * l->features * l->depth, -5);
    l->y = malloc((size_t)(l->heads * vertices * l->depth) * sizeof *l->y);
}

static void free_layer(layer *l) {
    void *const memory[] = {l->of.row_ptr, l->of.col_idx, l->of.bias, l->x, l->w, l->y};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) free(memory[i]);
}

/* -- On the device ------------------------------------------------------------------------------------ */

typedef struct model {
    mc_context *context;
    mc_matrix *biased; /* the graph with what edges bring, f32: the mask of scores and softmax */
    mc_matrix *mixed;  /* the graph whose values are the probabilities, f16 */
    mc_matrix **lent;  /* of the way lent: the same of each head, by arrays that lie in device memory */
    mc_plan **lent_plans;
    mc_plan *plans[STEPS];
    int64_t stride;                                    /* elements of a head's scores */
    mc_address x, w, projected, scores, probabilities; /* f16 */
    mc_address y;
    mc_address workspace[STEPS], memory[16];
    int count;
} model;

/* BYTES of memory, with DATA in them unless that is NULL. Once something has failed nothing is done. */
static mc_address upload(model *m, const void *data, int64_t bytes, mc_status *status, mc_diag *diag) {
    mc_address address = 0;
    if (*status == MC_OK && bytes > 0) *status = mc_memory_create(m->context, (size_t)bytes, &address, diag);
    if (*status == MC_OK && data != NULL)
        *status = mc_memory_write(m->context, address, data, (size_t)bytes, diag);
    return m->memory[m->count++] = address;
}

static mc_status make_matrices(model *m, const graph *g, mc_diag *diag) {
    mc_matrix_config config = {.size = sizeof config,
                               .type = MC_F32,
                               .vec = 1,
                               .rows = g->vertices,
                               .cols = g->vertices,
                               .row_ptr = g->row_ptr,
                               .col_idx = g->col_idx,
                               .values = g->bias};
    mc_status status = mc_matrix_create(m->context, &config, &m->biased, diag);
    config.type = MC_F16;
    config.values = NULL;
    return status == MC_OK ? mc_matrix_create(m->context, &config, &m->mixed, diag) : status;
}

/* The problems that the steps solve. In CSR order a head's scores begin at the next multiple of 16 bytes. */
static void describe(const model *m, const layer *l, mc_plan_config steps[STEPS]) {
    const mc_order order = l->way == PADDED ? MC_ORDER_SRBCRS32 : MC_ORDER_BCRS;
    const int64_t stride = l->way == PADDED ? 0 : m->stride;
    steps[PROJECT] = (mc_plan_config){.op = MC_OP_GEMM,
                                      .a = MC_F16,
                                      .b = MC_F16,
                                      .c = MC_F16,
                                      .m = l->of.vertices,
                                      .n = l->depth,
                                      .k = l->features,
                                      .b_layout = MC_LAYOUT_ROWS,
                                      .batch = PROJECTIONS * l->heads,
                                      .a_stride = MC_SHARED};
    steps[SCORE] = (mc_plan_config){.op = MC_OP_SDDMM,
                                    .matrix = m->biased,
                                    .a = MC_F16,
                                    .b = MC_F16,
                                    .c = MC_F16,
                                    .k = l->depth,
                                    .c_order = order,
                                    .batch = l->heads,
                                    .c_stride = stride};
    steps[SOFTMAX] = (mc_plan_config){.op = MC_OP_SOFTMAX,
                                      .matrix = m->biased,
                                      .a = MC_F16,
                                      .c = MC_F16,
                                      .scale = MC_PER_TENSOR,
                                      .mask_values = true,
                                      .c_order = order,
                                      .batch = l->heads,
                                      .a_stride = stride,
                                      .c_stride = stride};
    steps[MIX] =
        (mc_plan_config){.op = MC_OP_SPMM, .matrix = m->mixed, .b = MC_F16, .c = MC_F16, .n = l->depth};
    if (l->way == PADDED) steps[MIX].given_values = true, steps[MIX].batch = l->heads;
    for (int i = 0; i < STEPS; i++) steps[i].size = sizeof steps[i];
}

/* Makes the plans, and sets the stride where scores are padded. */
static mc_status make_plans(model *m, const layer *l, mc_diag *diag) {
    mc_plan_config steps[STEPS];
    mc_plan_info info = {.size = sizeof info};
    mc_status status = MC_OK;
    m->stride = (l->of.edges + UNIT - 1) / UNIT * UNIT;
    describe(m, l, steps);
    for (int i = 0; i < STEPS && status == MC_OK; i++)
        status = mc_plan_create(m->context, &steps[i], &m->plans[i], diag);
    if (status == MC_OK) status = mc_plan_get_info(m->plans[SCORE], &info, diag);
    if (status == MC_OK && l->way == PADDED) m->stride = info.c_elements;
    return status;
}

/* Each head's matrix and plan. */
static mc_status lend(model *m, const layer *l, mc_diag *diag) {
    const graph *g = &l->of;
    mc_status status = MC_OK;
    mc_csr_config csr = {
        .size = sizeof csr, .type = MC_F16, .rows = g->vertices, .cols = g->vertices, .nonzeros = g->edges};
    csr.row_ptr = upload(m, g->row_ptr, (g->vertices + 1) * (int64_t)sizeof *g->row_ptr, &status, diag);
    csr.col_idx = upload(m, g->col_idx, g->edges * (int64_t)sizeof *g->col_idx, &status, diag);
    for (int64_t head = 0; head < l->heads && status == MC_OK; head++) {
        csr.values = m->probabilities + (mc_address)(head * m->stride) * sizeof(uint16_t);
        status = mc_matrix_borrow(m->context, &csr, &m->lent[head], diag);
        const mc_plan_config config = {.size = sizeof config,
                                       .op = MC_OP_SPMM,
                                       .matrix = m->lent[head],
                                       .b = MC_F16,
                                       .c = MC_F16,
                                       .n = l->depth};
        if (status == MC_OK) status = mc_plan_create(m->context, &config, &m->lent_plans[head], diag);
    }
    return status;
}

static mc_status load(model *m, const layer *l, mc_diag *diag) {
    const int64_t half = (int64_t)sizeof(uint16_t), of_x = l->of.vertices * l->features * half,
                  of_y = l->heads * l->of.vertices * l->depth * half,
                  of_w = PROJECTIONS * l->heads * l->features * l->depth * half;
    mc_status status = make_matrices(m, &l->of, diag);
    m->lent = calloc((size_t)l->heads, sizeof *m->lent);
    m->lent_plans = calloc((size_t)l->heads, sizeof *m->lent_plans);
    if (status == MC_OK) status = make_plans(m, l, diag);
    memset(l->y, POISON, (size_t)of_y); /* all of Y is written, vertices without edges too */
    m->x = upload(m, l->x, of_x, &status, diag);
    m->w = upload(m, l->w, of_w, &status, diag);
    m->projected = upload(m, NULL, PROJECTIONS * of_y, &status, diag);
    m->scores = upload(m, NULL, l->heads * m->stride * half, &status, diag);
    m->probabilities = upload(m, NULL, l->heads * m->stride * half, &status, diag);
    m->y = upload(m, l->y, of_y, &status, diag);
    for (int i = 0; i < STEPS && status == MC_OK; i++)
        m->workspace[i] = upload(m, NULL, (int64_t)mc_plan_workspace(m->plans[i]), &status, diag);
    return status == MC_OK && l->way == LENT ? lend(m, l, diag) : status;
}

static void unload(model *m, int64_t heads) {
    for (int64_t i = 0; m->lent_plans != NULL && i < heads; i++) mc_plan_destroy(m->lent_plans[i]);
    for (int64_t i = 0; m->lent != NULL && i < heads; i++) mc_matrix_destroy(m->lent[i]);
    free(m->lent), free(m->lent_plans);
    for (int i = 0; i < m->count; i++) mc_memory_destroy(m->context, m->memory[i]);
    for (int i = 0; i < STEPS; i++) mc_plan_destroy(m->plans[i]);
    mc_matrix_destroy(m->biased);
    mc_matrix_destroy(m->mixed);
    mc_context_destroy(m->context);
}

/* Where head HEAD of Q, K or V lies. */
static mc_address projected_at(const model *m, const layer *l, int of, int64_t head) {
    const int64_t elements = (of * l->heads + head) * l->of.vertices * l->depth;
    return m->projected + (mc_address)elements * sizeof(uint16_t);
}

/* One head, by a matrix whose values are its probabilities; or, of the way csr, by one whose values become
   these first. */
static mc_status mix_head(const model *m, const layer *l, int64_t head, void *stream, mc_diag *diag) {
    const mc_device_values values = {.size = sizeof values,
                                     .from = MC_FROM_VECTORS,
                                     .address = m->probabilities +
                                                (mc_address)(head * m->stride) * sizeof(uint16_t)};
    const mc_address y = m->y + (mc_address)(head * l->of.vertices * l->depth) * sizeof(uint16_t);
    const mc_args args = {.size = sizeof args, .b = projected_at(m, l, OF_V, head), .c = y};
    if (l->way == LENT) return mc_execute(m->lent_plans[head], &args, 0, stream, diag);
    mc_status status = mc_matrix_set_device_values(m->mixed, &values, stream, diag);
    return status == MC_OK ? mc_execute(m->plans[MIX], &args, m->workspace[MIX], stream, diag) : status;
}

static mc_status mix_heads(const model *m, const layer *l, void *stream, mc_diag *diag) {
    mc_status status = MC_OK;
    for (int64_t head = 0; head < l->heads && status == MC_OK; head++)
        status = mix_head(m, l, head, stream, diag);
    return status;
}

/* Puts a step on STREAM. All of them may be captured in a graph, once they have run. */
static mc_status do_step(const model *m, const layer *l, int step, void *stream, mc_diag *diag) {
    const mc_argument values = {.name = "values", .address = m->probabilities};
    mc_args args[STEPS] = {
        [PROJECT] = {.a = m->x, .b = m->w, .c = m->projected},
        [SCORE] = {.a = projected_at(m, l, OF_Q, 0), .b = projected_at(m, l, OF_K, 0), .c = m->scores},
        [SOFTMAX] = {.a = m->scores, .c = m->probabilities, .scale_value = 1 / sqrtf((float)l->depth)},
        [MIX] = {.b = projected_at(m, l, OF_V, 0), .c = m->y, .list = &values, .list_count = 1}};
    if (step == MIX && l->way != PADDED) return mix_heads(m, l, stream, diag);
    args[step].size = sizeof *args;
    return mc_execute(m->plans[step], &args[step], m->workspace[step], stream, diag);
}

/* Runs the layer PASSES times; how long a step takes counts from the second time on. */
static mc_status pass(const model *m, const layer *l, int passes, double spent[STEPS], mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < passes * STEPS && status == MC_OK; i++) {
        double begin = seconds();
        status = do_step(m, l, i % STEPS, NULL, diag);
        if (status == MC_OK) status = mc_synchronize(m->context, NULL, diag);
        if (i >= STEPS) spent[i % STEPS] += (seconds() - begin) / (passes - 1);
    }
    return status;
}

static mc_status print_steps(const model *m, int passes, const double spent[STEPS], mc_diag *diag) {
    mc_status status = MC_OK;
    for (int i = 0; i < STEPS && status == MC_OK; i++) {
        mc_plan_info info = {.size = sizeof info};
        const bool lent = i == MIX && m->lent_plans[0] != NULL;
        status = mc_plan_get_info(lent ? m->lent_plans[0] : m->plans[i], &info, diag);
        if (status == MC_OK && passes > 1) printf("%-8s %10.1f us  ", step_names[i], 1e6 * spent[i]);
        if (status == MC_OK) printf("%s: %s\n", step_names[i], info.fields);
    }
    return status;
}

/* On a GPU several passes are timed, each step with a launch of its own and the wait for it. */
static mc_status run(layer *l, const char *device, mc_diag *diag) {
    model m = {0};
    double spent[STEPS] = {0};
    mc_context_config config = {.size = sizeof config, .device = device};
    mc_context_info info = {.size = sizeof info};
    mc_status status = mc_context_create(&config, &m.context, diag);
    if (status == MC_OK) status = mc_context_get_info(m.context, &info, diag);
    if (status == MC_OK) status = load(&m, l, diag);
    const int passes = info.capability == 0 ? 1 : 20;
    if (status == MC_OK) status = pass(&m, l, passes, spent, diag);
    if (status == MC_OK)
        status = mc_memory_read(m.context, m.y, l->y,
                                (size_t)(l->heads * l->of.vertices * l->depth) * sizeof *l->y, diag);
    if (status == MC_OK) status = print_steps(&m, passes, spent, diag);
    unload(&m, l->heads);
    return status;
}

/* -- In plain C --------------------------------------------------------------------------------------- */

/* Q, K or V of a head in double precision, each element rounded to f16 as the kernel's is. */
static void project(const layer *l, int of, int64_t head, double *to) {
    const uint16_t *w = l->w + (of * l->heads + head) * l->features * l->depth;
    for (int64_t i = 0; i < l->of.vertices; i++)
        for (int64_t j = 0; j < l->depth; j++) {
            double sum = 0;
            for (int64_t k = 0; k < l->features; k++)
                sum += (double)float_of(l->x[i * l->features + k]) * (double)float_of(w[k * l->depth + j]);
            to[i * l->depth + j] = rounded(sum);
        }
}

/* The probabilities of VERTEX's edges. */
static void attend(const layer *l, int64_t vertex, const double *q, const double *k, double *p) {
    const graph *g = &l->of;
    double most = -INFINITY, sum = 0;
    const int64_t first = g->row_ptr[vertex], count = g->row_ptr[vertex + 1] - first;
    for (int64_t e = 0; e < count; e++) {
        double score = 0;
        for (int64_t j = 0; j < l->depth; j++)
            score += q[vertex * l->depth + j] * k[g->col_idx[first + e] * l->depth + j];
        p[e] = score / sqrt((double)l->depth) + (double)g->bias[first + e];
        most = fmax(most, p[e]);
    }
    for (int64_t e = 0; e < count; e++) sum += p[e] = exp(p[e] - most);
    for (int64_t e = 0; e < count; e++) p[e] /= sum;
}

/* How far an element of Y is from what it should be, in parts of what it may be. Scores and probabilities
   are rounded to f16, 2^-11 of each: with Q, K and V that adds up to less than 2^-7 of the sum of magnitudes.
   A vertex without edges has zeros. */
static double off(const layer *l, int64_t head, int64_t vertex, int64_t j, const double *p, const double *v) {
    const graph *g = &l->of;
    double sum = 0, magnitudes = 0;
    const int64_t first = g->row_ptr[vertex], count = g->row_ptr[vertex + 1] - first;
    for (int64_t e = 0; e < count; e++) {
        double term = p[e] * v[g->col_idx[first + e] * l->depth + j];
        sum += term, magnitudes += fabs(term);
    }
    double got = (double)float_of(l->y[(head * g->vertices + vertex) * l->depth + j]);
    double apart = fabs(got - sum) / (0x1p-7 * magnitudes + 0x1p-24);
    return isnan(apart) ? INFINITY : apart;
}

static double off_head(const layer *l, int64_t head, double *of[PROJECTIONS], double *p) {
    double worst = 0;
    const int64_t step = l->of.vertices > 4096 ? l->of.vertices / 1024 : 1; /* of many vertices some */
    for (int i = 0; i < PROJECTIONS; i++) project(l, i, head, of[i]);
    for (int64_t vertex = 0; vertex < l->of.vertices; vertex += step) {
        attend(l, vertex, of[OF_Q], of[OF_K], p);
        for (int64_t j = 0; j < l->depth; j++) worst = fmax(worst, off(l, head, vertex, j, p, of[OF_V]));
    }
    return worst;
}

static double off_all(const layer *l) {
    const size_t elements = (size_t)(l->of.vertices * l->depth);
    double *of[PROJECTIONS], *p = malloc((size_t)l->of.vertices * sizeof *p), worst = 0;
    for (int i = 0; i < PROJECTIONS; i++) of[i] = malloc(elements * sizeof(double));
    for (int64_t head = 0; head < l->heads; head++) worst = fmax(worst, off_head(l, head, of, p));
    for (int i = 0; i < PROJECTIONS; i++) free(of[i]);
    free(p);
    return worst;
}

/* -- The program -------------------------------------------------------------------------------------- */

static int usage(void) {
    fprintf(stderr, "usage: gat [DEVICE [padded|csr|lent [VERTICES DEGREE HEADS FEATURES DEPTH]]]\n"
                    "FEATURES and DEPTH are multiples of 8, DEGREE is at most VERTICES\n");
    return 2;
}

/* VERTICES DEGREE HEADS FEATURES DEPTH. */
static bool take_sizes(layer *l, const int64_t sizes[5]) {
    for (int i = 0; i < 5; i++)
        if (sizes[i] < 1 || sizes[i] > INT32_MAX) return false;
    l->heads = sizes[2], l->features = sizes[3], l->depth = sizes[4];
    return sizes[1] <= sizes[0] && l->features % UNIT == 0 && l->depth % UNIT == 0;
}

int main(int argc, char **argv) {
    static const char *const ways[] = {"padded", "csr", "lent"};
    int64_t sizes[5] = {300, 12, 4, 64, 32};
    layer l = {.way = PADDED};
    while (argc > 2 && l.way <= LENT && strcmp(argv[2], ways[l.way]) != 0) l.way++;
    if ((argc > 3 && argc != 8) || l.way > LENT) return usage();
    for (int i = 0; i < 5 && argc > 3; i++) sizes[i] = atoll(argv[3 + i]);
    if (!take_sizes(&l, sizes)) return usage();
    make_layer(&l, sizes[0], sizes[1]);
    mc_diag *diag = mc_diag_create();
    mc_status status = run(&l, argc > 1 ? argv[1] : "auto", diag);
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    double worst = status == MC_OK ? off_all(&l) : INFINITY;
    if (status == MC_OK)
        printf("%lld vertices, %lld edges, %lld heads: from the reference %.3f of what may be: %s\n",
               (long long)l.of.vertices, (long long)l.of.edges, (long long)l.heads, worst,
               worst <= 1 ? "right" : "WRONG");
    mc_diag_destroy(diag);
    free_layer(&l);
    return worst > 1;
}
