# SPDX-License-Identifier: Apache-2.0
"""Networks of PyTorch as graphs for Moirai.

    from moirai_export import export
    export(module, (x,), "net.graphml")

writes net.graphml, which every command of Moirai reads, and net.bin with the
weights.  What is exported may be a torch.nn.Module with example inputs, a
torch.export.ExportedProgram, or the path of a .pt2 program.
"""
from .graph import ExportError
from .source import export

__all__ = ["ExportError", "export"]
