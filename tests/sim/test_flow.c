/* Divergence, reconvergence, exits and barriers: each kernel stores one word a thread, and must store the
 * same whatever the order of the warps. */
#include "harness.h"

/* The result of thread T of a block. */
typedef uint32_t expect_fn(unsigned t);

struct flow {
    const char *name, *code; /* %t is the thread, %r0 is stored at the end unless the code returns before */
    unsigned threads;
    expect_fn *want;
    uint32_t unwritten; /* threads below 32 that return without a store, as a mask */
};

static uint32_t nested(unsigned t) { return t < 16 ? (t & 1 ? 11 : 10) + 100 : (t & 2 ? 21 : 20) + 100; }
static uint32_t triangle(unsigned t) { return t * (t + 1) / 2; }
static uint32_t inner_outer(unsigned t) {
    uint32_t sum = 0;
    for (unsigned i = 0; i <= t % 5; i++)
        for (unsigned j = 0; j < i + t % 3; j++) sum += i * 7 + j;
    return sum;
}
static uint32_t broken(unsigned t) {
    uint32_t i = 0, sum = 0;
    for (; i < 100; i++) {
        if (i == t) break;
        if (i & 1) continue;
        sum += i;
    }
    return sum * 2 + 1;
}
static uint32_t ballot_after(unsigned t) { return t % 32 < 7 ? 0xffffffff : 0xfffffffe; }
static uint32_t reversed(unsigned t) { return 1000 + (t ^ 127); }
static uint32_t switched(unsigned t) { return (t & 3) * 10 + 5; }
static uint32_t sum_of_four(unsigned t) { return t / 32 * 32 == t ? 0 + 1 + 2 + 3 : 6; }
static uint32_t half(unsigned t) { return t < 64 ? 64 + t : t; }
static uint32_t plain(unsigned t) { return t; }
static uint32_t collatz(unsigned t) {
    uint32_t steps = 0;
    for (uint32_t x = t + 1; x != 1; steps++) x = x & 1 ? 3 * x + 1 : x / 2;
    return steps;
}

