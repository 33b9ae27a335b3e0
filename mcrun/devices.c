/* mcrun devices */
#include <jansson.h>
#include <stdio.h>
#include "options.h"

typedef struct devices_options {
    bool json;
} devices_options;

static const cmd_option options_table[] = {
    {"json", 0, OPTION_SWITCH, offsetof(devices_options, json), NULL, 0, 0, "print JSON"},
};

static const char row_format[] = "%-10s%-32s%-12s%-10s%-12s%s\n";

static void print_row(const char *name, const mc_device_info *info) {
    char capability[32] = "-", driver[32] = "-", memory[32] = "-", processors[32] = "-";
    if (info->kind == MC_DEVICE_CUDA) {
        snprintf(capability, sizeof capability, "%d.%d", info->capability / 10, info->capability % 10);
        snprintf(driver, sizeof driver, "%d.%d", info->driver / 1000, info->driver % 1000 / 10);
        snprintf(memory, sizeof memory, "%.1f GiB", (double)info->memory / (1 << 30));
        snprintf(processors, sizeof processors, "%d", info->multiprocessors);
    }
    printf(row_format, name, info->name, capability, driver, memory, processors);
}

static json_t *row_json(const char *name, const mc_device_info *info) {
    return json_pack("{s:s, s:s, s:i, s:i, s:I, s:i}", "device", name, "name", info->name, "capability",
                     info->capability, "driver", info->driver, "memory", (json_int_t)info->memory,
                     "multiprocessors", info->multiprocessors);
}

/* Prints one device, or appends it to LIST where that is not NULL. */
static mc_status show(const char *name, json_t *list, mc_diag *diag) {
    mc_device *device;
    mc_status status = mc_device_open(name, &device, diag);
    if (status != MC_OK) return status;
    const mc_device_info *info = mc_device_get_info(device);
    if (list == NULL) print_row(name, info);
    else if (json_array_append_new(list, row_json(name, info)) != 0)
        status = mc_fail(diag, MC_NOMEM, "out of memory");
    mc_device_close(device);
    return status;
}

static mc_status show_all(json_t *list, mc_diag *diag) {
    int count = mc_device_cuda_count();
    mc_status status = show("sim", list, diag);
    for (int i = 0; i < count && status == MC_OK; i++) {
        char name[32];
        snprintf(name, sizeof name, "cuda:%d", i);
        status = show(name, list, diag);
    }
    return status;
}

/* Why the table lists no GPU, in the words of the attempt to open one. */
static void explain_absence(void) {
    mc_device *device;
    mc_diag *diag = mc_diag_create();
    if (mc_device_cuda_count() == 0 && mc_device_open("cuda:0", &device, diag) != MC_OK && diag != NULL)
        printf("no GPU: %s\n", mc_diag_text(diag));
    mc_diag_destroy(diag);
}

static int devices_run(int argc, char **argv) {
    devices_options options = {0};
    int exit_status;
    if (!cmd_parse(&cmd_devices, argc, argv, &options, NULL, &exit_status)) return exit_status;
    mc_diag *diag = mc_diag_create();
    json_t *list = options.json ? json_array() : NULL;
    if (!options.json) printf(row_format, "device", "name", "capability", "driver", "memory", "SMs");
    mc_status status = show_all(list, diag);
    if (status == MC_OK && !options.json) explain_absence();
    if (status == MC_OK && options.json) status = cmd_print_json(list, diag);
    else json_decref(list);
    return cmd_finish(status, diag);
}

const cmd cmd_devices = {"devices",
                         "",
                         "lists the devices that kernels can run on",
                         0,
                         {{options_table, sizeof options_table / sizeof options_table[0]}},
                         devices_run};
