#include "plain.h"
#include <stdio.h>

enum { WORDS = 4 /* of 16 bytes */ };

static void put_head(FILE *out, int threads, int unroll, int words) {
    fprintf(
        out,
        ".version 7.8\n.target sm_90\n.address_size 64\n"
        ".visible .entry plain(.param .u64 in, .param .u64 out, .param .s32 units)\n.reqntid %d, 1, 1\n{\n"
        ".reg .b32 %%r<8>, %%d<%d>;\n.reg .b64 %%in, %%out, %%a;\n.reg .pred %%p<%d>, %%more;\n"
        "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\nld.param.s32 %%r0, [units];\n"
        "cvta.to.global.u64 %%in, %%in;\ncvta.to.global.u64 %%out, %%out;\n"
        "mov.u32 %%r1, %%ctaid.x;\nmov.u32 %%r2, %%tid.x;\nmad.lo.s32 %%r1, %%r1, %d, %%r2;\n"
        "mov.u32 %%r3, %%nctaid.x;\nmul.lo.s32 %%r3, %%r3, %d;\nLOOP:\n",
        threads, words * unroll, unroll, threads, threads);
}

/* The words from %dFIRST on. */
static void put_words(FILE *out, int first) {
    fprintf(out, "{%%d%d, %%d%d, %%d%d, %%d%d}", first, first + 1, first + 2, first + 3);
}

static void put_load(FILE *out, int unit, int reads) {
    fprintf(out,
            "mad.lo.s32 %%r4, %%r3, %d, %%r1;\nsetp.lt.s32 %%p%d, %%r4, %%r0;\n"
            "mad.wide.s32 %%a, %%r4, %d, %%in;\n",
            unit, unit, 16 * reads);
    for (int i = 0; i < reads; i++) {
        fprintf(out, "@%%p%d ld.global.nc.v4.b32 ", unit);
        put_words(out, WORDS * (reads * unit + i));
        fprintf(out, ", [%%a+%d];\n", 16 * i);
    }
}

static void put_store(FILE *out, int unit, int reads) {
    int first = WORDS * reads * unit;
    for (int i = WORDS; i < WORDS * reads; i++)
        fprintf(out, "xor.b32 %%d%d, %%d%d, %%d%d;\n", first + i % WORDS, first + i % WORDS, first + i);
    fprintf(out,
            "mad.lo.s32 %%r4, %%r3, %d, %%r1;\nmad.wide.s32 %%a, %%r4, 16, %%out;\n@%%p%d st.global.v4.b32 "
            "[%%a], ",
            unit, unit);
    put_words(out, first);
    fprintf(out, ";\n");
}

char *plain_ptx(int threads, int unroll, int reads) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    put_head(out, threads, unroll, WORDS * reads);
    for (int i = 0; i < unroll; i++) put_load(out, i, reads);
    for (int i = 0; i < unroll; i++) put_store(out, i, reads);
    fprintf(out,
            "mad.lo.s32 %%r1, %%r3, %d, %%r1;\nsetp.lt.s32 %%more, %%r1, %%r0;\n@%%more bra LOOP;\nret;\n}\n",
            unroll);
    fclose(out);
    return text;
}
