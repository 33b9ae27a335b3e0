/* Our kernels: every variant of the specs that a run takes, generated and loaded once, with open shapes, for
   all its problems. */
#ifndef BENCH_VARIANTS_H
#define BENCH_VARIANTS_H

#include "gpu.h"
#include "helpers.h"
#include "orders.h"
#include "timer.h"

/* What a variant costs, by its family's facts (--describe --json); 0 where the family does not say. */
typedef struct variant_facts {
    int64_t stride;     /* slots a stride */
    int64_t stride_mma; /* m16n8k32, or as much work, a stride and warp */
    int64_t tile_rows;  /* of C, a thread block */
    int64_t tile_columns;
    bool staged;       /* B passes through shared memory */
    bool fused;        /* multiplied by fused multiply-adds, without tensor cores */
    int64_t group_mma; /* sddmm: m16n8k32 of 16 slots and panel_k of k */
    int64_t panel_k;
} variant_facts;

typedef struct variant {
    const mc_spec *spec;
    const char *path; /* of the spec */
    size_t index;     /* in the spec's space */
    uint64_t hash;
    char *text;                    /* its tuned fields */
    char label[TIMER_LABEL];       /* by types and settings: "mcgen s8 s8 f16 overlap=off" */
    char series[TIMER_LABEL + 64]; /* and by spec: "mcgen s8 s8 f16 overlap=off, spmm_l8r8_f16" */
    char *ptx; /* another generator's, to be measured in place of the kernel's own; NULL: its own */
    mc_kernel *kernel;
    mc_module *module;
    mc_output output;
    result_order order; /* of C */
    size_t packing;     /* its group of variants that pack alike */
    variant_facts facts;
    char *error; /* not NULL: it could not be generated or loaded */
} variant;

typedef struct variant_list {
    mc_spec **specs;
    size_t spec_count;
    variant *items;
    size_t count;
    const mc_kernel **packings; /* one kernel of each group */
    size_t packing_count;
    char settings[TIMER_LABEL - 48];   /* that the types do not show: " overlap=off" */
    const struct operation *operation; /* of all kernels, as V, the types and sddmm's layout of B */
    int vec;
    mc_type lhs, rhs;
    mc_layout layout;
    bool by_columns; /* an SpMM's B and C are, in all kernels */
    bool computed;   /* kernels compute their scales */
} variant_list;

/* Reads the specs for a GPU of CAPABILITY (mc_spec_read_for) and chooses variants: WHICH is "all", "default",
   or indices and hashes with commas between. The caller closes also after a failure. */
mc_status variants_choose(variant_list *list, char *const *paths, const mc_setting *settings,
                          size_t setting_count, int capability, const char *which, mc_diag *diag);
/* Adds, for each variant of which FOLDER has another generator's PTX (a file HASH.ptx), a second one that
   runs it. MC_CANNOT where there is none. */
mc_status variants_add_others(variant_list *list, const char *folder, mc_diag *diag);
/* Generates all on THREADS threads, and loads them by the cache of CONTEXT, if that is not NULL; then finds
   out which pack alike. A variant that fails has an error; MC_CANNOT where all do. */
mc_status variants_load(variant_list *list, mc_context *context, int threads, mc_diag *diag);
/* Loads variant I by the cache of CONTEXT, unless it is loaded. */
mc_status variants_need(variant_list *list, size_t i, mc_context *context, mc_diag *diag);
/* The types of all results, a bit each: 1 << MC_F16. */
unsigned variants_outs(const variant_list *list);
void variants_close(variant_list *list);

#endif
