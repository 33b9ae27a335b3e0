/* Patterns that executors are written with: loops over 32 lanes, of which the compiler makes vector code. All
 * lanes are computed; those in the mask are kept. */
#ifndef SIM_LANES_H
#define SIM_LANES_H

#include "exec.h"

/* Executors d = EXPRESSION of the lane values x, y, z, which have type T. */
#define SIM_UNARY(name, R, T, expression)                                                                    \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]);                                                      \
        R r[SIM_LANES];                                                                                      \
        SIM_EACH_LANE(l) {                                                                                   \
            T x = a[l];                                                                                      \
            r[l] = (R)(expression);                                                                          \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }

#define SIM_BINARY2(name, R, T, U, expression)                                                               \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]);                                                      \
        const U *b = sim_source(warp, &insn->value[2]);                                                      \
        R r[SIM_LANES];                                                                                      \
        SIM_EACH_LANE(l) {                                                                                   \
            T x = a[l];                                                                                      \
            U y = b[l];                                                                                      \
            r[l] = (R)(expression);                                                                          \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }

#define SIM_BINARY(name, T, expression) SIM_BINARY2(name, T, T, T, expression)

#define SIM_TERNARY2(name, R, T, U, V, expression)                                                           \
    static void name(struct sim_warp *warp, const struct sim_insn *insn, uint32_t mask) {                    \
        const T *a = sim_source(warp, &insn->value[1]);                                                      \
        const U *b = sim_source(warp, &insn->value[2]);                                                      \
        const V *c = sim_source(warp, &insn->value[3]);                                                      \
        R r[SIM_LANES];                                                                                      \
        SIM_EACH_LANE(l) {                                                                                   \
            T x = a[l];                                                                                      \
            U y = b[l];                                                                                      \
            V z = c[l];                                                                                      \
            r[l] = (R)(expression);                                                                          \
        }                                                                                                    \
        sim_put(warp, &insn->value[0], r, sizeof *r, mask);                                                  \
    }

#define SIM_TERNARY(name, T, expression) SIM_TERNARY2(name, T, T, T, T, expression)

/* exec_select.c: the lanes where a comparison of floats holds, given where neither is a NaN, where the left
   one is less, and where they are equal; and those lanes combined with another predicate's. */
uint32_t sim_float_relation(unsigned comparison, uint32_t ordered, uint32_t less, uint32_t equal);
uint32_t sim_combine(unsigned how, uint32_t bits, uint32_t with);

/* exec_set.c: whether a set compares or yields halves, or flushes; and such a set. */
bool sim_set_is_narrow(const struct sim_insn *insn);
sim_exec sim_set_narrow;

/* exec_warp.c: whether the member mask of a .sync instruction, VALUE, names exactly lanes that are here;
   false after a fault. */
bool sim_members_are_here(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_value *value,
                          uint32_t mask);

/* The address of every lane's access. */
static inline void sim_addresses(const struct sim_warp *warp, const struct sim_insn *insn,
                                 uint64_t address[SIM_LANES]) {
    uint64_t offset = (uint64_t)insn->offset;
    if (insn->base.kind == SIM_SINK) {
        SIM_EACH_LANE(l) address[l] = offset;
    } else if (sim_types[insn->base.type].bytes == 4) {
        const uint32_t *base = sim_source(warp, &insn->base);
        SIM_EACH_LANE(l) address[l] = (uint32_t)(base[l] + offset);
    } else {
        const uint64_t *base = sim_source(warp, &insn->base);
        SIM_EACH_LANE(l) address[l] = base[l] + offset;
    }
}

#endif
