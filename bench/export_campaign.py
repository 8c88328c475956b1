# SPDX-License-Identifier: Apache-2.0
"""Exports many PyTorch networks and compares what moirai-exec computes.

    python bench/export_campaign.py [--time S] [--jobs N] [--until S]
        [--csv FILE] [GROUP[:NAME]...]

Groups: ops, torchvision, transformers, timm, and captured-GROUP and
captured-GROUP-dynamic for the graphs that torch.compile makes of a group's
networks; the first four, if installed, unless given.  Each case runs in a
process of its own, so that one that hangs or dies is one row.  A row is

    equal     exported, executed, and equal to PyTorch
    refused   one line from moirai-export, with the reason
    not run   exported, but moirai-exec refuses it
    WRONG     executed, with other values than PyTorch's
    BROKEN    another exception than ExportError, or a crash
    slow      not done in the time
    no model  PyTorch itself cannot make or run it here: not counted

With --jobs, N cases at once; --until S: none begins after S seconds.  Exits with 1 if one is wrong or broken.
"""
import argparse
import collections
import json
import multiprocessing
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import traceback

here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "contrib", "export"), here]
sys.dont_write_bytecode = True
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy  # noqa: E402
import torch  # noqa: E402

import export_captured  # noqa: E402
import export_models  # noqa: E402
import export_ops  # noqa: E402
from moirai_export import ExportError, export  # noqa: E402

DEFAULT = {"ops": export_ops.cases, **export_models.GROUPS}
GROUPS = {**DEFAULT, **export_captured.GROUPS}
MEMORY = 16 << 30  # of one case
TOLERANCES = {torch.float16: "1e-2", torch.bfloat16: "2e-2"}


def save(folder, kind, tensors):
    for i, tensor in enumerate(tensors):
        if tensor.is_complex():
            tensor = torch.view_as_real(tensor.resolve_conj())
        if tensor.dtype == torch.bfloat16:
            tensor = tensor.float()
        numpy.save(f"{folder}/{kind}{i}.npy",
                   tensor.detach().resolve_conj().contiguous().numpy())


def flat(outputs):
    return [x for x in torch.utils._pytree.tree_leaves(outputs)
            if isinstance(x, torch.Tensor)]


def try_case(make, folder):
    """The kind of the row and its reason."""
    torch.manual_seed(8)
    try:
        made = make()
    except Exception as error:
        return "no model", f"{type(error).__name__}: {error}"
    if isinstance(made, tuple):
        return try_module(folder, *made)
    answers = [try_module(folder, *one) for one in made]
    others = [answer for answer in answers if answer[0] != "equal"]
    graphs = f"{len(made) - len(others)} of {len(made)} graphs equal"
    if not others:
        return "equal", graphs
    return others[0][0], f"{graphs}: {others[0][1]}"


