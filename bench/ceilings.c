#include <math.h>
#include "ceilings.h"
#include "timer.h"

#define HEADER                                                                                               \
    ".version 7.0\n"                                                                                         \
    ".target sm_80\n"                                                                                        \
    ".address_size 64\n"

static const char empty_ptx[] = HEADER ".visible .entry empty() { ret; }\n";

/* Each group of 8 lanes loads rows of 128 bytes at random places: 8 rows in flight a lane. The rows come from
   a linear congruential generator, whose high bits choose. What is loaded is xored, and stored only where it
   is a value that it will not be. */
#define GATHER_ROW(i)                                                                                        \
    "    mad.lo.u32 %state, %state, 1664525, 1013904223;\n"                                                  \
    "    mul.hi.u32 %row, %state, %rows;\n"                                                                  \
    "    mad.wide.u32 %at, %row, 128, %base;\n"                                                              \
    "    ld.global.nc.v4.b32 {%a" #i ", %b" #i ", %c" #i ", %d" #i "}, [%at];\n"
#define GATHER_SUM(i)                                                                                        \
    "    xor.b32 %sum, %sum, %a" #i ";\n"                                                                    \
    "    xor.b32 %sum, %sum, %b" #i ";\n"                                                                    \
    "    xor.b32 %sum, %sum, %c" #i ";\n"                                                                    \
    "    xor.b32 %sum, %sum, %d" #i ";\n"
#define EIGHT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

static const char gather_ptx[] =
    HEADER ".visible .entry gather(.param .u64 base, .param .u32 rows, .param .u32 turns)\n"
           "{\n"
           "    .reg .pred %more, %never;\n"
           "    .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n"
           "    .reg .b32 %state, %row, %rows, %turns, %sum, %thread, %block, %lane;\n"
           "    .reg .b64 %base, %at;\n"
           "    mov.u32 %thread, %tid.x;\n"
           "    mov.u32 %block, %ctaid.x;\n"
           "    ld.param.u64 %base, [base];\n"
           "    ld.param.u32 %rows, [rows];\n"
           "    ld.param.u32 %turns, [turns];\n"
           "    and.b32 %lane, %thread, 7;\n"
           "    mad.wide.u32 %base, %lane, 16, %base;\n"
           "    shr.u32 %state, %thread, 3;\n"
           "    mad.lo.u32 %state, %block, 977, %state;\n"
           "    mul.lo.u32 %state, %state, 0x9e3779b1;\n"
           "    mov.b32 %sum, 0;\n"
           "next:\n" EIGHT(GATHER_ROW) EIGHT(GATHER_SUM) "    sub.u32 %turns, %turns, 1;\n"
                                                         "    setp.ne.u32 %more, %turns, 0;\n"
                                                         "    @%more bra next;\n"
                                                         "    setp.eq.u32 %never, %sum, 0x12345678;\n"
                                                         "    @%never st.global.b32 [%base], %sum;\n"
                                                         "    ret;\n"
                                                         "}\n";

/* Turn by turn the blocks copy pieces of 16 KB, of which there are mask + 1, a power of two: round and round
   where the footprint is small. Loads pass L1 by, as the footprint would fit in it. */
