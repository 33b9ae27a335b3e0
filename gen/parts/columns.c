/* Elements of a column-major C: from sums to words, to C or to a tile in shared memory. */
#include "parts/columns.h"
#include "parts/words.h"

static int element_bytes(const column_writer *w) { return out_element_bytes(w->w.output->element); }
static int residual_bytes(const column_writer *w) { return out_residual_bytes(w->w.output); }

void columns_declare(column_writer *w, int rows, int columns) {
    mc_builder *b = w->w.b;
    out_declare_scratch(&w->w.scratch, b, w->w.output->element, rows);
    if (w->w.columns.clamp) w->inside = pred(b, "column_inside"), w->col = b32(b, "c_col");
    if (residual_bytes(w) == 0) return;
    out_residual *r = &w->w.residual;
    r->count = rows * columns;
    r->at = b64(b, "residual_at");
    w->residual_at = b64(b, "residual_load_at");
    b32_array(b, "residual_word", r->count, r->word);
    if (residual_bytes(w) == 2) r->real = b32(b, "residual_real");
    if (w->w.in_rows.id) r->row = b32(b, "residual_row");
    w->residual_col = b32(b, "residual_col");
    if (w->w.columns.clamp)
        r->last = w->w.columns.n.kind == PTX_IMM ? I(w->w.columns.n.imm - 1)
                                                 : sub_s32(b, "residual_last", w->w.columns.n, I(1));
}

/* -- The residual -------------------------------------------------------------------------------------- */

void columns_residual_address(column_writer *w, mc_reg row) {
    mc_builder *b = w->w.b;
    const out_residual *r = &w->w.residual;
    if (residual_bytes(w) == 0) return;
    if (w->w.in_rows.id) EMIT(b, selp_b32, r->row, row, I(0), w->w.in_rows);
    EMIT(b, mad_wide, r->at, w->w.in_rows.id ? r->row : row, I(residual_bytes(w)), r->array);
}

/* ROWS elements from row ROW on, STEP apart, one load or one for each, as the FIRST and on. */
static void load_rows(const column_writer *w, int first, int row, int rows, int step) {
    mc_builder *b = w->w.b;
    const out_residual *r = &w->w.residual;
    int bytes = residual_bytes(w) * r->load, shared = residual_bytes(w) == 2 && r->load > 1 ? 2 : 1;
    for (int i = 0; i < rows; i += r->load) {
        const mc_reg *to = r->word + (first + i) / shared;
        mc_operand at = AT(w->residual_at, (int64_t)residual_bytes(w) * (row + step * i));
        emit_load_words(b, (mc_reg){0}, WORDS_RELAXED, bytes, to, at);
    }
}

void columns_load_residual(column_writer *w, mc_reg col, int offset, int count, int row, int rows,
                           int row_step) {
    mc_builder *b = w->w.b;
    const out_residual *r = &w->w.residual;
    for (int i = 0; residual_bytes(w) > 0 && i < count; i++) {
        mc_reg column = col;
        if (offset + i) EMIT(b, add_s32, w->residual_col, col, I(offset + i));
        if (offset + i) column = w->residual_col;
        if (w->w.columns.clamp) EMIT(b, min_s32, w->residual_col, column, r->last);
        if (w->w.columns.clamp) column = w->residual_col;
        EMIT(b, mul_wide, w->residual_at, column, r->ld);
        EMIT(b, shl_b64, w->residual_at, w->residual_at, I(log2_of(residual_bytes(w))));
        EMIT(b, add_s64, w->residual_at, w->residual_at, r->at);
        load_rows(w, rows * i, row, rows, row_step);
    }
}

/* -- Elements ------------------------------------------------------------------------------------------ */

/* Words of ROWS rows from row ROW on. */
static const mc_reg *words_of(const column_writer *w, const out_factors *f, const out_patch *p, int column,
                              int row, int rows, mc_reg plain[PATCH_ROWS]) {
    const out_kind *output = w->w.output;
    for (int r = 0; r < rows; r++) plain[r] = p->sums[row + r][column];
    if (!out_is_scaled(output->element)) return plain;
    for (int r = 0; r < rows; r++) {
        out_terms terms = out_terms_of(f, p->factor_row + row + r, p->factor_column + column);
        terms.residual = out_residual_of(&w->w, p->rows * column + row + r);
        out_scale(w->w.b, output, plain[r], terms, w->w.scratch.real[r]);
    }
    return out_pack(w->w.b, output->element, &w->w.scratch, output->zero ? &f->point : NULL, rows);
}

