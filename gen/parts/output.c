#include "parts/output.h"
#include "parts/emit.h"
#include "parts/words.h"
#include "schema/family.h"

enum { FACTOR_BYTES = 4 };

/* -- Scales and biases -------------------------------------------------------------------------------- */

static mc_reg declare_factor(mc_builder *b, const char *name, out_per per) {
    mc_reg reg = {0};
    if (per == OUT_PER_TENSOR) {
        reg = b32(b, name);
        EMIT(b, ld_param_f32, reg, NAME(name));
    } else if (per != OUT_PER_NONE) {
        reg = b64(b, name);
        EMIT(b, ld_param_u64, reg, NAME(name));
        EMIT(b, cvta_global, reg, reg);
    }
    return reg;
}

void out_declare_factors(out_factors *f, mc_builder *b, const out_kind *output, out_columns columns, int rows,
                         int column_count) {
    bool by_columns = out_by_columns(output);
    *f = (out_factors){.b = b, .output = output, .columns = columns};
    f->scale = declare_factor(b, "scale", output->scale);
    f->bias = declare_factor(b, "bias", output->bias);
    if (output->b_scale) f->b_scale = declare_factor(b, "b_scale", OUT_PER_COLUMN);
    if (output->scale == OUT_PER_ROW) b32_array(b, "row_scale", rows, f->row_scale);
    if (output->bias == OUT_PER_ROW) b32_array(b, "row_bias", rows, f->row_bias);
    if (output->scale == OUT_PER_COLUMN) b32_array(b, "column_scale", column_count, f->column_scale);
    if (output->b_scale) b32_array(b, "column_b_scale", column_count, f->column_b_scale);
    if (output->bias == OUT_PER_COLUMN) b32_array(b, "column_bias", column_count, f->column_bias);
    if (out_by_rows(output) || by_columns) f->at = b64(b, "factor_at");
    if (by_columns && columns.clamp) f->col = b32(b, "factor_col");
    if (by_columns && columns.clamp && columns.n.kind == PTX_REG) f->last = b32(b, "factor_last");
}

void out_declare_result(out_factors *f) {
    mc_builder *b = f->b;
    const out_kind *output = f->output;
    activation_declare(&f->act, b, output->act);
    if (output->c_scale) f->by = rcp_f32(b, "by", ld_param_f32(b, "c_scale", NAME("c_scale")));
    if (output->zero) out_declare_point(b, output->element, &f->point);
}

static void load_row(out_factors *f, mc_reg to, mc_reg array, mc_reg row, int offset, mc_reg in_rows) {
    mc_builder *b = f->b;
    EMIT(b, mad_wide, f->at, row, I(FACTOR_BYTES), array);
    if (in_rows.id) EMIT(b, mov_b32, to, I(0));
    EMIT_IF(b, in_rows, ldr_b32, to, AT(f->at, FACTOR_BYTES * offset));
}

void out_load_row_factors(out_factors *f, int r, mc_reg row, int offset, mc_reg in_rows) {
    if (f->output->scale == OUT_PER_ROW) load_row(f, f->row_scale[r], f->scale, row, offset, in_rows);
    if (f->output->bias == OUT_PER_ROW) load_row(f, f->row_bias[r], f->bias, row, offset, in_rows);
}

/* COUNT neighbours from ARRAY[COL + OFFSET] on. */
static void load_neighbours(out_factors *f, const mc_reg *to, mc_reg array, mc_reg col, int offset,
                            int count) {
    mc_builder *b = f->b;
    EMIT(b, mad_wide, f->at, col, I(FACTOR_BYTES), array);
    for (int i = 0; f->inside.id && i < count; i++) EMIT(b, mov_b32, to[i], I(0));
    for (int i = 0; i < count;) {
        int left = count - i, at = FACTOR_BYTES * (offset + i);
        if (left >= 4) EMIT_IF(b, f->inside, ldr_v4, V4(to + i), AT(f->at, at));
        else if (left >= 2) EMIT_IF(b, f->inside, ldr_v2, V2(to + i), AT(f->at, at));
        else EMIT_IF(b, f->inside, ldr_b32, to[i], AT(f->at, at));
        i += left >= 4 ? 4 : left >= 2 ? 2 : 1;
    }
}

/* The last column from which COUNT columns lie inside n. */
static mc_operand last_inside(out_factors *f, int count) {
    mc_operand n = f->columns.n;
    if (n.kind == PTX_IMM) return I(n.imm - count);
    mc_builder *b = f->b;
    EMIT(b, add_s32, f->last, n, I(-count));
    return f->last;
}

