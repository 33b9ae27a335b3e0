/* The plain kernel of a product by a vector, on the simulator: it reads every word once and writes every word of C. */
#include <stdlib.h>
#include "check.h"
#include "plain.h"

static mc_diag *diag;
static mc_device *device;

#define OK(call) CHECK((call) == MC_OK, "%s", mc_diag_text(diag))

/* C has a word for each thread, so that all sums are seen: their exclusive or is that of all words, which a word that
   was left out, or read twice, would change. What lies behind both is not touched. */
static void test_read(mc_module *module, uint64_t units, int shape, int multiprocessors) {
    plain_bytes of = {.bytes = units * 16};
    mc_launch launch = plain_launch(&of, shape, multiprocessors);
    size_t threads = (size_t)launch.grid[0] * launch.block[0], words = units * 4;
    uint32_t *data = malloc((words + 4) * sizeof *data), *sums = malloc((threads + 1) * sizeof *sums),
             all = 0;
    if (data == NULL || sums == NULL) abort();
    for (size_t i = 0; i < words + 4; i++) data[i] = (uint32_t)(i + 1) * 0x9e3779b1u;
    for (size_t i = 0; i < words; i++) all ^= data[i];
    of.written = threads * 4;
    OK(mc_device_alloc(device, (words + 4) * 4, &of.from, diag));
    OK(mc_device_alloc(device, (threads + 1) * 4, &of.to, diag));
    OK(mc_device_write(device, of.from, data, (words + 4) * 4, diag));
    OK(mc_device_fill(device, of.to, 0x5a, (threads + 1) * 4, diag));
    launch = plain_launch(&of, shape, multiprocessors);
    OK(mc_module_launch(module, &launch, diag));
    OK(mc_device_read(device, of.to, sums, (threads + 1) * 4, diag));
    CHECK(sums[threads] == 0x5a5a5a5a, "a word behind C was written");
    for (size_t i = 0; i < threads; i++) all ^= sums[i];
    CHECK(all == 0, "%zu units, shape %d: not every word was read once", (size_t)units, shape);
    CHECK(launch.grid[0] <= 8 * (unsigned)multiprocessors, "%u thread blocks", launch.grid[0]);
    mc_device_free(device, of.from);
    mc_device_free(device, of.to);
    free(data);
    free(sums);
}

/* More words of C than threads: each is written. */
static void test_write(mc_module *module) {
    enum { WORDS = 1000 };
    uint32_t words[WORDS + 1];
    plain_bytes of = {.bytes = 16, .written = WORDS * 4};
    OK(mc_device_alloc(device, 16, &of.from, diag));
    OK(mc_device_alloc(device, sizeof words, &of.to, diag));
    OK(mc_device_fill(device, of.from, 0, 16, diag));
    OK(mc_device_fill(device, of.to, 0x5a, sizeof words, diag));
    const mc_launch launch = plain_launch(&of, 0, 1);
    CHECK(launch.grid[0] == 1, "%u thread blocks", launch.grid[0]);
    OK(mc_module_launch(module, &launch, diag));
    OK(mc_device_read(device, of.to, words, sizeof words, diag));
    for (size_t i = 0; i < WORDS; i++) CHECK(words[i] == 0, "word %zu is not written", i);
    CHECK(words[WORDS] == 0x5a5a5a5a, "a word behind C was written");
    mc_device_free(device, of.from);
    mc_device_free(device, of.to);
}

int main(void) {
    static const uint64_t units[] = {1, 255, 256, 1024, 1025, 20000};
    mc_module *module = NULL;
    diag = mc_diag_create();
    OK(mc_device_open("sim", &device, diag));
    OK(plain_load(device, &module, diag));
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (int shape = 0; shape < PLAIN_SHAPES; shape++) test_read(module, units[i], shape, 2);
    test_write(module);
    mc_module_unload(module);
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