static const char copy_ptx[] =
    HEADER ".visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 mask, .param .u32 turns)\n"
           "{\n"
           "    .reg .pred %more;\n"
           "    .reg .b32 %a<4>, %b<4>, %c<4>, %d<4>;\n"
           "    .reg .b32 %thread, %piece, %place, %blocks, %mask, %turns;\n"
           "    .reg .b64 %from, %to, %source, %target, %offset;\n"
           "    mov.u32 %thread, %tid.x;\n"
           "    mov.u32 %piece, %ctaid.x;\n"
           "    mov.u32 %blocks, %nctaid.x;\n"
           "    ld.param.u64 %from, [from];\n"
           "    ld.param.u64 %to, [to];\n"
           "    ld.param.u32 %mask, [mask];\n"
           "    ld.param.u32 %turns, [turns];\n"
           "next:\n"
           "    and.b32 %place, %piece, %mask;\n"
           "    mul.wide.u32 %offset, %place, 16384;\n"
           "    mad.wide.u32 %offset, %thread, 16, %offset;\n"
           "    add.u64 %source, %from, %offset;\n"
           "    add.u64 %target, %to, %offset;\n"
           "    ld.global.cg.v4.b32 {%a0, %b0, %c0, %d0}, [%source];\n"
           "    ld.global.cg.v4.b32 {%a1, %b1, %c1, %d1}, [%source+4096];\n"
           "    ld.global.cg.v4.b32 {%a2, %b2, %c2, %d2}, [%source+8192];\n"
           "    ld.global.cg.v4.b32 {%a3, %b3, %c3, %d3}, [%source+12288];\n"
           "    st.global.v4.b32 [%target], {%a0, %b0, %c0, %d0};\n"
           "    st.global.v4.b32 [%target+4096], {%a1, %b1, %c1, %d1};\n"
           "    st.global.v4.b32 [%target+8192], {%a2, %b2, %c2, %d2};\n"
           "    st.global.v4.b32 [%target+12288], {%a3, %b3, %c3, %d3};\n"
           "    add.u32 %piece, %piece, %blocks;\n"
           "    sub.u32 %turns, %turns, 1;\n"
           "    setp.ne.u32 %more, %turns, 0;\n"
           "    @%more bra next;\n"
           "    ret;\n"
           "}\n";

/* A thread loads 16 bytes at 8 places, neighbours side by side; the address changes with what was loaded
   (zeros, as far as the assembler does not know), so that no load can leave the loop. */
#define SHARED_LOAD(i)                                                                                       \
    "    ld.shared.v4.b32 {%a" #i ", %b" #i ", %c" #i ", %d" #i "}, [%at+" SHARED_OFFSET_##i "];\n"
#define SHARED_OFFSET_0 "0"
#define SHARED_OFFSET_1 "4096"
#define SHARED_OFFSET_2 "8192"
#define SHARED_OFFSET_3 "12288"
#define SHARED_OFFSET_4 "16384"
#define SHARED_OFFSET_5 "20480"
#define SHARED_OFFSET_6 "24576"
#define SHARED_OFFSET_7 "28672"
#define SHARED_CLEAR(i) "    st.shared.v4.b32 [%at+" SHARED_OFFSET_##i "], {%zero, %zero, %zero, %zero};\n"

static const char shared_ptx[] =
    HEADER ".visible .entry shared(.param .u64 out, .param .u32 turns)\n"
           "{\n"
           "    .shared .align 16 .b8 tile[32768];\n"
           "    .reg .pred %more, %never;\n"
           "    .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n"
           "    .reg .b32 %at, %zero, %thread, %turns, %sum;\n"
           "    .reg .b64 %out;\n"
           "    mov.u32 %thread, %tid.x;\n"
           "    ld.param.u64 %out, [out];\n"
           "    ld.param.u32 %turns, [turns];\n"
           "    mov.b32 %zero, 0;\n"
           "    mov.u32 %at, tile;\n"
           "    mad.lo.u32 %at, %thread, 16, %at;\n" EIGHT(
               SHARED_CLEAR) "    bar.sync 0;\n"
                             "    mov.b32 %sum, 0;\n"
                             "next:\n" EIGHT(SHARED_LOAD)
                                 EIGHT(GATHER_SUM) "    xor.b32 %at, %at, %sum;\n"
                                                   "    sub.u32 %turns, %turns, 1;\n"
                                                   "    setp.ne.u32 %more, %turns, 0;\n"
                                                   "    @%more bra next;\n"
                                                   "    setp.eq.u32 %never, %sum, 0x12345678;\n"
                                                   "    @%never st.global.b32 [%out], %sum;\n"
                                                   "    ret;\n"
                                                   "}\n";

/* 8 chains of accumulators a warp. */
#define MMA(i)                                                                                               \
    "    mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%a" #i ", %b" #i ", %c" #i ", %d" #i "},"          \
    " {%x, %y, %x, %y}, {%x, %y}, {%a" #i ", %b" #i ", %c" #i ", %d" #i "};\n"
