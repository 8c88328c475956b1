# SPDX-License-Identifier: Apache-2.0
"""Compares the results of moirai-exec with OpenVINO's.

    ops_oracle.py EXEC PRINT_OPS [--cases N] [--seed S] [--backend B]
                  [--save FOLDER] [TYPE]...

For every operator type that can be run (rows of src/ingest/operators.def,
printed by PRINT_OPS, print_ops.c), N random nodes are made with OpenVINO, run
by its CPU plugin or, where one of them is wrong, by its reference code, and,
out of the file it writes, by EXEC (moirai-exec).  Operators that OpenVINO lacks
are expressed by those it has.  Prints TAP, one claim a type: a type without
cases fails.

With --save, models, inputs and the outputs of OpenVINO are saved there, for
machines without OpenVINO: gpu_operators.sh.
"""
import argparse
import itertools
import os
import subprocess
import sys
import tempfile

import numpy as np
import openvino as ov
import openvino.opset15 as ops

# Modules that register cases.
import ops_index
import ops_move
import ops_onnx
import ops_point
import ops_product
import ops_recurrent
import ops_reduce
from infer_oracle import Tap
from ops_case import CASES, FLOOR, Case
from ops_foreign import write_ir

TOGETHER = 25  # nodes in one model


class Made:
    """A case with its node."""

    def __init__(self, kind, seed, i):
        makers = CASES[kind]
        self.case = Case("%s %d %d" % (kind, seed, i))
        made = makers[i % len(makers)](self.case)
        self.outputs = outputs_of(made)
        self.results = [ops.result(widened(o)) for o in self.outputs]
        self.oracle = self.results
        if self.case.oracle is not None:
            self.oracle = [ops.result(widened(o))
                           for o in outputs_of(self.case.oracle)]


def outputs_of(made):
    """The outputs of a node, or an output itself."""
    return made.outputs() if hasattr(made, "outputs") else [made]


def widened(output):
    """Converts bf16, which numpy lacks, to f32."""
    if output.get_element_type() == ov.Type.bf16:
        return ops.convert(output, "f32").output(0)
    return output


def attempt(kind, seed, i):
    """A random node, or None when OpenVINO refuses its attributes."""
    try:
        return Made(kind, seed, i)
    except RuntimeError:
        return None


def model_of(made, results="results"):
    """Puts all nodes, unconnected, into one model: one file to write and read."""
    return ov.Model([r for m in made for r in getattr(m, results)],
                    [p for m in made for p in m.case.parameters], "m")


def run_plugin(core, made):
    model = model_of(made, "oracle")
    compiled = core.compile_model(model, "CPU",
                                  {"INFERENCE_PRECISION_HINT": "f32"})
    outputs = compiled([v for m in made for v in m.case.values])
    flat = [np.array(outputs[i]) for i in range(len(outputs))]
    return share_out(made, flat)


def share_out(made, flat):
    """Outputs by case."""
    shared = []
    for m in made:
        shared.append(flat[:len(m.results)])
        flat = flat[len(m.results):]
    return shared


def evaluate(made):
    """Returns the outputs of OpenVINO's reference code."""
    model = model_of([made], "oracle")
    outputs = [ov.Tensor(o.get_element_type(), o.get_shape())
               for o in model.outputs]
    inputs = [ov.Tensor(np.asarray(v, order="C")) for v in made.case.values]
    model.evaluate(outputs, inputs)
    return [np.array(o.data) for o in outputs]


def run_plugin_each(core, made):
    """Outputs by case; None for what OpenVINO cannot run."""
    try:
        return run_plugin(core, made) if made else []
    except RuntimeError:
        if len(made) == 1:
            return [None]
        return [run_plugin_each(core, [m])[0] for m in made]


def references(core, made):
    """Outputs by case; None for what OpenVINO cannot run."""
    run = [m for m in made if not m.case.definition and not m.case.evaluated]
    found = iter(run_plugin_each(core, run))
    wanted = []
    for m in made:
        if m.case.definition:
            wanted.append(m.case.definition(*m.case.values))
        else:
            wanted.append(evaluate(m) if m.case.evaluated else next(found))
    return wanted


def save(folder, made):
    path = os.path.join(folder, "model.xml")
    if made[0].case.foreign:
        write_ir(path, made)
    else:
        ov.serialize(model_of(made), path)
    return path


