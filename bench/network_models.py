# SPDX-License-Identifier: Apache-2.0
"""Networks for networks.py, after published architectures, with random weights.

NETWORKS maps a name to a function of a Net and a batch size that adds the
network's nodes; build() makes its ONNX model.  Where exporters differ, so do
the networks: activations as one op or as several, BatchNorm folded or apart.
"""
import numpy
from onnx import TensorProto, helper

from network_builder import IR, OPSET, Net


def image(g, batch, size=224):
    return g.input([batch, 3, size, size])


def mobilenet_v1(g, batch):
    x = g.conv(image(g, batch), 32, 3, 2, act="Relu")
    for n, s in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [
            (512, 1)] * 5 + [(1024, 2), (1024, 1)]:
        c = g.shape[x][1]
        x = g.conv(x, c, 3, s, groups=c, act="Relu")
        x = g.conv(x, n, act="Relu")
    return g.classifier(x)


def inverted(g, x, hidden, n, k, stride, act, squeezed=0, gate="Sigmoid",
             squeeze_act="Relu", bn=False, mean="GlobalAveragePool"):
    c = g.shape[x][1]
    y = g.conv(x, hidden, act=act, bn=bn) if hidden != c else x
    y = g.conv(y, hidden, k, stride, groups=hidden, act=act, bn=bn)
    if squeezed:
        y = g.excite(y, squeezed, squeeze_act, gate, mean)
    y = g.conv(y, n, bn=bn)
    return g.op("Add", x, y) if stride == 1 and c == n else y


def stages(g, x, rows, act, k=3, **how):
    for expand, n, times, stride, *own_k in rows:
        for i in range(times):
            x = inverted(g, x, expand * g.shape[x][1], n,
                         own_k[0] if own_k else k, stride if i == 0 else 1, act,
                         **how)
    return x


def mobilenet_v2(g, batch, bn=False):
    x = g.conv(image(g, batch), 32, 3, 2, act="relu6", bn=bn)
    x = stages(g, x, [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2),
                      (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2),
                      (6, 320, 1, 1)], "relu6", bn=bn)
    return g.classifier(g.conv(x, 1280, act="relu6", bn=bn))


def mobilenet_v2_bn(g, batch):
    return mobilenet_v2(g, batch, bn=True)


V3_LARGE = [  # k, hidden, n, squeeze, h-swish, stride
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1),
    (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1), (5, 120, 40, 1, 0, 1),
    (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
    (3, 184, 80, 0, 1, 1), (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1),
    (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1), (5, 960, 160, 1, 1, 1)]
V3_SMALL = [
    (3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1),
    (5, 96, 40, 1, 1, 2), (5, 240, 40, 1, 1, 1), (5, 240, 40, 1, 1, 1),
    (5, 120, 48, 1, 1, 1), (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2),
    (5, 576, 96, 1, 1, 1), (5, 576, 96, 1, 1, 1)]


