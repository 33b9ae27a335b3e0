/* Inside of a plan.
 *
 *   plan.c         a configuration becomes a problem, a choice, a loaded kernel, a packed matrix
 *   dense.c        or a dense kernel, and the matrix with its zeros, where that is faster
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

/* The product of the matrix with its zeros, beside the sparse one. */
typedef struct plan_dense {
    bool is_there; /* there is such a problem */
    plan_problem problem;
    plan_problem posed; /* the sparse one, before an operand of it was transposed */
    bool taken;         /* the plan's kernel is a dense one */
    bool measured;      /* what was compared; else both are estimates */
    double microseconds, sparse_microseconds;
    char *reason; /* as mc_plan_info has it; NULL: the configuration does not want it */
} plan_dense;

struct mc_plan {
    mc_context *context;
    mc_matrix *matrix; /* counted by the packing */
    plan_problem problem;
    int64_t c_elements;
    /* Without elements of C there is nothing to launch, and all below is zero. */
    choice choice;
    loaded_kernel *kernel;
    matrix_packing *packing;
    plan_launch launch;
    /* What makes rows of an operand that lies by columns, in the workspace: a plan of its own, which is
       launched first. NULL: there is no such operand */
    struct mc_plan *transpose;
    int transposed;          /* that operand's index */
    size_t transposed_bytes; /* of the rows, which the kernel's own workspace lies behind */
    plan_dense dense;
};

/* -- Making one (plan.c, dense.c) */

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

/* Looks for the dense problem of a plan's that CONFIG wants it of, before an operand is transposed. */
mc_status plan_pose_dense(mc_plan *plan, const mc_plan_config *config, mc_diag *diag);
/* Executions bring a dense kernel its operands as those of PLAN's problem, and as they promised the sparse
   kernel to: MC_CANNOT where it, whose launch is made, wants more. */
mc_status plan_join_dense(mc_plan *plan, mc_diag *diag);
/* Takes a dense kernel, if there is one, and it should be faster than the sparse ones, of which none is
   there yet. What cannot be had is said in the plan's reason. The context is current. */
mc_status plan_take_dense(const planning *sparse, mc_diag *diag);

/* Bytes of the workspace. */
size_t plan_workspace_bytes(const mc_plan *plan);

#endif
