/* A packed format as a row. Each format that kernels read is a file with its row in it, and a line of
   formats.def. pack.c walks the rows; nothing else knows a format by its name. */
#ifndef MCRT_FORMAT_H
#define MCRT_FORMAT_H

#include "formats/slots.h"

typedef struct packed_format {
    const char *name; /* in contracts */
    const char *doc;  /* what packed arrays are, in a few words, for messages */
    matrix_kind kind; /* what is packed; the functions get no other */
    mc_type unit;     /* of the pieces of integers (value_code) */
    bool floats;      /* it holds floats, too, as they are */
    /* Fields of the kernel: which say the type of the matrix (NULL: any will do) and its columns; and all
       that the arrays depend on */
    const char *type, *cols, *form;
    mc_status (*pack)(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag);
    mc_status (*pack_values)(const mc_kernel *kernel, const host_matrix *a, mc_packed *packed, mc_diag *diag);
    /* Which vectors the slots of the values hold; NULL: there never are values. */
    mc_status (*slots)(const mc_kernel *kernel, const host_matrix *a, packed_slots *slots, mc_diag *diag);
    /* NULL: there is no way back. A has the kind; TYPE is what `type` says, or f32. */
    mc_status (*unpack)(const mc_kernel *kernel, const mc_packed *packed, mc_type type, int64_t rows,
                        int64_t cols, mc_vsparse *a, mc_diag *diag);
} packed_format;

#endif
