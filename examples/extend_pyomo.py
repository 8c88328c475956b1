#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds rows to a model of moirai-emit with Pyomo, and solves it.

    moirai-emit --slack 2 --unit us graph.graphml -o model.mps \
        --map map.csv --start start.sol
    extend_pyomo.py model.mps map.csv start.sol OP OTHER solution.sol
    moirai-check solution.sol

The two ops go to different devices.  Pyomo reads no model files; HiGHS does,
and its columns and rows become Pyomo's.
"""
import highspy
import pyomo.environ as pyo

import moirai_model


def read_model(path):
    """A Pyomo model with x[name] for every column and the rows as they are."""
    highs = highspy.Highs()
    highs.silent()
    if highs.readModel(path) != highspy.HighsStatus.kOk:
        moirai_model.fail(f"{path}: HiGHS cannot read it")
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
    # Every access to an array of HiGHS copies it.
    begins, index, value = (lp.a_matrix_.start_, lp.a_matrix_.index_,
                            lp.a_matrix_.value_)
    for i, name in enumerate(names):
        for k in range(begins[i], begins[i + 1]):
            rows[index[k]].append(value[k] * model.x[name])
    model.rows = pyo.ConstraintList()
    for row, least, most in zip(rows, lp.row_lower_, lp.row_upper_):
        model.rows.add((None if least == -highspy.kHighsInf else least,
                        pyo.quicksum(row),
                        None if most == highspy.kHighsInf else most))
    return model


path, columns, start, one, other, solution = moirai_model.arguments()
moirai_model.check_slack(path)
pairs = moirai_model.columns_apart(columns, one, other)
model = read_model(path)
model.apart = pyo.ConstraintList()
for a, b in pairs:
    model.apart.add(model.x[a] + model.x[b] <= 1)

values = moirai_model.read_start(start)
for name in model.x:
    model.x[name].set_value(values.get(name, 0), skip_validation=True)
result = pyo.SolverFactory("appsi_highs").solve(
    model, warmstart=True, load_solutions=False)
if not pyo.check_optimal_termination(result):
    moirai_model.fail(result.solver.termination_condition)
model.solutions.load_from(result)
moirai_model.write_solution(
    solution, pyo.value(model.makespan),
    ((name, pyo.value(model.x[name])) for name in model.x))
