/* Instructions of whole warps, matrices and warpgroups: what is refused when the module is loaded, by name; and where a
 * kernel must stop. With the argument `dump` it prints the kernels that load, for ptxas. */
#include "harness.h"

#define HEADER ".version 8.7\n.target sm_90a\n.address_size 64\n"
#define REGISTERS                                                                                            \
    " .reg .b32 %r<8>, %t, %l, %s; .reg .f32 %f<8>; .reg .b16 %h<4>; .reg .b64 %d; .reg .pred %p, %q;\n"     \
    " .shared .align 16 .b8 buf[1024];\n"
#define ZEROS " mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0;\n"
#define FIRST                                                                                                \
    ZEROS " mov.u32 %t, %tid.x; mov.u32 %l, %laneid; mad.lo.u32 %s, %t, 16, 0; setp.lt.u32 %p, %t, 16;\n"

struct refused {
    const char *code;
    ptxsim_status status;
    const char *message;
};

/* What the ISA has not, or the simulator not. */
static const struct refused refused[] = {
    {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r2, %r3}, {%r0, "
     "%r1, %r2, %r3};",
     PTXSIM_UNSUPPORTED, "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16: this form"},
    {"mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1, %r2, %r3}, {%r0, "
     "%r1}, {%r0, %r1, "
     "%r2, %r3};",
     PTXSIM_UNSUPPORTED, "mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32: this form"},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s4.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r0}, {%r0, %r1, "
     "%r2, %r3};",
     PTXSIM_UNSUPPORTED, "s32.s8.s4.s32: this form"},
    {"mma.sync.aligned.m16n8k16.col.row.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%r0}, {%r0, %r1, "
     "%r2, %r3};",
     PTXSIM_UNSUPPORTED, "col.row.s32.s8.s8.s32: this form"},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r0, "
     "%r1}, {%f0, %f1, "
     "%f2, %f3};",
     PTXSIM_UNSUPPORTED, "f32.f16.bf16.f32: this form"},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f32 {%r0, %r1}, {%r0, %r1, %r2, %r3}, {%r0, %r1}, {%f0, "
     "%f1, %f2, %f3};",
     PTXSIM_UNSUPPORTED, "f16.f16.f16.f32: this form"},
    {"mma.sync.aligned.m16n8k8.row.col.f16.bf16.bf16.f16 {%r0, %r1}, {%r0, %r1}, {%r0}, {%r0, %r1};",
     PTXSIM_UNSUPPORTED, "f16.bf16.bf16.f16: this form"},
    {"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
     "%r3}, {%r0, %r1}, "
     "{%f0, %f1, %f2, %f3};",
     PTXSIM_UNSUPPORTED, "satfinite.f32.f16.f16.f32: this form"},
    {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.s8.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r0, "
     "%r1}, {%f0, %f1, "
     "%f2, %f3};",
     PTXSIM_UNSUPPORTED, "f32.e4m3.s8.f32: this form"},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, {%r0}, {%r0}, {%r0, %r1, %r2, "
     "%r3};",
     PTXSIM_PARSE, ""},
    {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r0}, {%r0, %r1, "
     "%r2, %r3};",
     PTXSIM_PARSE, ""},
    {"ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0, %r1, %r2}, [%s];", PTXSIM_UNSUPPORTED,
     "m8n8.x3.shared.b16: this form"},
    {"ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%r0, %r1}, [%s];", PTXSIM_UNSUPPORTED,
     "m16n16.x1.trans.shared.b8"},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r0}, [%s];", PTXSIM_PARSE, ""},
    {"ldmatrix.sync.m8n8.x1.shared.b16 {%r0}, [%s];", PTXSIM_UNSUPPORTED, "ldmatrix.sync.m8n8.x1.shared.b16"},
    {"movmatrix.sync.aligned.m8n8.b16 %r0, %r1;", PTXSIM_UNSUPPORTED, "movmatrix.sync.aligned.m8n8.b16"},
    {"match.all.sync.b16 %r0, %h0, -1;", PTXSIM_UNSUPPORTED, "match.all.sync.b16"},
    {"elect.sync %r0, -1;", PTXSIM_PARSE, "`|` and a predicate"},
    {"redux.sync.add.u64 %d, %d, -1;", PTXSIM_UNSUPPORTED, "redux.sync.add.u64"},
    {"bar.red.xor.pred %p, 0, %q;", PTXSIM_UNSUPPORTED, "bar.red.xor.pred"},
    {"griddepcontrol.signal;", PTXSIM_UNSUPPORTED, "griddepcontrol.signal"},
    {"setmaxnreg.inc.sync.aligned.u32 %r0;", PTXSIM_PARSE, ""},
    {"setmaxnreg.inc.sync.aligned.u32 16;", PTXSIM_PARSE, ""},
    {"setmaxnreg.inc.sync.aligned.u32 264;", PTXSIM_PARSE, ""},
    {"setmaxnreg.inc.sync.aligned.u32 100;", PTXSIM_PARSE, "setmaxnreg 100: not a multiple of 8"},
    {"setmaxnreg.set.sync.aligned.u32 104;", PTXSIM_UNSUPPORTED, "setmaxnreg.set"},
    {"add.sat.bf16 %h0, %h1, %h2;", PTXSIM_UNSUPPORTED, "add.sat.bf16"},
    {"fma.rz.f16 %h0, %h1, %h2, %h3;", PTXSIM_UNSUPPORTED, "fma.rz.f16"},
    {"fma.rn.sat.relu.f16 %h0, %h1, %h2, %h3;", PTXSIM_UNSUPPORTED, "fma.rn.sat.relu.f16"},
    {"cvt.rn.e4m3x2.f32 %h0, %f1, %f2;", PTXSIM_PARSE, "cvt converts between"},
    {"cvt.rz.satfinite.e4m3x2.f32 %h0, %f1, %f2;", PTXSIM_UNSUPPORTED, "cvt.rz.satfinite.e4m3x2.f32"},
    {"cvt.rz.f16x2.e4m3x2 %r0, %h1;", PTXSIM_PARSE, "cvt converts between"},
    {"cvt.rni.f16.f32 %h0, %f1;", PTXSIM_PARSE, "integral value only towards an integer or the same type"},
    {"cvt.bf16.f32 %h0, %f1;", PTXSIM_PARSE, "cvt needs a rounding modifier"},
    {"cvt.rn.f32.f32 %f0, %f1;", PTXSIM_PARSE, "takes no rounding modifier"},
};

