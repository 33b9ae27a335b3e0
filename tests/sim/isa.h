/* Instructions with operands and the result that the PTX ISA gives, at the edges above all. A row: the code;
 * the letter of the result register; the operands; the result. The same values come in registers of every
 * width, and the result is register 0 of its letter:
 *
 *   %h1.. .b16, %r1.. .b32, %d1.. .b64, %f1.. .f32, %g1.. .f64, %p1.. .pred (bit 0)
 *
 * The rows are in isa_table.h and, what needs sm_90, in isa_table_90.h, and isa_table_foreign.h. They were checked on a GPU, too (isa_gpu.c). */
#ifndef TESTS_SIM_ISA_H
#define TESTS_SIM_ISA_H

#include <stdint.h>
#include <stdio.h>

struct isa_row {
    const char *code;
    char result;
    uint64_t a, b, c, want;
};

#include "isa_table.h"
#include "isa_table_90.h"
#include "isa_table_foreign.h"

/* Rows that need the same least target: one module. */
struct isa_module {
    const char *header;
    const struct isa_row *rows;
    int count;
};

enum { ISA_HEADER_TEXT = 64, ISA_TEXT = 4096, ISA_MODULES = 3 };

static const struct isa_module isa_modules[ISA_MODULES] = {
    {".version 8.0\n.target sm_80\n.address_size 64\n", isa_table, sizeof isa_table / sizeof *isa_table},
    {".version 8.1\n.target sm_90\n.address_size 64\n", isa_table_90,
     sizeof isa_table_90 / sizeof *isa_table_90},
    {".version 8.1\n.target sm_90\n.address_size 64\n", isa_table_foreign,
     sizeof isa_table_foreign / sizeof *isa_table_foreign}};

/* The entry `NAME` that runs ROW; all lanes compute, lane 0 stores. Each entry has its scratch to itself. */
static inline void isa_entry(char text[ISA_TEXT], const char *name, const struct isa_row *row) {
    const char *store = row->result == 'p'   ? "selp.u32 %r0, 1, 0, %p0; @%z st.global.u32 [%o], %r0;"
                        : row->result == 'h' ? "@%z st.global.b16 [%o], %h0;"
                        : row->result == 'd' ? "@%z st.global.b64 [%o], %d0;"
                        : row->result == 'f' ? "@%z st.global.f32 [%o], %f0;"
                        : row->result == 'g' ? "@%z st.global.f64 [%o], %g0;"
                                             : "@%z st.global.b32 [%o], %r0;";
    int used =
        snprintf(text, ISA_TEXT,
                 ".visible .entry %s(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 scratch, "
                 ".param .u64 out)\n{\n"
                 " .reg .b16 %%h<8>; .reg .b32 %%r<8>, %%l; .reg .b64 %%d<8>, %%m, %%o; .reg .f32 %%f<8>; "
                 ".reg .f64 %%g<8>; .reg .pred %%p<8>, %%z;\n"
                 " .shared .align 16 .b8 buf[64];\n ld.param.u64 %%m, [scratch];\n ld.param.u64 %%o, [out];\n"
                 " mov.u32 %%l, %%laneid;\n mad.wide.u32 %%m, %%l, 64, %%m;\n setp.eq.u32 %%z, %%l, 0;\n",
                 name);
    for (int i = 1; i <= 3; i++)
        used += snprintf(text + used, (size_t)(ISA_TEXT - used),
                         " ld.param.b64 %%d%d, [%c];\n cvt.u32.u64 %%r%d, %%d%d;\n cvt.u16.u64 %%h%d, "
                         "%%d%d;\n mov.b32 %%f%d, %%r%d;\n"
                         " mov.b64 %%g%d, %%d%d;\n and.b32 %%r0, %%r%d, 1;\n setp.ne.u32 %%p%d, %%r0, 0;\n",
                         i, "abc"[i - 1], i, i, i, i, i, i, i, i, i, i);
    snprintf(text + used, (size_t)(ISA_TEXT - used), " %s\n %s\n ret;\n}\n", row->code, store);
}

static inline unsigned isa_result_bytes(const struct isa_row *row) {
    return row->result == 'h' ? 2 : row->result == 'd' || row->result == 'g' ? 8 : 4;
}

#endif
