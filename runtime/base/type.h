/* Element types (MC_TYPE_LIST of mcrt.h): sizes, names, ranges. */
#ifndef MCRT_TYPE_H
#define MCRT_TYPE_H

#include "mcgen.h"
#include "mcrt.h"

enum {
#define X(name, text, bits, bytes, descr) +1
    MC_TYPE_COUNT = MC_TYPE_LIST(X)
#undef X
};

MC_API int mc_type_bits(mc_type type);     /* of the value */
MC_API size_t mc_type_bytes(mc_type type); /* of an element in memory; 0: two to a byte */
/* Bytes of COUNT elements one after another, the last one filled up;
   -1 where they leave int64 or COUNT is negative. */
MC_API int64_t mc_type_size(mc_type type, int64_t count);
MC_API const char *mc_type_text(mc_type type);
MC_API mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag);
/* The type that FIELD ("lhs", "rhs", "out") of KERNEL names; MC_CANNOT where it has no such field. */
MC_API mc_status mc_type_of(const mc_kernel *kernel, const char *field, mc_type *type, mc_diag *diag);
MC_API bool mc_type_is_real(mc_type type); /* f16, bf16, f32 */
MC_API int64_t mc_type_min(mc_type type);  /* of the integers */
MC_API int64_t mc_type_max(mc_type type);

#endif
