/* Inside of a plan.
 *
 *   plan.c         a configuration becomes a problem, a choice, a loaded kernel, a packed matrix
 *   dense.c        or a dense kernel, and the matrix with its zeros, where that is faster
 *   passes.c       kernels ahead of it, which transpose and spread operands
 *   columns.c      or no such kernels, where one that reads operands as they lie is faster
 *   times.c        how long a kernel and its passes take, to be compared
 *   launch.c       all of its launch but for what each execution brings
 *   execute.c      that */
#ifndef MCRT_PLAN_H
#define MCRT_PLAN_H

#include "choose/choose.h"
#include "context/kernels.h"
#include "context/matrix.h"
#include "problem/transpose.h"

enum { PLAN_NONE = -1, PLAN_WORKSPACE_ALIGN = 16 /* as mcrt.h says */ };

/* One launch with everything in it that no execution changes. */
typedef struct plan_launch {
    mc_launch launch;
    const mc_operator *operator;
    /* What an execution brings, at the operand's index in the operator's list */
    struct plan_argument {
        const operand_row *from; /* of the plan's problem, by which executions bring it; NULL: none do */
        bool wanted;             /* the kernel wants its address */
        int slot;                /* the parameter that takes it, or NONE: not read, or only through the map */
        unsigned align;          /* a power of 2 that it must be a multiple of */
        int value_slot;          /* the parameter that takes a factor by value, or NONE */
    } arguments[MAX_OPERANDS];
    struct plan_map {
        int slot;         /* the parameter that takes it */
        int argument;     /* the operand that it is of: its index in the list */
        mc_tensor tensor; /* the tensor at that operand's address */
    } maps[MC_MAX_MAPS];
    size_t map_count;
    /* What the kernel wants for itself, as an execution brings it */
    struct plan_workspace {
        size_t bytes;
        int slot;
        unsigned align;
    } workspace;
} plan_launch;

/* MATRIX: the operand that PACKING, of the format dense, is, which no execution brings; NULL: PACKING has
   arrays of the kernel's format. MC_CANNOT where KERNEL cannot take PROBLEM, whatever its fields promise:
   grids and sums have limits. */
mc_status plan_launch_make(const mc_context *context, const plan_problem *problem, const mc_kernel *kernel,
                           const matrix_packing *packing, const char *matrix, plan_launch *launch,
                           mc_diag *diag);

/* A kernel that is launched first, and writes an operand into the workspace as the plan's kernel, or the
   pass behind it, reads it. */
typedef struct plan_pass {
    struct mc_plan *plan; /* of its own */
    int operand;          /* that operand's index in the list of the launch's operator */
    int from;             /* the pass that it reads the result of; NONE: an execution brings the operand */
    size_t at, bytes;     /* where it is in the workspace */
} plan_pass;

typedef struct plan_passes {
    plan_pass items[MOST_PASSES]; /* as they are launched */
    int count;
    size_t bytes; /* of all, which the kernel's own workspace lies behind */
} plan_passes;

/* The product of the matrix with its zeros, beside the sparse one. */
typedef struct plan_dense {
    bool is_there; /* there is such a problem */
    plan_problem problem;
    plan_passes passes; /* of that; where it is taken, they are the plan's */
    bool taken;         /* the plan's kernel is a dense one */
    bool measured;      /* what was compared; else both are estimates */
    double microseconds, sparse_microseconds;
    char *reason; /* as mc_plan_info has it; NULL: the configuration does not want it */
} plan_dense;

struct mc_plan {
    mc_context *context;
    mc_matrix *matrix;  /* counted by the packing */
    plan_problem posed; /* as executions bring operands: before passes for any of these */
    plan_problem problem;
    int64_t c_elements;
    /* Without elements of C there is nothing to launch, and all below is zero. */
    choice choice;
    loaded_kernel *kernel;
    matrix_packing *packing;
    plan_launch launch;
    plan_passes passes;
    plan_dense dense;
};

/* -- Making one (plan.c, dense.c) */

mc_plan *plan_new(mc_context *context, mc_matrix *matrix); /* NULL: no memory */
/* Finds the kernel of PLAN's problem, which is whole. */
mc_status plan_solve(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, mc_diag *diag);

/* A plan that is being made. */
typedef struct planning {
    mc_plan *plan;
    const mc_plan_config *config;
    mc_tuning tuning;
    const plan_problem *problem; /* the plan's own, or its dense one */
    mc_status failure;           /* of the first kernel that could not be had, and why */
    mc_diag *why;
    char *tried; /* the last one that could not */
} planning;

/* CHOSEN becomes the plan's, and its kernel and packing too, if these can be had: whether it is so. */
bool planning_try(planning *p, choice *chosen);
/* With the policy TUNE a problem without a record is measured first. */
void planning_tune(planning *p);
void planning_end(planning *p);

/* Looks for the dense problem of a plan's that CONFIG wants it of, before an operand is transposed, and for
   its passes. */
mc_status plan_pose_dense(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, mc_diag *diag);
/* Executions bring a dense kernel, whose launch is made, its operands as those of PLAN's problem. */
void plan_join_dense(mc_plan *plan);
/* Takes a dense kernel, if there is one, and it should be faster than the sparse ones, of which none is
   there yet. What cannot be had is said in the plan's reason. The context is current. */
mc_status plan_take_dense(const planning *sparse, mc_diag *diag);

/* -- Times (times.c) */

/* How long a kernel and its passes take, in microseconds. */
typedef struct side_time {
    double estimate; /* INFINITY: not known */
    double measured; /* 0: there is no record of this very problem, with warm operands */
} side_time;
/* The time of CHOSEN, which is a kernel of PROBLEM, and of PASSES ahead of it. Passes are seldom measured:
   the estimate, which is small, stands for the time of one without a record. */
side_time plan_time_of(const mc_context *context, const plan_problem *problem, const choice *chosen,
                       const plan_passes *passes);
/* Whether ONE can be compared with OTHER: both were measured, which sets *MEASURED, or both have
   estimates. A measured time is never compared with an estimate: on the simulator not even the unit is the
   same. */
bool plan_times_compare(side_time one, side_time other, bool *measured);

/* -- Passes (passes.c, columns.c) */

/* Makes PLAN's problem the one that its kernel is chosen for, and makes the passes that it wants. Where an
   operand lies by columns, and there are kernels that read it so, the fastest of them is compared with the
   fastest kernel that reads rows and its pass. With the policy TUNE both problems are measured first. */
mc_status plan_pose(mc_plan *plan, const mc_plan_config *config, mc_tuning tuning, mc_diag *diag);

/* Makes PROBLEM one that kernels solve, and plans of what is launched ahead of them; PASSES, which were
   empty, are the caller's to drop, also where the call fails. */
mc_status plan_add_passes(mc_context *context, plan_problem *problem, mc_tuning tuning, plan_passes *passes,
                          mc_diag *diag);
void plan_drop_passes(plan_passes *passes);
/* The pass that writes OPERAND as the plan's kernel reads it; NULL: there is none. */
const plan_pass *plan_pass_of(const plan_passes *passes, size_t operand);
/* Of a plan that is made: its passes, those of its dense kernel if that is taken, read what executions
   bring, if there is anything to compute. The kernel behind them may not read early what one writes. */
void plan_join_passes(mc_plan *plan);

/* Bytes of the workspace. */
size_t plan_workspace_bytes(const mc_plan *plan);

#endif
