#include "cluster.h"
#include "wgmma.h"

#include <stdlib.h>

/* -- The state of a block -------------------------------------------------------------------------------- */

static size_t reader_count(const struct sim_launch *launch) { return launch->shared_bytes / 16 + 1; }

static int group_count(int warps) { return (warps + SIM_GROUP_WARPS - 1) / SIM_GROUP_WARPS; }

struct sim_wgmma *sim_wgmma_new(const struct sim_launch *launch, int warps) {
    struct sim_wgmma *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->readers = calloc(reader_count(launch), sizeof *w->readers);
    w->warp = calloc((size_t)warps, sizeof *w->warp);
    w->group = calloc((size_t)group_count(warps), sizeof *w->group);
    bool made = w->readers && w->warp && w->group;
    for (int i = 0; made && i < warps; i++) {
        w->warp[i].fragment =
            calloc((size_t)launch->function->register_count + 1, sizeof *w->warp[i].fragment);
        made = w->warp[i].fragment != NULL;
    }
    if (made) return w;
    sim_wgmma_free(w, warps);
    return NULL;
}

void sim_wgmma_free(struct sim_wgmma *w, int warps) {
    if (!w) return;
    for (int i = 0; w->warp && i < warps; i++) {
        free(w->warp[i].flight);
        free(w->warp[i].fragment);
    }
    for (int i = 0; w->group && i < group_count(warps); i++) free(w->group[i].step);
    free(w->readers);
    free(w->warp);
    free(w->group);
    free(w);
}

void sim_wgmma_start(struct sim_block *block) {
    struct sim_wgmma *w = block->wgmma;
    memset(w->readers, 0, reader_count(block->launch) * sizeof *w->readers);
    for (int i = 0; i < block->warp_count; i++) {
        struct sim_wgmma_warp *of = &w->warp[i];
        memset(of->fragment, 0, (size_t)block->launch->function->register_count * sizeof *of->fragment);
        of->fences = of->groups = of->issued = 0;
        of->flights = 0;
    }
    for (int i = 0; i < group_count(block->warp_count); i++) w->group[i].first = w->group[i].steps = 0;
}

static struct sim_wgmma_warp *state_of(const struct sim_warp *warp) {
    return &warp->block->wgmma->warp[warp->index];
}

static bool fault_memory(struct sim_warp *warp, const struct sim_insn *insn) {
    sim_fault_at(warp, insn, 0, PTXSIM_NOMEM, "no memory for a wgmma in flight");
    return false;
}

/* -- A warpgroup's warps execute the same ---------------------------------------------------------------- */

/* Forgets what all warps of the group have executed. */
static void trim(const struct sim_block *block, int index) {
    struct sim_wgmma_group *g = &block->wgmma->group[index];
    uint32_t least = UINT32_MAX;
    for (int i = 0; i < SIM_GROUP_WARPS; i++) {
        const uint32_t issued = block->wgmma->warp[index * SIM_GROUP_WARPS + i].issued;
        if (issued < least) least = issued;
    }
    if (g->steps)
        memmove(g->step, g->step + (least - g->first), (g->first + g->steps - least) * sizeof *g->step);
    g->steps -= least - g->first;
    g->first = least;
}

static bool add_step(struct sim_warp *warp, struct sim_wgmma_group *g, const struct sim_step *step) {
    if (g->steps == g->capacity) trim(warp->block, warp->index / SIM_GROUP_WARPS);
    if (g->steps == g->capacity) {
        const uint32_t more = g->capacity ? 2 * g->capacity : 256;
        struct sim_step *grown = realloc(g->step, more * sizeof *grown);
        if (!grown) return fault_memory(warp, step->insn);
        g->step = grown;
        g->capacity = more;
    }
    g->step[g->steps++] = *step;
    return true;
}

