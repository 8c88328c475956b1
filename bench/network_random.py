# SPDX-License-Identifier: Apache-2.0
"""Networks of random hyper-parameters for networks.py --random: one for each
seed, of one of FAMILIES, with widths, kernels, activations and forms of export
drawn at random."""
import random

import numpy

from network_builder import Net

ACTS = ["Relu", "relu6", "silu", "h_swish", "HardSwish", "gelu", "LeakyRelu"]


def width(r, least, most, step=8):
    return step * r.randint(least // step, most // step)


def inverted(g, r, batch):
    """Depthwise blocks, with and without squeeze and excitation."""
    act, bn, gate = r.choice(ACTS), r.random() < .3, r.choice(
        ["Sigmoid", "HardSigmoid"])
    x = g.conv(g.input([batch, 3, *[r.choice([160, 192, 224])] * 2]),
               width(r, 16, 48), 3, 2, act=act, bn=bn)
    excites = r.random() < .5
    for _ in range(r.randint(3, 5)):
        n, k, times = width(r, 16, 200), r.choice([3, 3, 5, 7]), r.choice(
            [1, 3, 4, 6])
        for i in range(r.randint(1, 3)):
            c = g.shape[x][1]
            stride = 2 if i == 0 and g.shape[x][2] > 7 else 1
            y = g.conv(x, c * times, act=act, bn=bn) if times > 1 else x
            y = g.conv(y, c * times, k, stride, groups=c * times, act=act,
                       bn=bn)
            if excites:
                y = g.excite(y, max(8, c // 4), gate=gate)
            y = g.conv(y, n, bn=bn)
            x = g.op("Add", x, y) if g.shape[x] == g.shape[y] else y
    return g.classifier(g.conv(x, width(r, 256, 1280), act=act, bn=bn))


def residual(g, r, batch):
    """Basic or bottleneck blocks, of several groups or one."""
    act, bn = r.choice(ACTS), r.random() < .4
    bottle, groups = r.random() < .5, r.choice([1, 1, 1, 4, 8])
    x = g.conv(g.input([batch, 3, 192, 192]), width(r, 32, 64, 16),
               r.choice([3, 7]), 2, act=act, bn=bn)
    x = g.pool(x, "MaxPool", 3, 2, 1)
    n = width(r, 48, 96, 16)
    for stage in range(r.randint(3, 4)):
        for i in range(r.randint(1, 3)):
            stride, c = 2 if stage and not i else 1, n * 2 ** stage
            if bottle:
                y = g.conv(x, c, act=act, bn=bn)
                y = g.conv(y, c, 3, stride, groups, act=act, bn=bn)
                y = g.conv(y, c * 2, bn=bn)
            else:
                y = g.conv(x, c, 3, stride, act=act, bn=bn)
                y = g.conv(y, c, 3, 1, bn=bn)
            if g.shape[x] != g.shape[y]:
                x = g.conv(x, g.shape[y][1], 1, stride, bn=bn)
            x = g.act(g.op("Add", y, x), act)
    return g.classifier(x)


def dense(g, r, batch):
    """Concatenated branches and transitions."""
    act, growth = r.choice(ACTS), width(r, 16, 48)
    x = g.conv(g.input([batch, 3, 160, 160]), width(r, 32, 64), 3, 2, act=act)
    for _ in range(r.randint(2, 4)):
        for _ in range(r.randint(2, 5)):
            y = g.act(g.batch_norm(x), act) if r.random() < .5 else x
            y = g.conv(y, 4 * growth, act=act)
            x = g.concat(x, g.conv(y, growth, r.choice([3, 3, 5])))
        x = g.conv(x, g.shape[x][1] // 16 * 8, act=act)
        x = g.pool(x, r.choice(["AveragePool", "MaxPool"]))
    return g.classifier(x)


def convolutional_mixer(g, r, batch):
    """Large depthwise kernels and wide 1x1 convolutions, channels first or
    last."""
    n, act, k = width(r, 64, 160, 16), r.choice(["gelu", "gelu_tanh"]), \
        r.choice([5, 7, 9])
    x = g.conv(g.input([batch, 3, 192, 192]), n, 4, 4, pad=0)
    for stage in range(3):
        for _ in range(r.randint(1, 3)):
            c = g.shape[x][1]
            y = g.transpose(g.conv(x, c, k, groups=c), 0, 2, 3, 1)
            y = g.linear(g.linear(g.norm(y), 4 * c, act=act), c)
            x = g.op("Add", x, g.transpose(y, 0, 3, 1, 2))
        if stage < 2:
            x = g.conv(x, 2 * g.shape[x][1], 2, 2, pad=0)
    return g.classifier(x)


def image_transformer(g, r, batch):
    heads = r.randint(3, 8)
    n, k = heads * r.choice([32, 48, 64]), r.choice([14, 16])
    x = g.tokens(g.conv(g.input([batch, 3, 224, 224]), n, k, k, pad=0))
    how = {"fused": r.random() < .5, "apart": r.random() < .3}
    act = r.choice(["gelu", "gelu_tanh", "Gelu"])
    for _ in range(r.randint(3, 6)):
        x = g.encoder(x, heads, act, **how)
    return g.linear(x, 100)


def text_transformer(g, r, batch):
    heads = r.randint(2, 12)
    n, act = heads * r.choice([32, 64]), r.choice(["gelu", "Gelu", "Relu",
                                                   "gelu_tanh"])
    x = g.embed(g.input([batch, r.choice([16, 50, 77, 128, 200])], 1000), 1000,
                n)
    first = r.random() < .5
    apart = r.random() < .3
    for _ in range(r.randint(2, 6)):
        x = g.encoder(x, heads, act, first=first, apart=apart)
    return g.linear(x, 1000 if r.random() < .3 else 64)


def pyramid(g, r, batch):
    """Encoder and decoder with skipped connections."""
    act, n = r.choice(ACTS), width(r, 16, 48)
    mode = r.choice(["nearest", "linear"])
    x, kept = g.input([batch, 3, 128, 128]), []
    for level in range(4):
        for _ in range(r.randint(1, 2)):
            x = g.conv(x, n << level, 3, act=act)
        kept.append(x)
        x = g.pool(x, "MaxPool")
    for level in reversed(range(4)):
        x = g.concat(g.resize(x, mode=mode), kept[level])
        x = g.conv(x, n << level, 3, act=act)
    return g.conv(x, 4, act="Sigmoid")


def sound(g, r, batch):
    """Convolutions over time, depthwise or not, then recurrence or none."""
    act, n = r.choice(ACTS), width(r, 64, 256, 16)
    x = g.conv(g.input([batch, width(r, 40, 80), 400]), n, 3, act=act)
    for _ in range(r.randint(3, 8)):
        if r.random() < .5:
            y = g.conv(x, n, r.choice([5, 15, 31]), groups=n, act=act)
            y = g.conv(y, n)
        else:
            y = g.conv(x, n, 3, act=act, dilation=r.choice([1, 2, 4]))
        x = g.op("Add", x, y)
    if r.random() < .3:
        x = g.recurrent("LSTM", g.transpose(x, 2, 0, 1), 64)
        return g.linear(x, 40)
    return g.conv(x, 40)


FAMILIES = (inverted, inverted, residual, residual, dense, convolutional_mixer,
            image_transformer, text_transformer, pyramid, sound)


def network(seed):
    """The function of a network: of a Net and a batch size, as in NETWORKS."""
    def made(g, batch):
        g.random = numpy.random.default_rng(seed)
        return FAMILIES[seed % len(FAMILIES)](g, random.Random(seed), batch)
    return made
