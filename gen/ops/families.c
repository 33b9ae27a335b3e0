#include "ops/families.h"
#include <string.h>

extern const mc_family mc_family_spmm, mc_family_sddmm;

const mc_family *const mc_families[] = {&mc_family_spmm, &mc_family_sddmm, NULL};

const mc_family *family_find(const char *name) {
    for (int i = 0; mc_families[i]; i++) {
        if (strcmp(mc_families[i]->name, name) == 0) return mc_families[i];
    }
    return NULL;
}
