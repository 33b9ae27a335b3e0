/* The fundamental types of PTX (ISA, "Types"). */
#ifndef SIM_TYPES_H
#define SIM_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(name, bytes, kind). The kind is b (untyped bits), u, s, f, p (predicate: one bit a lane), x (two f16), or
   a: a format that instructions name and no register has (ISA, "Alternate Floating-Point Data Formats" and
   "Sub-Byte Types"). Of sub-byte types and of 8-bit floats, bytes is what the smallest register or memory
   access has. */
#define SIM_TYPE_LIST(X)                                                                                     \
    X(b8, 1, 'b')                                                                                            \
    X(b16, 2, 'b')                                                                                           \
    X(b32, 4, 'b')                                                                                           \
    X(b64, 8, 'b')                                                                                           \
    X(u8, 1, 'u')                                                                                            \
    X(u16, 2, 'u')                                                                                           \
    X(u32, 4, 'u')                                                                                           \
    X(u64, 8, 'u')                                                                                           \
    X(s8, 1, 's')                                                                                            \
    X(s16, 2, 's')                                                                                           \
    X(s32, 4, 's')                                                                                           \
    X(s64, 8, 's')                                                                                           \
    X(f16, 2, 'f')                                                                                           \
    X(f32, 4, 'f')                                                                                           \
    X(f64, 8, 'f')                                                                                           \
    X(pred, 4, 'p')                                                                                          \
    X(f16x2, 4, 'x')                                                                                         \
    X(bf16, 2, 'a')                                                                                          \
    X(bf16x2, 4, 'a')                                                                                        \
    X(tf32, 4, 'a')                                                                                          \
    X(e4m3, 1, 'a')                                                                                          \
    X(e5m2, 1, 'a')                                                                                          \
    X(e4m3x2, 2, 'a')                                                                                        \
    X(e5m2x2, 2, 'a')                                                                                        \
    X(u4, 1, 'a')                                                                                            \
    X(s4, 1, 'a')                                                                                            \
    X(u16x2, 4, 'a')                                                                                         \
    X(s16x2, 4, 'a')

enum sim_type {
    SIM_none,
#define X(name, bytes, kind) SIM_##name,
    SIM_TYPE_LIST(X)
#undef X
        SIM_TYPE_COUNT
};

struct sim_type_info {
    const char *name;
    uint8_t bytes;
    char kind;
};

extern const struct sim_type_info sim_types[SIM_TYPE_COUNT];

/* The type called TEXT ("u32"), SIM_none if there is none. */
enum sim_type sim_type_named(const char *text, size_t length);

/* The same for declarations: registers, variables and parameters have fundamental types only. */
enum sim_type sim_type_declared(const char *text, size_t length);

/* The type of KIND that is twice as wide as TYPE, SIM_none if there is none. */
enum sim_type sim_type_doubled(enum sim_type type);

/* Whether a register of type REG may be an operand of instruction type TYPE: same size, and kinds that agree
   (ISA, "Operand Type Information"). */
bool sim_type_fits(enum sim_type type, enum sim_type reg);

/* The relaxed rule of ld, st and cvt: the register may also be wider (ISA, "Operand Size Exceeding
   Instruction-Type Size"). */
bool sim_type_fits_relaxed(enum sim_type type, enum sim_type reg);

#endif
