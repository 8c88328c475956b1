# SPDX-License-Identifier: Apache-2.0
"""Rows that a mask chooses, as mixtures of experts route tokens.

nonzero of a mask has as many rows as the mask has nonzero elements.  Here it
has one for each element: what is computed of rows is computed of all of them,
and those that the mask does not choose are zero where rows are added to a
tensor of a known shape.  That holds as long as no op lets one row depend on
another.
"""
import math

import torch
from torch.utils import _pytree as pytree

from .torch_program import name_of

RESHAPES = ("view", "_unsafe_view", "reshape", "unsqueeze", "squeeze",
            "_reshape_copy", "view_copy", "unsqueeze_copy", "squeeze_copy")
COPIES = ("clone", "_to_copy", "detach", "alias", "to", "contiguous")


class Mixed(Exception):
    """An op lets rows depend on each other, or is not known not to."""


def require(condition):
    if not condition:
        raise Mixed


class Rows:
    """The axis of rows of a tensor, and the flat mask that chooses them."""

    def __init__(self, tensor, mask, axis):
        self.tensor = tensor  # kept, so that its id stays its own
        self.mask = mask
        self.axis = axis


def argument(func, args, kwargs, name, default=None):
    for i, wanted in enumerate(func._schema.arguments):
        if wanted.name == name:
            return args[i] if i < len(args) else kwargs.get(name, default)
    return default


def axes(given, rank):
    given = given if isinstance(given, (list, tuple)) else [given]
    return [axis % rank for axis in given]


class Routed:
    """Knows which tensors have rows of a mask."""

    def __init__(self):
        self.rows = {}  # by id of a tensor

    def of(self, x):
        return self.rows.get(id(x)) if isinstance(x, torch.Tensor) else None

    def concerns(self, tree):
        return bool(self.rows) and any(
            self.of(x) for x in pytree.tree_leaves(tree))

    def keep(self, tree, mask, axis):
        for x in pytree.tree_leaves(tree):
            if isinstance(x, torch.Tensor):
                self.rows[id(x)] = Rows(x, mask, axis)

    def all_places(self, x, mask):
        """In place of nonzero of x; mask: of its elements."""
        require(x.dim() > 0 and x.numel() > 1)
        require(not mask.all().item())  # else no value could show a mistake
        places = torch.ones(x.shape, dtype=torch.bool).nonzero()
        self.keep((places, mask), mask, 0)
        return places

    def chosen(self, x):
        """A tensor with zeros in the rows that the mask does not choose."""
        rows = self.of(x)
        shape = [1] * x.dim()
        shape[rows.axis] = -1
        return torch.where(rows.mask.reshape(shape), x, torch.zeros(
            (), dtype=x.dtype))

    def axis_after(self, func, args, kwargs, made):
        """The axis of rows of what an op has made of them."""
        given = [self.of(x) for x in pytree.tree_leaves((args, kwargs))]
        given = [rows for rows in given if rows]
        one = given[0]
        require(all(rows.mask is one.mask for rows in given))
        name = name_of(func)
        if torch.Tag.pointwise in func.tags or name in COPIES:
            return self.pointwise(args, kwargs, given, made)
        if name in ("index", "index_select", "embedding"):
            return self.gathered(func, args, kwargs)
        require(len(given) == 1)
        rank = one.tensor.dim()
        if name in ("mm", "addmm", "linear", "matmul"):
            left = args[1] if name == "addmm" else args[0]
            require(self.of(left) is one and one.axis < rank - 1)
            return one.axis
        require(args and self.of(args[0]) is one)
        if name in RESHAPES:
            return reshaped(one, made)
        if name in ("t", "transpose", "permute"):
            order = list(range(rank))
            if name == "permute":
                order = axes(args[1], rank)
            elif rank > 1:
                a, b = axes(args[1:] or (0, 1), rank)
                order[a], order[b] = order[b], order[a]
            return order.index(one.axis)
        removed = axes(argument(func, args, kwargs, "dim", 0), rank)
        require(name in ("select", "unbind", "slice", "split", "sum", "mean",
                         "split_with_sizes", "softmax", "_softmax"))
        require(removed and one.axis not in removed)
        if name in ("select", "unbind") or name in ("sum", "mean") and \
                not argument(func, args, kwargs, "keepdim", False):
            return one.axis - sum(axis < one.axis for axis in removed)
        return one.axis

    def pointwise(self, args, kwargs, given, made):
        place = {rows.tensor.dim() - rows.axis for rows in given}
        require(len(place) == 1)
        behind = place.pop()
        for x in pytree.tree_leaves((args, kwargs)):
            if isinstance(x, torch.Tensor) and not self.of(x):
                require(x.dim() < behind or x.shape[-behind] == 1)
        return made.dim() - behind

    def gathered(self, func, args, kwargs):
        """Rows are indices; what they are taken from has none."""
        require(not self.of(args[0]))
        if name_of(func) == "index":
            at = [i for i, x in enumerate(args[1]) if x is not None]
            require(all(self.of(args[1][i]) and args[1][i].dim() == 1
                        for i in at))
            return at[0] if at[-1] - at[0] == len(at) - 1 else 0
        rows = self.of(argument(func, args, kwargs, "index" if name_of(func)
                                == "index_select" else "indices"))
        require(rows and (rows.tensor.dim() == 1 or
                          name_of(func) == "embedding"))
        return args[1] % args[0].dim() if name_of(func) == "index_select" \
            else rows.axis

    def added(self, func, args, kwargs):
        """The arguments of index_add, where rows end: they are zero unless
        they are chosen."""
        x, axis, index, source = args[:4]
        require(not self.of(x) and self.of(index) and self.of(source))
        require(self.of(index).mask is self.of(source).mask)
        require(self.of(source).axis == axis % x.dim())
        require(argument(func, args, kwargs, "alpha", 1) == 1)
        return x, axis, index, self.chosen(source)


def reshaped(rows, made):
    """The axis of as many elements after as many: it is not cut, nor joined
    with others."""
    old = rows.tensor.shape
    for axis, size in enumerate(made.shape):
        if size == old[rows.axis] and math.prod(made.shape[:axis]) == \
                math.prod(old[:rows.axis]):
            return axis
    raise Mixed
