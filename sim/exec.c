/* A block: its warps run by turns, an instruction at a time. cluster.c runs blocks. */
#include "cluster.h"
#include "wgmma.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

ptxsim_dim3 sim_index_of(unsigned linear, ptxsim_dim3 size) {
    return (ptxsim_dim3){linear % size.x, linear / size.x % size.y, linear / size.x / size.y};
}

static ptxsim_dim3 thread_index(const struct sim_warp *warp, int lane) {
    return sim_index_of((unsigned)warp->index * SIM_LANES + (unsigned)lane, warp->block->launch->block);
}

void sim_fault_at(struct sim_warp *warp, const struct sim_insn *insn, int lane, ptxsim_status status,
                  const char *format, ...) {
    ptxsim_fault *fault = &warp->block->fault;
    if (fault->status != PTXSIM_OK) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    va_end(arguments);
    fault->status = status;
    fault->line = insn->line;
    fault->in_kernel = 1;
    fault->block = warp->block->index;
    fault->thread = thread_index(warp, lane);
}

void sim_put_masked(void *to, const void *lanes, size_t bytes, uint32_t mask) {
    for (; mask; mask &= mask - 1) {
        size_t at = (size_t)__builtin_ctz(mask) * bytes;
        memcpy((char *)to + at, (const char *)lanes + at, bytes);
    }
}

static void fault_undefined(struct sim_warp *warp, const struct sim_insn *insn, unsigned reg,
                            uint32_t lanes) {
    sim_fault_at(warp, insn, __builtin_ctz(lanes), PTXSIM_UNINIT, "reads %s, which nothing wrote",
                 warp->block->launch->function->registers[reg].name);
}

/* The lanes that the instruction's guard lets through. */
static uint32_t guarded_lanes(struct sim_warp *warp, const struct sim_insn *insn) {
    uint32_t bits, undefined = warp->active & ~warp->defined[insn->guard];
    if (undefined) fault_undefined(warp, insn, insn->guard, undefined);
    memcpy(&bits, warp->file + insn->guard_at, sizeof bits);
    return warp->active & (insn->guard_negated ? ~bits : bits);
}

static void check_uses(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    for (int i = 0; i < insn->use_count; i++) {
        uint32_t undefined = mask & ~warp->defined[insn->use[i]];
        if (undefined) fault_undefined(warp, insn, insn->use[i], undefined);
    }
}

/* ISA: .aligned and mma instructions need the whole warp. */
static void check_convergence(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    uint32_t needed = insn->op->flags & SIM_OP_WHOLE_WARP ? SIM_FULL_MASK : warp->alive;
    uint32_t missing = needed & ~mask, elsewhere = missing & warp->alive;
    if (missing)
        sim_fault_at(warp, insn, __builtin_ctz(elsewhere ? elsewhere : mask), PTXSIM_BARRIER,
                     "lanes 0x%08x of the warp execute this together, and 0x%08x must", mask, needed);
}

static void refresh_clock(struct sim_warp *warp) {
    const ptxsim_function *f = warp->block->launch->function;
    uint64_t now = warp->block->counts.warp_instructions, high = now >> 32;
    for (int i = 0; i < f->special_count; i++) {
        const struct sim_special *s = &f->specials[i];
        if (s->which < SIM_SPECIAL_clock) continue;
        size_t bytes = sim_types[f->registers[s->reg].type].bytes;
        SIM_EACH_LANE(l)
        memcpy(warp->file + s->at + (size_t)l * bytes, s->which == SIM_SPECIAL_clock_hi ? &high : &now,
               bytes);
    }
}

static void check_limit(struct sim_warp *warp, const struct sim_insn *insn) {
    const struct sim_block *block = warp->block;
    if (block->counts.warp_instructions >= block->limit)
        sim_fault_at(warp, insn, __builtin_ctz(warp->active), PTXSIM_LIMIT,
                     "more than %llu warp instructions", (unsigned long long)block->launch->max_instructions);
}

