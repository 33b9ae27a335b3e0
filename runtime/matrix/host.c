#include "matrix/host.h"

const char *matrix_kind_text(matrix_kind kind) {
    static const char *const texts[MATRIX_KINDS] = {
        [MATRIX_VECTORS] = "nonzero vectors", [MATRIX_CSR] = "single elements (CSR)"};
    return texts[kind];
}
