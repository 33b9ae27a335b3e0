/* Every access to memory, checked. */
#include "cluster.h"

#include <stdio.h>

static const char *const verbs[] = {[SIM_READ] = "load", [SIM_WRITE] = "store", [SIM_UPDATE] = "atomic"};

bool sim_is_aligned(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                    unsigned bytes, enum sim_access access) {
    if ((address & (bytes - 1)) == 0) return true;
    sim_fault_at(warp, insn, lane, PTXSIM_ALIGN, "%s of %u bytes at misaligned address 0x%llx", verbs[access],
                 bytes, (unsigned long long)address);
    return false;
}

const char *sim_shared_name(char text[SIM_SHARED_NAME], const struct sim_warp *warp,
                            const struct sim_block *owner) {
    ptxsim_dim3 i = owner->index;
    if (owner == warp->block) return "shared";
    snprintf(text, SIM_SHARED_NAME, "block (%u,%u,%u)'s shared", i.x, i.y, i.z);
    return text;
}

void sim_fault_unwritten(struct sim_warp *warp, const struct sim_insn *insn, int lane, const char *space,
                         uint64_t address, const unsigned char *shadow, size_t at, unsigned bytes) {
    size_t first = sim_shadow_first_unwritten(shadow, at, bytes) - at;
    sim_fault_at(warp, insn, lane, PTXSIM_UNINIT,
                 "%s read of %u bytes at 0x%llx: nothing wrote the byte at 0x%llx", space, bytes,
                 (unsigned long long)address, (unsigned long long)(address + first));
}

static void fault_shared_uninit(struct sim_warp *warp, const struct sim_block *owner,
                                const struct sim_insn *insn, int lane, uint64_t address, unsigned bytes) {
    char name[SIM_SHARED_NAME];
    sim_fault_unwritten(warp, insn, lane, sim_shared_name(name, warp, owner), address, owner->shared_shadow,
                        address, bytes);
}

static void fault_shared_bounds(struct sim_warp *warp, const struct sim_block *owner,
                                const struct sim_insn *insn, int lane, uint64_t address, unsigned bytes,
                                enum sim_access access) {
    char name[SIM_SHARED_NAME];
    sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "%s %s of %u bytes at 0x%llx: the block has %u bytes",
                 sim_shared_name(name, warp, owner), verbs[access], bytes, (unsigned long long)address,
                 owner->launch->shared_bytes);
}

static void fault_global_bounds(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                uint64_t address, unsigned bytes, enum sim_access access) {
    const struct sim_allocation *a = sim_memory_find(warp->block->launch->memory, address);
    if (!a) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                     "global %s of %u bytes at 0x%llx, where nothing is allocated", verbs[access], bytes,
                     (unsigned long long)address);
        return;
    }
    sim_fault_at(
        warp, insn, lane, PTXSIM_BOUNDS,
        "global %s of %u bytes at 0x%llx: it ends %llu bytes past the end of the %llu bytes at 0x%llx",
        verbs[access], bytes, (unsigned long long)address,
        (unsigned long long)(address - a->base + bytes - a->bytes), (unsigned long long)a->bytes,
        (unsigned long long)a->base);
}

static void note_request(struct sim_block *block, int lane, uint64_t address, unsigned bytes, bool shared,
                         enum sim_access access) {
    struct sim_request *r = &block->request;
    r->mask |= 1u << lane;
    r->bytes = bytes;
    r->shared = shared;
    r->atomic = access == SIM_UPDATE;
    r->address[lane] = address;
}

static unsigned char *access_global(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                    uint64_t address, unsigned bytes, enum sim_access access) {
    struct sim_block *block = warp->block;
    struct sim_allocation **hit = &block->hit[insn - block->launch->function->code];
    if (!sim_is_aligned(warp, insn, lane, address, bytes, access)) return NULL;
    if (!*hit || !sim_allocation_holds(*hit, address, bytes)) {
        struct sim_allocation *a = sim_memory_find(block->launch->memory, address);
        if (!a || !sim_allocation_holds(a, address, bytes)) {
            fault_global_bounds(warp, insn, lane, address, bytes, access);
            return NULL;
        }
        if (a->constant && access != SIM_READ) {
            sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "%s to constant memory", verbs[access]);
            return NULL;
        }
        *hit = a;
    }
    size_t at = address - (*hit)->base;
    if (block->async && !sim_async_touch_global(warp, insn, lane, address, bytes, access)) return NULL;
    if (access != SIM_WRITE && !sim_shadow_written((*hit)->shadow, at, bytes)) {
        sim_fault_unwritten(warp, insn, lane, "global", address, (*hit)->shadow, at, bytes);
        return NULL;
    }
    if (block->launch->races && !sim_race_global(warp, insn, lane, *hit, at, bytes, access)) return NULL;
    if (access != SIM_READ && block->launch->undoable && !sim_memory_save(block->launch->memory, *hit, at)) {
        sim_fault_at(warp, insn, lane, PTXSIM_NOMEM, "no memory to keep what blocks overwrite");
        return NULL;
    }
    if (access != SIM_READ) sim_shadow_write_together((*hit)->shadow, at, bytes);
    note_request(block, lane, address, bytes, false, access);
    if (access != SIM_WRITE) block->counts.global_load_bytes += bytes;
    if (access != SIM_READ) block->counts.global_store_bytes += bytes;
    return (*hit)->data + at;
}

