/* The element types of libmcgen and libmcrt, each with all that both know of it: one table. A program that
   wants to walk the types uses MC_TYPE_LIST (mcrt.h), whose columns stay as they are. */
#ifndef MC_ELEMENT_H
#define MC_ELEMENT_H

/* T(X, NAME, text, bits, bytes, npy, kind, is_signed, exponent, accumulator, tensor, round, SIDE, side, OUT,
   out). X is handed through, for tables that are made of this one.

     text         how specs, records and messages call it
     bits         of the value
     bytes        of an element in memory; one with fewer bits is extended. 0: two elements share a byte, the
                  one of the lower index in its low half
     npy          its type in .npy files; narrow types are written as the next wider one
     kind         INTEGER; or FLOAT: a sign, an exponent of `exponent` bits, and a fraction of the rest, as
                  IEEE 754 has them; or FINITE: such a one without infinities, whose only NaN has every bit of
                  its magnitude set; or ROUNDED: an f32, whose fraction kernels round to 10 bits before they
                  multiply it; or CUT: an f32, whose fraction tensor cores cut off to 10 bits
     accumulator  the type in which kernels add up products of such values
     tensor       the type of a tensor map over an array of it; what the driver knows not goes by its bytes
     round        the instruction (gen/ptx/isa.def) that makes elements of f32: two floats of 16 or 8 bits, or
                  one integer of 8; of 4 bits the nearest integer; `none`: C of this type holds sums, or f32
                  as they are
     SIDE, side   SIDE: values of a product's side may have it, and in specs it is the word `side` of lhs and
                  rhs, counted from 0. NO: none may
     OUT, out     the same of C and of the field out

   Words keep their places, for kernels are saved by them; so new types get the next ones. Rows keep theirs as
   well, for the place of a row is the value of mc_type: new ones come last. */
#define MC_ELEMENT_LIST(T, X)                                                                                \
    T(X, S8, "s8", 8, 1, "|i1", INTEGER, 1, 0, S32, UINT8, cvt_s8_f32, SIDE, 0, OUT, 5)                      \
    T(X, U8, "u8", 8, 1, "|u1", INTEGER, 0, 0, S32, UINT8, cvt_u8_f32, SIDE, 1, OUT, 6)                      \
    T(X, S16, "s16", 16, 2, "<i2", INTEGER, 1, 0, S32, UINT16, none, SIDE, 6, NO, 0)                         \
    T(X, U16, "u16", 16, 2, "<u2", INTEGER, 0, 0, S32, UINT16, none, SIDE, 7, NO, 0)                         \
    T(X, S32, "s32", 32, 4, "<i4", INTEGER, 1, 0, S64, INT32, none, NO, 0, OUT, 0)                           \
    T(X, S64, "s64", 64, 8, "<i8", INTEGER, 1, 0, S64, INT64, none, NO, 0, OUT, 4)                           \
    T(X, S4, "s4", 4, 0, "|i1", INTEGER, 1, 0, S32, UINT8, cvt_s32_f32, SIDE, 2, OUT, 7)                     \
    T(X, U4, "u4", 4, 0, "|u1", INTEGER, 0, 0, S32, UINT8, cvt_s32_f32, SIDE, 3, OUT, 8)                     \
    T(X, S12, "s12", 12, 2, "<i2", INTEGER, 1, 0, S32, UINT16, none, SIDE, 4, NO, 0)                         \
    T(X, U12, "u12", 12, 2, "<u2", INTEGER, 0, 0, S32, UINT16, none, SIDE, 5, NO, 0)                         \
    T(X, F16, "f16", 16, 2, "<f2", FLOAT, 1, 5, F32, FLOAT16, cvt_f16x2, SIDE, 8, OUT, 1)                    \
    T(X, BF16, "bf16", 16, 2, "<V2", FLOAT, 1, 8, F32, BFLOAT16, cvt_bf16x2, SIDE, 9, OUT, 2)                \
    T(X, F32, "f32", 32, 4, "<f4", FLOAT, 1, 8, F32, FLOAT32, none, SIDE, 14, OUT, 3)                        \
    T(X, TF32, "tf32", 32, 4, "<f4", ROUNDED, 1, 8, F32, FLOAT32, none, SIDE, 10, NO, 0)                     \
    T(X, E4M3, "e4m3", 8, 1, "<V1", FINITE, 1, 4, F32, UINT8, cvt_e4m3x2, SIDE, 11, OUT, 9)                  \
    T(X, E5M2, "e5m2", 8, 1, "<f1", FLOAT, 1, 5, F32, UINT8, cvt_e5m2x2, SIDE, 12, OUT, 10)                  \
    T(X, TF32RZ, "tf32rz", 32, 4, "<f4", CUT, 1, 8, F32, FLOAT32, none, SIDE, 13, NO, 0)

/* The rows of sides, as SIDE(name, text, bits, kind, is_signed, place), and those of C, as OUT(name, text,
   bytes, kind, round, place): MC_ELEMENT_LIST(MC_ELEMENT_SIDE, ) with the macros SIDE, or OUT, and NO. */
#define MC_ELEMENT_SIDE(X, name, text, bits, bytes, npy, kind, is_signed, exponent, accumulator, tensor,     \
                        round, role, place, ...)                                                             \
    role(name, text, bits, kind, is_signed, place)
#define MC_ELEMENT_OUT(X, name, text, bits, bytes, npy, kind, is_signed, exponent, accumulator, tensor,      \
                       round, SIDE, side, role, place)                                                       \
    role(name, text, bytes, kind, round, place)

/* X(name, text, bits of the value, bytes in memory, type in .npy files). */
#define MC_ELEMENT_TYPE(X, name, text, bits, bytes, npy, ...) X(name, text, bits, bytes, npy)

#endif