static const struct flow flows[] = {
    {"nested ifs",
     "setp.lt.u32 %p0, %t, 16; @%p0 bra LOW;\n and.b32 %r1, %t, 2; setp.ne.u32 %p1, %r1, 0; @%p1 bra A; "
     "mov.u32 %r0, 20; bra J;\n"
     "A: mov.u32 %r0, 21; J: bra END;\nLOW: and.b32 %r1, %t, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra B; mov.u32 "
     "%r0, 10; bra K;\n"
     "B: mov.u32 %r0, 11; K:\nEND: bar.warp.sync -1; add.u32 %r0, %r0, 100;",
     32, nested, 0},
    {"loops of a different length in every lane",
     "mov.u32 %r0, 0; mov.u32 %r1, 0;\nL: setp.gt.u32 %p0, %r1, %t; @%p0 bra D; add.u32 %r0, %r0, %r1; "
     "add.u32 %r1, %r1, 1; bra L;\n"
     "D: bar.warp.sync -1;",
     64, triangle, 0},
    {"a loop in a loop",
     "mov.u32 %r0, 0; mov.u32 %r1, 0; rem.u32 %r2, %t, 5; rem.u32 %r3, %t, 3;\nO: mov.u32 %r4, 0; add.u32 "
     "%r5, %r1, %r3;\n"
     "I: setp.ge.u32 %p0, %r4, %r5; @%p0 bra N; mad.lo.u32 %r6, %r1, 7, %r4; add.u32 %r0, %r0, %r6; add.u32 "
     "%r4, %r4, 1; bra I;\n"
     "N: add.u32 %r1, %r1, 1; setp.le.u32 %p1, %r1, %r2; @%p1 bra O;\n bar.warp.sync -1;",
     96, inner_outer, 0},
    {"break and continue",
     "mov.u32 %r0, 0; mov.u32 %r1, 0;\nL: setp.ge.u32 %p0, %r1, 100; @%p0 bra D; setp.eq.u32 %p1, %r1, %t; "
     "@%p1 bra D;\n"
     " and.b32 %r2, %r1, 1; setp.ne.u32 %p2, %r2, 0; @%p2 bra C; add.u32 %r0, %r0, %r1;\nC: add.u32 %r1, "
     "%r1, 1; bra L;\n"
     "D: bar.warp.sync -1; mad.lo.u32 %r0, %r0, 2, 1;",
     128, broken, 0},
    {"all meet before a loop that only the exit follows",
     "ld.param.u64 %d0, [out]; mad.wide.u32 %d1, %t, 4, %d0; setp.ge.u32 %p0, %t, 5; @%p0 bra J; add.u32 "
     "%r1, %t, 0;\n"
     "J: activemask.b32 %r2; setp.eq.u32 %p1, %r2, -1; selp.u32 %r0, %t, 1000, %p1; st.global.u32 [%d1], "
     "%r0; mov.u32 "
     "%r1, 0;\nL: add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %t; @%p0 bra L; ret;",
     32, plain, 0},
    {"data-dependent loop",
     "add.u32 %r1, %t, 1; mov.u32 %r0, 0;\nL: setp.eq.u32 %p0, %r1, 1; @%p0 bra D; and.b32 %r2, %r1, 1; "
     "setp.ne.u32 %p1, %r2, 0;\n"
     " @%p1 bra ODD; shr.u32 %r1, %r1, 1; bra N;\nODD: mad.lo.u32 %r1, %r1, 3, 1;\nN: add.u32 %r0, %r0, 1; "
     "bra L;\nD: bar.warp.sync -1;",
     256, collatz, 0},
    {"the warp is whole after the join",
     "rem.u32 %r1, %t, 32; setp.lt.u32 %p0, %r1, 7; @!%p0 bra S; mov.u32 %r2, 1; bra J;\nS: mov.u32 %r2, 2;\n"
     "J: activemask.b32 %r0; setp.eq.u32 %p1, %r2, 2; @%p1 sub.u32 %r0, %r0, 1;",
     32, ballot_after, 0},
    {"a chain of cases",
     "and.b32 %r1, %t, 3; setp.eq.u32 %p0, %r1, 0; @%p0 bra C0; setp.eq.u32 %p0, %r1, 1; @%p0 bra C1; "
     "setp.eq.u32 %p0, %r1, 2;\n"
     " @%p0 bra C2; mov.u32 %r0, 30; bra.uni J;\nC0: mov.u32 %r0, 0; bra J;\nC1: mov.u32 %r0, 10; bra "
     "J;\nC2: mov.u32 %r0, 20;\n"
     "J: bar.warp.sync -1; add.u32 %r0, %r0, 5;",
     32, switched, 0},
    {"threads that return early",
     "setp.lt.u32 %p0, %t, 3; @%p0 ret; setp.eq.u32 %p0, %t, 9; @%p0 bra OUT; mov.u32 %r0, %t; bar.sync 0;",
     128, plain, 0x207},
    {"a return inside of a branch and inside of a loop",
     "mov.u32 %r0, 0;\nL: setp.eq.u32 %p1, %r0, 3; setp.eq.and.u32 %p0, %t, 5, %p1; @%p0 exit; setp.ge.u32 "
     "%p0, %r0, %t; @%p0 bra D;\n"
     " add.u32 %r0, %r0, 1; bra L;\nD: bar.sync 0;",
     64, plain, 0x20},
    {"an early way out of a nested branch, and a barrier behind the join",
     "mov.u32 %r0, %t; setp.lt.u32 %p0, %t, 16; @!%p0 bra J; setp.eq.u32 %p1, %t, 4; @%p1 bra OUT; add.u32 "
     "%r0, %r0, 0;\nJ: bar.sync 0;",
     64, plain, 0x10},
    {"shared memory through a barrier",
     "mov.u32 %r1, buf; mad.lo.u32 %r2, %t, 4, %r1; add.u32 %r3, %t, 1000; st.shared.u32 [%r2], %r3; "
     "bar.sync 0;\n"
     " xor.b32 %r4, %t, 127; mad.lo.u32 %r2, %r4, 4, %r1; ld.shared.u32 %r0, [%r2];",
     128, reversed, 0},
    {"a barrier in a loop",
     "mov.u32 %r0, 0; mov.u32 %r5, 0; setp.eq.u32 %p0, %t, 0;\nL: @%p0 st.shared.u32 [buf], %r5; bar.sync 0; "
     "ld.shared.u32 %r1, [buf];\n"
     " add.u32 %r0, %r0, %r1; bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4; @%p1 bra L;",
     96, sum_of_four, 0},
    {"named barriers of half the block",
     "mov.u32 %r0, %t; setp.ge.u32 %p0, %t, 64; @%p0 bra HIGH; mov.u32 %r1, buf; mad.lo.u32 %r1, %t, 4, %r1; "
     "add.u32 %r2, %t, 64;\n"
     " st.shared.u32 [%r1], %r2; bar.sync 3, 64; ld.shared.u32 %r0, [%r1]; bra J;\nHIGH: bar.sync 4, 64;\nJ: "
     "bar.sync 0;",
     128, half, 0},
    {"a producer arrives, a consumer waits",
     "setp.ge.u32 %p0, %t, 32; @%p0 bra USE; mov.u32 %r0, %t; mov.u32 %r1, buf; mad.lo.u32 %r1, %t, 4, %r1; "
     "add.u32 %r2, %t, 32;\n"
     " st.shared.u32 [%r1], %r2; bar.arrive 2, 64; bra J;\nUSE: bar.sync 2, 64; mov.u32 %r1, buf; mad.lo.u32 "
     "%r1, %t, 4, %r1;\n"
     " ld.shared.u32 %r0, [%r1+-128];\nJ: bar.sync 0;",
     64, plain, 0},
    {"a warp that has exited holds up no barrier",
     "setp.lt.u32 %p0, %t, 32; @%p0 exit; mov.u32 %r0, %t; bar.sync 0; bar.sync 0;", 96, plain, 0xffffffff},
    {"a block that does not fill its last warp", "mov.u32 %r0, %t; bar.sync 0;", 45, plain, 0},
};

