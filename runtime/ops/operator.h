/* An operator as data: what it takes and gives, which members its problems have, what it computes. Plans,
   tuning, records, mcrun and mcbench know an operator by its row here. Only the operator's own folder knows
   its name. How a kernel solves the problem is the generator's business (gen/ops/NAME). */
#ifndef MCRT_OPERATOR_H
#define MCRT_OPERATOR_H

#include <string.h>
#include "ops/members.h"
#include "ops/reference.h"

enum { MAX_OPERANDS = 11 };

typedef enum operand_kind {
    OPERAND_DENSE,   /* rows x cols elements; a row begins `ld` elements behind the one before */
    OPERAND_SAMPLED, /* an element for each one of the sparse matrix, in the problem's `order`: in or out */
    /* the sparse matrix's own elements, in the order MC_ORDER_SRBCRS32 */
    OPERAND_VALUES,
    /* scale, bias or the like, f32: one by value, or one for each row or column of a matrix of m x n */
    OPERAND_FACTOR
} operand_kind;

/* An operand: what an execution passes the address of. The sparse matrix is none, since the plan packs it. */
typedef struct operand_row {
    const char *name; /* of the kernel's parameter and of mcrun's option; people read it in capitals */
    operand_kind kind;
    bool out; /* the operand that is written, which is the last in the list */
    /* DENSE: it is read and written at one address. It is an input, and a further output where it is not the
       last in the list */
    bool in_place;
    bool magnitudes;               /* DENSE: random elements have no signs */
    problem_member type;           /* the member that is its elements' type; NO_MEMBER: f32 */
    problem_member rows, cols, ld; /* DENSE; ld NO_MEMBER: rows without gaps */
    problem_member only_if;        /* it is there only where this member is set; NO_MEMBER: always */
    int least;                     /* and only where that is at least this */
    problem_member stride;         /* from a product of a batch to the next; NO_MEMBER: all have the same */
    bool by_layout;                /* it is stored by columns if the problem's layout says so */
    /* DENSE: so many rows, or columns, have one element, the last ones what is left; 0: each its own */
    int row_block, col_block;
    problem_member major; /* DENSE: the member that says so, an mc_major; NO_MEMBER: none */
    /* DENSE: where it lies by columns plans may transpose it first, and take a kernel that reads rows
       (problem/transpose.h, plan/columns.c) */
    bool transposed;
    /* DENSE, by_layout: kernels read it by rows where its elements have so many bytes or more; smaller ones
       plans transpose first, too. 0: kernels read any */
    size_t rows_from;
    /* DENSE, by_layout: where the problem has a pattern kernels read columns that are as much longer
       (matrix/slide24.h): plans make these first. DENSE, else: its rows are the longer ones */
    bool spread;
    bool early;         /* DENSE: a kernel that begins early may read it before the one ahead has ended */
    problem_member per; /* FACTOR: the member that says what there is one for */
    int count;          /* FACTOR: not 0: there are so many instead, in an array */
    /* FACTOR: the member that, where it is set, makes it a further output: the kernel computes it, and writes
       an array also where that has one element. With a sparse matrix that goes with a SAMPLED input or
       output */
    problem_member computed;
    size_t argument; /* offset of its address in mc_args; 0: only the list of mc_args has it */
    /* FACTOR: makes random ones */
    void (*fill)(float *values, int64_t count, mc_value_law law, uint64_t seed);
} operand_row;

/* An operand's gradient, as another operator computes it, on a matrix of the same pattern; for bindings that
   differentiate (mc_describe.h). It has rows where the output is the operator's plain result. */
enum { GRADIENT_INPUTS = 3 };
typedef struct gradient_input {
    const char *name; /* of that operator's operand */
    const char *from; /* the operand here, the output too; NULL: the output's gradient */
    bool transposed;
} gradient_input;
typedef struct gradient_row {
    const char *of; /* the operand here; VALUES: also of the matrix's own */
    /* The operator's name; NULL: the operand is added to the result, and its gradient is the output's, a
       factor's the sum over what there is one for */
    const char *by;
    bool transposed;
    uint64_t same;                          /* members that have the same value there: HAS(scale) | ... */
    problem_member set;                     /* a member that is set there; NO_MEMBER: none */
    gradient_input inputs[GRADIENT_INPUTS]; /* the last ones may be empty */
} gradient_row;

