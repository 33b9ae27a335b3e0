#include "metric.h"

#include "ops.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* -- Classes of instructions ---------------------------------------------------------------------------- */

static const struct {
    const char *start;
    ptxsim_class class;
} classes[] = {
    {"ld", PTXSIM_CLASS_LOAD},           {"st%", PTXSIM_CLASS_STORE},      {"st.", PTXSIM_CLASS_STORE},
    {"stmatrix", PTXSIM_CLASS_STORE},    {"atom", PTXSIM_CLASS_ATOMIC},    {"red%", PTXSIM_CLASS_ATOMIC},
    {"mbarrier", PTXSIM_CLASS_BARRIER},  {"cp.", PTXSIM_CLASS_COPY},       {"mma", PTXSIM_CLASS_MMA},
    {"wgmma.mma", PTXSIM_CLASS_MMA},     {"wgmma", PTXSIM_CLASS_BARRIER},  {"bar.warp", PTXSIM_CLASS_WARP},
    {"bar", PTXSIM_CLASS_BARRIER},       {"shfl", PTXSIM_CLASS_WARP},      {"vote", PTXSIM_CLASS_WARP},
    {"redux", PTXSIM_CLASS_WARP},        {"match", PTXSIM_CLASS_WARP},     {"activemask", PTXSIM_CLASS_WARP},
    {"elect", PTXSIM_CLASS_WARP},        {"movmatrix", PTXSIM_CLASS_WARP}, {"bra", PTXSIM_CLASS_CONTROL},
    {"ret", PTXSIM_CLASS_CONTROL},       {"exit", PTXSIM_CLASS_CONTROL},   {"trap", PTXSIM_CLASS_CONTROL},
    {"cvt", PTXSIM_CLASS_MOVE},          {"mov", PTXSIM_CLASS_MOVE},       {"selp", PTXSIM_CLASS_MOVE},
    {"fence", PTXSIM_CLASS_BARRIER},     {"membar", PTXSIM_CLASS_BARRIER}, {"prefetch", PTXSIM_CLASS_LOAD},
    {"nanosleep", PTXSIM_CLASS_CONTROL},
};

ptxsim_class sim_class_of(const struct sim_insn *insn) {
    const char *name = insn->op->pattern;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        const char *start = classes[i].start;
        if (name[0] == start[0] && strncmp(name, start, strlen(start)) == 0) return classes[i].class;
    }
    return sim_types[insn->type].kind == 'f' ? PTXSIM_CLASS_FLOAT : PTXSIM_CLASS_INTEGER;
}

/* -- Sums ----------------------------------------------------------------------------------------------- */

void sim_metric_add(ptxsim_line *to, const ptxsim_line *from) {
    to->warp_instructions += from->warp_instructions;
    to->thread_instructions += from->thread_instructions;
    to->shared_requests += from->shared_requests;
    to->shared_wavefronts += from->shared_wavefronts;
    to->shared_ideal += from->shared_ideal;
    to->global_requests += from->global_requests;
    to->global_sectors += from->global_sectors;
    to->global_bytes += from->global_bytes;
    to->bulk_bytes += from->bulk_bytes;
    to->mma_products += from->mma_products;
    to->mma_nonzero += from->mma_nonzero;
}

bool sim_metric_lines(ptxsim *sim, const ptxsim_function *function, const ptxsim_line *by_insn) {
    free(sim->lines);
    sim->line_count = 0;
    sim->lines = calloc((size_t)function->code_count + 1, sizeof *sim->lines);
    if (!sim->lines) return false;
    for (int i = 0; i < function->code_count; i++) {
        const struct sim_insn *insn = &function->code[i];
        ptxsim_line *line = sim->line_count ? &sim->lines[sim->line_count - 1] : NULL;
        if (!line || line->line != insn->line) {
            line = &sim->lines[sim->line_count++];
            line->line = insn->line;
            line->kind = sim_class_of(insn);
        }
        sim_metric_add(line, &by_insn[i]);
        sim->by_class[sim_class_of(insn)] += by_insn[i].warp_instructions;
    }
    return true;
}
