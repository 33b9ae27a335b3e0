/* B out of the rows of a matrix of vectors, which lie packed as bitmaps (format bitmap-bcrs): helpers put
 * the dense tile that wgmma reads into each stage, where otherwise a copy would bring it.
 *
 * A stage has 128 bytes of k. An octet is 8 rows of the matrix, all of one row block, and a warp expands
 * some octets of each stage, one after another. Of an octet lane l has the four k from 4 l on, a nibble of
 * the row block's bits. It loads their vectors, at most four of 8 bytes, which lie one behind another. Four
 * columns of 8 bytes become 8 rows of 4, each byte where its bit says, with zeros between. The lanes of a
 * warp store a line of 128 bytes at a time, swizzled as tensor copies would.
 *
 *   bits of an octet's 128 k -> rank and number of the lane's vectors -> vectors -> words -> stores
 *
 * Bytes are moved by prmt in two steps. The first one brings bytes of two rows of two vectors into a word:
 * of vectors 0 and 1, and of 2 and 3. The second one makes a row's word of two such words. Its selector
 * follows from the nibble alone: a table in shared memory has it, with the number of vectors above it. A
 * place without a vector gets the byte of vector 3, which is zero then: all four have a vector only where
 * no place is empty.
 *
 * Loads are far ahead of stores, since memory is far. Stages take S sets of registers in turn: the vectors
 * of a stage are asked for S - 1 stages before they are stored, and its bits S stages before that. With one
 * set vectors are loaded once those of the stage before are stored. L2 is asked at once for all that a warp
 * reads of a tile. */
#include "parts/wgmma/wgmma.h"
#include "parts/bitmap.h"
#include "parts/emit.h"
#include "parts/fragment.h"
#include <stdio.h>

enum {
    LANE_K = 4, /* k of a lane, a nibble of bits */
    NIBBLES = 16,
    WORD_LANES = MC_WARP / 4, /* lanes that share a word of bits */
    PAIR_BYTES = 2 * WORD,    /* a word of bits, and the number of its first vector */
    /* Bytes of a row block's pairs that a stage takes. */
    STAGE_PAIRS = BITMAP_TILE / BITMAP_WORD * PAIR_BYTES,
    OCTET = TILE_LINES,
    L2_PIECE = 16,
    COUNT_SHIFT = 16, /* of the number of vectors in a word of the table */
};
/* Bits are loaded 2 S - 1 stages before their stage is stored: at the last row block beyond the end. */
_Static_assert((2 * EXPAND_SETS - 1) * STAGE_PAIRS <= BITMAP_END * PAIR_BYTES, "pairs behind the last one");

/* Registers of a step alone. */
typedef struct expand_scratch {
    mc_reg number, rank, value_at, has, odd, two[4], word;
} expand_scratch;

typedef struct expander {
    const wgmma_kernel *g;
    mc_builder *b;
    int items; /* octets that a warp has of a stage */
    tile_schedule tiles;
    pipeline_producer stage;
    mc_reg arrives;
    mc_reg masks, values, lane_masks; /* arrays, and where the lane's word of the first pairs lies */
    mc_reg shift, below;              /* the lane's nibble in its word, and the bits below it */
    mc_reg first_octet, last_octet;   /* of the warp in a tile; of B */
    mc_reg octet_place;               /* where the lane's words of its first octet begin in a stage */
    mc_reg table;                     /* what each nibble becomes */
    mc_reg left, more;                /* stages that are left; whether there are any */
    mc_reg mask_at[EXPAND_ITEMS], pair[EXPAND_SETS][EXPAND_ITEMS][2];
    mc_reg half[EXPAND_ITEMS]; /* vectors of more than 8 rows: where the octet's bytes of a vector begin */
    mc_reg choice[EXPAND_SETS][EXPAND_ITEMS]; /* the table's word for the lane's nibble */
    mc_reg vector[EXPAND_SETS][EXPAND_ITEMS][LANE_K][2];
    mc_reg line[OCTET]; /* where the lane's word of each row goes */
    expand_scratch step;
} expander;

static int octets_of_vector(const expander *e) { return e->g->plan->expand_vec / OCTET; }

/* -- The table ------------------------------------------------------------------------------------------ */

/* What prmt chooses for a NIBBLE's four places, out of two words with two rows of vectors 0 and 1, and of 2
   and 3. Place i has the vector whose number is that of the set bits below bit i, or, where bit i is not
   set, vector 3. */
