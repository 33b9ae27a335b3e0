/* Keys of runs: what a run's result depends on changes the key, everything else leaves it alone; and the device simulates what
 * it is asked to, and reports what that left. The ledger's two functions for the device are this test's own. */
#include "buffers.h"
#include "check.h"
#include "ledger.h"
#include "proof.h"
#include <stdlib.h>

/* c[i] = a[i] + more for N threads. */
#define HEAD                                                                                                 \
    ".version 8.0\n.target sm_80\n.address_size 64\n"                                                        \
    ".visible .entry add(.param .u64 a, .param .u64 c, .param .u32 more)\n{\n"
#define BODY_AND(MORE)                                                                                       \
    " .reg .b32 %r<3>; .reg .b64 %d<3>;\n"                                                                   \
    " ld.param.u64 %d0, [a];\n ld.param.u64 %d1, [c];\n ld.param.u32 %r0, [more];\n"                         \
    " mov.u32 %r1, %tid.x;\n mul.wide.u32 %d2, %r1, 4;\n add.u64 %d0, %d0, %d2;\n add.u64 %d1, %d1, %d2;\n"  \
    " ld.global.u32 %r2, [%d0];\n add.u32 %r2, %r2, %r0;\n st.global.u32 [%d1], %r2;\n" MORE " ret;\n}\n"
#define BODY BODY_AND("")
enum { N = 4, BYTES = N * 4 };

static bool wanted;
static uint64_t last_run, last_kernel;
static int last_count;
static proof_how last_how;

bool proof_wanted(uint64_t kernel, uint64_t run) { return (void)kernel, (void)run, wanted; }
void proof_add(uint64_t kernel, uint64_t run, const char *ptx, int count, proof_how how) {
    (void)ptx;
    last_kernel = kernel, last_run = run, last_count = count, last_how = how;
}

/* -- One run ---------------------------------------------------------------------------------------------- */

/* All that a run is made of. */
typedef struct run {
    const char *ptx;
    uint32_t a[N], want[N], more;
    const uint32_t *most; /* NULL, or results may be from want to these */
    size_t a_bytes;       /* written, of BYTES */
    size_t a_room, c_behind;
    unsigned c_offset;
    int poison;
    unsigned threads, grid, shared;
    int first, count; /* schedules */
    bool other_first; /* a buffer that is made and freed before */
} run;

static const char *const schedules[] = {"sim", "sim:reversed", "sim:seed=1"};
static const run usual = {.ptx = HEAD BODY,
                          .a = {1, 2, 3, 4},
                          .want = {6, 7, 8, 9},
                          .more = 5,
                          .a_bytes = BYTES,
                          .a_room = BYTES,
                          .c_behind = 16,
                          .poison = 0x80,
                          .threads = N,
                          .grid = 1,
                          .first = 0,
                          .count = 2};

static mc_status put(mc_device *device, const run *r, uint64_t *a, uint64_t *c, mc_diag *diag) {
    uint64_t other = 0;
    mc_status status = r->other_first ? mc_device_alloc(device, 1000, &other, diag) : MC_OK;
    mc_device_free(device, other);
    if (status == MC_OK) status = mc_device_alloc(device, r->a_room, a, diag);
    if (status == MC_OK) status = mc_device_write(device, *a, r->a, r->a_bytes, diag);
    size_t c_bytes = r->c_offset + BYTES + r->c_behind;
    if (status == MC_OK) status = mc_device_alloc(device, c_bytes, c, diag);
    return status == MC_OK ? mc_device_fill(device, *c, r->poison, c_bytes, diag) : status;
}

