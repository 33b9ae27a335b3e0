#include "plain.h"
#include <stdio.h>
#include "race_state.h"

enum { THREADS = 256, BLOCKS_PER_SM = 8, UNIT = 16, LOADS = 4, QUICK_LAUNCHES = 10 };

/* Load I of a thread's four; a thread that has no more reads zeros. */
#define LOAD(i)                                                                                              \
    "    mov.b32 %a" #i ", 0;\n"                                                                             \
    "    mov.b32 %b" #i ", 0;\n"                                                                             \
    "    mov.b32 %c" #i ", 0;\n"                                                                             \
    "    mov.b32 %d" #i ", 0;\n"                                                                             \
    "    setp.lt.u32 %in, %i, %units;\n"                                                                     \
    "    mad.wide.u32 %at, %i, 16, %from;\n"                                                                 \
    "    @%in ld.global.nc.v4.b32 {%a" #i ", %b" #i ", %c" #i ", %d" #i "}, [%at];\n"                        \
    "    add.u32 %i, %i, %all;\n"
#define SUM(i)                                                                                               \
    "    xor.b32 %sum, %sum, %a" #i ";\n"                                                                    \
    "    xor.b32 %sum, %sum, %b" #i ";\n"                                                                    \
    "    xor.b32 %sum, %sum, %c" #i ";\n"                                                                    \
    "    xor.b32 %sum, %sum, %d" #i ";\n"

static const char ptx[] =
    ".version 7.0\n"
    ".target sm_80\n"
    ".address_size 64\n"
    ".visible .entry plain_read(.param .u64 from, .param .u32 units, .param .u64 to, .param .u32 words)\n"
    "{\n"
    "    .reg .pred %in, %more, %done;\n"
    "    .reg .b32 %a<4>, %b<4>, %c<4>, %d<4>;\n"
    "    .reg .b32 %i, %all, %block, %blocks, %threads, %thread, %units, %words, %sum;\n"
    "    .reg .b64 %from, %to, %at;\n"
    "    mov.u32 %block, %ctaid.x;\n"
    "    mov.u32 %blocks, %nctaid.x;\n"
    "    mov.u32 %threads, %ntid.x;\n"
    "    mov.u32 %thread, %tid.x;\n"
    "    mad.lo.u32 %thread, %block, %threads, %thread;\n"
    "    mul.lo.u32 %all, %blocks, %threads;\n"
    "    ld.param.u64 %from, [from];\n"
    "    ld.param.u32 %units, [units];\n"
    "    ld.param.u64 %to, [to];\n"
    "    ld.param.u32 %words, [words];\n"
    "    mov.b32 %sum, 0;\n"
    "    mov.u32 %i, %thread;\n"
    "read:\n" LOAD(0) LOAD(1) LOAD(2) LOAD(3) SUM(0) SUM(1) SUM(2)
        SUM(3) "    setp.lt.u32 %more, %i, %units;\n"
               "    @%more bra read;\n"
               "    mov.u32 %i, %thread;\n"
               "write:\n"
               "    setp.ge.u32 %done, %i, %words;\n"
               "    @%done ret;\n"
               "    mad.wide.u32 %at, %i, 4, %to;\n"
               "    st.global.b32 [%at], %sum;\n"
               "    add.u32 %i, %i, %all;\n"
               "    bra write;\n"
               "}\n";

mc_status plain_load(mc_device *device, mc_module **module, mc_diag *diag) {
    return mc_module_load(device, ptx, "plain_read", module, diag);
}

mc_launch plain_launch(const plain_bytes *of, int shape, int multiprocessors) {
    uint64_t units = of->bytes / UNIT, each = THREADS * (shape == 0 ? LOADS : 1),
             blocks = (units + each - 1) / each, most = BLOCKS_PER_SM * (uint64_t)multiprocessors;
    if (blocks > most) blocks = most;
    if (blocks < 1) blocks = 1;
    return (mc_launch){.grid = {(unsigned)blocks, 1, 1},
                       .block = {THREADS, 1, 1},
                       .values = {of->from, units, of->to, of->written / 4},
                       .count = 4};
}

static mc_status enqueue(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const plain_read *p = c->state;
    uint64_t further = (uint64_t)set * p->slab->set_bytes;
    mc_launch launch = p->launch;
    launch.values[0] += further;
    launch.values[2] += further;
    return mc_module_enqueue(p->module, &launch, stream, diag);
}

/* The variant whose operands are the fewest bytes: of packings that differ, what all products must read. */
static const variant *leanest(const race *r) {
    const variant_list *list = &r->track->variants;
    const variant *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const variant *v = &list->items[i];
        if (!race_takes(r, i)) continue;
        if (best == NULL || r->operands[v->packing].packed_bytes < r->operands[best->packing].packed_bytes)
            best = v;
    }
    return best;
}

/* A and B stand before C in a slab, with gaps that align them. */
static plain_bytes bytes_of(const race *r, const variant *v) {
    const our_operands *o = &r->operands[v->packing];
    uint64_t elements = (uint64_t)race_elements(r, v->order), c = slab_address(&o->slab, o->c, 0);
    return (plain_bytes){.from = o->slab.base,
                         .bytes = c - o->slab.base,
                         .to = c,
                         .written = (elements * mc_type_bytes(v->output.type) + 3) / 4 * 4};
}

/* There is nothing to compare: C is not the product. */
static void describe(plain_peers *peers, int shape, const plain_bytes *of) {
    const plain_read *p = &peers->reads[shape];
    contender *c = &peers->contenders[shape];
    *c = (contender){.label = "plain read", .sets = p->slab->sets, .enqueue = enqueue, .state = p};
    c->check = (result_check){.type = MC_F32, .got = of->to};
    snprintf(c->detail, sizeof c->detail, "%llu bytes read, %llu written, %u thread blocks",
             (unsigned long long)of->bytes, (unsigned long long)of->written, p->launch.grid[0]);
}

mc_status plain_open(plain_peers *peers, const race *r, mc_diag *diag) {
    gpu_device *gpu = &r->track->gpu;
    const variant *v = leanest(r);
    *peers = (plain_peers){0};
    if (!r->operation->plain || r->track->rules.drawn || r->problem->shape.n != 1 || v == NULL) return MC_OK;
    const plain_bytes of = bytes_of(r, v);
    mc_module *module = NULL;
    const our_operands *o = &r->operands[v->packing];
    mc_status status = slab_clear_gaps(gpu, &o->slab, o->c, diag);
    if (status == MC_OK) status = plain_load(gpu->device, &module, diag);
    for (int shape = 0; shape < PLAIN_SHAPES && status == MC_OK; shape++) {
        int multiprocessors = mc_device_get_info(gpu->device)->multiprocessors;
        peers->reads[shape] = (plain_read){
            .module = module, .slab = &o->slab, .launch = plain_launch(&of, shape, multiprocessors)};
        describe(peers, shape, &of);
        status = contender_verify(gpu, &r->track->helpers, &peers->contenders[shape], diag);
        if (status == MC_OK) status = timer_quick(gpu, &peers->contenders[shape], QUICK_LAUNCHES, diag);
        peers->count += status == MC_OK;
    }
    return status;
}

void plain_close(plain_peers *peers) {
    mc_module_unload(peers->reads[0].module);
    *peers = (plain_peers){0};
}
