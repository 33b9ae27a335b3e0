/* A libnvidia-ml.so.1 that knows the driver's build, if it was initialised without touching GPUs. */
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

static int initialised;

EXPORT int nvmlInitWithFlags(unsigned flags) { return initialised = flags == 3, 0; }
EXPORT int nvmlShutdown(void) { return initialised = 0; }

EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned size) {
    snprintf(text, size, "577.12.01");
    return !initialised;
}