static void flow_text(char *text, size_t size, const char *name, const struct flow *flow) {
    snprintf(text, size,
             ".visible .entry %s(.param .u64 out)\n{\n .reg .b32 %%r<8>, %%t; .reg .pred %%p<4>; .reg .b64 "
             "%%d<2>;\n"
             " .shared .align 4 .b8 buf[512];\n mov.u32 %%t, %%tid.x;\n %s\n ld.param.u64 %%d0, [out]; "
             "mad.wide.u32 %%d0, %%t, 4, %%d0;\n"
             " st.global.u32 [%%d0], %%r0;\nOUT: ret;\n}\n",
             name, flow->code);
}

static void check_results(ptxsim *sim, const struct flow *flow, uint64_t out, ptxsim_order order) {
    for (unsigned t = 0; t < flow->threads; t++) {
        uint32_t got;
        int skipped = t < 32 && (flow->unwritten >> t & 1);
        ptxsim_status status = ptxsim_read(sim, out + 4 * t, &got, 4);
        CHECK(status == (skipped ? PTXSIM_UNINIT : PTXSIM_OK), "%s, order %d, thread %u: %s", flow->name,
              (int)order, t, ptxsim_fault_text(sim));
        if (status == PTXSIM_OK)
            CHECK(got == flow->want(t), "%s, order %d, thread %u: got %u, want %u", flow->name, (int)order, t,
                  got, flow->want(t));
    }
}

static void run_flow(const struct flow *flow, ptxsim_order order) {
    char text[8192] = PTX_HEADER;
    uint64_t out;
    ptxsim *sim;
    void *params[] = {&out};
    flow_text(text + strlen(text), sizeof text - strlen(text), "k", flow);
    ptxsim_create(NULL, &sim);
    ptxsim_set_order(sim, order);
    ptxsim_alloc(sim, 4 * flow->threads, &out);
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){flow->threads, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s: %s", flow->name, ptxsim_fault_text(sim));
    if (status == PTXSIM_OK) check_results(sim, flow, out, order);
    ptxsim_destroy(sim);
}

int main(int argc, char **argv) {
    int count = sizeof flows / sizeof *flows;
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        printf(PTX_HEADER);
        for (int i = 0; i < count; i++) {
            char text[8192], name[16];
            snprintf(name, sizeof name, "f%d", i);
            flow_text(text, sizeof text, name, &flows[i]);
            fputs(text, stdout);
        }
        return 0;
    }
    for (int i = 0; i < count; i++) {
        run_flow(&flows[i], PTXSIM_IN_ORDER);
        run_flow(&flows[i], PTXSIM_REVERSED);
    }
    return check_end();
}
