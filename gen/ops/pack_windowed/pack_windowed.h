/* The family `pack_windowed`: the pattern of a matrix, on the device, becomes the arrays of windowed-bcrs
 * (parts/windowed.h). No operator of the runtime: context/device_pack_windowed.c launches its two kernels,
 * and makes sums of counts between them.
 *
 *   pack_windowed.c   schema, the family
 *   choose.c          the kernel "choose": a warp goes through the vectors of a row block, stride by stride
 *   choose_pool.c     the pool of vectors to choose from
 *   choose_group.c    the vectors of a group of 8 slots
 *   place.c           the kernel "place": chosen strides, and those of padding between, become arrays
 *   place_slots.c     where the slots of a stride lie in the ring
 *
 * Both make, to the byte, what formats/windowed_choose.c and formats/windowed.c make on the host. */
#ifndef MC_PACK_WINDOWED_H
#define MC_PACK_WINDOWED_H

#include "parts/emit.h"
#include "parts/fragment.h"
#include "parts/made_name.h"
#include "parts/windowed_work.h"
#include "schema/family.h"

extern const mc_family mc_family_pack_windowed;

/* What a slot of padding names: a row in a free bank; the row of zeros; the same where lanes read elements of
   32 bits one by one. */
typedef enum packed_padding { PADDING_BANKS, PADDING_ZEROS, PADDING_WORDS } packed_padding;

enum {
    PLACE_WARPS = 8, /* of a thread block, which has one row block */
    PLACE_THREADS = PLACE_WARPS * MC_WARP,
    LAST_LANE = MC_WARP - 1, /* a shuffle through the whole warp */
};
#define ALL_LANES H(0xffffffff)

/* The fields, in the order of the schema. */
enum { F_TASK = FIELD_ARCH + 1, F_PADDING, F_ONES, F_TILE };

typedef struct pack_windowed_plan {
    packed_padding padding;
    bool ones; /* values have a row of ones */
    int tile;  /* bytes of a row of the ring */
} pack_windowed_plan;

void choose_contract(const void *plan, mc_contract *contract);
void choose_facts(const void *plan, mc_facts *facts);
void choose_emit(const void *plan, mc_builder *b);
void place_contract(const void *plan, mc_contract *contract);
void place_facts(const void *plan, mc_facts *facts);
void place_emit(const void *plan, mc_builder *b);

#endif
