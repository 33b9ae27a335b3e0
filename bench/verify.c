#include "timer.h"

/* 0xff is NaN in every float, 0x7b a great number. As s32 0xff is -1, which sums do reach; 0x80808080 they
   hardly do. */
static int poison_of(const result_check *k) { return k->type == MC_S32 ? 0x80 : k->finite ? 0x7b : 0xff; }

static mc_status check(helpers *h, const contender *c, mc_diag *diag) {
    const result_check *k = &c->check;
    uint64_t wrong = 0;
    mc_status status = k->most != 0
                           ? helpers_within(h, k->type, k->got, k->want, k->most, k->count, &wrong, diag)
                           : helpers_compare(h, k->type, k->got, k->want, k->count, k->allowed, &wrong, diag);
    if (status == MC_OK && wrong > 0)
        status = mc_fail(diag, MC_MISMATCH, "%llu of %llu elements are wrong", (unsigned long long)wrong,
                         (unsigned long long)k->count);
    return status;
}

mc_status contender_verify(gpu_device *gpu, helpers *h, const contender *c, mc_diag *diag) {
    const result_check *k = &c->check;
    mc_status status =
        mc_device_fill(gpu->device, k->got, poison_of(k), k->count * mc_type_bytes(k->type), diag);
    if (status == MC_OK) status = c->enqueue(c, 0, gpu->stream, diag);
    if (status == MC_OK) status = CUDA_CALL(gpu->driver, diag, StreamSynchronize, gpu->stream);
    return status == MC_OK ? check(h, c, diag) : status;
}
