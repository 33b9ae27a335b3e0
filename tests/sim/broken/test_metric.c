/* Accesses that are right and slow: their wavefronts and sectors, counted by hand; and counts that do not depend
 * on how many blocks run at once. */
#include "../harness.h"

static const struct {
    const char *name;
    const char *
        code; /* the second line of it, line 6, is the access that counts; %t: thread, %rd0: address of 8192 bytes */
    unsigned wavefronts, ideal, sectors, bytes;
} accesses[] = {
    {"4 bytes in a row", "shl.b32 %r0, %t, 2;\nst.shared.u32 [%r0], %t;", 1, 1, 0, 0},
    {"4 bytes, stride 2", "shl.b32 %r0, %t, 3;\nst.shared.u32 [%r0], %t;", 2, 1, 0, 0},
    {"4 bytes, a column of 32", "shl.b32 %r0, %t, 7;\nst.shared.u32 [%r0], %t;", 32, 1, 0, 0},
    {"4 bytes, a padded column", "mul.lo.u32 %r0, %t, 132;\nst.shared.u32 [%r0], %t;", 1, 1, 0, 0},
    {"bytes in a row", "mov.u32 %r0, %t;\nst.shared.u8 [%r0], %t;", 1, 1, 0, 0},
    {"8 bytes in a row", "shl.b32 %r0, %t, 3;\nst.shared.v2.u32 [%r0], {%t, %t};", 2, 2, 0, 0},
    {"8 bytes, stride 2", "shl.b32 %r0, %t, 4;\nst.shared.v2.u32 [%r0], {%t, %t};", 4, 2, 0, 0},
    {"16 bytes in a row", "shl.b32 %r0, %t, 4;\nst.shared.v4.u32 [%r0], {%t, %t, %t, %t};", 4, 4, 0, 0},
    {"16 bytes, rows of 128", "shl.b32 %r0, %t, 7;\nst.shared.v4.u32 [%r0], {%t, %t, %t, %t};", 32, 4, 0, 0},
    {"16 bytes, rows of 144", "mul.lo.u32 %r0, %t, 144;\nst.shared.v4.u32 [%r0], {%t, %t, %t, %t};", 4, 4, 0,
     0},
    {"broadcast",
     "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [sm], %t; bar.warp.sync -1;\nld.shared.u32 %r0, [sm];", 1, 1,
     0, 0},
    {"atomics on one word",
     "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [sm], %t; bar.warp.sync -1;\nred.shared.add.u32 [sm], %t;",
     32, 1, 0, 0},
    {"lanes counted on one word",
     "setp.eq.u32 %p0, %t, 0; @%p0 st.shared.u32 [sm], %t; bar.warp.sync -1;\nred.shared.add.u32 [sm], 1;", 1,
     1, 0, 0},
    {"four matrices, rows of 128",
     "shl.b32 %r0, %t, 7;\nstmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0], {%t, %t, %t, %t};", 32, 4, 0, 0},
    {"four matrices, rows of 144",
     "mul.lo.u32 %r0, %t, 144;\nstmatrix.sync.aligned.m8n8.x4.shared.b16 [%r0], {%t, %t, %t, %t};", 4, 4, 0,
     0},
    {"global, 4 bytes in a row", "mad.wide.u32 %rd1, %t, 4, %rd0;\nld.global.u32 %r0, [%rd1];", 0, 0, 4, 128},
    {"global, off by 16 bytes", "mad.wide.u32 %rd1, %t, 4, %rd0;\nld.global.u32 %r0, [%rd1+16];", 0, 0, 5,
     128},
    {"global, stride 8", "mad.wide.u32 %rd1, %t, 32, %rd0;\nld.global.u32 %r0, [%rd1];", 0, 0, 32, 128},
    {"global, 16 bytes in a row",
     "mad.wide.u32 %rd1, %t, 16, %rd0;\nld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd1];", 0, 0, 16, 512},
    {"global, all lanes one word", "mov.u64 %rd1, %rd0;\nld.global.u32 %r0, [%rd1];", 0, 0, 1, 4},
};

