# SPDX-License-Identifier: Apache-2.0
"""Programs of torch.export with fixed shapes: of modules and of .pt2 files.

PyTorch 2.4 to today: newer versions keep whole ops where 2.4 decomposes them,
and differ in where their tables are.
"""
import contextlib
import io
import logging
import operator
import os
import re
import sys
import traceback
import warnings

import torch
from torch.utils import _pytree as pytree

from . import decompositions
from .graph import ExportError, Unsupported

OLDEST = (2, 4)
HINTS = (
    ("data-dependent", "its control flow or a shape depends on the values of "
     "tensors; use torch.where or torch.cond, or fix the choice"),
    ("Could not guard on", "its control flow depends on the values of tensors; "
     "use torch.where or torch.cond, or fix the choice"),
    ("Cache", "return no cache (use_cache=False), or return and take its keys "
     "and values as tensors"),
    ("pytree", "take and return tensors, or lists, tuples and dicts of them"),
    ("are not supported as", "take and return tensors, or lists, tuples and "
     "dicts of them"),
    ("on meta, but expected on cpu", "give inputs and module one device"),
)


def check_version():
    found = re.match(r"(\d+)\.(\d+)", torch.__version__)
    if found and tuple(map(int, found.groups())) < OLDEST:
        raise ExportError(f"PyTorch {torch.__version__} is too old: install "
                          "2.4 or later, or name a Python that has it in "
                          "MOIRAI_PYTHON")


@contextlib.contextmanager
def silence():
    """Keeps what PyTorch warns of, logs and prints off the terminal: what
    matters of it is in the error."""
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), \
                contextlib.redirect_stdout(io.StringIO()), \
                contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def vmap_levels():
    """Lets captured graphs, which number the levels of torch.vmap from 1, run
    where others are outside of them; removes levels that an error left."""
    functorch, levels = torch._C._functorch, []
    names = ("_vmap_increment_nesting", "_vmap_decrement_nesting",
             "_add_batch_dim", "_remove_batch_dim")
    enter, leave, add, remove = (getattr(functorch, name) for name in names)

    def enter_level(*args):
        levels.append(enter(*args))
        return len(levels)

    def leave_level():
        levels.pop()
        return leave()

    replaced = (enter_level, leave_level, lambda x, axis, level: add(
        x, axis, levels[level - 1]), lambda x, level, size, axis: remove(
            x, levels[level - 1], size, axis))
    for name, function in zip(names, replaced):
        setattr(functorch, name, function)
    try:
        yield
    finally:
        for name, function in zip(names, (enter, leave, add, remove)):
            setattr(functorch, name, function)
        while levels:
            levels.pop()
            leave()


def is_library_file(path):
    """Whether a file is PyTorch's or of this package, not the user's."""
    folders = (os.path.dirname(torch.__file__), os.path.dirname(__file__))
    return path.startswith((*folders, "torch/", "<"))


def source_line(frames):
    """The last of these files and lines that is the user's; as text to be
    inserted."""
    lines = [f"{path}:{line}" for path, line in frames
             if not is_library_file(path)]
    return f" at {lines[-1]}" if lines else ""


def source_line_in(text):
    """The user's line in PyTorch's text of a stack."""
    return source_line(re.findall(r'File "([^"]+)", line (\d+)', text or ""))


def source_line_of(error):
    return source_line([(frame.filename, frame.lineno) for frame in
                        traceback.extract_tb(error.__traceback__)
                        if frame.filename.endswith(".py")
                        and "contextlib" not in frame.filename])


def first_line(error):
    """The reason of PyTorch's error, whose text may have hundreds of lines."""
    lines = [line.strip() for line in str(error).splitlines()]
    lines = [line for line in lines if line]
    kind = type(error).__name__
    reason = lines[0][:300] if lines else kind
    if isinstance(error, (KeyError, IndexError, AttributeError, TypeError)):
        reason = f"{kind}: {reason}"
    for part, remedy in HINTS:
        if part in str(error):
            return f"{reason}; {remedy}"
    return f"{reason}; -v shows where it was raised"


# modules

