/* Memory that is no allocation of the program's: what each thread has for itself, and constant memory. */
#include "lanes.h"

static void fault_own_bounds(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                             unsigned bytes, enum sim_access access) {
    sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                 "local %s of %u bytes at 0x%llx, which is not inside a variable",
                 access == SIM_READ ? "load" : "store", bytes, (unsigned long long)address);
}

static bool is_in_room(const ptxsim_function *f, uint64_t address, unsigned bytes) {
    for (int i = 0; i < f->room_count; i++) {
        const struct sim_room *r = &f->rooms[i];
        if (r->local && address >= r->at && address - r->at <= r->bytes &&
            bytes <= r->bytes - (address - r->at))
            return true;
    }
    return false;
}

static bool is_inside(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                      unsigned bytes, enum sim_access access, bool local) {
    if (local) {
        if (is_in_room(warp->block->launch->function, address, bytes)) return true;
        fault_own_bounds(warp, insn, lane, address, bytes, access);
        return false;
    }
    if (address >= insn->low && address <= insn->high && bytes <= insn->high - address) return true;
    sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                 "an access of %u bytes that is not inside the .param variable", bytes);
    return false;
}

unsigned char *sim_access_own(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                              unsigned bytes, enum sim_access access, bool local) {
    if (access == SIM_UPDATE) {
        sim_fault_at(warp, insn, lane, PTXSIM_TRAP, "an atomic on local memory");
        return NULL;
    }
    if (!sim_is_aligned(warp, insn, lane, address, bytes, access)) return NULL;
    if (!is_inside(warp, insn, lane, address, bytes, access, local)) return NULL;
    size_t at = (size_t)lane * warp->block->launch->function->thread_bytes + address;
    if (access == SIM_READ && !sim_shadow_written(warp->own_shadow, at, bytes)) {
        sim_fault_unwritten(warp, insn, lane, local ? "local" : ".param", address, warp->own_shadow, at,
                            bytes);
        return NULL;
    }
    if (access == SIM_WRITE) sim_shadow_write(warp->own_shadow, at, bytes);
    return warp->own + at;
}

unsigned char *sim_access_const(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                                uint64_t address, unsigned bytes) {
    if (!sim_is_aligned(warp, insn, lane, address, bytes, SIM_READ)) return NULL;
    uint64_t generic = address + SIM_CONST_BASE;
    const struct sim_allocation *a = sim_memory_find(warp->block->launch->memory, generic);
    if (!a || !a->constant || !sim_allocation_holds(a, generic, bytes)) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                     "constant load of %u bytes at 0x%llx, which is not inside a .const variable", bytes,
                     (unsigned long long)address);
        return NULL;
    }
    return a->data + (generic - a->base);
}

/* -- isspacep ----------------------------------------------------------------------------------------- */

static bool is_constant(const struct sim_warp *warp, uint64_t address) {
    const struct sim_allocation *a = sim_memory_find(warp->block->launch->memory, address);
    return a && a->constant && address - a->base < a->bytes;
}

/* Whether a generic address lies in the window of a space (ISA, "isspacep"). */
static bool is_in_space(const struct sim_warp *warp, unsigned space, uint64_t address) {
    uint64_t shared = address - SIM_SHARED_WINDOW, window = UINT64_C(1) << 32;
    switch (space) {
    case SIM_SHARED: return shared < SIM_MAX_SHARED;
    case SIM_SHARED_CLUSTER: return shared < window;
    case SIM_PARAM: return address - SIM_PARAM_WINDOW < window;
    case SIM_LOCAL: return address - SIM_LOCAL_WINDOW < window;
    case SIM_CONST: return is_constant(warp, address);
    default: return shared >= SIM_LOCAL_WINDOW + window - SIM_SHARED_WINDOW && !is_constant(warp, address);
    }
}

void sim_isspacep(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const uint64_t *address = sim_source(warp, &insn->value[1]);
    uint32_t bits = 0;
    SIM_EACH_LANE(l) bits |= (uint32_t)is_in_space(warp, insn->space, address[l]) << l;
    sim_put_predicate(warp, &insn->value[0], bits, mask);
}

/* -- getctarank --------------------------------------------------------------------------------------- */

/* The rank of the block whose shared memory an address of type T lies in, where the block's own begins at
   BASE. */
#define GETCTARANK(name, T, BASE)                                                                            \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]);                                                      \
        uint32_t r[SIM_LANES];                                                                               \
        SIM_EACH_LANE(l) {                                                                                   \
            uint64_t above = (uint64_t)(a[l] - (T)(BASE)) >> SIM_RANK_AT;                                    \
            r[l] = above ? (uint32_t)above - 1 : warp->block->rank;                                          \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }
GETCTARANK(rank_u32, uint32_t, 0)
GETCTARANK(rank_u64, uint64_t, 0)
GETCTARANK(rank_generic, uint64_t, SIM_SHARED_WINDOW)
sim_exec *const sim_getctarank[SIM_TYPE_COUNT] = {[SIM_u32] = rank_u32, [SIM_u64] = rank_u64};
sim_exec *const sim_getctarank_generic[SIM_TYPE_COUNT] = {[SIM_u64] = rank_generic};
