#include "context/device_work.h"
#include <stdio.h>

enum { FIELDS_TEXT = 160, WHOLE_TEXT = FIELDS_TEXT + 64 };

mc_status helper_obtain(mc_context *context, const char *family, const char *fields, loaded_kernel **kernel,
                        mc_diag *diag) {
    const char *arch = mc_arch_for(mc_device_get_info(context->device)->capability);
    char whole[WHOLE_TEXT];
    snprintf(whole, sizeof whole, "op=%s arch=%s %s", family, arch != NULL ? arch : "sm_80", fields);
    return kernels_obtain(context, whole, kernel, diag);
}

mc_status work_begin(device_work *work, mc_context *context, void *stream, mc_diag *diag) {
    *work = (device_work){.context = context, .stream = stream};
    return mc_device_check_stream(context->device, stream, diag);
}

mc_status work_begin_own(device_work *work, mc_context *context, mc_diag *diag) {
    *work = (device_work){.context = context};
    return mc_device_own_stream(context->device, &work->stream, diag);
}

mc_status work_scratch(device_work *work, size_t bytes, mc_address *address, mc_diag *diag) {
    if (work->scratch_count == WORK_SCRATCH) return mc_fail(diag, MC_NOMEM, "no room for more scratch");
    mc_status status = context_alloc(work->context, bytes, address, diag);
    if (status == MC_OK) work->scratch[work->scratch_count++] = *address;
    return status;
}

/* mc_bind wants the sizes of an operator, of which helpers have none. */
static mc_status launch(device_work *work, loaded_kernel *kernel, const mc_binding *bindings, size_t count,
                        mc_diag *diag) {
    enum { MOST = MC_MAX_PARAMS + 1 };
    mc_binding all[MOST] = {{"m", 0}};
    mc_launch launch;
    for (size_t i = 0; i < count && i + 1 < MOST; i++) all[i + 1] = bindings[i];
    mc_status status = mc_bind(kernel->kernel, all, count + 1 < MOST ? count + 1 : MOST, &launch, diag);
    if (status == MC_OK) status = mc_module_prepare(kernel->module, &launch, diag);
    if (status != MC_OK) return status;
    work->running = true;
    return mc_module_put(kernel->module, &launch, work->stream, diag);
}

mc_status work_put(device_work *work, const char *family, const char *fields, const mc_binding *bindings,
                   size_t count, mc_diag *diag) {
    loaded_kernel *kernel = NULL;
    if (work->kernel_count == WORK_KERNELS) return mc_fail(diag, MC_NOMEM, "no room for more kernels");
    mc_status status = helper_obtain(work->context, family, fields, &kernel, diag);
    if (status != MC_OK) return status;
    work->kernels[work->kernel_count++] = kernel;
    return launch(work, kernel, bindings, count, diag);
}

mc_status work_put_step(device_work *work, const char *step, int vec, const mc_binding *bindings,
                        size_t count, mc_diag *diag) {
    char fields[FIELDS_TEXT];
    snprintf(fields, sizeof fields, "step=%s element=b4 range=all major=row vec=%d hold=4", step, vec);
    return work_put(work, "pattern", fields, bindings, count, diag);
}

mc_status work_end(device_work *work, mc_status status, mc_diag *diag) {
    mc_diag *said = status == MC_OK ? diag : NULL; /* which otherwise says why STATUS is none */
    mc_status waited =
        work->running ? mc_device_synchronize(work->context->device, work->stream, said) : MC_OK;
    for (size_t i = 0; i < work->kernel_count; i++) kernels_release(work->context, work->kernels[i]);
    for (size_t i = 0; i < work->scratch_count; i++) context_free(work->context, work->scratch[i]);
    *work = (device_work){.context = work->context};
    return status != MC_OK ? status : waited;
}