#define MMA_CLEAR(i)                                                                                         \
    "    mov.b32 %a" #i ", 0;\n"                                                                             \
    "    mov.b32 %b" #i ", 0;\n"                                                                             \
    "    mov.b32 %c" #i ", 0;\n"                                                                             \
    "    mov.b32 %d" #i ", 0;\n"

static const char mma_ptx[] =
    HEADER ".visible .entry mma_s8(.param .u64 out, .param .u32 turns)\n"
           "{\n"
           "    .reg .pred %more, %never;\n"
           "    .reg .b32 %a<8>, %b<8>, %c<8>, %d<8>;\n"
           "    .reg .b32 %x, %y, %turns, %sum;\n"
           "    .reg .b64 %out;\n"
           "    ld.param.u64 %out, [out];\n"
           "    ld.param.u32 %turns, [turns];\n"
           "    mov.u32 %x, %tid.x;\n"
           "    mul.lo.u32 %x, %x, 0x9e3779b1;\n"
           "    mul.lo.u32 %y, %x, 0x85ebca6b;\n" EIGHT(
               MMA_CLEAR) "    mov.b32 %sum, 0;\n"
                          "next:\n" EIGHT(MMA) "    sub.u32 %turns, %turns, 1;\n"
                                               "    setp.ne.u32 %more, %turns, 0;\n"
                                               "    @%more bra next;\n" EIGHT(
                                                   GATHER_SUM) "    setp.eq.u32 %never, %sum, 0x12345678;\n"
                                                               "    @%never st.global.b32 [%out], %sum;\n"
                                                               "    ret;\n"
                                                               "}\n";

/* -- Measuring ------------------------------------------------------------------------------------------- */

enum { THREADS = 256, BLOCKS_PER_SM = 8, ROUNDS = 9, COPY_PIECE = 16384, SHARED_BLOCKS = 4 };
enum { GATHER_TURNS = 16, COPY_TURNS = 16, SHARED_TURNS = 256, MMA_TURNS = 256 };
enum { EMPTY, GATHER, COPY, SHARED, MMA_S8, KERNELS };

static const struct {
    const char *entry, *ptx;
} kernels[KERNELS] = {[EMPTY] = {"empty", empty_ptx},
                      [GATHER] = {"gather", gather_ptx},
                      [COPY] = {"copy", copy_ptx},
                      [SHARED] = {"shared", shared_ptx},
                      [MMA_S8] = {"mma_s8", mma_ptx}};

static const double footprints[CEILING_FOOTPRINTS] = {0x1p18, 0x1p20, 0x1p22, 0x1p24, 0x1p26, 0x1p29};

/* One measurement: a kernel, its launch, and what a launch does (bytes or multiply-adds). */
typedef struct probe {
    mc_module *module;
    mc_launch launch;
    double work;
} probe;

enum { PROBES = 3 + 2 * CEILING_FOOTPRINTS };

static mc_status enqueue_probe(const contender *c, int set, cuda_stream stream, mc_diag *diag) {
    const probe *p = c->state;
    (void)set;
    return mc_module_enqueue(p->module, &p->launch, stream, diag);
}

static mc_launch launch_of(unsigned blocks, size_t count, uint64_t first, uint64_t second, uint64_t third) {
    return (mc_launch){
        .grid = {blocks, 1, 1}, .block = {THREADS, 1, 1}, .values = {first, second, third}, .count = count};
}

/* In the order that read_rates takes them up again. */
static void plan_probes(const gpu_device *gpu, mc_module *const *modules, uint64_t memory, probe *probes) {
    unsigned sms = (unsigned)mc_device_get_info(gpu->device)->multiprocessors, full = BLOCKS_PER_SM * sms;
    unsigned shared_blocks = SHARED_BLOCKS * sms;
    *probes++ = (probe){modules[EMPTY], launch_of(1, 0, 0, 0, 0), 1};
    *probes++ = (probe){modules[SHARED], launch_of(shared_blocks, 2, memory, SHARED_TURNS, 0),
                        (double)shared_blocks * THREADS * SHARED_TURNS * 8 * 16};
    *probes++ = (probe){modules[MMA_S8], launch_of(full, 2, memory, MMA_TURNS, 0),
                        (double)full * THREADS / 32 * MMA_TURNS * 8 * 16 * 8 * 32};
    for (int i = 0; i < CEILING_FOOTPRINTS; i++) {
        uint64_t bytes = (uint64_t)footprints[i];
        *probes++ = (probe){modules[GATHER], launch_of(full, 3, memory, bytes / 128, GATHER_TURNS),
                            (double)full * THREADS * GATHER_TURNS * 8 * 16};
        mc_launch copy = launch_of(full, 4, memory, memory + bytes / 2, bytes / 2 / COPY_PIECE - 1);
        copy.values[3] = COPY_TURNS;
        *probes++ = (probe){modules[COPY], copy, (double)full * COPY_TURNS * COPY_PIECE * 2};
    }
}

