/* Dense and 4:8 products of s4 and u4 whose operands lie as no kernel reads them, A by columns and B by rows,
   by the C interface: every size of a table, odd ones too, all four transposes, leading dimensions, batches.
   Sums of random values are compared with the products' own, and so are all bytes of C's memory. With a
   DEVICE on that one, else on the simulator. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "mcrt_internal.h"

enum { POISON = 0x80, SKIPPED = 77 };

static mc_context *context;
static mc_diag *diag;

static bool worked(const char *what, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", what, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* -- Operands */

/* COUNT matrices of ROWS x COLS, as they lie: LD elements from row to row, STRIDE from one to the next. */
typedef struct operand {
    mc_type type;
    int64_t count, rows, cols, ld, stride;
    mc_dense *of; /* each of them, in rows of LD */
    mc_address address;
} operand;

static int64_t even(int64_t count) { return count + count % 2; }

/* The high half of the last byte of a row with an odd count of elements belongs to none. */
static void spoil_halves(mc_dense *dense, int salt) {
    unsigned char *bytes = dense->data;
    for (int64_t i = 0; dense->cols % 2 && i < dense->rows; i++) {
        unsigned char *last = &bytes[i * dense->ld / 2 + dense->cols / 2];
        *last = (unsigned char)(*last | ((i + salt) % 15 + 1) << 4);
    }
}

static void make_operand(operand *o, uint64_t seed) {
    o->of = calloc((size_t)o->count, sizeof *o->of);
    for (int64_t z = 0; z < o->count; z++) {
        if (!worked("operand", mc_dense_create(o->type, o->rows, o->cols, o->ld, &o->of[z], diag))) exit(1);
        mc_dense_fill(&o->of[z], MC_VALUES_FULL, seed + (uint64_t)z);
        spoil_halves(&o->of[z], (int)seed);
    }
}

static size_t bytes_between(const operand *o) { return (size_t)mc_type_size(o->type, o->stride); }

/* Gaps stay unwritten, and the simulator stops who reads them. */
static void put_operand(operand *o) {
    const size_t row = (size_t)mc_type_size(o->type, o->cols), step = (size_t)mc_type_size(o->type, o->ld);
    const size_t last = (size_t)(o->rows - 1) * step + row,
                 all = (size_t)(o->count - 1) * bytes_between(o) + last;
    if (!worked("memory", mc_memory_create(context, all, &o->address, diag))) return;
    for (size_t i = 0; i < (size_t)(o->count * o->rows); i++) {
        const size_t z = i / (size_t)o->rows, at = i % (size_t)o->rows * step;
        (void)worked("write", mc_memory_write(context, o->address + z * bytes_between(o) + at,
                                              (const char *)o->of[z].data + at, row, diag));
    }
}

static void drop_operand(operand *o) {
    for (int64_t z = 0; z < o->count; z++) mc_dense_free(&o->of[z]);
    free(o->of);
    if (o->address != 0) mc_memory_destroy(context, o->address);
}

/* -- One product */

typedef struct product {
    mc_plan_config config;
    operand a, b, c;
    bool a_turned, b_turned; /* as it lies A is k x m, B k x n */
} product;

/* Row LINE of A, or column LINE of B, of product Z, as K integers. */
static void read_line(const operand *o, bool turned, int64_t z, int64_t line, int64_t k, int32_t *to) {
    const mc_dense *of = &o->of[o->count > 1 ? z : 0];
    for (int64_t i = 0; i < k; i++) to[i] = (int32_t)mc_dense_get(of, turned ? i : line, turned ? line : i);
}

static void want_rows(const product *p, int64_t z, int32_t *c) {
    const int64_t m = p->config.m, n = p->config.n, k = p->config.k;
    int32_t *a = calloc((size_t)(m * k), sizeof *a), *b = calloc((size_t)(n * k), sizeof *b);
    for (int64_t i = 0; i < m; i++) read_line(&p->a, p->a_turned, z, i, k, a + i * k);
    for (int64_t j = 0; j < n; j++) read_line(&p->b, p->b_turned, z, j, k, b + j * k);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            int32_t sum = 0;
            for (int64_t l = 0; l < k; l++) sum += a[i * k + l] * b[j * k + l];
            c[i * p->c.ld + j] = sum;
        }
    free(a);
    free(b);
}