static mc_reg choice_of(mc_builder *b, mc_reg nibble) {
    enum { EVEN = 5, EVEN_BY = 0x41, ODD = 10, ODD_BY = 0x208, ONES = 0x1111, BELOW = 0x1110, ALL = 15 };
    enum { TWOS = 0x2222, LAST = 0x5555, LAST_BYTE = 5 };
    note(b, "bit i at 4 i: even and odd ones apart, so that no product carries where it is read");
    mc_reg even = and_b32(b, "even_bits", nibble, I(EVEN)), odd = and_b32(b, "odd_bits", nibble, I(ODD));
    mc_reg evens = mul_s32(b, "even_places", even, H(EVEN_BY));
    mc_reg both = mad_s32(b, "both_places", odd, H(ODD_BY), evens);
    mc_reg spread = and_b32(b, "places", both, H(ONES));
    note(b, "the numbers of vectors, 0 to 3, and their bytes, 0, 1, 4 and 5; 5 where there is none");
    mc_reg rank = mul_s32(b, "numbers", spread, H(BELOW)), low = and_b32(b, "numbers_low", rank, H(ONES));
    mc_reg high = and_b32(b, "numbers_high", rank, H(TWOS));
    mc_reg byte = mad_s32(b, "bytes_of_numbers", high, I(2), low);
    mc_reg kept = and_b32(b, "bytes_kept", byte, mul_s32(b, "places_kept", spread, I(ALL)));
    mc_reg none = xor_b32(b, "places_empty", mul_s32(b, "places_taken", spread, I(LAST_BYTE)), H(LAST));
    mc_reg chosen = or_b32(b, "choice", kept, none);
    return mad_s32(b, "table_word", popc_b32(b, "vectors_of_nibble", nibble), H(1 << COUNT_SHIFT), chosen);
}

void wgmma_init_table(wgmma_kernel *g) {
    mc_builder *b = g->b;
    mc_label made = label(b, "TABLE_MADE");
    note(b, "16 threads write what each nibble of a sparse matrix's bits becomes (expand.c)");
    g->table = add_s32(b, "table", g->pipe.first, I(wgmma_table_at(g->plan)));
    mc_reg others = setp_ge(b, "has_no_nibble", g->roles.thread, I(NIBBLES));
    EMIT_IF(b, others, bra, TO(made));
    mc_reg word = choice_of(b, g->roles.thread);
    EMIT(b, sts_b32, AT(mad_s32(b, "table_at", g->roles.thread, I(WORD), g->table), 0), word);
    set_label(b, made);
}

/* -- Begin -------------------------------------------------------------------------------------------- */

static int sets_of(const expander *e) { return e->g->plan->expand_sets; }

static void declare_set(expander *e, int set, int item) {
    mc_builder *b = e->b;
    char name[MC_MAX_NAME];
    snprintf(name, sizeof name, "pair%d_%d_", set, item);
    b32_array(b, name, 2, e->pair[set][item]);
    snprintf(name, sizeof name, "choice%d_%d", set, item);
    e->choice[set][item] = b32(b, name);
    for (int v = 0; v < LANE_K; v++) {
        snprintf(name, sizeof name, "vector%d_%d_%d_", set, item, v);
        b32_array(b, name, 2, e->vector[set][item][v]);
        for (int w = 0; w < 2; w++) EMIT(b, mov_b32, e->vector[set][item][v][w], I(0));
    }
}

static void declare_loads(expander *e) {
    mc_builder *b = e->b;
    char name[MC_MAX_NAME];
    for (int i = 0; i < e->items; i++) {
        snprintf(name, sizeof name, "mask_at%d", i);
        e->mask_at[i] = b64(b, name);
        snprintf(name, sizeof name, "half%d", i);
        if (octets_of_vector(e) > 1) e->half[i] = b32(b, name);
        for (int set = 0; set < sets_of(e); set++) declare_set(e, set, i);
    }
}

static void declare_scratch(expander *e) {
    mc_builder *b = e->b;
    e->step.number = b32(b, "number"), e->step.rank = b32(b, "rank"), e->step.value_at = b64(b, "value_at");
    e->step.has = pred(b, "has"), e->step.odd = b32(b, "odd_choice"), e->step.word = b32(b, "word");
    b32_array(b, "two", 4, e->step.two);
    b32_array(b, "line", OCTET, e->line);
    e->left = b32(b, "stages_left"), e->more = pred(b, "more");
}

