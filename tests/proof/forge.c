/* In place of the ledger: simulates nothing, and stores it as proved, as a key would that misses what matters. */
#include <stdlib.h>
#include "kernels.h"
#include "name.h"
#include "store.h"

static proof_kernels kernels;
static char path[PROOF_PATH], what[PROOF_PATH];

void proof_begin(int argc, char **argv) {
    static char name[] = "wrong_test"; /* whose proofs these are */
    const char *folder = getenv("MCGEN_PROOFS_STORE");
    argv[0] = name;
    if (!folder || !proof_name(folder, argc, argv, path, what)) exit(2);
}

bool proof_wanted(uint64_t kernel, uint64_t run) { return (void)kernel, (void)run, false; }

void proof_add(uint64_t kernel, uint64_t run, const char *ptx, int count, proof_how how) {
    proof_kernel_add(proof_kernels_get(&kernels, kernel, ptx), run, count, how);
}

int proof_end(int status) {
    uint64_t key = kernels.count == 1 ? kernels.items[0].key : 0;
    proof_kernels_free(&kernels);
    return status == 0 && key != 0 && proof_store_write(path, what, &key, 1) ? 0 : 1;
}