/* Columns beyond n get what those before n have: nothing that comes out of it is stored. */
static void load_clamped(out_factors *f, const mc_reg *to, mc_reg array, mc_reg col, int offset, int count) {
    mc_builder *b = f->b;
    int whole = f->columns.whole < count ? f->columns.whole : count;
    mc_operand last = last_inside(f, whole);
    for (int i = 0; i < count; i += whole) {
        if (offset + i) EMIT(b, add_s32, f->col, col, I(offset + i));
        EMIT(b, min_s32, f->col, (offset + i ? f->col : col), last);
        load_neighbours(f, to + i, array, f->col, 0, whole);
    }
}

static void load_columns(out_factors *f, const mc_reg *to, mc_reg array, mc_reg col, int offset, int count) {
    if (f->columns.clamp) load_clamped(f, to, array, col, offset, count);
    else load_neighbours(f, to, array, col, offset, count);
}

void out_load_column_factors(out_factors *f, int c, mc_reg col, int offset, int count) {
    if (f->output->scale == OUT_PER_COLUMN)
        load_columns(f, f->column_scale + c, f->scale, col, offset, count);
    if (f->output->b_scale) load_columns(f, f->column_b_scale + c, f->b_scale, col, offset, count);
    if (f->output->bias == OUT_PER_COLUMN) load_columns(f, f->column_bias + c, f->bias, col, offset, count);
}

/* -- The residual -------------------------------------------------------------------------------------- */

/* guard = col + offset is a column of C, and the row one of its rows. */
static void emit_guard(out_writer *w, mc_reg col, int offset) {
    mc_builder *b = w->b;
    if (!w->columns.clamp) return;
    if (offset) EMIT(b, add_s32, w->col, col, I(offset));
    mc_reg tested = offset ? w->col : col;
    if (w->in_rows.id) EMIT(b, setp_lt_and, w->guard, tested, w->columns.n, w->in_rows);
    else EMIT(b, setp_lt, w->guard, tested, w->columns.n);
}

static void declare_beta(out_writer *w) {
    mc_builder *b = w->b;
    out_residual *r = &w->residual;
    if (!w->output->beta) return;
    r->beta = ld_param_f32(b, "beta", NAME("beta"));
    r->beta_bits = and_b32(b, "beta_bits", r->beta, H(0x7fffffff));
    r->wanted = pred(b, "residual_wanted");
}

static void declare_residual(out_writer *w) {
    mc_builder *b = w->b;
    out_residual *r = &w->residual;
    if (out_residual_bytes(w->output) == 0) return;
    r->at = b64(b, "residual_at");
    b32_array(b, "residual_word", r->count, r->word);
    if (out_residual_bytes(w->output) == 2) r->real = b32(b, "residual_real");
    declare_beta(w);
    if (w->in_rows.id) r->row = b32(b, "residual_row");
    if (!w->columns.clamp) return;
    r->col = b32(b, "residual_col");
    r->load_at = b64(b, "residual_load_at");
    bool fixed = w->columns.n.kind == PTX_IMM;
    r->last = fixed ? I(w->columns.n.imm - r->load) : sub_s32(b, "residual_last", w->columns.n, I(r->load));
}

void out_residual_address(out_writer *w, mc_reg row, mc_reg col) {
    mc_builder *b = w->b;
    const out_residual *r = &w->residual;
    if (out_residual_bytes(w->output) == 0) return;
    if (w->in_rows.id) EMIT(b, selp_b32, r->row, row, I(0), w->in_rows);
    EMIT(b, mul_wide, r->at, w->in_rows.id ? r->row : row, r->ld);
    if (!w->columns.clamp) EMIT(b, mad_wide, r->at, col, I(1), r->at);
    EMIT(b, shl_b64, r->at, r->at, I(log2_of(out_residual_bytes(w->output))));
    EMIT(b, add_s64, r->at, r->at, r->array);
}

void out_advance_residual(out_writer *w, int rows) {
    mc_builder *b = w->b;
    const out_residual *r = &w->residual;
    int64_t bytes = (int64_t)rows * out_residual_bytes(w->output);
    if (bytes == 0) return;
    if (r->ld.kind == PTX_IMM) EMIT(b, add_s64, r->at, r->at, I(r->ld.imm * bytes));
    else EMIT(b, mad_wide, r->at, r->ld, I(bytes), r->at);
}

