/* A measurement in progress: what its files share.
 *
 *   measure.c    the order of things, and what the listener hears
 *   compile.c    kernels, on all cores (pool.c)
 *   operands.c   what they compute with, on the host and on the device (slab.c)
 *   reference.c  what C must be
 *   verify.c     one kernel: loaded, run, compared (compare.c)
 *   time.c       all that are right, in rounds (rounds.c) */
#ifndef MCRT_TUNE_MEASUREMENT_H
#define MCRT_TUNE_MEASUREMENT_H

#include "ops/operator.h"
#include "tune/tune.h"
#include "tune/slab.h"

/* The problem's operands: random where the problem has only shapes, on the host and on the device. */
typedef struct tune_operands {
    mc_vsparse matrix; /* the race's matrix, with values of its own */
    /* At the operand's index in the operator's list */
    mc_dense inputs[MAX_OPERANDS]; /* DENSE ones */
    float *factors[MAX_OPERANDS];  /* operand_factors of each; NULL: none */
    /* What further outputs must be; no data: it is none. And the operands' places in the slab */
    reference_result others[MAX_OPERANDS];
    size_t other_parts[MAX_OPERANDS];
    mc_dense c; /* the output's shape; no data */
    /* Memory as it must be found: GUARD bytes of poison, C with poison in its gaps, and GUARD bytes again.
       MOST: likewise, where C's elements may be anything from those of WANT to these; else NULL */
    unsigned char *want, *most;
    unsigned char *begin; /* that memory before a launch, where C is in place; else NULL: poison */
    size_t want_bytes, guard;
    /* Products of a batch, which all have the same operands, each in its own memory; 1: there is no batch.
       From the C of one to that of the next, in bytes */
    size_t products, c_step;
    tune_slab slab;
} tune_operands;

/* The matrix in one form, for all kernels that read it. */
typedef struct tune_packing {
    char form[MC_PACK_FORM];
    const mc_kernel *kernel; /* one of them */
    mc_packed packed;
    mc_status status; /* what packing returned, and why it failed */
    mc_diag *why;
    bool absent;    /* there was no room for it on the device */
    tune_slab slab; /* a part for each array */
} tune_packing;

typedef struct tune_kernel {
    tune_state state;
    mc_status status; /* what making it returned, and why it failed */
    mc_diag *why;
    mc_kernel *kernel;
    mc_image image;
    bool from_cache; /* the image */
    tune_packing *packing;
    mc_module *module;
    mc_launch *launches; /* one for each set of operands */
    mc_tensor_map *maps; /* MC_MAX_MAPS for each of the launches */
    mc_graph *graph;
    int graph_launches;
    double guess, replay_us; /* microseconds of a launch; of a replay */
} tune_kernel;

typedef struct measurement {
    mc_context *context;
    const mc_operator *operator; /* of race->problem */
    const tune_race *race;
    tune_listener *listener;
    void *user;
    double begin;  /* clock_seconds */
    bool stopped;  /* by the listener */
    size_t rounds; /* rounds of stage TIME, of the whole field and of the final; known once it begins */
    bool partial;  /* something was left out: race->seconds were over, or there was no memory on the device */
    tune_kernel *kernels;
    tune_packing *packings;
    size_t packing_count;
    tune_operands operands;
    tune_buffer buffer;
} measurement;

enum { TUNE_POISON = 0x80 };

/* -- measure.c */

/* Whether this is the end, by the listener or because SHARE of the seconds are over; the measurement is then
   partial. */
bool tune_over(measurement *m, double share);
/* Tells the listener; false if tune_over. */
bool tune_tell(measurement *m, const tune_event *event, double share);
/* tune_tell while what stage VERIFY wants is made. */
bool tune_tell_preparing(measurement *m);
/* Kernel INDEX is in STATE; WHY may be NULL. */
void tune_set_state(measurement *m, tune_stage stage, size_t done, size_t index, tune_state state,
                    double microseconds, const mc_diag *why);
/* Settles a STATUS of an entrant that is not MC_OK. Either it is the entrant's state, and MC_OK is returned;
   or it is the end of all, where memory or the device is gone. */
mc_status tune_settle(measurement *m, tune_stage stage, size_t done, size_t index, mc_status status,
                      const mc_diag *why, mc_diag *diag);

/* -- compile.c: kernels and images of all entrants; MC_NOMEM is the only failure */
mc_status tune_compile(measurement *m, mc_diag *diag);

/* -- operands.c: all of operands but want and slab;
   the matrix packed in every form that a kernel reads */
mc_status tune_operands_make(measurement *m, mc_diag *diag);
mc_status tune_operands_pack(measurement *m, mc_diag *diag);
/* Brings everything to the device. */
mc_status tune_operands_upload(measurement *m, mc_diag *diag);
void tune_operands_free(measurement *m);

/* -- reference.c: operands.want and most, on all cores */
mc_status tune_reference(measurement *m, mc_diag *diag);

/* -- compare.c */

/* MC_MISMATCH where GOT, which is memory of C and its guards, is not what operands want: wrong in front of C,
   in it, in its gaps, or behind it. Which of NaNs' bits an element has does not matter. */
mc_status tune_check_result(const tune_operands *o, unsigned char *got, mc_diag *diag);
/* MC_MISMATCH where a SECOND launch of a kernel has left other bytes there than the FIRST. */
mc_status tune_check_again(const tune_operands *o, unsigned char *first, unsigned char *second,
                           mc_diag *diag);

/* -- verify.c */

/* Loads K and binds its launches. */
mc_status tune_load(measurement *m, tune_kernel *k, mc_diag *diag);
/* One launch on poisoned C: MC_MISMATCH where anything but C is written, or C is not what it must be. A C
   that may be anything within bounds gets a second launch, which must give the same. */
mc_status tune_verify(measurement *m, tune_kernel *k, mc_diag *diag);

/* -- time.c */

/* Makes K's graph, and a first guess of its time. */
mc_status tune_guess(measurement *m, tune_kernel *k, mc_diag *diag);
/* Times all that are RIGHT, in rounds, and tells states until CHOSEN. */
mc_status tune_time(measurement *m, mc_diag *diag);

#endif
