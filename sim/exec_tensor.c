/* Tensor copies (ISA, "cp.async.bulk.tensor", "Tensors": tiled mode): a box of a tensor, row by row, to or
 * from dense rows in shared memory. */
#include "async.h"
#include "lanes.h"
#include "reduce.h"
#include "tensor_map.h"

enum { SMALL = 16, MAP_ALIGN = 64, SHARED_ALIGN = 128, MOST_PIECES = 5 /* of 16 bytes */ };

static const unsigned char zeros[SMALL];
/* What an H200 fills with, for floats of any size. */
static const unsigned char nans[SMALL] = {0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f,
                                          0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f, 0xf7, 0x7f};

/* One lane's copy on its way. */
struct tensor_copy {
    struct sim_warp *warp;
    const struct sim_insn *insn;
    int lane;
    struct sim_tensor_map map;
    int64_t start[PTXSIM_TENSOR_RANK]; /* coordinates of the box */
    struct sim_block *owner; /* of the shared memory, and of the copy */
    uint64_t shared;
    uint32_t index;
    bool is_store;
};

/* -- The operands ---------------------------------------------------------------------------------------- */

static bool read_map(struct sim_warp *warp, const struct sim_insn *insn, int lane, uint64_t address,
                     struct sim_tensor_map *map) {
    unsigned char bytes[PTXSIM_TENSOR_MAP_BYTES];
    enum sim_space space = insn->space == SIM_PARAM ? SIM_PARAM : SIM_GENERIC;
    if (space == SIM_GENERIC && address < SIM_MAX_PARAM_BYTES) {
        sim_fault_at(warp, insn, lane, PTXSIM_BOUNDS,
                     "a tensor map at 0x%llx: a parameter's address is generic after cvta.param",
                     (unsigned long long)address);
        return false;
    }
    if (address % MAP_ALIGN)
        sim_fault_at(warp, insn, lane, PTXSIM_ALIGN, "a tensor map at 0x%llx: not a multiple of 64",
                     (unsigned long long)address);
    for (unsigned at = 0; at < sizeof bytes; at += SMALL) {
        const unsigned char *from = sim_access_space(warp, insn, lane, space, address + at, SMALL, SIM_READ);
        if (!from) return false;
        memcpy(bytes + at, from, SMALL);
    }
    if (sim_tensor_map_read(bytes, map)) return true;
    sim_fault_at(warp, insn, lane, PTXSIM_ASYNC, "no tensor map was encoded at 0x%llx",
                 (unsigned long long)address);
    return false;
}

/* Not in the ISA, found on an H200, which takes it for an illegal instruction otherwise: rows of a box begin
   at a multiple of 16 bytes, and a store begins inside of the tensor. */
static bool check_start(const struct tensor_copy *t) {
    int64_t first = t->start[0] * t->map.element_bytes;
    if (first % SMALL) {
        sim_fault_at(t->warp, t->insn, t->lane, PTXSIM_ALIGN,
                     "the innermost coordinate %lld is %lld bytes into the tensor: not a multiple of 16",
                     (long long)t->start[0], (long long)first);
        return false;
    }
    for (int d = 0; t->is_store && d < t->map.rank; d++) {
        if (t->start[d] >= 0) continue;
        sim_fault_at(t->warp, t->insn, t->lane, PTXSIM_BOUNDS,
                     "a tensor store at coordinate %lld of dimension %d", (long long)t->start[d], d);
        return false;
    }
    return true;
}

/* MAP: which of the values is the map's address, before the coordinates. */
static bool read_tensor(struct tensor_copy *t, const struct sim_value *map) {
    uint64_t address = sim_operand_address(t->warp, map, t->lane);
    if (!read_map(t->warp, t->insn, t->lane, address, &t->map)) return false;
    if (t->map.rank != t->insn->vector) {
        sim_fault_at(t->warp, t->insn, t->lane, PTXSIM_ASYNC,
                     "a tensor of rank %u, and its map is of rank %u", t->insn->vector, t->map.rank);
        return false;
    }
    for (int d = 0; d < t->insn->vector; d++)
        t->start[d] = (int32_t)sim_lane_u32(t->warp, &map[2 + d], t->lane);
    return check_start(t);
}

