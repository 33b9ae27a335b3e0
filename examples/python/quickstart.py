"""A sparse product from Python: exact, on a GPU if there is one, else on the simulator. Wants NumPy.

    python quickstart.py [sim | cuda:0]"""

import sys

import numpy

import mcgen

context = mcgen.Context(sys.argv[1] if len(sys.argv) > 1 else "auto")
random = numpy.random.default_rng(1)
weight = random.integers(-8, 8, (256, 512)).astype("int8")
weight *= numpy.repeat(random.random((32, 512)) < 0.1, 8, axis=0)  # 10 % of the vectors of 8 x 1 stay
x = random.integers(-128, 128, (512, 64)).astype("int8")

matrix = mcgen.Matrix.from_dense(weight, vec=8, context=context)
plan = mcgen.Plan("spmm", matrix, rhs="s8", out="s32", n=64)
y = plan(b=x)

assert (y == weight.astype("int64") @ x.astype("int64")).all()
print(matrix, "on", context.device)
print(plan.info()["spec"], plan.info()["reason"])
print("exact")
