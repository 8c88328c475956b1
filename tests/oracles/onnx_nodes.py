#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ONNX's own tests of its operators, executed.

    python tests/oracles/onnx_nodes.py FOLDER [--each] [OPERATOR...]

The package onnx has models of one node, with inputs and outputs that it
computed.  Those of the operators that src/ingest/onnx/operators.def lists
become networks side by side in one model for each version of the operator set,
since a program for each would take minutes.  With --each, every test of every
operator runs by itself, and its result is one of: equal, refused with one
line, different.  FOLDER takes the files.  Exits with 1 where an output
differs, or where something is refused that should not be.
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
from onnx.backend.test.case.node import collect_testcases

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# Substrings of the names of tests that are refused.
REFUSED = """
    2d_uint8 _expanded antialias attn_mask_3d_causal attn_mask_4d_causal
    averagepool_2d_dilations averagepool_3d_dilations bf16 bfloat16
    bitshift_right_int bitshift_right_uint64 boolmask_nan
    causal_boolmask causal_with_past constantofshape convtranspose_output_shape
    downsample_scales_cubic_align_corners downsample_scales_linear_align_corners
    einsum_batch_diagonal exclude_outside half_pixel_symmetric
    local_window bidirectional_window nonpad not_larger not_smaller padded_kv
    precomputed_strides qk_matmul reduce_max_empty_set_bool select_last_index
    softcap string test_range_ tf_crop training wrap_pad
""".split()


def claimed():
    """The operators of the table."""
    with open(f"{TOP}/src/ingest/onnx/operators.def", encoding="utf-8") as text:
        return set(re.findall(r"^ONNX\((\w+),", text.read(), re.M))


def is_numeric(case):
    """Selects tests whose inputs and outputs are arrays of numeric types."""
    return all(isinstance(a, (numpy.ndarray, numpy.generic))
               and a.dtype.kind in "biuf"
               for data in case.data_sets[0] for a in data)


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

    def add(self, case):
        """Adds a test.  All inputs but the first become constants, unless
        they are large: most are sizes and axes."""
        graph = compose.add_prefix(case.model, f"{case.name}/").graph
        inputs, outputs = case.data_sets[0]
        for i, (entry, array) in enumerate(zip(graph.input, inputs)):
            array = numpy.asarray(array)
            if i > 0 and (array.dtype.kind != "f" or array.size <= 4):
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
        version = case.model.opset_import[0].version
        sides.setdefault(version, Side(version)).add(case)
    failed = []
    for version, side in sides.items():
        run = side.run(os.path.join(folder, str(version)))
        print(run.stderr, end="")
        if run.returncode:
            failed.append(version)
    print(f"{len(cases)} tests of {len(sides)} operator sets")
    if failed:
        sys.exit(f"operator sets {failed} differ")


def one_by_one(folder, cases):
    """Every test by itself; prints the operators with counts."""
    counts = collections.defaultdict(collections.Counter)
    different = []
    for case in cases:
        kind = case.model.graph.node[0].op_type
        if not is_numeric(case):
            counts[kind]["not numeric"] += 1
            continue
        side = Side(case.model.opset_import[0].version)
        side.add(case)
        run = side.run(os.path.join(folder, case.name))
        lines = run.stderr.strip().count("\n") + 1
        result = {0: "equal", 1: "refused"}.get(run.returncode, "different")
        if result == "different" or (result == "refused" and lines != 1):
            different.append(case.name)
            print(f"{case.name}: {run.stderr}", end="")
        elif result == "refused":
            print(f"{case.name}: {run.stderr[:240]}", end="")
        counts[kind][result] += 1
    total = collections.Counter()
    for kind in sorted(counts):
        total += counts[kind]
        print(kind, *(f"{n} {what}" for what, n in counts[kind].items()))
    print(f"{len(cases)} tests:", *(f"{n} {w}" for w, n in total.items()))
    if different:
        sys.exit(f"{len(different)} differ")


def main(folder, *arguments):
    operators = {a for a in arguments if not a.startswith("-")}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overflows that tests are about
        cases = collect_testcases(None)
    if "--each" in arguments:
        one_by_one(folder, [
            case for case in cases if not operators
            or case.model.graph.node[0].op_type in operators])
    else:
        together(folder, [case for case in cases
                          if wanted(case, operators or claimed())])


main(*sys.argv[1:])
