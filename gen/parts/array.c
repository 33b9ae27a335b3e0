#include "parts/batch.h"
#include "parts/emit.h"

mc_reg load_array(mc_builder *b, const char *name) {
    mc_reg reg = b64(b, name);
    EMIT(b, ld_param_u64, reg, NAME(name));
    EMIT(b, cvta_global, reg, reg);
    batch_move(b, name, reg);
    return reg;
}
