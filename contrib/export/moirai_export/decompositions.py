# SPDX-License-Identifier: Apache-2.0
"""Ops that PyTorch does not decompose, as functions of ops that are run.

A function has the arguments of the op's schema.  PyTorch traces it in place of
the op, and it can be compared with the op where there is no network at all.
"""
import functools

import torch
from torch.utils import _pytree as pytree

from . import decomp_index, decomp_linalg, decomp_quantized, decomp_special, \
    decomp_vision

TABLE = {**decomp_index.TABLE, **decomp_linalg.TABLE,
         **decomp_quantized.TABLE, **decomp_special.TABLE,
         **decomp_vision.TABLE}


def on_own_device(function):
    """Constants are made where the first tensor is."""
    @functools.wraps(function)
    def compute(*args, **kwargs):
        device = next(x.device for x in pytree.tree_leaves((args, kwargs))
                      if isinstance(x, torch.Tensor))
        with torch.device(device):
            return function(*args, **kwargs)
    return compute


def table():
    """By op, of those that are loaded; overloads share their function."""
    made = {}
    for name, function in TABLE.items():
        namespace, _, op = name.partition("::")
        packet = getattr(getattr(torch.ops, namespace), op, None)
        for overload in packet.overloads() if packet else ():
            target = getattr(packet, overload)
            if not target._schema.is_mutable:
                made[target] = on_own_device(function)
                # PyTorch's own at this key would come before the table.
                target.py_kernels.pop(torch._C.DispatchKey.Autograd, None)
                target._dispatch_cache.clear()
    return made
