/* Operands of a measurement: random values over the whole range of their types, on the host, packed, and on
   the device. */
#include <stdlib.h>
#include <string.h>
#include "base/memory.h"
#include "problem/bind.h"
#include "tune/measurement.h"
#include "tune/pool.h"

enum {
    FILL_ROWS = 1024, /* one piece of work */
    LEAST_GUARD = 4096,
    MOST_GUARD = 1 << 20,
    MOST_SETS = 2048,
    CACHES = 3, /* all sets together are that many times the L2 */
    BUFFER_BYTES = 8 << 20
};

/* Seeds. Each operand has one, by its index in the operator's list; pieces of a dense operand have those that
   follow. */
static const uint64_t seed_matrix = 1, seed_factors = 2, seed_inputs = 1 << 20, seed_step = 1 << 30;

/* -- The matrix */

static bool all_zero(const void *data, size_t bytes) {
    const char *p = data;
    return bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, bytes - 1) == 0);
}

/* The greatest value that every kernel takes. */
static int64_t greatest_value(const measurement *m) {
    mc_type type = m->operands.matrix.type;
    int64_t most = mc_type_max(type);
    for (size_t i = 0; i < m->race->count && m->operator->matrix.type != NO_MEMBER; i++) {
        const tune_kernel *k = &m->kernels[i];
        if (k->state != TUNE_WAITS || k->kernel == NULL) continue;
        int64_t held = mc_pack_most(k->kernel, type);
        if (held < most) most = held;
    }
    return most;
}

static void fill_matrix(measurement *m) {
    mc_vsparse *a = &m->operands.matrix;
    if (m->operator->matrix.type == NO_MEMBER && a->type == MC_F32) { /* a mask's */
        mc_scale_fill(a->values, a->vectors * a->vec, MC_VALUES_FULL, seed_matrix);
        return;
    }
    int64_t most = greatest_value(m);
    mc_vsparse_fill(a, MC_VALUES_FULL, seed_matrix, NULL);
    if (most < mc_type_max(a->type)) mc_vsparse_clamp(a, most);
}

static mc_status copy_matrix(measurement *m, mc_diag *diag) {
    const mc_vsparse *from = m->race->matrix;
    if (!m->operator->matrix.wanted) return MC_OK;
    mc_vsparse *a = &m->operands.matrix;
    int64_t bytes = mc_type_size(from->type, mcrt_product(from->vectors, from->vec));
    *a = *from;
    a->values = mcrt_array(bytes, 1);
    if (a->values == NULL) return mcrt_no_memory(diag, from->vectors, "nonzero vectors");
    memcpy(a->values, from->values, (size_t)bytes);
    if (all_zero(a->values, (size_t)bytes)) fill_matrix(m);
    return MC_OK;
}

/* -- Dense operands */

typedef struct fill {
    const operand_row *operand;
    mc_dense *dense;
    uint64_t seed;
} fill;

static void fill_rows(void *user, size_t index) {
    const fill *f = user;
    mc_dense part = *f->dense;
    int64_t first = (int64_t)index * FILL_ROWS;
    part.rows = f->dense->rows - first < FILL_ROWS ? f->dense->rows - first : FILL_ROWS;
    part.data = (char *)part.data + mc_type_size(part.type, first * part.ld);
    operand_fill(f->operand, &part, f->seed + index);
}

/* Of SHAPE, which has no data yet. */
static mc_status make_dense(const operand_row *operand, const mc_dense *shape, uint64_t seed, mc_dense *dense,
                            mc_diag *diag) {
    mc_status status = mc_dense_create(shape->type, shape->rows, shape->cols, shape->ld, dense, diag);
    fill f = {operand, dense, seed};
    const tune_work work = {(size_t)((dense->rows + FILL_ROWS - 1) / FILL_ROWS), fill_rows, NULL, &f};
    if (status == MC_OK) (void)tune_work_do(&work);
    return status;
}

static mc_status make_factors(const plan_problem *p, const operand_row *operand, uint64_t seed,
                              float **factors, mc_diag *diag) {
    int64_t count = operand_factors(p, operand);
    if (count == 0 || operand_is_computed(p, operand)) return MC_OK;
    *factors = mcrt_array(count, sizeof **factors);
    if (*factors == NULL) return mcrt_no_memory(diag, count, "scales or biases");
    operand->fill(*factors, count, MC_VALUES_FULL, seed);
    return MC_OK;
}

