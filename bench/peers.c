#include <string.h>
#include "peers.h"

/* Whether NAME has the first LENGTH letters of TEXT in it. */
static bool has_text(const char *name, const char *text, size_t length) {
    for (; strlen(name) >= length; name++)
        if (strncmp(name, text, length) == 0) return length > 0;
    return false;
}

bool peer_is_named(const char *list, const char *name) {
    if (list == NULL) return true;
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (has_text(name, list, length)) return true;
        list += length + (list[length] == ',');
    }
    return false;
}

/* The vendor's libraries do not say how f32 become tf32. */
static mc_type vendors(mc_type type) { return type == MC_TF32RZ ? MC_TF32 : type; }

bool peer_is_own(const peer_problem *p, mc_type a, mc_type b, mc_type result, unsigned results) {
    if (a != vendors(p->lhs) || b != vendors(p->rhs)) return false;
    return (p->outs & results) == 0 || (p->outs & 1u << result) != 0;
}

mc_status peer_check_dense(const char *name, int64_t rows, int64_t cols, mc_type type, mc_diag *diag) {
    double bytes = (double)rows * (double)cols * (double)mc_type_bytes(type);
    if (bytes <= PEER_MOST_BYTES) return MC_OK;
    return mc_fail(diag, MC_CANNOT, "with its zeros %s takes %.2f GiB, more than %d", name, bytes * 0x1p-30,
                   PEER_MOST_BYTES >> 30);
}

const char *peer_last_message(const mc_diag *diag) {
    const char *text = mc_diag_text(diag), *line = strrchr(text, '\n');
    return line == NULL ? text : line + 1;
}
