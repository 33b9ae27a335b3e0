/* Sparse matrices of a context: the host side, and a packing on the device for each form that plans want. */
#ifndef MCRT_MATRIX_H
#define MCRT_MATRIX_H

#include <stdatomic.h>
#include <stdint.h>
#include "formats/slots.h"
#include "context/device_work.h"
#include "context/kernels.h"
#include "ops/operator.h"

/* How new values come into a packing from device memory that holds them in one of the ways of
   mc_values_from. */
typedef struct values_way {
    loaded_kernel *kernel; /* NULL: nobody wanted it yet */
    mc_address slots;
    mc_launch launch; /* all of it but the source and its leading dimension */
    int source, ld;   /* the parameters that take these; ld -1: there is none */
} values_way;

/* Where the arrays of a borrowed matrix lie (mc_csr_config); 0: it is none. */
typedef struct borrowed_csr {
    mc_address row_ptr, col_idx, values;
} borrowed_csr;

/* A matrix, packed as some kernels want it. Plans share it; it counts its users. */
typedef struct matrix_packing {
    struct matrix_packing *next;
    char form[MC_PACK_FORM]; /* the form of all kernels that read it */
    mc_packed host;          /* sizes, and where values are packed anew */
    mc_address arrays[MC_MAX_ARRAYS];
    bool borrowed;     /* the arrays are the caller's */
    mc_kernel *kernel; /* a kernel that reads it, without PTX, of its own: for mc_pack_values. NULL: dense */
    int users;
    /* Once values have come from device memory: where they lie in the packed array, and the ways */
    packed_slots slots; /* without vectors, where `vectors` has them */
    mc_address pieces;
    mc_address vectors; /* of one that was packed on the device: s32[groups][group]; else 0 */
    values_way ways[MC_FROM_COLUMNS + 1];
    /* The stream that new values were last put on, and 1; 0: an execution there came behind them */
    atomic_uintptr_t new_on;
} matrix_packing;

struct mc_matrix {
    mc_context *context;
    mc_vsparse host; /* the pattern never changes; the values, and all below, change under the lock */
    pthread_mutex_t lock;
    matrix_packing *packings;
    bool device_values; /* values came from device memory: those of `host` may be older */
    /* Of a matrix made from device memory (matrix_own.c), else 0: its pattern, and its values in BCRS order,
       as the last of the packings, which no kernel reads. `host` has row_ptr, and columns and values once
       somebody has wanted them, the values as above. */
    mc_address offsets, columns; /* s32[row_blocks + 1], s32[vectors] */
    matrix_packing *own;
    bool has_columns; /* `host` does */
    /* Of one that borrows its arrays (matrix_borrow.c). `host` then has rows that are all alike, and neither
       columns nor values. Once it is settled, what it has become, which is a user less when this one ends */
    borrowed_csr borrowed;
    _Atomic(mc_matrix *) settled;
    int users; /* the creator, and plans */
};

/* mc_matrix_create for what the project's own programs have: HOST, which stays theirs.
   MC_CANNOT where its offsets leave s32. */
mc_status matrix_of_host(mc_context *context, const mc_vsparse *host, mc_matrix **matrix, mc_diag *diag);

/* MC_USAGE where CONTEXT is NULL, where OP takes a matrix and MATRIX is NULL or of another context, and where
   OP takes none and MATRIX is one. */
mc_status matrix_check(mc_op op, const mc_matrix *matrix, const mc_context *context, mc_diag *diag);
/* The host side of MATRIX; for NULL, which an operator without a matrix has, one without rows. */
const mc_vsparse *matrix_host(const mc_matrix *matrix);
/* HOST as packings for KERNEL have it: with its zeros (NULL) a matrix with spans has its own columns, else
   those of the groups that they became. The arrays stay HOST's. */
mc_vsparse matrix_seen_by(const mc_kernel *kernel, const mc_vsparse *host);
/* Keeps MATRIX's values as they are until matrix_unlock; NULL is fine. */
void matrix_lock(mc_matrix *matrix);
void matrix_unlock(mc_matrix *matrix);

/* The packing that KERNEL reads (NULL: one of the format dense), made if there is none; counts MATRIX's users
   too. MC_CANNOT as mc_pack. matrix_unpack gives it back. Both between context_enter and context_leave. */