/* A problem with its operands in host memory. inputs and factors stand at the operand's index in the
   operator's list. What the problem has not is NULL. */
typedef struct host_operands {
    const plan_problem *problem;
    const mc_vsparse *matrix;
    const mc_dense *inputs[MAX_OPERANDS];
    const float *factors[MAX_OPERANDS]; /* operand_factors elements each */
} host_operands;

/* A size by a name of its own: which member it is, depends on the problem. */
typedef struct size_alias {
    const char *name, *help;
    problem_member (*member)(const plan_problem *problem);
} size_alias;

typedef struct mc_operator {
    mc_op op;
    const char *name; /* "spmm": in specs, of the generator's family, of mcrun's command */
    /* Lines of a spec that is made of types alone, where the fields' defaults do not suit all of them; NULL:
       none. `other_spec`: those for what no kernel of `spec` computes */
    const char *spec, *other_spec;
    const char *title; /* "SpMM" */
    uint64_t members;  /* HAS(lhs) | ... */
    /* The sparse matrix. Its rows and columns are these members. Its elements have the type of the member
       `type`; where that is NO_MEMBER they count only if values_if is set, and are then of f32. Where an
       operator wants no matrix, mcrun tune and mcbench take sizes from the shapes of matrices all the
       same. */
    struct {
        bool wanted;
        const char *title;    /* "A" */
        const char *argument; /* what mcrun's help calls it: "MATRIX" */
        problem_member type, rows, cols, values_if;
    } matrix;
    /* The operator that computes the same of the matrix with its zeros, and its operand that this is; plans
       may take it (mc_dense_policy). What both have, members and operands, has one name. NULL: none */
    struct {
        const char *by, *operand;
        /* Of a C by columns its transpose is computed, B^T A^T: the matrix is then the operand `turned`, and
           what has that name here is `operand`. NULL: it is not */
        const char *turned;
    } dense;
    /* The size that no matrix gives, which tuning and mcbench vary; `batch`, always 1: there is none */
    problem_member size;
    const operand_row *operands;
    size_t operand_count;
    bool estimates;   /* the generator has a model of its kernels' times */
    bool two_of_four; /* its matrix is 2:4 sparse, of vectors of one row */
    bool csr;         /* there are kernels of it that read CSR as it comes (formats/csr.h) */
    bool some_k;      /* its kernels want a k of 1 and more */
    bool coarse;      /* sums of floats of 8 bits keep 13 bits (docs/gemm.md); others' are in f32 */
    /* With one type on both sides, and nothing else asked for, its output is its first operand transposed: of
       elements of 1, 2 and 4 bytes as integers of that size */
    bool transposes;
    bool spreads; /* its output is its first operand with spans as groups, of elements of 1 and 2 bytes */
    /* Refuses types and choices that there are no kernels for. MATRIX is the type of the sparse matrix. */
    mc_status (*check)(const plan_problem *problem, mc_type matrix, mc_diag *diag);
    /* Computes the reference's sums, before they are brought into C's type: of all rows, or of the row blocks
       that are in the operands. A DENSE output has sums in its own shape, a SAMPLED one vectors x vec. The
       call creates SUMS. */
    mc_status (*sums)(const host_operands *operands, mc_dense *sums, mc_diag *diag);
    /* Whether one result alone is right; NULL: where sums are exact. */
    bool (*exact)(const plan_problem *problem);
    /* Computes how far a kernel's sums may be from SUMS, in their shape; not called where they are exact. The
       call creates BOUNDS. NULL: the operator has exact sums only. */
    mc_status (*bounds)(const host_operands *operands, mc_dense *bounds, mc_diag *diag);
    /* Computes the output, bit for bit, that must come of SUMS. The call creates OUT. */
    mc_status (*finish)(const host_operands *operands, const mc_dense *sums, mc_dense *out, mc_diag *diag);
    /* Computes what the output may be for SUMS that have a range, which operators with bounds have. The call
       creates WANT. */
    mc_status (*range)(const host_operands *operands, const sum_range *sums, reference_result *want,
                       mc_diag *diag);
    /* Computes what operand INDEX, a further output, must be; factors are one row. The call creates OUT,
       which the caller frees, also where it fails. NULL: there never is one. */
    mc_status (*other)(const host_operands *operands, const mc_dense *sums, size_t index,
                       reference_result *out, mc_diag *diag);
    /* Sets MULTIPLIED to the matrix with those zeros beside its elements that KERNEL multiplies by an
       infinity or a NaN of the operands; leaves it empty where there are none. NULL: there never are */
    mc_status (*multiplied)(const mc_kernel *kernel, const host_operands *operands, mc_vsparse *multiplied,
                            mc_diag *diag);
    /* Gradients of operands, all of the same real types, where none of the members of PLAIN is set */
    const gradient_row *gradients;
    size_t gradient_count;
    uint64_t plain;
    /* Sizes that mcrun also knows by names of the field; NULL: none. The list ends in a row without name. */
    const size_alias *aliases;
} mc_operator;

