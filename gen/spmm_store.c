/* The gather SpMM's epilogue: accumulators to C, through shared memory where warps share a row block.
 *
 * After the mma of columns 4 word + 2 two, + 1, a lane's four accumulators are (row 2t, row 2t + 1) of the
 * first column, then of the second (fragment.h, frag_c_col and frag_c_row, operands swapped). So a lane owns
 * two rows, and in each of them all of its neighbouring columns. */
#include "fragment.h"
#include "spmm_emit.h"

static const mc_reg *accumulator(const spmm_emitter *e, int word, int r, int column) {
    return &e->acc[(2 * word + column / 2) * 4 + frag_c_reg(column % 2, r)];
}

/* The four columns of WORD in row 2t + r. */
static void quad(const spmm_emitter *e, int word, int r, mc_reg out[4]) {
    for (int column = 0; column < 4; column++) out[column] = *accumulator(e, word, r, column);
}

/* -- Stores of C -------------------------------------------------------------------------------------- */

/* Registers of the stores: one set a path. */
typedef struct store {
    const spmm_path *path;
    mc_reg row, at, guard, col;
} store;

static store declare_store(spmm_emitter *e, const spmm_path *path) {
    mc_builder *b = e->b;
    return (store){path, b32(b, "c_row"), b64(b, "c_at"), path->clamp ? pred(b, "inside") : e->in_rows,
                   path->clamp ? b32(b, "c_col") : (mc_reg){0}};
}

/* at = address of C[row][col]. */
static void emit_address(spmm_emitter *e, const store *s, mc_reg col) {
    mc_builder *b = e->b;
    EMIT(b, mul_wide, R(s->at), R(s->row), spmm_dim(e->plan->ldc, e->ldc));
    EMIT(b, mad_wide, R(s->at), R(col), I(1), R(s->at));
    EMIT(b, shl_b64, R(s->at), R(s->at), I(2));
    EMIT(b, add_s64, R(s->at), R(s->at), R(e->c_array));
}

/* guard = col + offset is a column of C, and the row block one of A's. */
static void emit_guard(spmm_emitter *e, const store *s, mc_reg col, int offset) {
    mc_builder *b = e->b;
    if (!s->path->clamp) return;
    if (offset) EMIT(b, add_s32, R(s->col), R(col), I(offset));
    mc_reg tested = offset ? s->col : col;
    if (e->in_rows.id)
        EMIT(b, setp_lt_and, R(s->guard), R(tested), spmm_dim(e->plan->n, e->n), R(e->in_rows));
    else EMIT(b, setp_lt, R(s->guard), R(tested), spmm_dim(e->plan->n, e->n));
}

/* Stores four columns from col + OFFSET on; `at` is the address of column col. */
static void emit_store_quad(spmm_emitter *e, const store *s, mc_reg col, int offset, const mc_reg value[4]) {
    mc_builder *b = e->b;
    if (s->path->store_vec) {
        emit_guard(e, s, col, offset);
        EMIT_IF(b, s->guard, stg_v4, AT(s->at, 4 * offset), V4(value));
        return;
    }
    for (int i = 0; i < 4; i++) {
        emit_guard(e, s, col, offset + i);
        EMIT_IF(b, s->guard, stg_b32, AT(s->at, 4 * (offset + i)), R(value[i]));
    }
}

/* -- One warp a row block: from registers ------------------------------------------------------------- */

static void emit_direct(spmm_emitter *e, const spmm_path *path) {
    mc_builder *b = e->b;
    stage(b, "Store: rows 2 t and 2 t + 1 of the row block");
    store s = declare_store(e, path);
    mc_reg first_row = b32(b, "first_row");
    EMIT(b, shl_b32, R(first_row), R(e->row_block), I(3));
    EMIT(b, mad_s32, R(s.row), R(e->t), I(2), R(first_row));
    for (int r = 0; r < 2; r++) {
        if (r) EMIT(b, add_s32, R(s.row), R(s.row), I(1));
        emit_address(e, &s, e->col);
        for (int word = 0; word < path->columns / 32; word++) {
            mc_reg values[4];
            quad(e, word, r, values);
            emit_store_quad(e, &s, e->col, 4 * word, values);
        }
    }
}

/* -- Several warps a row block: through shared memory ------------------------------------------------- */

/* Where the registers below go: spmm_partial says how rows lie. */
static void emit_put_partial(spmm_emitter *e, const spmm_path *path, mc_reg shared) {
    mc_builder *b = e->b;
    spmm_partial p = spmm_partial_of(path->columns);
    mc_reg at = b32(b, "put_at");
    stage(b, "Partial sums to shared memory, a share a warp: row 2 t + r at r * %d + t * %d%s", p.half * 4,
          p.pitch * 4, p.pair ? " + (t / 2) * 32" : "");
    EMIT(b, mad_s32, R(at), R(e->warp), I(p.warp * 4), R(shared));
    EMIT(b, mad_s32, R(at), R(e->t), I(p.pitch * 4), R(at));
    if (p.pair) {
        mc_reg pair = b32(b, "t_pair");
        EMIT(b, shr_u32, R(pair), R(e->t), I(1));
        EMIT(b, mad_s32, R(at), R(pair), I(p.pair * 4), R(at));
    }
    EMIT(b, mad_s32, R(at), R(e->g), I(path->columns / 8 * 4), R(at));
    for (int r = 0; r < 2; r++) {
        for (int word = 0; word < path->columns / 32; word++) {
            mc_reg values[4];
            quad(e, word, r, values);
            EMIT(b, sts_v4, AT(at, 4 * (r * p.half + 4 * word)), V4(values));
        }
    }
}

