# SPDX-License-Identifier: Apache-2.0
"""Generators: tokens of a language model, one after the other."""
from __future__ import annotations

from ctypes import byref, c_int, c_int64
from typing import Any, Iterator, List, Tuple, Union

from ._library import (Handle, MoiraiError, Options, Status, call, create,
                       query)


def integer(one: Any, what: str) -> int:
    """A number that the library takes as it is."""
    if isinstance(one, bool) or not hasattr(one, "__index__"):
        raise MoiraiError(Status.USAGE, f"{what} is {one!r}, not an integer")
    if not -2**63 <= int(one) < 2**63:
        raise MoiraiError(Status.USAGE, f"{what} has more than 64 bits")
    return int(one)


def rows_of(ids: Any) -> List[List[int]]:
    """The ids by sequence."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    rows = list(ids)
    if not any(isinstance(row, (list, tuple)) for row in rows):
        rows = [rows]
    if any(not isinstance(row, (list, tuple)) or len(row) != len(rows[0])
           for row in rows):
        raise MoiraiError(Status.USAGE, "the prompt has sequences of unequal "
                          "length; give [batch, length]")
    return [[integer(one, "an id of the prompt") for one in row]
            for row in rows]


class Generator(Handle, Iterator[Union[int, Tuple[int, ...]]]):
    """An iterator over tokens; they are generated ahead of their use.

    A context manager: close() stops it and frees everything, and so does the
    last reference.  batch: the number of sequences.
    """

    def __init__(self, placement: Any, ids: Any, n: int,
                 options: Options) -> None:
        rows = rows_of(ids)
        prompt = [one for row in rows for one in row]
        super().__init__("generator", create(
            "generator_open", placement, options,
            (c_int64 * len(prompt))(*prompt), len(prompt),
            integer(n, "the number of tokens")))
        self._placement = placement
        self.batch = int(query("generator_batch", self))
        if self.batch != len(rows):
            self.close()
            raise MoiraiError(
                Status.USAGE, f"the prompt has {len(rows)} sequences of "
                f"{len(rows[0])}, the workload takes {self.batch} of "
                f"{len(prompt) // self.batch}")
        self._ids = (c_int64 * self.batch)()

    def __next__(self) -> Union[int, Tuple[int, ...]]:
        more = c_int(0)
        if not self._free.alive:
            raise MoiraiError(Status.USAGE, "the generator is closed")
        call("generator_next", self, self._ids, byref(more))
        if not more.value:
            raise StopIteration
        return int(self._ids[0]) if self.batch == 1 else tuple(self._ids)

    def close(self) -> None:
        """Stops it; more calls do nothing.

        Raises MoiraiError if the states of save_states cannot be saved.
        """
        if self._free.alive:
            try:
                call("generator_stop", self)
            finally:
                self._free()

    def __enter__(self) -> Generator:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
