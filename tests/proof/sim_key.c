/* sim_key PTX...: what the simulator's sources add to the key of each file (proof_key_sim). */
#include <inttypes.h>
#include <stdio.h>
#include "key.h"
#include "ptxsim.h"

int main(int argc, char **argv) {
    static char text[1 << 20];
    ptxsim *sim;
    if (ptxsim_create(NULL, &sim) != PTXSIM_OK) return 1;
    for (int i = 1; i < argc; i++) {
        uint64_t key;
        FILE *file = fopen(argv[i], "r");
        if (!file) return 1;
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
        if (!proof_key_sim(sim, text, &key)) return 1;
        printf("%016" PRIx64 "\n", key);
    }
    ptxsim_destroy(sim);
    return 0;
}