static void compare(const product *p, const int32_t *got, int32_t *want) {
    const mc_plan_config *f = &p->config;
    int wrong = 0;
    for (int64_t z = 0; z < p->c.count; z++) want_rows(p, z, want + z * p->c.stride);
    for (int64_t i = 0; i < p->c.count * p->c.stride; i++) wrong += got[i] != want[i];
    CHECK(wrong == 0,
          "%s by %s, %lld x %lld x %lld, A by %s, B by %s, lda %lld, ldb %lld, batch %d: %d elements wrong",
          mc_type_text(p->a.type), mc_type_text(p->b.type), (long long)f->m, (long long)f->n, (long long)f->k,
          p->a_turned ? "columns" : "rows", p->b_turned ? "rows" : "columns", (long long)p->a.ld,
          (long long)p->b.ld, (int)f->batch, wrong);
}

/* A workspace that is full of something. */
static mc_address poisoned(size_t bytes) {
    mc_address address = 0;
    void *poison = malloc(bytes + 1);
    memset(poison, POISON, bytes + 1);
    if (worked("memory", mc_memory_create(context, bytes, &address, diag)))
        (void)worked("poison", mc_memory_write(context, address, poison, bytes, diag));
    free(poison);
    return address;
}

static void check_passes(const product *p, const mc_plan *plan) {
    mc_pass_info pass = {.size = sizeof pass};
    size_t count = 0;
    while (mc_plan_get_pass(plan, count, &pass, diag) == MC_OK) {
        const bool of_a = p->a_turned && count == 0;
        const int64_t lines = of_a ? p->config.m : p->config.n, line = (p->config.k + 31) / 32 * 32;
        const operand *o = of_a ? &p->a : &p->b;
        CHECK_TEXT(pass.operand, of_a ? "a" : "b");
        CHECK((int64_t)pass.bytes == o->count * lines * line / 2, "%zu bytes", pass.bytes);
        count++;
    }
    mc_diag_clear(diag);
    CHECK(count == (size_t)p->a_turned + (size_t)p->b_turned, "%zu passes", count);
}

static void execute(const product *p, const mc_plan *plan) {
    const size_t bytes = (size_t)(p->c.count * p->c.stride) * sizeof(int32_t);
    int32_t *got = malloc(bytes), *want = malloc(bytes);
    const mc_address c = poisoned(bytes), room = poisoned(mc_plan_workspace(plan) + 1);
    const mc_args args = {.size = sizeof args, .a = p->a.address, .b = p->b.address, .c = c};
    memset(want, POISON, bytes);
    if (worked("execute", mc_execute(plan, &args, room, NULL, diag)) &&
        worked("wait", mc_synchronize(context, NULL, diag)) &&
        worked("read", mc_memory_read(context, c, got, bytes, diag)))
        compare(p, got, want);
    mc_memory_destroy(context, c);
    mc_memory_destroy(context, room);
    free(got);
    free(want);
}

/* The plan, with what CONFIG has beside operands' places. */
static void run_plan(product *p) {
    mc_plan *plan = NULL;
    if (worked("plan", mc_plan_create(context, &p->config, &plan, diag))) {
        check_passes(p, plan);
        execute(p, plan);
    }
    mc_plan_destroy(plan);
}

/* -- What is tried */

typedef struct trial {
    mc_type a, b;
    int64_t m, n, k;
    bool a_turned, b_turned, a_shared, b_shared, open;
    int gap;        /* elements that rows are longer */
    int64_t batch;  /* 0: one product */
    unsigned align; /* 0: the usual */
} trial;

static int64_t multiple(int64_t count, int64_t of) { return (count + of - 1) / of * of; }

