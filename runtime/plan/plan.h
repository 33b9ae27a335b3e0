/* Inside of a plan.
 *
 *   plan.c         a configuration becomes a problem, a choice, a loaded kernel, a packed matrix
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
        bool wanted;    /* the kernel wants its address */
        int slot;       /* the parameter that takes it, or NONE: not read, or only through the map */
        unsigned align; /* a power of 2 that it must be a multiple of */
        int value_slot; /* the parameter that takes a factor by value, or NONE */
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

/* MC_CANNOT where KERNEL cannot take PROBLEM, whatever its fields promise: grids and sums have limits. */
mc_status plan_launch_make(const mc_context *context, const plan_problem *problem, const mc_kernel *kernel,
                           const matrix_packing *packing, plan_launch *launch, mc_diag *diag);

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
};

/* Bytes of the workspace. */
size_t plan_workspace_bytes(const mc_plan *plan);

#endif
