/* atom and red. Lanes take effect one after another in lane order; the ISA leaves the order open. */
#include "lanes.h"

#include <float.h>
#include <math.h>

/* One lane's update: the memory's bytes, the register's lane b and, for cas, c. */
#define ATOMIC(name, T, expression)                                                                          \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *b = sim_source(warp, &insn->value[1]), *c = b;                                              \
        if (insn->value_count > 2) c = sim_source(warp, &insn->value[2]);                                    \
        uint64_t address[SIM_LANES];                                                                         \
        T r[SIM_LANES] = {0};                                                                                \
        sim_addresses(warp, insn, address);                                                                  \
        SIM_EACH_LANE(l) {                                                                                   \
            if (!SIM_ACTIVE(mask, l)) continue;                                                              \
            unsigned char *at = sim_access_memory(warp, insn, l, address[l], sizeof(T), SIM_UPDATE);         \
            if (!at) return;                                                                                 \
            T x, y = b[l], z = c[l];                                                                         \
            memcpy(&x, at, sizeof x);                                                                        \
            r[l] = x;                                                                                        \
            (void)y, (void)z;                                                                                \
            x = (T)(expression);                                                                             \
            memcpy(at, &x, sizeof x);                                                                        \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }

static bool is_global(const struct sim_insn *insn, uint64_t address) {
    bool in_window = address - SIM_SHARED_WINDOW < SIM_PARAM_WINDOW - SIM_SHARED_WINDOW;
    return insn->space == SIM_GLOBAL || (insn->space == SIM_GENERIC && !in_window);
}

static float flush(float x) { return fabsf(x) < FLT_MIN ? copysignf(0, x) : x; }

/* On global memory, subnormals are flushed (ISA, "atom"). A NaN is the canonical one. */
static float add_single(float x, float y, bool flushes) {
    const uint32_t nan = 0x7fffffff;
    float sum = flushes ? flush(flush(x) + flush(y)) : x + y;
    if (sum != sum) memcpy(&sum, &nan, sizeof sum);
    return sum;
}

ATOMIC(add_u32, uint32_t, x + y)
ATOMIC(add_u64, uint64_t, x + y)
ATOMIC(add_f32, float, add_single(x, y, is_global(insn, address[l])))
ATOMIC(add_f64, double, x + y)
sim_exec *const sim_atom_add[SIM_TYPE_COUNT] = {
    [SIM_u32] = add_u32, [SIM_s32] = add_u32, [SIM_u64] = add_u64, [SIM_f32] = add_f32, [SIM_f64] = add_f64};

#define EXTREMA(type, T)                                                                                     \
    ATOMIC(min_##type, T, x < y ? x : y)                                                                     \
    ATOMIC(max_##type, T, x > y ? x : y)
EXTREMA(u32, uint32_t)
EXTREMA(s32, int32_t)
EXTREMA(u64, uint64_t)
EXTREMA(s64, int64_t)
sim_exec *const sim_atom_min[SIM_TYPE_COUNT] = {
    [SIM_u32] = min_u32, [SIM_s32] = min_s32, [SIM_u64] = min_u64, [SIM_s64] = min_s64};
sim_exec *const sim_atom_max[SIM_TYPE_COUNT] = {
    [SIM_u32] = max_u32, [SIM_s32] = max_s32, [SIM_u64] = max_u64, [SIM_s64] = max_s64};

#define BITWISE(op, expression)                                                                              \
    ATOMIC(op##_b32, uint32_t, expression)                                                                   \
    ATOMIC(op##_b64, uint64_t, expression)                                                                   \
    sim_exec *const sim_atom_##op[SIM_TYPE_COUNT] = {[SIM_b32] = op##_b32, [SIM_b64] = op##_b64};
BITWISE(and, x &y)
BITWISE(or, x | y)
BITWISE(xor, x ^ y)
BITWISE(exch, y)
ATOMIC(cas_b16, uint16_t, x == y ? z : x)
ATOMIC(cas_b32, uint32_t, x == y ? z : x)
ATOMIC(cas_b64, uint64_t, x == y ? z : x)
sim_exec *const sim_atom_cas[SIM_TYPE_COUNT] = {
    [SIM_b16] = cas_b16, [SIM_b32] = cas_b32, [SIM_b64] = cas_b64};

/* inc counts up to y and starts again, dec counts down to 0 and starts again at y (ISA, "atom"). */
ATOMIC(inc_u32, uint32_t, x >= y ? 0 : x + 1)
ATOMIC(dec_u32, uint32_t, x == 0 || x > y ? y : x - 1)
sim_exec *const sim_atom_inc[SIM_TYPE_COUNT] = {[SIM_u32] = inc_u32};
sim_exec *const sim_atom_dec[SIM_TYPE_COUNT] = {[SIM_u32] = dec_u32};
