/* Whether a kernel takes a problem: mc_bind is asked, before there is anything to bind. */
#include "choose/fits.h"
#include <string.h>
#include "ops/operator.h"
#include "problem/binding_set.h"

/* The first one with a name counts. */
static void add(binding_set *list, const char *name, int64_t value) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return;
    if (list->count < MOST_BINDINGS) bind_value(list, name, value);
}

static int64_t at_least(int64_t least, int64_t value) { return value > least ? value : least; }

/* Sizes of 0 launch nothing, which is the plan's business: here they stand for the smallest ones. */
static void add_sizes(binding_set *list, const plan_problem *problem) {
    plan_problem least = *problem;
    least.m = at_least(problem->vec, problem->m);
    least.n = at_least(1, problem->n);
    bind_sizes(list, &least);
}

/* Bytes of which KERNEL wants the addresses of the array NAME to be multiples. */
static unsigned wanted_align(const mc_contract *c, const char *name) {
    for (size_t i = 0; i < c->param_count; i++)
        if (c->params[i].kind == MC_PARAM_ARRAY && strcmp(c->params[i].name, name) == 0)
            return c->params[i].align;
    for (size_t i = 0; i < c->map_count; i++)
        if (strcmp(c->maps[i].array, name) == 0) return MC_TENSOR_MAP_ALIGN;
    return 1;
}

/* A product's kernels have no field for what A and B are multiples of. */
static mc_status check_addresses(const mc_contract *c, const plan_problem *problem, mc_diag *diag) {
    const mc_operator *o = operator_of(problem->op);
    for (size_t i = 0; i < o->operand_count; i++) {
        const operand_row *operand = &o->operands[i];
        if (operand->kind != OPERAND_DENSE || !operand_is_there(problem, operand)) continue;
        unsigned wanted = wanted_align(c, operand->name);
        unsigned element = (unsigned)mc_type_bytes(operand_element(problem, operand));
        if (wanted > problem->align && wanted > element)
            return mc_fail(diag, MC_CANNOT, "%s is read or written at multiples of %u bytes, align is %u",
                           operand->name, wanted, problem->align);
    }
    return MC_OK;
}

mc_status kernel_fits(const mc_kernel *kernel, const plan_problem *problem, mc_diag *diag) {
    const mc_contract *c = mc_kernel_contract(kernel);
    /* Counts that only packing tells, of items for one: never more than there are vectors. */
    int64_t counts = at_least(1, problem->features.vectors);
    binding_set list = {.count = 0};
    mc_launch launch;
    mc_status status = plan_problem_check(problem, kernel, diag);
    if (status == MC_OK) status = check_addresses(c, problem, diag);
    if (status != MC_OK) return status;
    add_sizes(&list, problem);
    for (size_t i = 0; i < c->array_count; i++) add(&list, c->arrays[i].name, 0);
    for (size_t i = 0; i < c->param_count; i++)
        add(&list, c->params[i].name, c->params[i].kind == MC_PARAM_SHAPE ? counts : 0);
    for (int i = 0; i < 3; i++)
        if (c->grid[i].dim != NULL) add(&list, c->grid[i].dim, counts);
    return mc_bind(kernel, list.items, list.count, &launch, diag);
}
