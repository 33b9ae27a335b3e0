#include "compress_device.h"
#include <stdlib.h>
#include <string.h>
#include "context/context.h"
#include "options.h"

/* Arrays of one matrix, on the device. */
typedef struct uploaded {
    mc_context *context;
    mc_compress24_config config;
    mc_compress24_size sizes;
} uploaded;

mc_status compress_open_device(device_compression *d, mc_diag *diag) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = d->device,
                                      .cache = MC_CACHE_ENVIRONMENT,
                                      .records = "",
                                      .log = cmd_log};
    mc_status status = mc_context_create(&config, &d->context, diag);
    if (status != MC_OK) return status;
    const mc_device_info *info = mc_device_get_info(d->context->device);
    snprintf(d->device_text, sizeof d->device_text, "%s (%s)", d->device, info->name);
    if (info->kind != MC_DEVICE_SIM || !d->bench) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "--bench: the simulator has no time to measure, this needs a GPU");
}

void compress_close_device(device_compression *d) {
    mc_context_destroy(d->context);
    d->context = NULL;
}

static mc_status upload(uploaded *u, const device_compression *d, const mc_dense *a, mc_diag *diag) {
    const size_t bytes = (size_t)mc_type_size(a->type, a->rows * a->ld);
    u->config = (mc_compress24_config){.size = sizeof u->config,
                                       .type = a->type,
                                       .rows = a->rows,
                                       .cols = a->cols,
                                       .ld = a->ld,
                                       .layout = d->layout,
                                       .prune = d->prune};
    u->sizes.size = sizeof u->sizes;
    mc_status status = mc_compress24_sizes(&u->config, &u->sizes, diag);
    if (status == MC_OK) status = mc_memory_create(u->context, bytes, &u->config.data, diag);
    if (status == MC_OK) status = mc_memory_write(u->context, u->config.data, a->data, bytes, diag);
    if (status == MC_OK)
        status = mc_memory_create(u->context, (size_t)u->sizes.values, &u->config.values, diag);
    if (status == MC_OK) status = mc_memory_create(u->context, (size_t)u->sizes.meta, &u->config.meta, diag);
    return status;
}

static void release(uploaded *u) {
    const mc_address all[] = {u->config.data, u->config.values, u->config.meta};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mc_memory_destroy(u->context, all[i]);
}

/* Rows that are PITCH bytes apart become those of TO, whose padding is as it was. */
static mc_status download(const uploaded *u, mc_address from, int64_t pitch, int64_t row_bytes, mc_dense *to,
                          mc_diag *diag) {
    const int64_t step = mc_type_size(to->type, to->ld);
    const size_t bytes = (size_t)(to->rows * pitch);
    unsigned char *all = malloc(bytes + 1);
    if (all == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = bytes > 0 ? mc_memory_read(u->context, from, all, bytes, diag) : MC_OK;
    for (int64_t i = 0; i < to->rows && status == MC_OK; i++)
        memcpy((unsigned char *)to->data + i * step, all + i * pitch, (size_t)row_bytes);
    free(all);
    return status;
}

static mc_status take_values(const uploaded *u, const mc_sparse24_rule *rule, mc_sparse24 *s, mc_diag *diag) {
    const mc_compress24_config *c = &u->config;
    const int64_t cols = mc_sparse24_groups(rule, c->cols) * rule->kept * rule->unit;
    mc_status status = mc_dense_create(c->type, c->rows, cols, cols + cols % 2, &s->values, diag);
    if (status != MC_OK) return status;
    return download(u, c->values, u->sizes.values_pitch, mc_type_size(c->type, cols), &s->values, diag);
}

static mc_status take_meta(const uploaded *u, const mc_sparse24_rule *rule, const mc_meta_layout *how,
                           mc_sparse24 *s, mc_dense *meta, mc_diag *diag) {
    const int64_t groups = mc_sparse24_groups(rule, u->config.cols);
    if (u->config.layout == MC_LAYOUT24_NATURAL) {
        const int64_t bytes = (groups + 1) / 2;
        mc_status status = mc_dense_create(MC_U8, s->rows, bytes, bytes, &s->meta, diag);
        if (status != MC_OK) return status;
        return download(u, u->config.meta, u->sizes.meta_pitch, bytes, &s->meta, diag);
    }
    mc_status status = mc_meta_create(s, how, meta, diag);
    if (status != MC_OK || u->sizes.meta == 0) return status;
    return mc_memory_read(u->context, u->config.meta, meta->data, (size_t)u->sizes.meta, diag);
}

static mc_status compress(device_compression *d, uploaded *u, const mc_meta_layout *how, mc_sparse24 *s,
                          mc_dense *meta, mc_diag *diag) {
    mc_sparse24_rule rule;
    mc_compress24_report report = {.size = sizeof report};
    mc_status status = mc_sparse24_rule_of(u->config.type, &rule, diag);
    if (status == MC_OK) status = mc_compress24(u->context, &u->config, NULL, &report, diag);
    if (status == MC_OK && d->bench) status = compress24_time(u->context, &u->config, &d->times, diag);
    if (status != MC_OK) return status;
    *s = (mc_sparse24){.rows = u->config.rows, .cols = u->config.cols, .lost = report.full};
    status = take_values(u, &rule, s, diag);
    return status == MC_OK ? take_meta(u, &rule, how, s, meta, diag) : status;
}

mc_status compress_on_device(device_compression *d, const mc_dense *a, const mc_meta_layout *how,
                             mc_sparse24 *s, mc_dense *meta, mc_diag *diag) {
    uploaded u = {.context = d->context};
    mc_status status = upload(&u, d, a, diag);
    if (status == MC_OK) status = compress(d, &u, how, s, meta, diag);
    release(&u);
    return status;
}
