/* What a warp of kernels over segments takes of a row (parts/segments.h): arrays are sized by it. */
#ifndef MC_PARTS_SEGMENT_H
#define MC_PARTS_SEGMENT_H

enum {
    MC_SEGMENT = 1024,     /* elements of a segment */
    MC_SEGMENT_WORDS = 32, /* of a segment, where each element is a bit */
};

#endif