static void begin_lane(expander *e) {
    const wgmma_kernel *g = e->g;
    mc_builder *b = e->b;
    mc_reg lane = g->roles.lane;
    note(b, "the lane's word of a row block's bits, its nibble there, and the bits below that");
    mc_reg word = shr_u32(b, "lane_word", lane, I(log2_of(WORD_LANES)));
    e->lane_masks = mad_wide(b, "lane_masks", word, I(PAIR_BYTES), e->masks);
    mc_reg place = and_b32(b, "lane_nibble", lane, I(WORD_LANES - 1));
    e->shift = shl_b32(b, "nibble_shift", place, I(log2_of(LANE_K)));
    mc_reg end = shl_b32(b, "nibble_end", I(1), e->shift);
    e->below = add_s32(b, "bits_below", end, I(-1));
    note(b, "the warp's octets of a tile, and where they lie in a stage");
    int first_warp = (g->plan->consumers + 1) * WARPGROUP_WARPS;
    mc_reg warp = add_s32(b, "own_warp", g->roles.warp, I(-first_warp));
    e->first_octet = mul_s32(b, "own_octet", warp, I(e->items));
    int octet = tile_offset(&g->rhs, OCTET, 0);
    mc_reg at = mad_s32(b, "own_octet_at", e->first_octet, I(octet), I(tile_bytes(&g->lhs)));
    e->octet_place = mad_s32(b, "lane_at", lane, I(WORD), at);
    mc_reg octets = shr_u32(b, "octets", g->n, I(log2_of(OCTET)));
    e->last_octet = add_s32(b, "last_octet", octets, I(-1));
    e->arrives = setp_eq(b, "fills", lane, I(0));
}

/* -- A tile ------------------------------------------------------------------------------------------- */

/* Sets e->step.number to the row block of the warp's octet ITEM (or, none, of octet ITEM_OF), and HALF, if
   there is one, to where the octet's bytes begin in a vector. Octets beyond the last one are read as that
   one: nobody stores what is made of them. */
static void find_row_block(const expander *e, mc_operand octet, mc_reg half) {
    mc_builder *b = e->b;
    int octets = octets_of_vector(e);
    mc_reg first = e->step.rank;
    EMIT(b, shr_u32, first, e->tiles.column, I(log2_of(OCTET)));
    EMIT(b, add_s32, first, first, e->first_octet);
    EMIT(b, add_s32, first, first, octet);
    EMIT(b, min_s32, e->step.number, first, e->last_octet);
    if (half.id) EMIT(b, and_b32, half, e->step.number, I(octets - 1));
    if (half.id) EMIT(b, shl_b32, half, half, I(log2_of(OCTET)));
    if (octets > 1) EMIT(b, shr_u32, e->step.number, e->step.number, I(log2_of(octets)));
}

static mc_reg all_stages(const expander *e) {
    return wgmma_is_split(e->g->plan) ? e->g->k_all : e->g->k_stages;
}

/* Makes e->step.number, a row block, the number of its first stage of the tile, counted over all row
   blocks. */
static void find_stage(const expander *e) {
    mc_builder *b = e->b;
    const mc_reg first = e->g->k_first;
    EMIT(b, mul_s32, e->step.number, e->step.number, all_stages(e));
    if (first.id) EMIT(b, add_s32, e->step.number, e->step.number, first);
}

static void begin_tile(const expander *e) {
    const wgmma_kernel *g = e->g;
    mc_builder *b = e->b;
    for (int i = 0; i < e->items; i++) {
        find_row_block(e, I(i), e->half[i]);
        find_stage(e);
        EMIT(b, mad_wide, e->mask_at[i], e->step.number, I(STAGE_PAIRS), e->lane_masks);
    }
    EMIT(b, mov_b32, e->left, g->k_stages);
}

/* -- Loads -------------------------------------------------------------------------------------------- */

/* Loads the bits of the next stage into SET. Behind the last stage of a row block they are another one's, or
   lie in the array's end. Nobody stores what follows from them. In a part that lies behind k's end it is
   stored, and multiplied by zeros, which tensor copies bring there. */
static void load_bits(const expander *e, int set) {
    mc_builder *b = e->b;
    for (int i = 0; i < e->items; i++) {
        EMIT(b, ldg_v2, V2(e->pair[set][i]), AT(e->mask_at[i], 0));
        EMIT(b, add_s64, e->mask_at[i], e->mask_at[i], I(STAGE_PAIRS));
    }
}

