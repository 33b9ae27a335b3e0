/* The sum that an mma.sync, or a wgmma, of floats gives for an element of D, to the bit, as an H200 (sm_90)
 * computes it. The PTX ISA leaves that open. What is known comes from experiments, which
 * tests/sim/conformance records; docs/floats.md has the rules, docs/simulator.md those of narrower types
 * and of wgmma. The simulator has a version of its own: neither uses the other's, so that they can
 * disagree. */
#ifndef MCRT_MMA_SUM_H
#define MCRT_MMA_SUM_H

#include "base/type.h"

/* The formats that tensor cores know: TF32 in the high 19 bits of 32, the low ones being ignored. */
typedef enum mma_type { MMA_F16, MMA_BF16, MMA_TF32, MMA_E4M3, MMA_E5M2, MMA_F32 } mma_type;

/* A and B have types of one width. sum, of C and D: F32 or, unless A is BF16 or TF32, F16. */
typedef struct mma_form {
    mma_type a, b, sum;
    int k; /* products of a sum: at most MMA_MOST_PRODUCTS, of E4M3 and E5M2 a multiple of 4 */
} mma_form;

enum { MMA_MOST_PRODUCTS = 32 };

/* C + A[0] B[0] + ... + A[k - 1] B[k - 1], of bits and as bits. */
uint32_t mma_sum(const mma_form *form, const uint32_t *a, const uint32_t *b, uint32_t c);

/* The same of a wgmma, which has as many products: all of them are added in one step, and floats of 8 bits
   with fewer bits (docs/gemm.md). */
uint32_t wgmma_sum(const mma_form *form, const uint32_t *a, const uint32_t *b, uint32_t c);

/* The mma that multiplies most values of A by values of B at once; false: there is none. */
bool mma_form_of(mc_type a, mc_type b, mma_form *form);

/* What kernels make of a side's values of type STORED before an mma multiplies them: f16 of floats of 8 bits
   where they have HALVES, others as they are. */
mc_type mma_operand_type(mc_type stored, bool halves);
/* The bits of the operand, of type TYPE, that ELEMENT becomes. Its type STORED may be one of integers. */
uint32_t mma_factor(mc_type stored, mc_type type, int64_t element);

/* X + Y of f32, rounded to nearest even as by add.rn.f32; a NaN is the canonical one, 0x7fffffff. */
uint32_t mma_add_sums(uint32_t x, uint32_t y);
#endif