/* Whether a register holds two elements. */
static bool is_paired(const out_writer *w) {
    return out_residual_bytes(w->output) == 2 && w->residual.load > 1;
}

/* Where `load` elements from column COL + OFFSET on lie: where that is beyond n, the last ones inside. */
static mc_operand residual_at(out_writer *w, mc_reg col, int offset) {
    mc_builder *b = w->b;
    const out_residual *r = &w->residual;
    int bytes = out_residual_bytes(w->output);
    if (!w->columns.clamp) return AT(r->at, (int64_t)bytes * offset);
    if (offset) EMIT(b, add_s32, r->col, col, I(offset));
    EMIT(b, min_s32, r->col, offset ? r->col : col, r->last);
    EMIT(b, mad_wide, r->load_at, r->col, I(bytes), r->at);
    return AT(r->load_at, 0);
}

/* With a beta: whether it is not 0, and the elements from column COL + OFFSET on are C's; WORD, BYTES of
   them, is 0 where they are not loaded. Else none: all is loaded. */
static mc_reg emit_wanted(out_writer *w, mc_reg col, int offset, const mc_reg *word, int bytes) {
    mc_builder *b = w->b;
    const out_residual *r = &w->residual;
    if (!w->output->beta) return (mc_reg){0};
    emit_guard(w, col, offset);
    if (w->guard.id) EMIT(b, setp_lt_and, r->wanted, I(0), r->beta_bits, w->guard);
    else EMIT(b, setp_gt, r->wanted, r->beta_bits, I(0));
    for (int i = 0; i < bytes; i += WORD) EMIT(b, mov_b32, word[i / WORD], I(0));
    return r->wanted;
}

void out_load_residual(out_writer *w, int first, mc_reg col, int offset, int count) {
    const out_residual *r = &w->residual;
    int bytes = out_residual_bytes(w->output), shared = is_paired(w) ? 2 : 1;
    for (int i = 0; bytes > 0 && i < count; i += r->load) {
        const mc_reg *word = r->word + (first + i) / shared;
        mc_reg wanted = emit_wanted(w, col, offset + i, word, bytes * r->load);
        emit_load_words(w->b, wanted, WORDS_RELAXED, bytes * r->load, word, residual_at(w, col, offset + i));
    }
}

mc_reg out_residual_of(const out_writer *w, int i) {
    mc_builder *b = w->b;
    const out_residual *r = &w->residual;
    if (out_residual_bytes(w->output) != 2) return r->word[i];
    bool paired = is_paired(w), high = paired && i % 2;
    mc_reg word = r->word[paired ? i / 2 : i];
    if (w->output->residual == OUT_ADDS_BF16) {
        if (high) EMIT(b, and_b32, r->real, word, H(0xffff0000));
        else EMIT(b, shl_b32, r->real, word, I(16));
        return r->real;
    }
    if (high) EMIT(b, shr_u32, r->real, word, I(16));
    EMIT(b, cvt_f32_f16, r->real, high ? r->real : word);
    return r->real;
}

/* -- Elements of a run ---------------------------------------------------------------------------------- */

static mc_reg factor_of(out_per per, mc_reg tensor, mc_reg row, mc_reg column) {
    return per == OUT_PER_ROW ? row : per == OUT_PER_COLUMN ? column : tensor;
}

out_terms out_terms_of(const out_factors *f, int row, int column) {
    return (out_terms){.scale =
                           factor_of(f->output->scale, f->scale, f->row_scale[row], f->column_scale[column]),
                       .b_scale = f->column_b_scale[column],
                       .bias = factor_of(f->output->bias, f->bias, f->row_bias[row], f->column_bias[column]),
                       .act = &f->act,
                       .by = f->by};
}

const mc_reg *out_words(const out_writer *w, const out_factors *f, const out_run *run, int i, int count) {
    out_element element = w->output->element;
    if (!out_is_scaled(element)) return run->sums + i;
    for (int j = 0; j < count; j++) {
        out_terms terms = out_terms_of(f, run->factor_row, run->factor_column + i + j);
        terms.residual = out_residual_of(w, run->residual + i + j), terms.beta = w->residual.beta;
        out_scale(w->b, w->output, run->sums[i + j], terms, w->scratch.real[j]);
    }
    return out_pack(w->b, element, &w->scratch, w->output->zero ? &f->point : NULL, count);
}

/* -- Columns that share bytes --------------------------------------------------------------------------- */

