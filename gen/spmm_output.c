#include "spmm_output.h"

enum { FACTOR_BYTES = 4, FACTOR_ALIGN = 16 };

static const struct {
    const char *name;
    int log_bytes;
    mc_opcode pack; /* of two f32, for 16-bit elements */
} elements[] = {
    [SPMM_S32] = {"s32", 2, MC_OPCODES},      [SPMM_F16] = {"f16", 1, OP_cvt_f16x2},
    [SPMM_BF16] = {"bf16", 1, OP_cvt_bf16x2}, [SPMM_F32] = {"f32", 2, MC_OPCODES},
    [SPMM_S64] = {"s64", 3, MC_OPCODES},
};

int spmm_element_bytes(spmm_element element) { return 1 << elements[element].log_bytes; }

const char *spmm_element_name(spmm_element element) { return elements[element].name; }

bool spmm_is_scaled(spmm_element element) { return element != SPMM_S32 && element != SPMM_S64; }

bool spmm_by_rows(const spmm_output *output) {
    return output->scale == SPMM_PER_ROW || output->bias == SPMM_PER_ROW;
}

bool spmm_by_columns(const spmm_output *output) {
    return output->scale == SPMM_PER_COLUMN || output->bias == SPMM_PER_COLUMN;
}

/* -- Contract ----------------------------------------------------------------------------------------- */

#define C_DOC(type) "C: " type "[m][ldc], row-major; columns n and beyond are not touched"
#define ROUNDED(type)                                                                                        \
    {                                                                                                        \
        C_DOC(type)                                                                                          \
        "; C = " type "(f32(sum) * scale)", C_DOC(type) "; C = " type "(fma(f32(sum), scale, bias))"         \
    }

static const char *const c_docs[][2] = {/* without and with a bias */
                                        [SPMM_S32] = {C_DOC("s32")},
                                        [SPMM_S64] = {C_DOC("s64")},
                                        [SPMM_F16] = ROUNDED("f16"),
                                        [SPMM_BF16] = ROUNDED("bf16"),
                                        [SPMM_F32] = {C_DOC("f32") "; C = f32(sum) * scale",
                                                      C_DOC("f32") "; C = fma(f32(sum), scale, bias)"}};

static void add_factor(mc_contract *c, const char *name, spmm_per per, const char *const docs[]) {
    if (per == SPMM_PER_NONE) return;
    bool scalar = per == SPMM_PER_TENSOR;
    c->params[c->param_count++] =
        (mc_param){name, scalar ? "f32" : "u64", scalar ? MC_PARAM_SCALAR : MC_PARAM_ARRAY,
                   scalar ? FACTOR_BYTES : FACTOR_ALIGN, docs[per]};
}

void spmm_output_params(const spmm_output *output, unsigned align, mc_contract *c) {
    static const char *const scales[] = {[SPMM_PER_TENSOR] = "scale of every sum",
                                         [SPMM_PER_ROW] = "f32[m]: scale of each row of C",
                                         [SPMM_PER_COLUMN] = "f32[n]: scale of each column of C"};
    static const char *const biases[] = {[SPMM_PER_ROW] = "f32[m]: bias of each row of C",
                                         [SPMM_PER_COLUMN] = "f32[n]: bias of each column of C"};
    unsigned bytes = (unsigned)spmm_element_bytes(output->element);
    c->params[c->param_count++] = (mc_param){"c", "u64", MC_PARAM_ARRAY, align < bytes ? bytes : align,
                                             c_docs[output->element][output->bias != SPMM_PER_NONE]};
    add_factor(c, "scale", output->scale, scales);
    add_factor(c, "bias", output->bias, biases);
}

/* -- Scales and biases -------------------------------------------------------------------------------- */

static mc_reg declare_factor(mc_builder *b, const char *name, spmm_per per) {
    mc_reg reg = {0};
    if (per == SPMM_PER_TENSOR) {
        reg = b32(b, name);
        EMIT(b, ld_param_f32, R(reg), NAME(name));
    } else if (per != SPMM_PER_NONE) {
        reg = b64(b, name);
        EMIT(b, ld_param_u64, R(reg), NAME(name));
        EMIT(b, cvta_global, R(reg), R(reg));
    }
    return reg;
}

void spmm_declare_factors(spmm_factors *f, mc_builder *b, const spmm_output *output, spmm_columns columns,
                          int rows, int column_count) {
    bool by_columns = spmm_by_columns(output);
    *f = (spmm_factors){.b = b, .output = output, .columns = columns};
    f->scale = declare_factor(b, "scale", output->scale);
    f->bias = declare_factor(b, "bias", output->bias);
    if (output->scale == SPMM_PER_ROW) b32_array(b, "row_scale", rows, f->row_scale);
    if (output->bias == SPMM_PER_ROW) b32_array(b, "row_bias", rows, f->row_bias);
    if (output->scale == SPMM_PER_COLUMN) b32_array(b, "column_scale", column_count, f->column_scale);
    if (output->bias == SPMM_PER_COLUMN) b32_array(b, "column_bias", column_count, f->column_bias);
    if (spmm_by_rows(output) || by_columns) f->at = b64(b, "factor_at");
    if (by_columns && columns.clamp) f->col = b32(b, "factor_col");
    if (by_columns && columns.clamp && columns.n.kind == OPERAND_REG) f->last = b32(b, "factor_last");
}

