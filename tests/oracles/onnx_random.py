#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random ONNX nodes and small graphs.

    python tests/oracles/onnx_random.py MODE FOLDER [--cases N] [--seed S]
        [--operators A,B] [--runtime]

MODE is fold: each node with constants and with inputs gives the same bytes,
also what it is converted to, or is refused in either form; nodes: single nodes
against ONNX's reference evaluator; graphs: up to six nodes.  N are the cases of
each operator, or graphs.  With --runtime, ONNX Runtime is an oracle, too: an
output is right if it equals that of either.  Prints what differs, and what is
refused by reason.  Many cases run as one model.
"""
import argparse
import collections
import os
import re
import subprocess
import sys
import warnings

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from onnx_random_draw import number
from onnx_random_ops import ROWS, draw

OPSETS = 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 20, 21, 22
TOLERANCE = {"e": 2e-2, "f": 2e-4, "d": 2e-5}
# Operators of onnx's reference that are wrong in versions before, or that round
# otherwise than ONNX Runtime (Resize), or overflow (QuantizeLinear).
WRONG = {"LpPool": 99, "QuantizeLinear": 99, "Resize": 99,
         "Hardmax": 13, "Softmax": 13, "LogSoftmax": 13,
         "BatchNormalization": 14, "LRN": 99, "LpNormalization": 99,
         "MaxPool": 99, "AveragePool": 99}


class Case:
    """Nodes with inputs by name; outputs is a list of names."""

    def __init__(self, name, version):
        self.name, self.version = name, version
        self.nodes, self.inputs, self.known = [], {}, set()
        self.outputs, self.wanted = [], []
        self.steps = []  # a case for each node, with the inputs it has
        self.about = ""

    def add(self, drawn, suffix="", names=None):
        """Adds a node; returns the names of its outputs."""
        names = names or [f"{self.name}.{i}" for i in range(
            len(drawn.inputs))]
        outputs = [f"{self.name}{suffix}/{i}" for i in range(
            drawn.n_outputs)]
        self.nodes.append(drawn.node(names, outputs))
        return outputs


def value_info(name, array):
    return helper.make_tensor_value_info(name, number(array.dtype),
                                         array.shape)


def tensor(name, array):
    return numpy_helper.from_array(np.asarray(array), name)


def model_of(cases, fold=()):
    """One model of unconnected cases of one version; fold: names of inputs
    that are constants beside those which must be known."""
    graph = onnx.GraphProto(name="side by side")
    for case in cases:
        for name, array in case.inputs.items():
            if name in case.known or name in fold:
                graph.initializer.append(tensor(name, array))
            else:
                graph.input.append(value_info(name, array))
        graph.node.extend(case.nodes)
        graph.output.extend(onnx.ValueInfoProto(name=n)
                            for n in case.outputs)
    return helper.make_model(graph, ir_version=8, opset_imports=[
        helper.make_opsetid("", cases[0].version)])


def execute(folder, cases):
    """Runs them as one model; returns its outputs and the error."""
    os.makedirs(folder, exist_ok=True)
    for name in os.listdir(folder):
        os.remove(f"{folder}/{name}")
    onnx.save(model_of(cases), f"{folder}/model.onnx")
    options, i = [], 0
    for case in cases:
        for name, array in case.inputs.items():
            if name not in case.known:
                np.save(f"{folder}/in{i}.npy", array)
                options += ["-i", f"{name}={folder}/in{i}.npy"]
                i += 1
    run = subprocess.run(
        ["moirai-exec", "-q", "--threads", "1", "-o", folder, *options,
         f"{folder}/model.onnx"],
        capture_output=True, text=True, check=False)
    if run.returncode:
        return None, run.stderr.strip() or f"status {run.returncode}"
    count = sum(len(case.outputs) for case in cases)
    return [np.load(f"{folder}/output{k}.npy") for k in range(count)], ""


class Campaign:
    def __init__(self, folder):
        self.folder = folder
        self.refused = collections.Counter()
        self.failed = collections.Counter()
        self.equal = 0

    def reject(self, case, message):
        reason = re.sub(r"'[^']*'|-?\d+(\.\d+)?", "#",
                        message.split("model.onnx: ")[-1])
        self.refused[f"{case.about}: {reason[:150]}"] += 1
        if message.count("\n"):
            self.fail(case, "more than one line: " + message)

    def fail(self, case, text):
        self.failed[case.about] += 1
        if self.failed[case.about] <= 3:
            print(f"DIFFERS {case.name} opset {case.version} {case.about}: "
                  f"{text}", flush=True)
            place = f"{self.folder}/kept"
            os.makedirs(place, exist_ok=True)
            fold = {n for n in case.inputs}
            onnx.save(model_of([case], fold), f"{place}/{case.name}.onnx")

    def run(self, cases, check):
        """Checks all cases; those of a model that is refused are run again in
        halves, until each refusal has its case."""
        if not cases:
            return
        outputs, error = execute(f"{self.folder}/run", cases)
        if outputs is None and len(cases) == 1:
            self.reject(cases[0], error)
        elif outputs is None:
            named = {n.split("/")[0] for n in re.findall(
                r"op '([^'/]*/?)", error)}
            bad = [c for c in cases if c.name in named]
            rest = [c for c in cases if c.name not in named]
            if not bad or not rest:
                bad = cases[:len(cases) // 2]
                rest = cases[len(cases) // 2:]
            self.run(bad, check)
            self.run(rest, check)
        else:
            for case in cases:
                got, outputs = (outputs[:len(case.outputs)],
                                outputs[len(case.outputs):])
                text = check(case, got)
                if text:
                    self.fail(case, text)
                else:
                    self.equal += 1

    def batches(self, cases, check, size=15):
        by_version = collections.defaultdict(list)
        for case in cases:
            by_version[case.version].append(case)
        for version in sorted(by_version):
            some = by_version[version]
            for k in range(0, len(some), size):
                self.run(some[k:k + size], check)

    def report(self):
        for reason, n in sorted(self.refused.items()):
            print(f"refused: {n} {reason}")
        print(f"{self.equal} equal, {sum(self.refused.values())} refused, "
              f"{sum(self.failed.values())} differ")
        for about, n in sorted(self.failed.items()):
            print(f"differs: {n} {about}")
        return 1 if self.failed else 0


def describe(drawn):
    types = ",".join("-" if a is None else np.asarray(a).dtype.name
                     for a in drawn.inputs)
    return f"{drawn.kind}({types})"


def show(arrays):
    return "; ".join("-" if a is None else
                     f"{np.asarray(a).dtype}{list(np.shape(a))} "
                     f"{np.asarray(a).ravel()[:12].tolist()}" for a in arrays)


def reference(case, wrong=False):
    """The outputs by onnx; None where it fails, or computes something else
    than the operator's definition."""
    if not wrong and any(n.op_type in WRONG and case.version < WRONG[n.op_type]
           for n in case.nodes):
        return None
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made = ReferenceEvaluator(model_of([case], set(case.inputs)))
            return [np.asarray(a) for a in made.run(None, {})]
    except Exception:  # its errors have every type
        return None