static void run_access(size_t i, unsigned threads) {
    enum { BLOCKS = 5, BYTES = 8192 };
    char text[2048];
    uint64_t a;
    void *params[] = {&a};
    ptxsim_options options = {.size = sizeof options, .threads = threads};
    ptxsim *sim;
    snprintf(text, sizeof text,
             PTX_HEADER
             ".visible .entry k(.param .u64 a) { .reg .b32 %%r<4>, %%t; .reg .b64 %%rd<4>; .reg .pred "
             "%%p<2>; .shared .align 16 .b8 sm[8192];\nld.param.u64 %%rd0, [a]; mov.u32 %%t, "
             "%%tid.x; %s\nret; }\n",
             accesses[i].code);
    CHECK(ptxsim_create(&options, &sim) == PTXSIM_OK);
    CHECK(ptxsim_alloc(sim, BYTES, &a) == PTXSIM_OK && ptxsim_fill(sim, a, 0, BYTES) == PTXSIM_OK);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){BLOCKS, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, params) == PTXSIM_OK,
          "%s: %s", accesses[i].name, ptxsim_fault_text(sim));
    for (size_t l = 0; l < ptxsim_line_count(sim); l++) {
        const ptxsim_line *line = ptxsim_line_at(sim, l);
        if (line->line != 6) continue;
        CHECK(line->shared_wavefronts == BLOCKS * accesses[i].wavefronts, "%s: %d wavefronts",
              accesses[i].name, (int)line->shared_wavefronts);
        CHECK(line->shared_ideal == BLOCKS * accesses[i].ideal, "%s: ideal %d", accesses[i].name,
              (int)line->shared_ideal);
        CHECK(line->global_sectors == BLOCKS * accesses[i].sectors &&
                  line->global_bytes == BLOCKS * accesses[i].bytes,
              "%s: %d sectors, %d bytes", accesses[i].name, (int)line->global_sectors,
              (int)line->global_bytes);
        CHECK(line->warp_instructions == BLOCKS && line->thread_instructions == BLOCKS * 32);
    }
    CHECK(ptxsim_line_count(sim) == 3, "%d lines", (int)ptxsim_line_count(sim));
    ptxsim_destroy(sim);
}

/* Every register of A holds `a`, of B `b`, which columns 4 to 7 do not have. */
static const struct {
    const char *name, *code, *a, *b;
    unsigned products, nonzero;
} mmas[] = {
    {"s8",
     "m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r0, %r0, %r0}, {%a, %a, %a, %a}, {%b, %b}, {%z, %z, %z, %z};",
     "1", "0x00ff0001", 16 * 8 * 32, 16 * 4 * 8},
    {"s8, the first half of k of the first 8 rows",
     "m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r0, %r0, %r0}, {%a, %z, %a, %z}, {%b, %z}, {%z, %z, %z, %z};",
     "1", "1", 16 * 8 * 32, 8 * 4 * 4},
    {"s8, 8 rows", "m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r0}, {%a}, {%b}, {%z, %z};", "0x01010100",
     "0xffffffff", 8 * 8 * 16, 8 * 4 * 12},
    {"u4",
     "m16n8k64.row.col.s32.u4.u4.s32 {%r0, %r0, %r0, %r0}, {%a, %a, %a, %a}, {%b, %b}, {%z, %z, %z, %z};",
     "0x10", "0xf1", 16 * 8 * 64, 16 * 4 * 8},
    {"f16, denormal and -0",
     "m16n8k16.row.col.f16.f16.f16.f16 {%r0, %r0}, {%a, %a, %a, %a}, {%b, %b}, {%z, %z};", "0x80000001",
     "0x3c003c00", 16 * 8 * 16, 16 * 4 * 8},
};

static void run_mma(size_t i) {
    char text[2048];
    uint64_t a;
    void *params[] = {&a};
    ptxsim *sim;
    snprintf(text, sizeof text,
             PTX_HEADER
             ".visible .entry k(.param .u64 a) { .reg .b32 %%r<4>, %%a, %%b, %%t, %%z; .reg .pred %%p; "
             "mov.u32 %%t, %%laneid; setp.lt.u32 %%p, %%t, 16; mov.u32 %%z, 0; mov.u32 %%b, 0; mov.u32 %%a, "
             "%s; @%%p mov.u32 %%b, %s;\nmma.sync.aligned.%s ret; }\n",
             mmas[i].a, mmas[i].b, mmas[i].code);
    CHECK(ptxsim_create(NULL, &sim) == PTXSIM_OK && ptxsim_alloc(sim, 4, &a) == PTXSIM_OK);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){3, 1, 1}, (ptxsim_dim3){64, 1, 1}, 0, params) == PTXSIM_OK,
          "%s: %s", mmas[i].name, ptxsim_fault_text(sim));
    ptxsim_line sum = ptxsim_line_sum(sim);
    CHECK(sum.mma_products == 6 * mmas[i].products && sum.mma_nonzero == 6 * mmas[i].nonzero, "%s: %d of %d",
          mmas[i].name, (int)sum.mma_nonzero, (int)sum.mma_products);
    ptxsim_destroy(sim);
}

int main(void) {
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++)
        for (unsigned threads = 1; threads <= 4; threads++) run_access(i, threads);
    for (size_t i = 0; i < sizeof mmas / sizeof *mmas; i++) run_mma(i);
    return check_end();
}
