#include "proof.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "buffers.h"
#include "device/kind.h"
#include "key.h"
#include "ledger.h"
#include "proof_sources.h"
#include "texts.h"

typedef struct expected {
    bool set;
    size_t param;
    mc_type type;
    int64_t ld;
    const mc_dense *want, *most; /* most: NULL, or elements may be anything from WANT's to MOST's */
} expected;

typedef struct proof_device {
    mc_device base;
    const char *const *schedules;
    mc_device *simulators[PROOF_SCHEDULES]; /* one a schedule */
    int schedule_count, first, chosen;
    int last; /* the schedule that was simulated last, or -1 */
    proof_buffers buffers;
    proof_texts texts;
    expected expected;
} proof_device;

typedef struct proof_module {
    mc_module base;
    char *ptx, *entry;
    uint64_t kernel; /* proof_key_kernel */
} proof_module;

static proof_device *of(const mc_device *device) { return (proof_device *)(uintptr_t)device; }

/* -- Memory and modules ----------------------------------------------------------------------------------- */

static mc_status device_alloc(mc_device *device, size_t bytes, uint64_t *address, mc_diag *diag) {
    return proof_buffers_alloc(&of(device)->buffers, bytes, address, diag);
}

static void device_free(mc_device *device, uint64_t address) {
    proof_buffers_free(&of(device)->buffers, address);
}

static mc_status device_write(mc_device *device, uint64_t address, const void *data, size_t bytes,
                              mc_diag *diag) {
    return proof_buffers_write(&of(device)->buffers, address, data, bytes, diag);
}

static mc_status device_fill(mc_device *device, uint64_t address, int byte, size_t bytes, mc_diag *diag) {
    return proof_buffers_fill(&of(device)->buffers, address, byte, bytes, diag);
}

static mc_status device_read(mc_device *device, uint64_t address, void *data, size_t bytes, mc_diag *diag) {
    return proof_buffers_read(&of(device)->buffers, address, data, bytes, diag);
}

/* Checked by the simulator's rules; what the map holds here is the tensor itself. */
static mc_status device_map(mc_device *device, const mc_tensor *tensor, mc_tensor_map *map, mc_diag *diag) {
    _Static_assert(sizeof *tensor <= sizeof map->opaque, "a map has room for it");
    mc_status status = mc_device_tensor_map(of(device)->simulators[0], tensor, map, diag);
    if (status != MC_OK) return status;
    memset(map, 0, sizeof *map);
    memcpy(map->opaque, tensor, sizeof *tensor);
    return MC_OK;
}

static void device_unload(mc_module *module) {
    proof_module *m = (proof_module *)module;
    free(m->ptx);
    free(m->entry);
    free(m);
}

static mc_status device_load(mc_device *device, const mc_image *image, const char *entry, mc_module **module,
                             mc_diag *diag) {
    proof_device *d = of(device);
    proof_module *m = calloc(1, sizeof *m);
    if (!m) return mc_fail(diag, MC_NOMEM, "out of memory");
    m->base.device = device;
    m->ptx = strdup(image->data);
    m->entry = strdup(entry);
    mc_status status = MC_OK;
    if (!m->ptx || !m->entry) status = mc_fail(diag, MC_NOMEM, "out of memory");
    else if (!proof_texts_key(&d->texts, mc_device_ptxsim(d->simulators[0]), m->ptx, &m->kernel))
        status = mc_module_load(d->simulators[0], m->ptx, entry, module, diag); /* which says why */
    if (status != MC_OK) device_unload(&m->base);
    else *module = &m->base;
    return status;
}

/* -- One simulated launch --------------------------------------------------------------------------------- */

/* A launch that is told to leave FORETOLD in BUFFER, or anything from that to MOST where C has OFFSET; simulated, it left
   GOT. */
typedef struct trial {
    const proof_module *module;
    const mc_launch *launch;
    proof_buffer *buffer;
    size_t offset;
    unsigned char *foretold, *got, *most; /* one block of memory */
} trial;

