/* The clocks that the driver's management library (NVML) reads. Never sets any. */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

typedef struct clock_reading {
    unsigned sm_mhz, memory_mhz; /* 0: not read */
} clock_reading;

/* Of GPU number ORDINAL, now. */
clock_reading clocks_read(int ordinal);

#endif
