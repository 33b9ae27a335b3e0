/* A kernel from a spec, run on a random matrix and checked, in an application of one's own:
 *
 *   cc embed.c $(pkg-config --cflags --libs mcgen) -o embed && ./embed spmm_l8r8.lua [auto|sim|cuda:0] */
#include <mcrt.h>
#include <stdio.h>

/* C = A B for a 512 x 1024 matrix of 8x1 vectors at 90 % sparsity and 100 columns. */
static mc_status multiply(const char *spec_path, mc_device *device, mc_diag *diag) {
    const mc_pattern pattern = {.rows = 64, .cols = 1024, .sparsity = 0.9, .seed = 1};
    mc_csr csr = {0};
    mc_vsparse a = {0};
    mc_dense b = {0}, c = {0}, want = {0};
    mc_spec *spec = NULL;
    mc_kernel *kernel = NULL;

    mc_status status = mc_csr_generate(&pattern, &csr, diag);
    if (status == MC_OK) status = mc_vsparse_dilate(&csr, 8, MC_S8, &a, diag);
    if (status == MC_OK) status = mc_dense_create(MC_S8, a.cols, 100, 100, &b, diag);
    if (status == MC_OK) {
        mc_vsparse_fill(&a, MC_VALUES_FULL, 2, NULL);
        mc_dense_fill(&b, MC_VALUES_FULL, 3);
        status = mc_spec_read(spec_path, NULL, 0, &spec, diag);
    }
    if (status == MC_OK) status = mc_kernel_generate(spec, mc_spec_default(spec), &kernel, diag);
    mc_spmm problem = {.a = &a, .b = &b, .ldc = 100};
    if (status == MC_OK) status = mc_spmm_run(device, kernel, NULL, &problem, NULL, &c, diag);
    if (status == MC_OK) status = mc_reference_spmm(&a, &b, &want, diag);
    if (status == MC_OK) status = mc_dense_compare(&c, &want, diag);
    if (status == MC_OK)
        printf("exact on %s, C[0][0] = %lld\n", mc_device_get_info(device)->name,
               (long long)mc_dense_get(&c, 0, 0));

    mc_kernel_destroy(kernel);
    mc_spec_destroy(spec);
    mc_dense_free(&want);
    mc_dense_free(&c);
    mc_dense_free(&b);
    mc_vsparse_free(&a);
    mc_csr_free(&csr);
    return status;
}

int main(int argc, char **argv) {
    mc_diag *diag = mc_diag_create();
    mc_device *device = NULL;
    if (argc < 2 || !diag) {
        fprintf(stderr, "usage: embed SPEC.lua [DEVICE]\n");
        return 2;
    }
    mc_status status = mc_device_open(argc > 2 ? argv[2] : "auto", &device, diag);
    if (status == MC_OK) status = multiply(argv[1], device, diag);
    if (status != MC_OK) fprintf(stderr, "%s: %s\n", mc_status_text(status), mc_diag_text(diag));
    mc_device_close(device);
    mc_diag_destroy(diag);
    return status != MC_OK;
}
