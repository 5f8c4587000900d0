# SPDX-License-Identifier: GPL-2.0-only
"""
Ops of threads that Python does not know: nested backward passes, so deep that PyTorch continues in
a thread of its engine.
"""
import torch


class Nested(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, depth):
        ctx.depth = depth
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        if ctx.depth:
            with torch.enable_grad():
                inner = torch.ones(2, requires_grad=True)
                Nested.apply(inner, ctx.depth - 1).sum().backward()
        return grad, None


def calls():
    x = torch.ones(2, requires_grad=True)
    Nested.apply(x, 70).sum().backward()


calls()
torch.mm(torch.ones(2, 2), torch.ones(2, 2))
