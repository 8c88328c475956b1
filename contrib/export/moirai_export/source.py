# SPDX-License-Identifier: Apache-2.0
"""Exportable sources, and their front ends.

A front end is imported when it is used: a framework is needed only for its own
networks.
"""
import contextlib
import difflib
import importlib
import importlib.util
import os
import sys
import traceback

from .graph import ExportError
from .write import check_path, check_sources, phase_path, write, \
    write_workload


def front_end(name, framework):
    try:
        return importlib.import_module(f".{name}", __package__)
    except ModuleNotFoundError as error:
        missing = error.name or framework
        raise ExportError(
            f"Python's package '{missing}' is missing: install {framework}, or "
            "name a Python that has it in MOIRAI_PYTHON") from None
    except (ImportError, OSError, AttributeError) as error:
        raise ExportError(
            f"{framework} cannot be loaded: {error}; install 2.4 or later, or "
            "name a Python that has it in MOIRAI_PYTHON") from error


def from_torch(module, inputs, shapes, with_weights):
    return front_end("torch_read", "torch").read(module, inputs, shapes,
                                                 with_weights)


def from_program(path, shapes, with_weights):
    if not os.path.exists(path):
        raise ExportError("there is no such file")
    return front_end("torch_read", "torch").read_file(path, shapes,
                                                      with_weights)


def is_captured(source):
    """Whether it is a folder of a captured graph, or the model.py of one."""
    folder, name = os.path.split(source)
    return os.path.isdir(source) or name == "model.py" and os.path.isfile(
        os.path.join(folder, "weight_meta.py"))


def python_files(folder):
    folder = os.path.abspath(folder)
    return [os.path.join(folder, name) for name in sorted(os.listdir(folder))
            if name.endswith(".py")]


def from_captured(source, shapes, with_weights):
    front = front_end("torch_captured", "torch")
    folder = front.folder_of(source)
    with user_code("reading it", *python_files(folder)):
        module, inputs = front.read_folder(folder)
    return from_torch(module, inputs, shapes, with_weights)


# Python sources

def where_raised(error, paths):
    """The line of the user's file, or of one of several, that an error came
    through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if os.path.abspath(frame.filename) in paths]
    if not frames:
        return ""
    name = os.path.basename(frames[-1].filename)
    return f" in line {frames[-1].lineno}" + (
        f" of {name}" if len(paths) > 1 else "")


@contextlib.contextmanager
def user_code(what, *paths):
    """Errors of the user's Python, as one line."""
    try:
        yield
    except (ExportError, MemoryError, KeyboardInterrupt):
        raise
    except ModuleNotFoundError as error:
        raise ExportError(
            f"Python's package '{error.name}' is missing: install it, or name "
            "a Python that has it in MOIRAI_PYTHON") from error
    except SyntaxError as error:
        raise ExportError(f"is no Python that can be read: line {error.lineno}:"
                          f" {error.msg}") from error
    except (Exception, SystemExit) as error:
        reason = " ".join(str(error).split())[:300]
        raise ExportError(
            f"{what} raised {type(error).__name__}"
            f"{where_raised(error, paths)}{': ' if reason else ''}{reason}; -v "
            "shows where") from error


