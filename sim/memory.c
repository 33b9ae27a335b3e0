#include "memory.h"

#include "module.h"

#include <stdlib.h>
#include <sys/mman.h>

/* An address is used once: a pointer to freed memory never points into something new. The gap behind an
   allocation catches strides that run past it. */
enum { ALIGNMENT = 256, GAP = 1 << 20 };
static const uint64_t first_address = SIM_CONST_BASE, last_address = UINT64_C(1) << 56;

static size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

void *sim_map(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return p == MAP_FAILED ? NULL : p;
}

void sim_unmap(void *pages, size_t bytes) {
    if (pages) munmap(pages, bytes);
}

static void free_allocation(struct sim_allocation *a) {
    sim_unmap(a->data, a->mapped);
    free(a);
}

/* Data and shadow in one mapping. */
static struct sim_allocation *new_allocation(uint64_t base, size_t bytes) {
    struct sim_allocation *a = calloc(1, sizeof *a);
    if (!a) return NULL;
    size_t data = round_up(bytes + 1, 4096);
    a->base = base;
    a->bytes = bytes;
    a->mapped = data + round_up(data / 8, 4096);
    a->data = sim_map(a->mapped);
    if (a->data) a->shadow = a->data + data;
    if (a->data) return a;
    free(a);
    return NULL;
}

static bool reserve(struct sim_memory *memory) {
    if (memory->count < memory->capacity) return true;
    size_t capacity = memory->capacity ? 2 * memory->capacity : 16;
    struct sim_allocation **items = realloc(memory->items, capacity * sizeof *items);
    if (!items) return false;
    memory->items = items;
    memory->capacity = capacity;
    return true;
}

bool sim_memory_alloc(struct sim_memory *memory, size_t bytes, uint64_t *address) {
    if (memory->next == 0) memory->next = first_address;
    if (bytes > SIZE_MAX / 4 || bytes > last_address - GAP || memory->next > last_address - bytes - GAP)
        return false;
    if (!reserve(memory)) return false;
    struct sim_allocation *a = new_allocation(memory->next, bytes);
    if (!a) return false;
    memory->items[memory->count++] = a;
    *address = a->base;
    memory->next = round_up(a->base + bytes + GAP, ALIGNMENT);
    return true;
}

/* The number of allocations whose base is not above ADDRESS. */
static size_t count_below(const struct sim_memory *memory, uint64_t address) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->items[middle]->base <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

struct sim_allocation *sim_memory_find(const struct sim_memory *memory, uint64_t address) {
    size_t n = count_below(memory, address);
    return n ? memory->items[n - 1] : NULL;
}

bool sim_memory_free(struct sim_memory *memory, uint64_t address) {
    size_t n = count_below(memory, address);
    if (n == 0 || memory->items[n - 1]->base != address) return false;
    free_allocation(memory->items[n - 1]);
    memmove(memory->items + n - 1, memory->items + n, (memory->count - n) * sizeof *memory->items);
    memory->count--;
    return true;
}

void sim_memory_free_all(struct sim_memory *memory) {
    for (size_t i = 0; i < memory->count; i++) free_allocation(memory->items[i]);
    free(memory->items);
    *memory = (struct sim_memory){0};
}

enum { CHUNK = 1 << 16 };

/* Copies chunk I and its part of the shadow. */
static void copy_chunk(const struct sim_allocation *a, size_t i, unsigned char *to,
                       const unsigned char *from) {
    size_t data = (size_t)(a->shadow - a->data), at = i * CHUNK, bytes = data - at;
    if (bytes > CHUNK) bytes = CHUNK;
    memcpy(to + at, from + at, bytes);
    memcpy(to + data + at / 8, from + data + at / 8, bytes / 8);
}

static size_t chunks(const struct sim_allocation *a) { return a->bytes / CHUNK + 1; }

static bool open_saved(struct sim_allocation *a) {
    if (!a->saved) a->saved = sim_map(a->mapped);
    if (a->saved && !a->kept) __atomic_store_n(&a->kept, sim_map(chunks(a)), __ATOMIC_RELEASE);
    return a->saved && a->kept;
}

bool sim_memory_save(struct sim_memory *memory, struct sim_allocation *a, size_t at) {
    size_t i = at / CHUNK;
    unsigned char *kept = __atomic_load_n(&a->kept, __ATOMIC_ACQUIRE);
    if (kept && __atomic_load_n(&kept[i], __ATOMIC_ACQUIRE)) return true;
    pthread_mutex_lock(memory->saving);
    bool opened = open_saved(a);
    if (opened && !a->kept[i]) {
        copy_chunk(a, i, a->saved, a->data);
        __atomic_store_n(&a->kept[i], 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(memory->saving);
    return opened;
}

void sim_memory_end_saved(struct sim_memory *memory, bool restore) {
    for (size_t i = 0; i < memory->count; i++) {
        struct sim_allocation *a = memory->items[i];
        for (size_t c = 0; restore && a->kept && c < chunks(a); c++)
            if (a->kept[c]) copy_chunk(a, c, a->data, a->saved);
        sim_unmap(a->saved, a->mapped);
        sim_unmap(a->kept, chunks(a));
        a->saved = a->kept = NULL;
    }
}

void sim_shadow_write_range(unsigned char *shadow, size_t at, size_t bytes) {
    size_t end = at + bytes;
    for (; at < end && at % 8; at++) shadow[at / 8] = (unsigned char)(shadow[at / 8] | 1u << at % 8);
    if (at < end) memset(shadow + at / 8, 0xff, (end - at) / 8);
    if (at < end) at += (end - at) / 8 * 8;
    for (; at < end; at++) shadow[at / 8] = (unsigned char)(shadow[at / 8] | 1u << at % 8);
}

size_t sim_shadow_first_unwritten(const unsigned char *shadow, size_t at, size_t bytes) {
    size_t end = at + bytes;
    while (at < end) {
        if (at % 8 == 0 && end - at >= 8 && shadow[at / 8] == 0xff) {
            at += 8;
            continue;
        }
        if (!(shadow[at / 8] >> at % 8 & 1)) return at;
        at++;
    }
    return end;
}
