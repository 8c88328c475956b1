# SPDX-License-Identifier: Apache-2.0
"""Graphs that torch.compile captures, as collections of graphs store them.

A graph is the source of a module whose forward takes all weights and sizes as
arguments, and calls torch.nn.functional, operators of Python and methods of
tensors.  Networks are those of bench/export_models.py; a case is all graphs of
one network.
"""
import torch

import export_models

HEADER = "import torch\n\n\nclass GraphModule(torch.nn.Module):\n"


def module_of(graph):
    """The module that the source of a graph defines."""
    code = graph.graph.python_code(root_module="self")
    source = HEADER + "".join(
        f"    {line}\n" for line in code.src.strip().splitlines())
    scope = dict(code.globals)
    exec(compile(source, "captured", "exec"), scope)
    module = scope["GraphModule"]()
    for name, child in graph.named_children():
        module.add_module(name, child)
    for name, tensor in graph.named_buffers(recurse=False):
        module.register_buffer(name, tensor)
    return module


def as_tensor(x):
    """Numbers are tensors without dimensions, as collections store them."""
    return x.detach().clone() if isinstance(x, torch.Tensor) \
        else torch.tensor(x)


def capture(module, inputs, dynamic=False):
    """Modules, inputs and outputs of the graphs of one call."""
    found = []

    def backend(graph, given):
        def run(*values):
            given = tuple(map(as_tensor, values))
            made = graph(*values)
            found.append((module_of(graph), given, [
                x.clone() for x in torch.utils._pytree.tree_leaves(made)
                if isinstance(x, torch.Tensor)]))
            return made
        return run

    options = {"capture_scalar_outputs": True,
               "capture_dynamic_output_shape_ops": True, "allow_rnn": True}
    options = {name: value for name, value in options.items()
               if hasattr(torch._dynamo.config, name)}
    with torch.no_grad(), torch._dynamo.config.patch(**options):
        torch.compile(module.eval(), backend=backend, dynamic=dynamic)(*inputs)
    return found


def captured(group, dynamic):
    def cases():
        for name, make in export_models.GROUPS[group]():
            yield name, lambda make=make: capture(*make(), dynamic)
    return cases


GROUPS = {f"captured-{group}{'-dynamic' if dynamic else ''}":
          captured(group, dynamic)
          for group in export_models.GROUPS for dynamic in (False, True)}
