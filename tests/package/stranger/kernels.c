/* Kernels as headers, as mcrt_add_kernels makes them for a target. */
#include <stdio.h>
#include "sddmm_l8r8.h"
#include "spmm_l8r8.h"

int main(void) {
    printf("%s for %s, %s\n", spmm_l8r8_ENTRY, spmm_l8r8_TARGET, sddmm_l8r8_ENTRY);
    return spmm_l8r8_GRID_Y(65) != 2 || sizeof sddmm_l8r8_ptx < 1000;
}
