/* What the files of a race share: race.c (its course), race_ours.c (our kernels on the problem), race_lines.c (output). */
#ifndef BENCH_RACE_STATE_H
#define BENCH_RACE_STATE_H

#include "race.h"

/* Operands of the variants that pack alike. */
typedef struct our_operands {
    operand_slab slab;
    size_t arrays[MC_MAX_ARRAYS], b, c, factors; /* parts */
    double packed_bytes;
    int64_t slots;
} our_operands;

/* A variant on this problem: a launch for each operand set. */
typedef struct our_entry {
    const variant *variant;
    mc_launch *launches;
    mc_tensor_map *maps; /* of the launches */
    contender contender; /* quick 0: out of the race */
    double estimate;     /* mc_spec_estimate, us */
    bool picked;         /* it has the least of its label */
} our_entry;

/* What an output other than the sums must be, on the device, in f32. */
typedef struct our_want {
    mc_output output;
    uint64_t address;
} our_want;

enum { MAX_WANTS = 12 }; /* 3 types, 3 kinds of scales and the biases asked for: more is MC_CANNOT */

typedef struct race {
    race_track *track;
    const work *work;
    size_t n_index;
    int64_t n;
    const dense_peers *dense;
    sparse_peers *sparse;
    uint64_t want_s32, want_half; /* the exact sums; 2^-14 of them, in f32 */
    our_want wants[MAX_WANTS];
    size_t want_count;
    float *factors; /* scales, then biases, factor_count each: as many as the longer side of C */
    size_t factor_count;
    uint64_t device_factors;
    our_operands *operands; /* one a packing group */
    our_entry *entries;     /* one a variant */
    mc_diag *diag;
} race;

/* -- race_ours.c */

/* The exact result and the packed matrices, on the device. */
mc_status race_upload(race *r);
/* Verifies every variant and takes a first time of it. One that fails or is wrong is out of the race, with a note; MC_DEVICE
   where the GPU no longer answers. */
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
