# SPDX-License-Identifier: Apache-2.0
"""The C library, loaded with ctypes, and what all of its callers share.

ctypes needs neither a compiler nor a package: one module serves every Python 3
on every machine that the library was built for.  Calls release the GIL.
"""
from __future__ import annotations

import ctypes
import enum
import errno
import json
import operator
import os
import pathlib
import threading
import weakref
from ctypes import (POINTER, Structure, byref, c_char_p, c_double, c_int,
                    c_int32, c_int64, c_size_t, c_void_p)
from numbers import Number
from typing import (Any, Callable, Dict, Iterable, Iterator, NoReturn, Optional,
                    Sequence, Tuple, Union)

Path = Union[str, "os.PathLike[str]"]
# One text or several; sizes of inputs, as {"ids": (1, 128)} or "ids=1,128".
Texts = Union[str, Sequence[str]]
Shape = Union[Texts, Dict[str, Union[Sequence[int], Sequence[Sequence[int]]]]]
# Numbers in place of inputs, as {"rate": 16000} or "rate=16000".
Values = Union[Texts, Dict[str, Any]]

SONAME = "libmoirai.so.1"
PACKAGE = pathlib.Path(__file__).resolve().parent
# Of a wheel: commands, library and solver, laid out as make install does.
PREFIX = PACKAGE / "prefix"


class Status(enum.IntEnum):
    """Why a call failed; the numbers of moirai_status in moirai.h."""

    MEMORY = 1
    IO = 2
    SYNTAX = 3
    INPUT = 4
    LIMIT = 5
    USAGE = 6
    SUPPORT = 7
    INFEASIBLE = 8
    CANCELLED = 9
    NO_SOLUTION = 10


class MoiraiError(Exception):
    """An error of the library: one line with its cause and remedy.

    status: a Status.  file: the file that is wrong, or None.  line: its line,
    or None.  text: cause and remedy without them; str() has all three.
    """

    def __init__(self, status: int, text: str, file: Optional[str] = None,
                 line: Optional[int] = None) -> None:
        self.status = Status(status)
        self.text = text
        self.file = file or None
        self.line = line or None
        super().__init__(status, text, file, line)

    def __str__(self) -> str:
        place = f"{self.file}:" if self.file else ""
        place += f"{self.line}:" if self.line else ""
        return f"{place} {self.text}" if place else self.text


class MissingFileError(MoiraiError, FileNotFoundError):
    """A file or folder does not exist: a MoiraiError, and the
    FileNotFoundError of open(), with its errno and filename."""

    def __init__(self, status: int, text: str, file: Optional[str] = None,
                 line: Optional[int] = None) -> None:
        super().__init__(status, text, file, line)
        self.errno = errno.ENOENT
        self.filename = self.file


class ErrorBuffer(Structure):
    """moirai_error."""

    _fields_ = [("status", c_int32), ("line", c_int32),
                ("file", ctypes.c_char * 512), ("text", ctypes.c_char * 1024)]


class Flow(Structure):
    """moirai_flow."""

    _fields_ = [("source", c_int32), ("target", c_int32), ("tensor", c_int32)]


class View(Structure):
    """moirai_view."""

    _fields_ = [("size", c_size_t),
                *((name, c_int32) for name in (
                    "n_ops", "n_devices", "n_flows", "n_tensors", "n_groups",
                    "congestion", "tensors", "memory", "objective",
                    "in_flight")),
                ("op_names", POINTER(c_char_p)),
                ("device_ids", POINTER(c_char_p)),
                *((name, c_void_p) for name in (
                    "time_ns", "memory_bytes", "weight_bytes",
                    "capacity_bytes", "flows", "tensor_bytes", "pin", "group",
                    "flow_row", "pair_column", "transfer_ns")),
                ("n_columns", c_int32)]


class TransferBuffer(Structure):
    """moirai_transfer."""

    _fields_ = [("tensor", c_int32), ("source", c_int32), ("target", c_int32),
                ("start_ns", c_int64), ("end_ns", c_int64)]


