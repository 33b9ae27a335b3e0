/* Functions, tables of jumps, and memory beside allocations: local, constant and global variables. Each kernel stores one
 * word a thread. With the argument `dump` it prints the kernels for ptxas. */
#include "harness.h"

#define HEADER ".version 8.1\n.target sm_90\n.address_size 64\n"
/* %t is the thread, %r0 is stored at the end. */
#define ENTRY                                                                                                \
    ".visible .entry k(.param .u64 out)\n{\n .reg .b32 %r<16>, %t; .reg .b64 %d<8>, %o; .reg .pred %p<8>;\n" \
    " mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mad.wide.u32 %o, %t, 4, %o; mov.u32 %r0, 0;\n"
#define END " st.global.u32 [%o], %r0;\n ret;\n}\n"
/* A call of F, of %r1, with its result in %r0. */
#define CALL(guard, f)                                                                                       \
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x+0], %r1;\n " guard " call (y), " f                      \
    ", (x);\n ld.param.b32 %r0, [y+0]; }\n"
#define FUNCTION(name) ".func (.param .b32 result) " name "(.param .b32 x)\n"

typedef uint32_t expect_fn(unsigned t);

struct kernel {
    const char *name, *before, *code, *after;
    expect_fn *want;
};

static uint32_t doubled(unsigned t) { return t < 10 ? 2 * t : t; }
static uint32_t early(unsigned t) { return t % 3 == 0 ? 100 : t % 3 == 1 ? t * 7 : t + 5; }
static uint32_t looped(unsigned t) {
    uint32_t r = t;
    for (unsigned i = 0; i <= t % 4; i++) r = (r & 1 ? 3 * r : r / 2) + 1;
    return r;
}
static uint32_t reversed(unsigned t) { return 2 * (63 - t); }
static uint32_t chosen(unsigned t) { return (const uint32_t[]){7, 40 + t, 7, 30}[t & 3]; }
static uint32_t picked(unsigned t) { return 10 * (t % 5) + 3; }
static uint32_t named(unsigned t) { return (const uint32_t[]){11, 22, 33, 44}[t & 3] + 5; }
static uint32_t spaces(unsigned t) { return t < 64 ? 0x35 : 0; }
static uint32_t packed(unsigned t) { return (t & 255) * 0x01010101 + t; }
static uint32_t left(unsigned t) { return t & 1 ? t + 1 : 0; }

#define TWICE                                                                                                \
    FUNCTION("twice")                                                                                        \
    "{ .reg .b32 %r; ld.param.b32 %r, [x]; shl.b32 %r, %r, 1; st.param.b32 [result+0], %r; ret; }\n"

