/* What the parser accepts, and what it says about what it does not: status, line and message. */
#include "harness.h"

struct bad_text {
    const char
        *text; /* of a whole module, or, if it does not start with a dot or `/`, of line 5 of an entry */
    ptxsim_status status;
    int line;
    const char *message;
};

/* Lines 1 to 4 of the entry that a body is put into. */
static const char body_head[] = PTX_HEADER
    ".visible .entry k(.param .u64 a, .param .u32 n) { .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .u32 %u<4>; "
    ".reg .f32 %f<4>; .reg .b64 %d<4>; .reg .f64 %g<4>; .reg .pred %p<4>; .shared .align 4 .b8 sm[16];\n";

static const struct bad_text bad_texts[] = {
    /* modules */
    {".target sm_80", PTXSIM_PARSE, 1, "`.target` where `.version` should stand"},
    {".version 8.0\n.address_size 64", PTXSIM_PARSE, 2, "where `.target` should stand"},
    {".version 8.0\n.target sm_80\n", PTXSIM_PARSE, 3, "the text ends where `.address_size` should stand"},
    {".version 8.0\n.target sm_80\n.address_size 32\n", PTXSIM_UNSUPPORTED, 3, ".address_size other than 64"},
    {".version x", PTXSIM_PARSE, 1, "`x` where a version number should stand"},
    {PTX_HEADER ".func f() { ret; }", PTXSIM_UNSUPPORTED, 4, "directive .func"},
    {PTX_HEADER ".extern .func f();", PTXSIM_UNSUPPORTED, 4, "directive .func"},
    {PTX_HEADER ".global .u32 x;", PTXSIM_UNSUPPORTED, 4, "directive .global"},
    {PTX_HEADER ".visible .entry k() { ret;", PTXSIM_PARSE, 4, "the text ends where `}` should stand"},
    {PTX_HEADER ".visible .entry k(.param .u64 a .param .u64 b) { ret; }", PTXSIM_PARSE, 4,
     "`.param` where `)` should stand"},
    {PTX_HEADER ".visible .entry k(.param .u64 a, .param .u32 a) { ret; }", PTXSIM_PARSE, 4,
     "`a` is declared twice"},
    {PTX_HEADER ".visible .entry k(.param .u99 a) { ret; }", PTXSIM_PARSE, 4,
     "`.u99` where the type of a parameter should stand"},
    {PTX_HEADER ".visible .entry k(.param .b8 a[40000]) { ret; }", PTXSIM_PARSE, 4,
     "40000 is not between 1 and 32764"},
    {PTX_HEADER ".visible .entry k() { ret; }\n.visible .entry k() { ret; }", PTXSIM_PARSE, 5,
     "`k` is declared twice"},
    {PTX_HEADER ".visible .entry k() .blocksareclusters { ret; }", PTXSIM_UNSUPPORTED, 4,
     "directive .blocksareclusters"},
    {PTX_HEADER ".visible .entry k()\n.maxclusterrank 4 .reqnctapercluster 2 { ret; }", PTXSIM_PARSE, 5,
     ".reqnctapercluster and .maxclusterrank"},
    {PTX_HEADER ".visible .entry k() .reqnctapercluster 0 { ret; }", PTXSIM_PARSE, 4,
     "0 is not between 1 and 65535"},
    {PTX_HEADER "/* never closed", PTXSIM_PARSE, 4, "a comment that never ends"},
    {PTX_HEADER "\"string\n", PTXSIM_PARSE, 4, "a string that does not end on its line"},
    {PTX_HEADER ".extern .shared .b8 s[4];", PTXSIM_PARSE, 4,
     "an .extern .shared variable is declared name[]"},
    {PTX_HEADER "/* two\nlines */ // and one\n .shared .align 3 .b8 s[4];", PTXSIM_PARSE, 6,
     "not a power of two"},
    {PTX_HEADER ".shared .b8 s[];", PTXSIM_PARSE, 4, "a variable without a size"},
    {PTX_HEADER ".shared .b8 s[232449];", PTXSIM_PARSE, 4, "232449 is not between"},

    /* declarations in a body */
    {".reg .b32 %r1;", PTXSIM_OK, 0, ""}, /* an inner scope of the test's frame: see parse_body */
    {".reg .b128 %q;", PTXSIM_UNSUPPORTED, 5, "registers of type .b128"},
    {".reg .b32 %x, %x;", PTXSIM_PARSE, 5, "`%x` is declared twice"},
    {".reg .b32 %x<3>, %x2;", PTXSIM_PARSE, 5, "`%x2` is declared twice"},
    {".reg .b32 %x<99999>;", PTXSIM_PARSE, 5, "more than 65536 registers"},
    {".reg .b32 %x", PTXSIM_PARSE, 5, "`}` where `;` should stand"},
    {".local .b8 x[4];", PTXSIM_UNSUPPORTED, 5, "directive .local"},
    {".shared .b32 x[4] = {1, 2, 3, 4};", PTXSIM_PARSE, 5, "cannot be initialised"},
    {".shared .b8 x[232448]; .shared .b8 y[1];", PTXSIM_PARSE, 5, "more than 232448 bytes of shared memory"},

    /* names */
    {"mov.u32 %r0, %r77;", PTXSIM_PARSE, 5, "`%r77` is not declared"},
    {"mov.u32 %r77, 0;", PTXSIM_PARSE, 5, "`%r77` is not a register"},
    {"mov.u32 %tid.x, 0;", PTXSIM_PARSE, 5, "`%tid` is not a register"},
    {"mov.u32 %r0, %tid.w;", PTXSIM_PARSE, 5, "`%tid.w` is not declared"},
    {"mov.u32 %r0, %envreg31;", PTXSIM_UNSUPPORTED, 5, "special register `%envreg31` is not supported"},
    {"mov.u32 %r0, %pm7;", PTXSIM_UNSUPPORTED, 5, "special register `%pm7` is not supported"},
    {"mov.u64 %d0, %pm0_64;", PTXSIM_UNSUPPORTED, 5, "special register `%pm0_64` is not supported"},
    {"mov.u32 %r0, %globaltimer_lo;", PTXSIM_UNSUPPORTED, 5, "special register `%globaltimer_lo` is not"},
    {"mov.u32 %r0, %pmask;", PTXSIM_PARSE, 5, "`%pmask` is not declared"},
    {"mov.u32 %r0, %nothing;", PTXSIM_PARSE, 5, "`%nothing` is not declared"},
    {"mov.u32 sm, 0;", PTXSIM_PARSE, 5, "`sm` is not a register"},
    {"add.u32 %r0, %r1, sm;", PTXSIM_PARSE, 5, "`sm` is a variable"},
    {"bra NOWHERE;", PTXSIM_PARSE, 5, "no label `NOWHERE` in sight"},
    {"{ INNER: }\n bra INNER;", PTXSIM_PARSE, 6, "no label `INNER` in sight"},
    {"X: mov.u32 %r0, 0;\nX: ret;", PTXSIM_PARSE, 6, "label `X` is defined twice"},
    {"{ .reg .b32 %in; }\n mov.u32 %in, 0;", PTXSIM_PARSE, 6, "`%in` is not a register"},
    {"@%r0 mov.u32 %r0, 0;", PTXSIM_PARSE, 5, "`%r0` where a predicate register should stand"},
    {"@5 mov.u32 %r0, 0;", PTXSIM_PARSE, 5, "`5` where a predicate register should stand"},

    /* instructions */
    {"frobnicate.u32 %r0, %r1;", PTXSIM_UNSUPPORTED, 5, "frobnicate.u32: unknown instruction"},
    {"tcgen05.fence;", PTXSIM_UNSUPPORTED, 5, "tcgen05.fence: unknown instruction"},
    {"add.u8 %r0, %r1, %r2;", PTXSIM_UNSUPPORTED, 5, "add.u8: this form"},
    {"add.cc.u32 %r0, %r1, %r2;", PTXSIM_UNSUPPORTED, 5, "add.cc.u32: this form"},
    {"and.u32 %r0, %r1, %r2;", PTXSIM_UNSUPPORTED, 5, "and.u32: this form"},
    {"shl.u32 %r0, %r1, %r2;", PTXSIM_UNSUPPORTED, 5, "shl.u32: this form"},
    {"mul.u32 %r0, %r1, %r2;", PTXSIM_UNSUPPORTED, 5, "mul.u32: this form"},
    {"mul.wide.u64 %d0, %d1, %d2;", PTXSIM_UNSUPPORTED, 5, "mul.wide.u64: this form"},
    {"ld.global.v3.u32 {%r0, %r1, %r2}, [%d0];", PTXSIM_UNSUPPORTED, 5, "ld.global.v3.u32: this form"},
    {"ld.global.b128 %d0, [%d1];", PTXSIM_UNSUPPORTED, 5, "ld.global.b128: this form"},
    {"ld.const.u32 %r0, [%d0];", PTXSIM_UNSUPPORTED, 5, "ld.const.u32: this form"},
    {"ld.global.bogus.u32 %r0, [%d0];", PTXSIM_UNSUPPORTED, 5, "ld.global.bogus.u32: this form"},
    {"ld.u32.global %r0, [%d0];", PTXSIM_UNSUPPORTED, 5, "ld.u32.global: this form"},
    {"ld.global %r0, [%d0];", PTXSIM_UNSUPPORTED, 5, "ld.global: this form"},
    {"st.param.u32 [a], %r0;", PTXSIM_UNSUPPORTED, 5, "kernel parameters are read only"},
    {"ld.global.v4.u64 {%d0, %d1, %d2, %d3}, [%d0];", PTXSIM_UNSUPPORTED, 5, "more than 16 bytes"},
    {"ld.global.nc.relaxed.gpu.u32 %r0, [%d0];", PTXSIM_UNSUPPORTED, 5, "this form"},
    {"atom.global.add.s64 %d0, [%d1], %d2;", PTXSIM_UNSUPPORTED, 5, "atom.global.add.s64: this form"},
    {"add.rz.f64 %d0, %d1, %d2;", PTXSIM_UNSUPPORTED, 5, "add.rz.f64: this form"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s4.s8.s32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
     "{%r0,%r1,%r2,%r3};",
     PTXSIM_UNSUPPORTED, 5, "this form"},
    {"mma.sync.aligned.m16n8k32.row.col.s32.s32.s8.s32 {%r0,%r1,%r2,%r3}, {%r0,%r1,%r2,%r3}, {%r4,%r5}, "
     "{%r0,%r1,%r2,%r3};",
     PTXSIM_UNSUPPORTED, 5, "this form"},
    {"setp.lo.s32 %p0, %r0, %r1;", PTXSIM_PARSE, 5, "the comparison is not defined for the type"},
    {"setp.lt.b32 %p0, %r0, %r1;", PTXSIM_PARSE, 5, "the comparison is not defined for the type"},
    {"setp.equ.s32 %p0, %r0, %r1;", PTXSIM_PARSE, 5, "the comparison is not defined for the type"},
    {"setp.lo.f32 %p0, %f0, %f1;", PTXSIM_PARSE, 5, "the comparison is not defined for the type"},
    {"cvt.f32.u32 %f0, %r0;", PTXSIM_PARSE, 5, "cvt needs a rounding modifier"},
    {"cvt.rn.f32.f16 %f0, %h0;", PTXSIM_PARSE, 5, "this cvt is exact"},
    {"cvt.s32.f32 %r0, %f0;", PTXSIM_PARSE, 5, "needs .rni, .rzi, .rmi or .rpi"},
    {"cvt.rn.u32.u16 %r0, %h0;", PTXSIM_PARSE, 5, "cvt between integers does not round"},
    {"cvt.b32.u32 %r0, %r0;", PTXSIM_PARSE, 5, "cvt converts between integer and floating-point types"},

    /* operand types */
    {"add.u32 %f0, %r1, %r2;", PTXSIM_PARSE, 5, "`%f0` is .f32 where .u32 is needed"},
    {"add.u32 %r0, %h1, %r2;", PTXSIM_PARSE, 5, "`%h1` is .b16 where .u32 is needed"},
    {"add.u64 %d0, %d1, %r2;", PTXSIM_PARSE, 5, "`%r2` is .b32 where .u64 is needed"},
    {"mov.u32 %f0, %r1;", PTXSIM_PARSE, 5, "`%f0` is .f32 where .u32 is needed"},
    {"mul.wide.u32 %r0, %r1, %r2;", PTXSIM_PARSE, 5, "`%r0` is .b32 where .u64 is needed"},
    {"shl.b64 %d0, %d1, %d2;", PTXSIM_PARSE, 5, "`%d2` is .b64 where .u32 is needed"},
    {"selp.b32 %r0, %r1, %r2, %r3;", PTXSIM_PARSE, 5, "`%r3` is .b32 where .pred is needed"},
    {"setp.eq.u32 %r0, %r1, %r2;", PTXSIM_PARSE, 5, "`%r0` is .b32 where .pred is needed"},
    {"ld.global.u8 %f0, [%d1];", PTXSIM_PARSE, 5, "`%f0` is .f32 where .u8 is needed"},
    {"ld.global.u64 %r0, [%d1];", PTXSIM_PARSE, 5, "`%r0` is .b32 where .u64 is needed"},
    {"ld.global.f32 %g0, [%d1];", PTXSIM_PARSE, 5, "`%g0` is .f64 where .f32 is needed"},
    {"ld.global.u32 %r0, [%r1];", PTXSIM_PARSE, 5, "`%r1` is .b32 where .u64 is needed"},
    {"mov.f32 %f0, 0;", PTXSIM_PARSE, 5, "an integer constant as a .f32 operand"},
    {"mov.u32 %r0, 1.5;", PTXSIM_PARSE, 5, "a float constant as a .u32 operand"},
    {"add.u32 %r0, %r1, 0x100000000;", PTXSIM_PARSE, 5, "constant 0x100000000 does not fit .u32"},
    {"add.s16 %h0, %h1, -32769;", PTXSIM_PARSE, 5, "does not fit .s16"},
    {"mov.b64 %d0, {%r1, %h1};", PTXSIM_PARSE, 5, "`%h1` is .b16 where .b32 is needed"},
    {"mov.u64 %d0, {%r1, %r2};", PTXSIM_PARSE, 5, "a vector of 2 cannot be packed in .u64"},
    {"mov.u16 %h0, sm;", PTXSIM_PARSE, 5, "the address of `sm` as a .u16 operand"},

    {"add.u32 %r0, %tid.x, 1;", PTXSIM_PARSE, 5, "special register `%tid.x`: move it to a register first"},
    {"mov.u32 _, %r0;", PTXSIM_PARSE, 5, "`_` is not a register"},
    {"shfl.sync.idx.b32 _|%p0, %r0, 0, 31, -1;", PTXSIM_PARSE, 5, "`_` is not a register"},
    {"st.global.v2.u32 [%d0], {_, %r0};", PTXSIM_PARSE, 5, "`_` is not declared"},
    {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r0,%r1}, %r1, %r2, {%r0,%r1};", PTXSIM_PARSE, 5,
     "`%r1` where `{` should stand"},
    {"ld.global.u32 %r0, [4096];", PTXSIM_PARSE, 5, "`4096` where a register or a variable should stand"},
    {"lop3.b32 %r0, %r1, %r2, %r3, 256;", PTXSIM_PARSE, 5, "256 is not between 0 and 255"},

    /* syntax */
    {"mov.u32 %r0, 1;;", PTXSIM_PARSE, 5, "`;` where an instruction should stand"},
    {"add.u32 %r0, %r1;", PTXSIM_PARSE, 5, "`;` where `,` should stand"},
    {"add.u32 %r0, %r1, %r2, %r3;", PTXSIM_PARSE, 5, "`,` where `;` should stand"},
    {"add.u32 %r0, %r1, ;", PTXSIM_PARSE, 5, "`;` where a constant should stand"},
    {"ld.global.v2.u32 %r0, [%d0];", PTXSIM_PARSE, 5, "`%r0` where `{` should stand"},
    {"ld.global.v2.u32 {%r0, %r1, %r2}, [%d0];", PTXSIM_PARSE, 5, "`,` where `}` should stand"},
    {"ld.global.u32 %r0, %d0;", PTXSIM_PARSE, 5, "`%d0` where `[` should stand"},
    {"ld.global.u32 %r0, [%d0-4];", PTXSIM_PARSE, 5, "`-` where `]` should stand"},
    {"ld.global.u32 %r0, [sm];", PTXSIM_PARSE, 5, "`sm` is not in the state space of the access"},
    {"ld.shared.u32 %r0, [a];", PTXSIM_PARSE, 5, "`a` is not in the state space of the access"},
    {"mov.u32 %r0, 08;", PTXSIM_PARSE, 5, "a wrong digit in a number"},
    {"mov.u32 %r0, 0x;", PTXSIM_PARSE, 5, "a number without digits"},
    {"mov.u32 %r0, 12ab;", PTXSIM_PARSE, 5, "a wrong digit in a number"},
    {"mov.f32 %f0, 0f3f80;", PTXSIM_PARSE, 5, "wrong number of digits in a float constant"},
    {"mov.u64 %d0, 99999999999999999999;", PTXSIM_PARSE, 5, "a number that does not fit 64 bits"},
    {"mov.u32 %r0, 1/0;", PTXSIM_PARSE, 5, "divides by zero"},
    {"mov.u32 %r0, (1;", PTXSIM_PARSE, 5, "`;` where `)` should stand"},
    {"lop3.b32 %r0, %r1, %r2, %r3, %r4;", PTXSIM_PARSE, 5, "`%r4` where a constant should stand"},
    {"mov.u32 %r0, 1", PTXSIM_PARSE, 5, "`}` where `;` should stand"},
    {"bra 5;", PTXSIM_PARSE, 5, "`5` where a label should stand"},
    {"#", PTXSIM_PARSE, 5, "`#` where an instruction should stand"},
    {"mov.u32 %r0, 1;\n\n// comment\n/* and\n another */ bad;", PTXSIM_UNSUPPORTED, 9,
     "bad: unknown instruction"},
};

