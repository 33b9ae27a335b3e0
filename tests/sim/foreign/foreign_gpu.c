/* Runs the stored PTX of the foreign kernels on a GPU, against the references that the simulator is held against. Exits with
 * 77, which CTest takes for "skipped", where there is none of compute capability 9.0. foreign_gpu FOLDER [DEVICE] */
#include "../../check.h"
#include "foreign.h"
#include "mcrt_internal.h"

static mc_device *device;
static mc_diag *diag;

static bool is_ok(mc_status status, const char *name) {
    CHECK(status == MC_OK, "%s: %s", name, mc_diag_text(diag));
    mc_diag_clear(diag);
    return status == MC_OK;
}

/* An allocation with BYTES of a seed in it, copied to HOST. */
static uint64_t put(const char *name, size_t bytes, enum foreign_input kind, unsigned seed, void *host) {
    uint64_t address = 0;
    foreign_fill(host, bytes, kind, seed);
    is_ok(mc_device_alloc(device, bytes, &address, diag), name);
    is_ok(mc_device_write(device, address, host, bytes, diag), name);
    return address;
}

static bool launch(const struct foreign_case *c, const char *text, uint64_t a, uint64_t b, uint64_t out) {
    mc_module *module;
    mc_launch launch = {.grid = {c->grid[0], c->grid[1], c->grid[2]},
                        .block = {c->block[0], c->block[1], c->block[2]},
                        .values = {a, b, out, c->n},
                        .count = 4};
    if (!is_ok(mc_module_load(device, text, "kernel", &module, diag), c->name)) return false;
    bool ran = is_ok(mc_module_launch(module, &launch, diag), c->name);
    mc_module_unload(module);
    return ran;
}

static void test(const struct foreign_case *c, const char *text) {
    char message[256];
    void *a = calloc(1, c->a_bytes), *b = calloc(1, c->b_bytes), *want = calloc(1, c->out_bytes),
         *got = calloc(1, c->out_bytes);
    uint64_t out = 0, left = put(c->name, c->a_bytes, c->a, 1, a),
             right = put(c->name, c->b_bytes, c->b, 2, b);
    is_ok(mc_device_alloc(device, c->out_bytes, &out, diag), c->name);
    is_ok(mc_device_fill(device, out, 0, c->out_bytes, diag), c->name);
    c->reference(a, b, want, c->n);
    if (launch(c, text, left, right, out) &&
        is_ok(mc_device_read(device, out, got, c->out_bytes, diag), c->name)) {
        int differs = foreign_differs(c, got, want, message, sizeof message);
        CHECK(!differs, "%s", message);
    }
    mc_device_free(device, left);
    mc_device_free(device, right);
    mc_device_free(device, out);
    free(a);
    free(b);
    free(want);
    free(got);
}

int main(int argc, char **argv) {
    const char *name = argc > 2 ? argv[2] : "cuda:0";
    if (argc < 2) return 2;
    diag = mc_diag_create();
    bool opened = mc_device_open(name, &device, diag) == MC_OK;
    if (!opened || (argc < 3 && mc_device_get_info(device)->capability != 90)) {
        printf("SKIPPED: no GPU of compute capability 9.0\n");
        return 77;
    }
    for (int i = 0; i < foreign_count; i++) {
        char *text = foreign_text(argv[1], foreign_cases[i].name);
        CHECK(text != NULL, "%s/%s.ptx", argv[1], foreign_cases[i].name);
        if (text) test(&foreign_cases[i], text);
        free(text);
    }
    mc_device_close(device);
    mc_diag_destroy(diag);
    return check_end();
}
