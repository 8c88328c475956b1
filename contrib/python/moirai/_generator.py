# SPDX-License-Identifier: Apache-2.0
"""Generators: tokens of a language model, one after the other."""
from __future__ import annotations

from ctypes import byref, c_int, c_int64
from typing import Any, Iterator, List, Tuple, Union

from ._library import (Handle, MoiraiError, Options, Status, call, create,
                       query)


def flat(ids: Any) -> List[int]:
    """The ids of all sequences, one sequence after the other."""
    if hasattr(ids, "tolist"):
        ids = ids.tolist()
    numbers: List[int] = []
    for one in ids:
        numbers += flat(one) if isinstance(one, (list, tuple)) else [int(one)]
    return numbers


class Generator(Handle, Iterator[Union[int, Tuple[int, ...]]]):
    """An iterator over tokens; they are generated ahead of their use.

    A context manager: close() stops it and frees everything, and so does the
    last reference.  batch: the number of sequences.
    """

    def __init__(self, placement: Any, ids: Any, n: int,
                 options: Options) -> None:
        prompt = flat(ids)
        super().__init__("generator", create(
            "generator_open", placement, options,
            (c_int64 * len(prompt))(*prompt), len(prompt), n))
        self._placement = placement
        self.batch = int(query("generator_batch", self))
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
        """Stops it; more calls do nothing."""
        self._free()

    def __enter__(self) -> Generator:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