static void run_bad(const struct bad_text *bad) {
    char text[8192];
    ptxsim *sim;
    ptxsim_module *module;
    int whole = bad->text[0] == '.' && strncmp(bad->text, ".reg", 4) && strncmp(bad->text, ".shared", 7) &&
                strncmp(bad->text, ".local", 6);
    if (whole) snprintf(text, sizeof text, "%s", bad->text);
    else snprintf(text, sizeof text, "%s{ %s }\nret; }\n", body_head, bad->text);
    ptxsim_create(NULL, &sim);
    ptxsim_status status = ptxsim_module_load(sim, text, &module);
    const ptxsim_fault *fault = ptxsim_fault_of(sim);
    CHECK(status == bad->status, "\"%s\": got status %d: %s", bad->text, (int)status, ptxsim_fault_text(sim));
    CHECK(fault->line == bad->line, "\"%s\": got line %d, want %d", bad->text, fault->line, bad->line);
    CHECK(!fault->in_kernel);
    CHECK_TEXT(fault->message, bad->message);
    ptxsim_destroy(sim);
}

/* Spellings that generators and people use. */
static const char spellings[] =
    "//\n// Generated\n//\n\n.version 8.0\n.target sm_90a, texmode_independent\n.address_size 64\n\n"
    ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .u32 words[2][3];\n\n"
    "\t// .globl\tk\n.visible .entry k(\n\t.param .align 8 .b8 k_param_0[24],\n\t.param .u64 .ptr .global "
    ".align 16 k_param_1,\n"
    "\t.param .u64 .ptr k_param_2, .param .s32 last\n)\n.maxntid 128, 1, 1\n.minnctapersm 2\n.maxnreg "
    "64\n.pragma \"nounroll\";\n{\n"
    "\t.pragma \"nounroll\";\n\t.reg .pred \t%p<2>;\n\t.reg .b32 %r<4>, single, $dollar, _under;\n\t.reg "
    ".b64 \t%rd<3>;\n"
    "\t.loc\t1 10 5\n\tld.param.u64 \t%rd1, [k_param_0+16];\n\tld.param.v2.u32 \t{%r0, %r1}, [k_param_0];\n"
    "\tmov.u32 single,1;mov.u32 $dollar , -1 ;mov.b32 _under,%r0;\n"
    "$L__BB0_1: { .reg .b32 %r0; mov.u32 %r0, 7; $L__BB0_1: bra.uni $L__BB0_1x; $L__BB0_1x: }\n"
    "\tmov.u32 %r2, dynamic; mov.u64 %rd2, words; st.shared.u32 [words+20], %r0;\n\tst.shared.v2.u32 "
    "[dynamic+8], {%r0, _under};\n"
    "\t@%p1 bra $L__BB0_1;\n\t@!%p1 exit;\n}\n\n.entry bare { }\n.weak .entry empty() { ret.uni; }\n";

