# SPDX-License-Identifier: Apache-2.0
"""Instances, the placement problem in numbers, and placements, its answers."""
from __future__ import annotations

import ctypes
import html
import threading
from ctypes import POINTER, byref
from typing import (TYPE_CHECKING, Any, Callable, Dict, List,
                    NamedTuple, Optional, Sequence, Tuple, Union)

from ._cluster import Cluster, Profile
from ._executor import Executor
from ._generator import Generator
from ._graph import Graph
from ._library import (Flow, Handle, MoiraiError, Options, Path, Status, Texts,
                       TransferBuffer, View, create, encode, integers, output,
                       query, text_of)
from ._search_thread import NS_PER_US, Progress, SearchThread

if TYPE_CHECKING:
    import numpy

# Ops in the picture of a notebook.
MOST_DRAWN = 2000


class ScheduledOp(NamedTuple):
    """An operator in a placement."""

    op: str
    device: str
    start_us: float
    end_us: float


class Schedule(List[ScheduledOp]):
    """The ops of a placement by start.  Calling it, as 1.0 did, returns it."""

    def __call__(self) -> Schedule:
        return self


class Transfer(NamedTuple):
    """A tensor that is sent from one device to another."""

    tensor: int
    source: str
    target: str
    start_us: float
    end_us: float


def names(texts: Any, n: int) -> Tuple[str, ...]:
    return tuple(str(text_of(texts[i])) for i in range(n))