static mc_status make_operands(measurement *m, mc_diag *diag) {
    const plan_problem *p = m->race->problem;
    mc_status status = MC_OK;
    for (size_t i = 0; i < m->operator->operand_count && status == MC_OK; i++) {
        const operand_row *operand = &m->operator->operands[i];
        if (operand->kind == OPERAND_FACTOR) {
            status = make_factors(p, operand, seed_factors + i, &m->operands.factors[i], diag);
        } else if (operand->kind != OPERAND_VALUES && operand_is_input(operand) &&
                   operand_is_there(p, operand)) {
            mc_dense shape;
            status = operand_whole_shape(p, operand, &m->operands.matrix, &shape, diag);
            if (status != MC_OK) break;
            status = make_dense(operand, &shape, seed_inputs + i * seed_step, &m->operands.inputs[i], diag);
        }
    }
    return status;
}

static size_t dense_bytes(const mc_dense *dense) {
    return (size_t)mc_type_size(dense->type, dense->rows * dense->ld);
}

/* -- C */

/* The guard is as large as what a wrong kernel would write next to C: a row block,
   or at least a piece of one. */
static mc_status size_c(tune_operands *o, const plan_problem *p, mc_diag *diag) {
    int64_t elements = mcrt_product(o->c.rows, o->c.ld), bytes = mc_type_size(o->c.type, elements),
            guard = mc_type_size(o->c.type, mcrt_product(o->c.ld, p->vec > 0 ? p->vec : 1));
    if (bytes < 0 || bytes > INT64_MAX / 4 || guard < 0)
        return mcrt_no_memory(diag, elements, "elements of C");
    if (guard < LEAST_GUARD) guard = LEAST_GUARD;
    if (guard > MOST_GUARD) guard = MOST_GUARD;
    o->guard = (size_t)guard / TUNE_BOUNDARY * TUNE_BOUNDARY;
    o->want_bytes = 2 * o->guard + (size_t)bytes;
    return MC_OK;
}

/* -- Batches */

/* Bytes from an operand of a product to that of the next one; 0: they share it. */
static size_t step_of(const plan_problem *p, const operand_row *operand, mc_type type) {
    if (operand->stride == NO_MEMBER || p->batch < 2) return 0;
    return (size_t)mc_type_size(type, member_get(p, operand->stride));
}

/* Repeats the part that was added last, an operand of BYTES of each product. */
static mc_status repeat_part(tune_operands *o, tune_slab *slab, size_t step, size_t bytes, mc_diag *diag) {
    if (step == 0 || o->products < 2) return MC_OK;
    if (step < bytes)
        return mc_fail(diag, MC_CANNOT, "products whose operands overlap are not tuned: those of %s",
                       slab->parts[slab->count - 1].name);
    return tune_slab_repeat(slab, o->products, step, diag);
}

/* C in place: its memory as launches find it. */
static mc_status make_begin(tune_operands *o, const mc_operator *op, mc_diag *diag) {
    const mc_dense *input = &o->inputs[op->operand_count - 1];
    if (!operator_out(op)->in_place) return MC_OK;
    o->begin = mcrt_array((int64_t)o->want_bytes, 1);
    if (o->begin == NULL) return mcrt_no_memory(diag, (int64_t)o->want_bytes, "bytes of C");
    memset(o->begin, TUNE_POISON, o->want_bytes);
    memcpy(o->begin + o->guard, input->data, dense_bytes(input));
    return MC_OK;
}

/* -- The whole, on the host */

mc_status tune_operands_make(measurement *m, mc_diag *diag) {
    const plan_problem *p = m->race->problem;
    tune_operands *o = &m->operands;
    mc_status status = copy_matrix(m, diag);
    o->products = p->batch > 1 ? (size_t)p->batch : 1;
    if (status == MC_OK) status = operator_out_shape(m->operator, p, &o->matrix, &o->c, diag);
    if (status == MC_OK) status = size_c(o, p, diag);
    if (status == MC_OK) status = make_operands(m, diag);
    if (status == MC_OK) status = make_begin(o, m->operator, diag);
    m->buffer = (tune_buffer){malloc(BUFFER_BYTES), BUFFER_BYTES};
    if (status == MC_OK && m->buffer.bytes == NULL) status = mc_fail(diag, MC_NOMEM, "out of memory");
    return status;
}

