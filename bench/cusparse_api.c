#include <stddef.h>
#include "cusparse_api.h"
#include "library.h"

mc_status cusparse_open(cusparse *sp, mc_diag *diag) {
    static const char *const names[] = {"libcusparse.so.12", "libcusparse.so.13", "libcusparse.so", NULL};
    static const library_entry entries[] = {
#define X(name, parameters) {"cusparse" #name, offsetof(cusparse, name), false},
        SP_LIST(X)
#undef X
#define X(name, parameters) {"cusparse" #name, offsetof(cusparse, name), true},
            SP_NEWER_LIST(X)
#undef X
    };
    return library_open(names, entries, sizeof entries / sizeof entries[0], sp, diag);
}

mc_status cusparse_check(int result, const char *call, mc_diag *diag) {
    return result == 0 ? MC_OK : mc_fail(diag, MC_DEVICE, "%s: status %d", call, result);
}
