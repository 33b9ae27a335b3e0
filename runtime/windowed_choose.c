/* Strides of a row block, made one after another from a pool of its next vectors. */
#include "windowed_choose.h"
#include <stdlib.h>
#include <string.h>

enum { POOL = 160 /* vectors to choose from: more choice, more windows that must be there */ };

/* Vectors below `seen` are in the pool. Of each bank class (row of B mod 8) the pool's vectors go in order, so that
   all before cursor[class] are taken. */
typedef struct chooser {
    const mc_ring *ring;
    const int32_t *columns;
    int64_t count, span; /* vectors; windows that a stride may span */
    bool *taken;
    int64_t oldest, seen, taken_count;
    int64_t cursor[WINDOWED_GROUP], available[WINDOWED_GROUP];
} chooser;

static int64_t window(const chooser *c, int64_t v) { return c->columns[v] / c->ring->window; }
static int bank(const chooser *c, int64_t v) { return (int)(c->columns[v] % WINDOWED_GROUP); }

int64_t windowed_span(const mc_ring *ring, int64_t cols) {
    int64_t windows = (cols + ring->window - 1) / ring->window;
    if (windows <= ring->stages) return windows;
    return ring->stages > 2 ? ring->stages - 1 : 1;
}

static void fill_pool(chooser *c) {
    while (c->oldest < c->count && c->taken[c->oldest]) c->oldest++;
    int64_t end = c->oldest < c->count ? window(c, c->oldest) + c->span : 0;
    while (c->seen < c->count && c->seen - c->taken_count < POOL && window(c, c->seen) < end)
        c->available[bank(c, c->seen++)]++;
}

/* The class to take a group's next vector from: one that the group has not used yet, if it can be; then the fullest. -1:
   the pool is empty. */
static int choose_bank(const chooser *c, const int used[WINDOWED_GROUP]) {
    int best = -1;
    for (int i = 0; i < WINDOWED_GROUP; i++) {
        if (!c->available[i]) continue;
        bool better = best < 0 || used[i] < used[best] ||
                      (used[i] == used[best] && c->available[i] > c->available[best]);
        if (better) best = i;
    }
    return best;
}

static int64_t take(chooser *c, int class) {
    int64_t v = c->cursor[class];
    while (c->taken[v] || bank(c, v) != class) v++;
    c->taken[v] = true;
    c->cursor[class] = v + 1;
    c->available[class]--;
    c->taken_count++;
    return v;
}

static void choose_slots(chooser *c, chosen_stride *stride) {
    stride->oldest = INT64_MAX, stride->last = 0;
    for (int first = 0; first < WINDOWED_SLOTS; first += WINDOWED_GROUP) {
        int used[WINDOWED_GROUP] = {0};
        for (int i = 0; i < WINDOWED_GROUP; i++) {
            int class = choose_bank(c, used);
            stride->slots[first + i] = class < 0 ? -1 : take(c, class);
            if (class < 0) continue;
            used[class]++;
            int64_t at = window(c, stride->slots[first + i]);
            if (at < stride->oldest) stride->oldest = at;
            if (at > stride->last) stride->last = at;
        }
    }
}

static bool make_room(stride_choice *choice, int64_t vectors) {
    if (vectors <= choice->taken_room) return true;
    bool *taken = realloc(choice->taken, (size_t)vectors * sizeof *taken);
    if (!taken) return false;
    choice->taken = taken, choice->taken_room = vectors;
    return true;
}

static chosen_stride *add_chosen(stride_choice *choice) {
    if (choice->count == choice->room) {
        int64_t room = choice->room ? 2 * choice->room : 64;
        chosen_stride *items = realloc(choice->items, (size_t)room * sizeof *items);
        if (!items) return NULL;
        choice->items = items, choice->room = room;
    }
    return &choice->items[choice->count++];
}

bool windowed_choose(const mc_ring *ring, int64_t cols, const int32_t *columns, int64_t count,
                     stride_choice *choice) {
    choice->count = 0;
    if (!make_room(choice, count)) return false;
    chooser c = {.ring = ring,
                 .columns = columns,
                 .count = count,
                 .span = windowed_span(ring, cols),
                 .taken = choice->taken};
    for (int64_t v = 0; v < count; v++) c.taken[v] = false;
    while (c.taken_count < count) {
        chosen_stride *stride = add_chosen(choice);
        if (!stride) return false;
        fill_pool(&c);
        choose_slots(&c, stride);
    }
    return true;
}
