/* A plain kernel that reads what a product by a vector reads, each byte once, and writes as many bytes as C
   has. It computes nothing. It runs beside our kernels, warm or cold as they do, and its time, launch
   included, is a floor that was measured: a product that reads A as it is packed cannot be much faster. */
#ifndef BENCH_PLAIN_H
#define BENCH_PLAIN_H

#include "peers.h"
#include "timer.h"

/* Who runs: with all of a thread's loads in use, and with one of them, on more threads. The faster one
   counts. */
enum { PLAIN_SHAPES = 2 };

/* What is read, a multiple of 16 bytes at a multiple of 16, and what is written, a multiple of 4. */
typedef struct plain_bytes {
    uint64_t from, bytes;
    uint64_t to, written;
} plain_bytes;

typedef struct plain_read {
    mc_module *module;
    const operand_slab *slab; /* launches rotate over its sets */
    mc_launch launch;         /* of the first set */
} plain_read;

typedef struct plain_peers {
    plain_read reads[PLAIN_SHAPES];
    contender contenders[PLAIN_SHAPES];
    size_t count;
    char notes[1][PEER_NOTE]; /* always "" */
} plain_peers;

/* The kernel. The caller unloads it. */
mc_status plain_load(mc_device *device, mc_module **module, mc_diag *diag);
/* Its launch on a device of so many MULTIPROCESSORS: no more thread blocks than run there at once. Every
   thread stores, at each of its places, the exclusive or of all words that it has read. */
mc_launch plain_launch(const plain_bytes *of, int shape, int multiprocessors);

struct race;
/* The contenders of RACE's problem; none where C has more than one column, or the operator has no floor of
   this kind (operation.h). PEERS must stay where it is; the caller closes also after a failure. */
mc_status plain_open(plain_peers *peers, const struct race *race, mc_diag *diag);
void plain_close(plain_peers *peers);

#endif
