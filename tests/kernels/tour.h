/* What tests of many pairs of types share: settings that take turns, so that each meets many pairs. */
#ifndef TESTS_TOUR_H
#define TESTS_TOUR_H

#include "edges.h"

enum { TOUR_TYPES = 8, TOUR_WHOLE_BYTES = 2 /* s8 and those behind it */, TOUR_WIDE = 4 /* s12 */ };
enum { TOUR_VECS = 3, TOUR_ORDERS = 4, TOUR_MODES = 3 };

typedef enum tour_mode { TOUR_OPEN, TOUR_FIXED, TOUR_UNALIGNED } tour_mode;

extern const char *const tour_types[TOUR_TYPES],
    *const tour_vecs[TOUR_VECS], *const tour_orders[TOUR_ORDERS], *const tour_modes[TOUR_MODES];

typedef struct tour {
    const char *spec_path;
    mc_device *device;
    mc_diag *diag;
    size_t turn; /* counts runs, and so chooses */
} tour;

/* False: the device did not open, and DIAG says why. */
bool tour_open(tour *t, const char *spec_path, size_t turn);
void tour_close(tour *t);

/* The device, to run in ORDER of the warps. */
mc_device *tour_device(const tour *t, int order);

/* Less than COUNT, by a fixed mixing of the turn and of WHAT is chosen, so that no choice keeps step with another. */
unsigned tour_choose(const tour *t, unsigned what, unsigned count);

/* Variant VARIANT, modulo how many there are, of the spec with SETTINGS. */
mc_status tour_kernel(const tour *t, const mc_setting *settings, size_t count, size_t variant,
                      mc_kernel **kernel);
/* Those that fix SHAPES, a bit each in the order of problem_fix, to C's, behind COUNT others. Returns how many there are then. */
enum { TOUR_ALL_SHAPES = (1 << PROBLEM_SHAPES) - 1 };
size_t tour_fix(const problem_case *c, const problem_kind *kind, unsigned shapes, fixed_settings *fixed,
                mc_setting *settings, size_t count);
/* Of the types with these numbers. */
mc_status tour_kind(const tour *t, int lhs, int rhs, int vec, problem_operator op, problem_kind *kind);
/* Whether one of SUMS does not fit into s32. */
bool tour_is_beyond_s32(const mc_dense *sums);

#endif
