/* What comes of an SpMM's sums: factors and a residual that a kernel takes, and the C that it must write. */
#ifndef MC_TESTS_SPARSE_OUTPUT_H
#define MC_TESTS_SPARSE_OUTPUT_H

#include "products.h"
#include "sparse_cases.h"

/* What some kernels of a test do with their sums. Others do nothing with them. */
enum { EPILOGUES = 2, EPILOGUE_SETTINGS = 6 };
static const mc_setting epilogues[EPILOGUES][EPILOGUE_SETTINGS] = {{{"out", "f16"},
                                                                    {"scale", "row"},
                                                                    {"bias", "column"},
                                                                    {"act", "relu"},
                                                                    {"residual", "f32"},
                                                                    {"beta", "tensor"}},
                                                                   {{"out", "bf16"},
                                                                    {"scale", "column"},
                                                                    {"bias", "row"},
                                                                    {"act", "none"},
                                                                    {"residual", "bf16"},
                                                                    {"beta", "tensor"}}};

/* Settings of a spec, with room for an epilogue's. */
typedef struct spec_settings {
    mc_setting all[24];
    size_t count;
} spec_settings;

static inline void set(spec_settings *s, const char *name, const char *value) {
    size_t i = 0;
    while (i < s->count && strcmp(s->all[i].field, name) != 0) i++;
    s->all[i] = (mc_setting){name, value};
    if (i == s->count) s->count++;
}

/* Those of kernel number I, in turn none and one of the epilogues; HAS_BETA: whether residuals have a factor. */
static inline void set_epilogue(spec_settings *s, size_t i, bool has_beta) {
    if (i % (EPILOGUES + 1) == 0) return;
    const mc_setting *epilogue = epilogues[i % (EPILOGUES + 1) - 1];
    const size_t count = has_beta ? EPILOGUE_SETTINGS : EPILOGUE_SETTINGS - 1;
    for (size_t e = 0; e < count; e++) set(s, epilogue[e].field, epilogue[e].value);
}

typedef struct sparse_output {
    mc_output output;
    mc_factors factors;
    mc_dense residual;
    float *scale, *bias, beta;
} sparse_output;

static inline void free_output(sparse_output *o) {
    mc_dense_free(&o->residual);
    free(o->scale), free(o->bias);
}

static inline float *make_factors(int64_t count, mcrt_random *random) {
    float *factors = calloc((size_t)count, sizeof *factors);
    for (int64_t i = 0; i < count; i++) factors[i] = (float)random_normal(random);
    return factors;
}

static inline mc_status make_output(const mc_kernel *kernel, int64_t rows, int64_t n, sparse_output *o,
                                    mc_diag *diag) {
    mcrt_random random = random_start((uint64_t)rows, (uint64_t)n);
    const char *adds = mc_kernel_field_text(kernel, "residual");
    mc_type type = MC_F32;
    *o = (sparse_output){.beta = -1.75F};
    mc_status status = mc_output_of(kernel, &o->output, diag);
    o->scale = make_factors(rows + n, &random), o->bias = make_factors(rows + n, &random);
    if (status == MC_OK && adds != NULL && strcmp(adds, "none") != 0) {
        status = mc_type_of(kernel, "residual", &type, diag);
        if (status == MC_OK) status = mc_dense_create(type, rows, n, n, &o->residual, diag);
        for (int64_t i = 0; status == MC_OK && i < rows * n; i++)
            mc_dense_set(&o->residual, i / n, i % n, number(type, &random));
    }
    o->factors = (mc_factors){.scale = o->output.scale ? o->scale : NULL,
                              .bias = o->output.bias ? o->bias : NULL,
                              .beta = o->output.beta ? &o->beta : NULL,
                              .residual = o->residual.data != NULL ? &o->residual : NULL};
    return status;
}

/* A run of KERNEL with these; its operands are A and B. */
static inline mc_run run_of(const mc_vsparse *a, const mc_dense *b, const sparse_output *o, int repeats) {
    mc_run run = {.operands.matrix = a, .repeats = repeats};
    run.operands.inputs[place_of_operand(MC_OP_SPMM, "b")] = b;
    run.operands.inputs[place_of_operand(MC_OP_SPMM, "residual")] = o->factors.residual;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "scale")] = o->factors.scale;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "bias")] = o->factors.bias;
    run.operands.factors[place_of_operand(MC_OP_SPMM, "beta")] = o->factors.beta;
    return run;
}

/* SUMS become C, which the call creates. */
static inline mc_status finish_sums(const sparse_output *o, const mc_dense *sums, mc_dense *c,
                                    mc_diag *diag) {
    return mc_reference_output(&o->output, &o->factors, sums, c, diag);
}

#endif