bool sim_wgmma_step(struct sim_warp *warp, const struct sim_insn *insn, uint64_t a, uint64_t b) {
    const struct sim_step step = {insn, a, b};
    struct sim_wgmma_group *g = &warp->block->wgmma->group[warp->index / SIM_GROUP_WARPS];
    if (warp->index / SIM_GROUP_WARPS * SIM_GROUP_WARPS + SIM_GROUP_WARPS > warp->block->warp_count) {
        sim_fault_at(warp, insn, 0, PTXSIM_BARRIER, "warp %d is in no warpgroup: the block has %d warps",
                     warp->index, warp->block->warp_count);
        return false;
    }
    const uint32_t number = state_of(warp)->issued++;
    if (number == g->first + g->steps) return add_step(warp, g, &step);
    const struct sim_step *other = &g->step[number - g->first];
    if (other->insn != insn)
        sim_fault_at(warp, insn, 0, PTXSIM_BARRIER,
                     "another warp of the warpgroup executed the one in line %d instead", other->insn->line);
    else if (other->a != a || other->b != b)
        sim_fault_at(warp, insn, 0, PTXSIM_BARRIER,
                     "the descriptor of %c is 0x%llx here, and 0x%llx in another warp of the warpgroup",
                     other->a != a ? 'A' : 'B', (unsigned long long)(other->a != a ? a : b),
                     (unsigned long long)(other->a != a ? other->a : other->b));
    else return true;
    return false;
}

bool sim_wgmma_finish(struct sim_block *block) {
    for (int i = 0; i < block->warp_count; i++) {
        const struct sim_wgmma_group *g = &block->wgmma->group[i / SIM_GROUP_WARPS];
        const uint32_t issued = block->wgmma->warp[i].issued;
        if (issued == g->first + g->steps) continue;
        int other = i / SIM_GROUP_WARPS * SIM_GROUP_WARPS;
        while (block->wgmma->warp[other].issued <= issued) other++;
        sim_fault_at(&block->warps[other], g->step[issued - g->first].insn, 0, PTXSIM_BARRIER,
                     "warp %d of the warpgroup never executed this", i);
        return false;
    }
    return true;
}

/* -- Registers in flight --------------------------------------------------------------------------------- */

static bool has_register(const struct sim_value *values, int count, unsigned reg) {
    for (int i = 0; i < count; i++)
        if (values[i].kind == SIM_REGISTER && values[i].reg == reg) return true;
    return false;
}

/* The line of a wgmma in flight that has the register. */
static int line_of_flight(const struct sim_warp *warp, unsigned reg) {
    const struct sim_wgmma_warp *w = state_of(warp);
    for (int i = 0; i < w->flights; i++) {
        const struct sim_insn *insn = w->flight[i].insn;
        if (has_register(insn->value, insn->value_count, reg)) return insn->line;
    }
    return 0;
}

static const char *name_of(const struct sim_warp *warp, unsigned reg) {
    return warp->block->launch->function->registers[reg].name;
}

static bool touch(struct sim_warp *warp, const struct sim_insn *insn, unsigned reg) {
    struct sim_fragment *f = &state_of(warp)->fragment[reg];
    f->touched = state_of(warp)->fences + 1;
    if (f->sums + f->factors == 0) return true;
    sim_fault_at(warp, insn, __builtin_ctz(warp->active), PTXSIM_ASYNC,
                 "accesses %s, which the wgmma of line %d %s, and no wgmma.wait_group has waited for it",
                 name_of(warp, reg), line_of_flight(warp, reg), f->sums ? "adds to" : "may still read");
    return false;
}

/* Metadata are read as late as A is: an H100 multiplied by those of the next stage. */
static bool overwrite(struct sim_warp *warp, const struct sim_insn *insn, unsigned reg) {
    if (state_of(warp)->fragment[reg].metadata == 0) return true;
    sim_fault_at(warp, insn, __builtin_ctz(warp->active), PTXSIM_ASYNC,
                 "writes %s, which holds metadata of the wgmma.sp of line %d, and no wgmma.wait_group has "
                 "waited for it",
                 name_of(warp, reg), line_of_flight(warp, reg));
    return false;
}

bool sim_wgmma_touch(struct sim_warp *warp, const struct sim_insn *insn) {
    for (int i = 0; i < insn->use_count; i++)
        if (!touch(warp, insn, insn->use[i])) return false;
    for (int i = 0; i < insn->destination_count; i++) {
        if (insn->value[i].kind != SIM_REGISTER) continue;
        if (!touch(warp, insn, insn->value[i].reg) || !overwrite(warp, insn, insn->value[i].reg))
            return false;
    }
    return true;
}

/* Another wgmma in flight that adds to the register and is of another shape than INSN; NULL: none. */
static const struct sim_insn *of_other_shape(const struct sim_warp *warp, const struct sim_insn *insn,
                                             unsigned reg) {
    const struct sim_wgmma_warp *w = state_of(warp);
    for (int i = 0; i < w->flights; i++) {
        const struct sim_insn *other = w->flight[i].insn;
        const bool same =
            other->columns == insn->columns && other->depth == insn->depth && other->type == insn->type;
        if (!same && has_register(other->value, other->destination_count, reg)) return other;
    }
    return NULL;
}