def try_module(folder, module, inputs, outputs=None):
    try:
        module.eval()
        with torch.no_grad():
            outputs = outputs or flat(module(*[
                x.clone() if isinstance(x, torch.Tensor) else x
                for x in inputs]))
    except Exception as error:
        return "no model", f"{type(error).__name__}: {error}"
    graph = f"{folder}/net.graphml"
    try:
        export(module, tuple(inputs), graph)
    except ExportError as error:
        return "refused", str(error)
    except Exception as error:
        if os.environ.get("TRACEBACK"):
            traceback.print_exc()
        where = traceback.extract_tb(error.__traceback__)[-1]
        return "BROKEN", (f"{type(error).__name__}: {error} "
                          f"({os.path.basename(where.filename)}:{where.lineno})")
    tolerance = max((TOLERANCES.get(x.dtype, "1e-3") for x in outputs),
                    key=float, default="1e-3")
    inputs = [x for x in inputs if isinstance(x, torch.Tensor)]
    save(folder, "input", inputs)
    save(folder, "output", outputs)
    command = ["moirai-exec", "-q", "--runs", "1",
               "--reference", folder, "--tolerance", tolerance, graph]
    for i in range(len(inputs)):
        command += ["-i", f"{i}={folder}/input{i}.npy"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return "equal", ""
    words = " ".join((run.stderr or run.stdout or
                      f"exit {run.returncode}").split())
    kind = "WRONG" if run.returncode == 4 else "not run"
    return kind, words


def in_child(make, limit):
    """Runs a case in a child process; returns kind, reason and seconds."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            os.close(reader)
            silent = os.open(os.devnull, os.O_WRONLY)
            if not os.environ.get("TRACEBACK"):
                os.dup2(silent, 1)
                os.dup2(silent, 2)
            signal.alarm(limit)
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            kind, reason = try_case(make, folder)
            os.write(writer, f"{kind}\n{reason}"[:3000].encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader, "rb") as answer:
            words = answer.read().decode("utf-8", "replace")
        _, status = os.waitpid(child, 0)
    seconds = time.monotonic() - begin
    kind, _, reason = words.partition("\n")
    if not kind:
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
            return "slow", f"not done in {limit} s", seconds
        return "BROKEN", f"ended with status {status}", seconds
    return kind, " ".join(reason.split()), seconds


def chosen_cases(wanted):
    for name in wanted or DEFAULT:
        group, _, pattern = name.partition(":")
        try:
            for case, make in GROUPS[group]():
                if not pattern or re.fullmatch(pattern, case):
                    yield group, case, make
        except ImportError as error:
            print(f"# {group}: {error.name} is not installed")


def warm_up():
    """Loads here what every child would load."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        export(torch.nn.Linear(2, 2).eval(), (torch.ones(1, 2),),
               f"{folder}/net.graphml")


def untaken(cases, counter, until):
    """The cases that no other process has begun, in turn."""
    while time.monotonic() < until:
        with counter.get_lock():
            at = counter.value
            counter.value += 1
        if at >= len(cases):
            return
        yield cases[at]


def parallel_rows(cases, limit, jobs, until):
    """Rows of several processes, as they are done."""
    counter = multiprocessing.Value("i", 0)
    reader, writer = os.pipe()
    for _ in range(jobs):
        if os.fork() == 0:
            os.close(reader)
            for group, name, make in untaken(cases, counter, until):
                kind, reason, seconds = in_child(make, limit)
                row = json.dumps((group, name, kind, seconds, reason[:600]))
                os.write(writer, row.encode() + b"\n")  # the pipe takes it whole
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--time", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--until", type=float, default=float("inf"))
    parser.add_argument("--csv")
    parser.add_argument("groups", nargs="*")
    chosen = parser.parse_args()
    counts = collections.defaultdict(collections.Counter)
    lines = []
    warm_up()
    until = time.monotonic() + chosen.until
    for group, name, kind, seconds, reason in parallel_rows(
            list(chosen_cases(chosen.groups)), chosen.time, chosen.jobs,
            until):
        counts[group][kind] += 1
        lines.append((group, name, kind, f"{seconds:.1f}", reason))
        print(f"{kind:9} {seconds:6.1f} s  {group}/{name}"
              + (f": {reason[:400]}" if reason else ""), flush=True)
    if chosen.csv:
        with open(chosen.csv, "w", encoding="utf-8") as file:
            for line in lines:
                file.write(",".join('"' + word.replace('"', '""') + '"'
                                    for word in line) + "\n")
    kinds = ("equal", "refused", "not run", "WRONG", "BROKEN", "slow",
             "no model")
    print(f"\n{'group':14}" + "".join(f"{kind:>10}" for kind in kinds)
          + f"{'equal of':>12}")
    for group, count in counts.items():
        total = sum(count.values()) - count["no model"]
        print(f"{group:14}" + "".join(f"{count[kind]:10}" for kind in kinds)
              + f"{100 * count['equal'] / max(1, total):10.1f} %")
    bad = sum(count["WRONG"] + count["BROKEN"] for count in counts.values())
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
