/* Element types: sizes, names, ranges, as the table (gen/mc_element.h) has them. */
#ifndef MCRT_TYPE_H
#define MCRT_TYPE_H

#include "mcgen.h"
#include "mcrt.h"

enum {
#define X(name, text, bits, bytes, descr) +1
    MC_TYPE_COUNT = MC_TYPE_LIST(X)
#undef X
};

/* The integers have exponent 0. A FINITE float has no infinities. ROUNDED and CUT ones are f32 in memory. */
typedef enum element_kind {
    ELEMENT_INTEGER,
    ELEMENT_FLOAT,
    ELEMENT_FINITE,
    ELEMENT_ROUNDED,
    ELEMENT_CUT
} element_kind;

/* What an array of such elements is to a tensor map. */
typedef enum element_tensor {
    TENSOR_UINT8,
    TENSOR_UINT16,
    TENSOR_INT32,
    TENSOR_INT64,
    TENSOR_FLOAT16,
    TENSOR_BFLOAT16,
    TENSOR_FLOAT32
} element_tensor;

/* A row of the table. */
typedef struct element_row {
    const char *text, *npy;
    int bits, bytes;
    element_kind kind;
    int64_t least, most; /* an integer's values; of floats all bits */
    bool is_side;        /* values of a side of a product may have it */
    bool is_out;         /* C may have it */
    int exponent;        /* bits of a float's exponent */
    mc_type accumulator;
    element_tensor tensor;
} element_row;

extern const element_row element_rows[MC_TYPE_COUNT];

MC_API int mc_type_bits(mc_type type);     /* of the value */
MC_API size_t mc_type_bytes(mc_type type); /* of an element in memory; 0: two to a byte */
/* Bytes of COUNT elements one after another, the last one filled up;
   -1 where they leave int64 or COUNT is negative. */
MC_API int64_t mc_type_size(mc_type type, int64_t count);
MC_API const char *mc_type_text(mc_type type);
MC_API mc_status mc_type_from_text(const char *text, mc_type *type, mc_diag *diag);
/* The type that FIELD ("lhs", "rhs", "out") of KERNEL names; MC_CANNOT where it has no such field. */
MC_API mc_status mc_type_of(const mc_kernel *kernel, const char *field, mc_type *type, mc_diag *diag);
MC_API bool mc_type_is_real(mc_type type); /* a float of any kind */
MC_API int64_t mc_type_min(mc_type type);  /* of the integers */
MC_API int64_t mc_type_max(mc_type type);
/* The type that elements of TYPE are in files and other programs: another one where TYPE only says how
   kernels multiply them. */
mc_type type_of_elements(mc_type type);
/* Whether TYPE is f32, f16 or bf16: a float of 16 bits or more, which is multiplied as it is. */
static inline bool type_is_wide_real(mc_type type) {
    return element_rows[type].kind == ELEMENT_FLOAT && element_rows[type].bits >= 16;
}
/* The least leading dimension of rows of COLS elements that all begin at multiples of 16 bytes. */
enum { LEADING_BYTES = 16 };
int64_t type_leading(mc_type type, int64_t cols);
/* Whether every content of an element's bytes is a value of the type. */
bool type_fills_bytes(mc_type type);
/* "s8, u8LASTf32": the types for which WANTED(type, USER) holds. */
enum { TYPES_TEXT = 160 };
void type_list(bool (*wanted)(mc_type type, const void *user), const void *user, const char *last,
               char text[TYPES_TEXT]);

#endif