/* -- Packings */

static tune_packing *find_packing(measurement *m, const mc_kernel *kernel) {
    char form[MC_PACK_FORM];
    mc_pack_form(kernel, form);
    for (size_t i = 0; i < m->packing_count; i++)
        if (strcmp(m->packings[i].form, form) == 0) return &m->packings[i];
    tune_packing *added = &m->packings[m->packing_count++];
    memcpy(added->form, form, sizeof form);
    added->kernel = kernel;
    return added;
}

static void pack(void *user, size_t index) {
    measurement *m = user;
    tune_packing *p = &m->packings[index];
    p->why = mc_diag_create();
    p->status = p->why == NULL ? MC_NOMEM : mc_pack(p->kernel, &m->operands.matrix, &p->packed, p->why);
}

static bool tick(void *user, size_t done) {
    (void)done;
    return tune_tell_preparing(user);
}

mc_status tune_operands_pack(measurement *m, mc_diag *diag) {
    m->packings = calloc(m->race->count + 1, sizeof *m->packings);
    if (m->packings == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    for (size_t i = 0; i < m->race->count; i++) {
        tune_kernel *k = &m->kernels[i];
        if (k->state == TUNE_WAITS && k->kernel != NULL) k->packing = find_packing(m, k->kernel);
    }
    const tune_work work = {m->packing_count, pack, tick, m};
    size_t done = tune_work_do(&work);
    for (size_t i = 0; i < done; i++)
        if (m->packings[i].status == MC_NOMEM) return mc_fail(diag, MC_NOMEM, "no memory to pack the matrix");
    return MC_OK;
}

/* -- On the device */

/* Addresses are multiples of what the problem says, and of no more, so that a kernel cannot rely on more. */
static size_t offset_of(const plan_problem *p, mc_type type) {
    size_t element = mc_type_bytes(type);
    if (p->align >= 16) return 0;
    return p->align > element ? p->align : element;
}

/* C and its guards, with what lies between products. */
static mc_status add_c(measurement *m, const operand_row *operand, mc_diag *diag) {
    tune_operands *o = &m->operands;
    o->c_step = step_of(m->race->problem, operand, o->c.type);
    size_t more = (o->products - 1) * o->c_step, offset = offset_of(m->race->problem, o->c.type);
    mc_status status = tune_slab_add(&o->slab, operand->name, o->begin, o->want_bytes + more, offset, diag);
    if (status == MC_OK) o->slab.parts[o->slab.count - 1].written = operand->in_place;
    return status;
}

static mc_status add_input(measurement *m, size_t i, mc_diag *diag) {
    tune_operands *o = &m->operands;
    const plan_problem *p = m->race->problem;
    const operand_row *operand = &m->operator->operands[i];
    mc_dense *input = &o->inputs[i];
    size_t bytes = dense_bytes(input);
    mc_status status =
        tune_slab_add(&o->slab, operand->name, input->data, bytes, offset_of(p, input->type), diag);
    if (status != MC_OK) return status;
    o->slab.parts[o->slab.count - 1].written = operand->in_place;
    return repeat_part(o, &o->slab, step_of(p, operand, input->type), bytes, diag);
}

static mc_status add_operand(measurement *m, size_t i, mc_diag *diag) {
    tune_operands *o = &m->operands;
    const plan_problem *p = m->race->problem;
    const operand_row *operand = &m->operator->operands[i];
    if (operand->kind == OPERAND_VALUES || !operand_is_there(p, operand)) return MC_OK;
    if (operand->kind == OPERAND_FACTOR && !operand_is_factors(p, operand)) return MC_OK;
    o->other_parts[i] = o->slab.count;
    if (operand->kind == OPERAND_FACTOR)
        return tune_slab_add(&o->slab, operand->name, o->factors[i],
                             (size_t)operand_factors(p, operand) * sizeof(float), 0, diag);
    return operand->out ? add_c(m, operand, diag) : add_input(m, i, diag);
}

static size_t kernel_workspace(const measurement *m, const tune_kernel *k) {
    const plan_problem *p = m->race->problem;
    if (k->kernel == NULL || k->packing == NULL) return 0;
    return mc_workspace_bytes(k->kernel, &k->packing->packed, p->n, p->batch);
}

/* One for all kernels, which run one after another. */
static mc_status add_workspace(measurement *m, mc_diag *diag) {
    size_t most = 0;
    for (size_t i = 0; i < m->race->count; i++) {
        size_t bytes = kernel_workspace(m, &m->kernels[i]);
        if (bytes > most) most = bytes;
    }
    return most == 0 ? MC_OK : tune_slab_add(&m->operands.slab, MC_WORKSPACE, NULL, most, 0, diag);
}

/* The output comes last. */
static mc_status add_operands(measurement *m, mc_diag *diag) {
    mc_status status = add_workspace(m, diag);
    for (size_t i = 0; i < m->operator->operand_count && status == MC_OK; i++)
        status = add_operand(m, i, diag);
    return status;
}

/* The operand that packed array NAME stands for, whose values another kernel writes; NULL: none. */
static const operand_row *given_operand(const measurement *m, const char *name) {
    int i = operator_operand(m->operator, name);
    if (i < 0 || m->operator->operands[i].kind != OPERAND_VALUES) return NULL;
    return operand_is_there(m->race->problem, &m->operator->operands[i]) ? &m->operator->operands[i] : NULL;
}

static mc_status add_packed(measurement *m, tune_packing *p, mc_diag *diag) {
    mc_status status = MC_OK;
    for (size_t i = 0; i < p->packed.array_count && status == MC_OK; i++) {
        const mc_packed_array *array = &p->packed.arrays[i];
        const operand_row *given = given_operand(m, array->name);
        size_t bytes = (size_t)mc_type_size(array->type, array->count);
        status = tune_slab_add(&p->slab, array->name, array->data, bytes, 0, diag);
        if (status == MC_OK && given != NULL)
            status = repeat_part(&m->operands, &p->slab,
                                 step_of(m->race->problem, given, m->race->matrix->type), bytes, diag);
    }
    return status;
}

/* As many sets as together exceed the L2 a few times, where operands are to be cold. */
static int sets_for(const measurement *m, size_t set_bytes) {
    if (!m->race->cold) return 1;
    uint64_t l2 = (uint64_t)mc_device_get_info(m->context->device)->l2_bytes,
             sets = CACHES * l2 / (set_bytes > 0 ? set_bytes : 1) + 2;
    return sets > MOST_SETS ? MOST_SETS : (int)sets;
}

mc_status tune_operands_upload(measurement *m, mc_diag *diag) {
    tune_operands *o = &m->operands;
    int most = 1;
    for (size_t i = 0; i < m->packing_count; i++)
        if (m->packings[i].status == MC_OK)
            m->packings[i].status = add_packed(m, &m->packings[i], m->packings[i].why);
    mc_status status = add_operands(m, diag);
    for (size_t i = 0; i < m->packing_count && status == MC_OK; i++) {
        tune_packing *p = &m->packings[i];
        int sets = sets_for(m, o->slab.set_bytes + p->slab.set_bytes);
        if (p->status != MC_OK) continue;
        if (sets > most) most = sets;
        p->absent = tune_slab_upload(m->context, &p->slab, sets, p->why) != MC_OK;
    }
    return status == MC_OK ? tune_slab_upload(m->context, &o->slab, most, diag) : status;
}

void tune_operands_free(measurement *m) {
    tune_operands *o = &m->operands;
    for (size_t i = 0; i < m->packing_count; i++) {
        tune_slab_free(m->context, &m->packings[i].slab);
        mc_packed_free(&m->packings[i].packed);
        mc_diag_destroy(m->packings[i].why);
    }
    free(m->packings);
    tune_slab_free(m->context, &o->slab);
    free(o->matrix.values);
    for (size_t i = 0; i < MAX_OPERANDS; i++) {
        mc_dense_free(&o->inputs[i]);
        mc_result_free(&o->others[i]);
        free(o->factors[i]);
    }
    free(o->want);
    free(o->most);
    free(o->begin);
    free(m->buffer.bytes);
}
