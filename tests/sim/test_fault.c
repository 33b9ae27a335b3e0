/* Kernels that must stop: with which status, at which line, in which thread, and with which words. */
#include "harness.h"

struct faulty {
    const char *code; /* from line 6 on; %t the thread, %rd0 the address of 64 bytes that are written but for
                         the last 16 */
    unsigned threads, dynamic;
    ptxsim_status status;
    int line;
    unsigned thread; /* in x */
    const char *message;
};

static const struct faulty faults[] = {
    /* bounds */
    {"mad.wide.u32 %rd1, %t, 4, %rd0;\nst.global.u32 [%rd1], %t;", 32, 0, PTXSIM_BOUNDS, 7, 16,
     "it ends 4 bytes past the end of the 64 bytes"},
    {"ld.global.u8 %r0, [%rd0+64];", 1, 0, PTXSIM_BOUNDS, 6, 0, "it ends 1 bytes past the end"},
    {"ld.global.u32 %r0, [%rd0+-4];", 1, 0, PTXSIM_BOUNDS, 6, 0, "global load of 4 bytes"},
    {"mov.u64 %rd1, 0; ld.global.u32 %r0, [%rd1];", 1, 0, PTXSIM_BOUNDS, 6, 0, "where nothing is allocated"},
    {"mov.u64 %rd1, -8; ld.global.u64 %rd2, [%rd1];", 1, 0, PTXSIM_BOUNDS, 6, 0,
     "global load of 8 bytes at 0xfffffffffffffff8"},
    {"mov.u64 %rd1, 0x10000000000; st.u8 [%rd1+16], %t;", 1, 0, PTXSIM_BOUNDS, 6, 0,
     "shared store of 1 bytes at 0x10: the block has 16 bytes"},
    {"st.shared.u8 [sm+16], %t;", 1, 0, PTXSIM_BOUNDS, 6, 0, "the block has 16 bytes"},
    {"st.shared.u8 [sm+16], %t; st.shared.u8 [sm+32], %t;", 1, 16, PTXSIM_BOUNDS, 6, 0,
     "shared store of 1 bytes at 0x20: the block has 32 bytes"},
    {"mov.u32 %r0, -4; st.shared.u32 [%r0], %t;", 1, 0, PTXSIM_BOUNDS, 6, 0,
     "shared store of 4 bytes at 0xfffffffc"},
    {"ld.param.u32 %r0, [n+4];", 1, 0, PTXSIM_BOUNDS, 6, 0, "it may touch 8 to 12"},
    {"mov.u64 %rd1, n;\nld.param.u64 %rd1, [%rd1];", 1, 0, PTXSIM_BOUNDS, 7, 0, "it may touch 0 to 12"},
    {"atom.global.add.u32 %r0, [%rd0+64], 1;", 1, 0, PTXSIM_BOUNDS, 6, 0, "global atomic of 4 bytes"},

    /* alignment: of the whole access */
    {"ld.global.u32 %r0, [%rd0+2];", 1, 0, PTXSIM_ALIGN, 6, 0, "load of 4 bytes at misaligned address"},
    {"ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%rd0+8];", 1, 0, PTXSIM_ALIGN, 6, 0,
     "load of 16 bytes at misaligned address"},
    {"mad.wide.u32 %rd1, %t, 4, %rd0;\nld.global.v2.u32 {%r0, %r1}, [%rd1];", 4, 0, PTXSIM_ALIGN, 7, 1,
     "load of 8 bytes"},
    {"st.shared.u32 [sm+1], %t;", 1, 0, PTXSIM_ALIGN, 6, 0, "store of 4 bytes at misaligned address 0x1"},
    {"red.global.add.u64 [%rd0+4], 1;", 1, 0, PTXSIM_ALIGN, 6, 0, "atomic of 8 bytes"},

    /* never written */
    {"add.u32 %r0, %r1, 1;", 1, 0, PTXSIM_UNINIT, 6, 0, "reads %r1, which nothing wrote"},
    {"setp.lt.u32 %p0, %t, 5;\n@%p0 mov.u32 %r1, 1;\nadd.u32 %r0, %r1, 1;", 32, 0, PTXSIM_UNINIT, 8, 5,
     "reads %r1"},
    {"@%p0 mov.u32 %r1, 1;", 4, 0, PTXSIM_UNINIT, 6, 0, "reads %p0"},
    {"mov.u32 %r0, 0; selp.b32 %r2, %r0, %r1, 1;", 1, 0, PTXSIM_UNINIT, 6, 0, "reads %r1"},
    {"ld.global.u32 %r0, [%rd1];", 1, 0, PTXSIM_UNINIT, 6, 0, "reads %rd1"},
    {"st.global.u32 [%rd0], %r1;", 1, 0, PTXSIM_UNINIT, 6, 0, "reads %r1"},
    {"ld.global.u32 %r0, [%rd0+44];\nld.global.u32 %r0, [%rd0+48];", 1, 0, PTXSIM_UNINIT, 7, 0,
     "global read of 4 bytes"},
    {"st.global.u8 [%rd0+49], %t; st.global.u8 [%rd0+48], %t;\nld.global.u16 %r0, [%rd0+48];\nld.global.u32 "
     "%r0, [%rd0+48];",
     1, 0, PTXSIM_UNINIT, 8, 0, "nothing wrote the byte at 0x100000000032"},
    {"atom.global.add.u32 %r0, [%rd0+60], 1;", 1, 0, PTXSIM_UNINIT, 6, 0, "global read of 4 bytes"},
    {"ld.shared.u32 %r0, [sm];", 3, 0, PTXSIM_UNINIT, 6, 0, "shared read of 4 bytes at 0x0"},
    {"setp.eq.u32 %p0, %t, 2; @%p0 ld.shared.u32 %r0, [sm];", 3, 0, PTXSIM_UNINIT, 6, 2, "shared read"},
    {"setp.lt.u32 %p0, %t, 16; @%p0 bra B;\nmov.u32 %r1, 0;\nshfl.sync.idx.b32 %r0, %r1, 3, 31, "
     "0xffff0000;\nadd.u32 %r0, %r0, 1; bra J;\nB:\nJ:",
     32, 0, PTXSIM_UNINIT, 9, 16, "reads %r0"},

    {"setp.lt.u32 %p0, %t, 2; @%p0 mov.u32 %r1, 1;\n@%p0 add.u32 %r0, %r1, 1; @!%p0 bra E; "
     "red.global.max.u32 "
     "[%rd0], %r0;\nE:",
     4, 0, PTXSIM_OK, 0, 0, ""},
    {"mov.u32 %r1, 0; setp.ge.u32 %p0, %r1, 0; @!%p0 ld.global.u32 %r0, [%rd1];", 4, 0, PTXSIM_OK, 0, 0, ""},

    /* barriers */
    {"setp.lt.u32 %p0, %t, 7;\n@%p0 bra B;\nbar.sync 0;\nB: mov.u32 %r0, 1; add.u32 %r0, %r0, 1;", 32, 0,
     PTXSIM_BARRIER, 8, 0, "lanes 0xffffff80 of the warp execute this together, and 0xffffffff must"},
    {"setp.ne.u32 %p0, %t, 33;\n@%p0 bar.sync 0;", 64, 0, PTXSIM_BARRIER, 7, 33,
     "lanes 0xfffffffd of the warp execute this together"},
    {"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1;\n@!%p0 bar.sync 2;", 64, 0, PTXSIM_BARRIER, 7, 0,
     "waits forever at barrier 1: 1 warps arrived, 64 threads are awaited"},
    {"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 1, 64;\n", 64, 0, PTXSIM_BARRIER, 7, 0,
     "waits forever at barrier 1"},
    {"bar.sync 0, 64;\n", 33, 0, PTXSIM_OK, 0, 0, ""},
    {"bar.sync 0, 96;\n", 64, 0, PTXSIM_TRAP, 6, 0, "a barrier of 96 threads"},
    {"bar.sync 0, 40;\n", 64, 0, PTXSIM_TRAP, 6, 0, "a barrier of 40 threads"},
    {"bar.sync 16;", 64, 0, PTXSIM_TRAP, 6, 0, "barrier 16: there are 16"},
    {"and.b32 %r0, %t, 1; bar.sync %r0;", 32, 0, PTXSIM_TRAP, 6, 1,
     "disagree on an operand: 1 here, 0 in lane 0"},
    {"setp.lt.u32 %p0, %t, 32;\n@%p0 bar.sync 0, 96;\n@!%p0 bar.sync 0, 64;", 96, 0, PTXSIM_BARRIER, 8, 32,
     "the warps disagree on how many threads"},
    {"bar.arrive 0, 64;\nbar.arrive 0, 64;", 64, 0, PTXSIM_BARRIER, 7, 0, "arrives at the barrier twice"},
    {"setp.lt.u32 %p0, %t, 4; @%p0 bar.warp.sync -1;", 32, 0, PTXSIM_BARRIER, 6, 4,
     "this thread is a member of 0xffffffff"},
    {"setp.lt.u32 %p0, %t, 4; @%p0 bar.warp.sync 7;", 32, 0, PTXSIM_BARRIER, 6, 3, "it must name each lane"},
    {"setp.lt.u32 %p0, %t, 4; @%p0 bar.warp.sync 15;", 32, 0, PTXSIM_OK, 0, 0, ""},
    {"setp.lt.u32 %p0, %t, 4; @%p0 shfl.sync.idx.b32 %r0, %t, 0, 31, -1;", 32, 0, PTXSIM_BARRIER, 6, 4,
     "this thread is a member"},
    {"setp.lt.u32 %p0, %t, 4; @%p0 vote.sync.ballot.b32 %r0, %p0, -1;", 32, 0, PTXSIM_BARRIER, 6, 4,
     "this thread is a member"},
    {"setp.lt.u32 %p0, %t, 4; @%p0 redux.sync.add.u32 %r0, %t, -1;", 32, 0, PTXSIM_BARRIER, 6, 4,
     "this thread is a member"},
    {"mov.u32 %r0, 0; mov.u32 %r1, 0;\nmma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0, %r1}, {%r0}, "
     "{%r1}, {%r0, %r1};",
     31, 0, PTXSIM_BARRIER, 7, 0, "lanes 0x7fffffff of the warp execute this together, and 0xffffffff must"},

    /* traps and limits */
    {"mov.u32 %r0, 0; div.u32 %r1, %t, %r0;", 4, 0, PTXSIM_TRAP, 6, 0, "integer division by zero"},
    {"sub.u32 %r0, %t, 2; setp.ne.u32 %p0, %t, 0;\n@%p0 rem.s32 %r1, %t, %r0;", 4, 0, PTXSIM_TRAP, 7, 2,
     "integer division by zero"},
    {"setp.eq.u32 %p0, %t, 40;\n@%p0 trap;", 64, 0, PTXSIM_TRAP, 7, 40, "trap"},
    {"setp.lt.u32 %p0, %t, 3;\n@%p0 bra.uni B;\nB: mov.u32 %r0, 0;", 32, 0, PTXSIM_TRAP, 7, 3, "bra.uni"},
    {"L: bra L;", 32, 0, PTXSIM_LIMIT, 6, 0, "more than 1000 warp instructions"},
    {"setp.lt.u32 %p0, %t, 3;\n@!%p0 bra E;\nL: bra L;\nE:", 32, 0, PTXSIM_LIMIT, 8, 0,
     "more than 1000 warp instructions"},
};

