# SPDX-License-Identifier: Apache-2.0
"""Claims about networks that the Python module runs, each a function without
arguments.

    claims_run.py TOP_SRCDIR FOLDER [CLAIM...]
"""
import gc
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading

import numpy as np

import moirai
from claims_support import (RESIDUAL, raised, refused, residual_placement,
                            run_claims)


def a_network_runs_as_its_framework_does():
    x, y = (np.load(RESIDUAL / name) for name in ("input0.npy", "output0.npy"))
    placement = residual_placement()
    assert np.allclose(placement.run(x), y, rtol=1e-4, atol=1e-4)
    # Not dense: copied.  Of no type: converted.
    for turned in np.asfortranarray(x), x.tolist():
        assert np.array_equal(placement.run(turned), placement.run(x))
    with placement.executor() as executor:
        spec, = executor.inputs
        assert spec.shape == x.shape and spec.dtype == "f32"
        assert np.array_equal(executor.run(**{spec.name: x}),
                              placement.run(x))
        out = np.empty_like(y)
        assert executor.run(x, out=out) is out
        assert np.allclose(out, y, rtol=1e-4, atol=1e-4)
        assert executor.plan().lstrip().startswith("{")
        for wrong in ((), (x, x), (x[:, :1],)):
            assert refused(executor.run, *wrong).status == moirai.Status.USAGE
        assert "no input" in str(refused(executor.run, nothing=x))
        raised(TypeError, executor.run, x, **{spec.name: x})
        assert "dense" in str(refused(executor.run, x, out=out[..., ::-1]))
    assert "closed" in str(refused(executor.run, x))


def arrays_are_converted_if_no_value_can_change():
    placement = residual_placement()
    x = np.load(RESIDUAL / "input0.npy")
    with placement.executor() as executor:
        half = x.astype("f2")
        assert np.array_equal(executor.run(half), executor.run(half.astype("f4")))
        assert np.array_equal(executor.run(np.ones(x.shape, bool)),
                              executor.run(np.ones(x.shape, "f4")))
        for wide in x.astype("f8"), x.astype("i8"), x.astype("c8"):
            error = refused(executor.run, wide)
            assert error.status == moirai.Status.USAGE
            assert f"has elements of {wide.dtype}, the network takes float32" \
                "; convert it, as by .astype('float32')" in str(error), error
    small = moirai.Tensor("x", "u8", (3,), 3)
    make = moirai._executor.converted
    assert make([1, 2, 255], small).tolist() == [1, 2, 255]
    for wrong in [1, 2, 256], [1, 2, -1]:
        assert "does not hold" in str(refused(make, wrong, small)), wrong
    for wrong in [1.5, 2, 3], np.array([1, 2, 3]), ["a", "b", "c"]:
        assert "has elements of" in str(refused(make, wrong, small)), wrong


def masks_are_refused():
    placement = residual_placement()
    x = np.load(RESIDUAL / "input0.npy")
    with placement.executor() as executor:
        masked = np.ma.masked_less(x, 0)
        assert "is a masked array" in str(refused(executor.run, masked))
        unmasked = np.ma.masked_array(x)
        assert np.array_equal(executor.run(unmasked), executor.run(x))
        out = np.ma.masked_array(executor.run(x))
        assert "not a dense" in str(refused(executor.run, x, out=out))


def outputs_that_overlap_are_refused():
    import onnx

    def value(name):
        return onnx.helper.make_tensor_value_info(
            name, onnx.TensorProto.FLOAT, [4])

    model = onnx.helper.make_model(onnx.helper.make_graph(
        [onnx.helper.make_node("Neg", ["x"], ["y"]),
         onnx.helper.make_node("Abs", ["x"], ["z"])], "two", [value("x")],
        [value("y"), value("z")]),
        opset_imports=[onnx.helper.make_opsetid("", 16)], ir_version=8)
    x, a, b = (np.full(4, k, "f4") for k in (-3, 0, 0))
    both = np.zeros(7, "f4")
    with moirai.place(model, "cpu", time=1).executor() as executor:
        executor.run(x, out=[a, b])
        assert a.tolist() == [3] * 4 == b.tolist()
        for wrong in [a, a], [both[:4], both[3:]]:
            assert "'z' overlaps that of output 'y'" in str(
                refused(executor.run, x, out=wrong))
        assert "'z' overlaps that of input 'x'" in str(
            refused(executor.run, x, out=[a, x]))


