/* What the solver mma of a dense product can do and no spec asks for yet, on the simulator in several orders of warps
 * and of landing, or on the devices that the arguments name: a 2:4 sparse A, [m][lda] of the elements that are kept, with
 * its metadata, [m][lde] bytes. Values are small integers, so that every sum is exact. mma_test print SHAPE prints a kernel. */
#include "check.h"
#include "mcrt_internal.h"
#include "ops/gemm/mma/mma.h"
#include "ptxsim.h"
#include "text/text.h"

enum { LARGEST = 2, SKIPPED = 77 };

/* -- Kernels ------------------------------------------------------------------------------------------ */

/* Types, by the bits of 1, 2 and the sign; whether -1 is ~1 + 1. */
static const struct element {
    const char *name;
    mc_opcode mma;
    int bytes;
    uint32_t one, two, sign;
} elements[] = {{"f16", OP_mma_f16, 2, 0x3c00, 0x4000, 0x8000},
                {"bf16", OP_mma_bf16, 2, 0x3f80, 0x4000, 0x8000},
                {"tf32", OP_mma_tf32, 4, 0x3f800000, 0x40000000, 0x80000000},
                {"e4m3", OP_mma_e4m3, 1, 0x38, 0x40, 0x80},
                {"e5m2", OP_mma_e5m2, 1, 0x3c, 0x40, 0x80},
                {"s8", OP_mma_s8, 1, 1, 2, 0}};
enum { ELEMENTS = sizeof elements / sizeof *elements };

typedef struct shape {
    int tile_m, tile_n, warp_m, warp_n, stages, copy;
    bool rows; /* B lies by rows */
} shape;