static void run_faulty(const struct faulty *f, ptxsim_order order) {
    char text[4096];
    ptxsim_options options = {.size = sizeof options, .order = order, .max_instructions = 1000};
    ptxsim *sim;
    uint64_t a;
    uint32_t n = 1;
    void *params[] = {&a, &n};
    snprintf(text, sizeof text,
             PTX_HEADER ".extern .shared .align 16 .b8 dyn[];\n.visible .entry k(.param .u64 a, .param .u32 "
                        "n) { .reg .b32 %%r<4>, %%t; .reg .b64 %%rd<4>; "
                        ".reg .pred %%p<2>; .shared .align 16 .b8 sm[16]; ld.param.u64 %%rd0, [a]; mov.u32 "
                        "%%t, %%tid.x;\n%s\nret; }\n",
             f->code);
    CHECK(ptxsim_create(&options, &sim) == PTXSIM_OK);
    ptxsim_alloc(sim, 64, &a);
    ptxsim_fill(sim, a, 1, 48);
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){f->threads, 1, 1}, f->dynamic, params);
    const ptxsim_fault *fault = ptxsim_fault_of(sim);
    CHECK(status == f->status, "%s: got %d: %s", f->code, (int)status, ptxsim_fault_text(sim));
    CHECK(fault->line == f->line, "%s: got line %d, want %d: %s", f->code, fault->line, f->line,
          fault->message);
    CHECK(fault->thread.x == f->thread, "%s: got thread %u, want %u", f->code, fault->thread.x, f->thread);
    CHECK(fault->in_kernel == (f->status != PTXSIM_OK));
    CHECK_TEXT(fault->message, f->message);
    ptxsim_destroy(sim);
}

