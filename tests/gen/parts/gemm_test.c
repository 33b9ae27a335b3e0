/* The kernels of gemm.c compute what they should, on the simulator in several orders of warps and of landing,
 * or on the devices that the arguments name. Values are small integers, so that every sum is exact. What lies
 * around C stays as it was. */
#include "check.h"
#include "gemm.h"
#include "matrix.h"
#include "mcrt_internal.h"
#include "kernels/mutate.h"
#include "parts/tile_store.h"
#include <stdlib.h>

typedef struct problem {
    int m, n, k, blocks; /* blocks: of the grid */
} problem;

/* An integer of at most 2048 in magnitude as f16. */
static uint16_t half_of(int64_t value) {
    int64_t magnitude = value < 0 ? -value : value;
    unsigned exponent = 25;
    if (!magnitude) return 0;
    while (magnitude < 1024) magnitude *= 2, exponent--;
    while (magnitude >= 2048) magnitude /= 2, exponent++;
    return (uint16_t)((value < 0 ? 0x8000u : 0u) | exponent << 10 | ((unsigned)magnitude & 1023));
}

/* -- A launch ----------------------------------------------------------------------------------------- */

typedef struct run {
    const gemm_config *c;
    problem p;
    mc_device *device;
    mc_diag *diag;
    char what[160];
    matrix a, b; /* a: all of its values, also where the kernel gets the nonzeros */
    atoms packed;
    unsigned char *c_data;
    uint64_t c_at;
    int ldc;
    const char *text; /* a mutant's; NULL: the kernel itself */
    bool good;
} run;

/* Of a mutant nothing has to be right. */
static bool is_ok(run *r, mc_status status) {
    r->good = r->good && status == MC_OK;
    if (!r->text) CHECK(status == MC_OK, "%s: %s", r->what, mc_diag_text(r->diag));
    mc_diag_clear(r->diag);
    return status == MC_OK;
}

static uint64_t upload(run *r, const void *data, size_t bytes) {
    uint64_t at = 0;
    is_ok(r, mc_device_alloc(r->device, bytes, &at, r->diag));
    is_ok(r, mc_device_write(r->device, at, data, bytes, r->diag));
    return at;
}

static size_t bytes_of(const matrix *m) { return (size_t)m->rows * (size_t)m->ld * (size_t)m->bytes; }
static size_t c_bytes(const run *r) {
    return (size_t)(r->p.m + 1) * (size_t)r->ldc * (size_t)gemm_out_bytes(r->c);
}

static mc_tensor_map map_of(run *r, uint64_t at, int bytes, int rows, int columns, int ld, tensor_box box,
                            int span) {
    static const mc_type types[] = {[1] = MC_S8, [2] = MC_S16, [4] = MC_S32};
    static const mc_swizzle swizzles[] = {
        [1] = MC_SWIZZLE_NONE, [2] = MC_SWIZZLE_32B, [4] = MC_SWIZZLE_64B, [8] = MC_SWIZZLE_128B};
    mc_tensor_map map = {{0}};
    mc_tensor t = {.type = types[bytes], .rank = 2, .address = at, .swizzle = swizzles[span / 16]};
    t.dims[0] = (uint64_t)columns, t.dims[1] = (uint64_t)rows;
    t.strides[0] = (uint64_t)ld * (uint64_t)bytes;
    t.box[0] = (unsigned)box.inner, t.box[1] = (unsigned)box.outer;
    is_ok(r, mc_device_tensor_map(r->device, &t, &map, r->diag));
    return map;
}

static mc_tensor_map operand_map(run *r, const matrix *m, shared_tile tile, int sharers) {
    return map_of(r, m->at, m->bytes, m->rows, m->columns, m->ld, tensor_copy_box(&tile, sharers), tile.span);
}

static bool launch(run *r) {
    const gemm_config *c = r->c;
    int bytes = gemm_out_bytes(c), span = store_span(gemm_result_columns(c), bytes);
    mc_tensor_map a = operand_map(r, &r->a, gemm_lhs(c), 1);
    mc_tensor_map b = operand_map(r, &r->b, gemm_rhs(c), c->cluster);
    mc_tensor_map to = map_of(r, r->c_at, bytes, r->p.m, r->p.n, r->ldc,
                              (tensor_box){span / bytes, gemm_store_rows(c)}, span);
    mc_launch l = {.grid = {(unsigned)r->p.blocks, c->split ? (unsigned)c->split : 1, 1},
                   .block = {(unsigned)gemm_threads(c), 1, 1},
                   .shared_dynamic = (unsigned)gemm_shared(c),
                   .values = {r->c_at, r->packed.values_at, r->packed.meta_at, (unsigned)r->p.m,
                              (unsigned)r->p.n, (unsigned)r->p.k, (unsigned)r->ldc},
                   .maps = {[7] = &a, [8] = &b, [9] = &to},
                   .count = 10};
    char *text = r->text ? strdup(r->text) : gemm_ptx(c, "gemm");
    mc_module *module = NULL;
    CHECK(text, "%s: there is no kernel", r->what);
    bool good = text && is_ok(r, mc_module_load(r->device, text, "gemm", &module, r->diag));
    good = good && is_ok(r, mc_module_launch(module, &l, r->diag));
    if (module) mc_module_unload(module);
    free(text);
    return good;
}

