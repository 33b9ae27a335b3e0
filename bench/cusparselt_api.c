#include <stddef.h>
#include "cusparselt_api.h"
#include "library.h"

mc_status cusparselt_open(cusparselt *lts, mc_diag *diag) {
    static const char *const names[] = {"libcusparseLt.so.0", "libcusparseLt.so", NULL};
    static const library_entry entries[] = {
#define X(name, parameters) {.symbol = "cusparseLt" #name, .offset = offsetof(cusparselt, name)},
        LTS_LIST(X)
#undef X
    };
    return library_open(names, entries, sizeof entries / sizeof entries[0], lts, diag);
}

mc_status cusparselt_check(int result, const char *call, mc_diag *diag) {
    return result == 0 ? MC_OK : mc_fail(diag, MC_DEVICE, "%s: status %d", call, result);
}