/* An access to OWNER's shared memory. */
static unsigned char *access_shared(struct sim_warp *warp, const struct sim_block *owner,
                                    const struct sim_insn *insn, int lane, uint64_t address, unsigned bytes,
                                    enum sim_access access) {
    uint32_t size = owner->launch->shared_bytes;
    if (!sim_is_aligned(warp, insn, lane, address, bytes, access)) return NULL;
    if (address > size || bytes > size - address) {
        fault_shared_bounds(warp, owner, insn, lane, address, bytes, access);
        return NULL;
    }
    if (owner->async && !sim_async_touch_shared(warp, owner, insn, lane, address, bytes, access)) return NULL;
    if (access != SIM_WRITE && !sim_shadow_written(owner->shared_shadow, address, bytes)) {
        fault_shared_uninit(warp, owner, insn, lane, address, bytes);
        return NULL;
    }
    if (owner->launch->races && !sim_race_shared(warp, owner, insn, lane, address, bytes, access))
        return NULL;
    if (access != SIM_READ) sim_shadow_write(owner->shared_shadow, address, bytes);
    uint64_t word = owner == warp->block ? address : (owner->rank + UINT64_C(1)) << SIM_RANK_AT | address;
    note_request(warp->block, lane, word, bytes, true, access);
    return owner->shared + address;
}

/* An access in .shared::cluster. */
static unsigned char *access_cluster(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                     uint64_t address, unsigned bytes, enum sim_access access) {
    const struct sim_block *owner = sim_cluster_owner(warp, insn, lane, &address, access);
    return owner ? access_shared(warp, owner, insn, lane, address, bytes, access) : NULL;
}

/* Parameters are constant, and an executor that gets their address only reads. */
static unsigned char *access_param(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                   uint64_t address, unsigned bytes) {
    if (!sim_is_aligned(warp, insn, lane, address, bytes, SIM_READ)) return NULL;
    if (address < insn->low || address > insn->high || bytes > insn->high - address) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                     "load of %u bytes at byte %llu of the parameters: it may touch %u to %u", bytes,
                     (unsigned long long)address, insn->low, insn->high);
        return NULL;
    }
    return (unsigned char *)(uintptr_t)(warp->block->launch->params + address);
}

unsigned char *sim_access_space(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                enum sim_space space, uint64_t address, unsigned bytes,
                                enum sim_access access) {
    uint64_t in_shared = address - SIM_SHARED_WINDOW, in_param = address - SIM_PARAM_WINDOW;
    switch (space) {
    case SIM_SHARED: return access_shared(warp, warp->block, insn, lane, address, bytes, access);
    case SIM_SHARED_CLUSTER: return access_cluster(warp, insn, lane, address, bytes, access);
    case SIM_PARAM: return access_param(warp, insn, lane, address, bytes);
    case SIM_LOCAL: return sim_access_own(warp, insn, lane, address, bytes, access, true);
    case SIM_FRAME: return sim_access_own(warp, insn, lane, address, bytes, access, false);
    case SIM_CONST: return sim_access_const(warp, insn, lane, address, bytes);
    case SIM_GENERIC:
        if (in_shared < SIM_MAX_SHARED)
            return access_shared(warp, warp->block, insn, lane, in_shared, bytes, access);
        if (in_shared >> SIM_RANK_AT && in_shared < SIM_PARAM_WINDOW - SIM_SHARED_WINDOW)
            return access_cluster(warp, insn, lane, in_shared, bytes, access);
        if (in_param < SIM_MAX_PARAM_BYTES && access == SIM_READ)
            return access_param(warp, insn, lane, in_param, bytes);
        if (address - SIM_LOCAL_WINDOW < SIM_MAX_THREAD_BYTES)
            return sim_access_own(warp, insn, lane, address - SIM_LOCAL_WINDOW, bytes, access, true);
        return access_global(warp, insn, lane, address, bytes, access);
    default: return access_global(warp, insn, lane, address, bytes, access);
    }
}

unsigned char *sim_access_memory(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                 uint64_t address, unsigned bytes, enum sim_access access) {
    return sim_access_space(warp, insn, lane, (enum sim_space)insn->space, address, bytes, access);
}
