#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds rows to a model of moirai-emit with PuLP, and solves it.

    moirai-emit graph.graphml -o model.mps --map map.csv
    extend_pulp.py model.mps map.csv OP OTHER solution.sol

The two ops go to different devices.  Whatever else is added, names stay as they
are: they say what a solution means, and of which model it is.
"""
import csv
import sys

import pulp

model, columns, one, other, solution = sys.argv[1:]

# Which column puts an op on a device.
with open(columns, newline="", encoding="utf-8") as file:
    place = {(row["op"], row["device"]): row["column"]
             for row in csv.DictReader(file) if row["meaning"] == "place"}
devices = sorted({device for _, device in place})
for op in one, other:
    if not any((op, device) in place for device in devices):
        sys.exit(f"extend_pulp.py: {columns}: there is no op '{op}'")

variables, problem = pulp.LpProblem.fromMPS(model)
for number, device in enumerate(devices):
    if (one, device) in place and (other, device) in place:
        problem += (variables[place[one, device]]
                    + variables[place[other, device]] <= 1, f"apart_{number}")

problem.solve(pulp.HiGHS(msg=False))
if problem.status != pulp.LpStatusOptimal:
    sys.exit(f"extend_pulp.py: {pulp.LpStatus[problem.status]}")

with open(solution, "w", encoding="ascii") as file:
    print("=obj=", problem.objective.value(), file=file)
    for name, variable in variables.items():
        print(name, variable.value(), file=file)