/* Every block starts with shared memory that nothing wrote; the fault names the block and a thread in three
 * dimensions. */
static void run_place(void) {
    static const char text[] =
        PTX_HEADER ".visible .entry k() {\n.reg .b32 %r<4>; .reg .pred %p<3>; .shared .u32 s;\n"
                   "mov.u32 %r0, %ctaid.y; mov.u32 %r3, %tid.x; mov.u32 %r1, %tid.y; add.u32 %r3, %r3, %r1; "
                   "mov.u32 %r1, %tid.z; add.u32 %r3, %r3, %r1; setp.eq.u32 %p0, %r3, 0; setp.eq.and.u32 "
                   "%p0, %r0, 0, %p0;\n@%p0 st.shared.u32 [s], %r0;\n"
                   "mov.u32 %r1, %tid.y; setp.eq.u32 %p1, %r1, 2; mov.u32 %r1, %tid.z; setp.eq.and.u32 %p1, "
                   "%r1, 1, %p1;\n"
                   "bar.sync 0; @%p1 ld.shared.u32 %r2, [s];\nret; }\n";
    ptxsim *sim;
    ptxsim_create(NULL, &sim);
    CHECK(run_kernel(sim, text, (ptxsim_dim3){2, 3, 1}, (ptxsim_dim3){4, 3, 5}, 0, NULL) == PTXSIM_UNINIT);
    CHECK(strcmp(ptxsim_fault_text(sim), "line 9, block (0,1,0), thread (0,2,1): shared read of 4 bytes at "
                                         "0x0: nothing wrote the byte at 0x0") == 0,
          "%s", ptxsim_fault_text(sim));
    ptxsim_destroy(sim);
}