/* LAUNCH with addresses of the memory's copies in place of ours, and maps of such addresses. */
static mc_status translate(const proof_device *d, mc_device *simulator, const mc_launch *launch,
                           mc_launch *to, mc_tensor_map maps[MC_MAX_PARAMS], mc_diag *diag) {
    mc_status status = MC_OK;
    *to = *launch;
    for (size_t i = 0; i < MC_MAX_PARAMS && status == MC_OK; i++) {
        if (!launch->maps[i]) {
            to->values[i] = proof_buffers_copied(&d->buffers, launch->values[i]);
            continue;
        }
        mc_tensor tensor;
        memcpy(&tensor, launch->maps[i]->opaque, sizeof tensor);
        tensor.address = proof_buffers_copied(&d->buffers, tensor.address);
        status = mc_device_tensor_map(simulator, &tensor, &maps[i], diag);
        to->maps[i] = &maps[i];
    }
    return status;
}

static mc_status launch_on(const proof_device *d, mc_device *simulator, const trial *t, mc_diag *diag) {
    mc_tensor_map maps[MC_MAX_PARAMS];
    mc_launch translated;
    mc_module *module = NULL;
    mc_status status = translate(d, simulator, t->launch, &translated, maps, diag);
    if (status == MC_OK) status = mc_module_load(simulator, t->module->ptx, t->module->entry, &module, diag);
    if (status == MC_OK) status = mc_module_launch(module, &translated, diag);
    mc_module_unload(module);
    return status;
}

/* On a copy of the buffers. Of T's buffer what it then holds is read into GOT; if nothing is told of any, all that were
   wholly written before are read back. */
static mc_status simulate(proof_device *d, int schedule, const trial *t, mc_diag *diag) {
    mc_device *simulator = d->simulators[schedule];
    d->last = schedule;
    mc_status status = proof_buffers_copy(&d->buffers, simulator, diag);
    if (status == MC_OK) status = launch_on(d, simulator, t, diag);
    if (status == MC_OK && t->buffer)
        status = mc_device_read(simulator, t->buffer->copy, t->got, t->buffer->bytes, diag);
    if (status == MC_OK && !t->buffer) status = proof_buffers_take_back(&d->buffers, simulator, diag);
    proof_buffers_drop_copy(&d->buffers, simulator);
    return status;
}

/* -- Launches whose result is told ------------------------------------------------------------------------ */

/* C at BYTES, in rows LD apart. */
static mc_dense view_of(const expected *e, unsigned char *bytes) {
    return (mc_dense){
        .type = e->type, .rows = e->want->rows, .cols = e->want->cols, .ld = e->ld, .data = bytes};
}

/* Makes C at BYTES what WANT is. */
static void overlay(const expected *e, const mc_dense *want, unsigned char *bytes) {
    mc_dense view = view_of(e, bytes);
    for (int64_t i = 0; i < view.rows; i++)
        for (int64_t j = 0; j < view.cols; j++) mc_dense_set(&view, i, j, mc_dense_get(want, i, j));
}

/* Fills in what T's buffer will hold. False: the expected parameter has no room for that, or memory ran out. */
static bool foretell(const proof_device *d, trial *t) {
    const expected *e = &d->expected;
    uint64_t address = t->launch->values[e->param];
    int64_t span = (e->want->rows - 1) * e->ld + e->want->cols;
    t->buffer = proof_buffers_find(&d->buffers, address);
    if (!t->buffer) return false;
    size_t offset = (size_t)(address - t->buffer->base), bytes = t->buffer->bytes;
    if (offset + (size_t)mc_type_size(e->type, span) > bytes) return false;
    t->foretold = malloc(3 * bytes);
    if (!t->foretold) return false;
    t->got = t->foretold + bytes, t->most = t->got + bytes, t->offset = offset;
    memcpy(t->foretold, t->buffer->data, bytes);
    memcpy(t->most, t->buffer->data, bytes);
    overlay(e, e->want, t->foretold + offset);
    overlay(e, e->most ? e->most : e->want, t->most + offset);
    return true;
}

