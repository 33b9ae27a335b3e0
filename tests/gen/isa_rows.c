/* isa_rows dump VERSION: prints a kernel in which every row of isa.def that VERSION (84 for 8.4) has stands
 * once, for ptxas to read. Operands follow from the letters of the signature; a wgmma has 256 columns, and
 * once more 8. */
#include "parts/emit.h"
#include <stdio.h>
#include <stdlib.h>

enum { MOST_SUMS = 128, MOST_OPERANDS = 8 };

/* A register of each type, in vectors, all of them written. */
typedef struct operands {
    mc_reg p[4], h[4], b[MOST_SUMS], l[4], x[3];
    mc_label next;
} operands;

static operands make_operands(mc_builder *b) {
    operands o;
    pred_array(b, "p", 4, o.p);
    b32_array(b, "b", MOST_SUMS, o.b);
    b64_array(b, "l", 4, o.l);
    b32_array(b, "x", 3, o.x);
    for (int i = 0; i < MOST_SUMS; i++) EMIT(b, mov_b32, o.b[i], I(0));
    for (int i = 0; i < 3; i++) EMIT(b, mov_b32, o.x[i], I(0));
    for (int i = 0; i < 4; i++) {
        static const char *const names[] = {"h0", "h1", "h2", "h3"};
        EMIT(b, mov_b64, o.l[i], I(0));
        EMIT(b, setp_eq, o.p[i], o.b[0], I(0));
        o.h[i] = b16(b, names[i]);
        if (i % 2)
            EMIT(b, split_halves, ((mc_operand){.kind = PTX_REG, .count = 2, .regs = &o.h[i - 1]}), o.b[0]);
    }
    return o;
}

/* An immediate: 0, where that is right. */
static mc_operand immediate(const char *name) {
    static const struct {
        const char *name;
        int value;
    } rows[] = {{"registers_", 240},    {"cp_async_narrow", 4}, {"cp_async_unit", 16},
                {"cp_async_whole", 16}, {"bar_sync_some", 64},  {"bar_arrive_some", 64}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strncmp(name, rows[i].name, strlen(rows[i].name)) == 0) return I(rows[i].value);
    return I(0);
}

static mc_operand vector(const mc_reg *regs, int count) { return operand_vector(regs, count); }

/* The tensor map's coordinates: as many as the mnemonic says. */
static mc_operand coordinates(const operands *o, const char *mnemonic) {
    int dims = atoi(strstr(mnemonic, ".tensor.") + strlen(".tensor."));
    return (mc_operand){.kind = PTX_TENSOR, .id = o->l[0].id, .count = dims, .regs = o->x};
}

static mc_operand operand_of(const operands *o, const mc_instruction *row, char letter, int count, int sums) {
    bool wgmma = strstr(row->mnemonic, "wgmma") != NULL;
    switch (letter) {
    case 'p':
    case 'P':
    case 'e': return o->p[0];
    case 'h':
    case 'H': return vector(o->h, count);
    case 'D': return vector(o->b, sums / 2);
    case 'G': return vector(o->b, sums / 4);
    case 'b':
    case 'B': return vector(wgmma ? o->x : o->b, count == 4 && wgmma ? 1 : count);
    case 'v': return o->b[0];
    case 'l':
    case 'L': return vector(o->l, count);
    case 'i': return immediate(row->name);
    case 'n': return I(1);
    case 'z':
    case 'X': return I(0);
    case 'm': return AT(o->l[0], 0);
    case 's': return AT(o->b[0], 0);
    case 'q':
        return NAME(strstr(row->mnemonic, "64") ? "address" : strstr(row->mnemonic, "f32") ? "real" : "word");
    case 'S': return NAME("tid.x");
    case 't': return NAME(row->name[4] == 's' ? "room" : "map");
    case 'T': return coordinates(o, row->mnemonic);
    case 'x': return TO(o->next);
    default: return I(0);
    }
}

/* A wgmma's sums are not its factors. */
static void emit_row(mc_builder *b, operands *o, mc_opcode op, int columns) {
    const mc_instruction *row = &mc_instructions[op];
    mc_operand list[MOST_OPERANDS * 2];
    mc_reg factors[4] = {o->x[0], o->x[1], o->x[2], o->x[0]};
    size_t count = 0;
    for (const char *at = row->signature; *at; at++) {
        if (*at == '=') continue;
        int length = *at >= '2' && *at <= '9' ? *at++ - '0' : 1;
        list[count] = operand_of(o, row, *at, length, columns);
        if (length == 4 && op_columns(op)) list[count] = vector(factors, 4);
        count++;
    }
    builder_emit(b, o->p[1], op, list, count);
}

int main(int argc, char **argv) {
    mc_builder builder = {0}, *b = &builder;
    mc_text text = {0};
    int most = argc > 2 ? atoi(argv[2]) : 0, version = 0;
    for (int i = 0; mc_arch_names[i]; i++)
        if (strcmp(mc_arch_names[i], "sm_90a") == 0) b->arch = &mc_archs[i];
    shared_array(b, "room", 1024, 1024);
    operands o = make_operands(b);
    o.next = label(b, "NEXT");
    for (int op = 0; op < MC_OPCODES; op++) {
        if (mc_instructions[op].version > most) continue;
        emit_row(b, &o, (mc_opcode)op, 256);
        if (op_columns((mc_opcode)op)) emit_row(b, &o, (mc_opcode)op, 8);
    }
    set_label(b, o.next);
    EMIT_RET(b);
    bool good = builder_check(b, &version, NULL);
    if (good) print_body(b, &text);
    else fprintf(stderr, "%s\n", b->error);
    printf(".version %d.%d\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 address, .param "
           ".s32 word, "
           ".param .f32 real, .param .align 64 .b8 map[128])\n.reqntid 384\n.maxnreg 168\n%s",
           most / 10, most % 10, good ? text.data : "");
    builder_free(b);
    free(text_take(&text));
    return !good;
}
