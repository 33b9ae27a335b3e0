/* A product whose A is borrowed: CSR in device memory that is counted. */
#ifndef TEST_BORROWED_H
#define TEST_BORROWED_H

#include <stdatomic.h>
#include "device_matrix.h"

/* Blocks that the context has asked for, and those that it has not given back. */
extern atomic_int borrowed_allocations, borrowed_held;
mc_address borrowed_allocate(void *user, size_t bytes);
void borrowed_release(void *user, mc_address address);

typedef struct borrowed_product {
    product p;
    mc_csr_config csr;
} borrowed_product;

/* Arrays begin at no more than what an element wants, and hold nothing yet. A is of SHAPE, NULL: as KIND says. */
bool borrowed_open_shape(borrowed_product *b, const product_kind *kind, const device_shape *shape,
                         uint64_t seed);
bool borrowed_open(borrowed_product *b, const product_kind *kind, uint64_t seed);
void borrowed_write_pattern(const borrowed_product *b);
void borrowed_write_values(const borrowed_product *b);

bool plan_has_field(const mc_plan *plan, const char *field);
/* The kernel's parameter NAME. */
uint64_t plan_launched(const mc_plan *plan, const char *name);
/* It reads these very arrays. */
void borrowed_check_plan(const borrowed_product *b);

#endif