/* Whether the simulated launch left what it may. Outside of C it must have left all as it was; T's MOST is scratch. */
static bool is_as_told(const proof_device *d, const trial *t) {
    const expected *e = &d->expected;
    if (!e->most) return memcmp(t->got, t->foretold, t->buffer->bytes) == 0;
    mc_dense c = view_of(e, t->got + t->offset);
    if (mc_dense_within(&c, e->want, e->most, NULL) != MC_OK) return false;
    memcpy(t->most, t->got, t->buffer->bytes);
    overlay(e, e->want, t->most + t->offset);
    return memcmp(t->most, t->foretold, t->buffer->bytes) == 0;
}

static void add_params(const proof_device *d, proof_hash *hash, const mc_launch *launch) {
    proof_hash_number(hash, launch->count);
    for (size_t i = 0; i < launch->count && i < MC_MAX_PARAMS; i++) {
        if (!launch->maps[i]) {
            proof_buffers_add_value(&d->buffers, hash, launch->values[i]);
            continue;
        }
        mc_tensor tensor;
        memcpy(&tensor, launch->maps[i]->opaque, sizeof tensor);
        proof_buffers_add_value(&d->buffers, hash, tensor.address);
        tensor.address = 0;
        proof_hash_number(hash, tensor.type);
        proof_hash_number(hash, (uint64_t)tensor.rank);
        proof_hash_add(hash, tensor.dims, sizeof tensor.dims);
        proof_hash_add(hash, tensor.strides, sizeof tensor.strides);
        proof_hash_add(hash, tensor.box, sizeof tensor.box);
        proof_hash_number(hash, tensor.swizzle);
    }
}

static uint64_t key_of(const proof_device *d, const trial *t) {
    const mc_launch *launch = t->launch;
    proof_hash hash = proof_hash_begin();
    proof_hash_number(&hash, PROOF_SOURCES);
    proof_hash_number(&hash, t->module->kernel);
    proof_hash_add(&hash, t->module->entry, strlen(t->module->entry));
    for (int i = d->first; i < d->first + d->chosen; i++)
        proof_hash_add(&hash, d->schedules[i], strlen(d->schedules[i]));
    proof_hash_add(&hash, launch->grid, sizeof launch->grid);
    proof_hash_add(&hash, launch->block, sizeof launch->block);
    proof_hash_number(&hash, launch->shared_dynamic);
    proof_hash_number(&hash, launch->overlap);
    add_params(d, &hash, launch);
    proof_buffers_add(&d->buffers, &hash);
    proof_buffers_add_value(&d->buffers, &hash, t->buffer->base);
    proof_hash_add(&hash, t->foretold, t->buffer->bytes);
    if (d->expected.most) proof_hash_add(&hash, t->most, t->buffer->bytes);
    return proof_hash_end(&hash);
}

/* In every chosen schedule, up to the first that leaves something else than was told. */
static mc_status simulate_all(proof_device *d, const trial *t, proof_how *how, mc_diag *diag) {
    mc_status status = MC_OK;
    *how = PROOF_SIMULATED;
    for (int i = d->first; i < d->first + d->chosen && *how == PROOF_SIMULATED; i++) {
        status = simulate(d, i, t, diag);
        if (status != MC_OK || !is_as_told(d, t)) *how = PROOF_FAILED;
    }
    return status;
}

static mc_status prove(proof_device *d, const trial *t, mc_diag *diag) {
    uint64_t run = key_of(d, t);
    bool wanted = proof_wanted(t->module->kernel, run);
    proof_how how = PROOF_ASSUMED;
    mc_status status = wanted ? simulate_all(d, t, &how, diag) : MC_OK;
    if (status == MC_OK) memcpy(t->buffer->data, wanted ? t->got : t->foretold, t->buffer->bytes);
    proof_add(t->module->kernel, run, t->module->ptx, d->chosen, how);
    return status;
}

