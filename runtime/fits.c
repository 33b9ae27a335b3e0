/* Whether a kernel takes a problem: mc_bind is asked, before there is anything to bind. */
#include "fits.h"
#include <string.h>

enum { MOST_BINDINGS = 8 + MC_MAX_PARAMS + MC_MAX_ARRAYS + 3 };

typedef struct bindings {
    mc_binding items[MOST_BINDINGS];
    size_t count;
} bindings;

/* The first one with a name counts. */
static void add(bindings *list, const char *name, int64_t value) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return;
    if (list->count < MOST_BINDINGS) list->items[list->count++] = (mc_binding){name, value};
}

static int64_t at_least(int64_t least, int64_t value) { return value > least ? value : least; }

/* Sizes of 0 launch nothing, which is the plan's business: here they stand for the smallest ones. */
static void add_shapes(bindings *list, const plan_problem *p) {
    add(list, "m", at_least(p->vec, p->m));
    add(list, "n", at_least(1, p->n));
    add(list, "k", p->k);
    add(list, "lda", p->lda);
    add(list, "ldb", p->ldb);
    add(list, "ldc", p->ldc);
}

mc_status kernel_fits(const mc_kernel *kernel, const plan_problem *problem, mc_diag *diag) {
    const mc_contract *c = mc_kernel_contract(kernel);
    /* Counts that only packing tells, of items for one: never more than there are vectors. */
    int64_t counts = at_least(1, problem->features.vectors);
    bindings list = {0};
    mc_launch launch;
    add_shapes(&list, problem);
    for (size_t i = 0; i < c->array_count; i++) add(&list, c->arrays[i].name, 0);
    for (size_t i = 0; i < c->param_count; i++)
        add(&list, c->params[i].name, c->params[i].kind == MC_PARAM_SHAPE ? counts : 0);
    for (int i = 0; i < 3; i++)
        if (c->grid[i].dim != NULL) add(&list, c->grid[i].dim, counts);
    return mc_bind(kernel, list.items, list.count, &launch, diag);
}