def by_runtime(case):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = \
        onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(
            model_of([case]).SerializeToString(), options,
            providers=["CPUExecutionProvider"])
        return [np.asarray(a) for a in session.run(None, {
            n: a for n, a in case.inputs.items() if n not in case.known})]
    except Exception:
        return None


def equal(got, wanted):
    if {got.dtype.kind, wanted.dtype.kind} <= set("iu"):
        wanted = wanted.astype(got.dtype)  # sums of onnx are wider
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return False
    if got.dtype.kind != "f":
        return np.array_equal(got, wanted)
    with np.errstate(all="ignore"):
        near = TOLERANCE[got.dtype.char]
        scale = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
        close = np.abs(got.astype("f8") - wanted.astype("f8")) <= near * (
            np.abs(wanted.astype("f8")) + min(float(scale), 1e3) * .01 + 1e-4)
        return bool(np.all(close | (got == wanted) |
                           np.isnan(got) & np.isnan(wanted)))


def wide(case):
    """The outputs by onnx where f16 is computed in f32; for nodes whose types
    follow from their inputs."""
    made = Case(case.name, case.version)
    made.nodes, made.outputs = case.nodes, case.outputs
    made.inputs = {n: a.astype("f4") if a.dtype == np.float16 else a
                   for n, a in case.inputs.items()}
    return reference(made)


