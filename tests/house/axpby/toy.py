"""The toy operator from Python: a plan, and, where there is PyTorch, its op. Neither knows anything of it."""

import array

import mcgen

ROWS, COLUMNS = 3, 40


def memory(code, values):
    return memoryview(array.array(code, values)).cast("B").cast(code, (ROWS, COLUMNS))


def byte(i):
    return (i + 128) % 256 - 128


a = [byte(7 * i) for i in range(ROWS * COLUMNS)]
b = [byte(11 * i + 3) for i in range(ROWS * COLUMNS)]
want = [2 * x - y for x, y in zip(a, b)]

context = mcgen.Context("sim", records="")
plan = mcgen.Plan("axpby", context=context, lhs="s8", rhs="s8", out="s32", m=ROWS, n=COLUMNS)
c = memory("i", [0] * (ROWS * COLUMNS))
plan(a=memory("b", a), b=memory("b", b), c=c)
assert c.tolist() == [want[i * COLUMNS:(i + 1) * COLUMNS] for i in range(ROWS)]

try:
    import torch
except ImportError:
    print("SKIPPED: no PyTorch")
else:
    import mcgen.torch

    family = mcgen.torch.Family("axpby", context=context, lhs="s8", rhs="s8", out="s32")
    tensors = [torch.tensor(t, dtype=torch.int8).reshape(ROWS, COLUMNS) for t in (a, b)]
    result = torch.ops.mcgen.axpby(*tensors, family.key)
    assert result.dtype == torch.int32 and result.flatten().tolist() == want
    torch.library.opcheck(torch.ops.mcgen.axpby.default, (*tensors, family.key))
print("axpby: planned and executed")
