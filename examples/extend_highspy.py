#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds rows to a model of moirai-emit with highspy, and solves it.

    moirai-emit --slack 2 --unit us graph.graphml -o model.mps \
        --map map.csv --start start.sol
    extend_highspy.py model.mps map.csv start.sol OP OTHER solution.sol
    moirai-check solution.sol

The two ops go to different devices.  highspy reads LP files, too, and those
that end in .gz.
"""
import highspy

import moirai_model

model, columns, start, one, other, solution = moirai_model.arguments()
moirai_model.check_slack(model)
pairs = moirai_model.columns_apart(columns, one, other)

highs = highspy.Highs()
highs.silent()
if highs.readModel(model) != highspy.HighsStatus.kOk:
    moirai_model.fail(f"{model}: HiGHS cannot read it")
names = highs.getLp().col_names_
index = {name: i for i, name in enumerate(names)}
for a, b in pairs:
    highs.addRow(-highspy.kHighsInf, 1, 2, [index[a], index[b]], [1, 1])

values = moirai_model.read_start(start)
warm = highspy.HighsSolution()
warm.col_value = [values.get(name, 0) for name in names]
highs.setSolution(warm)
highs.run()
status = highs.getModelStatus()
if status != highspy.HighsModelStatus.kOptimal:
    moirai_model.fail(highs.modelStatusToString(status))
moirai_model.write_solution(solution, highs.getObjectiveValue(),
                            zip(names, highs.getSolution().col_value))
