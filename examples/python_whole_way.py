# SPDX-License-Identifier: Apache-2.0
"""From a network to its outputs on several devices, cell by cell.

    python3 python_whole_way.py MODEL CLUSTER INPUT.npy OUTPUT.npy

places MODEL on CLUSTER, shows the placement, writes its mixed-integer program,
its solution and its report into the working folder, runs it on INPUT, and
compares the result with OUTPUT.
"""
import sys

import numpy as np

import moirai

model, cluster, given, wanted = sys.argv[1:]

# %% The network, and how operators of it are fused.
graph = moirai.read(model)
coarse = graph.coarsen()
print(graph, "->", coarse)

# %% The devices.
devices = moirai.cluster(cluster)
print(devices)

# %% The placement, with a proven bound.
placement = moirai.place(
    graph, devices, time=10,
    progress=lambda now: now.gap is None or now.gap > 0.0001)
print(placement)
for op, device, start_us, end_us in placement.schedule[:5]:
    print(f"{start_us:9.3f} {end_us:9.3f} us  {device:4} {op}")

# %% It is checked by definition, and can be checked again by moirai-check.
assert placement.violations == [], placement.violations
placement.write("placement.sol")

# %% The same problem for any MILP solver, and the page that shows the answer.
placement.emit("placement.lp")
placement.report("placement.html")

# %% Its execution, with the caller's arrays.
x, y = np.load(given), np.load(wanted)
with placement.executor() as executor:
    print(executor)
    result = executor.run(x)
worst = np.max(np.abs(result - y))
print("equal" if np.allclose(result, y, rtol=1e-4, atol=1e-4) else
      f"different by {worst:g}")