static const struct kernel kernels[] = {
    {"a call of some lanes", TWICE,
     "setp.lt.u32 %p0, %t, 10; mov.u32 %r1, %t; mov.u32 %r0, %t; @!%p0 bra J;\n" CALL(
         "", "twice") "J: bar.warp.sync -1;",
     "", doubled},
    {"a call with a guard", TWICE,
     "setp.lt.u32 %p0, %t, 10; mov.u32 %r1, %t; mov.u32 %r2, %t;\n{ .param .b32 x, y; st.param.b32 [x], %r1; "
     "st.param.b32 [y], %r2;\n @%p0 call (y), twice, (x); bar.warp.sync -1; ld.param.b32 %r0, [y]; }\n",
     "", doubled},
    {"returns of some lanes",
     FUNCTION("f") "{ .reg .b32 %r<4>; .reg .pred %p, %q; ld.param.b32 %r0, [x]; rem.u32 %r1, %r0, 3;\n"
                   " setp.eq.u32 %p, %r1, 0; setp.eq.u32 %q, %r1, 1; st.param.b32 [result], 100; @%p ret;\n"
                   " @%q bra A; add.u32 %r2, %r0, 5; st.param.b32 [result], %r2; ret.uni;\n"
                   "A: mul.lo.u32 %r2, %r0, 7; st.param.b32 [result], %r2; }\n",
     "mov.u32 %r1, %t;\n" CALL("", "f") "bar.warp.sync -1;", "", early},
    {"calls in a loop, and in a function", ".func (.param .b32 result) step(.param .b32 x);\n" TWICE,
     "mov.u32 %r1, %t; and.b32 %r2, %t, 3;\nL: " CALL(
         "", "step") "mov.u32 %r1, %r0; setp.eq.u32 %p0, %r2, 0; sub.u32 %r2, %r2, 1; @!%p0 bra L; "
                     "bar.warp.sync -1;",
     FUNCTION("step") "{ .reg .b32 %r<4>; .reg .pred %p; ld.param.b32 %r1, [x]; and.b32 %r2, %r1, 1; "
                      "setp.eq.u32 %p, %r2, 0;\n @%p bra E;\n { .param .b32 a, b; st.param.b32 [a], %r1; "
                      "call (b), twice, (a); "
                      "ld.param.b32 %r0, [b]; }\n add.u32 %r0, %r0, %r1; bra J;\nE: shr.u32 %r0, %r1, 1;\n"
                      "J: add.u32 %r0, %r0, 1; st.param.b32 [result], %r0; ret; }\n",
     looped},
    {"a barrier in a function",
     ".shared .align 4 .b8 room[256];\n" FUNCTION(
         "swap") "{ .reg .b32 %r<4>; mov.u32 %r1, %tid.x; shl.b32 %r1, %r1, 2; mov.u32 %r2, room; add.u32 "
                 "%r1, %r1, %r2;\n"
                 " ld.param.b32 %r0, [x]; st.shared.u32 [%r1], %r0; bar.sync 0; mov.u32 %r3, 504; sub.u32 "
                 "%r3, %r3, %r1;\n"
                 " sub.u32 %r3, %r3, 252; ld.shared.u32 %r0, [%r3]; st.param.b32 [result], %r0; ret; }\n",
     "shl.b32 %r1, %t, 1;\n" CALL("", "swap"), "", reversed},
    {"an exit in a function",
     FUNCTION("f") "{ .reg .b32 %r<2>; .reg .pred %p; ld.param.b32 %r0, [x]; and.b32 %r1, %r0, 1; "
                   "setp.eq.u32 %p, %r1, 0;\n"
                   " @%p exit; add.u32 %r0, %r0, 1; st.param.b32 [result], %r0; ret; }\n",
     "mov.u32 %r1, %t; st.global.u32 [%o], %r0;\n" CALL("", "f"), "", left},
    {"exits on all ways but one",
     FUNCTION("f") "{ .reg .b32 %r<3>; .reg .pred %p, %q; ld.param.b32 %r0, [x]; and.b32 %r1, %r0, 1; "
                   "setp.eq.u32 %p, %r1, 1;\n"
                   " and.b32 %r1, %r0, 2; setp.eq.u32 %q, %r1, 0; @%p bra B; @%q bra C; exit;\nC: exit;\n"
                   "B: add.u32 %r0, %r0, 1; st.param.b32 [result], %r0; ret; }\n",
     "mov.u32 %r1, %t; st.global.u32 [%o], %r0;\n" CALL("", "f"), "", left},
    {"brx.idx", "",
     "and.b32 %r1, %t, 3;\n T: .branchtargets A, B, A, C;\n brx.idx %r1, T;\nA: mov.u32 %r0, 7; bra J;\n"
     "B: add.u32 %r0, %t, 40; bra J;\nC: mov.u32 %r0, 30;\nJ: bar.warp.sync -1;",
     "", chosen},
    {"local memory, and its generic address",
     ".func put(.param .b64 to, .param .b32 x)\n{ .reg .b32 %r; .reg .b64 %d; ld.param.b64 %d, [to]; "
     "ld.param.b32 %r, [x];\n"
     " add.u32 %r, %r, 3; st.u32 [%d], %r; ret; }\n",
     ".local .align 16 .b8 depot[32];\n mov.u64 %d1, depot; cvta.local.u64 %d2, %d1; rem.u32 %r2, %t, 5; "
     "mul.lo.u32 %r3, %r2, 10;\n"
     " mad.wide.u32 %d3, %r2, 4, %d2; cvta.to.local.u64 %d4, %d3;\n { .param .b64 to; .param .b32 x; "
     "st.param.b64 [to], %d3; "
     "st.param.b32 [x], %r3; call put, (to, x); }\n ld.local.u32 %r0, [%d4];",
     "", picked},
    {"initial values, and addresses in them",
     ".global .align 4 .b8 bytes[16] = {11, 0, 0, 0, 22, 0, 0, 0, 33, 0, 0, 0, 44};\n.const .align 4 .u32 "
     "five[2] = {4, 5};\n"
     ".const .align 8 .u64 where[2] = {generic(bytes), generic(five)+4};\n.global .align 8 .u64 plain = "
     "bytes;\n",
     "and.b32 %r1, %t, 3; ld.const.u64 %d1, [where]; mad.wide.u32 %d1, %r1, 4, %d1; ld.u32 %r2, [%d1];\n"
     " mov.u64 %d2, where; ld.const.u64 %d3, [%d2+8]; ld.u32 %r3, [%d3]; ld.const.u32 %r4, [five+4]; "
     "setp.ne.u32 %p0, %r3, %r4;\n"
     " @%p0 trap; ld.global.u64 %d4, [plain]; ld.global.u64 %d5, [where_is_it]; setp.ne.u64 %p1, %d4, %d5; "
     "@%p1 trap;\n"
     " cvta.const.u64 %d6, %d2; ld.u64 %d7, [%d6]; setp.ne.u64 %p1, %d4, %d7; @%p1 trap; add.u32 %r0, %r2, "
     "%r3;",
     "", named},
    {"isspacep", ".global .u32 g; .const .u32 c;\n",
     ".local .b32 l; .shared .b32 s; mov.u64 %d0, g; mov.u64 %d1, l; cvta.local.u64 %d1, %d1; mov.u64 %d2, "
     "s; "
     "cvta.shared.u64 %d2, %d2;\n"
     " isspacep.global %p0, %d0; isspacep.local %p1, %d0; isspacep.local %p2, %d1; isspacep.global %p3, %d1; "
     "isspacep.shared %p4, "
     "%d2;\n isspacep.shared::cluster %p5, %d2; isspacep.const %p6, %d2;\n"
     " selp.u32 %r1, 1, 0, %p0; selp.u32 %r2, 2, 0, %p1; add.u32 %r1, %r1, %r2; selp.u32 %r2, 4, 0, %p2; "
     "add.u32 %r1, %r1, %r2;\n"
     " selp.u32 %r2, 8, 0, %p3; add.u32 %r1, %r1, %r2; selp.u32 %r2, 16, 0, %p4; add.u32 %r1, %r1, %r2; "
     "selp.u32 %r2, 32, 0, %p5;\n"
     " add.u32 %r1, %r1, %r2; selp.u32 %r2, 64, 0, %p6; add.u32 %r0, %r1, %r2;",
     "", spaces},
    {"a structure by value",
     ".func (.param .align 4 .b8 result[8]) f(.param .align 4 .b8 x[8])\n{ .reg .b32 %r<3>; .reg .b16 %h; "
     "ld.param.b8 %h, [x]; "
     "cvt.u32.u16 %r0, %h;\n ld.param.b32 %r1, [x+4]; mul.lo.u32 %r0, %r0, 0x01010101; st.param.v2.b32 "
     "[result], {%r0, %r1}; ret; }\n",
     "{ .param .align 4 .b8 x[8], y[8]; .reg .b16 %h; cvt.u16.u32 %h, %t; st.param.v4.b8 [x], {%h, %h, %h, "
     "%h}; st.param.b32 [x+4], "
     "%t;\n call.uni (y), f, (x); ld.param.v2.b32 {%r1, %r2}, [y]; add.u32 %r0, %r1, %r2; }\n",
     "", packed},
};
enum { KERNELS = sizeof kernels / sizeof *kernels, THREADS = 64, TEXT = 8192 };

