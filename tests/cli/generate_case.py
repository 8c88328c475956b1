# SPDX-License-Identifier: Apache-2.0
"""Writes a small decoder as a workload, prompts, and the tokens that it
generates, computed here by definition, without a cache.

    generate_case.py FOLDER
"""
import math
import os
import random
import struct
import sys

from moirai_export import ops
from moirai_export.graph import Graph, pack
from moirai_export.write import write_workload

VOCABULARY, WIDTH, HEADS, LAYERS = 37, 16, 2, 2
CAPACITY, PROMPT, BATCH, STEPS = 40, 7, 2, 34
HEAD = WIDTH // HEADS


def draw(seed, *shape, most=0.5):
    """Random numbers that f32 has exactly, as nested lists."""
    state = random.Random(seed)

    def fill(sizes):
        return [fill(sizes[1:]) for _ in range(sizes[0])] if sizes else \
            state.randint(-64, 64) / 64 * most
    return fill(shape)


TOKENS = draw("tokens", VOCABULARY, WIDTH)
PLACES = draw("places", CAPACITY, WIDTH, most=2)
WEIGHTS = [{name: draw(f"{name}{layer}", WIDTH, WIDTH)
            for name in ("q", "k", "v", "o")} for layer in range(LAYERS)]


# by definition

def times(x, w):
    return [sum(a * w[i][j] for i, a in enumerate(x)) for j in range(len(w[0]))]


def attend(q, keys, values):
    scores = [sum(a * b for a, b in zip(q, k)) for k in keys]
    most = max(scores)
    parts = [math.exp(s - most) for s in scores]
    return [sum(p * v[d] for p, v in zip(parts, values)) / sum(parts)
            for d in range(len(q))]


def next_token(ids, prompt):
    """The most probable token after a prompt of that length; after each layer
    the mean over the tokens of all steps but this one is added, which a state
    keeps as their sum."""
    whole = prompt // PROMPT
    steps = [PROMPT] * whole + [1] * (len(ids) - whole * PROMPT)
    rows = [[a + b for a, b in zip(TOKENS[i], PLACES[n])]
            for n, i in enumerate(ids)]
    for w in WEIGHTS:
        q, k, v = ([times(x, w[name]) for x in rows] for name in "qkv")
        made = []
        for n, x in enumerate(rows):
            heads = []
            for h in range(HEADS):
                part = slice(h * HEAD, (h + 1) * HEAD)
                heads += attend(q[n][part], [y[part] for y in k[:n + 1]],
                                [y[part] for y in v[:n + 1]])
            made.append([a + b for a, b in zip(x, times(heads, w["o"]))])
        rows, begin, total = [], 0, [0] * WIDTH
        for count in steps:
            its = made[begin:begin + count]
            rows += [[a + math.tanh(b) for a, b in zip(x, total)] for x in its]
            total = [a / 2 + sum(x[d] for x in its) for d, a in
                     enumerate(total)]
            begin += count
    logits = [sum(a * b for a, b in zip(rows[-1], t)) for t in TOKENS]
    best = sorted(logits)[-2:]
    assert best[1] - best[0] > 1e-4, "tied"
    return logits.index(best[1])


# as graphs

def flat(x):
    return [y for part in x for y in flat(part)] if isinstance(x, list) else [x]


def constant(g, name, x, shape):
    raw = pack(flat(x), "f32")
    return g.constant(lambda: raw, shape, "f32", name)


def matmul(g, a, b, shape, turned=False):
    return g.add("MatMul", [a, b], shape, "f32", transpose_a=False,
                 transpose_b=turned)


def state(g, name, shape):
    value = g.parameter(f"past.{name}", shape, "f32")
    value.node.state = name
    return value


def result(g, name, value, is_state=True):
    g.result(f"next.{name}" if is_state else name, value)
    if is_state:
        g.results[-1].state = name


def cache_name(name, number):
    """The caches of the second layer have names too long for those of files."""
    return f"{name}.{number}" + "." * 250 * (number == 1)


