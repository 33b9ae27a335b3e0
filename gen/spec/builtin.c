/* The specs that the library ships: every file of specs/, which the build puts here (cmake/embed.cmake). */
#include "mcgen.h"

static const mc_builtin_spec specs[] = {
#include "builtin_specs.inc"
    {NULL, NULL}};

const mc_builtin_spec *mc_builtin_specs(void) { return specs; }