static bool fault_flying(struct sim_warp *warp, const struct sim_insn *insn, unsigned reg, const char *what) {
    sim_fault_at(warp, insn, 0, PTXSIM_ASYNC,
                 "%s has %s of the wgmma of line %d, and no wgmma.wait_group has waited for it",
                 name_of(warp, reg), what, line_of_flight(warp, reg));
    return false;
}

static bool is_fenced(struct sim_warp *warp, const struct sim_insn *insn, unsigned reg) {
    if (state_of(warp)->fragment[reg].touched <= state_of(warp)->fences) return true;
    sim_fault_at(warp, insn, 0, PTXSIM_ASYNC,
                 "%s was accessed, and no wgmma.fence lies between that and this wgmma", name_of(warp, reg));
    return false;
}

static bool may_add_to(struct sim_warp *warp, const struct sim_insn *insn, unsigned reg, bool adds) {
    const struct sim_fragment *f = &state_of(warp)->fragment[reg];
    if (f->factors) return fault_flying(warp, insn, reg, "elements of A");
    const struct sim_insn *other = f->sums ? of_other_shape(warp, insn, reg) : NULL;
    if (other) {
        sim_fault_at(
            warp, insn, 0, PTXSIM_ASYNC,
            "%s is an accumulator of the wgmma of line %d, of another shape, and no wgmma.wait_group has "
            "waited for it",
            name_of(warp, reg), other->line);
        return false;
    }
    const uint32_t undefined = adds ? ~warp->defined[reg] : 0;
    if (undefined)
        sim_fault_at(warp, insn, __builtin_ctz(undefined), PTXSIM_UNINIT, "reads %s, which nothing wrote",
                     name_of(warp, reg));
    return !undefined && is_fenced(warp, insn, reg);
}

bool sim_wgmma_may_issue(struct sim_warp *warp, const struct sim_insn *insn, int factors, bool adds) {
    const struct sim_value *factor = &insn->value[insn->destination_count];
    if (state_of(warp)->fences == 0) {
        sim_fault_at(warp, insn, 0, PTXSIM_ASYNC, "the first wgmma, and no wgmma.fence lies before it");
        return false;
    }
    for (int i = 0; i < insn->destination_count; i++)
        if (!may_add_to(warp, insn, insn->value[i].reg, adds)) return false;
    for (int i = 0; i < factors; i++) {
        if (factor[i].kind != SIM_REGISTER) continue;
        if (state_of(warp)->fragment[factor[i].reg].sums)
            return fault_flying(warp, insn, factor[i].reg, "sums");
        if (!is_fenced(warp, insn, factor[i].reg)) return false;
    }
    return true;
}

/* -- Issue and wait -------------------------------------------------------------------------------------- */

/* How many registers hold A: they are none of 64 bits, as a descriptor is. */
static int factors_of(const struct sim_insn *insn) {
    return sim_types[insn->value[insn->destination_count].type].bytes == 8 ? 0 : SIM_GROUP_WARPS;
}

static void change_registers(struct sim_wgmma_warp *w, const struct sim_insn *insn, int by) {
    const struct sim_value *factor = &insn->value[insn->destination_count];
    for (int i = 0; i < insn->destination_count; i++) {
        uint16_t *sums = &w->fragment[insn->value[i].reg].sums;
        *sums = (uint16_t)(*sums + by);
    }
    for (int i = 0; i < factors_of(insn); i++) {
        uint16_t *factors = &w->fragment[factor[i].reg].factors;
        if (factor[i].kind == SIM_REGISTER) *factors = (uint16_t)(*factors + by);
    }
    const struct sim_value *metadata = factor + (factors_of(insn) ? factors_of(insn) : 1) + 1;
    if (!(insn->modifiers & SIM_SPARSE) || metadata->kind != SIM_REGISTER) return;
    uint16_t *count = &w->fragment[metadata->reg].metadata;
    *count = (uint16_t)(*count + by);
}

