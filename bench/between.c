#include <stdio.h>
#include "between.h"

enum { THREADS = 256, BLOCKS_PER_SM = 2, QUICK_LAUNCHES = 50 };

/* 16 bytes a thread. */
static const char ptx[] = ".version 7.0\n"
                          ".target sm_80\n"
                          ".address_size 64\n"
                          ".visible .entry between(.param .u64 to)\n"
                          "{\n"
                          "    .reg .b32 %block, %threads, %thread;\n"
                          "    .reg .b64 %to;\n"
                          "    mov.u32 %block, %ctaid.x;\n"
                          "    mov.u32 %threads, %ntid.x;\n"
                          "    mov.u32 %thread, %tid.x;\n"
                          "    mad.lo.u32 %thread, %block, %threads, %thread;\n"
                          "    ld.param.u64 %to, [to];\n"
                          "    mad.wide.u32 %to, %thread, 16, %to;\n"
                          "    st.global.v4.b32 [%to], {%thread, %thread, %thread, %thread};\n"
                          "    ret;\n"
                          "}\n";

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const between *b = c->state;
    (void)set;
    return mc_module_enqueue(b->module, &b->launch, stream, diag);
}

mc_status between_open(between *b, gpu_device *gpu, mc_diag *diag) {
    unsigned blocks = BLOCKS_PER_SM * (unsigned)mc_device_get_info(gpu->device)->multiprocessors;
    *b = (between){.contender = {.label = "between", .sets = 1, .enqueue = enqueue, .state = b}};
    mc_status status = mc_device_alloc(gpu->device, (size_t)blocks * THREADS * 16, &b->memory, diag);
    if (status == MC_OK) status = mc_module_load(gpu->device, ptx, "between", &b->module, diag);
    b->launch =
        (mc_launch){.grid = {blocks, 1, 1}, .block = {THREADS, 1, 1}, .values = {b->memory}, .count = 1};
    if (status == MC_OK) status = timer_quick(gpu, &b->contender, QUICK_LAUNCHES, diag);
    if (status == MC_OK) gpu->between = &b->contender;
    return status;
}

void between_close(between *b, gpu_device *gpu) {
    mc_module_unload(b->module);
    if (gpu->device != NULL) mc_device_free(gpu->device, b->memory);
    gpu->between = NULL;
    *b = (between){0};
}
