/* What the two kernels that make windowed-bcrs on the device hand to each other, by way of the runtime
   (ops/pack_windowed, runtime/context/device_pack_windowed.c). */
#ifndef MC_WINDOWED_WORK_H
#define MC_WINDOWED_WORK_H

#include "parts/windowed.h"

enum {
    /* Words of a chosen stride: its oldest and its last window; how many its part has left and waited for
       before, and how many strides, those of padding with them, the part has before */
    WINDOWS_OLDEST = 0,
    WINDOWS_LAST,
    WINDOWS_LEFT,
    WINDOWS_WAITED,
    WINDOWS_STRIDES,
    WINDOWS_WORDS = 8,
    WINDOWED_ONES_BYTES = WINDOWED_SLOTS, /* the row of ones of digits "offset" */
};

#endif
