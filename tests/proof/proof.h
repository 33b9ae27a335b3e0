/* A device that simulates only what has no proof.
 *
 * It takes memory, modules and launches as the simulator does. A launch whose result is told ahead (proof_expect) has a
 * key: a hash of the kernel, the launch, all memory and the result. Where the ledger asks for it the launch is
 * simulated, once in each of the chosen schedules, each on memory of its own; otherwise it is taken to leave what was
 * told. mc_device_ptxsim is not for this device. */
#ifndef TESTS_PROOF_PROOF_H
#define TESTS_PROOF_PROOF_H

#include "mcrt_internal.h"

enum { PROOF_SCHEDULES = 8 };

/* SCHEDULES: names of simulators ("sim:seed=1"), COUNT of them, at most PROOF_SCHEDULES; they stay the caller's. All are
   chosen at first. One name that is no simulator's opens that device as it is. */
mc_status proof_open(const char *const *schedules, int count, mc_device **device, mc_diag *diag);

/* The functions below do nothing on other devices. */

/* Launches from here on run in COUNT schedules from FIRST on. */
void proof_choose(mc_device *device, int first, int count);
/* The next launch of KERNEL must leave WANT in the parameter c: elements of TYPE in rows LD apart, and around them what
   was there before. WANT must live until then. */
void proof_expect(mc_device *device, const mc_kernel *kernel, mc_type type, int64_t ld, const mc_dense *want);
/* The same of the parameter with number PARAM. */
void proof_expect_param(mc_device *device, size_t param, mc_type type, int64_t ld, const mc_dense *want);
/* The same where each element may be anything from LEAST's to MOST's (mc_dense_within), of floats within a bound. Without
   a simulation the launch is taken to leave LEAST. */
void proof_expect_within(mc_device *device, size_t param, mc_type type, int64_t ld, const mc_dense *least,
                         const mc_dense *most);
/* Ends what proof_expect began, whether there was a launch or not. If STATUS, which is returned, is a failure and the
   launch was simulated, the schedule's name is put in front of DIAG's message. */
mc_status proof_settle(mc_device *device, mc_status status, mc_diag *diag);

#endif