/* Registers of the sum: one set a path. */
typedef struct summer {
    mc_reg item, slot, t, quad_col, at, col, sum[4], other[4];
} summer;

static summer declare_summer(mc_builder *b) {
    summer u = {.item = b32(b, "item"),
                .slot = b32(b, "sum_slot"),
                .t = b32(b, "sum_t"),
                .quad_col = b32(b, "sum_quad"),
                .at = b32(b, "sum_at"),
                .col = b32(b, "sum_col")};
    b32_array(b, "sum", 4, u.sum);
    b32_array(b, "other", 4, u.other);
    return u;
}

/* Item: quad quad_col of the row in slot 4 r + t. Sets `at` to its address in the row block's first share,
   and the store's row to 8 row_block + 2 t + r. */
static void emit_find_item(spmm_emitter *e, const spmm_path *path, const summer *u, const store *s,
                           mc_reg share, mc_reg first_row) {
    mc_builder *b = e->b;
    spmm_partial p = spmm_partial_of(path->columns);
    int quads = path->columns / 4;
    EMIT(b, shr_u32, R(u->slot), R(u->item), I(spmm_log2(quads)));
    EMIT(b, and_b32, R(u->quad_col), R(u->item), I(quads - 1));
    EMIT(b, and_b32, R(u->t), R(u->slot), I(3));
    EMIT(b, shr_u32, R(u->slot), R(u->slot), I(2));
    EMIT(b, mad_s32, R(s->row), R(u->t), I(2), R(first_row));
    EMIT(b, add_s32, R(s->row), R(s->row), R(u->slot));
    EMIT(b, mad_s32, R(u->at), R(u->slot), I(p.half * 4), R(share));
    EMIT(b, mad_s32, R(u->at), R(u->t), I(p.pitch * 4), R(u->at));
    if (p.pair) {
        EMIT(b, shr_u32, R(u->t), R(u->t), I(1));
        EMIT(b, mad_s32, R(u->at), R(u->t), I(p.pair * 4), R(u->at));
    }
    EMIT(b, mad_s32, R(u->at), R(u->quad_col), I(16), R(u->at));
}

static void emit_add_shares(spmm_emitter *e, const summer *u, int share_bytes) {
    mc_builder *b = e->b;
    EMIT(b, lds_v4, V4(u->sum), AT(u->at, 0));
    for (int part = 1; part < e->plan->split; part++) {
        EMIT(b, lds_v4, V4(u->other), AT(u->at, part * share_bytes));
        for (int i = 0; i < 4; i++) EMIT(b, add_s32, R(u->sum[i]), R(u->sum[i]), R(u->other[i]));
    }
}

/* The row block's 8 x columns sums, four at a time, go around its split * 32 threads. */
static void emit_sum(spmm_emitter *e, const spmm_path *path, mc_reg shared, mc_reg tile_col) {
    mc_builder *b = e->b;
    int split = e->plan->split, items = SPMM_VEC * path->columns / 4, threads = MC_WARP * split;
    int share_bytes = spmm_partial_of(path->columns).warp * 4;
    stage(b, "Sum of %d shares, four columns a thread, and store", split);
    summer u = declare_summer(b);
    store s = declare_store(e, path);
    mc_reg share = shared, first_row = b32(b, "first_row");
    mc_label done = label(b, "SUM_DONE");
    EMIT(b, mad_s32, R(u.item), R(e->part), I(MC_WARP), R(e->lane));
    if (threads > items) {
        mc_reg idle = pred(b, "idle");
        EMIT(b, setp_ge, R(idle), R(u.item), I(items));
        EMIT_IF(b, idle, bra, TO(done));
    }
    if (e->plan->row_blocks > 1) {
        note(b, "the row block's first share");
        share = b32(b, "share");
        EMIT(b, sub_s32, R(share), R(e->warp), R(e->part));
        EMIT(b, mad_s32, R(share), R(share), I(share_bytes), R(shared));
    }
    EMIT(b, shl_b32, R(first_row), R(e->row_block), I(3));
    for (int first = 0; first < items; first += threads) {
        if (first) EMIT(b, add_s32, R(u.item), R(u.item), I(threads));
        emit_find_item(e, path, &u, &s, share, first_row);
        emit_add_shares(e, &u, share_bytes);
        EMIT(b, mad_s32, R(u.col), R(u.quad_col), I(4), R(tile_col));
        emit_address(e, &s, u.col);
        emit_store_quad(e, &s, u.col, 0, u.sum);
    }
    if (threads > items) place(b, done);
}

void spmm_emit_epilogue(spmm_emitter *e, const spmm_path *path, mc_reg path_col) {
    mc_builder *b = e->b;
    if (e->plan->split == 1) {
        emit_direct(e, path);
        return;
    }
    mc_reg shared = b32(b, "shared_at");
    EMIT(b, mov_shared, R(shared), NAME("partial"));
    emit_put_partial(e, path, shared);
    EMIT(b, bar_sync, I(0));
    emit_sum(e, path, shared, path_col);
}
