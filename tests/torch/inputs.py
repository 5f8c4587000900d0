#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A program whose first ops have unusual inputs: usage: inputs.py KIND. Then come 100 ops with
known shapes, and then the first ones again."""
import sys

import torch
from torch.utils._pytree import tree_map


class Says(torch.Tensor):
    """A tensor whose sizes are computed by its own code."""
    @staticmethod
    def __new__(cls, inner):
        t = torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype,
                                                dispatch_sizes_strides_policy="sizes")
        t.inner = inner
        return t

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if "size" in str(func) or "stride" in str(func):
            return (17, 19) if "size" in str(func) else (19, 1)
        if func.__name__.startswith("dim"):
            return 2

        def inner(x):
            return x.inner if isinstance(x, Says) else x
        return func(*tree_map(inner, args), **tree_map(inner, kwargs or {}))


def subclass():
    t = Says(torch.ones(3, 5))
    for _ in range(20):
        torch.add(t, t)
        torch.cat([t, t])


def nested():
    t = torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)])
    for _ in range(20):
        torch.relu(t)
        try:
            torch.cat([t, t])
        except (RuntimeError, NotImplementedError):
            # This version cannot do it.
            pass


def symbolic():
    from torch.fx.experimental.proxy_tensor import make_fx

    def f(x):
        y = x.view(-1, x.shape[0]).relu()
        return torch.cat([y, y]).sum()
    for _ in range(3):
        make_fx(f, tracing_mode="symbolic")(torch.ones(4, 6))


def script():
    """The inputs of each op are the interpreter's whole stack."""
    torch._C._jit_set_texpr_fuser_enabled(False)

    @torch.jit.script
    def f(x, n: int):
        y = x
        for _ in range(n):
            y = torch.relu(y + x)
        return torch.stack([y, x])
    for _ in range(20):
        f(torch.ones(2, 3), 3)


def kinds():
    sparse = torch.eye(3).to_sparse()
    torch.mm(sparse, torch.ones(3, 3))
    torch.add(sparse, sparse)
    torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8).dequantize()
    meta = torch.empty(4, 5, device="meta")
    meta + meta
    torch.ones(2, 0).sum()
    torch.view_as_complex(torch.ones(3, 2)).abs()
    a = torch.ones(4, 4)
    a[[0, 1], :, None]
    torch.chunk(a, 2)
    torch.cat([torch.ones(1)] * 200)
    torch.bucketize(torch.ones(3), torch.ones(3))
    # The weight is an undefined tensor: forward up to 2.8, backward in all versions.
    x = torch.ones(4, 3, requires_grad=True)
    torch.nn.functional.nll_loss(x, torch.zeros(4, dtype=torch.long)).backward()


globals()[sys.argv[1]]()
for _ in range(100):
    torch.ones(7, 3).mm(torch.ones(3, 9))
    torch.stack([torch.ones(5), torch.ones(5)])
globals()[sys.argv[1]]()
print("done")
