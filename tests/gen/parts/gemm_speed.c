/* How fast the simulator runs a kernel of the list on one processor (docs/simulator.md, "Speed"): its
 * thread instructions and its multiply-adds a second, with all checks. Operands of 16 bits only.
 *
 *   gemm_speed [NAME [M N K]] */
#include "gemm.h"
#include "parts/tile_store.h"
#include "ptxsim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    ptxsim *sim;
    const gemm_config *config;
    int m, n, k;
} measure;

static void ok(const measure *at, ptxsim_status status) {
    if (status == PTXSIM_OK) return;
    fprintf(stderr, "%s: %s\n", at->config->name, at->sim ? ptxsim_fault_text(at->sim) : "no memory");
    exit(1);
}

/* Finite numbers of 16 bits. */
static uint64_t make_operand(const measure *at, size_t count) {
    uint16_t *values = malloc(2 * count);
    uint64_t address;
    if (!values) ok(at, PTXSIM_NOMEM);
    uint32_t state = 1;
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525 + 1013904223;
        values[i] = (uint16_t)(state >> 16 & 0xbbff);
    }
    ok(at, ptxsim_alloc(at->sim, 2 * count, &address));
    ok(at, ptxsim_write(at->sim, address, values, 2 * count));
    free(values);
    return address;
}

static ptxsim_tensor tensor(uint64_t address, int bytes, int rows, int columns, tensor_box box) {
    return (ptxsim_tensor){.size = sizeof(ptxsim_tensor),
                           .element = bytes == 2 ? PTXSIM_ELEMENT_F16 : PTXSIM_ELEMENT_F32,
                           .rank = 2,
                           .address = address,
                           .dims = {(uint64_t)columns, (uint64_t)rows},
                           .strides = {(uint64_t)(columns * bytes)},
                           .box = {(uint32_t)box.inner, (uint32_t)box.outer},
                           .swizzle = PTXSIM_SWIZZLE_128B};
}

static void run(measure *at) {
    const gemm_config *config = at->config;
    ptxsim_options options = {.size = sizeof options, .threads = 1};
    ok(at, ptxsim_create(&options, &at->sim));
    char *text = gemm_ptx(config, "gemm");
    ptxsim_module *module;
    const ptxsim_function *function;
    ok(at, ptxsim_module_load(at->sim, text, &module));
    ok(at, ptxsim_module_function(at->sim, module, "gemm", &function));
    free(text);

    int out = gemm_out_bytes(config);
    size_t c_bytes = (size_t)at->m * (size_t)at->n * (size_t)out;
    uint64_t a = make_operand(at, (size_t)at->m * (size_t)at->k), c, none = 0;
    uint64_t b = make_operand(at, (size_t)at->n * (size_t)at->k);
    ok(at, ptxsim_alloc(at->sim, c_bytes, &c));
    ok(at, ptxsim_fill(at->sim, c, 0, c_bytes));

    shared_tile a_tile = gemm_lhs(config), b_tile = gemm_rhs(config);
    int sharers = config->cluster ? config->cluster : 1;
    ptxsim_tensor tensors[] = {
        tensor(a, 2, at->m, at->k, tensor_copy_box(&a_tile, 1)),
        tensor(b, 2, at->n, at->k, tensor_copy_box(&b_tile, sharers)),
        tensor(c, out, at->m, at->n,
               (tensor_box){store_span(config->tile_n, out) / out, gemm_store_rows(config)}),
    };
    unsigned char maps[3][PTXSIM_TENSOR_MAP_BYTES];
    for (int i = 0; i < 3; i++) ok(at, ptxsim_tensor_map_encode(at->sim, &tensors[i], maps[i]));

    void *params[] = {&c, &none, &none, &at->m, &at->n, &at->k, &at->n, maps[0], maps[1], maps[2]};
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    ok(at, ptxsim_launch(at->sim, function, (ptxsim_dim3){(unsigned)sharers, 1, 1},
                         (ptxsim_dim3){(unsigned)gemm_threads(config), 1, 1}, (size_t)gemm_shared(config),
                         params));
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    double instructions = (double)ptxsim_counts_of(at->sim)->thread_instructions;
    printf("%-20s %d x %d x %d: %.3f s, %.1f M thread instructions, %.2f M a second, "
           "%.3f G multiply-adds a second\n",
           config->name, at->m, at->n, at->k, seconds, 1e-6 * instructions, 1e-6 * instructions / seconds,
           1e-9 * at->m * at->n * at->k / seconds);
    ptxsim_destroy(at->sim);
}

int main(int argc, char **argv) {
    measure at = {.m = 256, .n = 256, .k = 512};
    if (argc > 4) at.m = atoi(argv[2]), at.n = atoi(argv[3]), at.k = atoi(argv[4]);
    for (size_t i = 0; i < gemm_golden_count; i++)
        if (strcmp(gemm_goldens[i].name, argc > 1 ? argv[1] : "gemm_cooperative") == 0)
            at.config = &gemm_goldens[i];
    if (!at.config || at.m < 1 || at.n < 1 || at.k < 1)
        return fprintf(stderr, "usage: gemm_speed [NAME [M N K]]\n"), 2;
    run(&at);
    return 0;
}