/* -- What is right ------------------------------------------------------------------------------------ */

static int64_t value_of_a(const run *r, int row, int k) {
    return r->c->a_mn_major ? r->a.values[(size_t)k * (size_t)r->p.m + (size_t)row]
                            : r->a.values[(size_t)row * (size_t)r->p.k + (size_t)k];
}

static int64_t value_of_b(const run *r, int k, int column) {
    return r->c->b_mn_major ? r->b.values[(size_t)k * (size_t)r->p.n + (size_t)column]
                            : r->b.values[(size_t)column * (size_t)r->p.k + (size_t)k];
}

static uint32_t expected(const run *r, int row, int column) {
    int64_t sum = 0;
    for (int k = 0; k < r->p.k; k++) sum += value_of_a(r, row, k) * value_of_b(r, k, column);
    if (r->c->adds) sum += (int32_t)(POISON * 0x1010101u);
    float real = (float)sum;
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    return strcmp(r->c->out, "f16") == 0   ? half_of(sum)
           : strcmp(r->c->out, "s32") == 0 ? (uint32_t)sum
                                           : bits;
}

/* Compares C, a line that is too long, and the line behind it. */
static void compare(run *r) {
    int bytes = gemm_out_bytes(r->c), wrong = 0;
    is_ok(r, mc_device_read(r->device, r->c_at, r->c_data, c_bytes(r), r->diag));
    for (int row = 0; row <= r->p.m; row++)
        for (int column = 0; column < r->ldc; column++) {
            uint32_t got = 0, want = 0;
            bool inside = row < r->p.m && column < r->p.n;
            memcpy(&got, r->c_data + ((size_t)row * (size_t)r->ldc + (size_t)column) * (size_t)bytes,
                   (size_t)bytes);
            if (inside) want = expected(r, row, column);
            else memset(&want, POISON, (size_t)bytes);
            if (got != want && wrong++ < 3 && !r->text)
                CHECK(false, "%s: C[%d][%d] is 0x%x, want 0x%x", r->what, row, column, got, want);
        }
    r->good = r->good && wrong == 0;
    if (!r->text) CHECK(wrong == 0, "%s: %d elements", r->what, wrong);
}

/* -- Runs --------------------------------------------------------------------------------------------- */

/* Makes A sparse, and packs it. */
static void pack(run *r, const struct element *e) {
    unsigned char *meta = calloc((size_t)r->p.m, (size_t)r->p.k / 4 + 1);
    matrix kept = (e->bytes == 4 ? compress_pairs : compress)(e, &r->a, meta);
    r->packed = make_atoms(&kept, meta);
    r->packed.values_at = upload(r, r->packed.values, r->packed.value_bytes);
    r->packed.meta_at = upload(r, r->packed.meta, r->packed.meta_bytes);
    free_matrix(&kept);
    free(meta);
}

static void make_operands(run *r) {
    const struct element *lhs = element_of(r->c->lhs), *rhs = element_of(r->c->rhs);
    r->a = r->c->a_mn_major ? make_matrix(lhs, r->p.k, r->p.m) : make_matrix(lhs, r->p.m, r->p.k);
    r->b = r->c->b_mn_major ? make_matrix(rhs, r->p.k, r->p.n) : make_matrix(rhs, r->p.n, r->p.k);
    if (r->c->sparse) pack(r, lhs);
    r->ldc = round_up(r->p.n + 3, 16 / gemm_out_bytes(r->c));
    r->c_data = malloc(c_bytes(r));
    memset(r->c_data, POISON, c_bytes(r));
    r->a.at = upload(r, r->a.data, bytes_of(&r->a));
    r->b.at = upload(r, r->b.data, bytes_of(&r->b));
    r->c_at = upload(r, r->c_data, c_bytes(r));
}