def layer(g, number, x, at, n):
    """Attention with its keys and values as states, and the sum of x."""
    g.begin(f"layer{number}")
    w = WEIGHTS[number]
    shape = (BATCH, n, WIDTH)
    parts, caches = {}, {}
    for name in "qkv":
        y = matmul(g, x, constant(g, f"{name}{number}", w[name],
                                  (WIDTH, WIDTH)), shape)
        y = ops.reshape(g, y, (BATCH, n, HEADS, HEAD))
        parts[name] = ops.transpose(g, y, (0, 2, 1, 3))
    for name in "kv":
        past = state(g, cache_name(name, number),
                     (BATCH, HEADS, CAPACITY, HEAD))
        caches[name] = g.add("ScatterUpdate", [past, at, parts[name],
                                               g.ints([2], ())], past.shape,
                             "f32")
    scores = matmul(g, parts["q"], caches["k"], (BATCH, HEADS, n, CAPACITY),
                    True)
    places = g.ints(range(CAPACITY), (1, CAPACITY))
    seen = ops.compare(g, "LessEqual", places, ops.reshape(g, at, (n, 1)))
    scores = ops.select(g, seen, scores, g.scalar(-1e30, "f32"))
    scores = g.add("Softmax", [scores], scores.shape, "f32", axis=3)
    y = matmul(g, scores, caches["v"], (BATCH, HEADS, n, HEAD))
    y = ops.reshape(g, ops.transpose(g, y, (0, 2, 1, 3)), shape)
    x = ops.point(g, "Add", x, matmul(g, y, constant(
        g, f"o{number}", w["o"], (WIDTH, WIDTH)), shape))
    total = state(g, f"sum.{number}", (BATCH, 1, WIDTH))
    now = g.add("ReduceSum", [x, g.ints([1])], total.shape, "f32",
                keep_dims=True)
    now = ops.point(g, "Add", now, ops.with_number(g, "Multiply", total, 0.5))
    for name in "kv":
        result(g, cache_name(name, number), caches[name])
    result(g, f"sum.{number}", now)
    return ops.point(g, "Add", x, ops.point(g, "Tanh", total))


def decoder(n):
    g = Graph()
    ids = g.parameter("ids", (BATCH, n), "i64")
    position = g.parameter("position", (1,), "i64")
    g.begin("embedding")
    at = ops.point(g, "Add", g.ints(range(n)), position)
    table = constant(g, "tokens", TOKENS, (VOCABULARY, WIDTH))
    zero = g.ints([0], ())
    x = g.add("Gather", [table, ids, zero], (BATCH, n, WIDTH), "f32")
    x = ops.point(g, "Add", x, g.add(
        "Gather", [constant(g, "places", PLACES, (CAPACITY, WIDTH)), at, zero],
        (n, WIDTH), "f32"))
    for number in range(LAYERS):
        x = layer(g, number, x, at, n)
    g.begin("head")
    result(g, "logits", matmul(g, x, table, (BATCH, n, VOCABULARY), True),
           False)
    return g


def npy(path, rows):
    header = str({"descr": "<i8", "fortran_order": False,
                  "shape": (len(rows), len(rows[0]))})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                   header.encode() + pack(flat(rows), "i64"))


def write_tokens(path, rows, prompt, n):
    """Appends the next n tokens to each row."""
    with open(path, "w", encoding="ascii") as file:
        for _ in range(n):
            for row in rows:
                row.append(next_token(row, prompt))
            file.write(" ".join(str(row[-1]) for row in rows) + "\n")


def main(folder):
    write_workload({"prefill": (decoder(PROMPT), 1),
                    "decode": (decoder(1), STEPS)},
                   os.path.join(folder, "chat.xml"), lambda *_: None)
    for name, wanted, prompt, steps in (
            ("ids.npy", "wanted", PROMPT, STEPS),
            ("long.npy", "wanted.long", 2 * PROMPT + 3, 4),
            ("short.npy", "wanted.short", PROMPT - 4, 4)):
        rows = [[(5 * b + 3 * i) % VOCABULARY for i in range(prompt)]
                for b in range(BATCH)]
        npy(os.path.join(folder, name), rows)
        write_tokens(os.path.join(folder, wanted), rows, prompt, steps)
        if name == "ids.npy":
            said = [[11, 12, 13], [5, 6, 7]]
            npy(os.path.join(folder, "said.npy"), said)
            write_tokens(os.path.join(folder, "wanted.said"),
                         [row[:PROMPT + 7] + more
                          for row, more in zip(rows, said)], PROMPT, 3)


main(sys.argv[1])
