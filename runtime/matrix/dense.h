/* Dense matrices in host memory, and .npy files. */
#ifndef MCRT_DENSE_H
#define MCRT_DENSE_H

#include "base/type.h"

/* Row-major: element (i, j) at data[i * ld + j]; ld >= cols, and even where two elements share a byte, so
   that rows begin with a byte. The gap columns of a row belong to the allocation. */
typedef struct mc_dense {
    mc_type type;
    int64_t rows, cols, ld;
    void *data;
} mc_dense;

MC_API mc_status mc_dense_create(mc_type type, int64_t rows, int64_t cols, int64_t ld, mc_dense *dense,
                                 mc_diag *diag);
MC_API void mc_dense_free(mc_dense *dense);
/* An integer; of a real type the element's bits. */
MC_API int64_t mc_dense_get(const mc_dense *dense, int64_t row, int64_t col);
MC_API void mc_dense_set(mc_dense *dense, int64_t row, int64_t col, int64_t value);
/* The element's value, which every type but s64 holds exactly. */
MC_API double mc_dense_real(const mc_dense *dense, int64_t row, int64_t col);
/* A copy with elements of TYPE and the leading dimension LD. Integers become integers: MC_FORMAT names, as
   element of NAME, the first one out of TYPE's range. Elements of a real type keep it, but tf32 is f32 in
   memory. */
MC_API mc_status mc_dense_convert(const mc_dense *from, const char *name, mc_type type, int64_t ld,
                                  mc_dense *to, mc_diag *diag);
/* The transposed matrix, with the leading dimension LD. */
MC_API mc_status mc_dense_transpose(const mc_dense *from, int64_t ld, mc_dense *to, mc_diag *diag);
/* NumPy .npy, format 1.0 to 3.0, little-endian, C or Fortran order, 2-D, of a type of MC_TYPE_LIST (bf16,
   e4m3 and e5m2: what ml_dtypes' arrays are saved as). ld = cols on reading. Types of 4 and 12 bits are
   written as those of 8 and 16 bits, and tf32 as f32, and read as these: mc_dense_convert makes them what
   they were. */
MC_API mc_status mc_npy_read(const char *path, mc_dense *dense, mc_diag *diag);
/* The same, also of a 1-D array (1 x length) or a scalar (1 x 1). */
MC_API mc_status mc_npy_read_vector(const char *path, mc_dense *dense, mc_diag *diag);
/* A .npy file, or a matrix of a .safetensors file: FILE.safetensors:NAME, or without a name the only one in
   it, of a type of MC_TYPE_LIST whose elements fill their bytes. A name that is not there, or missing though
   there are several, is MC_USAGE with a list of names. */
MC_API mc_status mc_dense_read(const char *path, mc_dense *dense, mc_diag *diag);
/* The same of an array of one to three dimensions: DENSE has dims.size[0] rows, of one dimension a single
   one, and columns for all the rest. Three dimensions must lie in C order. */
typedef struct mc_dims {
    int count;
    int64_t size[3];
} mc_dims;
MC_API mc_status mc_dense_read_dims(const char *path, mc_dense *dense, mc_dims *dims, mc_diag *diag);
/* Whether the .safetensors file of FILE.safetensors:NAME can be read and has that tensor. */
MC_API bool mc_has_tensor(const char *path);
/* Whether PATH is of a .safetensors file, and how long that file's own path in it is. */
MC_API bool mc_is_safetensors(const char *path, size_t *file_length);
MC_API mc_status mc_npy_write(const char *path, const mc_dense *dense, mc_diag *diag);
/* The rows of DENSE, one after another, as a 1-D array. */
MC_API mc_status mc_npy_write_vector(const char *path, const mc_dense *dense, mc_diag *diag);
/* Several files: all of them, or on an error none. FLAT: in one dimension. */
typedef struct mc_npy_file {
    const char *path;
    const mc_dense *dense;
    bool flat;
} mc_npy_file;
enum { MC_NPY_MOST_FILES = 4 };
MC_API mc_status mc_npy_write_all(const mc_npy_file *files, size_t count, mc_diag *diag);

/* Of .npy files mc_dense_read_dims. */
mc_status mcrt_npy_read_dims(const char *path, mc_dense *dense, mc_dims *dims, mc_diag *diag);

/* Where generated values come from: FULL uniform over the type's range, EXTREME only the type's least and
   greatest values, ONES all 1. Of the real types FULL has either sign and twelve exponents around 1, EXTREME
   also zeros, subnormal numbers, infinities and NaN. */
typedef enum mc_value_law { MC_VALUES_FULL, MC_VALUES_EXTREME, MC_VALUES_ONES } mc_value_law;
MC_API void mc_dense_fill(mc_dense *dense, mc_value_law law, uint64_t seed); /* gap columns too */
/* Compares GOT with WANT: integers modulo GOT's type's range (an s32 result is exact modulo 2^32), reals of
   one type bit for bit, where any NaN is as good as another. MC_MISMATCH: the message names the first wrong
   element and how many there are. */
MC_API mc_status mc_dense_compare(const mc_dense *got, const mc_dense *want, mc_diag *diag);
/* The same of elements that messages call those of NAME, not of C. */
MC_API mc_status mc_dense_compare_named(const char *name, const mc_dense *got, const mc_dense *want,
                                        mc_diag *diag);
/* The same of C where each element may be anything from LOW's to HIGH's. A NaN is right where both are, and
   from -infinity to infinity all is. All three have one type. */
MC_API mc_status mc_dense_within(const mc_dense *got, const mc_dense *low, const mc_dense *high,
                                 mc_diag *diag);
/* The same of elements of NAME. */
MC_API mc_status mc_dense_within_named(const char *name, const mc_dense *got, const mc_dense *low,
                                       const mc_dense *high, mc_diag *diag);

#endif
