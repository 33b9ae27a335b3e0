/* Prints the kernel whose name is the first argument; without one, the names of those that are kept as golden
 * text; with --sweep, those of the sweep. */
#include "gemm.h"
#include <stdio.h>
#include <stdlib.h>

static int print_kernel(const gemm_config *c) {
    char *text = gemm_ptx(c, c->name);
    if (text) fputs(text, stdout);
    free(text);
    return !text;
}

int main(int argc, char **argv) {
    bool sweep = argc > 1 && strcmp(argv[1], "--sweep") == 0;
    gemm_config c;
    for (size_t i = 0; i < gemm_golden_count; i++) {
        if (argc < 2) puts(gemm_goldens[i].name);
        else if (strcmp(argv[1], gemm_goldens[i].name) == 0) return print_kernel(&gemm_goldens[i]);
    }
    for (size_t i = 0; gemm_of_sweep(i, &c); i++) {
        if (sweep) puts(c.name);
        else if (argc > 1 && strcmp(argv[1], c.name) == 0) return print_kernel(&c);
    }
    return argc > 1 && !sweep;
}