/* -- The list (operators.c) */

const mc_operator *operator_of(mc_op op);            /* NULL: there is none */
const mc_operator *operator_named(const char *name); /* NULL: there is none */
const mc_operator *operator_at(size_t index);        /* NULL: that is all */
const mc_operator *operator_transposing(void);       /* the one that transposes */
const mc_operator *operator_spreading(void);         /* the one that spreads */

/* -- What follows from a row */

/* What stands before its title: "an" SpMM, "a" gemm. */
static inline const char *operator_article(const mc_operator *o) {
    return strchr("SAEIOaeio", o->title[0]) != NULL ? "an" : "a";
}
static inline bool operator_has(const mc_operator *o, problem_member member) {
    return member != NO_MEMBER && (o->members >> member & 1) != 0;
}
const operand_row *operator_out(const mc_operator *o);
/* Refuses a k of 0 where kernels want some. */
mc_status operator_check_k(const mc_operator *o, int64_t k, mc_diag *diag);
/* The index of the operand NAME in the list; -1: there is none. */
int operator_operand(const mc_operator *o, const char *name);
/* An operand's name as people write it: "B". */
enum { OPERAND_TITLE = 16 };
void operand_title(const operand_row *operand, char title[OPERAND_TITLE]);
mc_type operand_element(const plan_problem *problem, const operand_row *operand);
/* Whether a DENSE operand has one element for several rows or columns; it comes behind those that have one
   for each. */
static inline bool operand_has_blocks(const operand_row *operand) {
    return operand->row_block > 0 || operand->col_block > 0;
}
/* Rows, and columns, of a DENSE operand, whichever way it is stored. */
int64_t operand_rows(const plan_problem *problem, const operand_row *operand);
int64_t operand_cols(const plan_problem *problem, const operand_row *operand);
/* Type, rows, cols and ld of a DENSE operand, as it is stored. data is NULL. */
mc_dense operand_shape(const plan_problem *problem, const operand_row *operand);
/* Whether a DENSE operand is stored by columns. */
bool operand_is_turned(const plan_problem *problem, const operand_row *operand);
/* Whether OPERAND may lie by columns where kernels read rows, so that plans transpose it. */
bool operand_is_transposed(const operand_row *operand);
/* Whether OPERAND, once it lies by columns, has spans that kernels read as groups: plans then spread it. */
bool operand_wants_spreading(const plan_problem *problem, const operand_row *operand);
/* Whether OPERAND lies otherwise than kernels read it, by columns or by rows, so that plans transpose it. */
bool operand_wants_pass(const plan_problem *problem, const operand_row *operand);
/* Whether OPERAND is there, by its only_if, of VALUE, and least. */
static inline bool operand_is_there_with(const operand_row *operand, int64_t value) {
    return operand->only_if == NO_MEMBER || (value != 0 && value >= operand->least);
}
bool operand_is_there(const plan_problem *problem, const operand_row *operand);
/* Whether LD is the leading dimension of an operand that is not there. */
bool operator_lacks_ld(const mc_operator *o, const plan_problem *problem, problem_member ld);
/* What there is a factor for; NONE: OPERAND is no factor. */
mc_per operand_per(const plan_problem *problem, const operand_row *operand);
/* Whether OPERAND is a factor, and there are any. */
bool operand_has_factors(const plan_problem *problem, const operand_row *operand);
/* How many scales or biases OPERAND has; 0: none. */
int64_t operand_factors(const plan_problem *problem, const operand_row *operand);
/* Whether OPERAND is a factor that the kernel computes. */
bool operand_is_computed(const plan_problem *problem, const operand_row *operand);
/* Whether OPERAND holds values before a launch. */
bool operand_is_input(const operand_row *operand);
/* Whether OPERAND is a further output: a factor that the kernel computes, or one in place. */
bool operand_is_other(const plan_problem *problem, const operand_row *operand);
/* Makes random elements of DENSE, OPERAND or rows of it. */
void operand_fill(const operand_row *operand, mc_dense *dense, uint64_t seed);
/* Whether OPERAND is a factor that is passed as an array, not by value. */
bool operand_is_factors(const plan_problem *problem, const operand_row *operand);
mc_output operator_output(const plan_problem *problem);
/* Whether the output has any element. */
bool operator_gives(const mc_operator *o, const plan_problem *problem);
/* The shape of one product's OPERAND as it is stored; factors are one row. data is NULL. MC_CANNOT where the
   slots of a SAMPLED operand, or of VALUES, leave s32. */
