#include "module.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHUNK_BYTES = 1 << 16, CHUNK_HEADER = 16 };

static bool add_chunk(struct sim_arena *arena, size_t bytes) {
    size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct sim_chunk *chunk = calloc(1, CHUNK_HEADER + size);
    if (!chunk) return false;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->at = (char *)chunk + CHUNK_HEADER;
    arena->left = size;
    return true;
}

void *sim_arena_alloc(struct sim_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) return NULL;
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > arena->left && !add_chunk(arena, bytes)) return NULL;
    void *result = arena->at;
    arena->at += bytes;
    arena->left -= bytes;
    return result;
}

void sim_arena_free(struct sim_arena *arena) {
    for (struct sim_chunk *chunk = arena->chunks; chunk;) {
        struct sim_chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    *arena = (struct sim_arena){0};
}

void sim_module_free(ptxsim_module *module) {
    if (!module) return;
    sim_arena_free(&module->arena);
    free(module);
}

void sim_fault_set(ptxsim_fault *fault, ptxsim_status status, int line, const char *format, ...) {
    *fault = (ptxsim_fault){.status = status, .line = line};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
}