struct shape {
    const char *directives;
    ptxsim_dim3 grid, block;
    size_t dynamic;
    ptxsim_status status;
    const char *message;
};

static const struct shape shapes[] = {
    {"", {1, 1, 1}, {1024, 1, 1}, 0, PTXSIM_OK, ""},
    {"", {1, 1, 1}, {1025, 1, 1}, 0, PTXSIM_INVALID, "a block of (1025,1,1) threads"},
    {"", {1, 1, 1}, {32, 33, 1}, 0, PTXSIM_INVALID, "a block of (32,33,1) threads"},
    {"", {1, 1, 1}, {1, 1, 65}, 0, PTXSIM_INVALID, "a block of (1,1,65) threads"},
    {"", {1, 1, 1}, {0, 1, 1}, 0, PTXSIM_INVALID, "a block of (0,1,1) threads"},
    {"", {0, 1, 1}, {1, 1, 1}, 0, PTXSIM_INVALID, "a grid of (0,1,1) blocks"},
    {"", {1, 65536, 1}, {1, 1, 1}, 0, PTXSIM_INVALID, "a grid of (1,65536,1) blocks"},
    {"", {3, 2, 2}, {8, 2, 2}, 0, PTXSIM_OK, ""},
    {".maxntid 64", {1, 1, 1}, {64, 1, 1}, 0, PTXSIM_OK, ""},
    {".maxntid 64", {1, 1, 1}, {65, 1, 1}, 0, PTXSIM_INVALID, "a block of 65 threads, and .maxntid is 64"},
    {".maxntid 32, 2, 1", {1, 1, 1}, {8, 8, 2}, 0, PTXSIM_INVALID, ".maxntid is 64"},
    {".reqntid 32, 2", {1, 1, 1}, {32, 2, 1}, 0, PTXSIM_OK, ""},
    {".reqntid 32, 2",
     {1, 1, 1},
     {64, 1, 1},
     0,
     PTXSIM_INVALID,
     "(64,1,1) threads, and .reqntid is 32, 2, 1"},
    {"", {1, 1, 1}, {1, 1, 1}, 232448, PTXSIM_OK, ""},
    {"",
     {1, 1, 1},
     {1, 1, 1},
     232449,
     PTXSIM_INVALID,
     "232449 bytes of shared memory a block; 232448 is the most"},
};

static void run_shape(const struct shape *s) {
    char text[512];
    ptxsim *sim;
    snprintf(text, sizeof text, PTX_HEADER ".visible .entry k() %s { ret; }", s->directives);
    ptxsim_create(NULL, &sim);
    CHECK(run_kernel(sim, text, s->grid, s->block, s->dynamic, NULL) == s->status, "%s",
          ptxsim_fault_text(sim));
    CHECK(ptxsim_fault_of(sim)->line == 0 && !ptxsim_fault_of(sim)->in_kernel);
    CHECK_TEXT(ptxsim_fault_of(sim)->message, s->message);
    ptxsim_destroy(sim);
}

int main(void) {
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) run_faulty(&faults[i], PTXSIM_IN_ORDER);
    run_place();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) run_shape(&shapes[i]);
    return check_end();
}