/* -- Straight to C ------------------------------------------------------------------------------------- */

void columns_address(column_writer *w, mc_reg row, mc_reg col) {
    mc_builder *b = w->w.b;
    EMIT(b, mul_wide, w->w.at, col, w->w.ldc);
    EMIT(b, mad_wide, w->w.at, row, I(1), w->w.at);
    EMIT(b, shl_b64, w->w.at, w->w.at, I(log2_of(element_bytes(w))));
    EMIT(b, add_s64, w->w.at, w->w.at, w->w.c_array);
}

static void advance(column_writer *w, mc_reg at, int count) {
    mc_builder *b = w->w.b;
    int64_t bytes = (int64_t)count * element_bytes(w);
    if (w->w.ldc.kind == PTX_IMM) EMIT(b, add_s64, at, at, I(w->w.ldc.imm * bytes));
    else EMIT(b, mad_wide, at, w->w.ldc, I(bytes), at);
}

void columns_advance(column_writer *w, int count) {
    if (count) advance(w, w->w.at, count);
}

void columns_store_patch(column_writer *w, const out_factors *f, const out_patch *p, mc_reg col, int offset) {
    mc_builder *b = w->w.b;
    int rows = w->w.store < p->rows ? w->w.store : p->rows, step = p->row_step > 0 ? p->row_step : 1;
    mc_reg guard = w->w.columns.clamp ? w->inside : w->w.in_rows, plain[PATCH_ROWS];
    for (int i = 0; i < p->columns; i++) {
        if (i) columns_advance(w, 1);
        if (w->w.columns.clamp) {
            mc_reg column = col;
            if (offset + i) EMIT(b, add_s32, w->col, col, I(offset + i));
            if (offset + i) column = w->col;
            if (w->w.in_rows.id) EMIT(b, setp_lt_and, guard, column, w->w.columns.n, w->w.in_rows);
            else EMIT(b, setp_lt, guard, column, w->w.columns.n);
        }
        for (int r = 0; r < p->rows; r += rows) {
            const mc_reg *words = words_of(w, f, p, i, r, rows, plain);
            out_store(b, guard, AT(w->w.at, (int64_t)element_bytes(w) * step * r), w->w.output->element, rows,
                      words);
        }
    }
}

/* -- The tile ------------------------------------------------------------------------------------------ */

static int pitch(const column_tile *tile) { return tile->rows * tile->bytes; }

/* Where column COLUMN begins, from the tile's start or from a run's. */
static int place_of(const column_tile *tile, int column) {
    return column * pitch(tile) + column / tile->run * tile->pad;
}

int column_tile_bytes(const column_tile *tile) { return place_of(tile, tile->columns); }

/* TO = TILE_AT + where column COL begins. */
static void find_column(const column_writer *w, mc_reg to, mc_reg col, mc_reg run, mc_reg tile_at) {
    mc_builder *b = w->w.b;
    EMIT(b, shr_u32, run, col, I(log2_of(w->tile.run)));
    EMIT(b, mad_s32, to, run, I(w->tile.pad), tile_at);
    EMIT(b, mad_s32, to, col, I(pitch(&w->tile)), to);
}

void columns_put_at(column_writer *w, mc_reg tile_at, mc_reg row, mc_reg col) {
    mc_builder *b = w->w.b;
    w->tile_at = tile_at;
    w->put_at = b32(b, "tile_put_at");
    find_column(w, w->put_at, col, b32(b, "tile_run"), tile_at);
    EMIT(b, mad_s32, w->put_at, row, I(w->tile.bytes), w->put_at);
}

static void put_words(mc_builder *b, mc_reg guard, mc_operand to, int element_bytes, int bytes,
                      const mc_reg *words) {
    if (element_bytes == 8) {
        if (bytes == 16) EMIT_IF(b, guard, sts_v2_b64, to, V2(words));
        else EMIT_IF(b, guard, sts_b64, to, words[0]);
        return;
    }
    emit_store_words(b, guard, WORDS_SHARED, bytes, to, words);
}

void columns_put(column_writer *w, const out_factors *f, const out_patch *p, int row, int column) {
    mc_reg plain[PATCH_ROWS];
    for (int i = 0; i < p->columns; i++) {
        const mc_reg *words = words_of(w, f, p, i, 0, p->rows, plain);
        int place = place_of(&w->tile, column + i) + row * w->tile.bytes;
        put_words(w->w.b, w->w.in_rows, AT(w->put_at, place), w->tile.bytes, p->rows * w->tile.bytes, words);
    }
}