class TensorBuffer(Structure):
    """moirai_tensor."""

    _fields_ = [("name", c_char_p), ("dtype", c_char_p), ("rank", c_int),
                ("dims", POINTER(c_int64)), ("bytes", c_size_t)]


WRITE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)
PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64, c_double)
MESSAGE = ctypes.CFUNCTYPE(None, c_void_p, c_char_p)

# Arguments of functions: a handle, an output, a text, an output stream.
H = c_void_p
O = POINTER(c_void_p)
S = c_char_p
STREAM = (S, WRITE, c_void_p)
TENSOR = (c_int, [H, c_int, POINTER(TensorBuffer)])

# Functions that can fail, less the status and the error.
FALLIBLE: Dict[str, Tuple[Any, ...]] = {
    "options_new": (O,),
    "options_set": (H, S, S),
    "graph_read": (S, H, O),
    "graph_read_memory": (S, c_void_p, c_size_t, H, O),
    "graph_coarsen": (H, H, H, O),
    "graph_write": (H, *STREAM),
    "cluster_read": (S, O),
    "cluster_read_memory": (S, c_void_p, c_size_t, O),
    "cluster_new": (c_int, POINTER(S), c_void_p, c_void_p, c_void_p, O),
    "cluster_discover": (H, O),
    "cluster_write": (H, *STREAM),
    "profile_read": (S, O),
    "instance_new": (H, H, H, H, O),
    "emit": (H, H, *STREAM),
    "place": (H, H, O),
    "solve": (H, H, O),
    "placement_new": (H, c_void_p, c_void_p, O),
    "placement_read": (H, S, O),
    "placement_open": (S, H, O),
    "placement_write": (H, *STREAM),
    "placement_copy": (H, c_int, O),
    "executor_open": (H, H, O),
    "executor_run": (H, POINTER(c_void_p), POINTER(c_void_p)),
    "executor_submit": (H, POINTER(c_void_p), POINTER(c_void_p),
                        POINTER(c_int64)),
    "executor_wait": (H, c_int64),
    "executor_at": (H, POINTER(TensorBuffer), O),
    "executor_write_plan": (H, *STREAM),
    "generator_open": (H, H, POINTER(c_int64), c_size_t, c_int64, O),
    "generator_next": (H, POINTER(c_int64), POINTER(c_int)),
    "generator_stop": (H,),
    "report": (H, H, *STREAM),
    "plugin_load": (S,),
}
OTHERS: Dict[str, Tuple[Any, Any]] = {
    "version": (S, []),
    "options_free": (None, [H]),
    "options_on_progress": (None, [H, PROGRESS, c_void_p]),
    "options_on_message": (None, [H, MESSAGE, c_void_p]),
    "options_cancel": (None, [H, c_int]),
    "graph_free": (None, [H]),
    "graph_n_ops": (c_int, [H]),
    "graph_n_edges": (c_int, [H]),
    "graph_op_text": (S, [H, c_int, S]),
    "graph_op_number": (c_double, [H, c_int, S]),
    "graph_find": (c_int, [H, S]),
    "graph_edge": (c_int, [H, c_int, POINTER(c_int), POINTER(c_int),
                           POINTER(c_int64)]),
    "graph_coarse_op": (c_int, [H, c_int]),
    "cluster_free": (None, [H]),
    "cluster_n_devices": (c_int, [H]),
    "cluster_device_id": (S, [H, c_int]),
    "profile_free": (None, [H]),
    "instance_free": (None, [H]),
    "instance_view": (POINTER(View), [H]),
    "placement_free": (None, [H]),
    "placement_view": (POINTER(View), [H]),
    "placement_device": (c_int, [H, c_int]),
    "placement_start_ns": (c_int64, [H, c_int]),
    "placement_n_transfers": (c_int, [H]),
    "placement_transfer": (c_int, [H, c_int, POINTER(TransferBuffer)]),
    "placement_n_copies": (c_int, [H]),
    "placement_makespan_ns": (c_int64, [H]),
    "placement_period_ns": (c_int64, [H]),
    "placement_bound_ns": (c_int64, [H]),
    "placement_solver_bound_ns": (c_int64, [H]),
    "placement_gap": (c_double, [H]),
    "placement_method": (S, [H]),
    "placement_proof": (S, [H]),
    "placement_n_violations": (c_int, [H]),
    "placement_violation": (S, [H, c_int]),
    "executor_free": (None, [H]),
    "executor_n_inputs": (c_int, [H]),
    "executor_n_outputs": (c_int, [H]),
    "executor_n_plans": (c_int, [H]),
    "executor_input": TENSOR,
    "executor_output": TENSOR,
    "generator_free": (None, [H]),
    "generator_batch": (c_int64, [H]),
    "method_name": (S, [c_int]),
    "solver_name": (S, [c_int]),
}