/* Loads the vectors of octet ITEM of the stage whose bits are in SET: the first two always, since the array
   goes on behind the last one; the fourth one is zero where there is none. */
static void load_octet(const expander *e, int set, int item) {
    mc_builder *b = e->b;
    const mc_reg *pair = e->pair[set][item], choice = e->choice[set][item];
    const mc_reg(*vector)[2] = e->vector[set][item];
    int vec = e->g->plan->expand_vec;
    EMIT(b, shr_u32, e->step.number, pair[1], e->shift);
    EMIT(b, and_b32, e->step.number, e->step.number, I(NIBBLES - 1));
    EMIT(b, mad_s32, e->step.number, e->step.number, I(WORD), e->table);
    EMIT(b, lds_b32, choice, AT(e->step.number, 0));
    EMIT(b, and_b32, e->step.rank, pair[1], e->below);
    EMIT(b, popc_b32, e->step.rank, e->step.rank);
    EMIT(b, add_s32, e->step.rank, e->step.rank, pair[0]);
    EMIT(b, mad_wide, e->step.value_at, e->step.rank, I(vec), e->values);
    if (e->half[item].id) EMIT(b, mad_wide, e->step.value_at, e->half[item], I(1), e->step.value_at);
    for (int v = 0; v < 2; v++) EMIT(b, ldg_v2, V2(vector[v]), AT(e->step.value_at, v * vec));
    for (int v = 2; v < LANE_K; v++) {
        EMIT(b, setp_gt, e->step.has, choice, I(((v + 1) << COUNT_SHIFT) - 1));
        for (int w = 0; w < 2 && v + 1 == LANE_K; w++) EMIT(b, mov_b32, vector[v][w], I(0));
        EMIT_IF(b, e->step.has, ldg_v2, V2(vector[v]), AT(e->step.value_at, v * vec));
    }
}

/* Loads the vectors of the stage whose bits are in SET, and the bits of the one that has the set next. */
static void load_ahead(const expander *e, int set) {
    note(e->b, "vectors of a stage ahead, and the bits of the one that has their registers next");
    for (int i = 0; i < e->items; i++) load_octet(e, set, i);
    load_bits(e, set);
}

/* A lane for each octet asks L2 for its pairs and for its vectors. */
static void ask_l2(const expander *e) {
    const wgmma_kernel *g = e->g;
    mc_builder *b = e->b;
    int vec = g->plan->expand_vec;
    mc_label asked = label(b, "ASKED");
    note(b, "a lane for each octet asks L2 for what the tile takes of its row block");
    mc_reg asks = setp_ge(b, "asks_not", g->roles.lane, I(e->items));
    EMIT_IF(b, asks, bra, TO(asked));
    if (g->k_first.id) {
        mc_reg none = setp_ge(b, "has_none", g->k_first, all_stages(e));
        EMIT_IF(b, none, bra, TO(asked));
    }
    find_row_block(e, g->roles.lane, (mc_reg){0});
    find_stage(e);
    mc_reg from = mad_wide(b, "ask_masks", e->step.number, I(STAGE_PAIRS), e->masks);
    mc_reg bytes = mul_s32(b, "ask_mask_bytes", g->k_stages, I(STAGE_PAIRS));
    EMIT(b, bulk_prefetch, AT(from, 0), bytes);
    mc_reg to = mad_wide(b, "ask_masks_end", g->k_stages, I(STAGE_PAIRS), from);
    mc_reg first = ldg_b32(b, "ask_first", AT(from, 0)), end = ldg_b32(b, "ask_end", AT(to, 0));
    note(b, "whole pieces of 16 bytes; the array has some behind its last vector");
    mc_reg count = sub_s32(b, "ask_vectors", end, first);
    mc_reg all = mad_s32(b, "ask_bytes", count, I(vec), I(L2_PIECE));
    mc_reg whole = and_b32(b, "ask_whole", all, H(~(L2_PIECE - 1U)));
    mc_reg even = and_b32(b, "ask_even", first, H(~1U));
    mc_reg at = mad_wide(b, "ask_at", even, I(vec), e->values);
    EMIT(b, bulk_prefetch, AT(at, 0), whole);
    set_label(b, asked);
}

/* -- Stores ------------------------------------------------------------------------------------------- */