/* -- The box --------------------------------------------------------------------------------------------- */

static uint32_t row_bytes(const struct sim_tensor_map *m) { return (uint32_t)m->box[0] * m->element_bytes; }

static uint32_t row_count(const struct sim_tensor_map *m) { return (uint32_t)m->box[1] * m->box[2]; }

/* From one row to the next in shared memory: where a swizzle spans more than a row has, as much as it
   spans. */
static uint32_t row_pitch(const struct sim_tensor_map *m) {
    uint32_t span = m->span ? (m->span + 1u) * SMALL : 0;
    return span > row_bytes(m) ? span : row_bytes(m);
}

static bool add_global(const struct tensor_copy *t, uint64_t at, uint64_t address, unsigned bytes) {
    unsigned char *global =
        sim_bulk_global(t->warp, t->insn, t->lane, address, bytes, t->is_store ? SIM_WRITE : SIM_READ);
    if (global) sim_copy_add(t->owner->async, t->index, t->lane, at, address, global, bytes);
    return global != NULL;
}

/* BYTES of the tensor, by accesses of powers of two. */
static bool add_inside(const struct tensor_copy *t, uint64_t at, uint64_t address, unsigned bytes) {
    for (unsigned piece = SMALL; piece; piece /= 2) {
        if (!(bytes & piece)) continue;
        if (!add_global(t, at, address, piece)) return false;
        at += piece;
        address += piece;
    }
    return true;
}

static void add_fill(const struct tensor_copy *t, uint64_t at, unsigned bytes) {
    const unsigned char *fill = t->map.fill_nan ? nans : zeros;
    if (bytes)
        sim_copy_add(t->owner->async, t->index, t->lane, at, 0, (unsigned char *)(uintptr_t)fill,
                     bytes);
}

/* 16 bytes of a row, of which the first INSIDE are of the tensor, at ADDRESS. A store writes all of them if
   one is: so does an H200. */
static bool add_chunk(const struct tensor_copy *t, uint64_t at, uint64_t address, unsigned inside) {
    uint64_t shared = sim_swizzle(&t->map, at);
    if (t->is_store && inside == 0) return true;
    if (!sim_bulk_shared(t->warp, t->owner, t->insn, t->lane, shared, SMALL, t->is_store ? SIM_READ : SIM_WRITE))
        return false;
    if (t->is_store) return add_global(t, shared, address, SMALL);
    add_fill(t, shared + inside, SMALL - inside);
    return add_inside(t, shared, address, inside);
}

/* How many of the 16 bytes from FIRST on of a row are the tensor's. */
static unsigned bytes_inside(const struct sim_tensor_map *m, int64_t first) {
    int64_t left = (int64_t)(m->dims[0] * m->element_bytes) - first;
    if (first < 0 || left <= 0) return 0;
    return left < SMALL ? (unsigned)left : SMALL;
}

static bool add_row(const struct tensor_copy *t, uint64_t at, int64_t y, int64_t z) {
    const struct sim_tensor_map *m = &t->map;
    bool is_inside = y >= 0 && z >= 0 && (uint64_t)y < m->dims[1] && (uint64_t)z < m->dims[2];
    uint64_t row = m->address + (uint64_t)y * m->strides[1] + (uint64_t)z * m->strides[2];
    int64_t first = t->start[0] * m->element_bytes;
    for (uint32_t done = 0; done < row_bytes(m); done += SMALL, first += SMALL)
        if (!add_chunk(t, at + done, row + (uint64_t)first, is_inside ? bytes_inside(m, first) : 0))
            return false;
    return true;
}

static bool add_box(const struct tensor_copy *t) {
    uint64_t at = t->shared;
    for (int z = 0; z < t->map.box[2]; z++)
        for (int y = 0; y < t->map.box[1]; y++, at += row_pitch(&t->map))
            if (!add_row(t, at, t->start[1] + y, t->start[2] + z)) return false;
    return true;
}