def arguments(inputs):
    """Example inputs by position and by name."""
    if isinstance(inputs, dict):
        return (), inputs
    if isinstance(inputs, (list, tuple)):
        return tuple(inputs), {}
    return (inputs,), {}


def device_of(module):
    """The device of the module's tensors; None if it has none."""
    for tensor in (*module.parameters(), *module.buffers()):
        return tensor.device
    return None


def on_device(tree, device):
    return pytree.tree_map(
        lambda x: x.to(device) if isinstance(x, torch.Tensor) else x, tree)


def register_caches():
    """Makes the caches of transformers lists of their keys and values, where
    it does not do so itself."""
    if "transformers" not in sys.modules:
        return
    try:
        from transformers import cache_utils
        from transformers.exporters.exporter_dynamo import register_pytree_node
    except ImportError:
        return
    for kind in vars(cache_utils).values():
        if isinstance(kind, type) and issubclass(kind, cache_utils.Cache):
            with contextlib.suppress(ValueError):
                register_pytree_node(kind)


@contextlib.contextmanager
def inference(module):
    """Puts a module into evaluation mode that has none: captured graphs are
    made without, have no modules within, and do not read it."""
    code = getattr(type(module).forward, "__code__", None) if isinstance(
        module, torch.nn.Module) else None
    change = code and module.training and "training" not in code.co_names \
        and not any(True for _ in module.children())
    if change:
        module.eval()
    try:
        yield
    finally:
        if change:
            module.train()


def can_run(module, inputs):
    """Whether it is a module that was given with values."""
    if not isinstance(module, torch.nn.Module) or inputs is None or \
            module.training:
        return False
    tensors = [x for x in pytree.tree_leaves(inputs)
               if isinstance(x, torch.Tensor)]
    return all(x.device.type != "meta" for x in (
        *tensors, *module.parameters(), *module.buffers()))


def trace(module, args, kwargs):
    """torch.export without and, if that fails, with its bytecode analysis:
    each takes modules that the other does not."""
    first = None
    for strict in (False, True):
        try:
            with torch.no_grad(), silence(), vmap_levels():
                return torch.export.export(module, args, kwargs, strict=strict)
        except MemoryError:
            raise
        except Exception as error:  # of many kinds, all of them PyTorch's
            first = first or error
    raise ExportError(f"torch.export failed{source_line_of(first)}: "
                      f"{first_line(first)}") from first


def of_module(module, inputs, shapes):
    if not isinstance(module, torch.nn.Module):
        raise ExportError(f"a {type(module).__name__} is no torch.nn.Module")
    if inputs is None:
        raise ExportError("a module needs a tuple of example inputs")
    if module.training:
        raise ExportError("the module is in training mode; call eval() first")
    args, kwargs = arguments(inputs)
    device = device_of(module)
    if device is not None and device.type == "meta":
        args, kwargs = on_device((args, kwargs), device)
    register_caches()
    program = trace(module, args, kwargs)
    if shapes:
        return with_shapes(program, shapes)
    return program


# .pt2 files

def load(path):
    try:
        with silence():
            return torch.export.load(path)
    except OSError as error:
        raise ExportError(f"{error.strerror or error}") from None
    except MemoryError:
        raise
    except Exception as error:  # zip's, pickle's, PyTorch's
        raise ExportError(
            "is no program of torch.export.save, or one of another version "
            f"than PyTorch {torch.__version__}: {first_line(error)}") from error


def user_inputs(program):
    """Names and example tensors of the inputs, in order."""
    names = {spec.arg.name for spec in program.graph_signature.input_specs
             if spec.kind.name == "USER_INPUT"}
    return [(node.name, node.meta.get("val"))
            for node in program.graph.nodes
            if node.op == "placeholder" and node.name in names]


def is_dynamic(example):
    return isinstance(example, torch.Tensor) and not all(
        isinstance(size, int) for size in example.shape)


def shape_text(example):
    return ",".join(str(size) if isinstance(size, int) else "?"
                    for size in example.shape)


