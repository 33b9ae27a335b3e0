/* What mma.sync of floats and mma.sp share (exec_mma_float.c). */
#ifndef SIM_EXEC_MMA_H
#define SIM_EXEC_MMA_H

#include "exec.h"

enum { SIM_MMA_COLUMNS = 8, SIM_MMA_ROWS = 16, SIM_MMA_DEPTH = 64 };

/* A's rows, or B's columns, each element with the exponent that its field says. */
struct sim_operand {
    double value[SIM_MMA_ROWS][SIM_MMA_DEPTH];
    int exponent[SIM_MMA_ROWS][SIM_MMA_DEPTH];
};

/* A sum's format, how many products it has, and how many of them a step adds. */
struct sim_sum_rule {
    unsigned type;
    int depth, step;
    bool c_last; /* C is not in the first step, but added at the end */
};

/* The rule of DEPTH products of elements of type A_TYPE. */
struct sim_sum_rule sim_sum_rule_of(unsigned a_type, unsigned type, int depth);

/* Where a sum has element I of LANE's register of chunk CHUNK, of elements of so many BITS. */
int sim_mma_place(int bits, int depth, int chunk, int lane, int i);

/* Adds an element to TO: BITS of a type. */
void sim_mma_put(struct sim_operand *to, int row, int at, unsigned type, uint32_t bits);

/* The element of D at ROW of A and COLUMN of B, as bits, of C's bits. */
uint32_t sim_mma_element(const struct sim_operand *a, int row, const struct sim_operand *b, int column,
                         uint32_t c, const struct sim_sum_rule *rule);

#endif
