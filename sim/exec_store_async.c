/* Stores to the cluster's shared memory that an mbarrier counts (ISA, "st.async"). A lane's store is a copy
 * of its own, from registers, which lands as bulk copies do. It is of the generic proxy, unlike these. */
#include "async.h"
#include "lanes.h"

#include <stdlib.h>

/* Where operands begin: an address has two values, and the mbarrier's is behind the data. */
enum { TO = 0, DATA = 2 };

static unsigned count_of(const struct sim_insn *insn) { return insn->vector ? insn->vector : 1; }

static bool check_place(struct sim_warp *warp, const struct sim_insn *insn, int lane,
                        const struct sim_block *owner, uint64_t at, unsigned bytes) {
    const uint32_t size = owner->launch->shared_bytes;
    if (at % bytes)
        sim_fault_at(warp, insn, lane, PTXSIM_ALIGN, "a store of %u bytes to misaligned address 0x%llx",
                     bytes, (unsigned long long)at);
    else if (at > size || bytes > size - at)
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS, "a store to shared 0x%llx: the block has %u bytes",
                     (unsigned long long)at, size);
    else
        return sim_async_touch_shared(warp, owner, insn, lane, at, bytes, SIM_WRITE) &&
               (!owner->launch->races || sim_race_bulk(warp, owner, insn, lane, at, bytes, SIM_WRITE));
    return false;
}

/* The lane's registers, one behind the other. */
static unsigned char *take_data(struct sim_warp *warp, const struct sim_insn *insn, int lane) {
    const unsigned width = sim_types[insn->type].bytes;
    unsigned char *data = malloc((size_t)count_of(insn) * width);
    if (!data) sim_fault_at(warp, insn, lane, PTXSIM_NOMEM, "no memory for a store in flight");
    for (unsigned i = 0; data && i < count_of(insn); i++) {
        const struct sim_value *value = &insn->value[DATA + i];
        memcpy(data + (size_t)i * width,
               (const unsigned char *)sim_source(warp, value) + (size_t)lane * sim_types[value->type].bytes,
               width);
    }
    return data;
}

static bool store_lane(struct sim_warp *warp, const struct sim_insn *insn, int lane) {
    const unsigned bytes = count_of(insn) * sim_types[insn->type].bytes;
    const ptxsim_counts before = warp->block->counts;
    struct sim_destinations targets;
    if (!sim_bulk_destinations(warp, insn, lane, &insn->value[TO], &insn->value[DATA + count_of(insn)], NULL,
                               &targets))
        return false;
    struct sim_block *owner = targets.to[0].block;
    const uint64_t at = targets.to[0].at;
    if (!check_place(warp, insn, lane, owner, at, bytes)) return false;
    const uint32_t index = sim_bulk_new(warp, insn, lane, targets.to[0].mbarrier, bytes, 1);
    unsigned char *data = index ? take_data(warp, insn, lane) : NULL;
    if (!data) return false;
    owner->async->copies[index].data = data;
    sim_copy_add(owner->async, index, lane, at, 0, data, bytes);
    return sim_bulk_issue(warp, owner, index, &before);
}

static void store(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    SIM_EACH_LANE(l)
    if (SIM_ACTIVE(mask, l) && !store_lane(warp, insn, l)) return;
}

sim_exec *const sim_st_async[SIM_TYPE_COUNT] = {
    [SIM_b32] = store, [SIM_b64] = store, [SIM_u32] = store, [SIM_u64] = store,
    [SIM_s32] = store, [SIM_s64] = store, [SIM_f32] = store, [SIM_f64] = store};
