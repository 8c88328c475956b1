# SPDX-License-Identifier: Apache-2.0
"""Networks with dynamic dimensions in one process, against ONNX Runtime.

    dynamic_case.py N CLUSTER ...

In the folder of dynamic_models.py, for each network and cluster: a placement
for N of 20 shapes, and N other shapes by --shapes-max.  A shape that is used
again makes no plan.
"""
import sys

import numpy

import moirai
from dynamic_models import NETWORKS, inputs, runtime, shapes

# Batch and length.
LISTED = [(1, 6), (3, 6), (5, 3), (2, 17), (7, 2), (4, 4), (20, 1), (8, 8),
          (6, 13), (9, 31)]
OTHERS = [(18, 6), (19, 3), (10, 1), (11, 5), (12, 2), (13, 7), (14, 4),
          (15, 9), (16, 11), (17, 12)]
del LISTED[int(sys.argv[1]):], OTHERS[int(sys.argv[1]):]


def place(name, cluster):
    lists = {key: [shapes(name, *case)[key] for case in LISTED]
             for key in shapes(name, 1, 1)}
    # Methods that use all devices.
    placement = moirai.place(
        f"{name}.onnx", cluster, shape=lists,
        method="m-topo" if name == "bert" else "dp-contiguous")
    used = {placement.device(op) for op in placement.ops}
    assert used == set(placement.devices), (name, used)
    return placement


def check(name, case, got, wanted):
    got = got if isinstance(got, tuple) else (got,)
    assert len(got) == len(wanted), (name, case)
    for value, expected in zip(got, wanted):
        assert value.shape == expected.shape, (name, case, value.shape)
        error = numpy.abs(value - expected).max()
        assert error <= 1e-4 * max(1, numpy.abs(expected).max()), (
            name, case, error)


def run_all(name, placement, oracle):
    given = {case: inputs(name, *case) for case in LISTED + OTHERS}
    wanted = {case: oracle.run(None, given[case]) for case in given}
    others = len({str(shapes(name, *case)) for case in OTHERS})
    with placement.executor(in_flight=2, shapes_max=others,
                            threads=1) as executor:
        listed = executor.n_plans
        for _ in range(2):
            requests = [(case, executor.submit(**given[case]))
                        for case in LISTED]
            for case, request in requests:
                check(name, case, request.result(), wanted[case])
            assert executor.n_plans == listed
        for _ in range(2):
            for case in LISTED[:2] + OTHERS:
                check(name, case, executor.run(**given[case]), wanted[case])
            assert executor.n_plans == listed + others
    # Without the option they are refused, and the known ones are listed.
    check(name, LISTED[-1], placement.run(**given[LISTED[-1]]),
          wanted[LISTED[-1]])
    try:
        placement.run(**given[OTHERS[0]])
    except moirai.MoiraiError as error:
        key, shape = next(iter(shapes(name, *LISTED[1]).items()))
        assert f"{key}={','.join(map(str, shape))}" in str(error), error
    else:
        raise AssertionError(name)


def least_recently_used():
    """One other plan is kept, and a request in flight outlives it."""
    placement = place("text", sys.argv[2])
    with placement.executor(shapes_max=1, threads=1) as executor:
        listed = executor.n_plans
        first = executor.submit(**inputs("text", *OTHERS[0]))
        executor.run(**inputs("text", *OTHERS[1]))
        executor.run(**inputs("text", *OTHERS[1]))
        assert executor.n_plans == listed + 2
        executor.run(**inputs("text", *OTHERS[0]))
        assert executor.n_plans == listed + 3
        assert first.result().shape[0] == OTHERS[0][0]


for cluster in sys.argv[2:]:
    for name in NETWORKS:
        run_all(name, place(name, cluster), runtime(f"{name}.onnx"))
least_recently_used()