/* Products begin at multiples of UNIT elements. */
static operand lie(mc_type type, int64_t rows, int64_t cols, int64_t gap, int64_t count, int unit) {
    const bool pairs = mc_type_bytes(type) == 0;
    operand o = {.type = type,
                 .count = count,
                 .rows = rows,
                 .cols = cols,
                 .ld = pairs ? even(cols + gap) : cols + gap};
    o.stride = multiple(rows * o.ld + 2 * gap, unit);
    return o;
}

static product product_of(const trial *t) {
    const int64_t count = t->batch > 1 ? t->batch : 1;
    const int unit = t->align == 1 ? 2 : 32;
    product p = {.a_turned = t->a_turned, .b_turned = t->b_turned};
    p.a = lie(t->a, t->a_turned ? t->k : t->m, t->a_turned ? t->m : t->k, t->gap, t->a_shared ? 1 : count,
              unit);
    p.b = lie(t->b, t->b_turned ? t->k : t->n, t->b_turned ? t->n : t->k, 3 * t->gap, t->b_shared ? 1 : count,
              unit);
    p.c = lie(MC_S32, t->m, t->n, t->gap, count, unit);
    p.config = (mc_plan_config){.size = sizeof p.config,
                                .op = MC_OP_GEMM,
                                .a = t->a,
                                .b = t->b,
                                .c = MC_S32,
                                .m = t->m,
                                .n = t->n,
                                .k = t->k,
                                .lda = p.a.ld,
                                .ldb = p.b.ld,
                                .ldc = p.c.ld,
                                .a_major = t->a_turned ? MC_MAJOR_COLUMN : MC_MAJOR_ROW,
                                .b_layout = t->b_turned ? MC_LAYOUT_ROWS : MC_LAYOUT_COLUMNS,
                                .align = t->align,
                                .shapes = t->open ? MC_SHAPES_OPEN : MC_SHAPES_FIXED};
    if (t->batch <= 1) return p;
    p.config.batch = t->batch, p.config.c_stride = p.c.stride;
    p.config.a_stride = t->a_shared ? MC_SHARED : p.a.stride;
    p.config.b_stride = t->b_shared ? MC_SHARED : p.b.stride;
    return p;
}

static void try_dense(const trial *t) {
    product p = product_of(t);
    make_operand(&p.a, 1);
    make_operand(&p.b, 2);
    put_operand(&p.a);
    put_operand(&p.b);
    run_plan(&p);
    drop_operand(&p.a);
    drop_operand(&p.b);
}

static const int64_t sizes[] = {1, 7, 8, 63, 64, 65, 129, 200};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const mc_type pairs[][2] = {{MC_S4, MC_S4}, {MC_U4, MC_U4}, {MC_S4, MC_U4}, {MC_U4, MC_S4}};

/* Each two of the three sizes meet each other in every transpose. */
static void test_sizes(void) {
    for (int i = 0; i < 4 * SIZES * SIZES; i++) {
        const int turned = i % 4, row = i / 4 % SIZES, col = i / 4 / SIZES;
        const mc_type *types = pairs[(row + col + turned) % 4];
        const trial t = {.a = types[0],
                         .b = types[1],
                         .m = sizes[row],
                         .n = sizes[col],
                         .k = sizes[(row + col * 3 + turned) % SIZES],
                         .a_turned = turned % 2,
                         .b_turned = turned / 2,
                         .gap = (row + turned) % 3 * 2,
                         .open = (row * 3 + col) % 4 == 0};
        try_dense(&t);
    }
}

/* Whole tiles, units and lines of the pass, and some more; addresses that are multiples of 32 elements. */
static void test_large(void) {
    static const trial trials[] = {
        {.m = 512, .n = 64, .k = 128, .a_turned = true},
        {.m = 544, .n = 96, .k = 130, .a_turned = true, .b_turned = true},
        {.m = 64, .n = 1056, .k = 97, .b_turned = true, .gap = 32},
        {.m = 96, .n = 1024, .k = 63, .a_turned = true, .b_turned = true, .open = true, .gap = 32},
        {.m = 3, .n = 2080, .k = 256, .b_turned = true},
        {.m = 33, .n = 32, .k = 2049, .a_turned = true, .b_turned = true},
    };
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial t = trials[i];
        t.a = pairs[i % 4][0], t.b = pairs[i % 4][1];
        try_dense(&t);
    }
}