class Instance(Handle):
    """A placement problem in numbers: a graph on a cluster; immutable, for any
    thread.

    profile: measured times.  fusion: rules to coarsen a graph with that is not
    coarse yet, or "none", see moirai-coarsen(1).  congestion, tensors, memory,
    objective, in_flight: the rules of schedules, and cost, the model for ops
    without a measured time, see moirai-place(1).

    graph: what is placed, coarse unless fusion is "none".
    """

    def __init__(self, graph: Graph, cluster: Cluster,
                 profile: Optional[Profile] = None, *,
                 fusion: str = "default", congestion: Optional[str] = None,
                 tensors: Optional[str] = None, memory: Optional[str] = None,
                 objective: Optional[str] = None,
                 in_flight: Optional[int] = None, cost: Optional[Path] = None,
                 message: Optional[Callable[[str], None]] = None) -> None:
        if fusion != "none" and graph.fine is None:
            graph = graph.coarsen(cluster, fusion=fusion)
        self.graph = graph
        self.cluster: Optional[Cluster] = cluster
        super().__init__("instance", create(
            "instance_new", graph, cluster, profile,
            Options({"fusion": fusion, "congestion": congestion,
                     "tensors": tensors, "memory": memory,
                     "objective": objective, "in_flight": in_flight,
                     "cost": cost}, message)))
        self._view: View = query("instance_view", self).contents
        self.ops = names(self._view.op_names, self._view.n_ops)
        self.devices = names(self._view.device_ids, self._view.n_devices)

    def _array(self, name: str, shape: Tuple[int, ...],
               dtype: Any) -> numpy.ndarray[Any, Any]:
        """An array of the library, not copied, read-only; it keeps the
        instance alive."""
        return shared_array(getattr(self._view, name), shape, dtype, self)

    @property
    def time_ns(self) -> numpy.ndarray[Any, Any]:
        """The time of each op on each device."""
        return self._array("time_ns", (len(self.ops), len(self.devices)), "i8")

    @property
    def memory_bytes(self) -> numpy.ndarray[Any, Any]:
        """The memory of each op."""
        return self._array("memory_bytes", (len(self.ops),), "i8")

    @property
    def capacity_bytes(self) -> numpy.ndarray[Any, Any]:
        """The memory of each device; 2**63 - 1: no limit."""
        return self._array("capacity_bytes", (len(self.devices),), "i8")

    @property
    def flows(self) -> numpy.ndarray[Any, Any]:
        """Data dependencies: fields source, the producer, target, the consumer,
        and tensor, all numbers."""
        return self._array("flows", (self._view.n_flows,), Flow)

    def place(self, *, method: Optional[Texts] = None,
              time: Optional[float] = None, gap: Optional[float] = None,
              rounds: Optional[int] = None, work: Optional[float] = None,
              seed: Optional[int] = None,
              threads: Optional[int] = None, assist: Optional[str] = None,
              policy: Optional[Path] = None,
              no_learning: Optional[bool] = None,
              curve: Optional[Path] = None,
              from_: Optional[Path] = None,
              move_cost: Optional[float] = None,
              drop_device: Optional[Texts] = None,
              stress: Optional[float] = None,
              replicas: Union[int, str, None] = None,
              progress: Optional[Callable[[Progress], Any]] = None,
              message: Optional[Callable[[str], None]] = None) -> Placement:
        """Places it with the search, or with other methods.

        method: "moirai"; several as a list.  time: a limit in seconds, 60; 0:
        none.  gap, rounds, work, seed, threads, assist, and of learning
        methods policy, no_learning, curve: see moirai-place(1).
        from_: re-plan from the placement in that file.  move_cost: requests
        over which the time of moving weights is spread.  drop_device: devices
        to leave out.  stress: the best worst case with an op or a link slower
        by that factor.  replicas: copies of the network, a number or "auto",
        see Placement.copies.
        progress is called, in this thread, with each Progress; the search ends
        with what it has when it returns False.  Ctrl-C raises Interrupted.
        """
        return self._search("place", Options(
            {"method": method, "time": time, "gap": gap, "rounds": rounds,
             "work": work, "seed": seed, "threads": threads,
             "assist": assist,
             "policy": policy, "no_learning": no_learning, "curve": curve,
             "from": from_, "move_cost": move_cost,
             "drop_device": drop_device, "stress": stress,
             "replicas": replicas},
            message), progress)

    def solve(self, *, solver: Optional[str] = None, via: Optional[str] = None,
              command: Optional[str] = None,
              solver_path: Optional[Path] = None,
              time: Optional[float] = None, gap: Optional[float] = None,
              threads: Optional[int] = None,
              memory_limit: Optional[int] = None,
              formulation: Optional[str] = None,
              closure: Optional[bool] = None, slack: Optional[float] = None,
              unit: Optional[str] = None,
              strengthen: Optional[float] = None,
              message: Optional[Callable[[str], None]] = None) -> Placement:
        """Places it with MILP solvers in child processes.

        solver: "highs,scip"; the first that is installed.  via, command,
        solver_path, time, gap, threads, memory_limit: see moirai-solve(1).
        formulation, closure, slack, unit, strengthen: see emit().
        """
        return self._search("solve", Options(
            {"solver": solver, "via": via, "command": command,
             "solver_path": solver_path, "time": time, "gap": gap,
             "threads": threads, "memory_limit": memory_limit,
             "formulation": formulation, "closure": closure, "slack": slack,
             "unit": unit, "strengthen": strengthen}, message), None)

    def _search(self, name: str, options: Options,
                 progress: Optional[Callable[[Progress], Any]]) -> Placement:
        def search() -> Placement:
            return Placement(create(name, self, options), self)

        return SearchThread(search, options).run(progress)

    def placement(self, devices: Any, start_ns: Any = None) -> Placement:
        """Makes a placement of the caller's own: a device, by number or id, for
        each op, in a list or in a dict by name.  start_ns gives the order on
        devices and links; without it ops are list-scheduled."""
        if isinstance(devices, dict):
            for op in devices.keys() ^ set(self.ops):
                raise MoiraiError(Status.USAGE, f"op '{op}' has no device"
                                  if op in self.ops else
                                  f"there is no op '{op}'")
            devices = [devices[op] for op in self.ops]
        numbers = {one: k for k, one in enumerate(self.devices)}
        for one in devices:
            if isinstance(one, str) and one not in numbers:
                raise MoiraiError(Status.USAGE, f"there is no device '{one}'")
        n = len(self.ops)
        chosen = integers(ctypes.c_int, (
            numbers[one] if isinstance(one, str) else one for one in devices),
            n, "devices")
        starts = None
        if start_ns is not None:
            starts = integers(ctypes.c_int64, start_ns, n, "start_ns")
        return Placement(create("placement_new", self, chosen, starts), self)

    def read(self, path: Path) -> Placement:
        """Reads a solution of a model of this instance, of any solver."""
        return Placement(create("placement_read", self, encode(path)), self)

    def emit(self, path: Optional[Path] = None, *,
             format: Optional[str] = None, formulation: Optional[str] = None,
             closure: Optional[bool] = None, slack: Optional[float] = None,
             unit: Optional[str] = None,
             strengthen: Optional[float] = None) -> bytes:
        """Writes the mixed-integer program into the file at path; without one,
        returns it.

        format: "lp" or "mps"; by path, else LP.  formulation, closure, slack,
        unit: see moirai-emit(1).  strengthen: seconds of search before the
        model is written; the default is none, or for the formulations
        "patterns" and "patterns-lower" that of moirai-emit.
        """
        return output("emit", path, self, Options(
            {"format": format, "formulation": formulation, "closure": closure,
             "slack": slack, "unit": unit, "strengthen": strengthen}))

    def __repr__(self) -> str:
        return (f"<moirai.Instance: {len(self.ops)} ops on "
                f"{', '.join(self.devices)}>")


