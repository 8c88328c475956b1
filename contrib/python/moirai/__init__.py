# SPDX-License-Identifier: Apache-2.0
"""Places neural networks on unequal devices, with a proven gap, and runs them.

    import moirai

    placement = moirai.place("model.onnx", "inter-server", time=10)
    print(placement)                       # makespan, bound and gap
    print(placement.device_of)             # {'conv1': 'gpu0', ...}
    placement.emit("model.lp")             # the mixed-integer program
    placement.report("placement.html")     # the page of moirai-report(1)
    y = placement.run(x)                   # numpy arrays, not copied

A torch.nn.Module is placed and run as it is:

    y = moirai.place(module, "cpu", example_inputs=(x,)).run(x)

A network may be a file of GraphML, OpenVINO or ONNX, its bytes, a networkx
graph, an onnx.ModelProto, or a module or exported program of PyTorch.

Options are keyword arguments with the names of the command line: --in-flight 4
is in_flight=4, and the manuals of the commands explain them.  Errors are
MoiraiError, whose text is one line with file, line, cause and remedy; of a
missing file it is a FileNotFoundError, too.

Threads: graphs, clusters, instances and placements are immutable, and any
number of threads may use them.  So may an executor, which runs in_flight
requests at a time; a process that was forked opens one of its own.  Long calls
release the GIL; progress is reported in the thread that called, and Ctrl-C ends
a search.

numpy is needed for arrays, networkx and torch only for their own graphs.  The
library is that of the wheel or the installation, or the file in MOIRAI_LIBRARY.
"""
from typing import TYPE_CHECKING

from ._cluster import Cluster, Profile, cluster, discover
from ._executor import Executor, Request, Tensor
from ._functions import instance, methods, open, place, solve, solvers
from ._generator import Generator
from ._graph import Edge, Graph, Op, read
from ._library import (MissingFileError, MoiraiError, Status, call, encode,
                       version)
from ._library import Path as _Path
from ._placement import Instance, Placement, Schedule, ScheduledOp, Transfer
from ._search_thread import Interrupted, Progress

__all__ = ["Cluster", "Edge", "Executor", "Generator", "Graph", "Instance",
           "Interrupted", "MissingFileError", "MoiraiError", "Op", "Placement", "Profile",
           "Progress", "Request", "Schedule", "ScheduledOp", "Status", "Tensor",
           "Transfer", "cluster", "discover", "instance", "load_plugin",
           "methods", "open", "place", "read", "solve", "solvers", "version"]


def load_plugin(path: _Path) -> None:
    """Loads a plug-in, a shared object with methods or solvers."""
    call("plugin_load", encode(path))


if TYPE_CHECKING:
    __version__: str
else:
    def __getattr__(name: str) -> str:
        # That of the library, which is loaded by its first use.
        if name == "__version__":
            return version()
        raise AttributeError(f"module 'moirai' has no attribute '{name}'")


# Messages and pydoc name what is public by its public name.
for _public in __all__:
    globals()[_public].__module__ = __name__
