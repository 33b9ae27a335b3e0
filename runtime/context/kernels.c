/* Loaded kernels, by their fields: those in use, and the last few that nobody uses. Last used first. */
#include "context/kernels.h"
#include <stdlib.h>
#include <string.h>

static void kernel_free(loaded_kernel *kernel) {
    mc_module_unload(kernel->module);
    mc_kernel_destroy(kernel->kernel);
    free(kernel->jit_log);
    free(kernel->fields);
    free(kernel);
}

/* -- The list: under the lock */

static void push(mc_context *context, loaded_kernel *kernel) {
    kernel->next = context->kernels;
    context->kernels = kernel;
}

static void take_out(mc_context *context, loaded_kernel *kernel) {
    loaded_kernel **at = &context->kernels;
    while (*at != kernel) at = &(*at)->next;
    *at = kernel->next;
}

static loaded_kernel *look_up(mc_context *context, const char *fields) {
    loaded_kernel *kernel = context->kernels;
    while (kernel != NULL && strcmp(kernel->fields, fields) != 0) kernel = kernel->next;
    return kernel;
}

/* The one that was used longest ago of those that nobody uses, if there are too many; out of the list. */
static loaded_kernel *take_surplus(mc_context *context) {
    loaded_kernel *last = NULL;
    int unused = 0;
    for (loaded_kernel *kernel = context->kernels; kernel != NULL; kernel = kernel->next)
        if (kernel->users == 0) unused++, last = kernel;
    if (unused <= KERNELS_KEPT) return NULL;
    take_out(context, last);
    return last;
}

/* -- Loading */

static mc_status load_image(mc_context *context, loaded_kernel *kernel, const mc_image *image,
                            mc_diag *diag) {
    return mc_module_load_image(context->device, image, mc_kernel_contract(kernel->kernel)->entry,
                                &kernel->module, diag);
}

/* Where the driver does not load what the cache has, that is no error but a miss. */
static mc_status load_anew(mc_context *context, loaded_kernel *kernel, const char *why, mc_diag *diag) {
    mc_image image;
    mc_kernel_destroy(kernel->kernel);
    free(kernel->jit_log);
    mc_status status =
        kernels_make_anew(context, kernel->fields, why, &kernel->kernel, &image, &kernel->jit_log, diag);
    if (status == MC_OK) status = load_image(context, kernel, &image, diag);
    mc_image_free(&image);
    return status;
}

static mc_status load_cached(mc_context *context, loaded_kernel *kernel, const mc_image *image,
                             mc_diag *diag) {
    mc_diag *why = mc_diag_create();
    if (why == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = load_image(context, kernel, image, why);
    if (status != MC_OK) status = load_anew(context, kernel, mc_diag_text(why), diag);
    mc_diag_destroy(why);
    return status;
}

/* All of KERNEL but its place in the list. */
static mc_status load(mc_context *context, loaded_kernel *kernel, mc_diag *diag) {
    mc_image image;
    bool from_cache;
    mc_status status =
        kernels_make(context, kernel->fields, &kernel->kernel, &image, &from_cache, &kernel->jit_log, diag);
    if (status != MC_OK) return status;
    status =
        from_cache ? load_cached(context, kernel, &image, diag) : load_image(context, kernel, &image, diag);
    mc_image_free(&image);
    return status;
}

mc_status kernels_load(mc_context *context, const mc_kernel *kernel, mc_module **module, mc_diag *diag) {
    loaded_kernel alone = {.fields = strdup(mc_kernel_fields(kernel))};
    *module = NULL;
    mc_status status =
        alone.fields != NULL ? load(context, &alone, diag) : mc_fail(diag, MC_NOMEM, "out of memory");
    if (status == MC_OK) *module = alone.module;
    mc_kernel_destroy(alone.kernel);
    free(alone.jit_log);
    free(alone.fields);
    return status;
}

/* -- Obtaining */

/* Being made, with one user: nobody but its maker touches it. */
static loaded_kernel *kernel_claim(const char *fields) {
    loaded_kernel *kernel = calloc(1, sizeof *kernel);
    if (kernel == NULL) return NULL;
    kernel->fields = strdup(fields);
    kernel->users = 1;
    if (kernel->fields != NULL) return kernel;
    free(kernel);
    return NULL;
}

/* A ready one, or NULL, and *CLAIMED (NULL: out of memory) is in the list for the caller to make. Waits for a
   thread that makes it; where that one fails, the caller is the next to try. */
static loaded_kernel *find_or_claim(mc_context *context, const char *fields, loaded_kernel **claimed) {
    loaded_kernel *kernel;
    *claimed = NULL;
    while ((kernel = look_up(context, fields)) != NULL && kernel->state == KERNEL_BEING_MADE)
        (void)pthread_cond_wait(&context->loaded, &context->lock);
    if (kernel != NULL) {
        kernel->users++;
        take_out(context, kernel);
        push(context, kernel);
        return kernel;
    }
    *claimed = kernel_claim(fields);
    if (*claimed != NULL) push(context, *claimed);
    return NULL;
}

/* What became of making KERNEL: ready for all, or out of the list. */
static void settle(mc_context *context, loaded_kernel *kernel, mc_status status) {
    (void)pthread_mutex_lock(&context->lock);
    if (status == MC_OK) {
        kernel->state = KERNEL_READY;
        context->loads++;
    } else {
        take_out(context, kernel);
    }
    (void)pthread_cond_broadcast(&context->loaded);
    (void)pthread_mutex_unlock(&context->lock);
    if (status != MC_OK) kernel_free(kernel);
}

mc_status kernels_obtain(mc_context *context, const char *fields, loaded_kernel **kernel, mc_diag *diag) {
    loaded_kernel *claimed;
    (void)pthread_mutex_lock(&context->lock);
    *kernel = find_or_claim(context, fields, &claimed);
    (void)pthread_mutex_unlock(&context->lock);
    if (*kernel != NULL) return MC_OK;
    if (claimed == NULL) return mc_fail(diag, MC_NOMEM, "out of memory");
    mc_status status = load(context, claimed, diag);
    settle(context, claimed, status);
    if (status == MC_OK) *kernel = claimed;
    return status;
}

void kernels_release(mc_context *context, loaded_kernel *kernel) {
    loaded_kernel *surplus;
    (void)pthread_mutex_lock(&context->lock);
    kernel->users--;
    surplus = take_surplus(context);
    (void)pthread_mutex_unlock(&context->lock);
    if (surplus != NULL) kernel_free(surplus);
}

void kernels_close(mc_context *context) {
    while (context->kernels != NULL) {
        loaded_kernel *kernel = context->kernels;
        context->kernels = kernel->next;
        kernel_free(kernel);
    }
}
