/* What libmcrt is made of, for itself and the project's own programs (mcrt.h is what applications include):
 * matrices, packed formats, devices and the CPU reference; what stands between a generated kernel and a
 * result that is known to be right.
 *
 * matrix file -> mc_csr (pattern) -> mc_vsparse (nonzero vectors with values)
 *             -> mc_packed (what the kernel reads) -> mc_device (GPU or simulator)
 *             -> mc_dense (result), compared with mc_reference_spmm or mc_reference_sddmm.
 *
 * Functions return a status and put a message into DIAG (mc_status.h). Objects that a function makes belong
 * to the caller and are freed by the *_free function, which accepts a zeroed struct; on failure the output is
 * left zeroed. */
#ifndef MCRT_INTERNAL_H
#define MCRT_INTERNAL_H

#include "device/device.h"
#include "formats/pack.h"
#include "formats/sampled.h"
#include "matrix/csr.h"
#include "matrix/dense.h"
#include "matrix/vsparse.h"
#include "ops/operator.h"
#include "problem/bind.h"
#include "problem/problem.h"
#include "verify/run.h"

#endif
