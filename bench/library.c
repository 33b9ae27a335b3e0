#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "library.h"

static void *open_anywhere(const char *name) {
    char path[256];
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library != NULL) return library;
    snprintf(path, sizeof path, "/usr/local/cuda/lib64/%s", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

mc_status library_open(const char *const *names, const library_entry *entries, size_t count, void *table,
                       mc_diag *diag) {
    void *library = NULL;
    for (size_t i = 0; names[i] != NULL && library == NULL; i++) library = open_anywhere(names[i]);
    if (library == NULL)
        return mc_fail(diag, MC_CANNOT, "%s is not on this machine (LD_LIBRARY_PATH?)", names[0]);
    for (size_t i = 0; i < count; i++) {
        void *symbol = dlsym(library, entries[i].symbol);
        if (symbol == NULL && !entries[i].optional)
            return mc_fail(diag, MC_CANNOT, "%s has no %s", names[0], entries[i].symbol);
        memcpy((char *)table + entries[i].offset, &symbol, sizeof symbol);
    }
    return MC_OK;
}
