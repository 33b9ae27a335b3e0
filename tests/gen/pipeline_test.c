/* Pipeline and copies by cp.async (gen/parts), in kernels of their own on the simulator, in every order of
 * warps and of landing.
 *
 *   sums    one thread copies rows of 32 words through a pipeline; each lane of the other warps adds up a
 *           column, and stores the sum
 *   tile    all threads copy the pieces of a tile; then each stores the words that it finds there */
#include "parts/copy.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/pipeline.h"
#include "sim/async_kernel.h"

/* -- Kernels ------------------------------------------------------------------------------------------ */

static mc_builder make(void) {
    mc_builder b = {0};
    for (int i = 0; mc_arch_names[i]; i++)
        if (strcmp(mc_arch_names[i], "sm_90a") == 0) b.arch = &mc_archs[i];
    return b;
}

static char *kernel_text(mc_builder *b) {
    mc_text text = {0};
    int version, registers;
    CHECK(builder_check(b, &version, &registers), "%s", b->error);
    text_add(&text, ASYNC_HEADER
             ".visible .entry k(.param .u64 in, .param .u64 out, .param .align 64 .b8 map[128])\n");
    print_body(b, &text);
    builder_free(b);
    return text_take(&text);
}

/* Runs TEXT, and compares what it stored with WANT. */
static void check_run(const char *what, const char *text, const struct async_run *run, unsigned threads,
                      uint64_t offset, const uint32_t *want, unsigned words) {
    static uint32_t got[ASYNC_WORDS];
    _Alignas(64) unsigned char map[PTXSIM_TENSOR_MAP_BYTES];
    ptxsim *sim = async_create(run);
    uint64_t in = async_input(sim), out = 0, from = in + offset;
    ptxsim_tensor rows = {.size = sizeof rows, .element = PTXSIM_ELEMENT_U32, .rank = 2, .address = in};
    rows.dims[0] = rows.box[0] = MC_WARP, rows.dims[1] = ASYNC_WORDS / MC_WARP, rows.box[1] = 1;
    rows.strides[0] = MC_WARP * WORD;
    CHECK(ptxsim_tensor_map_encode(sim, &rows, map) == PTXSIM_OK, "%s", ptxsim_fault_text(sim));
    CHECK(ptxsim_alloc(sim, words * WORD, &out) == PTXSIM_OK);
    void *params[] = {&from, &out, map};
    ptxsim_status status =
        run_kernel(sim, text, (ptxsim_dim3){1, 1, 1}, (ptxsim_dim3){threads, 1, 1}, 0, params);
    CHECK(status == PTXSIM_OK, "%s: %s", what, ptxsim_fault_text(sim));
    if (status == PTXSIM_OK && ptxsim_read(sim, out, got, words * WORD) == PTXSIM_OK)
        for (unsigned i = 0; i < words; i++)
            CHECK(got[i] == want[i], "%s: word %u is 0x%x, want 0x%x", what, i, got[i], want[i]);
    ptxsim_destroy(sim);
}

/* -- A pipeline --------------------------------------------------------------------------------------- */

enum { ROW_BYTES = MC_WARP * WORD };

static void emit_producer(const pipeline *p, int rows, mc_label end) {
    mc_builder *b = p->b;
    b->prefix = "copy_";
    mc_reg map = b64(b, "map"), more = pred(b, "more"), left = b32(b, "left");
    mc_label loop = label(b, "COPY_ROWS");
    EMIT(b, mov_param, map, NAME("map"));
    EMIT(b, cvta_param, map, map);
    mc_reg row = carried(b, "row", I(0)), zero = mov_b32(b, "zero", I(0));
    pipeline_producer w = pipeline_produce(p);
    set_label(b, loop);
    pipeline_await_empty(p, &w, "EMPTY");
    pipeline_expect(p, &w);
    EMIT(b, tma_load_2d, AT(w.to, 0), TENSOR(map, zero, row), AT(w.full, 0));
    pipeline_filled(p, &w);
    EMIT(b, add_s32, row, row, I(1));
    EMIT(b, setp_lt, more, row, I(rows));
    EMIT_IF(b, more, bra, TO(loop));
    pipeline_drain(p, &w, row, left, more);
    set_label(b, end);
    EMIT_RET(b);
    b->prefix = NULL;
}