mc_status operand_whole_shape(const plan_problem *problem, const operand_row *operand,
                              const mc_vsparse *matrix, mc_dense *shape, mc_diag *diag);
/* The shape of the output as it is stored, without gaps. data is NULL. MC_CANNOT where the slots of a SAMPLED
   output leave s32. */
mc_status operator_out_shape(const mc_operator *o, const plan_problem *problem, const mc_vsparse *matrix,
                             mc_dense *shape, mc_diag *diag);

/* Whether PROBLEM has exact sums, and so one right result. */
bool operator_is_exact(const mc_operator *o, const plan_problem *problem);
/* A kernel's sums, exactly or in their range; and what the output must be that comes of these. The calls
   create SUMS and WANT. */
mc_status operator_sums(const mc_operator *o, const host_operands *operands, sum_range *sums, mc_diag *diag);
mc_status operator_finish(const mc_operator *o, const host_operands *operands, const sum_range *sums,
                          reference_result *want, mc_diag *diag);
/* Both: what a kernel's output must be, exactly or within bounds. */
mc_status operator_expect(const mc_operator *o, const host_operands *operands, reference_result *want,
                          mc_diag *diag);
/* MC_MISMATCH where OUT, which KERNEL made of OPERANDS, is not as WANT, what operator_expect says, but for
   infinities and NaNs that KERNEL multiplies by zeros: these are expected then. */
mc_status operator_judge(const mc_operator *o, const mc_kernel *kernel, const host_operands *operands,
                         const reference_result *want, const mc_dense *out, mc_diag *diag);
/* What a kernel must make of operand INDEX, a further output. The call creates WANT. */
mc_status operator_expect_other(const mc_operator *o, const host_operands *operands, size_t index,
                                reference_result *want, mc_diag *diag);

/* -- Checks that operators share */

/* MC_CANNOT where values of a product's sides cannot have the types of PROBLEM's lhs and rhs, or not
   together: MIXED allows small integers by floats. Messages call these operands LHS and RHS. */
mc_status check_product_sides(const char *lhs, const char *rhs, bool mixed, const plan_problem *problem,
                              mc_diag *diag);
/* What a product can give beside the reals. Sums of integers give s32, too. */
typedef struct output_types {
    bool s64, bytes, pairs; /* s64: of integers. bytes: s8 and u8; pairs: s4 and u4; both want a scale */
} output_types;
mc_status check_product_output(const mc_operator *o, const plan_problem *problem, output_types types,
                               mc_diag *diag);
/* MC_USAGE where a second scale, C's own scale or its zero point do not go with C's type. */
mc_status check_product_factors(const plan_problem *problem, mc_diag *diag);

/* -- Random factors of products: `fill` of an operand, as mc_scale_fill */

/* C's own scale: of sums that scales and biases have made numbers. */
void operand_fill_c_scale(float *scale, int64_t count, mc_value_law law, uint64_t seed);
/* Scales of tokens, beside scales that suit the sums. */
void operand_fill_b_scale(float *scale, int64_t count, mc_value_law law, uint64_t seed);

#endif
