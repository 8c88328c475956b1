# SPDX-License-Identifier: Apache-2.0
"""Clusters: devices and their links; profiles: measured times."""
from __future__ import annotations

import ctypes
import html
import os
from typing import Any, Optional, Sequence, Tuple, Union

from ._library import (Handle, MoiraiError, Options, Path, Status, create,
                       encode, encode_text, integers, output, query, text_of)

NO_LIMIT = 2**63 - 1


class Cluster(Handle):
    """Devices and their links; immutable, for any thread."""

    def __init__(self, handle: int) -> None:
        super().__init__("cluster", handle)

    @classmethod
    def from_arrays(cls, ids: Sequence[str], gbps: Any, *,
                    memory_bytes: Optional[Sequence[Optional[int]]] = None,
                    latency_us: Any = None) -> Cluster:
        """Makes a cluster from arrays.

        gbps[a][b] is the rate of the link from device a to b in gigabits a
        second, 0: there is none; latency_us[a][b] its latency.  memory_bytes
        holds a limit, or None, for each device.  Times of ops come from the
        graph.
        """
        n = len(ids)
        links = [matrix(one, n, name) for name, one in (
            ("gbps", gbps), ("latency_us", latency_us))]
        limits = None
        if memory_bytes is not None:
            limits = integers(ctypes.c_int64, (
                NO_LIMIT if one is None else one for one in memory_bytes), n,
                "memory_bytes")
        names = (ctypes.c_char_p * n)(*map(encode_text, ids))
        return cls(create("cluster_new", n, names, limits, *links))

    @property
    def devices(self) -> Tuple[str, ...]:
        """The ids of the devices."""
        return tuple(str(text_of(query("cluster_device_id", self, k)))
                     for k in range(query("cluster_n_devices", self)))

    def write(self, path: Path) -> None:
        """Writes the cluster as XML, see moirai-cluster(5)."""
        output("cluster_write", path, self)

    def xml(self) -> str:
        """Returns the cluster as XML, see moirai-cluster(5)."""
        return output("cluster_write", None, self).decode()

    def __repr__(self) -> str:
        return f"<moirai.Cluster: {', '.join(self.devices)}>"

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(one)}</li>" for one in self.devices)
        return f"<p>moirai.Cluster</p><ul>{items}</ul>"


def matrix(rows: Any, n: int, name: str) -> Any:
    """n rows of n numbers as a C array; None stays None."""
    if rows is None:
        return None
    if len(rows) != n or any(len(row) != n for row in rows):
        raise MoiraiError(Status.USAGE, f"{name} is not an array of {n} by {n}")
    return (ctypes.c_double * (n * n))(*(float(one) for row in rows
                                         for one in row))


def cluster(source: Union[Cluster, bytes, Path], *,
            name: str = "cluster") -> Cluster:
    """Reads a cluster: the name of a built-in one ("inter-server"), the path of
    a file, or its bytes; name stands for the path in errors.

    Cluster.from_arrays() makes one of numbers, discover() one of this machine.
    """
    if isinstance(source, Cluster):
        return source
    if isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        return Cluster(create("cluster_read_memory", encode(name),
                              ctypes.cast(ctypes.c_char_p(data),
                                          ctypes.c_void_p), len(data)))
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(f"a {type(source).__name__} is no cluster; see "
                        "help(moirai.cluster)")
    return Cluster(create("cluster_read", encode(source)))


def discover(*, gpus: Optional[str] = None,
             cpus: Union[int, str, None] = None,
             precision: Optional[str] = None) -> Cluster:
    """Discovers the devices of this machine and estimates their links.

    gpus: "0,2" or "none".  cpus: the number of devices that processors are
    divided into, or "none".  precision: see moirai-cluster(1).
    """
    return Cluster(create("cluster_discover", Options(
        {"gpus": gpus, "cpus": cpus, "precision": precision})))


class Profile(Handle):
    """Measured times of ops and links, read from a file of
    moirai-profile(1)."""

    def __init__(self, path: Path) -> None:
        super().__init__("profile", create("profile_read", encode(path)))
