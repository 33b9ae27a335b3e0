/* Which build of the driver compiles our PTX. cuDriverGetVersion names a CUDA version, which many builds have
   in common. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/cuda.h"

/* Where TEXT begins with a build ("580.95.05"), copies it.
   The file of a driver that tells no build ends in ".so.1". */
static bool take_build(const char *text, char build[MC_BUILD_TEXT]) {
    size_t major = strspn(text, "0123456789"), length = strspn(text, "0123456789.");
    if (major < 3 || length == major || length >= MC_BUILD_TEXT) return false;
    snprintf(build, MC_BUILD_TEXT, "%.*s", (int)length, text);
    return true;
}

/* The name of the driver's library, libcuda.so.580.95.05. First, since the compiler comes with it: a
   compatibility package puts a newer one over an older kernel module, whose build is what the others tell. */
static bool build_of_library(const cuda_driver *driver, char build[MC_BUILD_TEXT]) {
    static const char prefix[] = "libcuda.so.";
    void *symbol;
    Dl_info info;
    memcpy(&symbol, &driver->Init, sizeof symbol);
    if (dladdr(symbol, &info) == 0 || info.dli_fname == NULL) return false;
    char *path = realpath(info.dli_fname, NULL), *name = path ? strrchr(path, '/') : NULL;
    bool found = name != NULL && strncmp(name + 1, prefix, sizeof prefix - 1) == 0 &&
                 take_build(name + sizeof prefix, build);
    free(path);
    return found;
}

/* The NVIDIA Management Library, which is installed with the driver. */
static bool build_of_nvml(char build[MC_BUILD_TEXT]) {
    /* NVML_INIT_FLAG_*: no GPU is needed, none is touched, which would take time. */
    enum { NO_GPUS_NO_ATTACH = 1 | 2 };
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return false;
    int (*init)(unsigned), (*version)(char *, unsigned), (*shut_down)(void);
    void *symbols[] = {dlsym(library, "nvmlInitWithFlags"), dlsym(library, "nvmlSystemGetDriverVersion"),
                       dlsym(library, "nvmlShutdown")};
    bool found = false;
    char text[MC_BUILD_TEXT] = "";
    memcpy(&init, &symbols[0], sizeof init);
    memcpy(&version, &symbols[1], sizeof version);
    memcpy(&shut_down, &symbols[2], sizeof shut_down);
    if (init && version && shut_down && init(NO_GPUS_NO_ATTACH) == 0) {
        found = version(text, sizeof text - 1) == 0 && take_build(text, build);
        (void)shut_down();
    }
    (void)dlclose(library);
    return found;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue ...": the first word that is one. */
static bool build_of_module(char build[MC_BUILD_TEXT]) {
    char line[256] = "", *rest = line;
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    if (file == NULL) return false;
    bool found = false, read = fgets(line, sizeof line, file) != NULL;
    for (char *word; read && !found && (word = strsep(&rest, " \t\n")) != NULL;)
        found = take_build(word, build);
    (void)fclose(file);
    return found;
}

void driver_build(const cuda_driver *driver, int version, char text[MC_BUILD_TEXT]) {
    if (build_of_library(driver, text) || build_of_nvml(text) || build_of_module(text)) return;
    snprintf(text, MC_BUILD_TEXT, "%d.%d", version / 1000, version % 1000 / 10);
}
