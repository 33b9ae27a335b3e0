/* The producer of a kernel of dense fragments: one thread copies bits, slots and tiles of B, as far ahead as
   stages are empty. What it copies of A nobody writes while kernels run, so that the first stages' part of it
   is asked for before the kernel ahead has ended. The kernel behind may start when the last copy has been
   asked for. If it started early, its waiting thread blocks would take room on some multiprocessors, and this
   kernel's would crowd on the others. */
#include "ops/spmm/fragments/fragments.h"
#include "parts/tensor_copy.h"

typedef struct producer {
    fragments_kernel *f;
    mc_builder *b;
    tensor_copy rhs;
    pipeline_producer stage;
    mc_reg values;             /* the array */
    mc_reg masks_at;           /* bits of the stage to be copied next */
    mc_reg start, next, after; /* its first slot, and those of the two stages behind it */
    mc_reg starts_at, unread;  /* where the first slot to be read next lies; how many are not read yet */
    mc_reg bytes, expected;    /* of the stage's slots; of all copies of it */
    mc_reg has;                /* scratch: whether there are slots, or starts */
    mc_reg values_at, k;
    mc_reg left, more; /* stages of the tile that are still to be copied */
    mc_reg early_room; /* stream: how many stages of it may come early: none but of the first tile */
} producer;

/* Reads the first slot of the stage behind `next`, if there is one: two stages before it is copied, since
   memory is far. The first two starts were read already, so that one less than there are stages is left. */
static void read_start(const producer *p) {
    mc_builder *b = p->b;
    EMIT(b, add_s32, p->unread, p->unread, I(-1));
    EMIT(b, setp_gt, p->has, p->unread, I(0));
    EMIT_IF(b, p->has, ldg_b32, p->after, AT(p->starts_at, 0));
    EMIT(b, add_s64, p->starts_at, p->starts_at, I(WORD));
}

/* Where the part begins in A's arrays. A part behind k's end takes the last stage: its B is zeros. */
static void begin_a(producer *p) {
    const fragments_kernel *f = p->f;
    mc_builder *b = p->b;
    note(b, "where the stages' bits and first slots are");
    mc_reg stage = mul_s32(b, "tile_stage", f->tile, f->k_stages);
    if (f->part.first.id) {
        mc_reg last = add_s32(b, "last_stage", f->k_stages, I(-1));
        stage = add_s32(b, "first_stage", stage, min_s32(b, "part_in_k", f->part.first, last));
    }
    p->masks_at = b64(b, "masks_at"), p->starts_at = b64(b, "starts_at");
    EMIT(b, mad_wide, p->starts_at, stage, I(WORD), load_array(b, "starts"));
    EMIT(b, mad_wide, p->masks_at, stage, I(fragments_bits(f->plan)), load_array(b, "masks"));
    p->values = load_array(b, "values");
    p->start = carried(b, "start", ldg_b32(b, "first_start", AT(p->starts_at, 0)));
    p->next = carried(b, "next_start", ldg_b32(b, "second_start", AT(p->starts_at, WORD)));
    p->after = carried(b, "start_after", I(0)), p->unread = carried(b, "unread", f->part.stages);
    p->bytes = b32(b, "slot_bytes"), p->expected = b32(b, "stage_bytes");
    p->has = pred(b, "has_slots"), p->values_at = b64(b, "values_at");
    EMIT(b, add_s64, p->starts_at, p->starts_at, I(2 * WORD));
    read_start(p);
}

static void begin_map(producer *p) {
    p->rhs = (tensor_copy){.b = p->b, .name = "b", .param = "b_map", .tile = &p->f->rhs};
    tensor_copy_begin(&p->rhs);
}

/* Where the part begins in B. */
static void begin_b(producer *p) {
    const fragments_kernel *f = p->f;
    tensor_copy_row(&p->rhs, f->column);
    p->k = carried(p->b, "k_at", I(0));
    if (f->part.first.id) EMIT(p->b, mul_s32, p->k, f->part.first, I(FRAGMENTS_K));
}

/* The stage's bits and slots, and how many bytes it gets in all. */
static void copy_a(const producer *p) {
    const fragments_plan *plan = p->f->plan;
    mc_builder *b = p->b;
    const int copied = fragments_bits(plan) + tile_bytes(&p->f->rhs);
    EMIT(b, sub_s32, p->bytes, p->next, p->start);
    EMIT(b, mul_s32, p->bytes, p->bytes, I(fragments_slot_bytes(plan)));
    EMIT(b, setp_gt, p->has, p->bytes, I(0));
    EMIT(b, mad_wide, p->values_at, p->start, I(fragments_slot_bytes(plan)), p->values);
    EMIT(b, add_s32, p->expected, p->bytes, I(copied));
    EMIT(b, mbarrier_expect, p->f->pipe.state, AT(p->stage.full, 0), p->expected);
    EMIT(b, bulk_load, AT(p->stage.to, fragments_bits_at(plan)), AT(p->masks_at, 0), I(fragments_bits(plan)),
         AT(p->stage.full, 0));
    EMIT_IF(b, p->has, bulk_load, AT(p->stage.to, fragments_values_at(plan)), AT(p->values_at, 0), p->bytes,
            AT(p->stage.full, 0));
    EMIT(b, add_s64, p->masks_at, p->masks_at, I(fragments_bits(plan)));
    EMIT(b, mov_b32, p->start, p->next);
    EMIT(b, mov_b32, p->next, p->after);
    read_start(p);
}

