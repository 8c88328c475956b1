#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds rows to a model of moirai-emit with PuLP, and solves it.

    moirai-emit --slack 2 --unit us graph.graphml -o model.mps \
        --map map.csv --start start.sol
    extend_pulp.py model.mps map.csv start.sol OP OTHER solution.sol
    moirai-check solution.sol

The two ops go to different devices.  Whatever else is added, names stay as they
are: they identify the columns of a solution and its model.  --slack leaves
room for such rows, --unit fixes the unit of the objective.
"""
import highspy
import pulp

import moirai_model

model, columns, start, one, other, solution = moirai_model.arguments()
moirai_model.check_slack(model)
pairs = moirai_model.columns_apart(columns, one, other)

variables, problem = pulp.LpProblem.fromMPS(model)
for number, (a, b) in enumerate(pairs):
    problem += variables[a] + variables[b] <= 1, f"apart_{number}"
values = moirai_model.read_start(start)
for name, variable in variables.items():
    variable.setInitialValue(values.get(name, 0))


class WarmHiGHS(pulp.HiGHS):
    """HiGHS with the initial values as MIP start, which PuLP's ignores."""

    def callSolver(self, lp):
        warm = highspy.HighsSolution()
        warm.col_value = [variable.varValue for variable in lp.variables()]
        lp.solverModel.setSolution(warm)
        super().callSolver(lp)


problem.solve(WarmHiGHS(msg=False))
if problem.status != pulp.LpStatusOptimal:
    moirai_model.fail(pulp.LpStatus[problem.status])
moirai_model.write_solution(
    solution, problem.objective.value(),
    ((name, variable.value()) for name, variable in variables.items()))
