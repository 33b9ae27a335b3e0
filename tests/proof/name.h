/* Where a test's proofs are stored. */
#ifndef TESTS_PROOF_NAME_H
#define TESTS_PROOF_NAME_H

#include <stdbool.h>

enum { PROOF_PATH = 512 };

/* PATH: FOLDER/SPEC/PROGRAM-ARGUMENT-..., of the first argument without its folders and ".lua". WHAT: program and arguments,
   folders left out. False: too long. */
bool proof_name(const char *folder, int argc, char **argv, char path[PROOF_PATH], char what[PROOF_PATH]);

#endif
