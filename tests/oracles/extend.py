# SPDX-License-Identifier: Apache-2.0
"""Checks the solution of an extended model against the model and its map.

    extend.py MODEL.mps MAP.csv OP OTHER SOLUTION

The two ops must be on different devices, every identity column must be 1, and
no row of the model violated; the makespan must be longer than the optimum of
HiGHS without the added rows.
"""
import csv
import sys

import highspy

path, columns, one, other, solution = sys.argv[1:]
TOLERANCE = 1e-5

with open(solution, encoding="ascii") as file:
    lines = [line.split() for line in file]
value = {name: float(number) for name, number in lines}

with open(columns, newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
assert {row["column"] for row in rows} == set(value) - {"=obj="}


def device_of(op):
    found = [row["device"] for row in rows
             if row["meaning"] == "place" and row["op"] == op
             and value[row["column"]] > 0.5]
    assert len(found) == 1, (op, found)
    return found[0]


assert device_of(one) != device_of(other)
for row in rows:
    if row["meaning"] == "identity":
        assert abs(value[row["column"]] - 1) < TOLERANCE, row
assert abs(value["=obj="] - value["w"]) < TOLERANCE

highs = highspy.Highs()
highs.silent()
assert highs.readModel(path) == highspy.HighsStatus.kOk
lp = highs.getLp()
activity = [0.0] * lp.num_row_
matrix = lp.a_matrix_
for i, name in enumerate(lp.col_names_):
    for k in range(matrix.start_[i], matrix.start_[i + 1]):
        activity[matrix.index_[k]] += matrix.value_[k] * value[name]
for least, got, most in zip(lp.row_lower_, activity, lp.row_upper_):
    assert least - TOLERANCE <= got <= most + TOLERANCE, (least, got, most)

highs.run()
best = highs.getInfo().objective_function_value
assert value["w"] > best + TOLERANCE, (value["w"], best)