static void kernel_text(char text[TEXT], const struct kernel *k) {
    snprintf(text, TEXT, "%s%s%s%s%s%s%s", HEADER, k->before,
             strstr(k->code, "where_is_it") ? ".global .align 8 .u64 where_is_it = generic(bytes);\n" : "",
             ENTRY, k->code, END, k->after);
}

static void run(const struct kernel *k, int order) {
    char text[TEXT];
    uint64_t out;
    uint32_t got[THREADS] = {0};
    ptxsim *sim;
    CHECK(ptxsim_create(NULL, &sim) == PTXSIM_OK && ptxsim_alloc(sim, sizeof got, &out) == PTXSIM_OK);
    ptxsim_set_order(sim, order == 1 ? PTXSIM_REVERSED : PTXSIM_IN_ORDER);
    if (order == 2) ptxsim_set_seed(sim, 5);
    kernel_text(text, k);
    void *params[] = {&out};
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){THREADS, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s: %s", k->name, ptxsim_fault_text(sim));
    if (status == PTXSIM_OK) CHECK(ptxsim_read(sim, out, got, sizeof got) == PTXSIM_OK, "%s", k->name);
    for (unsigned t = 0; status == PTXSIM_OK && t < THREADS; t++)
        CHECK(got[t] == k->want(t), "%s: thread %u: got %u, want %u", k->name, t, got[t], k->want(t));
    ptxsim_destroy(sim);
}