static void copy_b(const producer *p) {
    tensor_copy_tile(&p->rhs, p->k, p->stage.to, p->stage.full);
    EMIT(p->b, add_s32, p->k, p->k, I(FRAGMENTS_K));
}

/* Goes on to the next stage, and to LOOP if COUNT, which becomes less, says that there is one. */
static void next_stage(const producer *p, mc_reg count, mc_label loop) {
    mc_builder *b = p->b;
    pipeline_filled(&p->f->pipe, &p->stage);
    EMIT(b, add_s32, count, count, I(-1));
    EMIT(b, setp_gt, p->more, count, I(0));
    EMIT_IF(b, p->more, bra, TO(loop));
}

/* The first stages, which are empty: A before the kernel ahead has ended, B behind that. */
static void emit_first(const producer *p, mc_reg early) {
    const fragments_kernel *f = p->f;
    const pipeline *pipe = &f->pipe;
    mc_builder *b = p->b;
    mc_label a_stage = label(b, "EARLY_A"), b_stage = label(b, "EARLY_B");
    mc_reg count = carried(b, "early", early);
    set_label(b, a_stage);
    copy_a(p);
    next_stage(p, count, a_stage);
    emit_grid_wait(b, f->plan->base.overlap != OVERLAP_OFF, "B");
    note(b, "B's part of the same stages");
    pipeline_rewind(pipe, &p->stage);
    EMIT(b, mov_b32, count, early);
    set_label(b, b_stage);
    copy_b(p);
    next_stage(p, count, b_stage);
    EMIT(b, sub_s32, p->left, p->left, early);
}

/* Those that the tile has of them; it goes to COPIED if these are all. */
static void emit_early(const producer *p, mc_label copied) {
    const bool stream = p->f->plan->stream;
    mc_builder *b = p->b;
    mc_label late = stream ? label(b, "LATE") : (mc_label){0};
    note(b, "A of as many stages as there are");
    const mc_operand room = stream ? p->early_room : I(p->f->pipe.stages);
    mc_reg early = min_s32(b, "early_stages", p->left, room);
    if (stream) {
        EMIT(b, setp_gt, p->more, early, I(0));
        EMIT_IF(b, NOT(p->more), bra, TO(late));
    }
    emit_first(p, early);
    if (stream) {
        EMIT(b, mov_b32, p->early_room, I(0));
        set_label(b, late);
    }
    EMIT(b, setp_gt, p->more, p->left, I(0));
    EMIT_IF(b, NOT(p->more), bra, TO(copied));
}

/* The stages of a tile. */
static void copy_tile(const producer *p, mc_label copied) {
    mc_builder *b = p->b;
    mc_label stage = label(b, "STAGE");
    emit_early(p, copied);
    note(b, "the other stages, as the consumers leave them");
    set_label(b, stage);
    pipeline_await_empty(&p->f->pipe, &p->stage, "EMPTY");
    copy_a(p);
    copy_b(p);
    next_stage(p, p->left, stage);
}

static void copy_own(producer *p, mc_label copied) {
    begin_a(p);
    begin_map(p);
    begin_b(p);
    p->stage = pipeline_produce(&p->f->pipe);
    p->left = carried(p->b, "stages_left", p->f->part.stages), p->more = pred(p->b, "more");
    copy_tile(p, copied);
}

/* Stream: tiles, or pieces of them, one after another. */
static void copy_tiles(producer *p, mc_label copied) {
    mc_builder *b = p->b;
    mc_label tile = label(b, "TILE"), next = label(b, "NEXT_TILE");
    begin_map(p);
    p->stage = pipeline_produce(&p->f->pipe);
    p->early_room = carried(b, "early_room", I(p->f->pipe.stages));
    const tile_schedule tiles = spmm_fragments_begin_tiles(p->f);
    set_label(b, tile);
    spmm_fragments_take_tile(p->f, &tiles, copied);
    begin_a(p);
    begin_b(p);
    p->left = carried(b, "stages_left", p->f->part.stages), p->more = pred(b, "more");
    copy_tile(p, next);
    set_label(b, next);
    schedule_next(&tiles);
    EMIT(b, bra, TO(tile));
}

void spmm_fragments_emit_producer(fragments_kernel *f, mc_label producer_label, mc_label end) {
    mc_builder *b = f->b;
    heading(b, "The producer: one thread copies what the consumers expand and multiply");
    b->prefix = "load_";
    roles_producer(&f->roles, producer_label, end);
    producer p = {.f = f, .b = b};
    mc_label copied = label(b, "COPIED");
    if (f->plan->stream) copy_tiles(&p, copied);
    else copy_own(&p, copied);
    set_label(b, copied);
    emit_launch_next(b, f->plan->base.overlap);
    EMIT(b, bra, TO(end));
    b->prefix = NULL;
}
