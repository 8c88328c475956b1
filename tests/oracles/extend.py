# SPDX-License-Identifier: Apache-2.0
"""Checks the solution of an extended model against the model and its map.

    extend.py MODEL.mps MAP.csv OP OTHER SOLUTION...

The two ops must be on different devices, every identity column must be 1, and
no row of the model violated; the makespan must be longer than the optimum of
HiGHS without the added rows.
"""
import csv
import sys

import highspy

path, columns, one, other, *solutions = sys.argv[1:]
TOLERANCE = 1e-5

with open(columns, newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
highs = highspy.Highs()
highs.silent()
assert highs.readModel(path) == highspy.HighsStatus.kOk
lp = highs.getLp()
# Every access to an array of HiGHS copies it.
names, starts, index, factors = (lp.col_names_, lp.a_matrix_.start_,
                                 lp.a_matrix_.index_, lp.a_matrix_.value_)
lower, upper = lp.row_lower_, lp.row_upper_
highs.run()
best = highs.getInfo().objective_function_value


def device_of(op, value):
    found = [row["device"] for row in rows
             if row["meaning"] == "place" and row["op"] == op
             and value[row["column"]] > 0.5]
    assert len(found) == 1, (op, found)
    return found[0]


for solution in solutions:
    with open(solution, encoding="ascii") as file:
        lines = [line.split() for line in file]
    value = {name: float(number) for name, number in lines}
    assert {row["column"] for row in rows} == set(value) - {"=obj="}
    assert device_of(one, value) != device_of(other, value)
    for row in rows:
        if row["meaning"] == "identity":
            assert abs(value[row["column"]] - 1) < TOLERANCE, row
    assert abs(value["=obj="] - value["w"]) < TOLERANCE

    activity = [0.0] * len(lower)
    for i, name in enumerate(names):
        for k in range(starts[i], starts[i + 1]):
            activity[index[k]] += factors[k] * value[name]
    for least, got, most in zip(lower, activity, upper):
        assert least - TOLERANCE <= got <= most + TOLERANCE, \
            (solution, least, got, most)
    assert value["w"] > best + TOLERANCE, (solution, value["w"], best)