def load_file(path):
    """Imports a Python file as a module; modules beside it can be imported."""
    if not os.path.isfile(path):
        raise ExportError("there is no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("moirai_export_source", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # classes of the file find themselves
    with user_code("reading it", os.path.abspath(path)):
        spec.loader.exec_module(module)
    return module


def load_module(name):
    sys.path.insert(0, os.getcwd())
    try:
        with user_code("importing it", ""):
            return importlib.import_module(name)
    except ExportError as error:
        if isinstance(error.__cause__, ModuleNotFoundError) and \
                error.__cause__.name == name.partition(".")[0]:
            raise ExportError(f"there is no module '{name}', nor a file "
                              f"'{name}.py' here") from None
        raise


def from_python(place, name):
    """What the function of FILE.py:NAME or MODULE:NAME returns: a network and
    its example inputs."""
    module = load_file(place) if place.endswith(".py") else load_module(place)
    if not hasattr(module, name):
        close = difflib.get_close_matches(name, dir(module), 1, 0.6)
        hint = f"; did you mean '{close[0]}'?" if close else ""
        raise ExportError(f"has no function '{name}'{hint}")
    function = getattr(module, name)
    if not callable(function):
        raise ExportError(f"'{name}' is no function or module")
    with user_code(f"{name}()", os.path.abspath(getattr(
            module, "__file__", None) or "")):
        made = function()
    if not isinstance(made, tuple) or len(made) != 2:
        raise ExportError(f"'{name}' must return a module and its inputs, a "
                          "tuple or a dict")
    return made


# sources

OTHERS = {
    (".onnx", ".xml", ".graphml"): "every command reads it as it is; there is "
                                   "nothing to export",
    (".pt", ".pth", ".bin", ".ckpt"): "has weights but no network; write a "
    "function that makes the module and loads them, and export FILE.py:NAME",
    (".safetensors",): "has weights but no network; write a function that "
    "makes the module and loads them, and export FILE.py:NAME",
    (".gguf",): "is a GGUF file, which can be placed but not exported; place "
    "it as it is with moirai --for llama.cpp, or write a function that makes "
    "the model of transformers, and export FILE.py:NAME",
    (".pb", ".h5", ".keras", ".tflite", ".savedmodel"): "is a model of "
    "TensorFlow; convert it to ONNX with tf2onnx, which every command reads",
}


def is_path(source):
    return isinstance(source, (str, os.PathLike))


def read(source, inputs=None, shapes=(), with_weights=True, progress=None):
    """Returns the graph of any exportable source."""
    shapes, progress = dict(shapes), progress or (lambda *_: None)
    progress("tracing", 0, 0)
    if not is_path(source):
        return from_torch(source, inputs, shapes, with_weights)
    source = os.fspath(source)
    place, _, name = source.rpartition(":")
    try:
        if is_captured(source):
            return from_captured(source, shapes, with_weights)
        if source.endswith(".pt2"):
            return from_program(source, shapes, with_weights)
        if place and name.isidentifier():
            return from_torch(*from_python(place, name), shapes, with_weights)
        for suffixes, remedy in OTHERS.items():
            if source.lower().endswith(suffixes):
                raise ExportError(remedy)
        raise ExportError("is neither .pt2 nor FILE.py:NAME, nor the folder "
                          "of a captured graph")
    except ExportError as error:
        raise ExportError(f"{source}: {error}") from error


def read_phases(source, inputs, capacity, with_weights, progress):
    """Returns the graphs of the phases of a language model, by name."""
    progress("tracing", 0, 0)
    text = None
    if is_path(source):
        text = os.fspath(source)
        place, _, name = text.rpartition(":")
        if not place or not name.isidentifier():
            raise ExportError(f"{text}: --max-length needs FILE.py:NAME or "
                              "MODULE:NAME, a function that returns a model of "
                              "transformers and a prompt")
    try:
        if text:
            source, inputs = from_python(place, name)
        return front_end("torch_generate", "torch").read(
            source, inputs, capacity, with_weights)
    except ExportError as error:
        if not text:
            raise
        raise ExportError(f"{text}: {error}", error.code) from error


def files_of(source):
    """The file that a source names, or the files of a captured graph; those of
    modules are known once they are imported."""
    if not is_path(source):
        return []
    source = os.fspath(source)
    if is_captured(source):
        return python_files(source if os.path.isdir(source)
                            else os.path.dirname(source))
    return [source, source.rpartition(":")[0]]


def imported_files():
    return [module.__file__ for module in list(sys.modules.values())
            if isinstance(getattr(module, "__file__", None), str)]


def export(source, inputs=None, path=None, shapes=None, weights=True,
           progress=None, max_length=None):
    """Writes source to path, a .graphml, and its weights beside it.

    source: a torch.nn.Module with example inputs (a tuple, or a dict by name),
    an ExportedProgram, or a path.  shapes: {name or number of an input: sizes}.
    weights False: parameters get no values.  progress is called with a step, an
    amount done and the whole amount, 0 if that is unknown.  max_length: path is
    a workload, whose phases generate text with a cache of so many tokens.
    Raises ExportError with a message of one line.
    """
    if path is None:
        raise ExportError("there is no path to write to")
    path = os.fspath(path)
    progress = progress or (lambda *_: None)
    written = [path] if max_length is None else \
        [path, phase_path(path, "prefill"), phase_path(path, "decode")]
    for one in written:
        check_path(one)
        check_sources(one, files_of(source))
    if max_length is None:
        graph = read(source, inputs, dict(shapes or {}), weights, progress)
    else:
        phases = read_phases(source, inputs, max_length, weights, progress)
    for one in written:
        check_sources(one, imported_files())
    if max_length is None:
        return write(graph, path, progress)
    prompt = phases["prefill"].inputs[0].outputs[0][0][1]
    return write_workload({"prefill": (phases["prefill"], 1),
                           "decode": (phases["decode"], max_length - prompt)},
                          path, progress)