def shared_array(address: Optional[int], shape: Tuple[int, ...], dtype: Any,
                 owner: Any) -> numpy.ndarray[Any, Any]:
    import numpy as np

    kind = np.dtype(dtype)
    size = kind.itemsize
    for one in shape:
        size *= one
    if not address or size == 0:
        return np.zeros(shape, kind)
    memory = (ctypes.c_char * size).from_address(address)
    setattr(memory, "owner", owner)
    return np.frombuffer(memoryview(memory).toreadonly(), kind).reshape(shape)


class Placement(Handle):
    """A device and a start time for every op, validated against every
    constraint; immutable, for any thread.

    run() executes it: one executor is opened by the first call.
    """

    def __init__(self, handle: int, instance: Optional[Instance]) -> None:
        super().__init__("placement", handle)
        self.instance = instance
        self._view: View = query("placement_view", self).contents
        self.ops = names(self._view.op_names, self._view.n_ops)
        self.devices = names(self._view.device_ids, self._view.n_devices)
        self._executor: Optional[Executor] = None
        self._lock = threading.Lock()

    @property
    def copies(self) -> List[Placement]:
        """The copies of the network, each a placement that can be run.

        The period of a placement with several is that of all of them; all else
        is of the first one.
        """
        n = query("placement_n_copies", self)
        return [Placement(create("placement_copy", self, i), self.instance)
                for i in range(n)]

    @property
    def makespan_us(self) -> float:
        """The end of the last op."""
        return float(query("placement_makespan_ns", self)) / NS_PER_US

    @property
    def period_us(self) -> Optional[float]:
        """The time between two requests; None: the objective is latency."""
        period = query("placement_period_ns", self)
        return None if period < 0 else float(period) / NS_PER_US

    @property
    def bound_us(self) -> Optional[float]:
        """A lower bound of the objective that was proven here, or None."""
        return float(query("placement_bound_ns", self)) / NS_PER_US or None

    @property
    def solver_bound_us(self) -> Optional[float]:
        """A greater bound that a solver claims, or None."""
        bound = float(query("placement_solver_bound_ns", self)) / NS_PER_US
        return bound or None

    @property
    def gap(self) -> float:
        """The relative gap of the objective to the bound, 0 to 1."""
        return float(query("placement_gap", self))

    @property
    def proof(self) -> Optional[str]:
        """The certificate of the bound, text of moirai-proof(5), or None."""
        return text_of(query("placement_proof", self))

    @property
    def method(self) -> str:
        """The method or solver that computed it."""
        return text_of(query("placement_method", self)) or ""

    @property
    def device_of(self) -> Dict[str, str]:
        """The device of each op, by names."""
        return {op: self.devices[query("placement_device", self, i)]
                for i, op in enumerate(self.ops)}

    def device(self, op: str) -> Optional[str]:
        """Returns the device of an op, which may be one of the graph before it
        was coarsened; None: it was removed.  Raises KeyError."""
        graph = self.instance.graph if self.instance is not None else None
        if op in self.ops:
            number: Optional[int] = self.ops.index(op)
        elif graph is None or graph.fine is None:
            raise KeyError(op)
        else:
            number = graph.coarse_op(graph.fine.find(op))
        if number is None:
            return None
        return self.devices[int(query("placement_device", self, number))]

    @property
    def schedule(self) -> Schedule:
        """Op, device, start and end of each op, by start; for
        pandas.DataFrame(placement.schedule)."""
        times = ctypes.cast(self._view.time_ns, POINTER(ctypes.c_int64))
        ops = []
        for i, op in enumerate(self.ops):
            device = query("placement_device", self, i)
            start = query("placement_start_ns", self, i)
            end = start + times[i * len(self.devices) + device]
            ops.append(ScheduledOp(op, self.devices[device],
                                   start / NS_PER_US, end / NS_PER_US))
        return Schedule(sorted(ops, key=lambda one: (one.start_us, one.end_us)))

    @property
    def transfers(self) -> List[Transfer]:
        """The transfers between devices."""
        one = TransferBuffer()
        transfers = []
        for i in range(query("placement_n_transfers", self)):
            query("placement_transfer", self, i, byref(one))
            transfers.append(Transfer(
                one.tensor, self.devices[one.source], self.devices[one.target],
                one.start_ns / NS_PER_US, one.end_ns / NS_PER_US))
        return transfers

    @property
    def violations(self) -> List[str]:
        """The violated constraints, in words, 100 at most; none: it is
        valid."""
        count = min(query("placement_n_violations", self), 100)
        return [str(text_of(query("placement_violation", self, i)))
                for i in range(count)]

    @property
    def valid(self) -> bool:
        """Whether no constraint is violated."""
        return bool(query("placement_n_violations", self) == 0)

    def write(self, path: Path) -> None:
        """Writes it as a solution, which all commands read."""
        output("placement_write", path, self)

    def solution(self) -> str:
        """Returns it as a solution, see moirai-solution(5)."""
        return output("placement_write", None, self).decode()

    def report(self, path: Optional[Path] = None, *,
               format: Optional[str] = None,
               report_method: Optional[Texts] = None,
               no_ablation: Optional[bool] = None,
               columns: Optional[int] = None,
               trace: Optional[Path] = None) -> str:
        """Writes a report into the file at path; without one, returns it.

        format: "html", "text", "svg", "json" or "trace"; by path, else text.
        report_method: methods to compare with, or "none".  no_ablation,
        columns, trace: see moirai-report(1).
        """
        return output("report", path, self, Options(
            {"format": format, "report_method": report_method,
             "no_ablation": no_ablation, "columns": columns,
             "trace": trace})).decode()

    def emit(self, path: Optional[Path] = None, *,
             format: Optional[str] = None, formulation: Optional[str] = None,
             closure: Optional[bool] = None, slack: Optional[float] = None,
             unit: Optional[str] = None,
             strengthen: Optional[float] = None) -> bytes:
        """Writes the mixed-integer program of its instance, see
        Instance.emit()."""
        if self.instance is None:
            raise MoiraiError(Status.USAGE, "the placement was opened from a "
                              "file: make an Instance, and emit that")
        return self.instance.emit(path, format=format, formulation=formulation,
                                  closure=closure, slack=slack, unit=unit,
                                  strengthen=strengthen)

    def executor(self, *, backend: Optional[str] = None,
                 precision: Optional[str] = None,
                 threads: Optional[int] = None, streams: Optional[int] = None,
                 cache: Optional[Path] = None,
                 weights_from: Union[Path, Sequence[Path], None] = None,
                 random_weights: Optional[int] = None,
                 in_flight: Optional[int] = None,
                 memory_limit: Optional[int] = None,
                 shapes_max: Optional[int] = None,
                 message: Optional[Callable[[str], None]] = None) -> Executor:
        """Prepares it for execution in this process.

        random_weights: a seed.  in_flight: the requests that run at a time.
        shapes_max: the plans of shapes that were not placed to keep, 0.
        backend, precision, threads, streams, cache, weights_from,
        memory_limit: see moirai-exec(1).
        """
        return Executor(create("executor_open", self, Options(
            {"backend": backend, "precision": precision, "threads": threads,
             "streams": streams, "cache": cache, "weights_from": weights_from,
             "random_weights": random_weights, "in_flight": in_flight,
             "memory_limit": memory_limit, "shapes_max": shapes_max},
            message)), self, several=bool(shapes_max))

    def generate(self, ids: Any, n: int, *, temperature: float = 0,
                 top_k: Optional[int] = None, top_p: Optional[float] = None,
                 seed: int = 0, stop: Sequence[int] = (),
                 load_states: Optional[Path] = None,
                 save_states: Optional[Path] = None,
                 backend: Optional[str] = None,
                 precision: Optional[str] = None,
                 threads: Optional[int] = None, streams: Optional[int] = None,
                 cache: Optional[Path] = None,
                 weights_from: Union[Path, Sequence[Path], None] = None,
                 random_weights: Optional[int] = None,
                 memory_limit: Optional[int] = None,
                 message: Optional[Callable[[str], None]] = None) -> Generator:
        """Returns an iterator over n tokens that follow a prompt.

        The placement is that of a workload for --generate of moirai-exec(1).
        ids: a list of ids, or one of lists, a numpy array or a torch tensor.
        temperature: 0 takes the most probable token.  stop: ids that end a
        sequence.  Each token is a number; of several sequences, a tuple.
        save_states: a new folder for the states and ids; load_states: such a
        folder, which ids, perhaps none, continue.
        """
        return Generator(self, ids, n, Options(
            {"temperature": temperature, "top-k": top_k, "top-p": top_p,
             "seed": seed, "stop": list(stop),
             "load-states": load_states, "save-states": save_states,
             "backend": backend, "precision": precision, "threads": threads,
             "streams": streams, "cache": cache, "weights_from": weights_from,
             "random_weights": random_weights, "memory_limit": memory_limit},
            message))

    def run(self, *inputs: Any, **named: Any) -> Any:
        """Runs it with default options, see Executor.run(): with inputs of
        any of the shapes that it was placed for."""
        if self._executor is None:
            with self._lock:
                if self._executor is None:
                    self._executor = self.executor()
        return self._executor.run(*inputs, **named)

    def __repr__(self) -> str:
        return f"<moirai.Placement: {self.summary()}>"

    def summary(self) -> str:
        """Returns its numbers in one line."""
        period = self.period_us
        parts = ["valid" if self.valid else "invalid"]
        if period is not None:
            parts.append(f"period {period:.3f} us")
        parts.append(f"makespan {self.makespan_us:.3f} us")
        if self.bound_us is not None:
            parts.append(f"bound {self.bound_us:.3f} us")
            parts.append(f"gap {100 * self.gap:.2f} %")
        return ", ".join(parts)

    def _repr_html_(self) -> str:
        """What a notebook shows: the timeline; of many ops, a table."""
        text = f"<p>moirai.Placement: {html.escape(self.summary())}</p>"
        if not self.valid:
            items = "".join(f"<li>{html.escape(one)}</li>"
                            for one in self.violations)
            return f"{text}<ul>{items}</ul>"
        if len(self.ops) <= MOST_DRAWN:
            picture = self.report(format="svg", no_ablation=True)
            return text + picture[picture.find("<svg"):]
        count = dict.fromkeys(self.devices, 0)
        busy_us = dict.fromkeys(self.devices, 0.0)
        for op in self.schedule:
            count[op.device] += 1
            busy_us[op.device] += op.end_us - op.start_us
        rows = "".join(f"<tr><td>{html.escape(one)}</td><td>{count[one]}</td>"
                       f"<td>{busy_us[one]:.3f}</td></tr>"
                       for one in self.devices)
        return (f"{text}<table><tr><th>device</th><th>ops</th><th>busy/us</th>"
                f"</tr>{rows}</table>")
