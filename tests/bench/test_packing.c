/* A work's matrix packed on the device, which is the simulator: what is measured, and compared with what the
   host packs. Arguments: two specs whose formats are packed there, the first with `reorder`, and one whose
   format is not. */
#include <stdlib.h>
#include <string.h>
#include "check.h"
#include "device_packing.h"
#include "matrix/unstructured.h"
#include "operation.h"

static mc_diag *diag;
static gpu_device gpu;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

static void open_gpu(void) {
    const mc_context_config config = {.size = sizeof config,
                                      .device = "sim",
                                      .cache = MC_CACHE_MEMORY,
                                      .records = "",
                                      .allocate = kept_take,
                                      .release = kept_give,
                                      .memory_user = &gpu};
    OK(mc_context_create(&config, &gpu.context, diag));
    gpu.device = gpu.context->device;
}

/* A problem without a size: the matrix and its packings. */
static void prepare(work *w, const variant_list *list) {
    const mc_power_law law = {.rows = 60, .cols = 50, .degree = 4, .exponent = 2, .seed = 1};
    mc_csr csr;
    *w = (work){.packings = calloc(list->packing_count + 1, sizeof *w->packings)};
    OK(mc_csr_generate_power(&law, &csr, diag));
    OK(list->operation->dilate(list, &csr, 1, &w->a, diag));
    for (size_t i = 0; i < list->packing_count; i++)
        OK(mc_pack(list->packings[i], &w->a, &w->packings[i], diag));
    mc_csr_free(&csr);
}

static void load(variant_list *list, char *spec, const mc_setting *settings, size_t count) {
    char *paths[] = {spec, NULL};
    OK(variants_choose(list, paths, settings, count, 90, "all", diag));
    OK(variants_load(list, NULL, 2, diag));
}

static void test_measured(char *spec) {
    const work_plan plan = {.variants = NULL};
    variant_list list;
    work w, other;
    device_packing kept = {0};
    device_packing_time time, again;
    load(&list, spec, NULL, 0);
    work_plan of = plan;
    of.variants = &list;
    prepare(&w, &list);
    prepare(&other, &list);
    const size_t last = list.packing_count - 1;
    OK(device_packing_measure(&kept, &gpu, &list, &w, 0, &time, diag));
    CHECK(time.pack > 0 && time.matrix > 0, "%f %f", time.pack, time.matrix);
    const size_t blocks = gpu.kept.count;
    OK(device_packing_measure(&kept, &gpu, &list, &w, 0, &again, diag));
    CHECK(again.pack == time.pack && again.matrix == time.matrix, "once for all sizes");
    OK(device_packing_measure(&kept, &gpu, &list, &w, last, &again, diag));
    CHECK(again.pack > 0 && again.matrix == time.matrix, "%f %f", again.pack, again.matrix);
    CHECK(last == 0 || gpu.kept.count < 2 * blocks, "%zu and %zu blocks", blocks, gpu.kept.count);
    OK(device_packing_measure(&kept, &gpu, &list, &other, 0, &again, diag));
    CHECK(kept.of == &other && again.matrix != time.matrix, "another work is measured anew");

    /* What the host packs otherwise, in whichever array, is told. */
    for (size_t i = 0; i < other.packings[0].array_count; i++) {
        const mc_packed_array *array = &other.packings[0].arrays[i];
        const size_t bytes = (size_t)mc_type_size(array->type, array->count);
        if (bytes == 0) continue;
        device_packing_forget(&kept, &gpu);
        ((unsigned char *)array->data)[bytes - 1] ^= 1;
        CHECK(device_packing_measure(&kept, &gpu, &list, &other, 0, &again, diag) == MC_MISMATCH &&
                  strstr(mc_diag_text(diag), array->name) != NULL,
              "%s: %s", array->name, mc_diag_text(diag));
        ((unsigned char *)array->data)[bytes - 1] ^= 1;
        mc_diag_clear(diag);
    }
    device_packing_forget(&kept, &gpu);
    CHECK(gpu.kept.count == 0, "%zu blocks are in use", gpu.kept.count);
    work_release(&w, &of);
    work_release(&other, &of);
    variants_close(&list);
}

/* COUNT settings of SPEC make it one that is packed on the host. */
static void test_on_host(char *spec, const mc_setting *settings, size_t count) {
    variant_list list;
    work w;
    device_packing kept = {0};
    device_packing_time time;
    load(&list, spec, settings, count);
    const work_plan plan = {.variants = &list};
    prepare(&w, &list);
    OK(device_packing_measure(&kept, &gpu, &list, &w, 0, &time, diag));
    CHECK(time.pack == 0 && time.matrix == 0, "%s: %f %f", spec, time.pack, time.matrix);
    device_packing_forget(&kept, &gpu);
    CHECK(gpu.kept.count == 0, "%zu blocks are in use", gpu.kept.count);
    work_release(&w, &plan);
    variants_close(&list);
}

int main(int argc, char **argv) {
    const mc_setting reorder = {"reorder", "similarity"};
    if (argc < 4) return 1;
    diag = mc_diag_create();
    open_gpu();
    test_measured(argv[1]);
    test_measured(argv[2]);
    test_on_host(argv[1], &reorder, 1);
    test_on_host(argv[3], NULL, 0);
    mc_context_destroy(gpu.context);
    mc_diag_destroy(diag);
    return check_end();
}