static void read_rates(const probe *probes, const timing *timings, ceilings *c) {
    c->launch_us = timings[0].median;
    c->shared = probes[1].work / timings[1].median;
    c->mma_s8 = probes[2].work / timings[2].median;
    for (int i = 0; i < CEILING_FOOTPRINTS; i++) {
        int gather = 3 + 2 * i, copy = gather + 1;
        c->footprints[i] = footprints[i];
        c->gather[i] = probes[gather].work / timings[gather].median;
        c->copy[i] = probes[copy].work / timings[copy].median;
    }
}

static mc_status time_probes(gpu_device *gpu, const probe *probes, timing *timings, mc_diag *diag) {
    contender contenders[PROBES];
    const contender *pointers[PROBES];
    mc_status status = MC_OK;
    for (int i = 0; i < PROBES && status == MC_OK; i++) {
        contenders[i] = (contender){.sets = 1, .enqueue = enqueue_probe, .state = &probes[i]};
        pointers[i] = &contenders[i];
        status = timer_quick(gpu, &contenders[i], 3, diag);
    }
    return status != MC_OK ? status : timer_rounds(gpu, pointers, PROBES, ROUNDS, timings, diag);
}

mc_status ceilings_measure(gpu_device *gpu, ceilings *c, mc_diag *diag) {
    mc_module *modules[KERNELS] = {0};
    probe probes[PROBES];
    timing timings[PROBES];
    uint64_t memory;
    size_t bytes = (size_t)footprints[CEILING_FOOTPRINTS - 1];
    mc_status status = mc_device_alloc(gpu->device, bytes, &memory, diag);
    for (int i = 0; i < KERNELS && status == MC_OK; i++)
        status = mc_module_load(gpu->device, kernels[i].ptx, kernels[i].entry, &modules[i], diag);
    if (status == MC_OK) status = mc_device_fill(gpu->device, memory, 0x5a, bytes, diag);
    if (status == MC_OK) plan_probes(gpu, modules, memory, probes);
    if (status == MC_OK) status = time_probes(gpu, probes, timings, diag);
    if (status == MC_OK) read_rates(probes, timings, c);
    for (int i = 0; i < KERNELS; i++) mc_module_unload(modules[i]);
    mc_device_free(gpu->device, memory);
    return status;
}

double ceiling_at(const ceilings *c, const double *rates, double footprint) {
    int above = 0;
    while (above < CEILING_FOOTPRINTS && c->footprints[above] < footprint) above++;
    if (above == 0) return rates[0];
    if (above == CEILING_FOOTPRINTS) return rates[CEILING_FOOTPRINTS - 1];
    double part =
        log(footprint / c->footprints[above - 1]) / log(c->footprints[above] / c->footprints[above - 1]);
    return rates[above - 1] + part * (rates[above] - rates[above - 1]);
}

static json_t *rates_json(const double *values) {
    json_t *list = json_array();
    for (int i = 0; i < CEILING_FOOTPRINTS; i++) json_array_append_new(list, json_real(values[i]));
    return list;
}

json_t *ceilings_json(const ceilings *c) {
    return json_pack("{s:s, s:f, s:f, s:f, s:o, s:o, s:o}", "kind", "ceilings", "launch_us", c->launch_us,
                     "shared_bytes_per_us", c->shared, "mma_s8_macs_per_us", c->mma_s8, "footprints",
                     rates_json(c->footprints), "gather_bytes_per_us", rates_json(c->gather),
                     "copy_bytes_per_us", rates_json(c->copy));
}
