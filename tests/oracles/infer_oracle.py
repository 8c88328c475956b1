# SPDX-License-Identifier: Apache-2.0
"""Compares our shape inference with the oracle, OpenVINO's.

    infer_oracle.py PRINT_SHAPES [--models N] [--seed S] [--data DIR] [TYPE]...

For every operator type, N random models are built with OpenVINO, their inputs
are made dynamic and the result is written.  PRINT_SHAPES (print_shapes.c) then
gets the input sizes back as options, and every output shape it derives must be
the one OpenVINO derives.  The same is done for the models under DIR.  Prints
TAP.
"""
import argparse
import glob
import itertools
import os
import subprocess
import sys
import tempfile

import openvino as ov
import openvino.opset15 as ops
from openvino.passes import ConstantFolding, Manager

from infer_case import Random
from infer_models import CASES


def parameters_of(node):
    found, seen, waiting = [], set(), [node]
    while waiting:
        node = waiting.pop()
        if node.get_name() in seen:
            continue
        seen.add(node.get_name())
        if node.get_type_name() == "Parameter":
            found.append(node)
        waiting += [i.get_source_output().get_node() for i in node.inputs()]
    return found


def make_model(nodes):
    """Puts all nodes, unconnected, into one model: one file to write and read."""
    parameters = [p for node in nodes for p in parameters_of(node)]
    for i, parameter in enumerate(parameters):
        parameter.set_friendly_name("in%d" % i)
    results = [ops.result(o) for node in nodes for o in node.outputs()]
    return ov.Model(results, parameters, "m")


def sizes(model):
    return {p.get_friendly_name(): list(p.get_output_shape(0))
            for p in model.get_parameters()}


def reshape(model, shapes):
    model.reshape({p.output(0): ov.PartialShape(shapes[p.get_friendly_name()])
                   for p in model.get_parameters()})


def loosen(r, shapes):
    """The same with dynamic dimensions: all of them, or some."""
    chance = r.choice([0.3, 1.0])
    return {name: [-1 if r.random() < chance else d for d in dims]
            for name, dims in shapes.items()}


def fold(model):
    """Constant folding: OpenVINO computes values that depend on shapes only."""
    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)


def openvino_shapes(path, shapes):
    """{(layer, port): dims}"""
    model = ov.Core().read_model(path)
    reshape(model, shapes)
    fold(model)
    found = {}
    for node in model.get_ops():
        for port in range(node.get_output_size()):
            shape = node.output(port).get_partial_shape()
            found[node.get_friendly_name(), port] = (
                list(shape.to_shape()) if shape.is_static else "dynamic")
    return found


def our_shapes(program, path, shapes):
    """The same, or the error as a text."""
    options = ["%s=%s" % (name, ",".join(map(str, dims)))
               for name, dims in shapes.items()]
    run = subprocess.run([program, path] + options, capture_output=True,
                         text=True, check=False)
    if run.returncode != 0:
        return "exit %d: %s" % (run.returncode, run.stderr.strip())
    found = {}
    for line in run.stdout.splitlines():
        layer, port, dims = line.split("\t")
        found[layer, int(port)] = [int(d) for d in dims.split(",") if d]
    return found


def difference(program, path, shapes):
    """The first shape that differs from OpenVINO's; None if there is none."""
    theirs = openvino_shapes(path, shapes)
    ours = our_shapes(program, path, shapes)
    if isinstance(ours, str):
        return ours
    for key, dims in sorted(theirs.items()):
        if key in ours and dims != ours[key]:
            return "%s:%d is %s, not %s" % (*key, ours[key], dims)
    if not set(theirs) & set(ours):
        return "no layer in common"
    return None


def check_model(program, folder, r, model):
    """Checks one model, with the sizes it was made with."""
    path = os.path.join(folder, "model.xml")
    shapes = sizes(model)
    try:
        reshape(model, loosen(r, shapes))
    except RuntimeError:
        reshape(model, shapes)
    ov.serialize(model, path)
    return difference(program, path, shapes)


def attempt(kind, seed, i):
    """A random node, or None when OpenVINO refuses its attributes."""
    makers = CASES[kind]
    try:
        return makers[i % len(makers)](Random("%s %d %d" % (kind, seed, i)))
    except RuntimeError:
        return None


def check_type(program, folder, kind, count, seed):
    """Returns the errors as a list of texts."""
    r = Random(seed)
    tries = (i for i in range(20 * count) if attempt(kind, seed, i))
    tries = list(itertools.islice(tries, count))
    if len(tries) < count:
        return ["only %d models" % len(tries)]
    nodes = [attempt(kind, seed, i) for i in tries]
    if check_model(program, folder, r, make_model(nodes)) is None:
        return []
    wrong = []
    for i in tries:
        model = make_model([attempt(kind, seed, i)])
        what = check_model(program, folder, r, model)
        if what:
            wrong.append("%s, seed %d, try %d: %s" % (kind, seed, i, what))
    return wrong or ["only all together are wrong"]


def check_file(program, folder, path):
    r = Random(path)
    model = ov.Core().read_model(path)
    return check_model(program, folder, r, model)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def claim(self, text, wrong):
        self.count += 1
        self.failed += bool(wrong)
        print("%sok %d - %s" % ("not " if wrong else "", self.count, text))
        for line in wrong[:5]:
            print("# " + line.replace("\n", " "))
        sys.stdout.flush()

    def end(self):
        print("1..%d" % self.count)
        return 1 if self.failed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("types", nargs="*")
    parser.add_argument("--models", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--data")
    options = parser.parse_intermixed_args()
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.types or sorted(CASES):
            wrong = check_type(options.program, folder, kind, options.models,
                               options.seed)
            tap.claim("%s, %d times" % (kind, options.models), wrong)
        pattern = os.path.join(options.data or folder, "runnable", "*",
                               "model.xml")
        for path in sorted(glob.glob(pattern)):
            what = check_file(options.program, folder, path)
            name = os.path.basename(os.path.dirname(path))
            tap.claim(name, [what] if what else [])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
