#include "borrowed.h"
#include <stdlib.h>
#include "plan/plan.h"

/* -- Device memory, counted */

atomic_int borrowed_allocations, borrowed_held;

mc_address borrowed_allocate(void *user, size_t bytes) {
    mc_address address = 0;
    (void)user;
    borrowed_allocations++;
    borrowed_held++;
    return mc_memory_create(context, bytes, &address, NULL) == MC_OK ? address : 0;
}

void borrowed_release(void *user, mc_address address) {
    (void)user;
    borrowed_held--;
    mc_memory_destroy(context, address);
}

/* -- Products of a borrowed matrix */

void borrowed_write_pattern(const borrowed_product *b) {
    const mc_vsparse *host = &b->p.host;
    int32_t *offsets = malloc((size_t)(host->rows + 1) * sizeof *offsets);
    for (int64_t i = 0; i <= host->rows; i++) offsets[i] = (int32_t)host->row_ptr[i];
    (void)worked("row_ptr", mc_memory_write(context, b->csr.row_ptr, offsets,
                                            (size_t)(host->rows + 1) * sizeof *offsets, diag));
    if (host->vectors > 0)
        (void)worked("col_idx", mc_memory_write(context, b->csr.col_idx, host->col_idx,
                                                (size_t)host->vectors * sizeof *host->col_idx, diag));
    free(offsets);
}

void borrowed_write_values(const borrowed_product *b) {
    const mc_vsparse *host = &b->p.host;
    if (host->vectors > 0)
        (void)worked("values", mc_memory_write(context, b->csr.values, host->values,
                                               (size_t)mc_type_size(host->type, host->vectors), diag));
}

/* Arrays begin at no more than what an element wants, and hold nothing yet. A is of SHAPE, NULL: as KIND says. */
bool borrowed_open_shape(borrowed_product *b, const product_kind *kind, const device_shape *shape,
                         uint64_t seed) {
    if (!product_open(&b->p, context, kind, seed)) return false;
    if (shape != NULL) {
        mc_vsparse_free(&b->p.host);
        b->p.host = device_make_host(kind->type, 1, shape);
        device_fill(&b->p.host, seed, 0);
    }
    const mc_vsparse *host = &b->p.host;
    mc_matrix_destroy(b->p.matrix);
    b->p.matrix = b->p.config.matrix = NULL;
    b->csr = (mc_csr_config){.size = sizeof b->csr,
                             .type = host->type,
                             .rows = host->rows,
                             .cols = host->cols,
                             .nonzeros = host->vectors,
                             .row_ptr = product_reserve(&b->p, (host->rows + 1) * 4, 4)};
    if (host->vectors > 0) {
        b->csr.col_idx = product_reserve(&b->p, host->vectors * 4, 12);
        b->csr.values = product_reserve(&b->p, mc_type_size(host->type, host->vectors),
                                        (unsigned)mc_type_bytes(host->type));
    }
    int before = borrowed_allocations;
    if (!worked("mc_matrix_borrow", mc_matrix_borrow(context, &b->csr, &b->p.matrix, diag))) return false;
    b->p.config.matrix = b->p.matrix;
    CHECK(borrowed_allocations == before, "borrowing allocates");
    return true;
}

bool borrowed_open(borrowed_product *b, const product_kind *kind, uint64_t seed) {
    return borrowed_open_shape(b, kind, NULL, seed);
}

bool plan_has_field(const mc_plan *plan, const char *field) {
    mc_plan_info info = {.size = sizeof info};
    return worked("mc_plan_get_info", mc_plan_get_info(plan, &info, diag)) &&
           strstr(info.fields, field) != NULL;
}

/* The kernel's parameter NAME. */
uint64_t plan_launched(const mc_plan *plan, const char *name) {
    const mc_contract *contract = mc_kernel_contract(plan->kernel->kernel);
    for (size_t i = 0; i < contract->param_count; i++)
        if (strcmp(contract->params[i].name, name) == 0) return plan->launch.launch.values[i];
    CHECK(false, "the kernel has no parameter %s", name);
    return 0;
}

/* It reads these very arrays. */
void borrowed_check_plan(const borrowed_product *b) {
    const mc_plan *plan = b->p.plan;
    mc_plan_info info = {.size = sizeof info};
    (void)worked("mc_plan_get_info", mc_plan_get_info(plan, &info, diag));
    if (b->p.config.spec_count == 0)
        CHECK(strcmp(info.spec, "spmm_csr_f32.lua") == 0, "%s: %s", b->p.kind->name, info.spec);
    CHECK(info.dense_reason[0] == '\0', "%s: %s", b->p.kind->name, info.dense_reason);
    CHECK(plan_has_field(plan, "staging=csr") && plan_has_field(plan, "deal=off"), "%s", b->p.kind->name);
    CHECK(plan_launched(plan, "row_ptr") == b->csr.row_ptr, "%s: row_ptr is copied", b->p.kind->name);
    if (b->csr.nonzeros == 0) return;
    CHECK(plan_launched(plan, "col_idx") == b->csr.col_idx, "%s: col_idx is copied", b->p.kind->name);
    CHECK(plan_launched(plan, "values") == b->csr.values, "%s: values are copied", b->p.kind->name);
}
