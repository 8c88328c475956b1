# SPDX-License-Identifier: Apache-2.0
"""Searches in a thread, with progress and interrupts."""
from __future__ import annotations

import queue
import threading
from typing import Any, Callable, Generic, NamedTuple, Optional, TypeVar

from ._cluster import NO_LIMIT
from ._library import Options

Result = TypeVar("Result")
NS_PER_US = 1000.0
POLL_S = 0.2


class Progress(NamedTuple):
    """How far a search is; what is not known yet is None."""

    makespan_us: Optional[float]
    bound_us: Optional[float]
    seconds: float

    @property
    def gap(self) -> Optional[float]:
        """The relative gap, 0 to 1."""
        if not self.makespan_us or self.bound_us is None:
            return None
        return (self.makespan_us - self.bound_us) / self.makespan_us


class Interrupted(KeyboardInterrupt):
    """A search ended by Ctrl-C; placement is the best it had, or None."""

    def __init__(self, placement: Any) -> None:
        super().__init__("the search was interrupted")
        self.placement = placement


class SearchThread(Generic[Result]):
    """A search in a thread of its own, so that this one stays free for
    progress and Ctrl-C."""

    def __init__(self, search: Callable[[], Result],
                 options: Options) -> None:
        self.options = options
        # Progress; None: the search has ended.
        self.progress_queue: queue.SimpleQueue[Optional[Progress]] = \
            queue.SimpleQueue()
        self.result: Optional[Result] = None
        self.error: Optional[BaseException] = None
        self.thread = threading.Thread(target=self.search, args=(search,),
                                       daemon=True)

    def report(self, makespan: int, bound: int, seconds: float) -> None:
        self.progress_queue.put(Progress(
            None if makespan == NO_LIMIT else makespan / NS_PER_US,
            None if bound <= 0 else bound / NS_PER_US, seconds))

    def search(self, search: Callable[[], Result]) -> None:
        try:
            self.result = search()
        except BaseException as error:
            self.error = error
        self.progress_queue.put(None)

    def run(self, progress: Optional[Callable[[Progress], Any]]) -> Result:
        if progress is not None:
            self.options.on_progress(self.report)
        try:
            self.thread.start()
            while True:
                # Python runs handlers of signals between two calls, and while
                # a solver runs a signal does not end a wait.
                try:
                    now = self.progress_queue.get(timeout=POLL_S)
                except queue.Empty:
                    continue
                if now is None:
                    break
                if progress is not None and progress(now) is False:
                    self.options.cancel()
        except BaseException as error:
            self.options.cancel()
            self.thread.join()
            if type(error) is KeyboardInterrupt:
                raise Interrupted(self.result) from None
            raise
        self.thread.join()
        if self.error is not None:
            raise self.error
        assert self.result is not None
        return self.result
