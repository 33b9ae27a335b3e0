/* What the driver's management library (NVML) tells: the driver's version and the clocks. Never sets any. */
#ifndef BENCH_CLOCKS_H
#define BENCH_CLOCKS_H

typedef struct clock_reading {
    unsigned sm_mhz, memory_mhz; /* 0: not read */
    char driver[80];             /* "580.159.04"; "": not read */
} clock_reading;

/* Of GPU number ORDINAL, now. */
clock_reading clocks_read(int ordinal);

#endif
