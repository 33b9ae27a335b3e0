/* An operator as data: what it takes and gives, which members its problems have, what it computes. Plans, tuning,
   records, mcrun and the bench know operators by their rows here; only an operator's own folder knows its name.
   How a kernel solves the problem is the generator's business (gen/ops/NAME). */
#ifndef MCRT_OPERATOR_H
#define MCRT_OPERATOR_H

#include "ops/members.h"
#include "ops/reference.h"

enum { MAX_OPERANDS = 8 };

typedef enum operand_kind {
    OPERAND_DENSE,   /* rows x cols elements, rows `ld` elements apart */
    OPERAND_SAMPLED, /* an element for each of the sparse matrix's, in the problem's `order` */
    OPERAND_VALUES, /* the sparse matrix's elements, in the order MC_ORDER_SRBCRS32, where the problem has given_values */
    OPERAND_FACTOR /* scale or bias, f32: one by value, or one for each row or column of the output */
} operand_kind;

/* What an execution passes the address of. The sparse matrix is none of these: the plan packs it. */
typedef struct operand_row {
    const char *name; /* of the kernel's parameter, and of mcrun's option; in capitals where people read */
    operand_kind kind;
    bool out;                      /* the one that is written, the last in the list */
    problem_member type;           /* of its elements; NO_MEMBER: f32 */
    problem_member rows, cols, ld; /* DENSE */
    problem_member stride;         /* from a product of a batch to the next; NO_MEMBER: all have the same */
    bool by_layout;                /* it is stored by columns where the problem's layout says so */
    problem_member per;            /* FACTOR: what there is one for */
    size_t argument;               /* where mc_args has its address; 0: only in its list */
    void (*fill)(float *values, int64_t count, mc_value_law law, uint64_t seed); /* FACTOR: random ones */
} operand_row;

/* A problem with its operands in host memory. inputs and factors are by place in the operator's list; what the
   problem has not is NULL. */
typedef struct host_operands {
    const plan_problem *problem;
    const mc_vsparse *matrix;
    const mc_dense *inputs[MAX_OPERANDS];
    const float *factors[MAX_OPERANDS]; /* operand_factors of each */
} host_operands;

typedef struct mc_operator {
    mc_op op;
    const char *name;  /* "spmm": of specs, of the generator's family, of mcrun's command */
    const char *title; /* "SpMM" */
    uint64_t members;  /* HAS(lhs) | ... */
    /* The sparse matrix: its rows and columns are these sizes; its elements have the type of this member, or
       (NO_MEMBER) count only where values_if is set, and are then of f32. Where none is wanted, mcrun tune and mcbench
       take sizes from the shapes of matrices all the same. */
    struct {
        bool wanted;
        const char *title;    /* "A" */
        const char *argument; /* of mcrun: "MATRIX" */
        problem_member type, rows, cols, values_if;
    } matrix;
    problem_member size; /* that no matrix gives: what tuning and the bench vary */
    const operand_row *operands;
    size_t operand_count;
    bool estimates; /* the generator has a model of its kernels' times */
    /* Types and choices that there are kernels for; MATRIX is the sparse matrix's type. */
    mc_status (*check)(const plan_problem *problem, mc_type matrix, mc_diag *diag);
    /* The exact result before it is brought into its type: of all rows, or of the row blocks in the operands. A
       DENSE output has sums in its own shape, a SAMPLED one vectors x vec. Created by the call. */
    mc_status (*sums)(const host_operands *operands, mc_dense *sums, mc_diag *diag);
    /* The output, bit for bit, that must come of SUMS. Created by the call. */
    mc_status (*finish)(const host_operands *operands, const mc_dense *sums, mc_dense *out, mc_diag *diag);
} mc_operator;

/* -- The list (operators.c) */

const mc_operator *operator_of(mc_op op);            /* NULL: there is none */
const mc_operator *operator_named(const char *name); /* NULL: there is none */
const mc_operator *operator_at(size_t index);        /* NULL: that is all */

/* -- What follows from a row */

static inline bool operator_has(const mc_operator *o, problem_member member) {
    return member != NO_MEMBER && (o->members >> member & 1) != 0;
}
const operand_row *operator_out(const mc_operator *o);
/* The place of the operand NAME in the list; -1: there is none. */
int operator_operand(const mc_operator *o, const char *name);
/* Its name as people write it: "B". */
enum { OPERAND_TITLE = 16 };
void operand_title(const operand_row *operand, char title[OPERAND_TITLE]);
/* Type, rows, cols and ld of a DENSE operand as it is stored, without data. */
mc_dense operand_shape(const plan_problem *problem, const operand_row *operand);
mc_per operand_per(const plan_problem *problem, const operand_row *operand); /* NONE: it is no factor */
/* How many factors there are; 0: none. */
int64_t operand_factors(const plan_problem *problem, const operand_row *operand);
mc_output operator_output(const plan_problem *problem);
/* Whether the output has an element. */
bool operator_gives(const mc_operator *o, const plan_problem *problem);
/* The shape of one product's OPERAND, none of FACTOR, as it is stored. data is NULL. MC_CANNOT where a SAMPLED one's or
   VALUES' slots leave s32. */
mc_status operand_whole_shape(const plan_problem *problem, const operand_row *operand,
                              const mc_vsparse *matrix, mc_dense *shape, mc_diag *diag);
/* The output's shape, as it is stored; its elements without gaps. data is NULL. MC_CANNOT where a SAMPLED one's
   slots leave s32. */
mc_status operator_out_shape(const mc_operator *o, const plan_problem *problem, const mc_vsparse *matrix,
                             mc_dense *shape, mc_diag *diag);

/* -- Checks that operators share */

/* MC_CANNOT where TYPE, of the operand that messages call WHO, is no integer of 4 to 16 bits. */
mc_status check_integer(const char *who, mc_type type, mc_diag *diag);
/* What a product of integers can give beside s32 and the reals. */
typedef struct output_types {
    bool s64, bytes; /* bytes: s8 and u8, with a scale */
} output_types;
mc_status check_product_output(const mc_operator *o, const plan_problem *problem, output_types types,
                               mc_diag *diag);

#endif
