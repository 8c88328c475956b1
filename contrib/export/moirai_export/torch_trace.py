# SPDX-License-Identifier: Apache-2.0
"""Tracing with values, for modules that torch.export refuses.

torch.export has no values, so it refuses a branch on a mask that the module
makes itself, or as many steps as a constant says.  Here the module runs once
with its example inputs: ops that depend on an input are recorded, all others
are just computed.  A value that depends on an input is never read, so that the
record holds for all inputs of these shapes.
"""
import contextlib
import operator
from types import SimpleNamespace

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from . import decompositions
from .graph import ExportError
from .torch_program import (arguments, default_table, name_of, silence,
                            vmap_levels)
from .torch_routed import Mixed, Routed


class DependsOnValues(Exception):
    """The module reads a value that depends on an input."""


def without_values(tree):
    """Shapes and types of tensors."""
    return pytree.tree_map(
        lambda x: torch.empty(x.shape, dtype=x.dtype, device="meta")
        if isinstance(x, torch.Tensor) else x, tree)


class OneHot(TorchFunctionMode):
    """one_hot without its checks of values."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") == "one_hot":
            n = args[1] if len(args) > 1 else kwargs.get("num_classes", -1)
            x = args[0] if args else kwargs.get("self", kwargs.get("tensor"))
            if n > 0 and x is not None:
                return (x.unsqueeze(-1) == torch.arange(n)).long()
        return func(*args, **kwargs)


class Recorder(TorchDispatchMode):
    """Records ops that depend on an input as a graph of torch.fx."""

    def __init__(self, names, weights, routes):
        super().__init__()
        self.whole = names
        self.weights = weights  # names of parameters, by id
        self.table = default_table()
        self.graph = torch.fx.Graph()
        self.specs = []
        self.constants = {}
        self.nodes = {}  # by id of a tensor
        self.kept = []  # so that ids stay theirs
        self.routes = routes
        self.routed = Routed()

    def keep(self, tensor, node):
        self.kept.append(tensor)
        self.nodes[id(tensor)] = node

    def placeholder(self, name, tensor, kind):
        node = self.graph.placeholder(name)
        node.meta["val"] = without_values(tensor)
        self.specs.append(SimpleNamespace(
            kind=SimpleNamespace(name=kind), target=name,
            arg=SimpleNamespace(name=node.name)))
        self.keep(tensor, node)
        return node

    def constant(self, tensor):
        """What an op reads beside what depends on inputs."""
        name = self.weights.get(id(tensor), f"constant_{len(self.constants)}")
        self.constants[name] = tensor
        node = self.graph.create_node("placeholder", name.replace(".", "_"))
        self.specs.append(SimpleNamespace(
            kind=SimpleNamespace(name="CONSTANT_TENSOR"), target=name,
            arg=SimpleNamespace(name=node.name)))
        return node

    def as_argument(self, given):
        if not isinstance(given, torch.Tensor):
            return given
        if id(given) not in self.nodes:
            self.keep(given, self.constant(given))
            self.nodes[id(given)].meta["constant"] = True
        return self.nodes[id(given)]

    def depends(self, tree):
        return any(isinstance(x, torch.Tensor) and id(x) in self.nodes and
                   "constant" not in self.nodes[id(x)].meta
                   for x in pytree.tree_leaves(tree))

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        random = torch.Tag.nondeterministic_seeded in func.tags
        depends = random or self.depends((args, kwargs))
        try:
            if depends and self.routes and name_of(func) == "nonzero":
                with self:
                    mask = args[0].ne(0).reshape(-1)
                return self.routed.all_places(args[0], mask)
            if self.routed.concerns((args, kwargs)):
                return self.of_rows(func, args, kwargs, depends)
        except Mixed:
            raise DependsOnValues(str(func)) from None
        return self.of_values(func, args, kwargs, depends)

    def of_rows(self, func, args, kwargs, depends):
        """An op of rows that a mask chooses."""
        name = name_of(func)
        if name == "index_add":
            with self:
                args = self.routed.added(func, args, kwargs)
            return self.of_values(func, args, {}, depends)
        made = self.of_values(func, args, kwargs, depends)
        if not self.routed.concerns(made):  # an op of others has its own
            one = pytree.tree_leaves(made)[0]
            axis = self.routed.axis_after(func, args, kwargs, one)
            rows = next(filter(None, map(
                self.routed.of, pytree.tree_leaves((args, kwargs)))))
            self.routed.keep(made, rows.mask, axis)
        return made

    def of_values(self, func, args, kwargs, depends):
        if not depends:
            return func(*args, **kwargs)
        if self.reads_values(func, args):
            raise DependsOnValues(str(func))
        if name_of(func) not in self.whole:
            made = self.decomposed(func, args, kwargs)
            if made is not NotImplemented:
                return made
        made = func(*args, **kwargs)
        self.record(func, args, kwargs, made)
        return made

    def reads_values(self, func, args):
        """Whether a value or a shape depends on the values of inputs."""
        picks = {"index": 1, "masked_select": 1, "repeat_interleave": 1}
        by = picks.get(name_of(func))
        if func._schema.name in decompositions.TABLE:
            return False
        if by is not None and len(args) > by:
            return any(self.depends(x) and not (
                name_of(func) == "index" and x.dtype == torch.int64)
                for x in pytree.tree_leaves(args[by])
                if isinstance(x, torch.Tensor))
        return bool({torch.Tag.data_dependent_output,
                     torch.Tag.dynamic_output_shape} & set(func.tags))

    def decomposed(self, func, args, kwargs):
        with self:
            if func in self.table:
                return self.table[func](*args, **kwargs)
            return func.decompose(*args, **kwargs)

    def record(self, func, args, kwargs, made):
        given = pytree.tree_map(self.as_argument, (args, kwargs))
        node = self.graph.call_function(func, *given)
        node.meta["val"] = without_values(made)
        if isinstance(made, torch.Tensor):
            self.keep(made, node)
        elif isinstance(made, (list, tuple)):
            for i, part in enumerate(made):
                if isinstance(part, torch.Tensor):
                    got = self.graph.call_function(operator.getitem, (node, i))
                    got.meta["val"] = without_values(part)
                    self.keep(part, got)


class Program:
    """What the reader needs of an ExportedProgram."""

    def __init__(self, recorder, outputs):
        recorder.graph.output(tuple(outputs))
        self.graph = recorder.graph
        self.constants = recorder.constants
        self.state_dict = {}
        user = SimpleNamespace(kind=SimpleNamespace(name="USER_OUTPUT"))
        self.graph_signature = SimpleNamespace(
            input_specs=recorder.specs, output_specs=[user] * len(outputs))


def input_names(args, kwargs):
    """A name for each leaf, after its argument."""
    names = []
    for i, tree in enumerate(args):
        n = len(pytree.tree_leaves(tree))
        names += [f"input{i}" if n == 1 else f"input{i}_{j}" for j in range(n)]
    for key, tree in kwargs.items():
        n = len(pytree.tree_leaves(tree))
        names += [key if n == 1 else f"{key}_{j}" for j in range(n)]
    return names


@contextlib.contextmanager
def compiling():
    """Libraries leave out warnings and checks of values while compiling."""
    flags = [name for name in ("_is_compiling_flag", "_is_exporting_flag")
             if hasattr(torch.compiler, name)]
    before = [getattr(torch.compiler, name) for name in flags]
    for name in flags:
        setattr(torch.compiler, name, True)
    try:
        yield
    finally:
        for name, value in zip(flags, before):
            setattr(torch.compiler, name, value)


def record(module, inputs, names, without_branches):
    """The program of a module; names: of ops that are recorded whole;
    without_branches: torch.export found none that depend on values, so that
    rows which a mask chooses can be all rows."""
    args, kwargs = arguments(inputs)
    leaves, spec = pytree.tree_flatten((args, kwargs))
    leaves = [x.clone() if isinstance(x, torch.Tensor) else x for x in leaves]
    again = pytree.tree_map(lambda x: x.clone() if isinstance(
        x, torch.Tensor) else x, (args, kwargs))
    weights = {id(x): name for name, x in
               (*module.named_parameters(), *module.named_buffers())}
    recorder = Recorder(names, weights, without_branches)
    for name, x in zip(input_names(args, kwargs), leaves):
        if isinstance(x, torch.Tensor):
            recorder.placeholder(name, x, "USER_INPUT")

    def call(*given):
        again_args, again_kwargs = pytree.tree_unflatten(list(given), spec)
        made = module(*again_args, **again_kwargs)
        return tuple(x for x in pytree.tree_leaves(made)
                     if isinstance(x, torch.Tensor))

    try:
        with torch.no_grad(), silence(), compiling(), vmap_levels(), \
                OneHot(), recorder:
            outputs = torch.func.functionalize(call)(*leaves)
    except MemoryError:
        raise
    except DependsOnValues as error:
        raise ExportError(f"{error} reads values that depend on inputs; use "
                          "torch.where, or fix the choice") from error
    except Exception as error:  # of many kinds, PyTorch's and the module's
        raise ExportError(f"{type(error).__name__}: {error}") from error
    check_rows(recorder.routed, outputs, module, again)
    return Program(recorder, [recorder.as_argument(x) for x in outputs])


def check_rows(routed, outputs, module, inputs):
    """Refuses outputs that depend on how many rows a mask chooses."""
    if not routed.rows:
        return
    args, kwargs = inputs
    with torch.no_grad(), silence(), vmap_levels():
        expected = [x for x in pytree.tree_leaves(module(*args, **kwargs))
                    if isinstance(x, torch.Tensor)]
    if routed.concerns(outputs) or not all(
            x.shape == y.shape and torch.allclose(
                x.double(), y.double(), 1e-2, 1e-3, equal_nan=True)
            for x, y in zip(expected, outputs)):
        raise ExportError("nonzero of what depends on inputs makes as many "
                          "rows as their values say; use torch.where with a "
                          "mask")
