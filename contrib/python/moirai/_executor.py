# SPDX-License-Identifier: Apache-2.0
"""Executors: placements that run in this process."""
from __future__ import annotations

import ctypes
import importlib
import os
import threading
from ctypes import byref, c_void_p
from typing import (TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional,
                    Sequence, Set, Tuple)

from ._library import (Handle, MoiraiError, Path, Status, TensorBuffer, call,
                       create, output, query, text_of)

if TYPE_CHECKING:
    import numpy

DTYPES = {"f64": "f8", "f32": "f4", "f16": "f2", "i64": "i8", "i32": "i4",
          "i16": "i2", "i8": "i1", "u64": "u8", "u32": "u4", "u16": "u2",
          "u8": "u1", "bool": "?"}


class Tensor(NamedTuple):
    """An input or output of a network; dtype is "f64", "f32", "f16", "bf16",
    "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8" or "bool"."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    bytes: int

    def numpy_dtype(self) -> numpy.dtype[Any]:
        """Returns the numpy type of its elements; bf16 is that of ml_dtypes
        where it is installed, else 16-bit words."""
        import numpy as np

        if self.dtype != "bf16":
            return np.dtype(DTYPES[self.dtype])
        try:
            kinds = importlib.import_module("ml_dtypes")
        except ImportError:
            return np.dtype("u2")
        kind: numpy.dtype[Any] = np.dtype(kinds.bfloat16)
        return kind


class Request:
    """A request that was submitted; result() waits for its outputs, also after
    the executor was closed."""

    def __init__(self, executor: Executor, buffers: Buffers) -> None:
        self._executor = executor
        self._buffers = buffers

    def result(self) -> Any:
        """Waits for the request, and returns its outputs as run() does."""
        self._executor._wait(self._buffers)
        if self._buffers.error is not None:
            raise self._buffers.error
        return self._buffers.result()

    def __del__(self) -> None:
        # The library writes into the buffers until the request has ended.
        if self._executor._is_usable():
            self._executor._wait(self._buffers)


class Buffers:
    """The arrays of a request, and its state.

    ticket: of the library; -1: not submitted, or a wait for it has begun.
    ended: the library does not use the arrays any more.
    """

    def __init__(self, inputs: List[Any], outputs: List[Any], torch: Any,
                 specs: Sequence[Tensor]) -> None:
        self.arrays = inputs, outputs
        self.torch = torch
        self.specs = specs
        self.ticket = ctypes.c_int64(-1)
        self.ended = False
        self.error: Optional[MoiraiError] = None
        # The garbage collector may delete a request within a wait for it.
        self.lock = threading.RLock()
        self.inputs, self.outputs = (
            (c_void_p * len(arrays))(*(one.ctypes.data for one in arrays))
            for arrays in self.arrays)

    def result(self) -> Any:
        results = tuple(self.arrays[1])
        if self.torch is not None:
            results = tuple(map(self.tensor, results, self.specs))
        return results[0] if len(results) == 1 else results

    def tensor(self, array: Any, spec: Tensor) -> Any:
        """An output as a torch tensor, not copied."""
        if spec.dtype != "bf16":
            return self.torch.from_numpy(array)
        words = self.torch.from_numpy(array.view("i2"))
        return words.view(self.torch.bfloat16)


class Executor(Handle):
    """A placement that is ready to run: kernels are prepared, and memory is
    allocated.

    A context manager: close() frees it, and so does the last reference.  Any
    thread may call run() and submit(); in_flight requests run at a time.  A
    process that was forked opens an executor of its own.

    A placement of several shapes runs inputs of any of them; with shapes_max
    other shapes are planned when they are used first.

    inputs, outputs: the tensors of the network, in their order; of several
    shapes those of the first.
    """

    def __init__(self, handle: int, placement: Any,
                 several: bool = False) -> None:
        super().__init__("executor", handle)
        self._placement = placement
        # By shapes of inputs: executors of one shape each.
        self._several = several or self.n_plans > 1
        self._shaped: Dict[Tuple[Tuple[int, ...], ...], Executor] = {}
        # Of submitting and closing; all requests that have not ended.
        self._lock = threading.Lock()
        self._pending: Set[Buffers] = set()
        self.inputs = self._tensors("input")
        self.outputs = self._tensors("output")

    @property
    def n_plans(self) -> int:
        """The number of plans that were made since it was opened: one for
        each shape that was placed, and for each other one that was used."""
        return int(query("executor_n_plans", self))

    def _at(self, shapes: Tuple[Tuple[int, ...], ...]) -> Executor:
        """The executor for inputs of these shapes."""
        if shapes == tuple(one.shape for one in self.inputs):
            return self
        with self._lock:
            self._check_usable()
            found = self._shaped.get(shapes)
            if found is None:
                n_plans = self.n_plans
                tensors = (TensorBuffer * len(shapes))()
                for tensor, shape in zip(tensors, shapes):
                    tensor.rank = len(shape)
                    tensor.dims = (ctypes.c_int64 * len(shape))(*shape)
                found = Executor(create("executor_at", self, tensors),
                                 self._placement)
                found._several = False
                # The library frees what it has dropped for a new plan once
                # there are no handles of it.
                if self.n_plans > n_plans:
                    self._shaped.clear()
                self._shaped[shapes] = found
        return found

    def _tensors(self, kind: str) -> Tuple[Tensor, ...]:
        one = TensorBuffer()
        tensors = []
        for i in range(query(f"executor_n_{kind}s", self)):
            query(f"executor_{kind}", self, i, byref(one))
            tensors.append(Tensor(
                str(text_of(one.name)), str(text_of(one.dtype)),
                tuple(one.dims[k] for k in range(one.rank)), one.bytes))
        return tuple(tensors)

    def run(self, *inputs: Any, out: Optional[Sequence[Any]] = None,
            **named: Any) -> Any:
        """Runs one request: an array for each input, in their order or by
        name, and returns the outputs: an array, or a tuple of several.

        numpy arrays, torch tensors and all that numpy.asarray() takes; dense
        arrays of the type of the input are not copied.  An array of another
        type is converted if no value of its type can change (f32 to f64), else
        refused: convert it, as by x.astype("float32").  Numbers and lists are
        converted.  out: arrays for the outputs, dense, of their types, and
        apart from each other and from the inputs, written in place.  With
        torch tensors as inputs the outputs are such.
        """
        return self.submit(*inputs, out=out, **named).result()

    def submit(self, *inputs: Any, out: Optional[Sequence[Any]] = None,
               **named: Any) -> Request:
        """Starts a request, with the arguments of run(), and returns it.  Up
        to in_flight of them run at the same time, others wait.  Arrays must not
        be changed before its result() is there."""
        given = self._ordered(inputs, named)
        if self._several:
            shaped = self._at(tuple(shape_of(one) for one in given))
            if shaped is not self:
                return shaped.submit(*given, out=out)
        buffers = self._buffers(given, out)
        self._check_process()
        with self._lock:
            self._check_usable()
            self._pending.add(buffers)
            call("executor_submit", self, buffers.inputs, buffers.outputs,
                 byref(buffers.ticket))
        return Request(self, buffers)

    def _wait(self, buffers: Buffers) -> None:
        """Waits for the end of a request."""
        if buffers.ended:
            return
        self._check_process()
        with buffers.lock:
            ticket = buffers.ticket.value
            if ticket < 0:
                return
            self._check_usable()
            buffers.ticket.value = -1
            try:
                call("executor_wait", self, ticket)
            except MoiraiError as error:
                buffers.error = error
            buffers.ended = True
            self._pending.discard(buffers)

    def plan(self, path: Optional[Path] = None) -> str:
        """Writes the plan as JSON into the file at path, see moirai-plan(5);
        without one, returns it."""
        self._check_usable()
        return output("executor_write_plan", path, self).decode()

    def close(self) -> None:
        """Waits for requests, whose results stay, and frees everything; more
        calls do nothing."""
        if not self._is_usable():
            return
        with self._lock:
            for shaped in self._shaped.values():
                shaped.close()
            for buffers in list(self._pending):
                self._wait(buffers)
            self._free()

    def __enter__(self) -> Executor:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        def listing(tensors: Sequence[Tensor]) -> str:
            return ", ".join(f"{one.name} {one.dtype}{list(one.shape)}"
                             for one in tensors)

        return (f"<moirai.Executor: {listing(self.inputs)} -> "
                f"{listing(self.outputs)}>")

    def _is_usable(self) -> bool:
        return self._free.alive and os.getpid() == self._process

    def _check_process(self) -> None:
        # Locks may be held by threads that a fork has not copied.
        if os.getpid() != self._process:
            raise MoiraiError(Status.USAGE, "the executor was opened before "
                              "this process was forked; open one in it")

    def _check_usable(self) -> None:
        self._check_process()
        if not self._free.alive:
            raise MoiraiError(Status.USAGE, "the executor is closed")

    def _ordered(self, inputs: Sequence[Any],
                 named: Dict[str, Any]) -> List[Any]:
        names = [one.name for one in self.inputs]
        values = dict(zip(names, inputs))
        unknown = [name for name in named if name not in names]
        if len(inputs) > len(names) or unknown:
            raise MoiraiError(
                Status.USAGE, f"there is no input '{unknown[0]}'" if unknown
                else f"{len(inputs)} inputs are given; the network has "
                f"{len(names)}: {', '.join(names)}")
        for name in named:
            if name in values:
                raise TypeError(f"input '{name}' is given by its position and "
                                "by its name")
        values.update(named)
        missing = [name for name in names if name not in values]
        if missing:
            raise MoiraiError(Status.USAGE,
                              f"input '{missing[0]}' is not given")
        return [values[name] for name in names]

    def _buffers(self, given: Sequence[Any],
                 out: Optional[Sequence[Any]]) -> Buffers:
        import numpy as np

        torch: Any = None
        arrays = []
        for spec, value in zip(self.inputs, given):
            kind = spec.numpy_dtype()
            if type(value).__module__.split(".")[0] == "torch":
                torch = importlib.import_module("torch")
                value = value.detach().cpu()
                # numpy itself has no bf16.
                if value.dtype == torch.bfloat16:
                    value = (value.contiguous().view(torch.int16).numpy()
                             .view(kind) if spec.dtype == "bf16"
                             else value.float())
            arrays.append(np.require(converted(value, spec), kind, ["C", "A"]))
        return Buffers(arrays, self._results(out, arrays), torch, self.outputs)

    def _results(self, out: Optional[Sequence[Any]],
                 inputs: Sequence[Any]) -> List[Any]:
        import numpy as np

        if out is None:
            return [np.empty(one.shape, one.numpy_dtype())
                    for one in self.outputs]
        results = [out] if isinstance(out, np.ndarray) else list(out)
        if len(results) != len(self.outputs):
            raise MoiraiError(Status.USAGE, f"{len(results)} arrays are given "
                              f"for {len(self.outputs)} outputs")
        for spec, array in zip(self.outputs, results):
            if (not isinstance(array, np.ndarray)
                    or isinstance(array, np.ma.MaskedArray)
                    or array.shape != spec.shape
                    or array.dtype != spec.numpy_dtype()
                    or not array.flags.c_contiguous
                    or not array.flags.writeable):
                raise MoiraiError(
                    Status.USAGE, f"the array for output '{spec.name}' is not "
                    f"a dense, writable one of {spec.numpy_dtype()} and shape "
                    f"{spec.shape}")
        others = [(f"input '{spec.name}'", array)
                  for spec, array in zip(self.inputs, inputs)]
        for spec, array in zip(self.outputs, results):
            for name, other in others:
                # Dense arrays: bounds that overlap are memory that does.
                if np.may_share_memory(array, other):
                    raise MoiraiError(
                        Status.USAGE, f"the array for output '{spec.name}' "
                        f"overlaps that of {name}; give each its own")
            others.append((f"output '{spec.name}'", array))
        return results


def shape_of(value: Any) -> Tuple[int, ...]:
    import numpy as np

    return tuple(map(int, value.shape if hasattr(value, "shape")
                     else np.shape(value)))


def converted(value: Any, spec: Tensor) -> Any:
    """The value of an input as an array of its type and shape; an array of
    another type only where no value can change."""
    import numpy as np

    kind = spec.numpy_dtype()
    if np.ma.is_masked(value):
        raise MoiraiError(
            Status.USAGE, f"input '{spec.name}' is a masked array, and "
            "networks have no masks; give value.filled(0), for example")
    array = np.asarray(value)
    if array.shape != spec.shape:
        raise MoiraiError(
            Status.USAGE, f"input '{spec.name}' has the shape "
            f"{array.shape}; the network takes {spec.shape}")
    typed = hasattr(value, "dtype")
    integers = not typed and {array.dtype.kind, kind.kind} <= {"i", "u"}
    if array.dtype != kind and not integers and not np.can_cast(
            array.dtype, kind, "safe" if typed else "same_kind"):
        remedy = f"; convert it, as by .astype('{kind}')" if typed else ""
        raise MoiraiError(
            Status.USAGE, f"input '{spec.name}' has elements of "
            f"{array.dtype}, the network takes {kind}{remedy}")
    # Integers of Python have no type: those that do not fit would wrap.
    if integers and (array != array.astype(kind)).any():
        raise MoiraiError(Status.USAGE, f"input '{spec.name}' has a number "
                          f"that {kind} does not hold")
    return array