/* Leaves what C holds then in GOT. */
static mc_status run_on(mc_device *device, const run *r, uint32_t got[N], mc_diag *diag) {
    uint64_t a = 0, c = 0;
    mc_module *module = NULL;
    mc_dense want = {.type = MC_S32, .rows = 1, .cols = N, .ld = N, .data = (void *)(uintptr_t)r->want};
    mc_status status = put(device, r, &a, &c, diag);
    proof_choose(device, r->first, r->count);
    mc_dense most = want;
    most.data = (void *)(uintptr_t)r->most;
    if (r->most) proof_expect_within(device, 1, MC_S32, N, &want, &most);
    else proof_expect_param(device, 1, MC_S32, N, &want);
    mc_launch launch = {.grid = {r->grid, 1, 1},
                        .block = {r->threads, 1, 1},
                        .shared_dynamic = r->shared,
                        .values = {a, c + r->c_offset, r->more},
                        .count = 3};
    if (status == MC_OK) status = mc_module_load(device, r->ptx, "add", &module, diag);
    if (status == MC_OK) status = mc_module_launch(module, &launch, diag);
    if (status == MC_OK) status = mc_device_read(device, c + r->c_offset, got, BYTES, diag);
    mc_module_unload(module);
    mc_device_free(device, a);
    mc_device_free(device, c);
    return proof_settle(device, status, diag);
}

/* R's key, on a new device that simulates nothing. */
static uint64_t key_of(const run *r) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    uint32_t got[N];
    wanted = false, last_run = 0;
    mc_status status = proof_open(schedules, 3, &device, diag);
    if (status == MC_OK) status = run_on(device, r, got, diag);
    CHECK(status == MC_OK, "%s", mc_diag_text(diag));
    CHECK(last_how == PROOF_ASSUMED && last_count == r->count && memcmp(got, r->want, BYTES) == 0);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return last_run;
}

/* -- Keys ------------------------------------------------------------------------------------------------- */

static void test_same(void) {
    uint64_t key = key_of(&usual), kernel = last_kernel;
    run r = usual;
    CHECK(key_of(&r) == key, "the very same run");
    r.ptx = "// of another spec\n" HEAD "/* a note */ " BODY "// the end";
    CHECK(key_of(&r) == key && last_kernel == kernel, "comments");
    r = usual, r.other_first = true;
    CHECK(key_of(&r) == key, "other addresses");
}

static void test_other(void) {
    uint64_t keys[24];
    size_t count = 0;
    run r = usual;
    keys[count++] = key_of(&r);
    r = usual, r.ptx = HEAD " .reg .b32 %more;" BODY, keys[count++] = key_of(&r);
    r = usual, r.a[3] = 5, keys[count++] = key_of(&r); /* as another packer would have it */
    r = usual, r.want[0] = 1, keys[count++] = key_of(&r);
    r = usual, r.more = 4, keys[count++] = key_of(&r);
    r = usual, r.a_bytes = BYTES - 4, keys[count++] = key_of(&r); /* the last element is not written */
    r = usual, r.a_room = BYTES + 4, keys[count++] = key_of(&r);
    r = usual, r.c_behind = 20, keys[count++] = key_of(&r);
    r = usual, r.c_offset = 4, r.c_behind = 12, keys[count++] = key_of(&r);
    r = usual, r.poison = 0x81, keys[count++] = key_of(&r);
    r = usual, r.threads = 3, keys[count++] = key_of(&r);
    r = usual, r.grid = 2, keys[count++] = key_of(&r);
    r = usual, r.shared = 16, keys[count++] = key_of(&r);
    r = usual, r.count = 1, keys[count++] = key_of(&r);
    r = usual, r.count = 3, keys[count++] = key_of(&r);
    r = usual, r.first = 1, keys[count++] = key_of(&r);
    static const uint32_t most[N] = {6, 7, 9, 9}, more[N] = {7, 7, 9, 9};
    r = usual, r.most = most, keys[count++] = key_of(&r);
    r = usual, r.most = more, keys[count++] = key_of(&r);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) CHECK(keys[i] != keys[j], "runs %zu and %zu have one key", j, i);
}

/* -- Simulated runs --------------------------------------------------------------------------------------- */

