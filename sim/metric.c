#include "metric.h"

#include "ops.h"
#include "sim.h"

#include <stdlib.h>
#include <string.h>

/* Shared memory serves 32 banks of a 4-byte word each a wavefront. A sector of global memory is 32 bytes. */
enum { BANKS = 32, WORD = 4, WAVEFRONT = BANKS * WORD, SECTOR = 32 };

/* -- Classes of instructions ---------------------------------------------------------------------------- */

static const struct {
    const char *start;
    ptxsim_class class;
} classes[] = {
    {"ld", PTXSIM_CLASS_LOAD},        {"st%", PTXSIM_CLASS_STORE},       {"st.", PTXSIM_CLASS_STORE},
    {"stmatrix", PTXSIM_CLASS_STORE}, {"atom", PTXSIM_CLASS_ATOMIC},     {"red%", PTXSIM_CLASS_ATOMIC},
    {"mma", PTXSIM_CLASS_MMA},        {"bar.warp", PTXSIM_CLASS_WARP},   {"bar", PTXSIM_CLASS_BARRIER},
    {"shfl", PTXSIM_CLASS_WARP},      {"vote", PTXSIM_CLASS_WARP},       {"redux", PTXSIM_CLASS_WARP},
    {"match", PTXSIM_CLASS_WARP},     {"activemask", PTXSIM_CLASS_WARP}, {"elect", PTXSIM_CLASS_WARP},
    {"movmatrix", PTXSIM_CLASS_WARP}, {"bra", PTXSIM_CLASS_CONTROL},     {"ret", PTXSIM_CLASS_CONTROL},
    {"exit", PTXSIM_CLASS_CONTROL},   {"trap", PTXSIM_CLASS_CONTROL},    {"cvt", PTXSIM_CLASS_MOVE},
    {"mov", PTXSIM_CLASS_MOVE},       {"selp", PTXSIM_CLASS_MOVE},       {"fence", PTXSIM_CLASS_BARRIER},
    {"membar", PTXSIM_CLASS_BARRIER}, {"prefetch", PTXSIM_CLASS_LOAD},   {"nanosleep", PTXSIM_CLASS_CONTROL},
};

ptxsim_class sim_class_of(const struct sim_insn *insn) {
    const char *name = insn->op->pattern;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(name, classes[i].start, strlen(classes[i].start)) == 0) return classes[i].class;
    return sim_types[insn->type].kind == 'f' ? PTXSIM_CLASS_FLOAT : PTXSIM_CLASS_INTEGER;
}

/* -- Requests ------------------------------------------------------------------------------------------- */

/* A set of up to 32 numbers. */
struct distinct {
    int count;
    uint64_t value[SIM_LANES];
    signed char slot[2 * SIM_LANES]; /* index + 1 of a value */
};

static bool insert(struct distinct *set, uint64_t value) {
    unsigned at = (unsigned)(value * UINT64_C(0x9e3779b97f4a7c15) >> 58);
    for (; set->slot[at]; at = (at + 1) % (2 * SIM_LANES))
        if (set->value[set->slot[at] - 1] == value) return false;
    set->value[set->count++] = value;
    set->slot[at] = (signed char)set->count;
    return true;
}

/* The lanes' accesses are aligned to their size, so that they are equal or apart. */
static void distinct_pieces(const struct sim_request *r, int first, int end, unsigned piece,
                            struct distinct *set) {
    set->count = 0;
    memset(set->slot, 0, sizeof set->slot);
    int shift = __builtin_ctz(piece);
    uint64_t last = UINT64_MAX; /* lanes in a row often agree */
    for (int l = first; l < end; l++) {
        if (!(r->mask >> l & 1) || r->address[l] >> shift == last) continue;
        last = r->address[l] >> shift;
        insert(set, last);
    }
}

/* Wavefronts if lanes FIRST to END of a request are served together: the most distinct words in a bank. */
static int together(const struct sim_request *r, int first, int end) {
    struct distinct set;
    int load[BANKS] = {0}, most = 0;
    unsigned piece = r->bytes > WORD ? r->bytes : WORD, words = piece / WORD;
    distinct_pieces(r, first, end, piece, &set);
    for (int i = 0; i < set.count; i++)
        for (unsigned w = 0; w < words; w++) {
            int n = ++load[(set.value[i] * words + w) % BANKS];
            if (n > most) most = n;
        }
    return most;
}

/* Accesses of 8 bytes are served by half warps, of 16 bytes by quarters, if one wavefront does not do. */
static int wavefronts(const struct sim_request *r, int first, int end) {
    int all = together(r, first, end), lanes = end - first;
    if (all <= 1 || lanes * (int)r->bytes <= WAVEFRONT) return all;
    int middle = first + lanes / 2;
    return wavefronts(r, first, middle) + wavefronts(r, middle, end);
}

/* Atomics on one word wait for each other. */
static int atomic_wavefronts(const struct sim_request *r) {
    int load[BANKS] = {0}, most = 0;
    for (int l = 0; l < SIM_LANES; l++) {
        int *bank = &load[r->address[l] / WORD % BANKS];
        if (r->mask >> l & 1 && ++*bank > most) most = *bank;
    }
    return most * (r->bytes > WORD ? 2 : 1);
}

static void shared_request(ptxsim_line *line, const struct sim_request *r) {
    struct distinct set;
    distinct_pieces(r, 0, SIM_LANES, r->bytes, &set);
    unsigned bytes = (unsigned)set.count * r->bytes;
    line->shared_requests++;
    line->shared_ideal += (bytes + WAVEFRONT - 1) / WAVEFRONT;
    line->shared_wavefronts += (unsigned)(r->atomic ? atomic_wavefronts(r) : wavefronts(r, 0, SIM_LANES));
}

static void global_request(ptxsim_line *line, const struct sim_request *r) {
    struct distinct set;
    distinct_pieces(r, 0, SIM_LANES, r->bytes, &set);
    line->global_requests++;
    line->global_bytes += (unsigned)set.count * r->bytes;
    distinct_pieces(r, 0, SIM_LANES, SECTOR, &set);
    line->global_sectors += (unsigned)set.count;
}

void sim_metric_request(ptxsim_line *line, const struct sim_request *request) {
    if (request->shared) shared_request(line, request);
    else global_request(line, request);
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