static void free_operands(run *r) {
    uint64_t places[] = {r->a.at, r->b.at, r->packed.values_at, r->packed.meta_at, r->c_at};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i]) mc_device_free(r->device, places[i]);
    free_matrix(&r->a);
    free_matrix(&r->b);
    free(r->packed.values);
    free(r->packed.meta);
    free(r->c_data);
}

/* Whether the kernel, or TEXT in its place, computes what it should. */
static bool run_text(const char *device, const gemm_config *c, problem p, const char *text) {
    if (c->cluster) p.blocks = round_up(p.blocks, c->cluster);
    run r = {.c = c, .p = p, .diag = mc_diag_create(), .text = text, .good = true};
    snprintf(r.what, sizeof r.what, "%s on %s, %d x %d x %d, %d blocks", c->name, device, p.m, p.n, p.k,
             p.blocks);
    if (is_ok(&r, mc_device_open(device, &r.device, r.diag))) {
        make_operands(&r);
        if (launch(&r)) compare(&r);
        free_operands(&r);
        mc_device_close(r.device);
    }
    mc_diag_destroy(r.diag);
    return r.good;
}

static void run_one(const char *device, const gemm_config *c, problem p) { run_text(device, c, p, NULL); }

/* n is a multiple of 16 bytes of C (tile_store.h). Tiles at C's edges, stages that are more than k has,
   several tiles a thread block. */
static const problem problems[] = {{200, 328, 200, 2}, {64, 64, 8, 2}, {129, 264, 328, 4}};
static const problem sparse_problems[] = {{200, 328, 256, 2}, {64, 64, 256, 2}, {129, 264, 768, 4}};

/* The sweep is dealt to as many orders. */
enum { PROBLEMS = sizeof problems / sizeof *problems, SWEEP_SHARE = 3 };

static void run_config(const char *device, const gemm_config *c) {
    for (size_t i = 0; i < PROBLEMS; i++) run_one(device, c, c->sparse ? sparse_problems[i] : problems[i]);
}

/* Each configuration of the sweep once, with one of the problems. */
static void run_sweep(const char *device, size_t first) {
    gemm_config c;
    for (size_t i = first; gemm_of_sweep(i, &c); i += SWEEP_SHARE)
        run_one(device, &c, (c.sparse ? sparse_problems : problems)[i / SWEEP_SHARE % PROBLEMS]);
}

/* Whether DEVICE is there, and of capability 9.0 if it is a GPU. */
static bool is_there(const char *name) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    bool good = mc_device_open(name, &device, diag) == MC_OK;
    int capability = good ? mc_device_get_info(device)->capability : 0;
    if (good) mc_device_close(device);
    mc_diag_destroy(diag);
    return good && (capability == 0 || capability == 90);
}

/* -- What is refused ---------------------------------------------------------------------------------- */

/* A in registers is that of 64 rows of a consumer; more than 128 none can have. */
static void test_refused(void) {
    gemm_config c = {.name = "refused",
                     .lhs = "f16",
                     .rhs = "f16",
                     .sums = "f32",
                     .out = "f16",
                     .tile_m = 256,
                     .tile_n = 128,
                     .stages = 3,
                     .consumers = 2};
    char *dense = gemm_ptx(&c, "gemm");
    c.sparse = true;
    char *sparse = gemm_ptx(&c, "gemm");
    c.a_registers = true;
    char *registers = gemm_ptx(&c, "gemm");
    c.sparse = c.a_registers = false, c.tile_m = 512;
    char *tall = gemm_ptx(&c, "gemm");
    CHECK(dense && sparse && !registers && !tall, "kernels with too many rows a consumer");
    free(dense);
    free(sparse);
    free(registers);
    free(tall);
}

/* -- Mutants ------------------------------------------------------------------------------------------ */

/* Two kernels whose mutants are tried, one of a cluster. A launch stops soon where a loop has no end. */
static const size_t mutated[] = {1, 2};
static const char *const mutant_devices[] = {"sim:limit=300000", "sim:reversed:landing=first:limit=300000"};
enum { MUTATED = sizeof mutated / sizeof *mutated, MUTANTS = 200, BARRIER_EVERY = 10, CAUGHT_PERCENT = 95 };

/* Some tiles in each direction, and as many as tell a size of tiles from the next one; rows of tiles in
   more than a group of the schedule. */
static const problem mutant_problems[] = {
    {129, 264, 328, 4}, {200, 328, 200, 2}, {520, 40, 72, 4}, {256, 776, 8, 2}, {1288, 40, 8, 4}};

