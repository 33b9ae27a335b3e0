#include "ledger.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "kernels.h"
#include "key.h"
#include "name.h"
#include "store.h"

/* What is done with a kernel that has no proof. */
typedef enum missing { SIMULATE, REFUSE, IGNORE } missing;

static const struct mode {
    const char *name;
    bool looks; /* the store has a say in what is simulated */
    missing missing;
    bool samples, records;
} modes[] = {
    {"check", true, SIMULATE, true, false}, {"require", true, REFUSE, true, false},
    {"prove", true, SIMULATE, false, true}, {"all", false, SIMULATE, false, false},
    {"part", false, IGNORE, true, false},
};

/* A test that looks for what lacks a proof assumes all runs; one that simulates may know which kernels to leave out. */
typedef enum pass { LOOKING, SIMULATING } pass;

enum { MISSING = 3 /* exit status of the process that looks: some kernels have no proof */, NAMED = 20 };

static struct ledger {
    const struct mode *mode;
    pass pass;
    bool all_missing;
    char path[PROOF_PATH], what[PROOF_PATH];
    proof_sample sample;
    proof_store store;
    proof_kernels kernels;
    proof_store missing; /* in the second pass: kernels to simulate */
    FILE *note;          /* what the process that looks found missing */
} ledger = {.mode = &modes[0], .pass = SIMULATING, .all_missing = true};

/* -- Settings --------------------------------------------------------------------------------------------- */

static void fail(const char *what, const char *value) {
    fprintf(stderr, "%s: %s\n", what, value);
    exit(2);
}

static void read_mode(void) {
    const char *name = getenv("MCGEN_PROOFS");
    if (!name || !*name) return;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].name, name) == 0) {
            ledger.mode = &modes[i];
            return;
        }
    fail("MCGEN_PROOFS is no check, require, prove, all or part", name);
}

static void read_sample(void) {
    const char *sample = getenv("MCGEN_PROOFS_SAMPLE");
    if (ledger.mode->samples && !proof_sample_of(sample, &ledger.sample))
        fail("MCGEN_PROOFS_SAMPLE is no SEED/N", sample);
}

static void read_store(void) {
    if (!proof_store_read(ledger.path, &ledger.store))
        printf("%s is no file of proofs: taken as one without any\n", ledger.path);
}

/* -- Runs ------------------------------------------------------------------------------------------------- */

bool proof_wanted(uint64_t kernel, uint64_t run) {
    if (ledger.pass == LOOKING || ledger.mode->missing == IGNORE) return proof_is_drawn(&ledger.sample, run);
    return ledger.all_missing || proof_store_has(&ledger.missing, kernel);
}

void proof_add(uint64_t kernel, uint64_t run, const char *ptx, int count, proof_how how) {
    proof_kernel_add(proof_kernels_get(&ledger.kernels, kernel, ptx), run, count, how);
}

/* -- The end of a test ------------------------------------------------------------------------------------ */

typedef struct tally {
    long runs, simulated, stored; /* stored: runs whose kernel has its proof in the store */
    size_t missing;               /* kernels */
} tally;

static tally count(void) {
    tally t = {0};
    for (size_t i = 0; i < ledger.kernels.count; i++) {
        const proof_kernel *k = &ledger.kernels.items[i];
        bool stored = proof_store_has(&ledger.store, k->key);
        t.runs += k->runs;
        t.simulated += k->simulated;
        if (stored) t.stored += k->runs;
        else t.missing++;
    }
    return t;
}

static void print_runs(const tally *t, const char *rest) {
    printf("proofs: %ld runs of %zu kernels, %ld simulated%s\n", t->runs, ledger.kernels.count, t->simulated,
           rest);
}

/* Names the kernels without proof; or, where they are to be simulated, notes them. */
static void list_missing(bool names) {
    size_t listed = 0;
    for (size_t i = 0; i < ledger.kernels.count; i++) {
        const proof_kernel *k = &ledger.kernels.items[i];
        if (proof_store_has(&ledger.store, k->key)) continue;
        if (!names) fwrite(&k->id, sizeof k->id, 1, ledger.note);
        else if (listed++ < NAMED) printf("no proof: %s\n", k->label);
    }
}

/* Kernels of which this test says nothing good: a run that failed, or is right, but not as was told to the last bit; or that was
   neither simulated nor proved, because the two passes did not do the same. */
static bool any_unproved(void) {
    bool any = false;
    for (size_t i = 0; i < ledger.kernels.count; i++) {
        const proof_kernel *k = &ledger.kernels.items[i];
        bool open = k->simulated < k->runs && ledger.mode->missing != IGNORE && ledger.pass == SIMULATING &&
                    !proof_store_has(&ledger.store, k->key);
        if (!k->failed && !open) continue;
        printf("no proof can be had: %s\n", k->label);
        any = true;
    }
    return any;
}

