/* What the parts of product_test are made of. */
#ifndef TESTS_PRODUCT_H
#define TESTS_PRODUCT_H

#include "choices.h"

typedef struct bench bench;

/* Tries the kernel of SETTINGS on all shapes of the bench USER. */
choice_try product_try;
/* Every STEP-th combination of CHOICES, an array. */
#define TRY(t, step, choices)                                                                                \
    choices_try_all(choices, sizeof(choices) / sizeof *(choices), step, product_try, t)

/* From now on problems have few columns. */
void product_take_few_columns(bench *t);
/* From now on k is odd, and takes several stages of 4 bits. */
void product_take_odd_depths(bench *t);

/* From now on there are problems of all numbers of tiles that thread blocks may have. */
void product_take_stream(bench *t);

/* The parts of product_wgmma.c. */
void product_types(bench *t);
void product_tiles(bench *t);
void product_rows(bench *t);
void product_outputs(bench *t);
void product_split(bench *t);
void product_stream(bench *t);
void product_sums(bench *t);
void product_blocks(bench *t);
void product_batches(bench *t);

/* The parts of product_mma.c. */
void product_mma_types(bench *t);
void product_mma_words(bench *t);
void product_mma_fours(bench *t);
void product_mma_tiles(bench *t);
void product_mma_rows(bench *t);
void product_mma_outputs(bench *t);
void product_mma_sparse(bench *t);
void product_mma_sums(bench *t);
void product_mma_batches(bench *t);

#endif