static void run_spellings(void) {
    ptxsim *sim;
    ptxsim_module *module;
    const ptxsim_function *function;
    ptxsim_create(NULL, &sim);
    CHECK(ptxsim_module_load(sim, spellings, &module) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_module_function(sim, module, "k", &function) == PTXSIM_OK && function);
    CHECK(ptxsim_module_function(sim, module, "empty", &function) == PTXSIM_OK && function);
    CHECK(ptxsim_launch(sim, function, (ptxsim_dim3){2, 1, 1}, (ptxsim_dim3){64, 1, 1}, 0, NULL) ==
          PTXSIM_OK);
    CHECK(ptxsim_counts_of(sim)->thread_instructions == 128);
    CHECK(ptxsim_module_function(sim, module, "bare", &function) == PTXSIM_OK && function);
    CHECK(ptxsim_launch(sim, function, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){1, 1, 1}, 0, NULL) == PTXSIM_OK);
    CHECK(ptxsim_module_function(sim, module, "missing", &function) == PTXSIM_INVALID && !function);
    CHECK_TEXT(ptxsim_fault_text(sim), "no entry `missing`");
    CHECK(ptxsim_module_unload(sim, module) == PTXSIM_OK);
    CHECK(ptxsim_module_unload(sim, module) == PTXSIM_INVALID);
    ptxsim_destroy(sim);
}

/* Every prefix of a good text, and the text with each character replaced: no crash, and an error has a
 * message. */
static void run_damaged(void) {
    char text[sizeof spellings];
    ptxsim *sim;
    ptxsim_module *module;
    ptxsim_create(NULL, &sim);
    for (size_t i = 0; i < sizeof spellings - 1; i++) {
        memcpy(text, spellings, sizeof text);
        text[i] = 0;
        if (ptxsim_module_load(sim, text, &module) != PTXSIM_OK) CHECK(ptxsim_fault_of(sim)->message[0] != 0);
        memcpy(text, spellings, sizeof text);
        text[i] = "%.<{[,;0 /\"\\@"[i % 13];
        if (ptxsim_module_load(sim, text, &module) != PTXSIM_OK) CHECK(ptxsim_fault_of(sim)->message[0] != 0);
    }
    ptxsim_destroy(sim);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "dump") == 0) {
        fputs(spellings, stdout);
        return 0;
    }
    for (size_t i = 0; i < sizeof bad_texts / sizeof *bad_texts; i++) run_bad(&bad_texts[i]);
    run_spellings();
    run_damaged();
    return check_end();
}