static int end_looking(int status) {
    tally t = count();
    if (any_unproved() && status == 0) status = 1;
    if (status != 0 || t.missing == 0) {
        print_runs(&t, status != 0 ? "" : t.simulated ? " again, all proved before" : ", all proved before");
        return status;
    }
    bool refused = ledger.mode->missing == REFUSE;
    list_missing(refused);
    if (!refused) return fflush(ledger.note) == 0 ? MISSING : 1;
    printf("%zu of %zu kernels of %s have no proof: tools/prove, and commit what it wrote\n", t.missing,
           ledger.kernels.count, ledger.what);
    return 1;
}

static bool record(void) {
    size_t kernels = ledger.kernels.count;
    if (kernels == 0) return true;
    uint64_t *keys = calloc(kernels + 1, sizeof *keys);
    if (!keys) return false;
    for (size_t i = 0; i < kernels; i++) keys[i] = ledger.kernels.items[i].key;
    bool good = proof_store_write(ledger.path, ledger.what, keys, kernels);
    if (!good) printf("%s: the proofs cannot be written\n", ledger.path);
    free(keys);
    return good;
}

static int end_simulating(int status) {
    tally t = count();
    char rest[160] = "";
    if (ledger.mode->looks && t.simulated < t.runs) snprintf(rest, sizeof rest, ", the others proved before");
    if (ledger.mode->missing == IGNORE) snprintf(rest, sizeof rest, ", nothing said of the others");
    else if (!ledger.mode->looks)
        snprintf(rest, sizeof rest, ", %ld of them of kernels with a proof", t.stored);
    print_runs(&t, rest);
    if (any_unproved() && status == 0) status = 1;
    if (status == 0 && ledger.mode->records && !record()) status = 1;
    return status;
}

int proof_end(int status) {
    if (ledger.pass == SIMULATING) status = end_simulating(status);
    else {
        status = end_looking(status);
        if (status == 0 && ledger.mode->records && !record()) status = 1; /* without what is stale */
    }
    proof_kernels_free(&ledger.kernels);
    proof_store_free(&ledger.store);
    proof_store_free(&ledger.missing);
    fflush(stdout);
    return status;
}

/* -- Two passes ------------------------------------------------------------------------------------------- */

static void copy_out(FILE *said) {
    char text[4096];
    size_t size;
    rewind(said);
    while ((size = fread(text, 1, sizeof text, said)) > 0) fwrite(text, 1, size, stdout);
    fflush(stdout);
}

/* The kernels that the process that looked has noted. */
static void read_note(void) {
    long bytes = fseek(ledger.note, 0, SEEK_END) == 0 ? ftell(ledger.note) : -1;
    size_t count = bytes < 0 ? 0 : (size_t)bytes / sizeof(uint64_t);
    uint64_t *kernels = calloc(count + 1, sizeof *kernels);
    rewind(ledger.note);
    if (!kernels || count == 0 || fread(kernels, sizeof *kernels, count, ledger.note) != count)
        fail("what a first pass noted cannot be read", ledger.what);
    ledger.missing = proof_store_of(kernels, count);
    ledger.all_missing = false;
}

static void look(void) {
    FILE *said = tmpfile();
    ledger.note = tmpfile();
    fflush(stdout);
    pid_t child = said && ledger.note ? fork() : -1;
    if (child < 0) fail("no process or no file for a first pass", ledger.what);
    if (child == 0) {
        ledger.pass = LOOKING;
        if (dup2(fileno(said), STDOUT_FILENO) < 0) fail("no output for a first pass", ledger.what);
        return;
    }
    int status = 0;
    bool ended = waitpid(child, &status, 0) == child && WIFEXITED(status);
    if (ended && WEXITSTATUS(status) == MISSING) {
        read_note();
    } else {
        copy_out(said);
        exit(ended ? WEXITSTATUS(status) : 1);
    }
    fclose(said);
    fclose(ledger.note);
}

void proof_begin(int argc, char **argv) {
    const char *folder = getenv("MCGEN_PROOFS_STORE");
    read_mode();
    read_sample();
    if (!proof_name(folder && *folder ? folder : PROOF_STORE, argc, argv, ledger.path, ledger.what))
        fail("the name of its proofs is too long", argv[0]);
    read_store();
    bool useful = ledger.store.count > 0 || ledger.mode->missing == REFUSE || ledger.sample.one_in > 0;
    if (ledger.mode->looks && useful) look();
}
