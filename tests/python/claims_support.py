# SPDX-License-Identifier: Apache-2.0
"""What the claims about the Python module share: files, a placement, and the
runner, which prints "ok CLAIM" or "failed CLAIM" for each, and why on stderr.
"""
import pathlib
import sys
import traceback

import moirai

EXAMPLES = pathlib.Path(sys.argv[1], "examples")
WORK = pathlib.Path(sys.argv[2])
INCEPTION = EXAMPLES / "inception.graphml"
RESIDUAL = EXAMPLES / "residual"
CLUSTER = EXAMPLES / "inception.cluster.xml"


def problem(**options):
    return moirai.instance(INCEPTION, CLUSTER, **options)


def refused(call, *arguments, **options):
    try:
        call(*arguments, **options)
    except moirai.MoiraiError as error:
        return error
    raise AssertionError("nothing was raised")


def raised(kind, call, *arguments, **options):
    try:
        call(*arguments, **options)
    except kind as error:
        return error
    raise AssertionError("nothing was raised")


def residual_placement():
    return moirai.place(RESIDUAL / "model.onnx",
                        RESIDUAL / "model.cluster.xml", time=5)


def is_possible(claim):
    """torch is no part of the tests' packages."""
    if "torch" not in claim.__name__:
        return True
    try:
        import torch  # noqa: F401
    except ImportError:
        return False
    return True


def run_claims(functions):
    """Runs the functions without arguments that the program defines itself, or
    those named on the command line, and exits with 1 if one fails."""
    claims = [value for value in functions.values()
              if getattr(value, "__module__", "") == "__main__" and
              hasattr(value, "__code__") and value.__code__.co_argcount == 0]
    only = sys.argv[3:]
    failed = 0
    for claim in claims:
        if (only and claim.__name__ not in only) or not is_possible(claim):
            continue
        name = claim.__name__.replace("_", " ")
        try:
            claim()
            print("ok", name, flush=True)
        except Exception:
            failed += 1
            print("failed", name, flush=True)
            sys.stderr.write(f"{name}:\n{traceback.format_exc()}")
    sys.exit(failed > 0)