def chosen_shapes(given, shapes):
    """The shape of each input, by its position; shapes are by name or number.
    """
    names = [name for name, _ in given]
    chosen = {}
    for name, sizes in shapes.items():
        if name in names:
            at = names.index(name)
        elif name.isdigit() and int(name) < len(names):
            at = int(name)
        else:
            raise ExportError(f"there is no input '{name}' to give a shape; "
                              f"there are {', '.join(names) or 'none'}")
        example = given[at][1]
        if not isinstance(example, torch.Tensor):
            raise ExportError(f"input '{names[at]}' is no tensor")
        fits = len(sizes) == len(example.shape) and all(
            not isinstance(size, int) or size == wanted
            for size, wanted in zip(example.shape, sizes))
        if not fits:
            raise ExportError(
                f"input '{names[at]}' is {shape_text(example)}, which "
                f"{','.join(map(str, sizes))} does not fit; only a ? can be "
                "chosen")
        chosen[at] = list(sizes)
    return chosen


def follow(given, chosen):
    """Sizes that are tied to a chosen one; others need a choice."""
    known = {}
    for at, sizes in chosen.items():
        for size, wanted in zip(given[at][1].shape, sizes):
            if not isinstance(size, int) and \
                    known.setdefault(str(size), wanted) != wanted:
                raise ExportError(
                    f"input '{given[at][0]}' has {wanted} where another input "
                    f"has {known[str(size)]}; the program ties them")
    for at, (name, example) in enumerate(given):
        if at not in chosen and isinstance(example, torch.Tensor):
            chosen[at] = [size if isinstance(size, int)
                          else known.get(str(size)) for size in example.shape]
            if None in chosen[at]:
                raise ExportError(
                    f"input '{name}' is {shape_text(example)}: give the size "
                    f"of what is dynamic with --shape {name}=...")
    return chosen


def with_shapes(program, shapes):
    """The program traced once more with these sizes."""
    if not shapes:
        return program
    given = user_inputs(program)
    chosen = chosen_shapes(given, shapes)
    if not any(is_dynamic(example) for _, example in given):
        return program
    sizes = follow(given, chosen)
    leaves = [torch.zeros(sizes[at], dtype=example.dtype)
              if isinstance(example, torch.Tensor) else example
              for at, (_, example) in enumerate(given)]
    args, kwargs = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    return trace(program.module(), args, kwargs)


# decompositions

def default_table():
    """PyTorch's, and those for what it does not decompose."""
    if hasattr(torch.export, "default_decompositions"):
        table = torch.export.default_decompositions()
    else:
        from torch._decomp import core_aten_decompositions
        table = core_aten_decompositions()
    table.update(decompositions.table())
    return table


def name_of(target):
    """relu of aten.relu.default."""
    return target._schema.name.split("::")[-1]


def is_random(node):
    return torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ())


def constants_of(program):
    """Nodes that depend on no input: what they compute is folded."""
    inputs = {name for name, _ in user_inputs(program)}
    known = set()
    for node in program.graph.nodes:
        if node.op == "placeholder":
            constant = node.name not in inputs
        else:
            constant = node.op in ("call_function", "get_attr") and \
                not is_random(node) and \
                all(source in known for source in node.all_input_nodes)
        if constant:
            known.add(node)
    return known


def is_whole(node, names, known):
    """Whether a node can be translated as it is."""
    if node.op != "call_function" or node.target is operator.getitem:
        return node.op != "call_module"
    if isinstance(node.target, torch._ops.HigherOrderOperator):
        return False
    if not isinstance(node.target, torch._ops.OpOverload):
        return True
    return not node.target._schema.is_mutable and (
        name_of(node.target) in names or node in known)


def decompose(program, names):
    """PyTorch's decompositions of all ops but those with these names; nothing
    is written in place afterwards."""
    known = constants_of(program)
    if all(is_whole(node, names, known) for node in program.graph.nodes):
        return program
    table = default_table()
    for target in list(table.keys()):
        if target.namespace == "aten" and name_of(target) in names:
            table.pop(target)
    try:
        with silence():
            return program.run_decompositions(table)
    except MemoryError:
        raise
    except Unsupported as error:
        text = str(error)
        raise ExportError(f"cannot export{source_line_in(text)}: "
                          f"{text.splitlines()[0]}") from None
    except Exception as error:  # of many kinds, all of them PyTorch's
        raise ExportError("PyTorch cannot decompose the program: "
                          f"{first_line(error)}") from error