static void execute(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    const ptxsim_fault *fault = &warp->block->fault;
    if (insn->op->flags & (SIM_OP_CONVERGED | SIM_OP_WHOLE_WARP)) check_convergence(warp, insn, mask);
    check_uses(warp, insn, mask);
    if (fault->status != PTXSIM_OK) return;
    warp->block->counts.thread_instructions += (unsigned)__builtin_popcount(mask);
    struct sim_block *block = warp->block;
    ptrdiff_t pc = insn - block->launch->function->code;
    if (block->launch->traits[pc].fragments && !sim_wgmma_touch(warp, insn)) return;
    ptxsim_line *line = &block->lines[pc];
    line->warp_instructions++;
    line->thread_instructions += (unsigned)__builtin_popcount(mask);
    if (insn->reads_clock) refresh_clock(warp);
    block->request.mask = 0;
    insn->exec(warp, insn, mask);
    if (block->request.mask) sim_metric_request(line, &block->request, block->launch->traits[pc].service);
}

static void step(struct sim_warp *warp) {
    const struct sim_insn *insn = &warp->block->launch->function->code[warp->pc];
    check_limit(warp, insn);
    warp->block->counts.warp_instructions++;
    uint32_t mask = insn->guard == SIM_NO_REGISTER ? warp->active : guarded_lanes(warp, insn);
    warp->next_pc = warp->pc + 1;
    if (mask) execute(warp, insn, mask);
    warp->pc = warp->next_pc;
    if (warp->pc == warp->reconverge) sim_reconverge(warp);
}

uint32_t sim_draw(uint64_t *random) { /* splitmix64 (Steele, Lea, Flood, OOPSLA 2014) */
    uint64_t z = *random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(z >> 32);
}

/* Runs WARP until it waits, ends or faults, or until its turn is over. */
static void run_warp(struct sim_warp *warp) {
    const struct sim_launch *launch = warp->block->launch;
    bool seeded = launch->order == PTXSIM_SEEDED;
    while (warp->alive && warp->barrier == SIM_NOT_WAITING && warp->block->fault.status == PTXSIM_OK) {
        int pc = warp->pc;
        step(warp);
        if (seeded && launch->traits[pc].touches && sim_draw(&warp->block->random) % 4 == 0) return;
    }
}

/* The order in which warps get their turns. A seeded one is drawn at each turn. */
static struct sim_warp *warp_at_turn(struct sim_block *block, int turn) {
    switch (block->launch->order) {
    case PTXSIM_REVERSED: turn = block->warp_count - 1 - turn; break;
    case PTXSIM_SEEDED:
        turn = (int)((sim_draw(&block->random) + (unsigned)turn) % (unsigned)block->warp_count);
        break;
    default: break;
    }
    return &block->warps[turn];
}

/* Nobody can run and somebody waits: the barrier never completes. */
static void fault_deadlock(struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++) {
        struct sim_warp *warp = &block->warps[i];
        if (warp->barrier < 0) continue;
        const struct sim_barrier *b = &block->barrier[warp->barrier];
        int arrived = __builtin_popcount(b->waiting | b->arrived);
        sim_fault_at(warp, &block->launch->function->code[warp->barrier_pc], __builtin_ctz(warp->alive),
                     PTXSIM_BARRIER, "waits forever at barrier %d: %d warps arrived, %u threads are awaited",
                     warp->barrier, arrived,
                     b->threads ? b->threads : (unsigned)block->warp_count * SIM_LANES);
        return;
    }
}

bool sim_block_can_run(const struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++)
        if (block->warps[i].alive && block->warps[i].barrier == SIM_NOT_WAITING) return true;
    return false;
}

bool sim_block_turn(struct sim_block *block) {
    for (int turn = 0; turn < block->warp_count; turn++) {
        struct sim_warp *warp = warp_at_turn(block, turn);
        if (!warp->alive || warp->barrier != SIM_NOT_WAITING) continue;
        run_warp(warp);
        if (block->fault.status != PTXSIM_OK) return false;
        sim_barriers_check(block);
    }
    return true;
}

bool sim_block_finish(struct sim_block *block) {
    fault_deadlock(block);
    if (!sim_setmaxnreg_finish(block)) return false;
    if (block->wgmma && block->fault.status == PTXSIM_OK && !sim_wgmma_finish(block)) return false;
    if (block->async && block->fault.status == PTXSIM_OK) return sim_async_finish(block);
    return block->fault.status == PTXSIM_OK;
}