static const shape shapes[] = {{128, 128, 64, 32, 3, 16, false}, {64, 64, 32, 32, 2, 16, false},
                               {64, 128, 32, 64, 4, 4, false},   {128, 64, 64, 32, 2, 8, false},
                               {64, 128, 64, 32, 3, 16, true},   {64, 256, 32, 64, 2, 16, false}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static mma_plan plan_of(const struct element *e, const shape *s) {
    bool real = e->sign != 0;
    mma_plan plan = {.problem = {.lhs.name = e->name,
                                 .rhs.name = e->name,
                                 .output = {.element = real ? OUT_F32 : OUT_S32, .real = real},
                                 .b_rows = s->rows,
                                 .align = TILE_CHUNK,
                                 .m = MC_OPEN,
                                 .n = MC_OPEN,
                                 .k = MC_OPEN,
                                 .lda = MC_OPEN,
                                 .ldb = MC_OPEN,
                                 .ldc = MC_OPEN,
                                 .ldr = MC_OPEN},
                     .form = {.mma = e->mma, .bytes = e->bytes, .rounded = e->bytes == 4},
                     .tile_m = s->tile_m,
                     .tile_n = s->tile_n,
                     .warp_m = s->warp_m,
                     .warp_n = s->warp_n,
                     .stages = s->stages,
                     .span = 128,
                     .copy = s->copy,
                     .group = 4,
                     .store = 1,
                     .sparse = true};
    return plan;
}

static char *ptx_of(const mma_plan *plan) {
    mc_builder b = {0};
    mc_text text = {0};
    int version = 0, registers = 0;
    for (int i = 0; mc_arch_names[i]; i++)
        if (strcmp(mc_arch_names[i], plan->form.bytes == 1 ? "sm_89" : "sm_80") == 0) b.arch = &mc_archs[i];
    mma_emit(plan, &b);
    bool good =
        builder_check(&b, &version, NULL) && builder_simplify(&b) && builder_check(&b, &version, &registers);
    CHECK(good, "%s: %s", plan->problem.lhs.name, b.error);
    text_add(&text,
             ".version %d.%d\n.target %s\n.address_size 64\n\n.extern .shared .align %d .b8 room[];\n\n"
             ".visible .entry gemm(\n    .param .u64 a,\n    .param .u64 b,\n    .param .u64 c,\n    .param "
             ".u64 e,\n"
             "    .param .s32 m,\n    .param .s32 n,\n    .param .s32 k,\n    .param .s32 lda,\n"
             "    .param .s32 ldb,\n    .param .s32 ldc,\n    .param .s32 lde\n)\n.reqntid %d, 1, 1\n",
             version / 10, version % 10, b.arch->target, TILE_ALIGN, mma_threads(plan));
    print_body(&b, &text);
    builder_free(&b);
    return text_take(&text);
}

/* -- Operands ----------------------------------------------------------------------------------------- */

typedef struct problem {
    int m, n, k;
} problem;

static const problem problems[] = {
    {200, 136, 256}, {7, 16, 100}, {129, 264, 388}, {64, 64, 4}, {65, 80, 130}};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static uint32_t state = 1;
static int next_random(int below) {
    state = state * 1664525u + 1013904223u;
    return (int)((state >> 8) % (unsigned)below);
}
static int up(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }
static int random_value(void) { return next_random(2 * LARGEST + 1) - LARGEST; }

static void put(const struct element *e, unsigned char *data, size_t place, int value) {
    uint32_t bits = value == 0 ? 0 : value == 2 || value == -2 ? e->two : e->one;
    if (value < 0) bits = e->sign ? bits | e->sign : 0u - bits;
    memcpy(data + place * (size_t)e->bytes, &bits, (size_t)e->bytes);
}

typedef struct run {
    const struct element *e;
    mma_plan plan;
    problem p;
    mc_device *device;
    mc_diag *diag;
    int lda, ldb, ldc, lde;
    int8_t *a_values, *b_values; /* [m][k], [k][n] */
    unsigned char *a, *b, *meta;
    uint32_t *c;
    char what[120];
} run;

/* Of each 4 elements 2 are kept, or of each 2 one; behind k zeros with legal codes. */
static void make_a(run *r) {
    bool pairs = r->e->bytes == 4;
    int group = pairs ? 2 : 4, kept = pairs ? 1 : 2, all = up(r->p.k, 512) / group;
    r->lda = up(up(r->p.k, group) / group * kept, 16 / r->e->bytes) + 16 / r->e->bytes, r->lde = all / 2;
    r->a = calloc((size_t)r->p.m * (size_t)r->lda, (size_t)r->e->bytes);
    r->meta = calloc((size_t)r->p.m, (size_t)r->lde);
    r->a_values = calloc((size_t)r->p.m, (size_t)r->p.k);
    for (int i = 0; i < r->p.m * all; i++) {
        int row = i / all, g = i % all, first = pairs ? next_random(2) : next_random(3);
        int second = pairs ? first : first + 1 + next_random(3 - first), places[] = {first, second};
        int code = pairs ? first ? 0xe : 0x4 : first | second << 2;
        r->meta[row * r->lde + g / 2] |= (unsigned char)(code << g % 2 * 4);
        for (int j = 0; j < kept; j++) {
            int k = g * group + places[j], value = random_value();
            if (k >= r->p.k) continue;
            r->a_values[(size_t)row * (size_t)r->p.k + (size_t)k] = (int8_t)value;
            put(r->e, r->a, (size_t)row * (size_t)r->lda + (size_t)(g * kept + j), value);
        }
    }
}

static void make_b(run *r) {
    bool rows = r->plan.problem.b_rows;
    r->ldb = up(rows ? r->p.n : r->p.k, 16 / r->e->bytes);
    r->b = calloc((size_t)(rows ? r->p.k : r->p.n) * (size_t)r->ldb, (size_t)r->e->bytes);
    r->b_values = calloc((size_t)r->p.k, (size_t)r->p.n);
    for (int k = 0; k < r->p.k; k++)
        for (int j = 0; j < r->p.n; j++) {
            int value = random_value();
            r->b_values[(size_t)k * (size_t)r->p.n + (size_t)j] = (int8_t)value;
            put(r->e, r->b,
                rows ? (size_t)k * (size_t)r->ldb + (size_t)j : (size_t)j * (size_t)r->ldb + (size_t)k,
                value);
        }
}

/* -- A launch ----------------------------------------------------------------------------------------- */

static bool is_ok(run *r, mc_status status) {
    CHECK(status == MC_OK, "%s: %s", r->what, mc_diag_text(r->diag));
    mc_diag_clear(r->diag);
    return status == MC_OK;
}

static uint64_t upload(run *r, const void *data, int rows, int row_bytes) {
    uint64_t at = 0;
    size_t bytes = (size_t)rows * (size_t)row_bytes;
    if (is_ok(r, mc_device_alloc(r->device, bytes, &at, r->diag)))
        (void)is_ok(r, mc_device_write(r->device, at, data, bytes, r->diag));
    return at;
}

static void compare(run *r) {
    int wrong = 0;
    const ptxsim *sim = mc_device_ptxsim(r->device);
    if (sim) {
        ptxsim_line sum = ptxsim_line_sum(sim);
        CHECK(sum.shared_wavefronts == sum.shared_ideal, "%s: bank conflicts", r->what);
    }
    for (int i = 0; i < r->p.m; i++)
        for (int j = 0; j < r->p.n; j++) {
            int sum = 0;
            for (int k = 0; k < r->p.k; k++)
                sum += r->a_values[(size_t)i * (size_t)r->p.k + (size_t)k] *
                       r->b_values[(size_t)k * (size_t)r->p.n + (size_t)j];
            float real = (float)sum;
            uint32_t want = (uint32_t)sum;
            if (r->e->sign) memcpy(&want, &real, sizeof want);
            wrong += want != r->c[(size_t)i * (size_t)r->ldc + (size_t)j];
        }
    CHECK(wrong == 0, "%s: %d elements are wrong", r->what, wrong);
}

static void launch(run *r) {
    const mma_plan *plan = &r->plan;
    int b_lines = plan->problem.b_rows ? r->p.k : r->p.n, blocks_m = up(r->p.m, plan->tile_m) / plan->tile_m,
        blocks = blocks_m * (up(r->p.n, plan->tile_n) / plan->tile_n);
    r->ldc = r->p.n + 3;
    r->c = calloc((size_t)r->p.m * (size_t)r->ldc, sizeof *r->c);
    uint64_t a = upload(r, r->a, r->p.m, r->lda * r->e->bytes),
             b = upload(r, r->b, b_lines, r->ldb * r->e->bytes), c = upload(r, r->c, r->p.m, r->ldc * 4),
             e = upload(r, r->meta, r->p.m, r->lde);
    mc_launch l = {.grid = {(unsigned)blocks, 1, 1},
                   .block = {(unsigned)mma_threads(plan), 1, 1},
                   .shared_dynamic = (unsigned)mma_shared_bytes(plan),
                   .values = {a, b, c, e, (unsigned)r->p.m, (unsigned)r->p.n, (unsigned)r->p.k,
                              (unsigned)r->lda, (unsigned)r->ldb, (unsigned)r->ldc, (unsigned)r->lde},
                   .count = 11};
    char *text = ptx_of(plan);
    mc_module *module = NULL;
    if (is_ok(r, mc_module_load(r->device, text, "gemm", &module, r->diag)) &&
        is_ok(r, mc_module_launch(module, &l, r->diag)) &&
        is_ok(r, mc_device_read(r->device, c, r->c, (size_t)r->p.m * (size_t)r->ldc * 4, r->diag)))
        compare(r);
    if (module) mc_module_unload(module);
    const uint64_t all[] = {a, b, c, e};
    for (int i = 0; i < 4; i++) mc_device_free(r->device, all[i]);
    free(text);
}

static void run_one(const char *device, const struct element *e, const shape *s, problem p) {
    run r = {.e = e, .plan = plan_of(e, s), .p = p, .diag = mc_diag_create()};
    snprintf(r.what, sizeof r.what, "%s, tile %d x %d, %d x %d x %d on %s", e->name, s->tile_m, s->tile_n,
             p.m, p.n, p.k, device);
    if (is_ok(&r, mc_device_open(device, &r.device, r.diag))) {
        make_a(&r);
        make_b(&r);
        launch(&r);
        mc_device_close(r.device);
    }
    mc_diag_destroy(r.diag);
    free(r.a), free(r.b), free(r.meta), free(r.a_values), free(r.b_values), free(r.c);
}

/* Every type with every shape, and each time another problem. */
static void run_all(const char *device, size_t first) {
    for (size_t i = 0; i < ELEMENTS * SHAPES; i++) {
        const struct element *e = &elements[i % ELEMENTS];
        const shape *s = &shapes[i / ELEMENTS];
        if (s->rows && e->bytes == 1) continue;
        run_one(device, e, s, problems[(i + first) % PROBLEMS]);
    }
}

static bool is_there(const char *name) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    bool good = mc_device_open(name, &device, diag) == MC_OK;
    if (good) mc_device_close(device);
    mc_diag_destroy(diag);
    return good;
}

int main(int argc, char **argv) {
    static const char *const orders[] = {"sim", "sim:reversed", "sim:seed=5", "sim:seed=8:landing=last"};
    if (argc == 3 && strcmp(argv[1], "print") == 0) {
        int number = atoi(argv[2]);
        const mma_plan plan = plan_of(&elements[number % ELEMENTS], &shapes[number / ELEMENTS % SHAPES]);
        char *text = ptx_of(&plan);
        fputs(text, stdout);
        free(text);
        return 0;
    }
    if (argc == 2 && !is_there(argv[1])) {
        printf("SKIPPED: there is no device %s\n", argv[1]);
        return SKIPPED;
    }
    if (argc == 2) run_all(argv[1], 0);
    for (size_t i = 0; argc == 1 && i < sizeof orders / sizeof *orders; i++) run_all(orders[i], i);
    return check_end();
}