def run_ours(program, backend, folder, made):
    """Outputs by case, or the error as a text."""
    path = save(folder, made)
    command = [program, "-q", "--backend", backend, "--no-measure",
               "--output", folder, path]
    for i, value in enumerate(v for m in made for v in m.case.values):
        file = os.path.join(folder, "input%d.npy" % i)
        np.save(file, value)
        command += ["--input", "%d=%s" % (i, file)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return "exit %d: %s" % (run.returncode, run.stderr.strip())
    count = sum(len(m.results) for m in made)
    return share_out(made, [np.load(os.path.join(folder, "output%d.npy" % i))
                            for i in range(count)])


def tolerable(case, wanted):
    """Returns the tolerance of every element."""
    size = np.abs(np.where(np.isfinite(wanted), wanted, 0)).astype(float)
    if case.is_exact or wanted.dtype.kind != "f":
        return np.zeros(wanted.shape)
    mean = size.mean() if size.size else 0
    return FLOOR + case.tolerance * (size + mean)


def difference(case, ours, wanted):
    """The first difference of an output; None if there is none."""
    if ours.shape != wanted.shape or ours.dtype != wanted.dtype:
        return "%s%s, not %s%s" % (ours.dtype, list(ours.shape), wanted.dtype,
                                   list(wanted.shape))
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours.astype(float) - wanted.astype(float))
    same = (ours == wanted) | ((ours != ours) & (wanted != wanted))
    wrong = ~same & ~(apart <= tolerable(case, wanted))
    if not wrong.any():
        return None
    at = tuple(np.argwhere(wrong)[0])
    return "%s is %s, not %s; %d of %d are wrong" % (
        list(map(int, at)), ours[at], wanted[at], wrong.sum(), wrong.size)


def describe(made):
    """Returns the operator with the names of OpenVINO, as a text."""
    owner = made.outputs[0].get_node()
    inputs = ["%s%s" % (i.get_element_type().get_type_name(),
                        list(i.get_shape())) for i in owner.inputs()]
    return "%s(%s) %s" % (owner.get_type_name(), ", ".join(inputs),
                          made.case.foreign or owner.get_attributes())


def keep(folder, made, wanted):
    """Saves a model, its inputs, its outputs and, a line each, their
    tolerances in a new folder."""
    os.makedirs(folder)
    save(folder, made)
    for i, value in enumerate(v for m in made for v in m.case.values):
        np.save(os.path.join(folder, "input%d.npy" % i), value)
    for i, value in enumerate(v for w in wanted for v in w):
        np.save(os.path.join(folder, "output%d.npy" % i), value)
    with open(os.path.join(folder, "tolerances"), "w",
              encoding="utf-8") as file:
        for m, outputs in zip(made, wanted):
            for value in outputs:
                print(0 if m.case.is_exact or value.dtype.kind != "f"
                      else m.case.tolerance, file=file)


def compare(options, folder, made, wanted):
    """Returns the errors as a list of texts, one per case."""
    ours = run_ours(options.program, options.backend, folder, made)
    if isinstance(ours, str) and len(made) > 1:
        return [text for m, w in zip(made, wanted)
                for text in compare(options, folder, [m], [w])]
    if isinstance(ours, str):
        return ["%s: %s: %s" % (made[0].case.name, describe(made[0]), ours)]
    wrong = []
    for m, mine, theirs in zip(made, ours, wanted):
        texts = [difference(m.case, a, b) for a, b in zip(mine, theirs)]
        texts = [t for t in texts if t]
        if texts:
            wrong.append("%s: %s: %s" % (m.case.name, describe(m), texts[0]))
    return wrong


def attempts(kind, seed, count):
    """Nodes that OpenVINO accepts; ends when it refuses nearly all."""
    for i in range(10 * count + 100):
        made = attempt(kind, seed, i)
        if made:
            yield made


def check_type(options, core, folder, kind):
    """Returns the errors as a list of texts."""
    wrong, checked = [], 0
    source = attempts(kind, options.seed, options.cases)
    while checked < options.cases:
        made = list(itertools.islice(
            source, min(TOGETHER, options.cases - checked)))
        if not made:
            return wrong + ["only %d of %d could be run" % (checked,
                                                            options.cases)]
        wanted = references(core, made)
        pairs = [(m, w) for m, w in zip(made, wanted) if w is not None]
        checked += len(pairs)
        if pairs and options.save:
            keep(os.path.join(options.save, "%s-%d" % (kind, checked)),
                 *zip(*pairs))
        if pairs:
            wrong += compare(options, folder, *zip(*pairs))
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("print_ops")
    parser.add_argument("types", nargs="*")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--save")
    options = parser.parse_intermixed_args()
    types = options.types or subprocess.run(
        [options.print_ops], capture_output=True, text=True,
        check=True).stdout.split()
    tap, core = Tap(), ov.Core()
    with tempfile.TemporaryDirectory() as folder:
        for kind in types:
            wrong = ["there are no cases of it"]
            if kind in CASES:
                wrong = check_type(options, core, folder, kind)
            tap.claim("%s, %d times" % (kind, options.cases), wrong)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
