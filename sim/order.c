#include "order.h"

#include "cluster.h"

#include <stdlib.h>

enum { FIRST_PLACES = 64 };

/* -- Places --------------------------------------------------------------------------------------------- */

static struct sim_place *slot_of(const struct sim_messages *m, uint64_t address) {
    size_t mask = m->capacity - 1, i = (address * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
    while (m->places[i].address && m->places[i].address != address) i = (i + 1) & mask;
    return &m->places[i];
}

static bool grow(struct sim_messages *m) {
    struct sim_messages old = *m;
    size_t capacity = old.capacity ? 2 * old.capacity : FIRST_PLACES;
    struct sim_place *places = calloc(capacity, sizeof *places);
    if (!places) return false;
    m->places = places;
    m->capacity = capacity;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.places[i].address) *slot_of(m, old.places[i].address) = old.places[i];
    free(old.places);
    return true;
}

/* The place at an address, which is made if it is not there; NULL: out of memory. */
static struct sim_place *place_at(struct sim_messages *m, uint64_t address) {
    if (2 * m->count >= m->capacity && !grow(m)) return NULL;
    struct sim_place *place = slot_of(m, address);
    m->count += place->address == 0;
    place->address = address;
    return place;
}

bool sim_messages_open(struct sim_messages *m, const struct sim_launch *launch) {
    if (!launch->sequential) return true;
    uint64_t blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
    if (blocks > SIM_BLOCK_NUMBERS) blocks = SIM_BLOCK_NUMBERS;
    m->released_bytes = (blocks + 1) * sizeof *m->released;
    m->released = sim_map(m->released_bytes);
    return m->released != NULL;
}

void sim_messages_close(struct sim_messages *m) {
    sim_unmap(m->released, m->released_bytes);
    free(m->places);
}

struct sim_order *sim_order_new(struct sim_messages *messages) {
    struct sim_order *order = calloc(1, sizeof *order);
    if (order) order->messages = messages;
    return order;
}

void sim_order_start(struct sim_block *block) {
    memset(block->order->warp, 0, (size_t)block->warp_count * sizeof *block->order->warp);
}

/* -- Blocks --------------------------------------------------------------------------------------------- */

bool sim_order_holds(const struct sim_warp *warp, int lane, sim_record block, unsigned thread,
                     uint32_t clock) {
    const struct sim_order *order = warp->block->order;
    if (!order || !order->messages->released) return false;
    const struct sim_blocks *known = sim_view_blocks(warp, lane);
    return known->first <= block && block <= known->last &&
           sim_known_holds(&order->messages->released[block], thread, clock);
}

/* -- Patterns ------------------------------------------------------------------------------------------- */

/* What was known of other blocks' threads means nothing in this one. */
static void enter_place(struct sim_place *place, sim_record block) {
    if (place->block != block) place->view = (struct sim_view){0};
    place->block = block;
}

static void acquire(struct sim_warp *warp, uint32_t mask, const struct sim_view *view,
                    const struct sim_blocks *wide) {
    struct sim_view all = *view;
    all.by[SIM_PROXY_GENERIC].blocks = *wide;
    sim_view_acquire(warp, mask, &all);
}

/* A read of PLACE. One whose scope does not reach the writer's block races, so that it need not be looked
   at. */
static void observe(struct sim_warp *warp, int lane, bool acquires, const struct sim_place *place) {
    struct sim_warp_order *w = &warp->block->order->warp[warp->index];
    if (acquires) {
        acquire(warp, 1u << lane, &place->view, &place->wide);
        return;
    }
    w->observers |= 1u << lane;
    sim_view_join(&w->observed, &place->view);
    sim_blocks_join(&w->observed_wide, &place->wide);
}

/* The thread's strong write to PLACE, behind what VIEW tells. */
static void publish(struct sim_warp *warp, struct sim_place *place, const struct sim_view *view, bool wide) {
    const struct sim_known *known = &view->by[SIM_PROXY_GENERIC];
    uint32_t block = (uint32_t)warp->block->global_id;
    sim_view_join(&place->view, view);
    struct sim_known *released = warp->block->order->messages->released;
    if (!wide || !released) return;
    sim_blocks_join(&place->wide, &known->blocks);
    sim_blocks_join(&place->wide, &(struct sim_blocks){block, block});
    sim_known_join(&released[block], known);
}

static void release(struct sim_warp *warp, int lane, const struct sim_trait *t, struct sim_place *place) {
    const struct sim_warp_order *w = &warp->block->order->warp[warp->index];
    struct sim_view now = {0};
    if (t->releases) {
        sim_view_release(warp, 1u << lane, &now);
        publish(warp, place, &now, t->wide);
    } else if (SIM_ACTIVE(w->fenced, lane)) {
        publish(warp, place, &w->before, SIM_ACTIVE(w->fenced_wide, lane));
    }
}

bool sim_order_access(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                      enum sim_access access) {
    struct sim_block *block = warp->block;
    const struct sim_trait *t = &block->launch->traits[insn - block->launch->function->code];
    struct sim_place *place = place_at(block->order->messages, address);
    if (!place) {
        sim_fault_at(warp, insn, lane, PTXSIM_NOMEM, "no memory to watch for races");
        return false;
    }
    enter_place(place, block->global_id);
    if (access != SIM_WRITE) observe(warp, lane, t->acquires, place);
    if (access == SIM_WRITE) { /* what was released here is not observed any more */
        place->view = (struct sim_view){0};
        place->wide = (struct sim_blocks){0};
    }
    if (access != SIM_READ) release(warp, lane, t, place);
    return true;
}

void sim_order_fence(struct sim_warp *warp, uint32_t mask, bool wide) {
    static const struct sim_blocks none;
    struct sim_warp_order *w = &warp->block->order->warp[warp->index];
    if (w->observers & mask)
        acquire(warp, w->observers & mask, &w->observed, wide ? &w->observed_wide : &none);
    w->observers &= ~mask;
    if (!w->observers) w->observed = (struct sim_view){0}, w->observed_wide = none;
    sim_view_release(warp, mask, &w->before);
    w->fenced |= mask;
    if (wide) w->fenced_wide |= mask;
}

bool sim_order_is_fenced(const struct sim_warp *warp, uint32_t mask) {
    return warp->block->order && (warp->block->order->warp[warp->index].fenced & mask);
}

void sim_order_observe(struct sim_warp *warp, uint32_t mask, const struct sim_view *view) {
    if (!warp->block->order) return;
    struct sim_warp_order *w = &warp->block->order->warp[warp->index];
    w->observers |= mask;
    sim_view_join(&w->observed, view);
}

void sim_fence(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    if (warp->block->cluster->state && sim_reaches_cluster(insn))
        sim_cluster_warp_of(warp)->fenced = warp->clock.now;
    if (warp->block->order) sim_order_fence(warp, mask, sim_is_wide(insn));
}
