/* The report of a kernel of the family compress24, which the runtime adds up: so many slots of 16 bytes, all
 * zeros before the launch. Thread blocks share them out, so that few write the same one.
 *
 *   first  u64  all bits of `row << 32 | group` turned, of the first group that is too full; 0: there is
 *               none, or nobody asked
 *   count  u32  groups that are too full
 *   -      u32  */
#ifndef MC_COMPRESS24_REPORT_H
#define MC_COMPRESS24_REPORT_H

enum { COMPRESS24_SLOTS = 64, COMPRESS24_SLOT_BYTES = 16, COMPRESS24_COUNT_AT = 8 };

#endif