bool sim_wgmma_issue(struct sim_warp *warp, const struct sim_insn *insn, int factors,
                     const struct sim_descriptor *a, const struct sim_descriptor *b) {
    struct sim_wgmma_warp *w = state_of(warp);
    const struct sim_extent extent_of_a = sim_extent_of_a(warp, insn), extent_of_b = sim_extent_of_b(insn);
    if (w->flights == w->capacity) {
        const int more = w->capacity ? 2 * w->capacity : 16;
        struct sim_flight *grown = realloc(w->flight, (size_t)more * sizeof *grown);
        if (!grown) return fault_memory(warp, insn);
        w->flight = grown;
        w->capacity = more;
    }
    struct sim_flight *f = &w->flight[w->flights++];
    *f = (struct sim_flight){.insn = insn, .group = w->groups, .b = *b};
    if (factors == 0) f->a = *a;
    change_registers(w, insn, 1);
    if (factors == 0) sim_change_readers(warp->block->wgmma, &f->a, &extent_of_a, 1);
    sim_change_readers(warp->block->wgmma, &f->b, &extent_of_b, 1);
    return true;
}

/* The warp has waited for F. What it read counts as read by the warp from now on. */
static bool land(struct sim_warp *warp, const struct sim_flight *f) {
    struct sim_wgmma *wgmma = warp->block->wgmma;
    const struct sim_extent a = sim_extent_of_a(warp, f->insn), b = sim_extent_of_b(f->insn);
    const bool in_memory = factors_of(f->insn) == 0, notes = warp->block->launch->races;
    change_registers(state_of(warp), f->insn, -1);
    if (in_memory) sim_change_readers(wgmma, &f->a, &a, -1);
    sim_change_readers(wgmma, &f->b, &b, -1);
    if (notes && in_memory && !sim_note_matrix(warp, f->insn, &f->a, &a)) return false;
    return !notes || sim_note_matrix(warp, f->insn, &f->b, &b);
}

void sim_wgmma_fence(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)mask;
    if (sim_wgmma_step(warp, insn, 0, 0)) state_of(warp)->fences++;
}

void sim_wgmma_commit(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    (void)mask;
    if (sim_wgmma_step(warp, insn, 0, 0)) state_of(warp)->groups++;
}

void sim_wgmma_wait(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {
    struct sim_wgmma_warp *w = state_of(warp);
    const uint32_t keep = *(const uint32_t *)insn->value[0].lanes;
    int left = 0;
    (void)mask;
    if (!sim_wgmma_step(warp, insn, 0, 0)) return;
    for (int i = 0; i < w->flights; i++) {
        const struct sim_flight f = w->flight[i];
        const bool over = w->groups >= keep && f.group < w->groups - keep;
        if (!over) w->flight[left++] = f;
        else if (!land(warp, &f)) return;
    }
    w->flights = left;
}

/* -- Writes to what a wgmma may still read --------------------------------------------------------------- */

static bool reads(const struct sim_warp *warp, const struct sim_flight *f, size_t at, unsigned bytes) {
    const struct sim_extent a = sim_extent_of_a(warp, f->insn), b = sim_extent_of_b(f->insn);
    if (factors_of(f->insn) == 0 && sim_matrix_overlaps(&f->a, &a, at, bytes)) return true;
    return sim_matrix_overlaps(&f->b, &b, at, bytes);
}

/* A wgmma in flight that reads some of the bytes, and its warp. */
static const struct sim_flight *reader_of(const struct sim_block *owner, size_t at, unsigned bytes,
                                          int *warp) {
    for (int i = 0; i < owner->warp_count; i++)
        for (int j = 0; j < owner->wgmma->warp[i].flights; j++) {
            const struct sim_flight *f = &owner->wgmma->warp[i].flight[j];
            *warp = i;
            if (reads(&owner->warps[i], f, at, bytes)) return f;
        }
    return NULL;
}

bool sim_wgmma_unread(struct sim_warp *warp, const struct sim_block *owner, const struct sim_insn *insn,
                      int lane, size_t at, unsigned bytes) {
    bool any = false;
    for (size_t i = at / 16; i <= (at + bytes - 1) / 16; i++) any |= owner->wgmma->readers[i] != 0;
    int reader = 0;
    const struct sim_flight *f = any ? reader_of(owner, at, bytes, &reader) : NULL;
    if (!f) return true;
    char name[SIM_SHARED_NAME];
    sim_fault_at(warp, insn, lane, PTXSIM_ASYNC,
                 "writes %s 0x%zx, which the wgmma of line %d may still read: warp %d has not waited for it",
                 sim_shared_name(name, warp, owner), at, f->insn->line, reader);
    return false;
}
