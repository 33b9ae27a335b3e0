/* How long a pass of executions takes, captured in a graph and replayed. */
#ifndef TESTS_GPU_REPLAY_H
#define TESTS_GPU_REPLAY_H

#include "device/cuda.h"
#include "mcrt_internal.h"

/* Puts a pass on STREAM. */
typedef mc_status replay_pass(const void *user, void *stream, mc_diag *diag);

/* Microseconds of a pass, of many replays one behind the other: the median of several rounds, and the quarters
   below and above it. The driver's context is current. */
mc_status replay_time(const cuda_driver *driver, cuda_stream stream, replay_pass *pass, const void *user,
                      double us[3], mc_diag *diag);

#endif
