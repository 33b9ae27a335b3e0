/* Which vector each slot of packed values holds, and how the pieces of a group of slots lie. With these new
   values can be put in place, and values be read back, by whoever knows no format: the device
   (gen/ops/values) or packed_slots_take. */
#ifndef MCRT_SLOTS_H
#define MCRT_SLOTS_H

#include "formats/pack.h"

typedef struct packed_slots {
    const char *array; /* the packed array with the values; NULL: there is none, and all else is zero */
    value_code code;   /* how a value becomes pieces */
    int vec;           /* the matrix's, or 1: each slot then holds an element of a vector */
    int group;         /* slots, after which pieces lie as before */
    int64_t groups;
    /* [groups][group]: the number of the slot's vector, or of its element, in BCRS order; -1: none */
    int32_t *vectors;
    int period;      /* pieces of a group */
    int16_t *pieces; /* [period]: as gen/parts/pieces.h has them */
} packed_slots;

void packed_slots_free(packed_slots *slots);
/* Of what mc_pack makes of A for KERNEL. SLOTS is the caller's to free, also where it fails. */
mc_status mc_pack_slots(const mc_kernel *kernel, const mc_vsparse *a, packed_slots *slots, mc_diag *diag);
/* What follows of A's row offsets alone, for KERNEL, which reads strided-bcrs or strided-bcrs-int4: PACKED
   has row_ptr, and the other arrays without data; SLOTS has all but its vectors. Both are the caller's to
   free, also where it fails. */
mc_status strided_outline(const mc_kernel *kernel, const mc_vsparse *a, mc_strided *form, mc_packed *packed,
                          packed_slots *slots, mc_diag *diag);
/* Where an element of slot INDEX lies in BCRS order: its vector's number, and the first of its rows. The slot
   holds something. VEC is the matrix's. */
typedef struct slot_place {
    int64_t vector;
    int row;
} slot_place;
static inline slot_place packed_slot_place(const packed_slots *slots, int64_t index, int vec) {
    const int parts = vec / slots->vec;
    return (slot_place){slots->vectors[index] / parts, slots->vectors[index] % parts * slots->vec};
}
/* The same of A's sizes, for KERNEL, which reads packed24: how many atoms a row of them has, and there are.
   */
typedef struct packed24_sizes {
    int64_t steps, atoms;
} packed24_sizes;
mc_status packed24_outline(const mc_kernel *kernel, const mc_vsparse *a, packed24_sizes *sizes,
                           mc_packed *packed, packed_slots *slots, mc_diag *diag);
/* Puts the values that lie in PACKED, the array of SLOTS, into A, of whose pattern it is. */
void packed_slots_take(const packed_slots *slots, const void *packed, mc_vsparse *a);

/* -- For formats -------------------------------------------------------------------------------------- */

/* Makes room for the pieces alone of GROUPS groups, all of them no value's; code, vec, group and period are
   set. */
mc_status packed_slots_outline(const char *array, int64_t groups, packed_slots *slots, mc_diag *diag);
/* The same, and for the slots, none of which has a vector. */
mc_status packed_slots_create(const char *array, int64_t groups, packed_slots *slots, mc_diag *diag);
/* Gives slots that have pieces alone room for their vectors, of which there are none yet. */
mc_status packed_slots_empty(packed_slots *slots, mc_diag *diag);
/* Slots of values that lie one after another as they are, without their vectors: whole groups of SLOTS_PLAIN
   slots of VEC values of TYPE, enough for COUNT slots. */
enum { SLOTS_PLAIN = 32 /* a group is a whole number of words, whatever the values are */ };
mc_status packed_slots_plain(const char *array, mc_type type, int vec, int64_t count, packed_slots *slots,
                             mc_diag *diag);
/* What `pieces` says of digit DIGIT of row ROW of slot SLOT, and of one that is. */
int16_t packed_piece(const packed_slots *slots, int slot, int row, int digit);
/* Values of a mask in the order of an SDDMM's C: f32, as they are. */
mc_status order_slots(const mc_vsparse *mask, mc_order order, packed_slots *slots, mc_diag *diag);

#endif
