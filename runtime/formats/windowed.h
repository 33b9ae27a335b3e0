/* What packing windowed-bcrs on the host and on the device have in common. */
#ifndef MCRT_WINDOWED_H
#define MCRT_WINDOWED_H

#include "formats/slots.h"

enum { WINDOWED_MAX_STRIDES = INT32_MAX / 32 /* slots: the kernel counts lanes in s32 */ };

/* What the arrays depend on besides the pattern. */
typedef struct windowed_form {
    mc_ring ring;
    value_code code;
} windowed_form;

/* MC_CANNOT where KERNEL takes no matrix with A's type and sizes; A needs no values. */
mc_status windowed_form_of(const mc_kernel *kernel, const mc_vsparse *a, windowed_form *form, mc_diag *diag);
/* What a slot of padding names: a row of zeros, or else a row of B; and whether kernels read elements of 32
   bits, one by one. */
bool windowed_pads_zeros(const mc_ring *ring, mc_type type);
bool windowed_reads_words(mc_type type);
mc_status windowed_check_count(int64_t strides, mc_diag *diag);
/* Of values of a stride. */
int64_t windowed_stride_bytes(const value_code *code, int vec);
/* All of SLOTS but what says which vectors they hold. */
mc_status windowed_outline(const windowed_form *form, int vec, int64_t strides, packed_slots *slots,
                           mc_diag *diag);

#endif
