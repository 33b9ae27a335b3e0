/* How fast the simulator is on one processor: multiply-adds a second of each kind of matrix instruction, and
 * thread instructions a second of plain code. Figures of one run compare with each other, and with those of
 * another build on the same machine (docs/simulator.md, "Speed").
 *
 *   sim_speed [NAME | all [DIVISOR]]      DIVISOR: of the turns of each loop */
#include "ptxsim.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Registers for all, with numbers in them. */
static const char head[] = ".version 8.7\n"
                           ".target sm_90a\n"
                           ".address_size 64\n"
                           ".visible .entry k(.param .u32 n, .param .u64 out)\n"
                           "{\n"
                           " .shared .align 1024 .b8 tile[40960];\n"
                           " .reg .b32 %a<8>, %b<8>, %c<8>, %i, %t, %s;\n"
                           " .reg .f32 %f<128>;\n"
                           " .reg .s32 %d<128>;\n"
                           " .reg .b64 %o, %x, %y;\n"
                           " .reg .pred %p, %q;\n"
                           " ld.param.u32 %i, [n];\n"
                           " ld.param.u64 %o, [out];\n"
                           " mov.u32 %t, %tid.x;\n"
                           " mad.lo.u32 %a0, %t, 0x01010101, 0x3c013c01;\n"
                           " add.u32 %a1, %a0, 0x00110203;\n"
                           " xor.b32 %a2, %a0, 0x04050607;\n"
                           " add.u32 %a3, %a1, 0x01020304;\n"
                           " xor.b32 %b0, %a3, 0x80018001;\n"
                           " add.u32 %b1, %a2, 0x00030005;\n"
                           " xor.b32 %b2, %a1, 0x80008000;\n"
                           " add.u32 %b3, %b0, 0x00010001;\n"
                           " mov.f32 %f0, 0f00000000;\n"
                           " mov.f32 %f1, %f0;\n"
                           " mov.f32 %f2, %f0;\n"
                           " mov.f32 %f3, %f0;\n"
                           " mov.u32 %c0, 0;\n"
                           " mov.u32 %c1, 0;\n"
                           " mov.u32 %c2, 0;\n"
                           " mov.u32 %c3, 0;\n";

/* Shared memory full of numbers, and two descriptors of tiles in it. */
static const char fill[] = " mov.u32 %s, tile;\n"
                           " mov.u32 %c4, %t;\n"
                           "FILL:\n"
                           " shl.b32 %c5, %c4, 2;\n"
                           " add.u32 %c5, %c5, %s;\n"
                           " mul.lo.u32 %c6, %c4, 0x9e3779b1;\n"
                           " and.b32 %c6, %c6, 0xbfbfbfbf;\n"
                           " st.shared.u32 [%c5], %c6;\n"
                           " add.u32 %c4, %c4, 128;\n"
                           " setp.lt.u32 %p, %c4, 10240;\n"
                           " @%p bra FILL;\n"
                           " fence.proxy.async;\n"
                           " bar.sync 0;\n"
                           " shr.u32 %s, %s, 4;\n"
                           " cvt.u64.u32 %x, %s;\n"
                           " add.u64 %y, %x, 512;\n"
                           " or.b64 %x, %x, 0x4000004000000000;\n"
                           " or.b64 %y, %y, 0x4000004000000000;\n"
                           " setp.ne.u32 %q, %t, %t;\n";

static const char tail[] = " sub.u32 %i, %i, 1;\n"
                           " setp.ne.u32 %p, %i, 0;\n"
                           " @%p bra LOOP;\n"
                           " mul.wide.u32 %x, %t, 4;\n"
                           " add.u64 %o, %o, %x;\n"
                           " add.f32 %f0, %f0, %f1;\n"
                           " mov.b32 %a0, %f0;\n"
                           " xor.b32 %a0, %a0, %c0;\n"
                           " st.global.b32 [%o], %a0;\n"
                           " ret;\n"
                           "}\n";

#define REGISTERS(type) "{%" type "0, %" type "1, %" type "2, %" type "3}"
#define MMA(op, type)   " " op " " REGISTERS(type) ", " REGISTERS("a") ", {%b0, %b1}, " REGISTERS(type) ";\n"

/* $f and $d stand for a wgmma's 128 accumulators. */
#define WGMMA(op)                                                                                            \
    " wgmma.fence.sync.aligned;\n"                                                                           \
    " wgmma.mma_async" op ";\n"                                                                              \
    " wgmma.commit_group.sync.aligned;\n"                                                                    \
    " setp.eq.u32 %q, %t, %t;\n"                                                                             \
    " wgmma.wait_group.sync.aligned 0;\n"

