# SPDX-License-Identifier: Apache-2.0
"""Specialization of 0-d inputs whose value the module reads (.item()) to their
example values, as captured graphs take sizes; and names of inputs."""
import inspect

import torch
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.weak import WeakIdKeyDictionary

from .torch_program import arguments, silence


NUMBERS = (torch.SymInt, torch.SymFloat, torch.SymBool)


def is_scalar(x):
    return isinstance(x, torch.Tensor) and x.dim() == 0 and not x.is_complex()


class ScalarReadTracker(TorchDispatchMode):
    """Finds the inputs whose values are read: tensors are followed from
    inputs without dimensions until one depends on any other input."""

    def __init__(self, leaves):
        super().__init__()
        self.sources = WeakIdKeyDictionary()  # no tensor lives longer for it
        self.read = set()
        for at, x in enumerate(leaves):
            if isinstance(x, torch.Tensor):
                self.sources[x] = {at} if is_scalar(x) else None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        given = [self.sources.get(x, set())
                 for x in pytree.tree_leaves((args, kwargs))
                 if isinstance(x, torch.Tensor)]
        made = func(*args, **(kwargs or {}))
        from_scalars = None if None in given else set().union(*given)
        if func is torch.ops.aten._local_scalar_dense.default:
            self.read |= from_scalars or set()
        for x in pytree.tree_leaves(made):
            if isinstance(x, torch.Tensor):
                self.sources[x] = from_scalars
        return made


def numbers_of(module, inputs):
    """Positions of the inputs without dimensions that forward declares as
    numbers."""
    args, kwargs = arguments(inputs)
    known = parameters_of(module)
    given = [*zip(known, args), *kwargs.items()]
    leaves = [(name, x) for name, tree in given
              for x in pytree.tree_leaves(tree)]
    return [at for at, (name, x) in enumerate(leaves) if is_scalar(x) and
            name in known and known[name].annotation in NUMBERS]


def find_read_scalars(module, leaves, spec):
    """Positions of the inputs without dimensions that the module reads."""
    if not any(map(is_scalar, leaves)):
        return []
    leaves = [x.clone() if isinstance(x, torch.Tensor) else x for x in leaves]
    args, kwargs = pytree.tree_unflatten(leaves, spec)
    try:
        with torch.no_grad(), silence(), ScalarReadTracker(leaves) as tracker:
            module(*args, **kwargs)
    except MemoryError:
        raise
    except Exception:  # of many kinds; tracing reports it
        return []
    return sorted(tracker.read)


class WithConstantInputs(torch.nn.Module):
    """A module with constants in place of some of its inputs, which it still
    takes, under their names; a constant without a dtype is a number."""

    def __init__(self, module, values, names, spec):
        super().__init__()
        self.module = module

        def forward(*args, **kwargs):
            kwargs = {name: kwargs[name] for name in names}
            leaves = pytree.tree_leaves((args, kwargs))
            for at, (value, dtype) in values.items():
                leaves[at] = value if dtype is None else torch.tensor(
                    value, dtype=dtype)
            args, kwargs = pytree.tree_unflatten(leaves, spec)
            return module(*args, **kwargs)

        forward.__signature__ = inspect.signature(module.forward)
        self.forward = forward
        self.eval()


def specialize(module, inputs):
    """The module with the inputs fixed that it reads, and their values by
    position among the tensors; the module itself if there are none."""
    args, kwargs = arguments(inputs)
    leaves, spec = pytree.tree_flatten((args, kwargs))
    values = {at: (leaves[at].item(), None)
              for at in numbers_of(module, inputs)}
    given = [values[at][0] if at in values else x
             for at, x in enumerate(leaves)]
    values.update({at: (leaves[at].item(), leaves[at].dtype)
                   for at in find_read_scalars(module, given, spec)})
    if not values:
        return module, {}
    tensors = [at for at, x in enumerate(leaves)
               if isinstance(x, torch.Tensor)]
    return WithConstantInputs(module, values, list(kwargs), spec), {
        tensors.index(at): value for at, (value, _) in values.items()}


# names

def parameters_of(module):
    """Those of forward; none where Python does not know them."""
    try:
        return inspect.signature(module.forward).parameters
    except (TypeError, ValueError):
        return {}


def in_order(module, inputs):
    """Inputs by name in the order of forward: PyTorch 2.4 binds keyword
    inputs by position."""
    if not isinstance(inputs, dict) or not isinstance(module, torch.nn.Module):
        return inputs
    known = [name for name in parameters_of(module) if name in inputs]
    return {name: inputs[name] for name in (*known, *inputs)}


def names_of(module, inputs):
    """The argument of each tensor among the inputs; None within another."""
    args, kwargs = arguments(inputs)
    given = [x.name if x.kind == x.POSITIONAL_OR_KEYWORD else None
             for x in parameters_of(module).values()]
    given += [None] * len(args)
    names = []
    for name, tree in (*zip(given, args), *kwargs.items()):
        names += [name if tree is x else None for x in pytree.tree_leaves(tree)
                  if isinstance(x, torch.Tensor)]
    return names


def restore_names(graph, module, inputs):
    """Names inputs as they were given: PyTorch changes upper case."""
    def key(name):
        return name.replace("_", "").lower() if name else None

    nodes = graph.inputs
    made = {key(node.name): node for node in nodes}
    for name in names_of(module, inputs) if len(made) == len(nodes) else ():
        if key(name) in made:
            graph.rename(made[key(name)], name)