static void special_values(const struct sim_warp *warp, int lane, uint64_t values[SIM_SPECIAL_COUNT]) {
    const struct sim_launch *launch = warp->block->launch;
    ptxsim_dim3 thread = thread_index(warp, lane), cta = warp->block->index, size = launch->cluster,
                within = sim_index_of(warp->block->rank, size);
    uint32_t bit = 1u << lane;
    const uint64_t all[SIM_SPECIAL_COUNT] = {
        [SIM_SPECIAL_tid_x] = thread.x,
        [SIM_SPECIAL_tid_y] = thread.y,
        [SIM_SPECIAL_tid_z] = thread.z,
        [SIM_SPECIAL_ntid_x] = launch->block.x,
        [SIM_SPECIAL_ntid_y] = launch->block.y,
        [SIM_SPECIAL_ntid_z] = launch->block.z,
        [SIM_SPECIAL_ctaid_x] = cta.x,
        [SIM_SPECIAL_ctaid_y] = cta.y,
        [SIM_SPECIAL_ctaid_z] = cta.z,
        [SIM_SPECIAL_nctaid_x] = launch->grid.x,
        [SIM_SPECIAL_nctaid_y] = launch->grid.y,
        [SIM_SPECIAL_nctaid_z] = launch->grid.z,
        [SIM_SPECIAL_laneid] = (unsigned)lane,
        [SIM_SPECIAL_warpid] = (unsigned)warp->index,
        [SIM_SPECIAL_nwarpid] = (unsigned)warp->block->warp_count,
        [SIM_SPECIAL_nsmid] = 1,
        [SIM_SPECIAL_lanemask_eq] = bit,
        [SIM_SPECIAL_lanemask_le] = bit | (bit - 1),
        [SIM_SPECIAL_lanemask_lt] = bit - 1,
        [SIM_SPECIAL_lanemask_ge] = ~(bit - 1),
        [SIM_SPECIAL_lanemask_gt] = ~(bit | (bit - 1)),
        [SIM_SPECIAL_dynamic_smem_size] = launch->dynamic_bytes,
        [SIM_SPECIAL_total_smem_size] = launch->shared_bytes,
        [SIM_SPECIAL_cluster_ctarank] = warp->block->rank,
        [SIM_SPECIAL_cluster_nctarank] = launch->cluster_blocks,
        [SIM_SPECIAL_cluster_ctaid_x] = within.x,
        [SIM_SPECIAL_cluster_ctaid_y] = within.y,
        [SIM_SPECIAL_cluster_ctaid_z] = within.z,
        [SIM_SPECIAL_cluster_nctaid_x] = size.x,
        [SIM_SPECIAL_cluster_nctaid_y] = size.y,
        [SIM_SPECIAL_cluster_nctaid_z] = size.z,
        [SIM_SPECIAL_clusterid_x] = cta.x / size.x,
        [SIM_SPECIAL_clusterid_y] = cta.y / size.y,
        [SIM_SPECIAL_clusterid_z] = cta.z / size.z,
        [SIM_SPECIAL_nclusterid_x] = launch->grid.x / size.x,
        [SIM_SPECIAL_nclusterid_y] = launch->grid.y / size.y,
        [SIM_SPECIAL_nclusterid_z] = launch->grid.z / size.z,
        [SIM_SPECIAL_is_explicit_cluster] = launch->function->cluster[0] ? SIM_FULL_MASK : 0,
    };
    memcpy(values, all, sizeof all);
}

static void set_specials(struct sim_warp *warp) {
    const ptxsim_function *f = warp->block->launch->function;
    uint64_t values[SIM_SPECIAL_COUNT];
    for (int i = 0; i < f->special_count; i++) warp->defined[f->specials[i].reg] = SIM_FULL_MASK;
    SIM_EACH_LANE(l) {
        special_values(warp, l, values);
        for (int i = 0; i < f->special_count; i++) {
            const struct sim_special *s = &f->specials[i];
            size_t bytes = sim_types[f->registers[s->reg].type].bytes;
            bool is_mask = f->registers[s->reg].type == SIM_pred;
            memcpy(warp->file + s->at + (is_mask ? 0 : (size_t)l * bytes), &values[s->which], bytes);
        }
    }
}

/* Of a warp's threads, for themselves: a multiple of 512. */
static size_t own_bytes(const ptxsim_function *f) { return (size_t)SIM_LANES * f->thread_bytes; }

static void start_warp(struct sim_warp *warp, unsigned threads) {
    const ptxsim_function *f = warp->block->launch->function;
    unsigned left = threads - (unsigned)warp->index * SIM_LANES;
    warp->alive = left >= SIM_LANES ? SIM_FULL_MASK : (1u << left) - 1;
    warp->active = warp->alive;
    warp->pc = warp->depth = 0;
    warp->maxnreg_count = 0;
    warp->registers = warp->block->launch->registers;
    warp->carry = warp->carry_known = 0;
    if (warp->own_shadow) memset(warp->own_shadow, 0, own_bytes(f) / 8);
    warp->reconverge = f->code_count;
    warp->barrier = SIM_NOT_WAITING;
    memset(warp->defined, 0, (size_t)f->register_count * sizeof *warp->defined);
    sim_race_start_warp(warp);
    set_specials(warp);
}