static void write_kernel(char *text, size_t size, const char *name, const char *code) {
    snprintf(text, size, ".visible .entry %s(.param .u64 a)\n{\n%s%s ld.param.u64 %%d, [a];\n%s\n ret;\n}\n",
             name, REGISTERS, FIRST, code);
}

static void run_refused(const struct refused *r) {
    char text[4096] = HEADER;
    ptxsim *sim;
    ptxsim_module *module;
    write_kernel(text + strlen(text), sizeof text - strlen(text), "k", r->code);
    CHECK(ptxsim_create(NULL, &sim) == PTXSIM_OK);
    CHECK(ptxsim_module_load(sim, text, &module) == r->status, "%s: %s", r->code, ptxsim_fault_text(sim));
    CHECK(ptxsim_fault_of(sim)->line == 11, "%s: line %d", r->code, ptxsim_fault_of(sim)->line);
    CHECK_TEXT(ptxsim_fault_of(sim)->message, r->message);
    ptxsim_destroy(sim);
}

struct stop {
    const char *
        code; /* from line 11 on; %t the thread, %l the lane, %s 16 %t, %r0 to %r3 zero, %p: %t < 16, %d global */
    unsigned threads;
    ptxsim_status status;
    int line;
    unsigned thread;
    const char *message;
};

#define FILL "st.shared.v4.u32 [%s], {%r0, %r1, %r2, %r3}; bar.sync 0;\n"
#define MMA(guard)                                                                                           \
    guard "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r2}, {%f0, " \
          "%f1, %f2, %f3};"