/* -- Faults ------------------------------------------------------------------------------------------- */

static const struct wrong {
    const char *before, *code;
    ptxsim_status status;
    const char *message;
} wrongs[] = {
    {"", ".local .b32 l[4]; ld.local.u32 %r0, [l];", PTXSIM_UNINIT, "local read of 4 bytes"},
    {"", ".local .b32 l[4]; st.local.u32 [l+16], %t;", PTXSIM_BOUNDS, "local store of 4 bytes"},
    {"", ".local .b32 l[4]; st.local.u32 [l+2], %t;", PTXSIM_ALIGN, "misaligned"},
    {"", ".local .b32 l[4], m[4]; mov.u64 %d0, l; st.local.v4.u32 [%d0+8], {%t, %t, %t, %t};", PTXSIM_ALIGN,
     "misaligned"},
    {"", ".local .b32 l; mov.u64 %d0, l; cvta.local.u64 %d0, %d0; atom.add.u32 %r0, [%d0], 1;", PTXSIM_TRAP,
     "an atomic on local"},
    {"", "mov.u64 %d0, 0; ld.local.u32 %r0, [%d0];", PTXSIM_BOUNDS, "not inside a variable"},
    {TWICE, "{ .param .b32 x, y; call (y), twice, (x); }", PTXSIM_UNINIT, ".param read of 4 bytes"},
    {FUNCTION("f") "{ ret; }\n", "mov.u32 %r1, 1;\n" CALL("", "f"), PTXSIM_UNINIT, ".param read of 4 bytes"},
    {".func f(.param .b32 x) { .local .b32 l; .reg .b32 %r; .reg .pred %p; ld.param.b32 %r, [x]; setp.eq.u32 "
     "%p, %r, 0;\n @%p "
     "st.local.u32 [l], %r; ld.local.u32 %r, [l]; ret; }\n",
     "{ .param .b32 x; st.param.b32 [x], 0; call f, (x); st.param.b32 [x], 1; call f, (x); }", PTXSIM_UNINIT,
     "local read"},
    {".func f(.param .b32 x) { .reg .b32 %r, %q; .reg .pred %p; ld.param.b32 %r, [x]; setp.eq.u32 %p, %r, "
     "0;\n @%p mov.u32 %q, "
     "1; add.u32 %r, %q, 1; ret; }\n",
     "{ .param .b32 x; st.param.b32 [x], 0; call f, (x); st.param.b32 [x], 1; call f, (x); }", PTXSIM_UNINIT,
     "reads %q"},
    {".extern .func (.param .b32 result) vprintf(.param .b64 a, .param .b64 b);\n",
     "{ .param .b64 a, b; .param .b32 y; call (y), vprintf, (a, b); }", PTXSIM_UNSUPPORTED,
     "calls `vprintf`"},
    {".const .u32 c = 3;\n", "mov.u64 %d0, c; cvta.const.u64 %d0, %d0; st.u32 [%d0], %t;", PTXSIM_BOUNDS,
     "store to constant"},
    {".const .u32 c = 3;\n", "ld.const.u32 %r0, [c+4];", PTXSIM_BOUNDS, "constant load of 4 bytes"},
    {".global .u32 g;\n", "ld.global.u32 %r0, [g+4];", PTXSIM_BOUNDS, "global load of 4 bytes"},
    {".global .u32 g;\n", "st.global.u32 [g], %t;", PTXSIM_RACE, "race on global"},
    {"", "T: .branchtargets A; brx.idx %t, T; A:", PTXSIM_TRAP, "brx.idx 1: the table has 1 targets"},
    {"", "T: .branchtargets A, B; and.b32 %r1, %t, 1; brx.idx.uni %r1, T; A: mov.u32 %r0, 1; B:", PTXSIM_TRAP,
     "disagree"},
    {"", "addc.u32 %r0, %t, 1;", PTXSIM_UNINIT, "the carry flag"},
};