def candidates() -> Iterator[str]:
    """Where the library may be: named by MOIRAI_LIBRARY, in the wheel, in the
    prefix or the tree that this package is in, or where the system looks."""
    named = os.environ.get("MOIRAI_LIBRARY")
    if named:
        yield named
        return
    for folder in (PREFIX / "lib", PACKAGE.parents[3] / "lib"):
        yield str(folder / SONAME)
    yield str(PACKAGE.parents[2] / "src" / "lib" / (SONAME + ".0.0"))
    yield SONAME


def load() -> ctypes.CDLL:
    for path in candidates():
        if os.path.sep in path and not os.path.exists(path):
            continue
        try:
            return ctypes.CDLL(path)
        except OSError as error:
            raise MoiraiError(
                Status.SUPPORT, f"{error}; install the library, or name its "
                "file in MOIRAI_LIBRARY") from None
    raise AssertionError("the name alone was tried last")


_lock = threading.Lock()
_cdll: Optional[ctypes.CDLL] = None
_functions: Dict[str, Any] = {}


def function(name: str) -> Any:
    """Returns moirai_NAME with its types; the library is loaded by the first
    use."""
    global _cdll
    found = _functions.get(name)
    if found is not None:
        return found
    with _lock:
        if _cdll is None:
            _cdll = load()
        try:
            found = getattr(_cdll, f"moirai_{name}")
        except AttributeError:
            raise MoiraiError(
                Status.SUPPORT, f"the library has no function moirai_{name}; "
                "install a newer one") from None
        if name in FALLIBLE:
            found.restype = c_int
            found.argtypes = [*FALLIBLE[name], POINTER(ErrorBuffer)]
        else:
            found.restype, found.argtypes = OTHERS[name]
        _functions[name] = found
    return found


def call(name: str, *arguments: Any) -> None:
    """Calls a function that can fail; raises MoiraiError."""
    error = ErrorBuffer()
    status = function(name)(*arguments, byref(error))
    if status != 0:
        text = error.text.decode("utf-8", "replace")
        missing = status == Status.IO and (
            text.endswith(os.strerror(errno.ENOENT)) or
            text.startswith(("no such file", "there is no cluster")))
        kind = MissingFileError if missing else MoiraiError
        raise kind(status, text, error.file.decode("utf-8", "surrogateescape"),
                   error.line)


def create(name: str, *arguments: Any) -> int:
    """Calls a function whose last argument is a new handle; returns that."""
    handle = c_void_p()
    call(name, *arguments, byref(handle))
    assert handle.value is not None
    return handle.value


def query(name: str, *arguments: Any) -> Any:
    """Calls a function that cannot fail."""
    return function(name)(*arguments)


