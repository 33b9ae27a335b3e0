/* A plain kernel, which kernels that read and write the same bytes are timed beside. */
#ifndef TESTS_GPU_PLAIN_H
#define TESTS_GPU_PLAIN_H

/* PTX, for sm_90, of plain(in: u64, out: u64, units: s32) with THREADS threads a thread block. Of a unit READS times
 * 16 bytes are read, and 16 written: what was read, or its exclusive or. Each thread takes UNROLL units, a grid's width
 * apart, again and again, all loads of a turn first. malloc'ed; NULL: out of memory. */
char *plain_ptx(int threads, int unroll, int reads);

#endif
