/* Global memory and the rest of the host's side of the interface. */
#include "harness.h"

static void run_allocations(ptxsim *sim) {
    uint64_t a, b, empty, other_empty;
    uint8_t bytes[300], got[300];
    for (int i = 0; i < 300; i++) bytes[i] = (uint8_t)i;
    CHECK(ptxsim_alloc(sim, 300, &a) == PTXSIM_OK && ptxsim_alloc(sim, 1, &b) == PTXSIM_OK);
    CHECK(ptxsim_alloc(sim, 0, &empty) == PTXSIM_OK && ptxsim_alloc(sim, 0, &other_empty) == PTXSIM_OK);
    CHECK(a % 256 == 0 && b % 256 == 0 && empty % 256 == 0 && b > a + 300 && empty != other_empty);
    CHECK(ptxsim_write(sim, a, bytes, 300) == PTXSIM_OK && ptxsim_read(sim, a, got, 300) == PTXSIM_OK);
    CHECK(memcmp(bytes, got, 300) == 0);
    CHECK(ptxsim_write(sim, a + 1, bytes, 300) == PTXSIM_BOUNDS &&
          ptxsim_read(sim, a + 300, got, 1) == PTXSIM_BOUNDS);
    CHECK_TEXT(ptxsim_fault_text(sim), "1 bytes at 0x");
    CHECK(ptxsim_read(sim, a + 300, got, 0) == PTXSIM_OK);
    CHECK(ptxsim_read(sim, empty, got, 1) == PTXSIM_BOUNDS && ptxsim_write(sim, empty, got, 0) == PTXSIM_OK);
    CHECK(ptxsim_read(sim, 16, got, 1) == PTXSIM_BOUNDS &&
          ptxsim_fill(sim, UINT64_MAX, 0, 1) == PTXSIM_BOUNDS);
    CHECK(ptxsim_read(sim, a, got, SIZE_MAX) == PTXSIM_BOUNDS);
    CHECK(ptxsim_free(sim, a + 1) == PTXSIM_INVALID && ptxsim_free(sim, a) == PTXSIM_OK);
    CHECK(ptxsim_free(sim, a) == PTXSIM_INVALID && ptxsim_read(sim, a, got, 1) == PTXSIM_BOUNDS);
    CHECK(ptxsim_alloc(sim, SIZE_MAX, &a) == PTXSIM_NOMEM && a == 0);
    CHECK(ptxsim_alloc(sim, SIZE_MAX / 2, &a) == PTXSIM_NOMEM && ptxsim_alloc(sim, 1, &a) == PTXSIM_OK);
}

/* Every start and length in a few words: the read must fail at the first byte that was not filled. */
static void run_shadow(ptxsim *sim) {
    uint8_t got[64];
    for (size_t start = 0; start < 20; start++)
        for (size_t bytes = 0; bytes < 40; bytes++) {
            uint64_t a;
            char want[32];
            ptxsim_alloc(sim, 64, &a);
            CHECK(ptxsim_fill(sim, a + start, 7, bytes) == PTXSIM_OK);
            CHECK(ptxsim_read(sim, a + start, got, bytes) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
            CHECK(ptxsim_read(sim, a + start, got, bytes + 1) == PTXSIM_UNINIT);
            snprintf(want, sizeof want, "byte %zu of", start + bytes);
            CHECK_TEXT(ptxsim_fault_text(sim), want);
            if (start)
                CHECK(ptxsim_read(sim, a, got, start + bytes) == PTXSIM_UNINIT &&
                      strstr(ptxsim_fault_text(sim), "byte 0 of"));
            ptxsim_free(sim, a);
        }
}

/* More than this machine would like to touch. */
static void run_large(ptxsim *sim) {
    static const char text[] =
        PTX_HEADER ".visible .entry k(.param .u64 a) { .reg .b64 %d<3>; .reg .b32 %r<3>;\n"
                   "ld.param.u64 %d0, [a]; mov.u32 %r0, %ctaid.x; mad.wide.u32 %d1, %r0, 0x40000000, %d0;\n"
                   "st.global.u32 [%d1+0x3ffffffc], %r0; ld.global.u32 %r1, [%d1+0x3ffffffc]; ret; }\n";
    uint64_t a;
    uint32_t got;
    void *params[] = {&a};
    CHECK(ptxsim_alloc(sim, (size_t)16 << 30, &a) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(run_kernel(sim, text, (ptxsim_dim3){16, 1, 1}, (ptxsim_dim3){1, 1, 1}, 0, params) == PTXSIM_OK,
          "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_read(sim, a + ((uint64_t)16 << 30) - 4, &got, 4) == PTXSIM_OK && got == 15);
    CHECK(ptxsim_counts_of(sim)->global_store_bytes == 64 && ptxsim_counts_of(sim)->global_load_bytes == 64);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){17, 1, 1}, (ptxsim_dim3){1, 1, 1}, 0, params) == PTXSIM_BOUNDS);
    CHECK(ptxsim_fault_of(sim)->block.x == 16 && ptxsim_fault_of(sim)->line == 6);
    CHECK(ptxsim_free(sim, a) == PTXSIM_OK);
}

