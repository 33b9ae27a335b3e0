/* Strides of a row block, made one after another from a pool of its next vectors.
 *
 * A group of 8 slots is read in as many accesses to shared memory as it has vectors of one bank class, row of
 * B mod 8: with every tile_n, windowed_place mod 8 is a permutation of that. A row block of G groups in all
 * whose fullest class has n vectors takes max(n, G) accesses at least, and comes close to that if
 *   - a group that cannot do with one access takes from the fullest classes only, two of each: it makes them
 *     more equal by up to four vectors, not by the one that was too many;
 *   - slots of padding, which the last stride has in any case, go to any group that lacks a class. */
#include "formats/windowed_choose.h"
#include <stdlib.h>

/* Vectors below `seen` are in the pool. Of each bank class (row of B mod 8) the pool's vectors go in order,
   so that all before cursor[class] are taken. */
typedef struct chooser {
    const mc_ring *ring;
    const int32_t *columns;
    int64_t count, span; /* vectors; windows that a stride may span */
    bool *taken;
    int64_t oldest, seen, taken_count;
    int64_t spare; /* slots that a group may leave empty, while padding is left, to save an access */
    int64_t cursor[WINDOWED_GROUP], available[WINDOWED_GROUP];
} chooser;

static int64_t window(const chooser *c, int64_t v) { return c->columns[v] / c->ring->window; }
static int bank(const chooser *c, int64_t v) { return (int)(c->columns[v] % WINDOWED_GROUP); }

int64_t windowed_span(const mc_ring *ring, int64_t cols, int64_t vectors, int64_t row_blocks) {
    const int64_t windows = (cols + ring->window - 1) / ring->window;
    return windowed_reach(windows, ring->stages, vectors < WINDOWED_HALF * windows * row_blocks);
}

int64_t windowed_part_first(const mc_ring *ring, int64_t cols, int part) {
    int64_t windows = (cols + ring->window - 1) / ring->window;
    return ring->parts > 1 ? windows * part / ring->parts : 0;
}

int64_t windowed_part_rows(const mc_ring *ring, int64_t cols, int part) {
    int64_t first = windowed_part_first(ring, cols, part) * ring->window,
            end = windowed_part_first(ring, cols, part + 1) * ring->window;
    return (end < cols ? end : cols) - first;
}

/* With spare slots it is given up beyond ceil(vectors / 32). Without, a stride is not full in two cases:
     - The pool lacked vectors because of windows. All of the pool is taken then, so that the next such stride
       begins at least `span` windows further on.
     - All vectors left are in the pool. They take as few strides as can be, and begin behind the windows of
       all strides of the first kind.
   So of the first kind there is one less, at most, than spans of windows. */
int64_t windowed_most_strides(const mc_ring *ring, int64_t cols, int64_t span, int64_t vectors) {
    if (vectors == 0) return 0;
    int64_t windows = (cols + ring->window - 1) / ring->window;
    int64_t spans = (windows + span - 1) / span;
    return vectors / WINDOWED_SLOTS + (spans < vectors ? spans : vectors);
}

static void fill_pool(chooser *c) {
    while (c->oldest < c->count && c->taken[c->oldest]) c->oldest++;
    int64_t end = c->oldest < c->count ? window(c, c->oldest) + c->span : 0;
    while (c->seen < c->count && c->seen - c->taken_count < WINDOWED_POOL && window(c, c->seen) < end)
        c->available[bank(c, c->seen++)]++;
}

/* Groups that take REST vectors, where GROUPS_HERE are left in the stride at hand. */
static int64_t groups_for(int64_t rest, int64_t groups_here) {
    int64_t later = rest - groups_here * WINDOWED_GROUP;
    return groups_here + (later > 0 ? (later + WINDOWED_SLOTS - 1) / WINDOWED_SLOTS * WINDOWED_GROUPS : 0);
}

/* Accesses of the next group: as few as let it have as many vectors as it must, and, once all vectors to come
   are in the pool (or those of this stride, where windows allow no more),
   give the fullest class its share. */
static int64_t group_accesses(const chooser *c, int64_t groups_here) {
    int64_t pool = c->seen - c->taken_count, rest = c->count - c->taken_count;
    if (pool <= groups_here * WINDOWED_GROUP) rest = pool;
    int64_t groups = groups_for(rest, groups_here), empty = groups * WINDOWED_GROUP - rest, accesses = 1;
    for (int i = 0; pool == rest && i < WINDOWED_GROUP; i++)
        while (c->available[i] > accesses * groups) accesses++;
    if (pool < rest) empty = empty < c->spare ? empty : c->spare;
    int64_t wanted = (pool < WINDOWED_GROUP ? pool : WINDOWED_GROUP) - empty;
    for (;; accesses++) {
        int64_t found = 0;
        for (int i = 0; i < WINDOWED_GROUP; i++)
            found += c->available[i] < accesses ? c->available[i] : accesses;
        if (found >= wanted) return accesses;
    }
}

/* The fullest class that the group has fewer than MOST vectors of; -1: none. */
static int choose_bank(const chooser *c, const int used[WINDOWED_GROUP], int64_t most) {
    int best = -1;
    for (int i = 0; i < WINDOWED_GROUP; i++)
        if (c->available[i] && used[i] < most && (best < 0 || c->available[i] > c->available[best])) best = i;
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
    stride->oldest = stride->last = window(c, c->oldest);
    for (int first = 0; first < WINDOWED_SLOTS; first += WINDOWED_GROUP) {
        int used[WINDOWED_GROUP] = {0};
        int64_t most = group_accesses(c, WINDOWED_GROUPS - first / WINDOWED_GROUP);
        for (int i = 0; i < WINDOWED_GROUP; i++) {
            bool oldest = first + i == 0; /* without it, the ring could not move on */
            int class = oldest ? bank(c, c->oldest) : choose_bank(c, used, most);
            stride->slots[first + i] = class < 0 ? -1 : take(c, class);
            if (class < 0) continue;
            used[class]++;
            int64_t at = window(c, stride->slots[first + i]);
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

static bool choose_all(chooser *c, stride_choice *choice) {
    choice->count = 0;
    for (int64_t v = 0; v < c->count; v++) c->taken[v] = false;
    while (c->taken_count < c->count) {
        chosen_stride *stride = add_chosen(choice);
        if (!stride) return false;
        fill_pool(c);
        choose_slots(c, stride);
    }
    return true;
}

bool windowed_choose(const mc_ring *ring, int64_t span, const int32_t *columns, int64_t count,
                     stride_choice *choice) {
    int64_t fewest = (count + WINDOWED_SLOTS - 1) / WINDOWED_SLOTS;
    if (!make_room(choice, count)) return false;
    /* Slots are left empty early only where no window makes that a stride more. */
    for (int64_t spare = 1; spare >= 0; spare--) {
        chooser c = {.ring = ring,
                     .columns = columns,
                     .count = count,
                     .span = span,
                     .taken = choice->taken,
                     .spare = spare};
        if (!choose_all(&c, choice)) return false;
        if (choice->count == fewest) return true;
    }
    return true;
}
