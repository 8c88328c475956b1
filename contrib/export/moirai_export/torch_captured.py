# SPDX-License-Identifier: Apache-2.0
"""Graphs that torch.compile captured, as collections store them.

A folder has model.py, where the forward of a class GraphModule takes all
weights and sizes as arguments, and weight_meta.py, maybe input_meta.py too,
with a class for each argument: its name, shape and dtype, and data, or a range
or mean and standard deviation that stand for it.
"""
import ast
import inspect
import os
import re
import sys
import tokenize
import types

import torch

from .graph import ExportError

GRAPH = "model.py"
METAS = ("weight_meta.py", "input_meta.py")
SEED = 1


class OnCpu(ast.NodeTransformer):
    """Puts what names a GPU onto the CPU, where graphs are traced."""

    def visit_Constant(self, node):
        if isinstance(node.value, str) and \
                re.fullmatch(r"cuda(:\d+)?", node.value):
            node.value = "cpu"
        return node

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if node.attr == "cuda" and not ast.unparse(node).startswith("torch."):
            node.attr = "cpu"
        return node


def folder_of(source):
    folder = source if os.path.isdir(source) else os.path.dirname(source)
    if not os.path.isfile(os.path.join(folder, GRAPH)):
        within = sorted(name for name in os.listdir(folder) if os.path.isfile(
            os.path.join(folder, name, GRAPH)))
        raise ExportError(f"is a folder without {GRAPH}" + (
            f"; name one within it, as {within[0]}" if within else ""))
    return folder


def parse_file(path):
    try:
        with tokenize.open(path) as file:
            return ast.parse(file.read(), path)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        raise ExportError(
            f"its {os.path.basename(path)} is no Python that can be read: "
            + (f"line {line}: " if line else "")
            + (getattr(error, "msg", None) or str(error))) from error


def run_file(path, transform=lambda tree: tree):
    """What a file of Python defines; nothing is written beside it."""
    module = types.ModuleType("moirai_export_captured")
    module.__file__ = path
    sys.modules[module.__name__] = module
    exec(compile(transform(parse_file(path)), path, "exec"), vars(module))
    return module


def descriptions(folder):
    """The classes of the meta files, by the name of the argument."""
    found = {}
    for name in METAS:
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            continue
        for kind in vars(run_file(path)).values():
            if inspect.isclass(kind) and hasattr(kind, "shape"):
                found.setdefault(getattr(kind, "name", kind.__name__), kind)
    return found


def tensor_of(meta, generator):
    """A tensor as a description has it."""
    dtype = getattr(torch, str(meta.dtype).rpartition(".")[2])
    shape, data = list(meta.shape), getattr(meta, "data", None)
    if data is not None:
        return torch.tensor(data, dtype=dtype).reshape(shape)
    low, high = (getattr(meta, name, None) for name in ("min_val", "max_val"))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if not (dtype.is_floating_point or dtype.is_complex):
        low = 0 if low is None else low
        return torch.randint(low, max(low, low + 1 if high is None else high)
                             + 1, shape, generator=generator, dtype=dtype)
    mean, std = (getattr(meta, name, None) for name in ("mean", "std"))
    made = torch.randn(shape, generator=generator) * (
        1 if std is None else std) + (mean or 0)
    if low is not None or high is not None:
        made = made.clamp(low, high)
    return made.to(dtype)


def read_folder(folder):
    """The module of a captured graph, and its example inputs by name."""
    made = run_file(os.path.join(folder, GRAPH), lambda tree:
                    ast.fix_missing_locations(OnCpu().visit(tree)))
    if not hasattr(made, "GraphModule"):
        raise ExportError(f"its {GRAPH} has no class GraphModule")
    module = made.GraphModule().eval()
    known = descriptions(folder)
    generator = torch.Generator().manual_seed(SEED)
    inputs = {}
    for name in inspect.signature(module.forward).parameters:
        if name not in known:
            raise ExportError(f"neither {' nor '.join(METAS)} describes the "
                              f"argument '{name}'")
        try:
            inputs[name] = tensor_of(known[name], generator)
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            raise ExportError(f"the description of '{name}' makes no tensor: "
                              f"{error}") from error
    return module, inputs
