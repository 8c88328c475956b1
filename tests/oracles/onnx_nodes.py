#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests of its operators, executed.

    python tests/oracles/onnx_nodes.py FOLDER [--each] [OPERATOR...]

The package onnx has models of one node, with inputs and outputs that it
computed.  Those of the operators that src/ingest/onnx/operators.def lists
become networks side by side in one model for each version of the operator set,
since a program for each would take minutes.  With --each, every test of every
operator runs by itself, and its result is one of: equal, refused with one
line, different; then operators, and reasons to refuse, are printed with their
counts.  Inputs are constants where an operator needs their values.  FOLDER
takes the files.  Exits with 1 where an output differs, or where something is
refused that should not be.
"""
import collections
import os
import re
import subprocess
import sys
import warnings

import numpy
import onnx
from onnx import compose, helper, numpy_helper
from onnx.backend.test.case import base
from onnx.backend.test.case.node import collect_testcases

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Substrings of the names of tests that are refused.
REFUSED = """
    _expanded bernoulli bf16 bfloat16
    convtranspose_output_shape precomputed_strides reduce_max_empty_set_bool
    string test_scan_sum training_dropout
""".split()
# Operators that must know all their inputs.
KNOWN = """
    BlackmanWindow ConstantOfShape HammingWindow HannWindow MelWeightMatrix
    NonZero Range Unique
""".split()


def claimed():
    """The operators of the table that run."""
    with open(f"{TOP}/src/ingest/onnx/operators.def", encoding="utf-8") as text:
        return set(re.findall(r"^ONNX\((\w+), (?!refused)", text.read(), re.M))


def collect():
    """ONNX's tests.  Outside of .ci/run without those that its reference
    computes in seconds each, pools of a volume with a point in each window:
    those with gaps between the points remain."""
    exporter = type(base.Base)
    begin = exporter.__init__

    def begin_quickly(cls, name, bases, members):
        begin(cls, name, bases, {
            k: v for k, v in members.items()
            if not k.endswith(("averagepool_3d_default", "maxpool_3d_default",
                               "lppool_3d_default"))})

    if not any(map(os.environ.get, ("MOIRAI_CI", "MOIRAI_LONG"))):
        exporter.__init__ = begin_quickly
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflows that tests are about
        return collect_testcases(None)


def is_numeric(case):
    """Selects tests whose inputs and outputs are arrays of numeric types."""
    return all(isinstance(a, (numpy.ndarray, numpy.generic))
               and a.dtype.kind in "biuf"
               for data in case.data_sets[0] for a in data)


def version_of(case):
    """The version of ONNX's own operators; tests of older ones have not
    changed since."""
    return max(7, *(o.version for o in case.model.opset_import
                    if o.domain in ("", "ai.onnx")), 7)


def wanted(case, operators):
    return (case.model.graph.node[0].op_type in operators
            and not any(part in case.name for part in REFUSED)
            and is_numeric(case))


class Side:
    """A model of unconnected networks, of one operator set version."""

    def __init__(self, version):
        self.version = version
        self.graph = onnx.GraphProto(name="side by side")
        self.inputs = {}
        self.outputs = []

    def add(self, case, is_constant=False):
        """Adds a test.  All inputs but the first become constants, unless
        they are large: most are sizes and axes."""
        graph = compose.add_prefix(case.model, f"{case.name}/").graph
        inputs, outputs = case.data_sets[0]
        for i, (entry, array) in enumerate(zip(graph.input, inputs)):
            array = numpy.asarray(array)
            if is_constant or (
                    i > 0 and (array.dtype.kind != "f" or array.size <= 4
                               or entry.name.endswith("/roi"))):
                self.graph.initializer.append(
                    numpy_helper.from_array(array, entry.name))
            else:
                self.graph.input.append(entry)
                self.inputs[entry.name] = array
        self.graph.node.extend(graph.node)
        self.graph.output.extend(graph.output)
        self.outputs += map(numpy.asarray, outputs)

    def save(self, folder):
        os.makedirs(folder, exist_ok=True)
        model = helper.make_model(self.graph, opset_imports=[
            helper.make_opsetid(domain, version) for domain, version in
            (("", self.version), ("ai.onnx.ml", 5))])
        onnx.save(model, f"{folder}/model.onnx")
        options = []
        for i, (name, array) in enumerate(self.inputs.items()):
            numpy.save(f"{folder}/input{i}.npy", array)
            options += ["-i", f"{name}={folder}/input{i}.npy"]
        for i, array in enumerate(self.outputs):
            numpy.save(f"{folder}/output{i}.npy", array)
        return options

    def run(self, folder):
        options = self.save(folder)
        command = ["moirai-exec", "-q", "--tolerance", "1e-3", "--reference",
                   folder, *options, f"{folder}/model.onnx"]
        return subprocess.run(command, capture_output=True, text=True,
                              check=False)


def together(folder, cases):
    """All tests of an operator set as one model."""
    sides = collections.OrderedDict()
    for case in cases:
        version = version_of(case)
        sides.setdefault(version, Side(version)).add(
            case, case.model.graph.node[0].op_type in KNOWN)
    failed = []
    for version, side in sides.items():
        run = side.run(os.path.join(folder, str(version)))
        print(run.stderr, end="")
        if run.returncode:
            failed.append(version)
    print(f"{len(cases)} tests of {len(sides)} operator sets")
    if failed:
        sys.exit(f"operator sets {failed} differ")


def run_alone(folder, case):
    """Returns the result and the message of one test."""
    for is_constant in False, True:
        side = Side(version_of(case))
        side.add(case, is_constant)
        run = side.run(os.path.join(folder, case.name))
        if "before it runs" not in run.stderr and \
                "before the model runs" not in run.stderr:
            break
    result = {0: "equal", 1: "refused"}.get(run.returncode, "different")
    if result == "refused" and run.stderr.strip().count("\n"):
        result = "different"
    return result, run.stderr.strip()


def reason_of(message, case):
    """The message without names of files and tensors."""
    message = message.split("model.onnx: ")[-1].replace(f"{case.name}/", "")
    return re.sub(r"op '[^']*' |\d+ ops? cannot be read: | '[^']*'", "",
                  message)[:120]


def one_by_one(folder, cases):
    """Every test by itself; prints operators and reasons with counts."""
    counts = collections.defaultdict(collections.Counter)
    reasons = collections.Counter()
    different = []
    for case in cases:
        kind = case.model.graph.node[0].op_type
        if not is_numeric(case):
            counts[kind]["not numeric"] += 1
            continue
        result, message = run_alone(folder, case)
        if result == "different":
            different.append(case.name)
        if result != "equal":
            print(f"{case.name}: {result}: {message}")
        if result == "refused":
            reasons[kind, reason_of(message, case)] += 1
        counts[kind][result] += 1
    total = collections.Counter()
    for kind in sorted(counts):
        total += counts[kind]
        print(f"{kind}:", ", ".join(f"{n} {what}" for what, n in
                                    counts[kind].items()))
    for (kind, reason), n in sorted(reasons.items()):
        print(f"refused: {n} {kind}: {reason}")
    print(f"{len(cases)} tests:",
          ", ".join(f"{n} {what}" for what, n in total.items()))
    if different:
        sys.exit(f"{len(different)} differ")


def main(folder, *arguments):
    operators = {a for a in arguments if not a.startswith("-")}
    cases = collect()
    if "--each" in arguments:
        one_by_one(folder, [
            case for case in cases if not operators
            or case.model.graph.node[0].op_type in operators])
    else:
        together(folder, [case for case in cases
                          if wanted(case, operators or claimed())])


main(*sys.argv[1:])
