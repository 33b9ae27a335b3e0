/* Any bytes as a kernel without its spec. '1' in front: as what follows the first line of a saved kernel;
   else as fields. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mcgen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition) {
    if (!condition) abort();
}

/* A kernel or a reason; a kernel is the one that its own text names. */
static void check_kernel(mc_status status, const mc_kernel *kernel, const mc_diag *diag) {
    require((status == MC_OK) == (kernel != NULL) && (status == MC_OK) == (mc_diag_count(diag) == 0));
    if (kernel == NULL) return;
    mc_kernel *again = NULL;
    char *saved = mc_kernel_save(kernel);
    require(saved && mc_kernel_restore(saved, &again, NULL) == MC_OK);
    require(strcmp(mc_kernel_fields(again), mc_kernel_fields(kernel)) == 0);
    char *a = mc_kernel_describe(kernel, true), *b = mc_kernel_describe(again, true);
    require(a && b && strcmp(a, b) == 0);
    free(a);
    free(b);
    free(saved);
    mc_kernel_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mc_diag *diag = mc_diag_create();
    mc_kernel *kernel = NULL;
    char *text = malloc(size + 64);
    if (!diag || !text) abort();
    bool saved = size > 0 && data[0] == '1';
    int head = saved ? sprintf(text, "mcgen kernel %s\n", mc_generator_id()) : 0;
    if (size > saved) memcpy(text + head, data + saved, size - saved);
    text[head + (int)(size - saved)] = '\0';
    check_kernel(saved ? mc_kernel_restore(text, &kernel, diag) : mc_kernel_from_fields(text, &kernel, diag),
                 kernel, diag);
    mc_kernel_destroy(kernel);
    mc_diag_destroy(diag);
    free(text);
    return 0;
}
