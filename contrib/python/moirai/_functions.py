# SPDX-License-Identifier: Apache-2.0
"""The functions from a model to a placement."""
from __future__ import annotations

from typing import Any, Callable, Iterator, List, Optional, Union

from ._cluster import Cluster, Profile
from ._cluster import cluster as read_cluster
from ._graph import read as read_graph
from ._library import (Options, Path, Shape, Texts, Values, create, encode,
                       query, text_of)
from ._placement import Instance, Placement
from ._search_thread import Progress


def instance(model: Any, cluster: Union[Cluster, bytes, Path],
             profile: Union[Profile, Path, None] = None, *,
             example_inputs: Any = None, fusion: str = "default",
             shape: Optional[Shape] = None, value: Optional[Values] = None,
             precision: Optional[str] = None,
             weights: Optional[str] = None, congestion: Optional[str] = None,
             tensors: Optional[str] = None, memory: Optional[str] = None,
             objective: Optional[str] = None, in_flight: Optional[int] = None,
             cost: Optional[Path] = None,
             message: Optional[Callable[[str], None]] = None) -> Instance:
    """Makes the placement problem of a model on a cluster.

    model: what read() takes.  cluster: what cluster() takes.  The others are
    those of read() and Instance.
    """
    devices = read_cluster(cluster)
    graph = read_graph(model, example_inputs=example_inputs, shape=shape,
                       value=value, precision=precision, weights=weights,
                       message=message)
    if profile is not None and not isinstance(profile, Profile):
        profile = Profile(profile)
    return Instance(graph, devices, profile, fusion=fusion,
                    congestion=congestion, tensors=tensors, memory=memory,
                    objective=objective, in_flight=in_flight, cost=cost,
                    message=message)


def place(model: Any, cluster: Union[Cluster, bytes, Path], *,
          profile: Union[Profile, Path, None] = None,
          example_inputs: Any = None, fusion: str = "default",
          shape: Optional[Shape] = None, value: Optional[Values] = None,
          precision: Optional[str] = None,
          weights: Optional[str] = None, congestion: Optional[str] = None,
          tensors: Optional[str] = None, memory: Optional[str] = None,
          objective: Optional[str] = None, in_flight: Optional[int] = None,
          cost: Optional[Path] = None, method: Optional[Texts] = None,
          time: Optional[float] = None, gap: Optional[float] = None,
          rounds: Optional[int] = None, work: Optional[float] = None,
          seed: Optional[int] = None,
          threads: Optional[int] = None, assist: Optional[str] = None,
          policy: Optional[Path] = None, no_learning: Optional[bool] = None,
          curve: Optional[Path] = None, from_: Optional[Path] = None,
          move_cost: Optional[float] = None,
          drop_device: Optional[Texts] = None,
          stress: Optional[float] = None,
          replicas: Union[int, str, None] = None,
          progress: Optional[Callable[[Progress], Any]] = None,
          message: Optional[Callable[[str], None]] = None) -> Placement:
    """Places a model on a cluster with the search.

    Arguments are those of instance() and Instance.place().

        placement = moirai.place("model.onnx", "inter-server", time=10)
    """
    problem = instance(
        model, cluster, profile, example_inputs=example_inputs, fusion=fusion,
        shape=shape, value=value, precision=precision, weights=weights,
        congestion=congestion, tensors=tensors, memory=memory,
        objective=objective, in_flight=in_flight, cost=cost, message=message)
    return problem.place(
        method=method, time=time, gap=gap, rounds=rounds, work=work,
        seed=seed, threads=threads, assist=assist, policy=policy,
        no_learning=no_learning, curve=curve, from_=from_,
        move_cost=move_cost, drop_device=drop_device, stress=stress,
        replicas=replicas, progress=progress, message=message)


def solve(model: Any, cluster: Union[Cluster, bytes, Path], *,
          profile: Union[Profile, Path, None] = None,
          example_inputs: Any = None, fusion: str = "default",
          shape: Optional[Shape] = None, value: Optional[Values] = None,
          precision: Optional[str] = None,
          weights: Optional[str] = None, congestion: Optional[str] = None,
          tensors: Optional[str] = None, memory: Optional[str] = None,
          objective: Optional[str] = None, in_flight: Optional[int] = None,
          cost: Optional[Path] = None, solver: Optional[str] = None,
          via: Optional[str] = None, command: Optional[str] = None,
          solver_path: Optional[Path] = None, time: Optional[float] = None,
          gap: Optional[float] = None, threads: Optional[int] = None,
          memory_limit: Optional[int] = None,
          formulation: Optional[str] = None, closure: Optional[bool] = None,
          slack: Optional[float] = None, unit: Optional[str] = None,
          strengthen: Optional[float] = None,
          message: Optional[Callable[[str], None]] = None) -> Placement:
    """Places a model on a cluster with MILP solvers.

    Arguments are those of instance() and Instance.solve().
    """
    problem = instance(
        model, cluster, profile, example_inputs=example_inputs, fusion=fusion,
        shape=shape, value=value, precision=precision, weights=weights,
        congestion=congestion, tensors=tensors, memory=memory,
        objective=objective, in_flight=in_flight, cost=cost, message=message)
    return problem.solve(
        solver=solver, via=via, command=command, solver_path=solver_path,
        time=time, gap=gap, threads=threads, memory_limit=memory_limit,
        formulation=formulation, closure=closure, slack=slack, unit=unit,
        strengthen=strengthen, message=message)


def open(path: Path, *, graph: Optional[Path] = None,
         cluster: Optional[Path] = None, profile: Optional[Path] = None,
         shape: Optional[Shape] = None, value: Optional[Values] = None,
         fusion: Optional[str] = None,
         congestion: Optional[str] = None, tensors: Optional[str] = None,
         memory: Optional[str] = None, cost: Optional[Path] = None,
         precision: Optional[str] = None,
         weights: Optional[str] = None,
         proof: Optional[Path] = None) -> Placement:
    """Opens a solution with the inputs that it names by digests, found beside
    it, in the working folder or in MOIRAI_PATH.

    graph, cluster, profile: files that are not found by themselves.
    congestion, tensors, memory: rules instead of those of the solution.
    proof: a file with the certificate of the bound.  Others are those of
    instance().
    """
    return Placement(create("placement_open", encode(path), Options(
        {"graph": graph, "cluster": cluster, "profile": profile,
         "shape": shape, "value": value, "fusion": fusion,
         "congestion": congestion,
         "tensors": tensors, "memory": memory, "cost": cost,
         "precision": precision, "weights": weights, "proof": proof})),
        None)


def listed(name: str) -> Iterator[str]:
    i = 0
    while True:
        found = text_of(query(name, i))
        if found is None:
            return
        yield found
        i += 1


def methods() -> List[str]:
    """Returns the names of the placement methods, see moirai-methods(7)."""
    return list(listed("method_name"))


def solvers() -> List[str]:
    """Returns the names of the MILP solvers that are known."""
    return list(listed("solver_name"))
