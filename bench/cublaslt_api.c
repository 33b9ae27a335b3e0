#include <stddef.h>
#include "cublaslt_api.h"
#include "library.h"

mc_status cublaslt_open(cublaslt *lt, mc_diag *diag) {
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};
    static const library_entry entries[] = {
#define X(result, name, parameters) {"cublasLt" #name, offsetof(cublaslt, name)},
        LT_LIST(X)
#undef X
    };
    return library_open(names, entries, sizeof entries / sizeof entries[0], lt, diag);
}

mc_status cublaslt_check(int result, const char *call, mc_diag *diag) {
    return result == 0 ? MC_OK : mc_fail(diag, MC_DEVICE, "%s: status %d", call, result);
}