static void emit_consumer(const pipeline *p, const thread_place *place, int rows) {
    mc_builder *b = p->b;
    mc_label loop = label(b, "ROWS");
    mc_reg sum = carried(b, "sum", I(0)), left_rows = carried(b, "rows", I(rows));
    mc_reg first = mad_s32(b, "first", place->lane, I(WORD), p->first);
    mc_reg end = add_s32(b, "end", first, I(p->stages * p->stage_bytes)), at = carried(b, "at", first);
    pipeline_consumer c = pipeline_consume(p, setp_eq(b, "arrives", place->lane, I(0)));
    set_label(b, loop);
    pipeline_wait(p, &c, "FULL");
    mc_reg word = lds_b32(b, "word", AT(at, 0));
    EMIT(b, add_s32, sum, sum, word);
    EMIT(b, bar_warp_sync, H(0xffffffff));
    pipeline_leave(p, &c);
    EMIT(b, add_s32, at, at, I(p->stage_bytes));
    mc_reg wrap = setp_eq(b, "is_end", at, end);
    EMIT_IF(b, wrap, mov_b32, at, first);
    EMIT(b, add_s32, left_rows, left_rows, I(-1));
    mc_reg more = setp_gt(b, "more", left_rows, I(0));
    EMIT_IF(b, more, bra_uni, TO(loop));
    mc_reg out = mad_wide(b, "out_at", place->thread, I(WORD), load_array(b, "out"));
    EMIT(b, stg_b32, AT(out, 0), sum);
    EMIT_RET(b);
}

/* The consumers read the first `rows` of `copies` rows. Nobody but the producer waits for the others. */
typedef struct sums_case {
    int stages, consumers, copies, rows;
} sums_case;

static char *sums_kernel(sums_case of) {
    int stages = of.stages, consumers = of.consumers;
    mc_builder builder = make(), *b = &builder;
    shared_array(b, "room", (unsigned)pipeline_bytes(stages, ROW_BYTES), 128);
    thread_place place = load_thread_place(b, MC_WARP * (consumers + 1));
    pipeline p = {.b = b, .stages = stages, .stage_bytes = ROW_BYTES, .consumers = consumers};
    p.first = mov_shared(b, "room_at", NAME("room"));
    pipeline_place(&p);
    mc_label copier = label(b, "COPIER"), met = label(b, "MET"), end = label(b, "END");
    mc_reg is_first = setp_eq(b, "is_first", place.thread, I(0));
    EMIT_IF(b, NOT(is_first), bra, TO(met));
    pipeline_init(&p);
    set_label(b, met);
    EMIT(b, bar_sync, I(0));
    mc_reg copies = setp_eq(b, "copies", place.warp, I(consumers));
    EMIT_IF(b, copies, bra_uni, TO(copier));
    emit_consumer(&p, &place, of.rows);
    set_label(b, copier);
    mc_reg idle = setp_ne(b, "idle", place.lane, I(0));
    EMIT_IF(b, idle, bra, TO(end));
    emit_producer(&p, of.copies, end);
    return kernel_text(b);
}

static void test_pipeline(sums_case of) {
    uint32_t want[4 * MC_WARP] = {0};
    char what[80], *text = sums_kernel(of);
    unsigned words = (unsigned)of.consumers * MC_WARP;
    snprintf(what, sizeof what, "%d stages, %d consumers, %d of %d rows", of.stages, of.consumers, of.rows,
             of.copies);
    for (unsigned i = 0; i < words; i++)
        for (unsigned row = 0; row < (unsigned)of.rows; row++)
            want[i] += in_word(row * MC_WARP + i % MC_WARP);
    for (int r = 0; r < ASYNC_RUNS; r++)
        check_run(what, text, &async_runs[r], words + MC_WARP, 0, want, words);
    free(text);
}

static void test_pipelines(int stages, int consumers) {
    static const int copies[] = {1, 2, 3, 4, 5, 8, 9, 13};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        for (int rows = copies[i]; rows > 0 && rows >= copies[i] - stages; rows--)
            test_pipeline((sums_case){stages, consumers, copies[i], rows});
}

/* -- Copies ------------------------------------------------------------------------------------------- */

/* A tile of ROWS rows of ROW_BYTES, of which the bytes from `inside` on are beyond the matrix; the matrix
   begins OFFSET bytes into the input, and its rows are row_bytes apart. */
typedef struct tile_case {
    int width; /* 0: found at launch */
    int offset, row_bytes, inside, threads;
} tile_case;

enum { TILE_ROWS = 7, TILE_WORDS = TILE_ROWS * MC_WARP };