static void load_row(spmm_factors *f, mc_reg to, mc_reg array, mc_reg row, int offset, mc_reg in_rows) {
    mc_builder *b = f->b;
    EMIT(b, mad_wide, R(f->at), R(row), I(FACTOR_BYTES), R(array));
    if (in_rows.id) EMIT(b, mov_b32, R(to), I(0));
    EMIT_IF(b, in_rows, ldr_b32, R(to), AT(f->at, FACTOR_BYTES * offset));
}

void spmm_load_row_factors(spmm_factors *f, int r, mc_reg row, int offset, mc_reg in_rows) {
    if (f->output->scale == SPMM_PER_ROW) load_row(f, f->row_scale[r], f->scale, row, offset, in_rows);
    if (f->output->bias == SPMM_PER_ROW) load_row(f, f->row_bias[r], f->bias, row, offset, in_rows);
}

/* COUNT neighbours from ARRAY[COL + OFFSET] on. */
static void load_neighbours(spmm_factors *f, const mc_reg *to, mc_reg array, mc_reg col, int offset,
                            int count) {
    mc_builder *b = f->b;
    EMIT(b, mad_wide, R(f->at), R(col), I(FACTOR_BYTES), R(array));
    for (int i = 0; f->inside.id && i < count; i++) EMIT(b, mov_b32, R(to[i]), I(0));
    for (int i = 0; i < count;) {
        int left = count - i, at = FACTOR_BYTES * (offset + i);
        if (left >= 4) EMIT_IF(b, f->inside, ldr_v4, V4(to + i), AT(f->at, at));
        else if (left >= 2) EMIT_IF(b, f->inside, ldr_v2, V2(to + i), AT(f->at, at));
        else EMIT_IF(b, f->inside, ldr_b32, R(to[i]), AT(f->at, at));
        i += left >= 4 ? 4 : left >= 2 ? 2 : 1;
    }
}

/* The last column from which COUNT columns lie inside n. */
static mc_operand last_inside(spmm_factors *f, int count) {
    mc_operand n = f->columns.n;
    if (n.kind == OPERAND_IMM) return I(n.imm - count);
    mc_builder *b = f->b;
    EMIT(b, add_s32, R(f->last), n, I(-count));
    return R(f->last);
}

/* Columns beyond n get what those before n have: nothing that comes out of it is stored. */
static void load_clamped(spmm_factors *f, const mc_reg *to, mc_reg array, mc_reg col, int offset, int count) {
    mc_builder *b = f->b;
    int whole = f->columns.whole < count ? f->columns.whole : count;
    mc_operand last = last_inside(f, whole);
    for (int i = 0; i < count; i += whole) {
        if (offset + i) EMIT(b, add_s32, R(f->col), R(col), I(offset + i));
        EMIT(b, min_s32, R(f->col), R(offset + i ? f->col : col), last);
        load_neighbours(f, to + i, array, f->col, 0, whole);
    }
}

static void load_columns(spmm_factors *f, const mc_reg *to, mc_reg array, mc_reg col, int offset, int count) {
    if (f->columns.clamp) load_clamped(f, to, array, col, offset, count);
    else load_neighbours(f, to, array, col, offset, count);
}

void spmm_load_column_factors(spmm_factors *f, int c, mc_reg col, int offset, int count) {
    if (f->output->scale == SPMM_PER_COLUMN)
        load_columns(f, f->column_scale + c, f->scale, col, offset, count);
    if (f->output->bias == SPMM_PER_COLUMN) load_columns(f, f->column_bias + c, f->bias, col, offset, count);
}

/* -- Conversion --------------------------------------------------------------------------------------- */

static mc_reg factor_of(spmm_per per, mc_reg tensor, mc_reg row, mc_reg column) {
    return per == SPMM_PER_ROW ? row : per == SPMM_PER_COLUMN ? column : tensor;
}

/* real = f32(sum) * scale + bias, for column I of RUN. */
static void emit_scale(spmm_writer *w, const spmm_factors *f, const spmm_run *run, int i, mc_reg real) {
    mc_builder *b = w->b;
    int r = run->factor_row, c = run->factor_column + i;
    mc_reg scale = factor_of(w->output->scale, f->scale, f->row_scale[r], f->column_scale[c]);
    mc_reg bias = factor_of(w->output->bias, f->bias, f->row_bias[r], f->column_bias[c]);
    if (w->output->exact) EMIT(b, cvt_f32_s64, R(real), R(run->sums[i]));
    else EMIT(b, cvt_f32_s32, R(real), R(run->sums[i]));
    if (w->output->bias == SPMM_PER_NONE) EMIT(b, mul_f32, R(real), R(real), R(scale));
    else EMIT(b, fma_f32, R(real), R(real), R(scale), R(bias));
}

