"""Sparse matrix kernels for NVIDIA GPUs: generated, verified, tuned, cached and launched.

    import numpy, mcgen
    weight = numpy.random.default_rng(1).integers(-8, 8, (64, 96)).astype("int8")
    weight *= numpy.repeat(numpy.random.default_rng(2).random((8, 96)) < 0.2, 8, axis=0)    # 8x1 vectors
    matrix = mcgen.Matrix.from_dense(weight, vec=8)
    plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=128)
    c = plan(b=numpy.ones((96, 128), "int8"))                # = weight @ b, exact

Without a GPU the same kernels run on a simulator, slowly.

    Context     a device, its kernels, the cache, the records of tuning
    Matrix      a sparse matrix of V x 1 nonzero vectors
    Plan        a problem and the kernel for it: Plan(operator, matrix, members...)(operands...)
    Problem     what a plan is made of; Problem.tune() measures its kernels
    OPERATORS   what can be planned, each with its members and operands
    generate    a spec's PTX and how it is launched; Spec, its variants; specs(), those that are shipped
    simulate    any PTX on the CPU, with its faults, races and counts; Simulator
    Error       what all exceptions of the library are
    mcgen.torch operators of PyTorch, mcgen.nn modules (both want PyTorch)

Importing it wants neither CUDA nor PyTorch nor NumPy."""

from ._errors import (CannotError, DeviceError, Error, FileError, FormatError, MismatchError, NoMemoryError, UsageError)
from .arrays import DeviceArray
from .context import Context, shared_context
from .generate import Kernel, Spec, generate, specs
from .matrix import Matrix
from .operators import OPERATORS
from .plan import Plan, Problem
from .simulate import Fault, Simulator, simulate

__version__ = "0.1.0"
__all__ = ["CannotError", "Context", "DeviceArray", "DeviceError", "Error", "Fault", "FileError", "FormatError", "Kernel",
           "Matrix", "MismatchError", "NoMemoryError", "OPERATORS", "Plan", "Problem", "Simulator", "Spec", "UsageError",
           "generate", "shared_context", "simulate", "specs"]
