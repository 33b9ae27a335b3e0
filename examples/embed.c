/* One layer of a pruned, quantised network, y = relu(scale * (W x) + bias), in a program that includes mcrt.h
 * and nothing else of mcgen's:
 *
 *   cc embed.c $(pkg-config --cflags --libs mcrt) -lm -o embed && ./embed [cuda:0|sim]
 *
 * W is pruned in vectors of 8 x 1: eight neighbouring rows have their weights in the same columns. */
#include <mcrt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { OUTPUTS = 256, INPUTS = 512, BATCH = 64, VEC = 8 };

static int8_t w[OUTPUTS][INPUTS]; /* dense, 90 % zeros */
static int8_t x[INPUTS][BATCH];   /* a column for each sample */
static float scale[OUTPUTS], bias[OUTPUTS], y[OUTPUTS][BATCH];

static int8_t any_s8(void) { return (int8_t)(rand() % 256 - 128); }

static void make_layer(void) {
    for (int row = 0; row < OUTPUTS; row += VEC)
        for (int col = 0; col < INPUTS; col++)
            for (int r = 0, kept = rand() % 10 == 0; kept && r < VEC; r++) w[row + r][col] = any_s8();
    for (int k = 0; k < INPUTS; k++)
        for (int sample = 0; sample < BATCH; sample++) x[k][sample] = any_s8();
    for (int row = 0; row < OUTPUTS; row++) {
        scale[row] = 0.001f * (float)(1 + row % 7);
        bias[row] = 0.25f * (float)(row % 5 - 2);
    }
}

/* What the layer must give, in plain C: bit for bit, as docs/output.md says. */
static float expected(int row, int sample) {
    int sum = 0;
    for (int k = 0; k < INPUTS; k++) sum += w[row][k] * x[k][sample];
    return fmaxf(fmaf((float)sum, scale[row], bias[row]), 0);
}

/* BYTES of memory on the device, with DATA in them unless that is NULL. */
static mc_address upload(mc_context *context, const void *data, size_t bytes, mc_status *status,
                         mc_diag *diag) {
    mc_address address = 0;
    if (*status == MC_OK && bytes > 0) *status = mc_memory_create(context, bytes, &address, diag);
    if (*status == MC_OK && data != NULL) *status = mc_memory_write(context, address, data, bytes, diag);
    return address;
}

static mc_status run_layer(mc_context *context, mc_diag *diag) {
    mc_matrix *weights = NULL;
    mc_plan *plan = NULL;

    /* Once, when the model is loaded: the plan finds the kernel, compiles it or takes it from the cache, and
       packs W for it. */
    mc_dense_config dense = {
        .size = sizeof dense, .type = MC_S8, .vec = VEC, .rows = OUTPUTS, .cols = INPUTS, .data = w};
    mc_status status = mc_matrix_from_dense(context, &dense, &weights, diag);
    mc_plan_config problem = {.size = sizeof problem,
                              .op = MC_OP_SPMM,
                              .matrix = weights,
                              .b = MC_S8,
                              .c = MC_F32,
                              .n = BATCH,
                              .scale = MC_PER_ROW,
                              .bias = MC_PER_ROW,
                              .activation = MC_ACTIVATION_RELU};
    if (status == MC_OK) status = mc_plan_create(context, &problem, &plan, diag);
    mc_args args = {.size = sizeof args,
                    .b = upload(context, x, sizeof x, &status, diag),
                    .c = upload(context, NULL, sizeof y, &status, diag),
                    .scale = upload(context, scale, sizeof scale, &status, diag),
                    .bias = upload(context, bias, sizeof bias, &status, diag)};
    mc_address workspace = upload(context, NULL, plan ? mc_plan_workspace(plan) : 0, &status, diag);

    /* For each batch: one launch on the stream of the application, here the default one. */
    if (status == MC_OK) status = mc_execute(plan, &args, workspace, NULL, diag);
    if (status == MC_OK) status = mc_synchronize(context, NULL, diag);
    if (status == MC_OK) status = mc_memory_read(context, args.c, y, sizeof y, diag);

    mc_plan_info info = {.size = sizeof info};
    if (status == MC_OK) status = mc_plan_get_info(plan, &info, diag);
    if (status == MC_OK) printf("kernel: %s\n", info.fields);
    const mc_address memory[] = {args.b, args.c, args.scale, args.bias, workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) mc_memory_destroy(context, memory[i]);
    mc_plan_destroy(plan);
    mc_matrix_destroy(weights);
    return status;
}

int main(int argc, char **argv) {
    mc_diag *diag = mc_diag_create();
    mc_context *context = NULL;
    mc_context_config config = {.size = sizeof config, .device = argc > 1 ? argv[1] : "auto"};
    mc_status status = mc_context_create(&config, &context, diag);
    make_layer();
    if (status == MC_OK) status = run_layer(context, diag);
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    int wrong = 0;
    for (int i = 0; status == MC_OK && i < OUTPUTS * BATCH; i++)
        wrong += y[i / BATCH][i % BATCH] != expected(i / BATCH, i % BATCH);
    if (status == MC_OK)
        printf("y[2][0] = %g, %d of %d outputs wrong\n", (double)y[2][0], wrong, OUTPUTS * BATCH);
    mc_context_destroy(context);
    mc_diag_destroy(diag);
    return status != MC_OK || wrong > 0;
}
