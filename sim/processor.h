#ifndef SIM_PROCESSOR_H
#define SIM_PROCESSOR_H

#include <stdbool.h>

/* Whether this processor, and the system that runs on it, have the registers and instructions of AVX2. */
bool sim_processor_has_avx2(void);

#endif