/* Whether a mutant is right on every problem in both orders. */
static bool survives(const gemm_config *c, const char *text) {
    for (size_t i = 0; i < 2 * sizeof mutant_problems / sizeof *mutant_problems; i++)
        if (!run_text(mutant_devices[i % 2], c, mutant_problems[i / 2], text)) return false;
    return true;
}

/* Mutations that change no result: of a line with FROM, which then has TO. */
static const struct equivalent {
    const char *from, *to, *why;
} equivalents[] = {
    {"prefetch.tensormap", "prefetch.tensormap", "a hint"},
    {"%load_blocks", "", "the number of thread blocks is the same everywhere"},
    {"wait_group.read 1;", "wait_group.read 0;", "it waits for more than it must"},
    {"%copies_c, %lane, 0;", "%copies_c, %lane, ", "any lane may ask for its warp's copies"},
    {"%first_thread, %thread, 0;", "%first_thread, %thread, ", "any thread may initialise the barriers"},
    {"%load_idle, %thread, 256;", "%load_idle, %thread, 25", "any thread of the last warpgroup may copy"},
    {"%a_first_low, %a_first_address, 0x", "%a_first_low, %a_first_address, 0x",
     "of one panel nobody reads how far panels lie apart"},
    {"%b_first_low, %b_first_address, 0x", "%b_first_low, %b_first_address, 0x", "the same of B"},
};

static const char *why_equivalent(const mutation *m) {
    for (size_t i = 0; i < sizeof equivalents / sizeof *equivalents; i++)
        if (strstr(m->from, equivalents[i].from) && strstr(m->to, equivalents[i].to))
            return equivalents[i].why;
    return NULL;
}

/* What is left of a long line behind the sums of a wgmma. */
static const char *tail_of(const char *line) {
    const char *end = strchr(line, '}');
    return end ? end : line;
}

/* A seeded change of one operand, one number or one barrier: returns whether it is caught, 1 or 0, or -1 if
   it changes nothing. */
static int try_mutant(const gemm_config *c, int number, uint64_t *seed) {
    mutation_kind kind = number % BARRIER_EVERY == 0 ? MUTATE_BARRIER
                         : number % 2                ? MUTATE_OPERAND
                                                     : MUTATE_INDEX;
    mutation m;
    char *text = gemm_ptx(c, "gemm"), *mutant = text ? mutate(text, kind, seed, &m) : NULL;
    if (text && !mutant)
        mutant = mutate(text, MUTATE_OPERAND, seed, &m); /* a cluster's barriers are no such places */
    CHECK(mutant, "no mutation");
    if (!mutant) return -1;
    const char *why = why_equivalent(&m);
    bool caught = why || !survives(c, mutant);
    if (why || !caught)
        printf("%s, line %d: %s\n  was%s\n  is %s\n", c->name, m.line, why ? why : "NOT CAUGHT",
               tail_of(m.from), tail_of(m.to));
    free(text);
    free(mutant);
    return why ? -1 : caught;
}

static void run_mutants(int count, uint64_t seed) {
    int caught = 0, tried = 0;
    for (int i = 0; tried < count && i < 2 * count; i++) {
        gemm_config c;
        gemm_of_sweep(mutated[i % MUTATED], &c);
        int result = try_mutant(&c, i / MUTATED, &seed);
        tried += result >= 0;
        caught += result > 0;
    }
    printf("%d mutants: %d caught\n", tried, caught);
    CHECK(caught * 100 >= CAUGHT_PERCENT * tried, "fewer than %d %% caught", CAUGHT_PERCENT);
}

/* gemm_test [sweep] [DEVICE], or gemm_test mutants [COUNT [SEED]] */
int main(int argc, char **argv) {
    static const char *const orders[] = {"sim:landing=first", "sim:reversed:landing=last", "sim:seed=1"};
    if (argc > 1 && strcmp(argv[1], "mutants") == 0) {
        run_mutants(argc > 2 ? atoi(argv[2]) : MUTANTS, argc > 3 ? strtoull(argv[3], NULL, 0) : 2024);
        return check_end();
    }
    bool sweep = argc > 1 && strcmp(argv[1], "sweep") == 0;
    const char *only = argc > 1 + sweep ? argv[1 + sweep] : NULL;
    if (only && !is_there(only)) {
        printf("SKIPPED: no %s of compute capability 9.0\n", only);
        return 77;
    }
    if (!sweep) test_refused();
    for (size_t d = 0; d < SWEEP_SHARE; d++) {
        for (size_t i = 0; !sweep && i < gemm_golden_count && !(only && d); i++)
            run_config(only ? only : orders[d], &gemm_goldens[i]);
        if (sweep) run_sweep(only ? only : orders[d], d);
    }
    return check_end();
}
