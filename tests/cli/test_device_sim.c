/* The simulator as a device: memory, errors with the simulator's words, and what it cannot do. */
#include "check.h"
#include "mcrt.h"

static const char ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry store(.param .u64 to, .param .s32 value)\n{\n"
                          "    .reg .u64 %to;\n    .reg .s32 %value;\n"
                          "    ld.param.u64 %to, [to];\n    ld.param.s32 %value, [value];\n"
                          "    st.global.s32 [%to], %value;\n    ret;\n}\n";

static mc_diag *diag;

static void expect(mc_status got, mc_status want, const char *text) {
    CHECK(got == want, "status %d, want %d: %s", got, want, mc_diag_text(diag));
    CHECK_TEXT(mc_diag_text(diag), text);
    mc_diag_clear(diag);
}

static void test_memory(mc_device *device) {
    uint64_t address;
    char bytes[8];
    expect(mc_device_alloc(device, 8, &address, diag), MC_OK, "");
    expect(mc_device_write(device, address, "abcd", 4, diag), MC_OK, "");
    expect(mc_device_read(device, address, bytes, 4, diag), MC_OK, "");
    CHECK(memcmp(bytes, "abcd", 4) == 0);
    expect(mc_device_read(device, address, bytes, 5, diag), MC_DEVICE, "never written");
    expect(mc_device_fill(device, address, 'x', 8, diag), MC_OK, "");
    expect(mc_device_read(device, address, bytes, 8, diag), MC_OK, "");
    CHECK(memcmp(bytes, "xxxxxxxx", 8) == 0);
    expect(mc_device_write(device, address + 1, "abcdefgh", 8, diag), MC_DEVICE, "out of bounds");
    expect(mc_device_read(device, address + 8, bytes, 0, diag), MC_OK, "");
    mc_device_free(device, address);
    expect(mc_device_read(device, address, bytes, 1, diag), MC_DEVICE, "simulator: ");
}

static void test_module(mc_device *device) {
    mc_module *module;
    uint64_t address;
    int32_t stored = 0;
    double time;
    expect(mc_device_alloc(device, 4, &address, diag), MC_OK, "");
    mc_launch launch = {.grid = {1, 1, 1}, .block = {1, 1, 1}, .values = {address, (uint32_t)-5}, .count = 2};
    expect(mc_module_load(device, ptx, "store", &module, diag), MC_OK, "");
    expect(mc_module_launch(module, &launch, diag), MC_OK, "");
    expect(mc_device_read(device, address, &stored, 4, diag), MC_OK, "");
    CHECK(stored == -5, "%d", stored);
    expect(mc_module_time(module, &launch, 1, 1, &time, diag), MC_CANNOT, "timing needs a GPU");
    expect(mc_module_enqueue(module, &launch, NULL, diag), MC_CANNOT, "the simulator has no streams");
    launch.values[0] = address + 4;
    expect(mc_module_launch(module, &launch, diag), MC_DEVICE, "line 10, block (0,0,0), thread (0,0,0)");
    mc_module_unload(module);
    mc_device_free(device, address);
    expect(mc_module_load(device, ptx, "other", &module, diag), MC_DEVICE, "other");
    CHECK(module == NULL);
    expect(mc_module_load(device, ".version 7.0\nnonsense", "store", &module, diag), MC_DEVICE, "line 2");
    CHECK(module == NULL);
}

int main(void) {
    static const char *const names[] = {"sim", "sim:reversed", "sim:seed=7"};
    diag = mc_diag_create();
    for (int i = 0; i < 2; i++) {
        mc_device *device;
        expect(mc_device_open(names[i], &device, diag), MC_OK, "");
        CHECK(mc_device_get_info(device)->kind == MC_DEVICE_SIM);
        test_memory(device);
        test_module(device);
        mc_device_close(device);
    }
    mc_diag_destroy(diag);
    return check_end();
}