static bool is_in_pairs(const out_writer *w) { return out_element_bits(w->output->element) < 8; }

/* Bytes by which columns of C are addressed: those of an element, or of two that share a byte. */
static int unit_bytes(const out_writer *w) {
    return is_in_pairs(w) ? 1 : out_element_bytes(w->output->element);
}

/* Whether the last column can be alone in its byte. */
static bool has_odd_end(const out_writer *w) {
    return is_in_pairs(w) && w->columns.clamp && (w->columns.n.kind != PTX_IMM || w->columns.n.imm % 2 != 0);
}

/* Rows are counted in bytes, then. */
static void declare_pairs(out_writer *w) {
    mc_builder *b = w->b;
    if (!is_in_pairs(w)) return;
    w->pair = b32(b, "c_pair");
    w->ldc = w->ldc.kind == PTX_IMM ? I(w->ldc.imm / 2) : shr_u32(b, "c_row_bytes", w->ldc, I(1));
    if (has_odd_end(w)) w->both = pred(b, "both_inside");
}

/* Beside the last column of an odd number there is a zero. WORD has the two columns from COL + OFFSET on. */
static void emit_last(out_writer *w, mc_reg word, mc_reg col, int offset) {
    mc_builder *b = w->b;
    if (!has_odd_end(w)) return;
    EMIT(b, add_s32, w->col, col, I(offset + 1));
    EMIT(b, setp_lt, w->both, w->col, w->columns.n);
    EMIT(b, and_b32, w->pair, word, I(15));
    EMIT(b, selp_b32, word, word, w->pair, w->both);
}

/* -- Stores ------------------------------------------------------------------------------------------- */

void out_declare_writer(out_writer *w) {
    mc_builder *b = w->b;
    w->row = b32(b, "c_row"), w->at = b64(b, "c_at");
    w->guard = w->columns.clamp ? pred(b, "inside") : w->in_rows;
    if (w->columns.clamp) w->col = b32(b, "c_col");
    declare_pairs(w);
    out_declare_scratch(&w->scratch, b, w->output->element, w->store);
    declare_residual(w);
}

void out_c_address(out_writer *w, mc_reg row, mc_reg col) {
    mc_builder *b = w->b;
    if (is_in_pairs(w)) EMIT(b, shr_u32, w->pair, col, I(1));
    EMIT(b, mul_wide, w->at, row, w->ldc);
    EMIT(b, mad_wide, w->at, is_in_pairs(w) ? w->pair : col, I(1), w->at);
    EMIT(b, shl_b64, w->at, w->at, I(log2_of(unit_bytes(w))));
    EMIT(b, add_s64, w->at, w->at, w->c_array);
}

void out_guard_rows(out_writer *w, mc_reg in_rows) {
    w->in_rows = in_rows;
    if (!w->columns.clamp) w->guard = in_rows;
}

void out_advance_c(out_writer *w, int rows) {
    mc_builder *b = w->b;
    int64_t bytes = (int64_t)rows * unit_bytes(w);
    if (w->ldc.kind == PTX_IMM) EMIT(b, add_s64, w->at, w->at, I(w->ldc.imm * bytes));
    else EMIT(b, mad_wide, w->at, w->ldc, I(bytes), w->at);
}

/* BYTES of sums in s64. */
static void emit_long_store(mc_builder *b, mc_reg guard, mc_operand to, int bytes, const mc_reg *sums) {
    if (bytes == 16) EMIT_IF(b, guard, stg_v2_b64, to, V2(sums));
    else EMIT_IF(b, guard, stg_b64, to, sums[0]);
}

void out_store(mc_builder *b, mc_reg guard, mc_operand to, out_element element, int count,
               const mc_reg *words) {
    int bytes = (int)out_bytes(element, count);
    if (out_element_bytes(element) == 8) {
        emit_long_store(b, guard, to, bytes, words);
        return;
    }
    emit_store_words(b, guard, WORDS_GLOBAL, bytes, to, words);
}

void out_store_run(out_writer *w, const out_factors *f, const out_run *run) {
    int columns = w->store < run->count ? w->store : run->count;
    for (int i = 0; i < run->count; i += columns) {
        const mc_reg *words = out_words(w, f, run, i, columns);
        emit_last(w, words[0], run->col, run->offset + i);
        emit_guard(w, run->col, run->offset + i);
        mc_operand to = AT(w->at, out_bytes(w->output->element, run->offset + i));
        out_store(w->b, w->guard, to, w->output->element, columns, words);
    }
}
