#include <string.h>
#include "mutations.h"

const mutation_suite sddmm_mutations[] = {
    {NULL, NULL, 0, NULL, 0, NULL, false},
};