def text_of(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else value.decode("utf-8", "replace")


def encode(path: Path) -> bytes:
    return without_nul(os.fsencode(path))


def encode_text(text: str) -> bytes:
    return without_nul(text.encode())


def without_nul(data: bytes) -> bytes:
    """Raises ValueError, as open() does, where C would cut the text."""
    if b"\0" in data:
        raise ValueError("embedded null byte")
    return data


def integers(kind: Any, values: Iterable[Any], n: int, name: str) -> Any:
    """n integers as a C array of kind, which is signed; ctypes alone would
    wrap large ones, and fill up with zeros."""
    numbers = [operator.index(one) for one in values]
    if len(numbers) != n:
        raise MoiraiError(Status.USAGE, f"{name} has {len(numbers)} numbers "
                          f"instead of {n}")
    limit = 1 << (8 * ctypes.sizeof(kind) - 1)
    for one in numbers:
        if not -limit <= one < limit:
            raise MoiraiError(Status.USAGE, f"{name}: {one} is out of range")
    return (kind * n)(*numbers)


def version() -> str:
    """Returns the version of the library."""
    return str(text_of(query("version")))


class Handle:
    """An object of the library, freed with its last reference; copies are the
    object itself."""

    def __init__(self, kind: str, handle: int) -> None:
        self._as_parameter_ = c_void_p(handle)
        self._process = os.getpid()
        self._free = weakref.finalize(self, free, function(f"{kind}_free"),
                                      c_void_p(handle), self._process)

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"a moirai.{type(self).__name__} cannot be pickled; "
                        "write it to a file, and read that")


def free(function: Any, handle: c_void_p, process: int) -> None:
    """Frees a handle, but not in a process that was forked: the threads that
    freeing waits for are not there."""
    if os.getpid() == process:
        function(handle)


def output(name: str, path: Optional[Path], *arguments: Any) -> bytes:
    """Calls a function that writes: into the file at path, or, without one,
    returns what it writes."""
    pieces = []

    def write(_: Any, data: int, size: int) -> int:
        pieces.append(ctypes.string_at(data, size))
        return 0

    call(name, *arguments, None if path is None else encode(path),
         WRITE(write), None)
    return b"".join(pieces)


def option_texts(value: Any) -> Iterator[str]:
    """The texts of an option's value; several of a list or of a dict, as in
    shape={"x": (1, 3)} or value={"rate": 16000}; several shapes of one input
    are a list, shape={"x": [(1, 3), (8, 3)]}."""
    if isinstance(value, dict):
        for key, one in value.items():
            if isinstance(one, (str, Number)):
                one = [one]
            several = [one] if all(isinstance(size, (str, Number))
                                   for size in one) else one
            yield f"{key}={';'.join(','.join(map(str, s)) for s in several)}"
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from option_texts(one)
    elif isinstance(value, bool):
        yield "1" if value else "0"
    elif isinstance(value, float):
        yield json.dumps(value)
    else:
        yield os.fspath(value) if isinstance(value, os.PathLike) else str(value)


class Options(Handle):
    """Options of calls, by the names of the command line: in_flight=4 is
    --in-flight 4."""

    def __init__(self, values: Dict[str, Any],
                 message: Optional[Callable[[str], None]] = None) -> None:
        super().__init__("options", create("options_new"))
        self._callbacks: Dict[str, Any] = {}
        for name, value in values.items():
            if value is None:
                continue
            for text in option_texts(value):
                call("options_set", self, encode_text(name.replace("_", "-")),
                     encode_text(text))
        if message is not None:
            self.on_message(message)

    def on_message(self, message: Callable[[str], None]) -> None:
        def report(_: Any, text: bytes) -> None:
            message(text.decode("utf-8", "replace"))

        self._callbacks["message"] = MESSAGE(report)
        query("options_on_message", self, self._callbacks["message"], None)

    def on_progress(self, progress: Callable[[int, int, float], None]) -> None:
        def report(_: Any, makespan: int, bound: int, seconds: float) -> int:
            progress(makespan, bound, seconds)
            return 0

        self._callbacks["progress"] = PROGRESS(report)
        query("options_on_progress", self, self._callbacks["progress"], None)

    def cancel(self) -> None:
        query("options_cancel", self, 1)