def compare(case, got):
    """Each output equals that of an oracle; further ones are asked only where
    the first differs."""
    missing = set(range(len(got)))

    def match(numbers, outputs):
        for k, a in zip(numbers, outputs or []):
            if got[k].dtype == np.float16 and a.dtype == np.float32:
                with np.errstate(all="ignore"):
                    a = a.astype(np.float16)
            if k in missing and equal(got[k], a):
                missing.discard(k)
            elif k in missing:
                wanted[k].append(a)

    wanted = collections.defaultdict(list)
    match(range(len(got)), case.wanted)
    if missing and case.runtime:
        match(range(len(got)), by_runtime(case))
    for step in case.steps or [case]:
        numbers = [case.outputs.index(n) for n in step.outputs]
        if missing & set(numbers):
            match(numbers, wide(step))
        if missing & set(numbers):
            match(numbers, reference(step, True))
        if missing & set(numbers) and case.runtime:
            match(numbers, by_runtime(step))
    if not missing:
        return None
    return "; ".join(
        f"output {case.outputs[k]} of "
        f"{[onnx.helper.printable_node(n) for n in case.nodes]} of "
        f"{show(case.inputs.values())}\n   got {show([got[k]])}\n   want " +
        "\n   or ".join(show([w]) for w in wanted[k]) for k in sorted(missing))


def single(rng, kind, name, tame=None):
    """A case of one node; None: the operator is not in that version."""
    version = int(rng.choice(OPSETS))
    drawn = draw(rng, kind, version,
                 bool(rng.integers(2)) if tame is None else tame)
    if drawn is None:
        return None, None
    case = Case(name, version)
    case.about = describe(drawn)
    for i, array in enumerate(drawn.inputs):
        if array is not None:
            case.inputs[f"{name}.{i}"] = np.asarray(array)
            if i in drawn.known:
                case.known.add(f"{name}.{i}")
    case.outputs = case.add(drawn)
    return case, drawn


# Constant folding

def folded(rng, kind, name):
    """The node with constants and with inputs, and both converted: the values
    of reals are seen where they become integers."""
    case, drawn = single(rng, kind, name, False)
    if not case:
        return None
    if kind == "Pow":  # a constant exponent has a program of its own
        case.known.add(f"{name}.1")
    names = [f"{name}.{i}" for i in range(len(drawn.inputs))]
    constants = [n + "c" for n in names]
    case.outputs += case.add(drawn, "c", constants)
    for n, c in zip(names, constants):
        if n in case.inputs:
            case.inputs[c] = case.inputs[n]
            case.known.add(c)
    for out in list(case.outputs):
        for to in TensorProto.INT64, TensorProto.BOOL:
            case.nodes.append(helper.make_node("Cast", [out], [
                f"{out}t{to}"], to=to))
            case.outputs.append(f"{out}t{to}")
    return case


