# SPDX-License-Identifier: Apache-2.0
"""Exportable sources, and their front ends.

A front end is imported when it is used: a framework is needed only for its own
networks.
"""
import importlib
import importlib.util
import os
import sys

from .graph import ExportError
from .write import write


def front_end(name, framework):
    try:
        return importlib.import_module(f".{name}", __package__)
    except ImportError as error:
        missing = error.name or framework
        raise ExportError(
            f"Python's package '{missing}' is missing: install {framework}, or "
            "name a Python that has it in MOIRAI_PYTHON") from None


def from_torch(module, inputs):
    return front_end("torch_read", "torch").read(module, inputs)


def from_program(path):
    return front_end("torch_read", "torch").read_file(path)


def load_file(path):
    """Imports a Python file as a module; modules beside it can be imported."""
    if not os.path.exists(path):
        raise ExportError(f"{path}: there is no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("moirai_export_source", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def from_python(place, name):
    """FILE.py:NAME or MODULE:NAME, a function that returns a network and its
    example inputs."""
    if place.endswith(".py"):
        module = load_file(place)
    else:
        sys.path.insert(0, os.getcwd())
        try:
            module = importlib.import_module(place)
        except ModuleNotFoundError as error:
            raise ExportError(f"there is no module '{error.name}'") from None
    function = getattr(module, name, None)
    if not callable(function):
        raise ExportError(f"{place}: has no function '{name}'")
    made = function()
    if not isinstance(made, tuple) or len(made) != 2:
        raise ExportError(f"{place}: '{name}' must return a module and its "
                          "inputs, a tuple or a dict")
    return from_torch(*made)


def is_path(source):
    return isinstance(source, (str, os.PathLike))


def read(source, inputs=None, shapes=()):
    """Returns the graph of any exportable source."""
    if not is_path(source):
        return from_torch(source, inputs)
    source = os.fspath(source)
    place, _, name = source.rpartition(":")
    if source.endswith((".onnx", ".xml")):
        raise ExportError(f"{source}: every command reads ONNX and OpenVINO "
                          "models as they are; there is nothing to export")
    if shapes:
        raise ExportError("a program's shapes are those of its example inputs")
    if source.endswith(".pt2"):
        return from_program(source)
    if place and name.isidentifier():
        return from_python(place, name)
    raise ExportError(f"{source}: is neither .pt2 nor FILE.py:NAME")


def export(source, inputs=None, path=None, shapes=None):
    """Writes source to path, a .graphml, and its weights beside it.

    source: a torch.nn.Module with example inputs (a tuple, or a dict by name),
    an ExportedProgram, or a path.  shapes: {name or number of an input: sizes}.
    Raises ExportError with a message of one line.
    """
    if path is None:
        raise ExportError("there is no path to write to")
    graph = read(source, inputs, dict(shapes or {}))
    return write(graph, os.fspath(path))