static void run_counts(ptxsim *sim) {
    static const char text[] =
        PTX_HEADER ".visible .entry k(.param .u64 a) { .reg .b64 %d<3>; .reg .b32 %r<3>; .reg .pred %p<2>;\n"
                   "ld.param.u64 %d0, [a]; mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 10; bar.sync 0;\n"
                   "@%p0 ld.global.u32 %r1, [%d0]; @!%p0 bra E; mov.u32 %r1, 0;\nE: ret; }\n";
    uint64_t a;
    void *params[] = {&a};
    ptxsim_alloc(sim, 4, &a);
    ptxsim_fill(sim, a, 0, 4);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){3, 1, 1}, (ptxsim_dim3){40, 1, 1}, 0, params) == PTXSIM_OK,
          "%s", ptxsim_fault_text(sim));
    const ptxsim_counts *c = ptxsim_counts_of(sim);
    CHECK(c->barriers == 6 && c->global_load_bytes == 3 * 10 * 4 && c->global_store_bytes == 0 &&
          c->mma == 0);
    /* warp 0: 4 + ld, bra, mov, ret; warp 1 (8 lanes, none below 10): 4 + ld, bra, (no mov), ret */
    CHECK(c->warp_instructions == 3 * (8 + 7), "%llu", (unsigned long long)c->warp_instructions);
    CHECK(c->thread_instructions == 3 * (4 * 40 + 10 + 30 + 10 + 40), "%llu",
          (unsigned long long)c->thread_instructions);
}

/* Dynamic shared memory begins behind the static, at its own alignment. */
static void run_dynamic(ptxsim *sim) {
    static const char text[] = PTX_HEADER ".extern .shared .align 16 .b8 dyn[];\n.visible .entry k(.param "
                                          ".u64 a) { .reg .b64 %d; .reg .b32 %r<8>;\n"
                                          ".shared .b8 s[20]; ld.param.u64 %d, [a]; mov.u32 %r0, s; mov.u32 "
                                          "%r1, dyn; mov.u32 %r2, %dynamic_smem_size;\n"
                                          "mov.u32 %r3, dyn+4; st.global.v4.u32 [%d], {%r0, %r1, %r2, %r3}; "
                                          "st.shared.u32 [dyn+60], %r0; ret; }\n";
    uint64_t a;
    uint32_t got[4];
    void *params[] = {&a};
    ptxsim_alloc(sim, 16, &a);
    ptxsim_status status = run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){1, 1, 1}, 64, params);
    CHECK(status == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_read(sim, a, got, sizeof got) == PTXSIM_OK);
    CHECK(got[0] == 0 && got[1] == 32 && got[2] == 64 && got[3] == 36);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){1, 1, 1}, 60, params) == PTXSIM_BOUNDS);
}

static void run_arguments(void) {
    ptxsim *sim;
    ptxsim_module *module;
    const ptxsim_function *function;
    ptxsim_options options = {.size = 1};
    ptxsim_dim3 one = {1, 1, 1};
    void *params[] = {NULL};
    CHECK(ptxsim_create(&options, &sim) == PTXSIM_INVALID && !sim);
    CHECK(ptxsim_create(NULL, NULL) == PTXSIM_INVALID && ptxsim_create(NULL, &sim) == PTXSIM_OK);
    CHECK(ptxsim_module_load(sim, NULL, &module) == PTXSIM_INVALID && !module);
    CHECK(ptxsim_launch(sim, NULL, one, one, 0, NULL) == PTXSIM_INVALID);
    CHECK(ptxsim_module_load(sim, PTX_HEADER ".entry k(.param .u32 n) { ret; }", &module) == PTXSIM_OK);
    CHECK(ptxsim_module_function(sim, module, "k", &function) == PTXSIM_OK);
    CHECK(ptxsim_launch(sim, function, one, one, 0, NULL) == PTXSIM_INVALID);
    CHECK(ptxsim_launch(sim, function, one, one, 0, params) == PTXSIM_INVALID);
    CHECK_TEXT(ptxsim_fault_text(sim), "no value of parameter `n`");
    CHECK(strcmp(ptxsim_status_text(PTXSIM_BARRIER), "a divergent or incomplete barrier") == 0);
    CHECK(strcmp(ptxsim_status_text((ptxsim_status)99), "unknown status") == 0);
    ptxsim_destroy(sim);
    ptxsim_destroy(NULL);
}

int main(void) {
    ptxsim *sim;
    CHECK(ptxsim_create(NULL, &sim) == PTXSIM_OK);
    run_allocations(sim);
    run_shadow(sim);
    run_large(sim);
    run_counts(sim);
    run_dynamic(sim);
    ptxsim_destroy(sim);
    run_arguments();
    return check_end();
}
