#include "timer.h"

/* 0xff is NaN in every float, 0x7b a great number. As s32 0xff is -1, which sums do reach; 0x80808080 they
   hardly do. */
static int poison_of(const result_check *k) { return k->type == MC_S32 ? 0x80 : k->finite ? 0x7b : 0xff; }

static mc_status check(helpers *h, const result_check *k, mc_diag *diag) {
    uint64_t wrong = 0;
    const compared all = {k->got, k->want, k->count, k->cols, k->ld};
    mc_status status = k->most != 0
                           ? helpers_within(h, k->type, k->got, k->want, k->most, k->count, &wrong, diag)
                           : helpers_compare(h, k->type, &all, k->allowed, &wrong, diag);
    if (status == MC_OK && wrong > 0)
        status = mc_fail(diag, MC_MISMATCH, "%llu of %llu elements are wrong", (unsigned long long)wrong,
                         (unsigned long long)k->count);
    return status;
}

static mc_status begin(gpu_device *gpu, const contender *c, mc_diag *diag) {
    const result_check *k = &c->check;
    uint64_t elements = k->cols > 0 ? k->count / k->cols * k->ld : k->count;
    mc_status status =
        mc_device_fill(gpu->device, k->got, poison_of(k), elements * mc_type_bytes(k->type), diag);
    for (size_t i = 0; i < c->begin_count && status == MC_OK; i++)
        status =
            mc_device_write(gpu->device, c->begins[i].address, c->begins[i].data, c->begins[i].bytes, diag);
    return status;
}

mc_status contender_verify(gpu_device *gpu, helpers *h, const contender *c, mc_diag *diag) {
    mc_status status = begin(gpu, c, diag);
    if (status == MC_OK) status = c->enqueue(c, 0, gpu->stream, diag);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, StreamSynchronize, gpu->stream);
    if (status == MC_OK) status = check(h, &c->check, diag);
    for (size_t i = 0; i < c->other_count && status == MC_OK; i++) status = check(h, &c->others[i], diag);
    return status;
}
