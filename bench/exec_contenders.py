# SPDX-License-Identifier: Apache-2.0
"""The runtimes compared by exec.py.  Each is constructed with a model's path,
a folder for its own files and a number of threads; run(runs) returns the
median of that many timed runs in ms, after WARM_UPS others.  Those beside
Moirai take their inputs as arrays, and have outputs()."""
import json
import os
import statistics
import subprocess
import time

WARM_UPS = 5
EXEC_DIFFERS = 4


def median_ms(run, runs):
    times = []
    for number in range(WARM_UPS + runs):
        begin = time.perf_counter()
        run()
        if number >= WARM_UPS:
            times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


def execute(arguments):
    """Returns the report of moirai-exec, which is on the PATH."""
    command = ["moirai-exec", "-q", "--json"] + arguments
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode not in (0, EXEC_DIFFERS):
        last = ran.stderr.strip().splitlines()[-1:] or ["says nothing"]
        raise RuntimeError(f"{' '.join(command)}: {last[0]}")
    return json.loads(ran.stdout)


class Moirai:
    name = "moirai"

    def __init__(self, model, folder, threads):
        self.reference = os.path.join(folder, "reference")
        self.arguments = ["--threads", str(threads), model]
        self.inputs = []
        self.rows = []  # of every round

    def run(self, runs):
        given = ["--runs", str(runs)]
        for number, path in enumerate(self.inputs):
            given += ["--input", f"{number}={path}"]
        if os.path.isdir(self.reference):
            given += ["--reference", self.reference]
        self.rows.append(execute(given + self.arguments))
        return self.rows[-1]["measured_us"] / 1000

    def overhead(self):
        """Makespan over the time in kernels, in the round with the least."""
        return min(
            row["measured_us"] / sum(d["busy_us"] for d in row["by_device"])
            for row in self.rows
        )

    def error(self):
        return max(row["max_error"] for row in self.rows)


class OpenVino:
    name = "openvino"

    def __init__(self, model, _, threads):
        import openvino

        self.model = openvino.Core().compile_model(
            model,
            "CPU",
            {
                "INFERENCE_PRECISION_HINT": "f32",
                "PERFORMANCE_HINT": "LATENCY",
                "INFERENCE_NUM_THREADS": threads,
                "NUM_STREAMS": 1,
            },
        )
        self.request = self.model.create_infer_request()

    def give(self, arrays):
        import openvino

        for number, array in enumerate(arrays):
            self.request.set_input_tensor(number, openvino.Tensor(array))

    def run(self, runs):
        return median_ms(self.request.infer, runs)

    def outputs(self):
        return [
            self.request.get_output_tensor(number).data.copy()
            for number in range(len(self.model.outputs))
        ]


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, model, folder, threads):
        import onnxruntime

        from exec_onnx import translate

        path = os.path.join(folder, "model.onnx")
        translate(model, path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(
            path, options, providers=["CPUExecutionProvider"]
        )
        os.remove(path)
        self.inputs = {}

    def give(self, arrays):
        names = [given.name for given in self.session.get_inputs()]
        self.inputs = dict(zip(names, arrays))

    def run(self, runs):
        return median_ms(lambda: self.session.run(None, self.inputs), runs)

    def outputs(self):
        return self.session.run(None, self.inputs)


def others(model, folder, threads):
    """Returns those that are installed; prints a line for each that is not."""
    found = []
    for contender in (OpenVino, OnnxRuntime):
        try:
            found.append(contender(model, folder, threads))
        except ImportError as missing:
            print(f"SKIP  {contender.name}: there is no {missing.name}")
    return found