static void run_wrong(const struct wrong *w) {
    char text[TEXT];
    uint64_t out;
    ptxsim *sim;
    ptxsim_create(NULL, &sim);
    ptxsim_alloc(sim, 4 * THREADS, &out);
    snprintf(text, sizeof text, "%s%s%s%s%s", HEADER, w->before, ENTRY, w->code, END);
    void *params[] = {&out};
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){THREADS, 1, 1}, 0, params);
    CHECK(status == w->status, "%s: %s", w->code, ptxsim_fault_text(sim));
    CHECK_TEXT(ptxsim_fault_of(sim)->message, w->message);
    ptxsim_destroy(sim);
}

/* -- Variables from outside --------------------------------------------------------------------------- */

static void test_variables(void) {
    static const char text[] =
        HEADER ".const .u32 by = 3;\n.global .align 8 .b8 sum[8];\n.visible .entry k() { .reg .b32 %r<2>; "
               "ld.const.u32 %r1, [by]; atom.global.add.u32 %r0, [sum], %r1; ret; }\n";
    ptxsim *sim;
    ptxsim_module *module;
    const ptxsim_function *kernel;
    uint64_t sum, by, other;
    uint32_t word = 10, got = 0;
    size_t bytes = 0;
    ptxsim_create(NULL, &sim);
    CHECK(ptxsim_module_load(sim, text, &module) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_module_function(sim, module, "k", &kernel) == PTXSIM_OK);
    CHECK(strcmp(ptxsim_module_entry(module, 0), "k") == 0 && !ptxsim_module_entry(module, 1));
    CHECK(ptxsim_module_variable(sim, module, "sum", &sum, &bytes) == PTXSIM_OK && bytes == 8);
    CHECK(ptxsim_module_variable(sim, module, "by", &by, NULL) == PTXSIM_OK);
    CHECK(ptxsim_module_variable(sim, module, "nothing", &other, NULL) == PTXSIM_INVALID && other == 0);
    for (unsigned launches = 1; launches <= 2; launches++) {
        CHECK(ptxsim_launch(sim, kernel, (ptxsim_dim3){2, 1, 1}, (ptxsim_dim3){32, 1, 1}, 0, NULL) ==
              PTXSIM_OK);
        CHECK(ptxsim_read(sim, sum, &got, sizeof got) == PTXSIM_OK && got == launches * 192, "%u", got);
    }
    CHECK(ptxsim_write(sim, by, &word, sizeof word) == PTXSIM_OK);
    CHECK(ptxsim_launch(sim, kernel, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){1, 1, 1}, 0, NULL) == PTXSIM_OK);
    CHECK(ptxsim_read(sim, sum, &got, sizeof got) == PTXSIM_OK && got == 2 * 192 + 10, "%u", got);
    CHECK(ptxsim_free(sim, sum) == PTXSIM_INVALID);
    CHECK(ptxsim_module_unload(sim, module) == PTXSIM_OK);
    CHECK(ptxsim_read(sim, sum, &got, sizeof got) == PTXSIM_BOUNDS);
    ptxsim_destroy(sim);
}

/* ptxas takes one module: the names of one kernel are those of the next. */
static int dump(int which) {
    char text[TEXT];
    kernel_text(text, &kernels[which]);
    printf("%s", text);
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 2 && strcmp(argv[1], "dump") == 0 && atoi(argv[2]) >= 0 && atoi(argv[2]) < KERNELS)
        return dump(atoi(argv[2]));
    for (int i = 0; i < KERNELS; i++)
        for (int order = 0; order < 3; order++) run(&kernels[i], order);
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) run_wrong(&wrongs[i]);
    test_variables();
    return check_end();
}
