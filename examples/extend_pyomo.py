#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds rows to a model of moirai-emit with Pyomo, and solves it.

    moirai-emit graph.graphml -o model.mps --map map.csv
    extend_pyomo.py model.mps map.csv OP OTHER solution.sol

The two ops go to different devices.  Pyomo reads no model files; HiGHS does,
and its columns and rows become Pyomo's.
"""
import csv
import sys

import highspy
import pyomo.environ as pyo

path, columns, one, other, solution = sys.argv[1:]


def read_model(path):
    """A Pyomo model with x[name] for every column and the rows as they are."""
    highs = highspy.Highs()
    highs.silent()
    if highs.readModel(path) != highspy.HighsStatus.kOk:
        sys.exit(f"extend_pyomo.py: {path}: HiGHS cannot read it")
    lp = highs.getLp()
    names, lower, upper = lp.col_names_, lp.col_lower_, lp.col_upper_
    integer = [kind == highspy.HighsVarType.kInteger for kind in lp.integrality_]

    model = pyo.ConcreteModel()
    model.x = pyo.Var(names)
    for i, name in enumerate(names):
        model.x[name].domain = pyo.Integers if integer[i] else pyo.Reals
        model.x[name].setlb(lower[i])
        model.x[name].setub(upper[i])
    model.makespan = pyo.Objective(
        expr=pyo.quicksum(cost * model.x[name]
                          for name, cost in zip(names, lp.col_cost_) if cost))

    rows = [[] for _ in range(lp.num_row_)]
    matrix = lp.a_matrix_
    for i, name in enumerate(names):
        for k in range(matrix.start_[i], matrix.start_[i + 1]):
            rows[matrix.index_[k]].append(matrix.value_[k] * model.x[name])
    model.rows = pyo.ConstraintList()
    for row, least, most in zip(rows, lp.row_lower_, lp.row_upper_):
        model.rows.add((None if least == -highspy.kHighsInf else least,
                        pyo.quicksum(row),
                        None if most == highspy.kHighsInf else most))
    return model


# Which column puts an op on a device.
with open(columns, newline="", encoding="utf-8") as file:
    place = {(row["op"], row["device"]): row["column"]
             for row in csv.DictReader(file) if row["meaning"] == "place"}
devices = sorted({device for _, device in place})
for op in one, other:
    if not any((op, device) in place for device in devices):
        sys.exit(f"extend_pyomo.py: {columns}: there is no op '{op}'")

model = read_model(path)
model.apart = pyo.ConstraintList()
for device in devices:
    if (one, device) in place and (other, device) in place:
        model.apart.add(model.x[place[one, device]]
                        + model.x[place[other, device]] <= 1)

result = pyo.SolverFactory("appsi_highs").solve(model)
pyo.assert_optimal_termination(result)

with open(solution, "w", encoding="ascii") as file:
    print("=obj=", pyo.value(model.makespan), file=file)
    for name in model.x:
        print(name, pyo.value(model.x[name]), file=file)
