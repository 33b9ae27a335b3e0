/* What a test has proved: its runs, by kernel, and the proofs that the store has. MCGEN_PROOFS says what is simulated:
 *
 *   check    what has no proof (this is the default)
 *   require  nothing: a kernel without proof is a failure
 *   prove    what has no proof; then the store has what this test proved, and nothing else
 *   all      everything; says how much of it the store has
 *   part     nothing but a sample; nothing is said of other runs
 *
 * MCGEN_PROOFS_SAMPLE ("SEED/N"): with check, require and part, one run in N is simulated, whether it has a proof or not;
 * which ones, the text SEED decides. MCGEN_PROOFS_STORE: another folder than the repository's tests/proofs. */
#ifndef TESTS_PROOF_LEDGER_H
#define TESTS_PROOF_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

/* At the start of a test's main: the arguments name its file in the store. To find what lacks a proof the test runs in a
   process of its own; where nothing does, that was all, and this call does not return. */
void proof_begin(int argc, char **argv);
/* At the end, with main's status so far; returns the one to end with. */
int proof_end(int status);

/* For the device: whether a run of KERNEL must be simulated. */
bool proof_wanted(uint64_t kernel, uint64_t run);

typedef enum proof_how { PROOF_ASSUMED, PROOF_SIMULATED, PROOF_FAILED } proof_how;
/* Counts a run of KERNEL, whose PTX is at hand, in COUNT schedules. */
void proof_add(uint64_t kernel, uint64_t run, const char *ptx, int count, proof_how how);

#endif