static bool check_shared(const struct tensor_copy *t) {
    uint32_t bytes = row_pitch(&t->map) * row_count(&t->map), size = t->owner->launch->shared_bytes;
    if (t->shared % SHARED_ALIGN)
        sim_fault_at(t->warp, t->insn, t->lane, PTXSIM_ALIGN,
                     "a tensor copy of shared 0x%llx, which is not aligned to 128 bytes",
                     (unsigned long long)t->shared);
    else if (t->shared > size || bytes > size - t->shared)
        sim_fault_at(t->warp, t->insn, t->lane, PTXSIM_BOUNDS,
                     "a box of %u bytes at shared 0x%llx: the block has %u bytes", bytes,
                     (unsigned long long)t->shared, size);
    else return true;
    return false;
}

static bool check_reduction(const struct tensor_copy *t) {
    if (!t->insn->reduction || sim_reduces(t->insn->reduction, t->map.type)) return true;
    sim_fault_at(t->warp, t->insn, t->lane, PTXSIM_ASYNC, "a reduction of this kind of a tensor of .%s",
                 sim_types[t->map.type].name);
    return false;
}

/* M: NULL for a store. */
static bool copy_tensor(struct tensor_copy *t, const struct sim_mbarrier *m, const ptxsim_counts *before) {
    uint32_t bytes = row_bytes(&t->map) * row_count(&t->map);
    if (!check_shared(t)) return false;
    t->index = sim_bulk_new(t->warp, t->insn, t->lane, m, bytes, (int)(bytes / SMALL) * MOST_PIECES);
    if (!t->index || !check_reduction(t)) return false;
    t->owner->async->copies[t->index].type = t->map.type;
    return add_box(t) && sim_bulk_issue(t->warp, t->owner, t->index, before);
}

/* -- The instructions ------------------------------------------------------------------------------------ */

void sim_tensor_load(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    enum { TO = 0, MAP = 2 };
    const struct sim_value *signal = &insn->value[MAP + 2 + insn->vector];
    const struct sim_value *ranks = insn->modifiers & SIM_MULTICAST ? signal + 2 : NULL;
    struct sim_targets targets;
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        ptxsim_counts before = warp->block->counts;
        struct tensor_copy t = {.warp = warp, .insn = insn, .lane = l};
        if (!read_tensor(&t, &insn->value[MAP])) return;
        if (!sim_bulk_targets(warp, insn, l, &insn->value[TO], signal, ranks, &targets)) return;
        for (unsigned i = 0; i < targets.count; i++) {
            t.owner = targets.to[i].block;
            t.shared = targets.to[i].at;
            if (!copy_tensor(&t, targets.to[i].mbarrier, &before)) return;
        }
    }
}

void sim_tensor_store(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    SIM_EACH_LANE(l) {
        if (!SIM_ACTIVE(mask, l)) continue;
        ptxsim_counts before = warp->block->counts;
        struct tensor_copy t = {.warp = warp, .owner = warp->block, .insn = insn, .lane = l, .is_store = true};
        t.shared = sim_operand_address(warp, &insn->value[2 + insn->vector], l);
        if (!read_tensor(&t, &insn->value[0]) || !copy_tensor(&t, NULL, &before)) return;
    }
}

void sim_tensor_prefetch(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    SIM_EACH_LANE(l) {
        struct tensor_copy t = {.warp = warp, .insn = insn, .lane = l};
        if (SIM_ACTIVE(mask, l) && !read_tensor(&t, &insn->value[0])) return;
    }
    warp->block->request.mask = 0;
}

void sim_prefetch_tensormap(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint64_t address[SIM_LANES];
    struct sim_tensor_map map;
    sim_addresses(warp, insn, address);
    SIM_EACH_LANE(l) if (SIM_ACTIVE(mask, l) && !read_map(warp, insn, l, address[l], &map)) return;
    warp->block->request.mask = 0;
}