static const struct measure {
    const char *name, *body;
    double multiplies; /* of one turn of the loop and warp */
    unsigned turns, warps;
} measures[] = {
    {"mma f16", MMA("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "f"), 2048, 100000, 1},
    {"mma e4m3", MMA("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", "f"), 4096, 50000, 1},
    {"mma s8", MMA("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "c"), 4096, 100000, 1},
    {"mma.sp f16",
     " mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 " REGISTERS("f") ", " //
     REGISTERS("a") ", " REGISTERS("b") ", " REGISTERS("f") ", 0x44eec984, 0;\n",
     2048, 50000, 1},
    {"wgmma f16", WGMMA(".sync.aligned.m64n256k16.f32.f16.f16 $f, %x, %y, %q, 1, 1, 0, 0"), 65536, 500, 4},
    {"wgmma e4m3", WGMMA(".sync.aligned.m64n256k32.f32.e4m3.e4m3 $f, %x, %y, %q, 1, 1"), 131072, 300, 4},
    {"wgmma s8", WGMMA(".sync.aligned.m64n256k32.s32.s8.s8 $d, %x, %y, %q"), 131072, 500, 4},
    {"wgmma.sp f16",
     WGMMA(".sp.sync.aligned.m64n256k32.f32.f16.f16 $f, %x, %y, 0x44444444, 0, %q, 1, 1, 0, 0"), 65536, 500,
     4},
    {"plain code",
     " mad.lo.u32 %c0, %a0, %b0, %c0;\n"
     " xor.b32 %c1, %c1, %c0;\n"
     " add.f32 %f1, %f1, %f0;\n"
     " shl.b32 %c2, %c1, 3;\n"
     " add.u32 %c3, %c2, %c3;\n"
     " fma.rn.f32 %f0, %f1, %f1, %f0;\n"
     " prmt.b32 %c0, %c0, %c3, 0x5410;\n",
     0, 400000, 1},
};

/* Appends BODY, with its accumulators. */
static void expand(char *text, const char *body) {
    for (text += strlen(text); *body; body++) {
        if (*body != '$') {
            *text++ = *body;
            continue;
        }
        body++;
        for (int i = 0; i < 128; i++) text += sprintf(text, "%s%%%c%d", i ? ", " : "{", *body, i);
        *text++ = '}';
    }
    *text = 0;
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int run(const struct measure *m, unsigned divisor) {
    static char text[16384];
    ptxsim *sim = NULL;
    ptxsim_module *module;
    const ptxsim_function *function;
    ptxsim_options options = {.size = sizeof options, .threads = 1};
    unsigned n = m->turns / divisor + 1;
    uint64_t out;
    void *params[] = {&n, &out};
    snprintf(text, sizeof text, "%s%sLOOP:\n", head, m->warps > 1 ? fill : "");
    expand(text, m->body);
    strcat(text, tail);
    if (ptxsim_create(&options, &sim) || ptxsim_alloc(sim, 512, &out) ||
        ptxsim_module_load(sim, text, &module) || ptxsim_module_function(sim, module, "k", &function))
        return printf("%s: %s\n", m->name, sim ? ptxsim_fault_text(sim) : "no memory"), 1;
    double start = seconds();
    if (ptxsim_launch(sim, function, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){32 * m->warps, 1, 1}, 0, params))
        return printf("%s: %s\n", m->name, ptxsim_fault_text(sim)), 1;
    double time = seconds() - start;
    printf("%-12s", m->name);
    if (m->multiplies > 0)
        printf(" %7.3f G multiply-adds a second", m->multiplies * n * m->warps / time * 1e-9);
    printf(" %8.1f M thread instructions a second\n",
           (double)ptxsim_counts_of(sim)->thread_instructions / time * 1e-6);
    ptxsim_destroy(sim);
    return 0;
}

int main(int argc, char **argv) {
    bool all = argc < 2 || strcmp(argv[1], "all") == 0;
    int divisor = argc > 2 ? atoi(argv[2]) : 1, failed = 0, ran = 0;
    if (divisor < 1) return fprintf(stderr, "usage: sim_speed [NAME | all [DIVISOR]]\n"), 2;
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (all || strcmp(argv[1], measures[i].name) == 0)
            failed |= run(&measures[i], (unsigned)divisor), ran++;
    return ran ? failed : (fprintf(stderr, "no measure has the name %s\n", argv[1]), 2);
}
