/* The seeds' attention as three operators: scores = SDDMM(Q, K^T) at a mask, a softmax of its rows, and an SpMM
 * with V. Each is one launch for all products (batch x heads), which have one mask; what one writes the next reads,
 * in the order srbcrs32. The precisions are Magicube's: bits of the softmax's output - bits of Q, K and V. */
#ifndef TESTS_GPU_ATTENTION_CHAIN_H
#define TESTS_GPU_ATTENTION_CHAIN_H

#include "mcrt_internal.h"

enum { ATTENTION_VEC = 8 };

typedef struct attention_precision {
    const char *name;
    mc_type qkv, p; /* of Q, K and V; of the softmax's output */
    int levels;     /* the output's number that stands for 1; 0: floats */
    bool own_scale; /* which the softmax is told, since its type has greater ones */
} attention_precision;

extern const attention_precision attention_precisions[];
enum { ATTENTION_PRECISIONS = 5 };

typedef struct attention_shape {
    const attention_precision *precision;
    int64_t batch, heads, length, depth;
    double sparsity;
    int64_t band;
    mc_exp exp;
    mc_tuning tuning;
} attention_shape;

typedef enum attention_step { STEP_SCORES, STEP_SOFTMAX, STEP_MIX, STEPS } attention_step;
extern const char *const attention_step_names[STEPS];
typedef enum attention_operand { OF_Q, OF_K, OF_V, OF_SCORES, OF_P, OF_OUT, OPERANDS } attention_operand;

typedef struct attention {
    attention_shape shape;
    int64_t products;
    mc_context *context;
    mc_vsparse mask; /* of the type of P */
    mc_matrix *matrix;
    mc_plan *plans[STEPS];
    int64_t elements;         /* of a product's scores, padding included */
    mc_dense given[OF_V + 1]; /* Q, K and V of all products, one below the other */
    mc_address at[OPERANDS];
} attention;

/* Mask and operands, on the device too, and a plan for each step. The caller closes also after a failure. */
mc_status attention_open(attention *t, mc_context *context, const attention_shape *shape, mc_diag *diag);
void attention_close(attention *t);
/* The problem of STEP, as plans have it. */
mc_plan_config attention_config(const attention *t, attention_step step);
/* PLAN, which the attention then owns, becomes that of STEP. */
void attention_take_plan(attention *t, attention_step step, mc_plan *plan);
/* Puts PLAN, one of STEP, on STREAM. */
mc_status attention_execute(const attention *t, const mc_plan *plan, attention_step step, void *stream,
                            mc_diag *diag);
/* Fills scores, P and the output with what no step leaves there. */
mc_status attention_poison(const attention *t, mc_diag *diag);
/* MC_MISMATCH where a step did not make of what it read what its reference makes, of PRODUCT. */
mc_status attention_check(const attention *t, int64_t product, mc_diag *diag);
/* How far the output of some rows of PRODUCT is from attention in float64, at most; MC_MISMATCH beyond what steps
   of P allow. */
mc_status attention_error(const attention *t, int64_t product, double *most, mc_diag *diag);

/* Bytes on the device, of all products: Q, K, V and the output; and what is between, with the mask's arrays. */
int64_t attention_operand_bytes(const attention *t);
int64_t attention_between_bytes(const attention *t);

#endif