def networks_of_the_data_run_as_their_frameworks_do():
    data = os.environ.get("MOIRAI_DATA")
    for name in ("small_bert/model.onnx", "small_gpt2/model.xml",
                 "small_trunk/model.xml") if data else ():
        model = pathlib.Path(data, "runnable", name)
        given, wanted = ([np.load(path) for path in sorted(
            model.parent.glob(f"{kind}*.npy"))] for kind in ("input", "output"))
        results = moirai.place(model, moirai.discover(gpus="none", cpus=2),
                               time=1).run(*given)
        results = results if isinstance(results, tuple) else (results,)
        assert len(results) == len(wanted)
        for one, right in zip(results, wanted):
            assert np.allclose(one, right, rtol=1e-4, atol=1e-5), name


def requests_run_in_flight():
    x, y = (np.load(RESIDUAL / name) for name in ("input0.npy", "output0.npy"))
    placement = residual_placement()
    with placement.executor(in_flight=2) as executor:
        waiting = [executor.submit(x * k) for k in range(5)]
        results = [one.result() for one in waiting]
        for k, one in enumerate(results):
            assert np.allclose(one, executor.run(x * k), atol=1e-5)
    assert np.allclose(results[1], y, rtol=1e-4, atol=1e-4)


def requests_outlive_their_executor():
    x, y = (np.load(RESIDUAL / name) for name in ("input0.npy", "output0.npy"))
    placement = residual_placement()
    with placement.executor() as executor:
        requests = [executor.submit(x) for _ in range(4)]
        dropped = executor.submit(x)
        del dropped
    executor.close()
    del executor, placement
    gc.collect()
    for one in requests:
        assert np.allclose(one.result(), y, rtol=1e-4, atol=1e-4)
        assert one.result() is one.result()


SUBMITS = """
import sys, numpy, moirai
model, cluster, x = sys.argv[1:]
executor = moirai.place(model, cluster, time=5).executor()
kept = [executor.submit(numpy.load(x)) for _ in range(3)]
cycle = [executor.submit(numpy.load(x)), executor]
cycle.append(cycle)
"""


def an_exit_with_pending_requests_prints_nothing():
    done = subprocess.run(
        [sys.executable, "-c", SUBMITS, RESIDUAL / "model.onnx",
         RESIDUAL / "model.cluster.xml", RESIDUAL / "input0.npy"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=60)
    assert done.returncode == 0 and done.stdout == "", done


FORKS = """
import os, signal, sys, numpy, moirai
model, cluster, x, y = sys.argv[1:]
x, y = numpy.load(x), numpy.load(y)
placement = moirai.place(model, cluster, time=5)
placement.run(x)
executor = placement.executor()
request = executor.submit(x)
child = os.fork()
if child == 0:
    signal.alarm(50)
    for call, given in ((placement.run, (x,)), (executor.run, (x,)),
                        (executor.submit, (x,)), (request.result, ())):
        try:
            call(*given)
        except moirai.MoiraiError as error:
            assert "forked" in str(error) and error.status == 6, error
        else:
            raise AssertionError(call)
    executor.close()
    with placement.executor() as own:
        assert numpy.allclose(own.run(x), y, rtol=1e-4, atol=1e-4)
    del request
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert numpy.allclose(request.result(), y, rtol=1e-4, atol=1e-4)
"""


def a_forked_process_is_refused_and_ends():
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKS, RESIDUAL / "model.onnx",
         RESIDUAL / "model.cluster.xml", RESIDUAL / "input0.npy",
         RESIDUAL / "output0.npy"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        timeout=60)
    assert done.returncode == 0 and done.stdout == "", done