/* -- From the tile to C -------------------------------------------------------------------------------- */

/* How the stores of a tile go around the threads: a thread has the same rows of every `step`th column. */
typedef struct tile_deal {
    int units;       /* stores of a column */
    int step, count; /* columns from one of a thread's stores to the next; how many it has */
    int bytes;       /* of a store */
} tile_deal;

static tile_deal deal_of(const column_writer *w, const tile_copy *c) {
    int units = w->tile.rows / w->w.store, step = c->threads / units;
    int count = w->tile.columns > step ? w->tile.columns / step : 1;
    return (tile_deal){units, step, count, w->w.store * w->tile.bytes};
}

/* A thread's place in the copy. */
typedef struct copy_place {
    mc_reg col, row_at;   /* its first column in the tile; where its rows of column 0 lie there */
    mc_reg from, to;      /* where its column at hand lies in the tile, and in C */
    mc_reg in_rows, some; /* whether it copies rows of C; and of a column of C. none: certain */
    mc_reg run, next;     /* scratch */
} copy_place;

/* Sets what does not change from column to column. */
static copy_place find_place(column_writer *w, const tile_copy *c, tile_deal d) {
    mc_builder *b = w->w.b;
    copy_place p = {.from = b32(b, "tile_from"), .to = b64(b, "c_at"), .run = b32(b, "tile_from_run")};
    mc_reg unit = and_b32(b, "tile_unit", c->thread, I(d.units - 1));
    mc_reg row = mad_s32(b, "c_row", unit, I(w->w.store), c->first_row);
    p.col = shr_u32(b, "tile_column", c->thread, I(log2_of(d.units)));
    p.row_at = mad_s32(b, "tile_rows_at", unit, I(d.bytes), w->tile_at);
    p.next = b32(b, "tile_next_column");
    if (c->guard_rows) p.in_rows = setp_lt(b, "c_in_rows", row, c->m);
    bool idle = d.step > w->tile.columns;
    if (idle && p.in_rows.id) p.in_rows = setp_lt_and(b, "copies", p.col, I(w->tile.columns), p.in_rows);
    else if (idle) p.in_rows = setp_lt(b, "copies", p.col, I(w->tile.columns));
    mc_reg col = add_s32(b, "c_first_column", c->first_col, p.col);
    w->w.at = p.to;
    columns_address(w, row, col);
    p.some = p.in_rows;
    if (w->w.columns.clamp) p.some = w->inside;
    return p;
}

/* Whether the thread's I-th column is below n. */
static void find_inside(const column_writer *w, const tile_copy *c, const copy_place *p, mc_reg col) {
    mc_builder *b = w->w.b;
    if (!w->w.columns.clamp) return;
    EMIT(b, add_s32, p->run, c->first_col, col);
    if (p->in_rows.id) EMIT(b, setp_lt_and, p->some, p->run, w->w.columns.n, p->in_rows);
    else EMIT(b, setp_lt, p->some, p->run, w->w.columns.n);
}

void columns_store_tile(column_writer *w, const tile_copy *c) {
    mc_builder *b = w->w.b;
    tile_deal d = deal_of(w, c);
    copy_place p = find_place(w, c, d);
    mc_reg words[4];
    b32_array(b, "tile_word", d.bytes > WORD ? d.bytes / WORD : 1, words);
    for (int i = 0; p.in_rows.id && i * WORD < d.bytes; i++) EMIT(b, mov_b32, words[i], I(0));
    bool regular = d.step % w->tile.run == 0;
    for (int i = 0; i < d.count; i++) {
        mc_reg col = p.col;
        if (i) EMIT(b, add_s32, p.next, p.col, I(i * d.step));
        if (i) col = p.next;
        if (i == 0 || !regular) find_column(w, p.from, col, p.run, p.row_at);
        find_inside(w, c, &p, col);
        if (i) columns_advance(w, d.step);
        emit_load_words(b, p.in_rows, WORDS_SHARED, d.bytes, words,
                        AT(p.from, regular ? place_of(&w->tile, i * d.step) : 0));
        emit_store_words(b, p.some, WORDS_GLOBAL, d.bytes, AT(p.to, 0), words);
    }
}
