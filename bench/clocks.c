#include <stddef.h>
#include "clocks.h"
#include "library.h"

enum { CLOCK_SM = 1, CLOCK_MEMORY = 2 }; /* nvmlClockType_t */

typedef struct nvml {
    int (*init)(void);
    int (*shutdown)(void);
    int (*device)(unsigned index, void **device);
    int (*clock)(void *device, int type, unsigned *mhz);
    int (*driver)(char *version, unsigned size);
} nvml;

clock_reading clocks_read(int ordinal) {
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    static const library_entry entries[] = {
        {.symbol = "nvmlInit_v2", .offset = offsetof(nvml, init)},
        {.symbol = "nvmlShutdown", .offset = offsetof(nvml, shutdown)},
        {.symbol = "nvmlDeviceGetHandleByIndex_v2", .offset = offsetof(nvml, device)},
        {.symbol = "nvmlDeviceGetClockInfo", .offset = offsetof(nvml, clock)},
        {.symbol = "nvmlSystemGetDriverVersion", .offset = offsetof(nvml, driver)}};
    nvml api;
    clock_reading reading = {0, 0, ""};
    void *device;
    if (library_open(names, entries, sizeof entries / sizeof entries[0], &api, NULL) != MC_OK) return reading;
    if (api.init() != 0) return reading;
    if (api.device((unsigned)ordinal, &device) == 0) {
        (void)api.clock(device, CLOCK_SM, &reading.sm_mhz);
        (void)api.clock(device, CLOCK_MEMORY, &reading.memory_mhz);
    }
    if (api.driver(reading.driver, sizeof reading.driver) != 0) reading.driver[0] = '\0';
    (void)api.shutdown();
    return reading;
}