def mobilenet_v3_body(g, x, rows, act):
    x = g.conv(x, 16, 3, 2, act=act)
    for k, hidden, n, squeeze, swish, stride in rows:
        x = inverted(g, x, hidden, n, k, stride, act if swish else "Relu",
                     hidden // 4 if squeeze else 0, "HardSigmoid")
    return x


def mobilenet_v3_large(g, batch, rows=V3_LARGE, act="HardSwish"):
    x = mobilenet_v3_body(g, image(g, batch), rows, act)
    x = g.conv(x, 6 * g.shape[x][1], act=act)
    x = g.op("Flatten", g.mean(x), out=g.shape[x][:2])
    return g.gemm(g.gemm(x, 1280, act=act), 1000)


def mobilenet_v3_small(g, batch):
    return mobilenet_v3_large(g, batch, V3_SMALL, "h_swish")


def efficientnet_b0(g, batch):
    x = g.conv(image(g, batch), 32, 3, 2, act="silu")
    for expand, n, times, stride, k in [
            (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5),
            (6, 80, 3, 2, 3), (6, 112, 3, 1, 5), (6, 192, 4, 2, 5),
            (6, 320, 1, 1, 3)]:
        for i in range(times):
            c = g.shape[x][1]
            x = inverted(g, x, expand * c, n, k, stride if i == 0 else 1,
                         "silu", max(1, c // 4), squeeze_act="silu",
                         mean="ReduceMean")
    return g.classifier(g.conv(x, 1280, act="silu"))


def mnasnet(g, batch):
    x = g.conv(image(g, batch), 32, 3, 2, act="Relu", bn=True)
    x = g.conv(x, 32, 3, groups=32, act="Relu", bn=True)
    x = g.conv(x, 16, bn=True)
    x = stages(g, x, [(3, 24, 3, 2), (3, 40, 3, 2, 5), (6, 80, 3, 2, 5),
                      (6, 96, 2, 1), (6, 192, 4, 2, 5), (6, 320, 1, 1)], "Relu",
               bn=True)
    return g.classifier(g.conv(x, 1280, act="Relu", bn=True))


def shuffle(g, x):
    b, c, h, w = g.shape[x]
    y = g.transpose(g.reshape(x, b, 2, c // 2, h, w), 0, 2, 1, 3, 4)
    return g.reshape(y, b, c, h, w)


def shufflenet_v2(g, batch):
    x = g.conv(image(g, batch), 24, 3, 2, act="Relu")
    x = g.pool(x, "MaxPool", 3, 2, 1)
    for n, times in (116, 4), (232, 8), (464, 4):
        for i in range(times):
            half = n // 2
            if i:
                left, right = g.split(x, 2)
            else:
                c = g.shape[x][1]
                left = g.conv(g.conv(x, c, 3, 2, groups=c), half, act="Relu")
                right = x
            y = g.conv(right, half, act="Relu")
            y = g.conv(y, half, 3, 1 if i else 2, groups=half)
            x = shuffle(g, g.concat(left, g.conv(y, half, act="Relu")))
    return g.classifier(g.conv(x, 1024, act="Relu"))


def ghostnet(g, batch):
    def ghost(x, n, act):
        y = g.conv(x, n // 2, act=act)
        return g.concat(y, g.conv(y, n // 2, 3, groups=n // 2, act=act))

    x = g.conv(image(g, batch), 16, 3, 2, act="Relu")
    for k, hidden, n, squeeze, stride in [
            (3, 16, 16, 0, 1), (3, 48, 24, 0, 2), (3, 72, 24, 0, 1),
            (5, 72, 40, 1, 2), (5, 120, 40, 1, 1), (3, 240, 80, 0, 2),
            (3, 200, 80, 0, 1), (3, 184, 80, 0, 1), (3, 480, 112, 1, 1),
            (3, 672, 112, 1, 1), (5, 672, 160, 1, 2), (5, 960, 160, 1, 1)]:
        c, y = g.shape[x][1], ghost(x, hidden, "Relu")
        if stride > 1:
            y = g.conv(y, hidden, k, stride, groups=hidden)
        if squeeze:
            y = g.excite(y, hidden // 4, gate="HardSigmoid")
        y = ghost(y, n, None)
        if stride > 1 or c != n:
            x = g.conv(g.conv(x, c, k, stride, groups=c), n)
        x = g.op("Add", y, x)
    return g.classifier(g.conv(x, 960, act="Relu"))


def squeezenet(g, batch):
    x = g.conv(image(g, batch), 96, 7, 2, act="Relu")
    x = g.pool(x, "MaxPool", 3, 2)
    for i, n in enumerate((16, 16, 32, 32, 48, 48, 64, 64)):
        s = g.conv(x, n, act="Relu")
        x = g.concat(g.conv(s, 4 * n, act="Relu"),
                     g.conv(s, 4 * n, 3, act="Relu"))
        if i in (2, 6):
            x = g.pool(x, "MaxPool", 3, 2)
    return g.mean(g.conv(x, 1000, act="Relu"))


def resnet(g, batch, layers, bottleneck, bn=False, groups=1, base=64):
    x = g.conv(image(g, batch), 64, 7, 2, act="Relu", bn=bn)
    x = g.pool(x, "MaxPool", 3, 2, 1)
    for stage, times in enumerate(layers):
        n = base * 2 ** stage
        for i in range(times):
            stride = 2 if i == 0 and stage else 1
            if bottleneck:
                y = g.conv(x, n, act="Relu", bn=bn)
                y = g.conv(y, n, 3, stride, groups, act="Relu", bn=bn)
                y = g.conv(y, 256 * 2 ** stage, bn=bn)
            else:
                y = g.conv(x, n, 3, stride, act="Relu", bn=bn)
                y = g.conv(y, n, 3, bn=bn)
            if g.shape[x] != g.shape[y]:
                x = g.conv(x, g.shape[y][1], 1, stride, bn=bn)
            x = g.op("Relu", g.op("Add", y, x))
    return g.classifier(x)


def resnet18(g, batch):
    return resnet(g, batch, (2, 2, 2, 2), False)


def resnet50(g, batch):
    return resnet(g, batch, (3, 4, 6, 3), True)


def resnet50_bn(g, batch):
    """As Caffe2 exports it: a normalization, scale and shift of each."""
    return resnet(g, batch, (3, 4, 6, 3), True, bn=True)


def resnext50(g, batch):
    return resnet(g, batch, (3, 4, 6, 3), True, groups=32, base=128)


def densenet121(g, batch):
    x = g.conv(image(g, batch), 64, 7, 2, act="Relu", bn=True)
    x = g.pool(x, "MaxPool", 3, 2, 1)
    for stage, times in enumerate((6, 12, 24, 16)):
        for _ in range(times):
            y = g.conv(g.op("Relu", g.batch_norm(x)), 128, act="Relu", bn=True)
            x = g.concat(x, g.conv(y, 32, 3, bias=False))
        x = g.op("Relu", g.batch_norm(x))
        if stage < 3:
            x = g.pool(g.conv(x, g.shape[x][1] // 2, bias=False), "AveragePool")
    return g.classifier(x)


def vgg11(g, batch):
    x = image(g, batch)
    for n, times in (64, 1), (128, 1), (256, 2), (512, 2), (512, 2):
        for _ in range(times):
            x = g.conv(x, n, 3, act="Relu")
        x = g.pool(x, "MaxPool")
    x = g.op("Flatten", x, out=[batch, 512 * 49])
    return g.gemm(g.gemm(g.gemm(x, 4096, "Relu"), 4096, "Relu"), 1000)


def googlenet(g, batch):
    def conv(x, n, k=1, stride=1):
        return g.conv(x, n, k, stride, act="Relu")

    x = g.pool(conv(image(g, batch), 64, 7, 2), "MaxPool", 3, 2, 1)
    x = g.op("LRN", x, size=5)
    x = g.pool(conv(conv(x, 64), 192, 3), "MaxPool", 3, 2, 1)
    for i, (a, b, c, d, e, f) in enumerate([
            (64, 96, 128, 16, 32, 32), (128, 128, 192, 32, 96, 64),
            (192, 96, 208, 16, 48, 64), (160, 112, 224, 24, 64, 64),
            (128, 128, 256, 24, 64, 64), (112, 144, 288, 32, 64, 64),
            (256, 160, 320, 32, 128, 128), (256, 160, 320, 32, 128, 128),
            (384, 192, 384, 48, 128, 128)]):
        if i in (2, 7):
            x = g.pool(x, "MaxPool", 3, 2, 1)
        x = g.concat(conv(x, a), conv(conv(x, b), c, 3), conv(conv(x, d), e, 5),
                     conv(g.pool(x, "MaxPool", 3, 1, 1), f))
    return g.classifier(x)


def inception_v3(g, batch):
    def conv(x, n, k=1, stride=1, pad=None):
        return g.conv(x, n, k, stride, act="Relu", pad=pad)

    x = conv(image(g, batch, 299), 32, 3, 2, 0)
    x = g.pool(conv(conv(x, 32, 3, pad=0), 64, 3), "MaxPool", 3)
    x = g.pool(conv(conv(x, 80), 192, 3, pad=0), "MaxPool", 3)
    for n in 32, 64, 64:
        x = g.concat(conv(x, 64), conv(conv(x, 48), 64, 5),
                     conv(conv(conv(x, 64), 96, 3), 96, 3),
                     conv(g.pool(x, "AveragePool", 3, 1, 1,
                                 count_include_pad=1), n))
    x = g.concat(conv(x, 384, 3, 2, 0),
                 conv(conv(conv(x, 64), 96, 3), 96, 3, 2, 0),
                 g.pool(x, "MaxPool", 3))
    for n in 128, 160, 160, 192:
        y = conv(conv(conv(x, n), n, (1, 7)), 192, (7, 1))
        z = conv(conv(conv(x, n), n, (7, 1)), n, (1, 7))
        z = conv(conv(z, n, (7, 1)), 192, (1, 7))
        x = g.concat(conv(x, 192), y, z, conv(g.pool(
            x, "AveragePool", 3, 1, 1, count_include_pad=1), 192))
    x = g.concat(conv(conv(x, 192), 320, 3, 2, 0),
                 conv(conv(x, 192), 192, 3, 2, 0), g.pool(x, "MaxPool", 3))
    for _ in range(2):
        y, z = conv(x, 384), conv(conv(x, 448), 384, 3)
        x = g.concat(conv(x, 320), conv(y, 384, (1, 3)), conv(y, 384, (3, 1)),
                     conv(z, 384, (1, 3)), conv(z, 384, (3, 1)), conv(g.pool(
                         x, "AveragePool", 3, 1, 1, count_include_pad=1), 192))
    return g.classifier(x)


def regnet_y(g, batch):
    x = g.conv(image(g, batch), 32, 3, 2, act="Relu")
    for n, times in (48, 1), (104, 3), (208, 6), (440, 6):
        for i in range(times):
            c, stride = g.shape[x][1], 1 if i else 2
            y = g.conv(g.conv(x, n, act="Relu"), n, 3, stride, groups=n // 8,
                       act="Relu")
            y = g.conv(g.excite(y, c // 4), n)
            x = x if i else g.conv(x, n, 1, stride)
            x = g.op("Relu", g.op("Add", x, y))
    return g.classifier(x)


def convnext_t(g, batch, act="gelu"):
    def norm(x):
        return g.transpose(g.norm(g.transpose(x, 0, 2, 3, 1)), 0, 3, 1, 2)

    x = norm(g.conv(image(g, batch), 96, 4, 4, pad=0))
    for n, times in (96, 3), (192, 3), (384, 9), (768, 3):
        if n != 96:
            x = g.conv(norm(x), n, 2, 2, pad=0)
        for _ in range(times):
            y = g.transpose(g.conv(x, n, 7, groups=n), 0, 2, 3, 1)
            y = g.linear(g.linear(g.norm(y), 4 * n, act=act), n)
            y = g.op("Mul", y, g.vector(n, 0.5))
            x = g.op("Add", x, g.transpose(y, 0, 3, 1, 2))
    return g.classifier(norm(g.mean(x)))


def yolo(g, batch):
    def conv(x, n, k=1, stride=1):
        return g.conv(x, n, k, stride, act="silu")

    def csp(x, n, times, add=True):
        y, z = g.split(conv(x, n), 2)
        parts = [y, z]
        for _ in range(times):
            w = conv(conv(z, n // 2, 3), n // 2, 3)
            z = g.op("Add", z, w) if add else w
            parts.append(z)
        return conv(g.concat(*parts), n)

    x = conv(conv(image(g, batch, 320), 16, 3, 2), 32, 3, 2)
    x = conv(csp(x, 32, 1), 64, 3, 2)
    low = csp(x, 64, 2)
    mid = csp(conv(low, 128, 3, 2), 128, 2)
    x = conv(csp(conv(mid, 256, 3, 2), 256, 1), 128)
    p = g.pool(x, "MaxPool", 5, 1, 2)
    q = g.pool(p, "MaxPool", 5, 1, 2)
    top = conv(g.concat(x, p, q, g.pool(q, "MaxPool", 5, 1, 2)), 256)
    mid = csp(g.concat(g.resize(top), mid), 128, 1, False)
    low = csp(g.concat(g.resize(mid), low), 64, 1, False)
    outs = []
    for x in low, mid, top:
        b, _, h, w = g.shape[x]
        y = g.concat(g.conv(conv(conv(x, 64, 3), 64, 3), 64),
                     g.conv(conv(conv(x, 80, 3), 80, 3), 80))
        outs.append(g.reshape(y, b, 144, h * w))
    boxes, scores = [g.slice(g.concat(*outs, axis=2), 1, *r)
                     for r in ((0, 64), (64, 144))]
    b, _, n = g.shape[boxes]
    boxes = g.transpose(g.reshape(boxes, b, 4, 16, n), 0, 2, 1, 3)
    boxes = g.op("Softmax", boxes, axis=1)
    boxes = g.op("Conv", boxes, g.constant(numpy.arange(16).reshape(1, 16, 1,
                                                                    1)),
                 out=[b, 1, 4, n], kernel_shape=[1, 1])
    return g.concat(g.reshape(boxes, b, 4, n), g.op("Sigmoid", scores))


def unet(g, batch):
    x, skips = g.input([batch, 1, 128, 128]), []
    for n in 32, 64, 128:
        x = g.conv(g.conv(x, n, 3, act="Relu", bn=True), n, 3, act="Relu",
                   bn=True)
        skips.append(x)
        x = g.pool(x, "MaxPool")
    x = g.conv(x, 256, 3, act="Relu", bn=True)
    for skip in reversed(skips):
        b, c, h, w = g.shape[skip]
        x = g.op("ConvTranspose", x, g.weight(g.shape[x][1], c, 2, 2),
                 g.vector(c), out=[b, c, h, w], kernel_shape=[2, 2],
                 strides=[2, 2])
        x = g.conv(g.concat(skip, x), c, 3, act="Relu", bn=True)
    return g.conv(x, 2)


def deeplab(g, batch):
    x = g.conv(image(g, batch), 32, 3, 2, act="relu6")
    x = stages(g, x, [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2)], "relu6")
    for i in range(6):
        c = g.shape[x][1]
        y = g.conv(x, 6 * c, act="relu6")
        y = g.conv(y, 6 * c, 3, groups=6 * c, act="relu6", dilation=2)
        y = g.conv(y, 96 if i else 64)
        x = g.op("Add", x, y) if i > 1 else y
    m = g.conv(g.mean(x), 256, act="Relu")
    m = g.op("Expand", m, g.ints(batch, 256, 28, 28), out=[batch, 256, 28, 28])
    x = g.conv(g.concat(m, g.conv(x, 256, act="Relu")), 256, act="Relu")
    return g.resize(g.conv(x, 21), 8, "linear")


def text_detector(g, batch):
    """Differentiable binarization on a small MobileNetV3."""
    x, levels = g.conv(image(g, batch, 320), 8, 3, 2, act="h_swish"), []
    for k, hidden, n, swish, stride in [
            (3, 8, 8, 0, 1), (3, 32, 16, 0, 2), (3, 40, 16, 0, 1),
            (5, 40, 24, 0, 2), (5, 64, 24, 0, 1), (3, 120, 40, 1, 2),
            (3, 104, 40, 1, 1), (3, 240, 56, 1, 1), (5, 336, 80, 1, 2),
            (5, 480, 80, 1, 1)]:
        if stride == 2:
            levels.append(x)
        x = inverted(g, x, hidden, n, k, stride,
                     "h_swish" if swish else "Relu")
    up = None
    for level in [x] + levels[:0:-1]:
        y = g.conv(level, 96)
        y = g.op("Add", y, g.excite(y, 24, gate="HardSigmoid"))
        up = g.op("Add", y, g.resize(up)) if up else y
    x = g.conv(up, 24, 3, act="Relu", bn=True)
    for n, act in (24, "Relu"), (1, "Sigmoid"):
        b, c, h, w = g.shape[x]
        x = g.act(g.op("ConvTranspose", x, g.weight(c, n, 2, 2), g.vector(n),
                       out=[b, n, 2 * h, 2 * w], kernel_shape=[2, 2],
                       strides=[2, 2]), act)
    return x


def text_recognizer(g, batch):
    x = g.input([batch, 3, 32, 256])
    x = g.conv(x, 16, 3, (2, 2), act="h_swish")
    for k, hidden, n, stride in [
            (3, 16, 16, (2, 1)), (3, 72, 24, (2, 1)), (5, 96, 40, (2, 1)),
            (5, 240, 40, 1), (5, 120, 48, 1), (5, 288, 96, (2, 1)),
            (5, 576, 96, 1)]:
        x = inverted(g, x, hidden, n, k, stride, "h_swish", hidden // 4,
                     "HardSigmoid")
    b, c, _, w = g.shape[x]
    x = g.transpose(g.reshape(x, b, c, w), 2, 0, 1)
    x = g.recurrent("LSTM", g.recurrent("LSTM", x, 96), 96)
    return g.op("Softmax", g.linear(x, 1000), axis=-1)


def video(g, batch):
    x = g.conv(g.input([batch, 3, 8, 64, 64]), 32, 3, 1, act="Relu", bn=True)
    x = g.pool(x, "MaxPool")
    for n in 64, 128, 256:
        x = g.conv(x, n, 3, 1, act="Relu", bn=True)
        x = g.pool(g.conv(x, n, (1, 3, 3), act="Relu"), "MaxPool", 1, 2)
    return g.classifier(x, 400)


def vit(g, batch, n, heads, layers, act="gelu", patch=16, **how):
    x = g.tokens(g.conv(image(g, batch), n, patch, patch, pad=0))
    first = g.op("Expand", g.weight(1, 1, n, fan_in=1), g.ints(batch, 1, n),
                 out=[batch, 1, n])
    x = g.concat(first, x, axis=1)
    x = g.op("Add", x, g.weight(1, g.shape[x][1], n, fan_in=1))
    for _ in range(layers):
        x = g.encoder(x, heads, act, **how)
    return g.gemm(g.reshape(g.slice(g.norm(x), 1, 0, 1), batch, n), 1000)


def vit_s(g, batch):
    return vit(g, batch, 384, 6, 12)


def deit_t(g, batch):
    return vit(g, batch, 192, 3, 12, "Gelu", fused=True)


def dino_s14(g, batch):
    return vit(g, batch, 384, 6, 6, patch=14, fused=True, apart=True)


def swin_t(g, batch):
    def windows(x, back=None):
        b, h, w, c = back or g.shape[x]
        if back:
            y = g.reshape(x, b, h // 7, w // 7, 7, 7, c)
            y = g.transpose(y, 0, 1, 3, 2, 4, 5)
            return g.reshape(y, b, h, w, c)
        y = g.transpose(g.reshape(x, b, h // 7, 7, w // 7, 7, c), 0, 1, 3, 2, 4,
                        5)
        return g.reshape(y, b * h * w // 49, 49, c)

    def roll(x, by):
        for axis in 1, 2:
            x = g.concat(g.slice(x, axis, by, 1 << 31),
                         g.slice(x, axis, 0, by), axis=axis)
        return x

    x = g.conv(image(g, batch), 96, 4, 4, pad=0)
    x = g.norm(g.transpose(x, 0, 2, 3, 1))
    for stage, (times, heads) in enumerate(((2, 3), (2, 6), (6, 12), (2, 24))):
        if stage:
            rows = [g.op("Slice", x, g.ints(i, j), g.ints(1 << 31, 1 << 31),
                         g.ints(1, 2), g.ints(2, 2),
                         out=[batch, g.shape[x][1] // 2, g.shape[x][2] // 2,
                             g.shape[x][3]])
                    for j in (0, 1) for i in (0, 1)]
            n = 2 * g.shape[x][3]
            x = g.linear(g.norm(g.concat(*rows, axis=3)), n, bias=False)
        for i in range(times):
            shape = g.shape[x]
            y = g.norm(x)
            shifted = i % 2 and shape[1] > 7
            y = windows(roll(y, 3) if shifted else y)
            bias = g.weight(1, heads, 49, 49, fan_in=1)
            y = g.attention(y, heads, mask=bias, fused=True)
            y = windows(y, shape)
            x = g.op("Add", x, roll(y, -3) if shifted else y)
            y = g.linear(g.norm(x), 4 * shape[3], act="gelu")
            x = g.op("Add", x, g.linear(y, shape[3]))
    x = g.norm(x)
    y = g.op("ReduceMean", x, g.ints(1, 2), out=[batch, g.shape[x][3]],
             keepdims=0)
    return g.gemm(y, 1000)


def bert(g, batch, n=768, heads=12, layers=4, length=128, **how):
    ids = g.input([batch, length], 1000)
    mask = g.op("Cast", g.input([batch, length], 2), to=TensorProto.FLOAT)
    x = g.norm(g.embed(ids, 1000, n))
    mask = g.reshape(mask, batch, 1, 1, length)
    mask = g.op("Mul", g.op("Sub", 1.0, mask, out=g.shape[mask]), -10000.0)
    for _ in range(layers):
        x = g.encoder(x, heads, first=False, mask=mask, **how)
    return x


def minilm(g, batch):
    return bert(g, batch, 384, 12, 6, 64, apart=True)


def distilbert(g, batch):
    return bert(g, batch, 768, 12, 6, 64, act="Gelu")


def causal(g, length):
    return g.constant(numpy.triu(numpy.full((1, 1, length, length), -1e9,
                                            "f4"), 1))


def gpt2(g, batch):
    x = g.embed(g.input([batch, 64], 5000), 5000, 768)
    mask = causal(g, 64)
    for _ in range(6):
        x = g.encoder(x, 12, "gelu_tanh", mask=mask)
    return g.linear(g.norm(x), 5000, bias=False)


def llama(g, batch, n=512, heads=8, kv_heads=4, length=64, layers=6):
    half = n // heads // 2
    angles = numpy.arange(length)[:, None] * 1e4 ** (-numpy.arange(half) / half)
    cos, sin = [g.constant(numpy.tile(f(angles), 2)[None, None])
                for f in (numpy.cos, numpy.sin)]

    def rotary(x):
        left, right = g.slice(x, 3, 0, half), g.slice(x, 3, half, 2 * half)
        turned = g.concat(g.op("Neg", right), left, axis=3)
        return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))

    ids = g.input([batch, length], 4000)
    x = g.op("Gather", g.weight(4000, n, fan_in=1), ids, out=[batch, length, n])
    mask = causal(g, length)
    for _ in range(layers):
        y = g.attention(g.rms_norm(x), heads, mask, rotary, kv_heads, False)
        x = g.op("Add", x, y)
        y = g.rms_norm(x)
        y = g.op("Mul", g.linear(y, 1376, "silu", False),
                 g.linear(y, 1376, bias=False))
        x = g.op("Add", x, g.linear(y, n, bias=False))
    return g.linear(g.rms_norm(x), 4000, bias=False)


def tagger(g, batch):
    ids = g.input([batch, 48], 2000)
    x = g.transpose(g.embed(ids, 2000, 128), 1, 0, 2)
    x = g.recurrent("LSTM", g.recurrent("LSTM", x, 128), 128)
    return g.op("LogSoftmax", g.linear(x, 20), axis=-1)


def enhancer(g, batch):
    """Masks of a noisy spectrum by a GRU."""
    x = g.input([100, batch, 257])
    y = g.linear(x, 256, "Relu")
    y = g.recurrent("GRU", g.recurrent("GRU", y, 256, False), 256, False)
    return g.op("Mul", g.linear(y, 257, "Sigmoid"), x)


def separator(g, batch):
    """Conv-TasNet: dilated depthwise convolutions over time."""
    x = g.conv(g.input([batch, 1, 8000]), 256, 16, 8, act="Relu", pad=0)
    y = g.conv(x, 128)
    for i in range(8):
        z = g.op("PRelu", g.conv(y, 256), g.constant([[0.25]]))
        z = g.batch_norm(z)
        z = g.conv(z, 256, 3, groups=256, dilation=2 ** i)
        z = g.op("PRelu", z, g.constant([[0.25]]))
        y = g.op("Add", y, g.conv(g.batch_norm(z), 128))
    y = g.op("Mul", x, g.conv(y, 256, act="Sigmoid"))
    return g.op("ConvTranspose", y, g.weight(256, 1, 16), out=[batch, 1, 8000],
                kernel_shape=[16], strides=[8])


def speech_encoder(g, batch):
    """Convolutions over samples, then a transformer."""
    x = g.input([batch, 1, 16000])
    for k, stride in (10, 5), (3, 2), (3, 2), (3, 2), (2, 2), (2, 2):
        x = g.conv(x, 256, k, stride, act="gelu", pad=0)
    x = g.norm(g.transpose(x, 0, 2, 1))
    for _ in range(4):
        x = g.encoder(x, 4)
    return g.linear(x, 32)


def conformer(g, batch):
    x = g.linear(g.input([batch, 100, 144]), 144)
    for _ in range(6):
        y = g.linear(g.linear(g.norm(x), 576, "silu"), 144)
        x = g.op("Add", x, g.op("Mul", y, 0.5))
        x = g.op("Add", x, g.attention(g.norm(x), 4))
        y = g.conv(g.transpose(g.norm(x), 0, 2, 1), 288)
        a, b = g.split(y, 2)
        y = g.op("Mul", a, g.op("Sigmoid", b))
        y = g.conv(y, 144, 31, groups=144, act="silu", bn=True)
        x = g.op("Add", x, g.transpose(g.conv(y, 144), 0, 2, 1))
        y = g.linear(g.linear(g.norm(x), 576, "silu"), 144)
        x = g.norm(g.op("Add", x, g.op("Mul", y, 0.5)))
    return x


NETWORKS = {f.__name__: f for f in (
    mobilenet_v1, mobilenet_v2, mobilenet_v2_bn, mobilenet_v3_large,
    mobilenet_v3_small, efficientnet_b0, mnasnet, shufflenet_v2, ghostnet,
    squeezenet, resnet18, resnet50, resnet50_bn, resnext50, densenet121, vgg11,
    googlenet, inception_v3, regnet_y, convnext_t, yolo, unet, deeplab,
    text_detector, text_recognizer, video, vit_s, deit_t, dino_s14, swin_t,
    bert, minilm, distilbert, gpt2, llama, tagger, enhancer, separator,
    speech_encoder, conformer)}


def build(name, batch):
    """Returns the model of that name and its inputs."""
    g = Net()
    out = NETWORKS[name](g, batch)
    graph = helper.make_graph(
        g.nodes, name, g.inputs, [helper.make_tensor_value_info(
            out, TensorProto.FLOAT, g.shape[out])], g.initializers)
    model = helper.make_model(graph, ir_version=IR, opset_imports=[
        helper.make_opsetid("", OPSET)])
    return model, g.feeds
