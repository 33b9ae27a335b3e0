/* What a request to memory costs: wavefronts of shared memory, sectors of global memory. The rules were found
 * by comparing every form of access with the counters of a GPU of compute capability 9.0 (tests/counters). */
#include "metric.h"

#include "ops.h"

#include <string.h>

/* Shared memory serves 32 banks of a 4-byte word each a wavefront. A sector of global memory is 32 bytes. */
enum { BANKS = 32, WORD = 4, WAVEFRONT = BANKS * WORD, SECTOR = 32 };

/* -- How shared memory serves an instruction ------------------------------------------------------------ */

/* The first row whose words stand at the start of the pattern and whose width is the access's or 0. */
static const struct {
    const char *start;
    unsigned bytes; /* a lane, 0: any */
    struct sim_service service;
} services[] = {
    {"ldmatrix", 0, {8, SIM_SHARED_WORDS}},    {"stmatrix", 0, {8, SIM_SHARED_WORDS}},
    {"cp.async", 16, {8, SIM_SHARED_WORDS}},   {"cp.async", 8, {16, SIM_SHARED_WORDS}},
    {"ld", 16, {8, SIM_SHARED_PAIRS}},         {"st", 16, {8, SIM_SHARED_WORDS}},
    {"st", 8, {16, SIM_SHARED_WORDS}},         {"cp.async", 16, {8, SIM_SHARED_WORDS}},
    {"cp.async", 8, {16, SIM_SHARED_WORDS}},   {"atom%q?%o?%X?.cas", 8, {16, SIM_TWICE}},
    {"atom%q?%o?%X?.cas", 0, {32, SIM_TWICE}}, {"atom.cas", 8, {16, SIM_TWICE}},
    {"atom.cas", 0, {32, SIM_TWICE}},          {"atom", 8, {16, SIM_NOT_SHARED}},
    {"red%", 8, {16, SIM_NOT_SHARED}},         {"atom", 0, {32, SIM_NOT_SHARED}},
    {"red%", 0, {32, SIM_NOT_SHARED}},
};

static bool is_atomic(const struct sim_insn *insn) {
    return strncmp(insn->op->pattern, "atom", 4) == 0 || strncmp(insn->op->pattern, "red%", 4) == 0;
}

/* An atomic that adds the constant 1: the hardware has an instruction that counts the lanes on each word. */
static bool counts_lanes(const struct sim_insn *insn) {
    const struct sim_value *added = &insn->value[1];
    uint32_t one;
    if (insn->exec != sim_atom_add[SIM_u32] || added->kind != SIM_CONSTANT) return false;
    memcpy(&one, added->lanes, sizeof one);
    return one == 1;
}

struct sim_service sim_service_of(const struct sim_insn *insn) {
    unsigned bytes = sim_types[insn->type].bytes * (insn->vector ? insn->vector : 1u);
    if (insn->exec == sim_cp_async) memcpy(&bytes, insn->value[SIM_COPY_SIZE].lanes, sizeof bytes);
    if (is_atomic(insn) && counts_lanes(insn)) return (struct sim_service){SIM_LANES, SIM_SHARED_WORDS};
    if (is_atomic(insn) && insn->exec == sim_atom_add[SIM_f32])
        return (struct sim_service){SIM_LANES, SIM_RETRIED};
    if (insn->space == SIM_GENERIC && bytes == 16) return (struct sim_service){8, SIM_SHARED_WORDS};
    for (size_t i = 0; i < sizeof services / sizeof *services; i++)
        if (strncmp(insn->op->pattern, services[i].start, strlen(services[i].start)) == 0 &&
            (services[i].bytes == 0 || services[i].bytes == bytes))
            return services[i].service;
    return (struct sim_service){SIM_LANES, SIM_SHARED_WORDS};
}

/* -- Wavefronts ----------------------------------------------------------------------------------------- */

/* Of the lanes in MASK, the first of each piece of memory of PIECE bytes (a power of two). The lanes'
   accesses are aligned to their size, so that they are equal or apart. */
static uint32_t first_of_each(const struct sim_request *r, uint32_t mask, unsigned piece) {
    uint64_t pieces[SIM_LANES], last = UINT64_MAX; /* lanes in a row often agree */
    unsigned char slot[2 * SIM_LANES] = {0};       /* index + 1 into PIECES */
    int count = 0, shift = __builtin_ctz(piece);
    uint32_t first = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t mine = r->address[__builtin_ctz(mask)] >> shift;
        if (mine == last) continue;
        last = mine;
        unsigned at = (unsigned)(mine * UINT64_C(0x9e3779b97f4a7c15) >> 58);
        while (slot[at] && pieces[slot[at] - 1] != mine) at = (at + 1) % (2 * SIM_LANES);
        if (slot[at]) continue;
        pieces[count] = mine;
        slot[at] = (unsigned char)++count;
        first |= mask & -mask;
    }
    return first;
}

