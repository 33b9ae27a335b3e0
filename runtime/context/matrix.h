/* Sparse matrices of a context: the host side, and a packing on the device for each form that plans want. */
#ifndef MCRT_MATRIX_H
#define MCRT_MATRIX_H

#include "formats/slots.h"
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

/* A matrix, packed as some kernels want it. Plans share it; it counts its users. */
typedef struct matrix_packing {
    struct matrix_packing *next;
    char form[MC_PACK_FORM]; /* the form of all kernels that read it */
    mc_packed host;          /* sizes, and where values are packed anew */
    mc_address arrays[MC_MAX_ARRAYS];
    mc_kernel *kernel; /* a kernel that reads it, without PTX, of its own: for mc_pack_values */
    int users;
    /* Once values have come from device memory: where they lie in the packed array, and the ways */
    packed_slots slots;
    mc_address pieces;
    values_way ways[MC_FROM_COLUMNS + 1];
} matrix_packing;

struct mc_matrix {
    mc_context *context;
    mc_vsparse host; /* the pattern never changes; the values, and all below, change under the lock */
    pthread_mutex_t lock;
    matrix_packing *packings;
    bool device_values; /* values came from device memory: those of `host` may be older */
    int users;          /* the creator, and plans */
};

/* mc_matrix_create for what the project's own programs have: HOST, which stays theirs.
   MC_CANNOT where its offsets leave s32. */
mc_status matrix_of_host(mc_context *context, const mc_vsparse *host, mc_matrix **matrix, mc_diag *diag);

/* MC_USAGE where CONTEXT is NULL, where OP takes a matrix and MATRIX is NULL or of another context, and where
   OP takes none and MATRIX is one. */
mc_status matrix_check(mc_op op, const mc_matrix *matrix, const mc_context *context, mc_diag *diag);
/* The host side of MATRIX; for NULL, which an operator without a matrix has, one without rows. */
const mc_vsparse *matrix_host(const mc_matrix *matrix);
/* Keeps MATRIX's values as they are until matrix_unlock; NULL is fine. */
void matrix_lock(mc_matrix *matrix);
void matrix_unlock(mc_matrix *matrix);

/* The packing that KERNEL reads, made if there is none; counts MATRIX's users too. MC_CANNOT as mc_pack.
   matrix_unpack gives it back. Both between context_enter and context_leave. */
mc_status matrix_pack_for(mc_matrix *matrix, const mc_kernel *kernel, matrix_packing **packing,
                          mc_diag *diag);
void matrix_unpack(mc_matrix *matrix, matrix_packing *packing);

/* -- New values (matrix_values.c, matrix_device.c): under the lock ------------------------------------- */

/* The array that holds PACKING's values, or NULL: a mask's pattern alone has none. */
const mc_packed_array *packing_values(const matrix_packing *packing);
/* Frees what PACKING keeps for values from device memory. */
void packing_free_ways(mc_context *context, matrix_packing *packing);
/* Where values came from device memory, MATRIX's host side gets what the device has now, unless EXCEPT, which
   may be NULL, is not the only packing that has them: then there is still one to be asked. Between
   context_enter and context_leave. */
mc_status matrix_fetch_values(mc_matrix *matrix, const matrix_packing *except, mc_diag *diag);

#endif