static mc_status device_launch(mc_module *module, const mc_launch *launch, mc_diag *diag) {
    proof_device *d = of(module->device);
    trial t = {.module = (const proof_module *)module, .launch = launch};
    d->last = -1;
    bool told = d->expected.set && foretell(d, &t);
    mc_status status = told ? prove(d, &t, diag) : simulate(d, d->first, &t, diag);
    d->expected.set = false;
    free(t.foretold);
    return status;
}

/* -- What a device has besides ---------------------------------------------------------------------------- */

static void device_close(mc_device *device) {
    proof_device *d = of(device);
    for (int i = 0; i < d->schedule_count; i++) mc_device_close(d->simulators[i]);
    proof_buffers_clear(&d->buffers);
    proof_texts_free(&d->texts);
    free(d);
}

static mc_status device_enter(mc_device *device, int *mode, mc_diag *diag) {
    return (void)device, (void)diag, *mode = 0, MC_OK;
}

static void device_leave(mc_device *device, int mode) { (void)device, (void)mode; }
static bool device_is_current(mc_device *device) { return (void)device, true; }

/* All that a run calls; what is not here, no test that proves may call. */
static const mc_device_ops proof_ops = {
    .close = device_close,
    .alloc = device_alloc,
    .free = device_free,
    .write = device_write,
    .upload = device_write,
    .read = device_read,
    .fill = device_fill,
    .tensor_map = device_map,
    .enter = device_enter,
    .leave = device_leave,
    .is_current = device_is_current,
    .load = device_load,
    .unload = device_unload,
    .launch = device_launch,
};

static proof_device *proving(mc_device *device) { return device->ops == &proof_ops ? of(device) : NULL; }

mc_status proof_open(const char *const *schedules, int count, mc_device **device, mc_diag *diag) {
    *device = NULL;
    if (count == 1 && strncmp(schedules[0], "sim", 3) != 0) return mc_device_open(schedules[0], device, diag);
    if (count < 1 || count > PROOF_SCHEDULES) return mc_fail(diag, MC_USAGE, "%d schedules", count);
    proof_device *d = calloc(1, sizeof *d);
    if (!d) return mc_fail(diag, MC_NOMEM, "out of memory");
    d->base.ops = &proof_ops;
    d->schedules = schedules;
    d->chosen = count;
    d->last = -1;
    mc_status status = MC_OK;
    for (int i = 0; i < count && status == MC_OK; i++) {
        status = mc_device_open(schedules[i], &d->simulators[i], diag);
        if (status == MC_OK) d->schedule_count++;
    }
    if (status == MC_OK) d->base.info = *mc_device_get_info(d->simulators[0]);
    if (status == MC_OK) *device = &d->base;
    else device_close(&d->base);
    return status;
}

void proof_choose(mc_device *device, int first, int count) {
    proof_device *d = proving(device);
    if (d) d->first = first, d->chosen = count;
}

void proof_expect_within(mc_device *device, size_t param, mc_type type, int64_t ld, const mc_dense *least,
                         const mc_dense *most) {
    proof_device *d = proving(device);
    if (!d) return;
    d->last = -1;
    d->expected = (expected){least->rows > 0 && least->cols > 0, param, type, ld, least, most};
}

void proof_expect_param(mc_device *device, size_t param, mc_type type, int64_t ld, const mc_dense *want) {
    proof_expect_within(device, param, type, ld, want, NULL);
}

void proof_expect(mc_device *device, const mc_kernel *kernel, mc_type type, int64_t ld,
                  const mc_dense *want) {
    const mc_contract *contract = mc_kernel_contract(kernel);
    for (size_t i = 0; i < contract->param_count; i++)
        if (strcmp(contract->params[i].name, "c") == 0) proof_expect_param(device, i, type, ld, want);
}

mc_status proof_settle(mc_device *device, mc_status status, mc_diag *diag) {
    proof_device *d = proving(device);
    char message[1024];
    if (d) d->expected.set = false; /* the launch may not have come to pass */
    if (status == MC_OK || !d || d->last < 0) return status;
    snprintf(message, sizeof message, "%s", mc_diag_text(diag));
    mc_diag_clear(diag);
    return mc_fail(diag, status, "%s: %s", d->schedules[d->last], message);
}