#define SUMS            "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;\n"
#define TOGETHER(lanes) "lanes " lanes " of the warp execute this together, and 0xffffffff must"

static const struct stop stops[] = {
    /* all lanes, or none */
    {SUMS MMA(""), 32, PTXSIM_OK, 0, 0, ""},
    {SUMS MMA("@%p "), 32, PTXSIM_BARRIER, 12, 16, TOGETHER("0x0000ffff")},
    {SUMS MMA(""), 48, PTXSIM_BARRIER, 12, 32, TOGETHER("0x0000ffff")},
    {SUMS "@%p bra E;\n" MMA("") "\nE:", 32, PTXSIM_BARRIER, 13, 16, TOGETHER("0xffff0000")},
    {"@%p movmatrix.sync.aligned.m8n8.trans.b16 %r4, %r0;", 32, PTXSIM_BARRIER, 11, 16,
     TOGETHER("0x0000ffff")},
    {FILL "@%p ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%s];", 32, PTXSIM_BARRIER, 12, 16,
     TOGETHER("0x0000ffff")},
    {FILL "@!%p stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r0};", 32, PTXSIM_BARRIER, 12, 0,
     TOGETHER("0xffff0000")},
    {MMA(""), 32, PTXSIM_UNINIT, 11, 0, "reads %f0, which nothing wrote"},

    /* matrices in memory: rows of 16 bytes, 8 lanes' addresses a matrix, in shared memory */
    {FILL "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4, %r5, %r6, %r7}, [%s];", 32, PTXSIM_OK, 0, 0, ""},
    {FILL "add.u32 %r4, %s, 8;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];", 32, PTXSIM_ALIGN, 13,
     0, "load of 16 bytes at misaligned address 0x8"},
    {FILL "setp.eq.u32 %q, %l, 5; selp.u32 %r4, 4, 0, %q; add.u32 %r4, %r4, %s;\n"
          "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r5}, [%r4];",
     32, PTXSIM_ALIGN, 13, 5, "at misaligned address 0x54"},
    {FILL "setp.eq.u32 %q, %l, 8; selp.u32 %r4, 4, 0, %q; add.u32 %r4, %r4, %s;\n"
          "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];\n"
          "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r5, %r6}, [%r4];",
     32, PTXSIM_ALIGN, 14, 8, "at misaligned address 0x84"},
    {FILL "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%s+912];", 64, PTXSIM_BOUNDS, 12, 32,
     "the block has 1024 bytes"},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r4}, [%s];", 32, PTXSIM_UNINIT, 11, 0,
     "nothing wrote the byte"},
    {"ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [%d];", 32, PTXSIM_TRAP, 11, 0,
     "a matrix that is not in shared memory"},
    {"stmatrix.sync.aligned.m8n8.x2.shared.b16 [%s+2], {%r0, %r1};", 32, PTXSIM_ALIGN, 11, 0,
     "store of 16 bytes"},
    {"xor.b32 %r4, %s, 16; stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r0};\n"
     "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r4];",
     32, PTXSIM_RACE, 12, 0, "race on shared"},
    {"stmatrix.sync.aligned.m8n8.x1.shared.b16 [%s], {%r0}; bar.warp.sync -1;\n"
     "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4, %r5}, [%s];",
     32, PTXSIM_UNINIT, 12, 8, "nothing wrote the byte at 0x80"},

    /* member masks */
    {"@%p match.any.sync.b32 %r4, %l, -1;", 32, PTXSIM_BARRIER, 11, 16,
     "this thread is a member of 0xffffffff"},
    {"@%p match.any.sync.b32 %r4, %l, 0xffff;", 32, PTXSIM_OK, 0, 0, ""},
    {"@%p match.all.sync.b32 %r4|%q, %l, 0xff;", 32, PTXSIM_BARRIER, 11, 8, "it must name each lane"},
    {"@%p elect.sync %r4|%q, -1;", 32, PTXSIM_BARRIER, 11, 16, "this thread is a member of 0xffffffff"},
    {"@!%p elect.sync %r4|%q, 0xffff0000;\n@%p elect.sync %r4|%q, 0xffff;\n@%q st.global.u32 [%d], %r4;", 32,
     PTXSIM_RACE, 13, 16, ""},
    {"mov.u32 %r4, 7; selp.u32 %r4, 3, %r4, %p;\nbar.red.popc.u32 %r5, %r4, %p;", 32, PTXSIM_TRAP, 12, 16,
     "disagree on an operand"},
    {"setp.lt.u32 %q, %t, 32;\n@%q bar.red.popc.u32 %r5, 1, 64, %p;", 64, PTXSIM_BARRIER, 12, 0,
     "waits forever at barrier 1"},

    /* setmaxnreg: a warpgroup's four warps alike and in step */
    {"setmaxnreg.dec.sync.aligned.u32 24; bar.sync 0; setmaxnreg.inc.sync.aligned.u32 256;", 128, PTXSIM_OK,
     0, 0, ""},
    {"setp.lt.u32 %q, %t, 128; @%q bra C;\nsetmaxnreg.dec.sync.aligned.u32 40; bra E;\nC: "
     "setmaxnreg.inc.sync.aligned.u32 232;\nE:",
     256, PTXSIM_OK, 0, 0, ""},
    {"@%p setmaxnreg.dec.sync.aligned.u32 24;", 128, PTXSIM_BARRIER, 11, 16,
     "of the warp execute this together"},
    {"setp.lt.u32 %q, %t, 64;\n@%q setmaxnreg.dec.sync.aligned.u32 24;", 128, PTXSIM_BARRIER, 12, 0,
     "warp 2 of the warpgroup never executed this"},
    {"setp.lt.u32 %q, %t, 64; @%q bra C;\nsetmaxnreg.dec.sync.aligned.u32 40; bra E;\nC: "
     "setmaxnreg.inc.sync.aligned.u32 232;\nE:",
     128, PTXSIM_BARRIER, 12, 64, "warp 0 of the warpgroup executed the one in line 13 instead"},
    {"setmaxnreg.dec.sync.aligned.u32 24;\nsetmaxnreg.inc.sync.aligned.u32 256;", 128, PTXSIM_BARRIER, 12, 0,
     "warp 1 has not come to the setmaxnreg before this one"},
    {"setmaxnreg.dec.sync.aligned.u32 24;", 96, PTXSIM_BARRIER, 11, 0,
     "in no warpgroup: the block has 3 warps"},
    {"griddepcontrol.wait;\ngriddepcontrol.launch_dependents;", 64, PTXSIM_OK, 0, 0, ""},
};

static void run_stop(const struct stop *s) {
    char text[4096] = HEADER;
    uint64_t a;
    void *params[] = {&a};
    ptxsim *sim;
    write_kernel(text + strlen(text), sizeof text - strlen(text), "k", s->code);
    CHECK(ptxsim_create(NULL, &sim) == PTXSIM_OK && ptxsim_alloc(sim, 64, &a) == PTXSIM_OK);
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){s->threads, 1, 1}, 0, params);
    const ptxsim_fault *fault = ptxsim_fault_of(sim);
    CHECK(status == s->status, "%s: %s", s->code, ptxsim_fault_text(sim));
    CHECK(fault->line == s->line && fault->thread.x == s->thread, "%s: %s", s->code, ptxsim_fault_text(sim));
    CHECK_TEXT(fault->message, s->message);
    ptxsim_destroy(sim);
}

static void dump(void) {
    char text[4096], name[16];
    printf(HEADER);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
        snprintf(name, sizeof name, "e%zu", i);
        write_kernel(text, sizeof text, name, stops[i].code);
        printf("%s", text);
    }
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        dump();
        return 0;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) run_refused(&refused[i]);
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) run_stop(&stops[i]);
    return check_end();
}