void sim_block_start(struct sim_block *block, ptxsim_dim3 index) {
    const struct sim_launch *launch = block->launch;
    block->index = index;
    memset(block->barrier, 0, sizeof block->barrier);
    memset(block->shared_shadow, 0, launch->shared_bytes / 8 + 2);
    sim_race_start_block(block);
    if (block->async) sim_async_start(block);
    if (block->order) sim_order_start(block);
    if (block->wgmma) sim_wgmma_start(block);
    block->random = launch->seed + (block->global_id << 32);
    for (int i = 0; i < block->warp_count; i++)
        start_warp(&block->warps[i], launch->block.x * launch->block.y * launch->block.z);
}

static bool allocate_warp(struct sim_warp *warp, struct sim_block *block, int index) {
    const ptxsim_function *f = block->launch->function;
    warp->block = block;
    warp->index = index;
    warp->file = aligned_alloc(64, ((size_t)f->file_bytes + 64) / 64 * 64);
    warp->defined = calloc((size_t)f->register_count + 1, sizeof *warp->defined);
    if (warp->file) memset(warp->file, 0, f->file_bytes);
    if (f->thread_bytes) {
        warp->own = calloc(1, own_bytes(f));
        warp->own_shadow = calloc(1, own_bytes(f) / 8 + 2);
        if (!warp->own || !warp->own_shadow) return false;
    }
    return warp->file && warp->defined;
}

static bool allocate_warps(struct sim_block *block, unsigned threads) {
    block->warp_count = (int)((threads + SIM_LANES - 1) / SIM_LANES);
    block->warps = calloc((size_t)block->warp_count, sizeof *block->warps);
    for (int i = 0; block->warps && i < block->warp_count; i++)
        if (!allocate_warp(&block->warps[i], block, i)) return false;
    return block->warps != NULL;
}

struct sim_block *sim_block_new(struct sim_cluster *cluster, unsigned rank) {
    const struct sim_launch *launch = cluster->launch;
    struct sim_block *block = calloc(1, sizeof *block);
    if (!block) return NULL;
    block->launch = launch;
    block->cluster = cluster;
    block->rank = rank;
    block->shared = calloc(1, (size_t)launch->shared_bytes + 16);
    block->shared_shadow = calloc(1, launch->shared_bytes / 8 + 2);
    if (launch->races)
        block->shared_cells =
            calloc((launch->shared_bytes >> launch->shared_shift) + 1, sizeof *block->shared_cells);
    if (launch->async)
        block->async = sim_async_new(
            launch, (int)((launch->block.x * launch->block.y * launch->block.z + SIM_LANES - 1) / SIM_LANES));
    if (launch->ordered) block->order = sim_order_new(&cluster->messages);
    block->hit = calloc((size_t)launch->function->code_count + 1, sizeof *block->hit);
    bool warps = allocate_warps(block, launch->block.x * launch->block.y * launch->block.z);
    if (warps && launch->wgmma) block->wgmma = sim_wgmma_new(launch, block->warp_count);
    block->lines = calloc((size_t)launch->function->code_count + 1, sizeof *block->lines);
    bool cells = (block->shared_cells || !launch->races) && (block->async || !launch->async) &&
                 (block->order || !launch->ordered) && (block->wgmma || !launch->wgmma);
    if (block->lines && block->shared && block->shared_shadow && cells && block->hit && warps) return block;
    sim_block_free(block);
    return NULL;
}

void sim_block_free(struct sim_block *block) {
    if (!block) return;
    for (int i = 0; block->warps && i < block->warp_count; i++) {
        free(block->warps[i].file);
        free(block->warps[i].defined);
        free(block->warps[i].own);
        free(block->warps[i].own_shadow);
    }
    free(block->warps);
    free(block->shared);
    free(block->shared_shadow);
    free(block->shared_cells);
    sim_async_free(block->async);
    sim_wgmma_free(block->wgmma, block->warp_count);
    free(block->order);
    free(block->lines);
    free(block->hit);
    free(block);
}