def same_bytes(case, got):
    n = len(got) // 3  # outputs, then two casts of each
    half = n // 2
    casts = got[n:]
    pairs = [*zip(got[:half], got[half:n]),
             *zip(casts[:2 * half], casts[2 * half:])]
    for run, fold in pairs:
        if run.shape != fold.shape or run.dtype != fold.dtype:
            return f"{show([run])} or {show([fold])}"
        if run.dtype.kind == "f":  # any NaN
            same = (run == fold) & (np.signbit(run) == np.signbit(fold)) | \
                np.isnan(run) & np.isnan(fold)
        else:
            same = run == fold
        if not np.all(same):
            return (f"{[onnx.helper.printable_node(x) for x in case.nodes[:1]]}"
                    f" of {show(case.inputs.values())}\n"
                    f"   run {show([run])}\n   folded {show([fold])}")
    return None


# Small graphs

def grow(rng, name, runtime):
    """A case of up to six nodes: each takes, where shape and type allow it, a
    result of those before."""
    case = Case(name, int(rng.choice(OPSETS)))
    made, kinds = [], list(ROWS)
    for k in range(rng.integers(2, 7)):
        drawn = draw(rng, str(rng.choice(kinds)), case.version,
                     bool(rng.integers(2)))
        if drawn is None or drawn.refused():
            continue
        names = []
        for i, array in enumerate(drawn.inputs):
            like = [m for m in made if array is not None and
                    m[1].shape == np.shape(array) and
                    m[1].dtype == np.asarray(array).dtype and
                    i not in drawn.known and drawn.kind != "OneHot" and
                    np.asarray(array).dtype.kind == "f"]
            if like:
                m = like[rng.integers(len(like))]
                names.append(m[0])
                drawn.inputs[i] = m[1]
                continue
            names.append(f"{name}.{k}.{i}")
        step = Case(name, case.version)
        outputs = step.add(drawn, f"/{k}", names)
        step.outputs = outputs
        step.inputs = {n: np.asarray(a) for n, a in zip(names, drawn.inputs)
                       if a is not None}
        result = reference(step)
        if result is None and runtime:
            result = by_runtime(step)
        if result is None:
            continue
        case.steps.append(step)
        case.wanted += result
        case.nodes += step.nodes
        case.about += f"{drawn.kind} "
        known = {m[0] for m in made}
        for i, (n, a) in enumerate(zip(names, drawn.inputs)):
            if a is not None and n not in known:
                case.inputs[n] = np.asarray(a)
                if i in drawn.known or rng.integers(3) == 0:
                    case.known.add(n)
        made += [(n, a) for n, a in zip(outputs, result)
                 if np.all(np.isfinite(a)) or a.dtype.kind != "f"]
        case.outputs += outputs
    return case if case.nodes else None


CHECKS = {"fold": same_bytes, "nodes": compare, "graphs": compare}


def make(options, kind, k):
    """Case number k of an operator; None: there is nothing to compare."""
    rng = np.random.default_rng([options.seed, k, *map(ord, kind)])
    name = f"{kind}{k}"
    if options.mode == "fold":
        return folded(rng, kind, name)
    case = single(rng, kind, name)[0] if options.mode == "nodes" else \
        grow(rng, name, options.runtime)
    if case:
        case.runtime = options.runtime
    if case and not case.steps:
        case.wanted = reference(case)
        if case.wanted is None and options.runtime:
            case.wanted = by_runtime(case)
    return case if case and case.wanted is not None else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["fold", "nodes", "graphs"])
    parser.add_argument("folder")
    parser.add_argument("--cases", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operators", default="")
    parser.add_argument("--runtime", action="store_true")
    options = parser.parse_args()
    campaign = Campaign(options.folder)
    kinds = options.operators.split(",") if options.operators else sorted(ROWS)
    if options.mode == "graphs":
        kinds = ["graph"]
    cases = []
    for k in range(options.cases):
        for kind in kinds:
            case = make(options, kind, k)
            if case:
                cases.append(case)
            if len(cases) == 4000:
                campaign.batches(cases, CHECKS[options.mode])
                cases = []
    campaign.batches(cases, CHECKS[options.mode])
    sys.exit(campaign.report())


main()
