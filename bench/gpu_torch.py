# SPDX-License-Identifier: Apache-2.0
"""PyTorch, in the ways a user has to make it fast; TF32 is allowed.

Each way is made with a module and its inputs, both on the GPU, and has
run(runs): the times of so many runs in ms.  A run is timed by events of the
device and by the host's clock, and the shorter one counts.
"""
import time

import torch

WARM_UPS = 10


def allow_tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.backends.cudnn.benchmark = True


def tensors(outputs):
    """The tensors of a module's outputs, in the order of moirai-export."""
    if isinstance(outputs, torch.Tensor):
        return [outputs]
    if hasattr(outputs, "to_tuple"):
        outputs = outputs.to_tuple()
    return [part for part in outputs if isinstance(part, torch.Tensor)]


class Eager:
    name = "eager"

    def __init__(self, net, inputs):
        self.net, self.inputs = net, inputs

    def call(self):
        with torch.no_grad():
            if isinstance(self.inputs, dict):
                return self.net(**self.inputs)
            return self.net(*self.inputs)

    def once(self):
        begin = torch.cuda.Event(enable_timing=True)
        end = torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        clock = time.perf_counter()
        begin.record()
        self.call()
        end.record()
        torch.cuda.synchronize()
        host = 1000 * (time.perf_counter() - clock)
        return min(host, begin.elapsed_time(end))

    def run(self, runs):
        for _ in range(WARM_UPS):
            self.call()
        return [self.once() for _ in range(runs)]


class Graph(Eager):
    """Eager kernels, replayed from a CUDA graph."""

    name = "graph"

    def __init__(self, net, inputs):
        super().__init__(net, inputs)
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                super().call()
        torch.cuda.current_stream().wait_stream(stream)
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            super().call()

    def call(self):
        self.graph.replay()


class Compiled(Eager):
    """torch.compile with CUDA graphs; optionally with frozen weights."""

    name, freezing = "compile", False

    def __init__(self, net, inputs):
        import torch._inductor.config as inductor

        torch._dynamo.reset()
        inductor.freezing = self.freezing
        super().__init__(torch.compile(net, mode="reduce-overhead"), inputs)
        for _ in range(4):
            self.call()
        torch.cuda.synchronize()


class Frozen(Compiled):
    name, freezing = "freeze", True


WAYS = {way.name: way for way in (Eager, Graph, Compiled, Frozen)}


def on_gpu(make, channels_last):
    """The module and its inputs."""
    net, inputs = make()
    net = net.cuda()
    if isinstance(inputs, dict):
        return net, {name: x.cuda() for name, x in inputs.items()}
    inputs = [x.cuda() for x in inputs]
    if channels_last:
        net = net.to(memory_format=torch.channels_last)
        inputs = [
            x.to(memory_format=torch.channels_last) if x.dim() == 4 else x
            for x in inputs
        ]
    return net, inputs


def reference(make):
    """Outputs in full precision."""
    net, inputs = make()
    net = net.cuda()
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    inputs = (
        {name: x.cuda() for name, x in inputs.items()}
        if isinstance(inputs, dict)
        else [x.cuda() for x in inputs]
    )
    outputs = [x.cpu().numpy() for x in tensors(Eager(net, inputs).call())]
    allow_tf32()
    return outputs