/* The accesses of the lanes in MASK to the bank that has most. */
static int busiest_bank(const struct sim_request *r, uint32_t mask) {
    int load[BANKS] = {0}, most = 0;
    for (; mask; mask &= mask - 1) {
        uint64_t word = r->address[__builtin_ctz(mask)] / WORD;
        for (unsigned w = 0; w < (r->bytes + WORD - 1) / WORD; w++) {
            int n = ++load[(word + w) % BANKS];
            if (n > most) most = n;
        }
    }
    return most;
}

static int by_words(const struct sim_request *r, uint32_t mask) {
    return busiest_bank(r, first_of_each(r, mask, r->bytes > WORD ? r->bytes : WORD));
}

/* The request in portions of LANES. */
static int in_portions(const struct sim_request *r, int lanes,
                       int (*cost)(const struct sim_request *, uint32_t)) {
    int sum = 0;
    for (int first = 0; first < SIM_LANES; first += lanes)
        sum += cost(r, r->mask & (SIM_FULL_MASK >> (SIM_LANES - lanes)) << first);
    return sum;
}

/* Whether every lane and the one whose number differs in BIT, if both take part, want the same. */
static bool neighbours_agree(const struct sim_request *r, int bit) {
    for (uint32_t mask = r->mask; mask; mask &= mask - 1) {
        int l = __builtin_ctz(mask), other = l ^ bit;
        if (r->mask >> other & 1 && r->address[l] != r->address[other]) return false;
    }
    return true;
}

static int with_pairs(const struct sim_request *r, int lanes) {
    bool pairs = neighbours_agree(r, 1) || neighbours_agree(r, 2);
    return in_portions(r, pairs ? 2 * lanes : lanes, by_words);
}

/* Each turn of the loop reads the words of the lanes that are left, and costs two for the swap. */
static int retried(const struct sim_request *r) {
    struct sim_request left = *r;
    int sum = 0;
    SIM_EACH_LANE(l) left.address[l] %= WAVEFRONT; /* banks */
    while (left.mask) {
        sum += by_words(r, left.mask) + 2;
        left.mask &= ~first_of_each(&left, left.mask, WORD);
    }
    return sum;
}

static int wavefronts(const struct sim_request *r, struct sim_service service) {
    switch (service.sharing) {
    case SIM_SHARED_PAIRS: return with_pairs(r, service.lanes);
    case SIM_NOT_SHARED: return in_portions(r, service.lanes, busiest_bank);
    case SIM_TWICE: return 2 * in_portions(r, service.lanes, busiest_bank);
    case SIM_RETRIED: return retried(r);
    default: return in_portions(r, service.lanes, by_words);
    }
}

/* -- Requests ------------------------------------------------------------------------------------------- */

static unsigned distinct(const struct sim_request *r, unsigned piece) {
    return (unsigned)__builtin_popcount(first_of_each(r, r->mask, piece));
}

/* Atomics on one word go one after another, each round to its own sectors. */
static unsigned atomic_sectors(const struct sim_request *r) {
    struct sim_request round = *r;
    unsigned sum = 0;
    for (uint32_t left = r->mask; left; left &= ~round.mask) {
        round.mask = first_of_each(r, left, r->bytes);
        sum += distinct(&round, SECTOR);
    }
    return sum;
}

static void shared_request(ptxsim_line *line, const struct sim_request *r, struct sim_service service) {
    line->shared_requests++;
    line->shared_ideal += (distinct(r, r->bytes) * r->bytes + WAVEFRONT - 1) / WAVEFRONT;
    line->shared_wavefronts += (unsigned)wavefronts(r, service);
}

static void global_request(ptxsim_line *line, const struct sim_request *r) {
    line->global_requests++;
    line->global_bytes += distinct(r, r->bytes) * r->bytes;
    line->global_sectors += r->atomic ? atomic_sectors(r) : distinct(r, SECTOR);
}

void sim_metric_request(ptxsim_line *line, const struct sim_request *request, struct sim_service service) {
    if (request->shared) shared_request(line, request, service);
    else global_request(line, request);
}
