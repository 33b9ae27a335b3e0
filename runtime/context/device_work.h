/* What the library computes on the device for itself: kernels of helper families (gen/ops/helpers.def), put
   on a stream and waited for. All between context_enter and context_leave. */
#ifndef MCRT_DEVICE_WORK_H
#define MCRT_DEVICE_WORK_H

#include "context/kernels.h"
#include "problem/bind.h"

enum { WORK_KERNELS = 8, WORK_SCRATCH = 4, ANY_VEC = 8 };

/* What has been put on a stream, and what it uses, which is given back when it is done. */
typedef struct device_work {
    mc_context *context;
    void *stream;
    loaded_kernel *kernels[WORK_KERNELS];
    size_t kernel_count;
    mc_address scratch[WORK_SCRATCH];
    size_t scratch_count;
    bool running;
} device_work;

/* MC_CANNOT where STREAM is being captured: nothing could be waited for. */
mc_status work_begin(device_work *work, mc_context *context, void *stream, mc_diag *diag);
/* On the library's own stream. */
mc_status work_begin_own(device_work *work, mc_context *context, mc_diag *diag);
/* Memory until work_end. */
mc_status work_scratch(device_work *work, size_t bytes, mc_address *address, mc_diag *diag);
/* Puts a kernel on the stream: of FAMILY, with FIELDS, as helper_obtain. */
mc_status work_put(device_work *work, const char *family, const char *fields, const mc_binding *bindings,
                   size_t count, mc_diag *diag);
/* The same of the family `pattern`: a STEP that looks at no elements, with vectors of VEC (ANY_VEC where
   that does not matter). */
mc_status work_put_step(device_work *work, const char *step, int vec, const mc_binding *bindings,
                        size_t count, mc_diag *diag);
/* Waits until all is done. Returns STATUS, unless that is MC_OK and waiting fails. */
mc_status work_end(device_work *work, mc_status status, mc_diag *diag);

/* The kernel of FAMILY with FIELDS for the device of CONTEXT, as kernels_obtain gives it. FIELDS are all
   that stand behind `arch` in the family's schema, in its order ("index=plain ones=none group=32 hold=4"):
   then the cache knows the kernel, and nothing has to be derived to find it in memory. */
mc_status helper_obtain(mc_context *context, const char *family, const char *fields, loaded_kernel **kernel,
                        mc_diag *diag);

#endif