/* What the device makes of R, simulated: how, and with which status. */
static mc_status simulate(const run *r, uint32_t got[N], char message[256]) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    wanted = true;
    mc_status status = proof_open(schedules, 3, &device, diag);
    if (status == MC_OK) status = run_on(device, r, got, diag);
    snprintf(message, 256, "%s", mc_diag_text(diag));
    mc_device_close(device);
    mc_diag_destroy(diag);
    return status;
}

static void test_simulated(void) {
    uint32_t got[N] = {0};
    char message[256];
    run r = usual;
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_SIMULATED, "%s", message);
    CHECK(memcmp(got, r.want, BYTES) == 0);
    r.want[2] = 0; /* not what the kernel computes: the reader gets what it does */
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_FAILED && got[2] == 8, "%s", message);
    r = usual, r.a_bytes = BYTES - 4;
    CHECK(simulate(&r, got, message) == MC_DEVICE && last_how == PROOF_FAILED);
    CHECK_TEXT(message, "sim: simulator: ");
    CHECK_TEXT(message, "never written");
    r = usual, r.grid = 2; /* two blocks write the same words */
    CHECK(simulate(&r, got, message) == MC_DEVICE && last_how == PROOF_FAILED);
    CHECK_TEXT(message, "race");
}

/* Results within bounds: C is what the kernel left, where that is inside. */
static void test_within(void) {
    static const uint32_t most[N] = {6, 9, 8, 9};
    uint32_t got[N] = {0};
    char message[256];
    run r = usual;
    r.most = most, r.want[1] = 5;
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_SIMULATED && got[1] == 7, "%s", message);
    r.want[1] = 8; /* the kernel leaves less */
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_FAILED && got[1] == 7, "%s", message);
    r.want[1] = 5, r.want[2] = 9; /* no number is in there */
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_FAILED && got[2] == 8, "%s", message);
}

/* A kernel that keeps to the bounds in C, and writes behind it. */
static void test_behind(void) {
    static const uint32_t most[N] = {9, 9, 9, 9};
    uint32_t got[N] = {0};
    char message[256];
    run r = usual;
    r.most = most;
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_SIMULATED, "%s", message);
    r.ptx = HEAD BODY_AND(" st.global.u32 [%d1+16], %r2;\n");
    CHECK(simulate(&r, got, message) == MC_OK && last_how == PROOF_FAILED, "%s", message);
}

/* -- Texts and samples ------------------------------------------------------------------------------------ */

static void test_strip(void) {
    static const struct {
        const char *ptx, *want;
    } texts[] = {{"", ""},
                 {"// all\n", ""},
                 {" a  b\n\tc ", "a b c"},
                 {"a//b\nc", "a c"},
                 {"a/*b*/c /**/ d", "a c d"},
                 {"a/b / c", "a/b / c"},
                 {"a /* no end", "a"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char *got = proof_key_strip(texts[i].ptx);
        CHECK(got && strcmp(got, texts[i].want) == 0, "\"%s\" becomes \"%s\"", texts[i].ptx, got ? got : "");
        free(got);
    }
}

static void test_sample(void) {
    proof_sample sample, other;
    CHECK(proof_sample_of(NULL, &sample) && sample.one_in == 0 && !proof_is_drawn(&sample, 1));
    CHECK(!proof_sample_of("seed", &sample) && !proof_sample_of("seed/", &sample) &&
          !proof_sample_of("seed/0", &sample));
    CHECK(proof_sample_of("seed/10", &sample) && proof_sample_of("seem/10", &other));
    int drawn = 0, both = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        drawn += proof_is_drawn(&sample, i);
        both += proof_is_drawn(&sample, i) && proof_is_drawn(&other, i);
    }
    CHECK(drawn > 9600 && drawn < 10400, "%d of 100000, should be a tenth", drawn);
    CHECK(both > 800 && both < 1200, "%d of both seeds, should be a hundredth", both);
}

int main(void) {
    test_same();
    test_other();
    test_simulated();
    test_within();
    test_behind();
    test_strip();
    test_sample();
    return check_end();
}
