#include "parts/product_result.h"
#include "parts/emit.h"

/* -- Begin -------------------------------------------------------------------------------------------- */

static mc_operand leading(mc_builder *b, const char *name, int64_t fixed) {
    return dim_operand(fixed, load_shape(b, name, fixed == MC_OPEN));
}

static out_residual residual_of(const gemm_result *r) {
    if (r->problem->output.residual == OUT_NO_ADDEND) return (out_residual){0};
    return (out_residual){.array = load_array(r->b, "residual"),
                          .ld = leading(r->b, "ldr", r->problem->ldr),
                          .load = gemm_residual_load(r->problem, r->store),
                          .count = RESULT_RUN};
}

void gemm_widen_sums(mc_builder *b, const mc_reg words[RESULT_ROWS], const mc_reg *sums) {
    enum { HALF_BITS = 16 };
    for (int half = 0; half < RESULT_ROWS; half++) {
        mc_reg low = sums[half * RESULT_RUN], high = sums[half * RESULT_RUN + 1];
        EMIT(b, cvt_f32_f16, low, words[half]);
        EMIT(b, shr_u32, high, words[half], I(HALF_BITS));
        EMIT(b, cvt_f32_f16, high, high);
    }
}

static void declare_rows(gemm_result *r) {
    mc_builder *b = r->b;
    r->rows[0] = (gemm_row){r->writer.in_rows, r->writer.at, r->writer.residual.at};
    if (r->row.id) r->rows[1].inside = pred(b, "in_rows_below");
    if (r->direct) r->rows[1].c_at = b64(b, "c_at_below");
    if (r->writer.residual.at.id) r->rows[1].residual_at = b64(b, "residual_at_below");
}

void gemm_begin_result(gemm_result *r) {
    const gemm_problem *p = r->problem;
    mc_builder *b = r->b;
    r->writer = (out_writer){.b = b,
                             .output = &p->output,
                             .columns = {.n = dim_operand(p->n, r->n), .clamp = true, .whole = r->store},
                             .in_rows = r->row.id ? pred(b, "in_rows") : (mc_reg){0},
                             .store = r->direct ? r->store : RESULT_RUN,
                             .residual = residual_of(r)};
    if (r->direct) {
        r->writer.c_array = load_array(b, "c");
        r->writer.ldc = leading(b, "ldc", p->ldc);
    }
    const out_columns columns = {.n = r->writer.columns.n};
    out_declare_factors(&r->factors, b, &p->output, columns, RESULT_ROWS, RESULT_RUN);
    if (out_by_columns(&p->output)) r->factors.inside = pred(b, "in_columns"), r->at_col = b32(b, "at_col");
    out_declare_result(&r->factors);
    out_declare_writer(&r->writer);
    declare_rows(r);
}

/* -- Rows --------------------------------------------------------------------------------------------- */

/* The output's writer of one of the lane's two rows. */
static void take_row(gemm_result *r, int half) {
    const gemm_row *row = &r->rows[half];
    r->writer.in_rows = row->inside, r->writer.at = row->c_at, r->writer.residual.at = row->residual_at;
}

static void find_row(const gemm_result *r, mc_reg first, int offset) {
    mc_builder *b = r->b;
    if (first.id) EMIT(b, add_s32, r->row, first, r->line);
    EMIT(b, add_s32, r->row, first.id ? r->row : r->line, I(offset));
}

void gemm_place_rows(gemm_result *r, mc_reg first, int offset) {
    for (int half = 0; half < RESULT_ROWS && r->row.id; half++) {
        take_row(r, half);
        find_row(r, first, offset + half * RESULT_OCTET);
        EMIT(r->b, setp_lt, r->writer.in_rows, r->row, r->m);
        out_load_row_factors(&r->factors, half, r->row, 0, r->writer.in_rows);
        if (r->direct) out_c_address(&r->writer, r->row, r->col);
        out_residual_address(&r->writer, r->row, r->col);
    }
}

/* -- Columns ------------------------------------------------------------------------------------------ */

/* The factors of the lane's two columns OFFSET columns on, of those that there are. */
static void load_columns(gemm_result *r, int offset) {
    mc_builder *b = r->b;
    for (int i = 0; i < RESULT_RUN && r->factors.inside.id; i += r->store) {
        EMIT(b, add_s32, r->at_col, r->col, I(offset + i));
        EMIT(b, setp_lt, r->factors.inside, r->at_col, r->n);
        out_load_column_factors(&r->factors, i, r->col, offset + i, r->store);
    }
}

/* Two neighbouring sums become elements of C, in the sums' own registers: of 2 bytes in the first one. */
static void convert(gemm_result *r, const out_run *run) {
    memcpy(r->writer.scratch.real, run->sums, RESULT_RUN * sizeof *run->sums);
    r->writer.scratch.packed[0] = run->sums[0];
    out_words(&r->writer, &r->factors, run, 0, RESULT_RUN);
}

void gemm_make_octet(gemm_result *r, const mc_reg *sums, int offset) {
    load_columns(r, offset);
    for (int half = 0; half < RESULT_ROWS; half++) {
        const out_run run = {.col = r->col,
                             .offset = offset,
                             .count = RESULT_RUN,
                             .sums = &sums[half * RESULT_RUN],
                             .factor_row = half};
        take_row(r, half);
        out_load_residual(&r->writer, 0, r->col, offset, RESULT_RUN);
        if (r->direct) out_store_run(&r->writer, &r->factors, &run);
        else convert(r, &run);
    }
}