/* Copies the thread's piece of each of its rows, and waits for all copies. */
static void emit_tile(mc_builder *b, const tile_case *c, mc_reg thread, mc_reg tile) {
    mc_label loop = label(b, "ROWS"), done = label(b, "DONE");
    mc_reg in = load_array(b, "in"), enough = pred(b, "enough");
    copy_width width =
        c->width ? copy_fixed_width(c->width, ROW_BYTES)
                 : copy_find_width(b, c->offset % 16 ? in : (mc_reg){0}, I(c->row_bytes), ROW_BYTES);
    copy_pieces pieces = copy_pieces_of(b, &width, thread, c->threads);
    mc_reg left = sub_s32(b, "left", I(c->inside), pieces.byte), some = max_s32(b, "some", left, I(0));
    mc_reg size = min_s32(b, "size", some, width.bytes), row = carried(b, "row", pieces.first_row);
    mc_reg from = mad_wide(b, "from", pieces.byte, I(1), in), to = add_s32(b, "to", tile, pieces.byte);
    set_label(b, loop);
    EMIT(b, setp_ge, enough, row, I(TILE_ROWS));
    EMIT_IF(b, enough, bra, TO(done));
    mc_reg from_at = mad_wide(b, "from_at", row, I(c->row_bytes), from);
    mc_reg to_at = mad_s32(b, "to_at", row, I(ROW_BYTES), to);
    copy_piece piece = {.to = AT(to_at, 0), .from = AT(from_at, 0)};
    if (c->inside < ROW_BYTES) piece.size = size;
    copy_any_width(b, &width, piece);
    EMIT(b, add_s32, row, row, pieces.row_step);
    EMIT(b, bra, TO(loop));
    set_label(b, done);
    EMIT_BARE(b, cp_async_wait_all);
    EMIT(b, bar_sync, I(0));
}

static char *tile_kernel(const tile_case *c) {
    mc_builder builder = make(), *b = &builder;
    shared_array(b, "tile", TILE_ROWS * ROW_BYTES, 128);
    mc_reg thread = load_special(b, "thread", "tid.x"), tile = mov_shared(b, "tile_at", NAME("tile"));
    emit_tile(b, c, thread, tile);
    mc_reg out = load_array(b, "out"), at = b64(b, "out_at"), beyond = pred(b, "beyond");
    mc_reg i = carried(b, "i", thread), word_at = b32(b, "word_at"), word = b32(b, "word");
    for (int first = 0; first < TILE_WORDS; first += c->threads) {
        EMIT(b, setp_ge, beyond, i, I(TILE_WORDS));
        EMIT(b, mad_s32, word_at, i, I(WORD), tile);
        EMIT(b, mad_wide, at, i, I(WORD), out);
        EMIT(b, mov_b32, word, I(0));
        EMIT_IF(b, NOT(beyond), lds_b32, word, AT(word_at, 0));
        EMIT_IF(b, NOT(beyond), stg_b32, AT(at, 0), word);
        EMIT(b, add_s32, i, i, I(c->threads));
    }
    EMIT_RET(b);
    return kernel_text(b);
}

static void test_tile(const tile_case *c) {
    uint32_t want[TILE_WORDS];
    char what[80], *text = tile_kernel(c);
    snprintf(what, sizeof what, "width %d, offset %d, rows %d bytes apart, %d inside, %d threads", c->width,
             c->offset, c->row_bytes, c->inside, c->threads);
    for (int i = 0; i < TILE_WORDS; i++) {
        int byte = i % MC_WARP * WORD, word = (c->offset + i / MC_WARP * c->row_bytes + byte) / WORD;
        want[i] = byte < c->inside ? in_word((unsigned)word) : 0;
    }
    for (int r = 0; r < ASYNC_RUNS; r++)
        check_run(what, text, &async_runs[r], (unsigned)c->threads, (uint64_t)c->offset, want, TILE_WORDS);
    free(text);
}

static const tile_case tiles[] = {
    {16, 0, 256, 128, 32}, {16, 0, 256, 128, 96}, {8, 8, 264, 128, 64}, {4, 4, 132, 128, 32},
    {16, 0, 256, 40, 64},  {8, 0, 256, 36, 64},   {4, 0, 256, 0, 128},  {0, 0, 256, 128, 64},
    {0, 8, 256, 128, 64},  {0, 4, 256, 128, 64},  {0, 0, 264, 128, 32}, {0, 0, 260, 100, 96},
    {0, 8, 264, 12, 32},   {0, 4, 264, 60, 256},
};

int main(void) {
    for (int stages = 1; stages <= 4; stages++)
        for (int consumers = 1; consumers <= 3; consumers++) test_pipelines(stages, consumers);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) test_tile(&tiles[i]);
    return check_end();
}
