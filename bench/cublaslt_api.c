#include <stddef.h>
#include "cublaslt_api.h"
#include "library.h"

mc_status cublaslt_open(cublaslt *lt, mc_diag *diag) {
    static const char *const names[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so", NULL};
    static const library_entry entries[] = {
#define X(result, name, parameters) {.symbol = "cublasLt" #name, .offset = offsetof(cublaslt, name)},
        LT_LIST(X)
#undef X
    };
    return library_open(names, entries, sizeof entries / sizeof entries[0], lt, diag);
}

mc_status cublaslt_check(int result, const char *call, mc_diag *diag) {
    return result == 0 ? MC_OK : mc_fail(diag, MC_DEVICE, "%s: status %d", call, result);
}

int vendor_type(mc_type type) {
    static const struct {
        mc_type type;
        int vendor;
    } rows[] = {{MC_F32, VENDOR_R_32F},      {MC_TF32, VENDOR_R_32F},    {MC_F16, VENDOR_R_16F},
                {MC_BF16, VENDOR_R_16BF},    {MC_S8, VENDOR_R_8I},       {MC_S32, VENDOR_R_32I},
                {MC_E4M3, VENDOR_R_8F_E4M3}, {MC_E5M2, VENDOR_R_8F_E5M2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].type == type) return rows[i].vendor;
    return -1;
}
