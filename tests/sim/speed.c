/* How fast the simulator multiplies: multiply-adds a second of one processor, for each kind of matrix
 * instruction, and thread instructions a second of plain code. Figures of one run compare with each other and
 * with those of another build on the same machine (docs/simulator.md, "Speed").
 *
 *   speed [NAME] */
#include "ptxsim.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* $ stands for a wgmma's 128 accumulators. */
#define HEAD                                                                                                   \
    ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u32 n, .param .u64 out)\n{\n"      \
    " .shared .align 1024 .b8 tile[40960];\n"                                                                    \
    " .reg .b32 %a<8>, %b<8>, %c<8>, %i, %t, %s; .reg .f32 %f<128>; .reg .s32 %d<128>; .reg .b64 %o, %x, %y; .reg "  \
    ".pred %p, %q;\n ld.param.u32 %i, [n]; ld.param.u64 %o, [out]; mov.u32 %t, %tid.x;\n"                          \
    " mad.lo.u32 %a0, %t, 0x01010101, 0x3c013c01; add.u32 %a1, %a0, 0x00110203; xor.b32 %a2, %a0, 0x04050607;\n"    \
    " add.u32 %a3, %a1, 0x01020304; xor.b32 %b0, %a3, 0x80018001; add.u32 %b1, %a2, 0x00030005;\n"                  \
    " xor.b32 %b2, %a1, 0x80008000; add.u32 %b3, %b0, 0x00010001;\n"                                               \
    " mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"                            \
    " mov.u32 %c0, 0; mov.u32 %c1, 0; mov.u32 %c2, 0; mov.u32 %c3, 0;\n"
#define FILL                                                                                                   \
    " mov.u32 %s, tile; mov.u32 %c4, %t;\nFILL: shl.b32 %c5, %c4, 2; add.u32 %c5, %c5, %s; mul.lo.u32 %c6, %c4, "  \
    "0x9e3779b1; and.b32 %c6, %c6, 0xbfbfbfbf; st.shared.u32 [%c5], %c6; add.u32 %c4, %c4, 128; setp.lt.u32 %p, %c4, "\
    "10240; @%p bra FILL;\n fence.proxy.async; bar.sync 0; shr.u32 %s, %s, 4; cvt.u64.u32 %x, %s; add.u64 %y, %x, "  \
    "512; or.b64 %x, %x, 0x4000004000000000; or.b64 %y, %y, 0x4000004000000000; setp.ne.u32 %q, %t, %t;\n"
#define LOOP "LOOP:\n"
#define TAIL                                                                                                   \
    " sub.u32 %i, %i, 1; setp.ne.u32 %p, %i, 0; @%p bra LOOP;\n mul.wide.u32 %x, %t, 4; add.u64 %o, %o, %x;\n"      \
    " add.f32 %f0, %f0, %f1; mov.b32 %a0, %f0; xor.b32 %a0, %a0, %c0; st.global.b32 [%o], %a0; ret;\n}\n"
#define WGMMA(op)                                                                                              \
    " wgmma.fence.sync.aligned; wgmma.mma_async" op " wgmma.commit_group.sync.aligned; setp.eq.u32 %q, %t, %t;"   \
    " wgmma.wait_group.sync.aligned 0;\n"

static const struct measure {
    const char *name, *body;
    double multiplies; /* of one turn of the loop and warp */
    unsigned turns, warps;
} measures[] = {
    {"mma f16",
     " mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%f0, "
     "%f1, %f2, %f3};\n",
     2048, 100000, 1},
    {"mma e4m3",
     " mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, "
     "{%f0, %f1, %f2, %f3};\n",
     4096, 50000, 1},
    {"mma s8",
     " mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, "
     "%c1, %c2, %c3};\n",
     4096, 100000, 1},
    {"mma.sp f16",
     " mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, "
     "%a3}, {%b0, %b1, %b2, %b3}, {%f0, %f1, %f2, %f3}, 0x44eec984, 0;\n",
     2048, 50000, 1},
    {"wgmma f16", WGMMA(".sync.aligned.m64n256k16.f32.f16.f16 $f, %x, %y, %q, 1, 1, 0, 0;"), 65536, 500, 4},
    {"wgmma e4m3", WGMMA(".sync.aligned.m64n256k32.f32.e4m3.e4m3 $f, %x, %y, %q, 1, 1;"), 131072, 300, 4},
    {"wgmma s8", WGMMA(".sync.aligned.m64n256k32.s32.s8.s8 $d, %x, %y, %q;"), 131072, 500, 4},
    {"wgmma.sp f16", WGMMA(".sp.sync.aligned.m64n256k32.f32.f16.f16 $f, %x, %y, 0x44444444, 0, %q, 1, 1, 0, 0;"), 65536,
     500, 4},
    {"plain code",
     " mad.lo.u32 %c0, %a0, %b0, %c0; xor.b32 %c1, %c1, %c0; add.f32 %f1, %f1, %f0; shl.b32 %c2, %c1, 3; add.u32 %c3, "
     "%c2, %c3; fma.rn.f32 %f0, %f1, %f1, %f0; prmt.b32 %c0, %c0, %c3, 0x5410;\n",
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

static int run(const struct measure *m) {
    static char text[16384];
    ptxsim *sim = NULL;
    ptxsim_module *module;
    const ptxsim_function *function;
    ptxsim_options options = {.size = sizeof options, .threads = 1};
    unsigned n = m->turns;
    uint64_t out;
    void *params[] = {&n, &out};
    snprintf(text, sizeof text, "%s%s", HEAD, m->warps > 1 ? FILL LOOP : LOOP);
    expand(text, m->body);
    strcat(text, TAIL);
    if (ptxsim_create(&options, &sim) || ptxsim_alloc(sim, 512, &out) || ptxsim_module_load(sim, text, &module) ||
        ptxsim_module_function(sim, module, "k", &function))
        return printf("%s: %s\n", m->name, sim ? ptxsim_fault_text(sim) : "no memory"), 1;
    double start = seconds();
    if (ptxsim_launch(sim, function, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){32 * m->warps, 1, 1}, 0, params))
        return printf("%s: %s\n", m->name, ptxsim_fault_text(sim)), 1;
    double time = seconds() - start;
    printf("%-12s", m->name);
    if (m->multiplies > 0) printf(" %7.3f G multiply-adds a second", m->multiplies * n * m->warps / time * 1e-9);
    printf(" %8.1f M thread instructions a second\n", (double)ptxsim_counts_of(sim)->thread_instructions / time * 1e-6);
    ptxsim_destroy(sim);
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (argc < 2 || strcmp(argv[1], measures[i].name) == 0) failed |= run(&measures[i]);
    return failed;
}
