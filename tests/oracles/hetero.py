#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plugin HETERO of OpenVINO runs networks as --for openvino places them.

    hetero.py FOLDER

HETERO itself is real; the GPUs are copies of the CPU plugin with other names.
Prints a line of TAP for each claim.  MOIRAI_DATA adds networks of that folder.
"""
import json
import os
import subprocess
import sys

import numpy as np
import openvino as ov
from openvino import opset13 as op
from openvino.passes import ConstantFolding, Manager

NAMES = {"CPU": "CPU", "GPU.0": "CPU_0", "GPU.1": "CPU_1"}
failures = claims = 0


def claim(holds, text):
    global failures, claims
    claims += 1
    failures += not holds
    print("ok" if holds else "not ok", claims, "-", text)


def open_core():
    core = ov.Core()
    libs = os.path.join(os.path.dirname(ov.__file__), "libs")
    for name in NAMES.values():
        if name != "CPU":
            core.register_plugin(
                os.path.join(libs, "libopenvino_intel_cpu_plugin.so"), name)
    return core


def branches(path):
    """Two branches, shape arithmetic, a split, and a shared constant."""
    random = np.random.default_rng(1)

    def weights(*shape):
        return op.constant(random.standard_normal(shape).astype(np.float32))

    x = op.parameter([4, 256], np.float32, name="x")
    shared = weights(256, 256)
    left = op.relu(op.matmul(x, shared, False, False))
    right = op.tanh(op.matmul(x, weights(256, 256), False, False))
    for _ in range(4):
        left = op.relu(op.matmul(left, weights(256, 256), False, False))
        right = op.tanh(op.matmul(right, shared, False, False))
    # Only its shape is used: the graph has neither it nor what it reads.
    unused = op.slice(weights(300, 256), np.array([0]), np.array([256]),
                      np.array([1]), np.array([0]))
    joined = op.reshape(op.concat([left, right], 0), op.concat(
        [np.array([-1]), op.gather(op.shape_of(unused), np.array([0]), 0)],
        0), False)
    parts = op.split(joined, 0, 2)
    out = op.add(parts.output(0), op.multiply(
        parts.output(1), np.float32(2)))
    ov.save_model(ov.Model([out], [x]), path, compress_to_fp16=False)
    return [random.standard_normal((4, 256)).astype(np.float32)]


def write_cluster(path, memory):
    with open(path, "w") as out:
        out.write(f"""<cluster>
  <device id="A" model="rtx3060" memory_bytes="{memory}"/>
  <device id="B" model="rtx4090" memory_bytes="{memory}"/>
  <device id="cpu" model="ddr5-2ch" memory_bytes="{memory}"/>
  <link between="cpu A" kind="pcie4-x16"/>
  <link between="cpu B" kind="pcie4-x16"/>
  <link between="A B" kind="pcie4-x16"/>
</cluster>
""")


def read_folded(core, path):
    """As moirai-runtime(7) says: HETERO does not fold shapes across devices."""
    model = core.read_model(path)
    passes = Manager()
    passes.register_pass(ConstantFolding())
    passes.run_passes(model)
    return model


def compare(core, name, path, inputs, share):
    weights = os.path.getsize(path.replace(".xml", ".bin"))
    write_cluster("hetero.cluster.xml", int(share * weights))
    subprocess.run(["moirai-place", "-q", "--for", "openvino", "-c",
                    "hetero.cluster.xml", "--rounds", "1", path, "-o",
                    "affinity.json"], check=True, stdout=subprocess.DEVNULL)
    with open("affinity.json") as file:
        devices = json.load(file)
    model = read_folded(core, path)
    claim(all(node.get_friendly_name() in devices for node in model.get_ops()),
          f"{name}: each op has a device")
    expected = core.compile_model(model, "CPU")(inputs).to_tuple()
    expected = [np.array(value) for value in expected]
    for node in model.get_ops():
        node.get_rt_info()["affinity"] = NAMES[
            devices[node.get_friendly_name()]]
    used = {NAMES[devices[node.get_friendly_name()]]
            for node in model.get_ops()
            if node.get_type_name() not in ("Constant", "Parameter", "Result")}
    compiled = core.compile_model(model, "HETERO:CPU,CPU_0,CPU_1")
    claim(set(compiled.get_property("EXECUTION_DEVICES")) == used and
          len(used) > 1,
          f"{name}: HETERO uses {len(used)} devices")
    outputs = compiled(inputs).to_tuple()
    claim(all(np.allclose(a, b, atol=1e-4) for a, b in
              zip(expected, outputs, strict=True)), f"{name}: equal outputs")
    node = next(node for node in model.get_ops()
                if node.get_type_name() == "MatMul" or
                node.get_type_name() == "Convolution")
    node.get_rt_info()["affinity"] = "NOWHERE"
    try:
        core.compile_model(model, "HETERO:CPU,CPU_0,CPU_1")
        claim(False, f"{name}: affinities are followed")
    except RuntimeError as error:
        claim("NOWHERE" in str(error), f"{name}: affinities are followed")


def main(folder):
    os.chdir(folder)
    core = open_core()
    compare(core, "branches", "branches.xml", branches("branches.xml"), 0.6)
    data = os.path.join(os.environ.get("MOIRAI_DATA", ""), "runnable")
    for name in sorted(os.listdir(data)) if os.path.isdir(data) else ():
        path = os.path.join(data, name, "model.xml")
        inputs = sorted(file for file in os.listdir(os.path.dirname(path))
                        if file.startswith("input"))
        compare(core, name, path, [
            np.load(os.path.join(data, name, file)) for file in inputs], 0.5)
    print(f"1..{claims}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