def every_element_type_has_a_numpy_type():
    import onnx

    header = pathlib.Path(sys.argv[1], "src", "moirai.h").read_text(
        encoding="utf-8")
    listed, = re.findall(r"dtype is one of([^.]*)\.", header)
    names = re.findall(r'"(\w+)"', listed)
    kinds = {name: moirai.Tensor("x", name, (2,), 0).numpy_dtype()
             for name in names}
    assert len(set(kinds.values())) == len(names) == 13
    real, sys.modules["ml_dtypes"] = sys.modules["ml_dtypes"], None
    assert moirai.Tensor("x", "bf16", (2,), 4).numpy_dtype() == np.dtype("u2")
    sys.modules["ml_dtypes"] = real
    protos = {one: getattr(onnx.TensorProto, proto) for one, proto in zip(
        names, ("DOUBLE", "FLOAT", "FLOAT16", "BFLOAT16", "INT64", "INT32",
                "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8",
                "BOOL"))}

    def value(name, kind):
        return onnx.helper.make_tensor_value_info(name, protos[kind], [2])

    model = onnx.helper.make_model(onnx.helper.make_graph(
        [onnx.helper.make_node("Where", ["which", f"a_{one}", f"b_{one}"],
                               [f"y_{one}"]) for one in names], "all",
        [value("which", "bool"), *(value(f"{side}_{one}", one)
                                   for one in names for side in "ab")],
        [value(f"y_{one}", one) for one in names]),
        opset_imports=[onnx.helper.make_opsetid("", 16)], ir_version=8)
    with moirai.place(model, "cpu", time=1).executor() as executor:
        assert [one.dtype for one in executor.outputs] == names
        sides = [np.array(two, kinds[one]) for one in names
                 for two in ((1, 0), (0, 1))]
        results = executor.run(np.array([True, False]), *sides)
    for one, result in zip(names, results):
        assert result.dtype == kinds[one] and result.tolist() == [1, 1], one


def an_onnx_model_in_memory_runs_with_its_weights():
    import onnx

    model = onnx.load(RESIDUAL / "model.onnx")
    x = np.load(RESIDUAL / "input0.npy")
    wanted = moirai.place(RESIDUAL / "model.onnx", "cpu", time=1).run(x)
    for source in (model, model.SerializeToString()):
        placement = moirai.place(source, "cpu", time=1)
        gc.collect()
        assert np.array_equal(placement.run(x), wanted)


def an_input_with_a_value_is_a_constant():
    import onnx

    info = onnx.helper.make_tensor_value_info
    numbers = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    model = onnx.helper.make_model(onnx.helper.make_graph(
        [onnx.helper.make_node("Cast", ["rate"], ["factor"], to=numbers[0]),
         onnx.helper.make_node("Mul", ["x", "factor"], ["y"])], "scaled",
        [info("x", numbers[0], [3]), info("rate", numbers[1], [])],
        [info("y", numbers[0], [3])]),
        opset_imports=[onnx.helper.make_opsetid("", 16)], ir_version=8)
    x = np.arange(3, dtype="f4")
    for value in {"rate": 3}, {"rate": np.int64(3)}, "rate=3":
        placement = moirai.place(model, "cpu", time=1, value=value)
        assert np.array_equal(placement.run(x), 3 * x)
    assert "no number" in str(refused(moirai.read, model,
                                      value={"rate": 0.5}))


def threads_share_a_placement():
    x, y = (np.load(RESIDUAL / name) for name in ("input0.npy", "output0.npy"))
    placement = residual_placement()
    right = []

    def run():
        right.append(np.allclose(placement.run(x), y, rtol=1e-4, atol=1e-4))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert right == [True] * 4


def a_torch_module_is_placed_and_run():
    import torch

    torch.manual_seed(1)
    module = torch.nn.Sequential(
        torch.nn.Conv2d(3, 8, 3, padding=1), torch.nn.ReLU(),
        torch.nn.Flatten(), torch.nn.Linear(8 * 8 * 8, 10)).eval()
    x = torch.rand(1, 3, 8, 8)
    placement = moirai.place(module, "cpu", example_inputs=(x,), time=5)
    with torch.no_grad():
        wanted = module(x)
    given = placement.run(x)
    assert isinstance(given, torch.Tensor)
    assert torch.allclose(given, wanted, rtol=1e-4, atol=1e-5)
    module, x = module.to(torch.bfloat16), x.to(torch.bfloat16)
    with torch.no_grad():
        wanted = module(x)
    given = moirai.place(module, "cpu", example_inputs=(x,), time=5).run(x)
    assert given.dtype == torch.bfloat16
    assert torch.allclose(given, wanted, rtol=2e-2, atol=2e-2)
    folder = pathlib.Path(tempfile.gettempdir())
    before = set(folder.glob("moirai-*"))
    del placement
    gc.collect()
    assert len(set(folder.glob("moirai-*")) - before) == 0


if __name__ == "__main__":
    run_claims(globals())