mc_status matrix_pack_for(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing **packing,
                          mc_diag *diag);
void matrix_unpack(mc_matrix *matrix, matrix_packing *packing);

/* -- New values (matrix_values.c, matrix_device.c): under the lock ------------------------------------- */

/* MATRIX's host side gets what it lacks, and the newest values. Between context_enter and context_leave; NULL
   is fine. */
mc_status matrix_complete(mc_matrix *matrix, mc_diag *diag);
/* Its columns alone. */
mc_status matrix_fetch_columns(mc_matrix *matrix, mc_diag *diag);

/* The array that holds PACKING's values, or NULL: a mask's pattern alone has none. HRPB's holds its patterns,
   too. */
const mc_packed_array *packing_values(const matrix_packing *packing);
/* Frees what PACKING keeps for values from device memory. */
void packing_free_ways(mc_context *context, matrix_packing *packing);
/* Where values came from device memory, MATRIX's host side gets what the device has now, unless EXCEPT, which
   may be NULL, is not the only packing that has them: then there is still one to be asked. Between
   context_enter and context_leave. */
mc_status matrix_fetch_values(mc_matrix *matrix, const matrix_packing *except, mc_diag *diag);

/* Every packing that has values can get them FROM there: what is wanted for it is made, and is there when the
   call returns. MC_CANNOT where no packing has values. */
mc_status matrix_make_ways(mc_matrix *matrix, mc_values_from from, mc_diag *diag);
/* The same of one PACKING, by kernels on WORK's stream. */
mc_status packing_make_way(device_work *work, mc_matrix *matrix, matrix_packing *packing, mc_values_from from,
                           mc_diag *diag);
/* Puts values into PACKING from SOURCE, with leading dimension LD, if there is a way. */
mc_status packing_put_values(matrix_packing *packing, mc_values_from from, mc_address source, int64_t ld,
                             void *stream, mc_diag *diag);

/* -- Borrowed matrices (matrix_borrow.c) --------------------------------------------------------------- */

/* What MATRIX, which may be NULL, is by now: once it is settled, the matrix behind it. */
mc_matrix *matrix_now(mc_matrix *matrix);
bool matrix_is_borrowed(const mc_matrix *matrix); /* NULL is none */
/* MC_CANNOT for a borrowed one. */
mc_status matrix_refuse_borrowed(const mc_matrix *matrix, mc_diag *diag);
/* PACKING, which is empty, becomes the caller's arrays, if that is what KERNEL reads; else MC_CANNOT. */
mc_status matrix_lend(const mc_matrix *matrix, const mc_kernel *kernel, matrix_packing *packing,
                      mc_diag *diag);

/* -- Matrices made from device memory (matrix_own.c, matrix_pack.c) ------------------------------------ */

/* One of what HOST's row_ptr says, whose other arrays are not made yet: room for its columns, which the
   caller fills in, and for its values, which are any. HOST becomes the matrix's, also on failure. */
mc_status matrix_new_own(device_work *work, mc_vsparse *host, mc_matrix **matrix, mc_diag *diag);
void matrix_free_own(mc_matrix *matrix);
/* Puts values of SOURCE, or zeros where that is 0, into a new matrix. */
mc_status matrix_fill_own(device_work *work, mc_matrix *matrix, mc_values_from from, mc_address source,
                          int64_t ld, mc_diag *diag);
static inline mc_address matrix_own_values(const mc_matrix *matrix) { return matrix->own->arrays[0]; }
/* PACKING, which is empty, becomes what KERNEL reads, made on the device. On failure it is empty again:
   MC_CANNOT where that is not how its format is made. */
mc_status matrix_pack_on_device(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing *packing,
                                mc_diag *diag);
/* Whether it is one of KERNEL's format, though not of every form that is (`reorder`). */
bool matrix_packs_on_device(const mc_kernel *kernel);
void packing_free(mc_context *context, matrix_packing *packing);
void packing_empty(mc_context *context, matrix_packing *packing);
/* HOST becomes the matrix's, also on failure. */
mc_status matrix_new(mc_context *context, mc_vsparse *host, mc_matrix **matrix, mc_diag *diag);

#endif
