/* wgmma: a warpgroup's products (ISA, "Asynchronous Warpgroup Level Matrix Instructions"). Each warp makes
 * its 16 rows by itself when it issues the instruction; what makes it asynchronous is watched: from its issue
 * until a wait for its group,
 *   - its accumulators and the registers that hold A may be accessed by nothing but wgmma of the same shape;
 *   - its metadata may not be written;
 *   - the bytes of shared memory that it reads may not be written.
 * It reads by the async proxy. wgmma.fence has to lie between other accesses to its registers and itself.
 * Only blocks whose kernel has wgmma have a sim_wgmma. */
#ifndef SIM_WGMMA_H
#define SIM_WGMMA_H

#include "async.h"
#include "metadata.h"

enum { SIM_GROUP_WARPS = 4 };

/* A matrix in shared memory as a descriptor tells it (ISA, "Matrix descriptor"), in bytes. */
struct sim_descriptor {
    uint32_t start, leading, stride; /* address; LBO; SBO */
    unsigned base;                   /* base offset of the swizzle's pattern */
    unsigned swizzle;                /* 16-byte chunks that a row of it spans: 1 (none), 2, 4, 8 */
};

/* A wgmma that a warp issued and has not waited for. */
struct sim_flight {
    const struct sim_insn *insn;
    uint32_t group; /* how many groups the warp had committed before */
    struct sim_descriptor a, b;
};

/* How many wgmma in flight have a register for an accumulator, for A, and for metadata; and up to which
   fence of its warp other instructions accessed it. */
struct sim_fragment {
    uint16_t sums, factors, metadata;
    uint32_t touched;
};

struct sim_wgmma_warp {
    uint32_t fences, groups, issued;
    struct sim_flight *flight;
    int flights, capacity;
    struct sim_fragment *fragment; /* by register */
};

/* What the warps of a warpgroup executed, which has to be the same. */
struct sim_step {
    const struct sim_insn *insn;
    uint64_t a, b; /* descriptors */
};

struct sim_wgmma_group {
    struct sim_step *step; /* from number FIRST on */
    uint32_t first, steps, capacity;
};

struct sim_wgmma {
    uint16_t *readers; /* by 16 bytes of shared memory: wgmma in flight that read them, once a warp */
    struct sim_wgmma_warp *warp;
    struct sim_wgmma_group *group;
};

/* -- wgmma.c -------------------------------------------------------------------------------------------- */

struct sim_wgmma *sim_wgmma_new(const struct sim_launch *launch, int warps);
void sim_wgmma_free(struct sim_wgmma *wgmma, int warps);
void sim_wgmma_start(struct sim_block *block);
/* At a block's end: whether the warps of each warpgroup executed the same; false after a fault. */
bool sim_wgmma_finish(struct sim_block *block);
/* The instruction accesses registers that wgmma has, too: false after a fault. */
bool sim_wgmma_touch(struct sim_warp *warp, const struct sim_insn *insn);
/* The warp executes one more of the warpgroup's instructions; false after a fault. */
bool sim_wgmma_step(struct sim_warp *warp, const struct sim_insn *insn, uint64_t a, uint64_t b);
/* Whether a wgmma with COUNT accumulators, and as many registers of A as it has, may be issued; false after a
   fault. ADDS: it reads its accumulators. */
bool sim_wgmma_may_issue(struct sim_warp *warp, const struct sim_insn *insn, int factors, bool adds);
/* Notes it. A is NULL where registers hold it. */
bool sim_wgmma_issue(struct sim_warp *warp, const struct sim_insn *insn, int factors,
                     const struct sim_descriptor *a, const struct sim_descriptor *b);

/* -- wgmma_matrix.c ------------------------------------------------------------------------------------- */

/* How the elements of A or B lie: ROWS (M or N) from FIRST on, of DEPTH elements of so many bytes along k. */
struct sim_extent {
    int first, rows, depth, bytes;
    bool transposed; /* rows lie next to each other, instead of elements along k */
};

struct sim_descriptor sim_descriptor_of(uint64_t bits);
/* A's part of INSN that the warp reads, and B. */
struct sim_extent sim_extent_of_a(const struct sim_warp *warp, const struct sim_insn *insn);
struct sim_extent sim_extent_of_b(const struct sim_insn *insn);
/* Reads the elements' bits, [row][k], by the async proxy, for the whole warp; false after a fault. */
bool sim_read_matrix(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_descriptor *d,
                     const struct sim_extent *extent, uint32_t *elements, int pitch);
/* From here on the bytes are read, or are not any more (BY 1 or -1). */
void sim_change_readers(struct sim_wgmma *wgmma, const struct sim_descriptor *d,
                        const struct sim_extent *extent, int by);
/* The warp knows that they were read. */
bool sim_note_matrix(struct sim_warp *warp, const struct sim_insn *insn, const struct sim_descriptor *d,
                     const struct sim_extent *extent);
bool sim_matrix_overlaps(const struct sim_descriptor *d, const struct sim_extent *extent, size_t at,
                         unsigned bytes);

#endif