/* Columns I .. I + COUNT - 1 of RUN as elements of C in registers of 32 bits (s64: 64), 16-bit elements two in each, the first in
   its low half. A single one stands in both halves. */
static const mc_reg *emit_elements(spmm_writer *w, const spmm_factors *f, const spmm_run *run, int i,
                                   int count) {
    mc_builder *b = w->b;
    mc_opcode pack = elements[w->output->element].pack;
    if (!spmm_is_scaled(w->output->element)) return run->sums + i;
    for (int j = 0; j < count; j++) emit_scale(w, f, run, i + j, w->real[j]);
    if (pack == MC_OPCODES) return w->real;
    for (int j = 0; j < count; j += 2) {
        const mc_operand operands[] = {R(w->packed[j / 2]), R(w->real[count > 1 ? j + 1 : j]), R(w->real[j])};
        builder_emit(b, (mc_reg){0}, pack, operands, 3);
    }
    return w->packed;
}

/* -- Stores ------------------------------------------------------------------------------------------- */

void spmm_declare_writer(spmm_writer *w) {
    mc_builder *b = w->b;
    int columns = w->store;
    w->row = b32(b, "c_row"), w->at = b64(b, "c_at");
    w->guard = w->columns.clamp ? pred(b, "inside") : w->in_rows;
    if (w->columns.clamp) w->col = b32(b, "c_col");
    if (!spmm_is_scaled(w->output->element)) return;
    b32_array(b, "real", columns, w->real);
    if (spmm_element_bytes(w->output->element) == 2) b32_array(b, "packed", (columns + 1) / 2, w->packed);
}

void spmm_emit_c_address(spmm_writer *w, mc_reg row, mc_reg col) {
    mc_builder *b = w->b;
    EMIT(b, mul_wide, R(w->at), R(row), w->ldc);
    EMIT(b, mad_wide, R(w->at), R(col), I(1), R(w->at));
    EMIT(b, shl_b64, R(w->at), R(w->at), I(elements[w->output->element].log_bytes));
    EMIT(b, add_s64, R(w->at), R(w->at), R(w->c_array));
}

void spmm_advance_c(spmm_writer *w, int rows) {
    mc_builder *b = w->b;
    int64_t bytes = (int64_t)rows * spmm_element_bytes(w->output->element);
    if (w->ldc.kind == OPERAND_IMM) EMIT(b, add_s64, R(w->at), R(w->at), I(w->ldc.imm * bytes));
    else EMIT(b, mad_wide, R(w->at), w->ldc, I(bytes), R(w->at));
}

/* guard = col + offset is a column of C, and the row one of its rows. */
static void emit_guard(spmm_writer *w, mc_reg col, int offset) {
    mc_builder *b = w->b;
    if (!w->columns.clamp) return;
    if (offset) EMIT(b, add_s32, R(w->col), R(col), I(offset));
    mc_reg tested = offset ? w->col : col;
    if (w->in_rows.id) EMIT(b, setp_lt_and, R(w->guard), R(tested), w->columns.n, R(w->in_rows));
    else EMIT(b, setp_lt, R(w->guard), R(tested), w->columns.n);
}

/* BYTES of sums in s64. */
static void emit_long_store(spmm_writer *w, int bytes, int64_t offset, const mc_reg *sums) {
    mc_builder *b = w->b;
    if (bytes == 16) EMIT_IF(b, w->guard, stg_v2_b64, AT(w->at, offset), V2(sums));
    else EMIT_IF(b, w->guard, stg_b64, AT(w->at, offset), R(sums[0]));
}

static void emit_store(spmm_writer *w, int bytes, int64_t offset, const mc_reg *words) {
    mc_builder *b = w->b;
    switch (bytes) {
    case 16: EMIT_IF(b, w->guard, stg_v4, AT(w->at, offset), V4(words)); break;
    case 8: EMIT_IF(b, w->guard, stg_v2, AT(w->at, offset), V2(words)); break;
    case 4: EMIT_IF(b, w->guard, stg_b32, AT(w->at, offset), R(words[0])); break;
    default: EMIT_IF(b, w->guard, stg_b16, AT(w->at, offset), R(words[0]));
    }
}

void spmm_store_run(spmm_writer *w, const spmm_factors *f, const spmm_run *run) {
    int columns = w->store < run->count ? w->store : run->count;
    int bytes = spmm_element_bytes(w->output->element);
    for (int i = 0; i < run->count; i += columns) {
        const mc_reg *words = emit_elements(w, f, run, i, columns);
        emit_guard(w, run->col, run->offset + i);
        int64_t offset = (int64_t)bytes * (run->offset + i);
        if (w->output->element == SPMM_S64) emit_long_store(w, columns * bytes, offset, words);
        else emit_store(w, columns * bytes, offset, words);
    }
}
