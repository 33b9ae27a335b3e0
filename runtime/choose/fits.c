/* Whether a kernel takes a problem: mc_bind is asked, before there is anything to bind. */
#include "choose/fits.h"
#include <string.h>
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

mc_status kernel_fits(const mc_kernel *kernel, const plan_problem *problem, mc_diag *diag) {
    const mc_contract *c = mc_kernel_contract(kernel);
    /* Counts that only packing tells, of items for one: never more than there are vectors. */
    int64_t counts = at_least(1, problem->features.vectors);
    binding_set list = {.count = 0};
    mc_launch launch;
    mc_status status = plan_problem_check(problem, kernel, diag);
    if (status != MC_OK) return status;
    add_sizes(&list, problem);
    for (size_t i = 0; i < c->array_count; i++) add(&list, c->arrays[i].name, 0);
    for (size_t i = 0; i < c->param_count; i++)
        add(&list, c->params[i].name, c->params[i].kind == MC_PARAM_SHAPE ? counts : 0);
    for (int i = 0; i < 3; i++)
        if (c->grid[i].dim != NULL) add(&list, c->grid[i].dim, counts);
    return mc_bind(kernel, list.items, list.count, &launch, diag);
}