static void test_batches(void) {
    for (int i = 0; i < 4 * 4 * 4; i++) {
        static const int64_t shapes[][3] = {{7, 65, 129}, {64, 32, 96}, {65, 8, 63}, {1, 129, 200}};
        const int64_t *shape = shapes[i / 16];
        const trial t = {.a = pairs[i % 4][0],
                         .b = pairs[i % 4][1],
                         .m = shape[0],
                         .n = shape[1],
                         .k = shape[2],
                         .a_turned = i % 2,
                         .b_turned = i / 2 % 2,
                         .a_shared = i / 4 % 4 == 1,
                         .b_shared = i / 4 % 4 == 2,
                         .gap = i / 4 % 2 * 16,
                         .open = i / 4 % 4 == 3,
                         .batch = 2 + i % 3,
                         .align = i / 16 == 2 ? 1 : 0};
        try_dense(&t);
    }
}

/* -- A 4:8 A: of each four pairs of neighbours of a row two are there, of some one */

static void prune(mc_dense *a) {
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < a->cols; j++) {
            const int64_t group = j / 8, first = (i + group) % 3,
                          second = first + 1 + (i * 5 + group) % (3 - first);
            const int64_t pair = j / 2 % 4;
            if (pair != first && (pair != second || (i + group) % 5 == 0)) mc_dense_set(a, i, j, 0);
        }
}

static mc_matrix *matrix_of(const mc_dense *a) {
    mc_matrix *matrix = NULL;
    const mc_dense_config config = {.size = sizeof config,
                                    .type = a->type,
                                    .vec = 1,
                                    .rows = a->rows,
                                    .cols = a->cols,
                                    .ld = a->ld,
                                    .data = a->data};
    (void)worked("matrix", mc_matrix_from_dense(context, &config, &matrix, diag));
    return matrix;
}

static void try_sparse(const trial *t) {
    product p = product_of(t);
    make_operand(&p.a, 3);
    make_operand(&p.b, 4);
    prune(p.a.of);
    put_operand(&p.b);
    mc_matrix *matrix = matrix_of(p.a.of);
    p.config.op = MC_OP_GEMM24, p.config.matrix = matrix;
    p.config.lda = 0, p.config.a_stride = 0;
    mc_plan_config whole = p.config;
    p.config.m = p.config.k = 0, p.config.a = (mc_type)0;
    mc_plan *plan = NULL;
    if (worked("plan", mc_plan_create(context, &p.config, &plan, diag))) {
        p.config = whole;
        check_passes(&p, plan);
        execute(&p, plan);
    }
    mc_plan_destroy(plan);
    mc_matrix_destroy(matrix);
    drop_operand(&p.a);
    drop_operand(&p.b);
}

static void test_sparse(void) {
    for (int i = 0; i < 2 * SIZES * SIZES; i++) {
        const int col = i / 2 % SIZES, depth = i / 2 / SIZES;
        const mc_type *types = pairs[(col + depth) % 4];
        const trial t = {.a = types[0],
                         .b = types[1],
                         .m = sizes[(col + depth * 3) % SIZES],
                         .n = sizes[col],
                         .k = sizes[depth],
                         .b_turned = i % 2 == 0,
                         .a_shared = true,
                         .gap = (col + i) % 3 * 2,
                         .open = (col * 3 + depth) % 4 == 0,
                         .batch = (col + depth) % 5 == 0 ? 3 : 0,
                         .b_shared = (col + depth) % 10 == 0};
        try_sparse(&t);
    }
}

int main(int argc, char **argv) {
    const mc_context_config config = {
        .size = sizeof config, .device = argc > 1 ? argv[1] : "sim", .records = "", .cache = MC_CACHE_MEMORY};
    diag = mc_diag_create();
    mc_status status = mc_context_create(&config, &context, diag);
    if (status != MC_OK && argc > 1) return printf("%s\n", mc_diag_text(diag)), SKIPPED;
    if (!worked("context", status)) return check_end();
    test_sizes();
    test_large();
    test_batches();
    test_sparse();
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return check_end();
}
