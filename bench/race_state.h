/* What the files of a race share: race.c (its course), race_want.c (what must come out), race_ours.c (our
   kernels on the problem), race_lines.c (output). */
#ifndef BENCH_RACE_STATE_H
#define BENCH_RACE_STATE_H

#include "operation.h"
#include "plain.h"
#include "race.h"

/* Operands of the variants that pack alike. */
typedef struct our_operands {
    operand_slab slab;
    size_t arrays[MC_MAX_ARRAYS], a, b, c, factors, workspace; /* parts */
    size_t others[MAX_OPERANDS];                               /* parts, of the problem's `others` */
    /* What a launch of the first set must begin with, and what further results must be */
    result_begin begins[MAX_OPERANDS];
    size_t begin_count;
    result_check checks[MAX_OPERANDS];
    size_t check_count;
    double packed_bytes;
    double prepare;       /* microseconds: the host packed A and copied it there; 0: it is not packed */
    int64_t slots, named; /* with padding, and without */
} our_operands;

/* A variant on this problem: a launch for each operand set. */
typedef struct our_entry {
    const variant *variant;
    mc_launch *launches;
    mc_tensor_map *maps; /* MC_MAX_MAPS for each of the launches */
    int64_t n;           /* columns that it is launched for: the problem's, or drawn_ld of them */
    contender contender; /* quick 0: out of the race */
    double estimate;     /* the problem's, us */
    bool picked;         /* it has the least of its label */
} our_entry;

/* The sums in one order of C, on the device: exact, or of floats about right. */
typedef struct our_sums {
    result_order order;
    uint64_t address; /* s32, of floats f32; 0: not made */
    int64_t elements;
    uint64_t slots, values; /* of sampled orders: as sampled_list has them; 0: none */
} our_sums;

/* What must come out, in words. */
typedef struct want_kind {
    mc_output output;
    result_order order;
    bool halved; /* of s8 / 128 on both sides: the sums times 2^-14, and no other scale */
    bool about;  /* of floats: the sums as they are, for a peer's allowance */
} want_kind;

/* Where it stands: what a result_check has. */
typedef struct want_place {
    uint64_t want, most;
} want_place;

/* What an output other than the sums must be, on the device, in f32. */
typedef struct our_want {
    want_kind kind;
    want_place place;
} our_want;

enum { MAX_WANTS = 16 }; /* 3 types, 3 kinds of scales and the biases asked for: more is MC_CANNOT */

typedef struct race {
    race_track *track;
    const operation *operation;
    const work *work;
    const work_problem *problem;
    const race_peers *peers;
    sparse_peers *sparse;
    plain_peers plain;
    our_sums sums[ORDER_COUNT];
    our_want wants[MAX_WANTS];
    size_t want_count;
    float *factors; /* FACTOR_BLOCKS, of factor_count each: no fewer than the longer side of C has */
    size_t factor_count;
    uint64_t device_factors;
    our_operands *operands; /* one a packing group */
    our_entry *entries;     /* one a variant */
    mc_diag *diag;
} race;

/* Whether variant I takes part in the problem. */
static inline bool race_takes(const race *r, size_t i) { return r->problem->takes[i]; }

/* -- race_want.c */

enum { FACTOR_SCALES, FACTOR_BIASES, FACTOR_B_SCALES, FACTOR_BLOCKS };
/* These, on the host and the device. */
mc_status race_make_factors(race *r);
/* The first one's place, on the host and behind the address of them all. */
static inline const float *race_factors(const race *r, int block) {
    return r->factors + (size_t)block * r->factor_count;
}
static inline uint64_t race_factors_at(const race *r, uint64_t all, int block) {
    return all + (size_t)block * r->factor_count * sizeof(float);
}
static inline size_t race_factor_bytes(const race *r) {
    return FACTOR_BLOCKS * r->factor_count * sizeof(float);
}
/* C's own scale and zero point, where it has these. */
extern const float race_c_scale, race_zero;
uint64_t race_one(const race *r); /* the address of a 1 in f32 */
int64_t race_elements(const race *r, result_order order);
/* The problem's own m, n and k, as its kernels call them. */
problem_shape race_shape(const race *r);
/* Whether sums are right within bounds, and results from a least to a greatest one. */
bool race_is_within(const race *r);
/* The sums in ORDER, once. */
mc_status race_make_sums(race *r, result_order order);
/* The problem's own operands, without the race's scales and biases. The caller sets `problem`. */
host_operands race_operands(const race *r);
/* Writes C's elements to OUT as f32. */
mc_status race_write_reals(race *r, const mc_dense *c, uint64_t out, mc_diag *diag);
/* A make_sums of floats: the middle of each range, which for peers has an allowance of its own. */
mc_status race_write_middles(race *r, our_sums *sums, mc_diag *diag);
/* Where stands what KIND must be, whose sums there are; made when it is first asked for. */
mc_status race_find_want(race *r, const want_kind *kind, want_place *place, mc_diag *diag);
void race_drop_wants(race *r);

/* -- race_ours.c */

/* The packed matrices, the dense operands and the sums, on the device. */
mc_status race_upload(race *r);
/* Verifies every variant and takes a first time of it. One that fails or is wrong is out of the race, with a
   note; MC_DEVICE where the GPU no longer answers. */
mc_status race_enter_all(race *r, race_summary *summary);
void race_drop_ours(race *r);

/* -- race_lines.c */

mc_status race_note(race *r, const char *who, const char *text);
/* The first times of all variants. */
mc_status race_write_quick(race *r);
/* ENTRY is NULL for a peer. */
mc_status race_write_result(race *r, const contender *c, const timing *t, const our_entry *entry);
void variant_hash_text(const variant *v, char text[17]);

#endif