/* Makes of word HALF of four vectors, rows 4 HALF to 4 HALF + 3, a word for each row, and stores it. */
static void store_rows(const expander *e, const mc_reg vector[][2], mc_reg choice, int half, int item) {
    enum { FIRST_ROWS = 0x5140, LAST_ROWS = 0x7362 };
    mc_builder *b = e->b;
    for (int v = 0; v < LANE_K; v += 2) {
        EMIT(b, prmt, e->step.two[v / 2], vector[v][half], vector[v + 1][half], H(FIRST_ROWS));
        EMIT(b, prmt, e->step.two[2 + v / 2], vector[v][half], vector[v + 1][half], H(LAST_ROWS));
    }
    for (int row = 0; row < LANE_K; row++) {
        const mc_reg *two = &e->step.two[row / 2 * 2];
        const int line = half * LANE_K + row;
        EMIT(b, prmt_by, e->step.word, two[0], two[1], row % 2 ? e->step.odd : choice);
        EMIT(b, sts_b32, AT(e->line[line], tile_offset(&e->g->rhs, item * OCTET + line, 0)), e->step.word);
    }
}

static void store_stage(const expander *e, int set) {
    enum { ODD_ROW = 0x2222 };
    mc_builder *b = e->b;
    note(b, "where the lane's word of each row goes, by the swizzle");
    EMIT(b, add_s32, e->line[0], e->stage.to, e->octet_place);
    for (int row = 1; row < OCTET; row++) EMIT(b, xor_b32, e->line[row], e->line[0], I(row * TILE_CHUNK));
    for (int i = 0; i < e->items; i++) {
        note(b, "octet %d: 8 rows of 128 k", i);
        EMIT(b, add_s32, e->step.odd, e->choice[set][i], H(ODD_ROW));
        for (int half = 0; half < 2; half++) store_rows(e, e->vector[set][i], e->choice[set][i], half, i);
    }
}

/* -- All of it ------------------------------------------------------------------------------------------ */

static expander begin_expander(const wgmma_kernel *g) {
    mc_builder *b = g->b;
    expander e = {.g = g, .b = b, .items = wgmma_expand_items(g->plan)};
    e.masks = load_array(b, "masks"), e.values = load_array(b, "values");
    e.table = g->table;
    begin_lane(&e);
    declare_scratch(&e);
    declare_loads(&e);
    e.stage = pipeline_produce(&g->pipe);
    e.tiles = wgmma_schedule(g, (mc_reg){0});
    return e;
}

static void emit_stage(const expander *e, int set) {
    const wgmma_kernel *g = e->g;
    mc_builder *b = e->b;
    char room[MC_MAX_NAME];
    const int sets = sets_of(e), last = (set + sets - 1) % sets;
    snprintf(room, sizeof room, "ROOM%d", set);
    if (sets > 1) load_ahead(e, last);
    pipeline_await_empty(&g->pipe, &e->stage, room);
    store_stage(e, set);
    pipeline_fill(&g->pipe, &e->stage, e->arrives);
    pipeline_filled(&g->pipe, &e->stage);
    if (sets == 1) load_ahead(e, set);
    EMIT(b, add_s32, e->left, e->left, I(-1));
    EMIT(b, setp_gt, e->more, e->left, I(0));
}

static void emit_stages(const expander *e) {
    mc_builder *b = e->b;
    const int sets = sets_of(e);
    mc_label next = label(b, "STAGE"), done = sets > 1 ? label(b, "STAGES_DONE") : (mc_label){0};
    for (int set = 0; set < sets; set++) load_bits(e, set);
    ask_l2(e);
    for (int set = 0; set < (sets > 1 ? sets - 1 : 1); set++) load_ahead(e, set);
    set_label(b, next);
    for (int set = 0; set < sets; set++) {
        emit_stage(e, set);
        if (set + 1 < sets) EMIT_IF(b, NOT(e->more), bra, TO(done));
        else EMIT_IF(b, e->more, bra, TO(next));
    }
    if (sets > 1) set_label(b, done);
}

void wgmma_emit_helper(const wgmma_kernel *g, mc_label helper, mc_label end) {
    mc_builder *b = g->b;
    heading(b, "The helpers: they expand rows of the sparse matrix into the stages, as far ahead as these "
               "are empty");
    b->prefix = "fill_";
    roles_helper(&g->roles, helper);
    mc_label tile = label(b, "TILE");
    expander e = begin_expander(g);
    set_label(b, tile);
    schedule_take(&e.tiles, end);
    begin_tile(&e);
    emit_stages(&e);
    schedule_next(&e.tiles);
    EMIT(b, bra, TO(tile));
    b->prefix = NULL;
}
