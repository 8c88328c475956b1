# SPDX-License-Identifier: Apache-2.0
"""Writes small decoders as GGUF files, a prompt, and the tokens that they
generate, computed here by definition.

    gguf_case.py FOLDER
"""
import math
import operator
import os
import random
import struct
import sys

WIDTH, HEADS, GROUPS, INNER, VOCABULARY = 64, 4, 2, 96, 61
PROMPT, STEPS, EPS, WINDOW = 9, 16, 1e-5, 7
USED, ORIGINAL, AMPLITUDE = 2, 24, 1.25
RANK, CONTENT, PLACE, SCALE = 32, 16, 8, 1.5
F32, F16, Q4_0, Q5_0, Q8_0, BF16 = 0, 1, 2, 6, 8, 30
TYPES = {"f32": F32, "f16": F16, "q4_0": Q4_0, "q8_0": Q8_0, "bf16": BF16}


def round_f16(x):
    return struct.unpack("<e", struct.pack("<e", x))[0]


def f16(x):
    return struct.pack("<e", x)


def bf16(x):
    return struct.pack("<f", x)[2:]


class Weights:
    """Random tensors that their types have exactly, as rows, and their bytes."""

    def __init__(self, seed, kind):
        self.random = random.Random(seed)
        self.kind = kind
        self.rows, self.infos = {}, []

    def integers(self, low, high, count):
        """What as many calls of randint return, in a third of the time."""
        n, draw, drawn = high - low + 1, self.random.getrandbits, []
        bits = n.bit_length()
        while len(drawn) < count:
            number = draw(bits)
            if number < n:
                drawn.append(low + number)
        return drawn

    def matrix(self, name, rows, columns, most, experts=0, kind=None):
        """With experts a list of their rows."""
        kind = kind or self.kind
        limits = {"q8_0": (-127, 127), "q4_0": (-8, 7)}
        low, high = limits.get(kind, (-64, 64))
        unit = 2.0 ** math.floor(math.log2(most / high))
        numbers = [self.integers(low, high, columns)
                   for _ in range(rows * max(experts, 1))]
        pack = {"f32": lambda x: struct.pack("<f", x * unit),
                "f16": lambda x: f16(x * unit),
                "bf16": lambda x: bf16(x * unit)}.get(kind)
        data = b""
        for row in numbers:
            if pack:
                data += b"".join(map(pack, row))
                continue
            for i in range(0, columns, 32):
                block = row[i:i + 32]
                data += f16(unit)
                data += struct.pack("32b", *block) if kind == "q8_0" else \
                    bytes(block[k] + 8 | block[k + 16] + 8 << 4
                          for k in range(16))
        made = [[x * unit for x in row] for row in numbers]
        self.rows[name] = [made[i * rows:(i + 1) * rows]
                           for i in range(experts)] or made
        dims = (columns, rows, experts) if experts else (columns, rows)
        self.infos.append((name, dims, TYPES[kind], data))

    def vector(self, name, size, low, high, experts=0):
        row = [self.random.randint(low, high) / 64
               for _ in range(size * max(experts, 1))]
        self.rows[name] = [row[i * size:(i + 1) * size]
                           for i in range(experts)] or row
        self.infos.append((name, (size, experts) if experts else (size,), F32,
                           struct.pack(f"<{len(row)}f", *row)))

    def divide(self, name, **sizes):
        """Names parts of the rows of a matrix."""
        rows = self.rows[name]
        for part, size in sizes.items():
            prefix = name.rpartition(".weight")[0].rpartition(".")[0]
            self.rows[f"{prefix}.{part}.weight"] = rows[:size]
            rows = rows[size:]


# the file

def text(x):
    return struct.pack("<Q", len(x)) + x.encode()


def value(x):
    if isinstance(x, str):
        return struct.pack("<I", 8) + text(x)
    if isinstance(x, float):
        return struct.pack("<If", 6, x)
    return struct.pack("<II", 4, x)


def write(path, keys, infos):
    header = b"GGUF" + struct.pack("<IQQ", 3, len(infos), len(keys))
    header += b"".join(text(k) + value(v) for k, v in keys.items())
    at, data = 0, b""
    for name, dims, kind, raw in infos:
        header += text(name) + struct.pack("<I", len(dims))
        header += struct.pack(f"<{len(dims)}QIQ", *dims, kind, at)
        raw += bytes(-len(raw) % 32)
        at += len(raw)
        data += raw
    with open(path, "wb") as file:
        file.write(header + bytes(-len(header) % 32) + data)


# by definition

def times(x, rows):
    return [sum(map(operator.mul, x, row)) for row in rows]


def norm(x, weight):
    scale = 1 / math.sqrt(sum(a * a for a in x) / len(x) + EPS)
    return [a * scale * w for a, w in zip(x, weight)]


def softmax(x):
    shares = [math.exp(a - max(x)) for a in x]
    return [a / sum(shares) for a in shares]


class Decoder:
    def __init__(self, name, architecture, kind, layers=2, head=16, base=1e4,
                 scale=1.0, cache="f16", experts=0, seed=0):
        self.name, self.architecture, self.layers = name, architecture, layers
        self.head, self.base, self.scale, self.cache = head, base, scale, cache
        self.is_gemma = architecture == "gemma3"
        self.is_oss = architecture == "gpt-oss"
        self.is_latent = architecture == "deepseek2"
        self.experts = experts
        w = self.weights = Weights(f"{name}{seed}", kind)
        self.keys = {
            "general.architecture": architecture,
            f"{architecture}.block_count": layers,
            f"{architecture}.context_length": 128,
            f"{architecture}.embedding_length": WIDTH,
            f"{architecture}.feed_forward_length": INNER,
            f"{architecture}.attention.head_count": HEADS,
            f"{architecture}.attention.head_count_kv": GROUPS,
            f"{architecture}.attention.key_length": head,
            f"{architecture}.attention.value_length": head,
            f"{architecture}.attention.layer_norm_rms_epsilon": EPS,
            f"{architecture}.rope.freq_base": base,
        }
        if scale != 1:
            self.keys[f"{architecture}.rope.scaling.type"] = \
                "yarn" if self.is_oss else "linear"
            self.keys[f"{architecture}.rope.scaling.factor"] = scale
        if self.is_gemma or self.is_oss:
            self.keys[f"{architecture}.attention.sliding_window"] = WINDOW
        if self.is_oss:
            self.keys["gpt-oss.rope.scaling.original_context_length"] = ORIGINAL
        if experts:
            self.keys[f"{architecture}.expert_count"] = experts
            self.keys[f"{architecture}.expert_used_count"] = USED
        if self.is_latent:
            self.keys |= {
                "deepseek2.attention.head_count_kv": 1,
                "deepseek2.attention.key_length": RANK + PLACE,
                "deepseek2.attention.value_length": RANK,
                "deepseek2.attention.key_length_mla": CONTENT + PLACE,
                "deepseek2.attention.value_length_mla": head,
                "deepseek2.attention.kv_lora_rank": RANK,
                "deepseek2.rope.dimension_count": PLACE,
                "deepseek2.leading_dense_block_count": 1,
                "deepseek2.expert_gating_func": 2,
                "deepseek2.expert_weights_norm": 1,
                "deepseek2.expert_weights_scale": SCALE}
        if architecture == "phi3":
            self.keys["phi3.rope.scaling.original_context_length"] = ORIGINAL
            self.keys["phi3.rope.scaling.attn_factor"] = AMPLITUDE
            self.keys["phi3.rope.dimension_count"] = head // 2
        w.matrix("token_embd.weight", VOCABULARY, WIDTH,
                 1 / 8 if self.is_gemma else 1)
        w.vector("output_norm.weight", WIDTH, 32, 96)
        if architecture != "llama":
            w.matrix("output.weight", VOCABULARY, WIDTH, 0.25)
        elif not experts:
            w.vector("rope_freqs.weight", head // 2, 64, 500)
        if architecture == "phi3":
            w.vector("rope_factors_short.weight", head // 4, 64, 500)
            w.vector("rope_factors_long.weight", head // 4, 64, 500)
        for i in range(layers):
            self.add_layer(w, f"blk.{i}.")

    def add_layer(self, w, at):
        sizes = {"attn_q": (HEADS * self.head, WIDTH),
                 "attn_k": (GROUPS * self.head, WIDTH),
                 "attn_v": (GROUPS * self.head, WIDTH),
                 "attn_output": (WIDTH, HEADS * self.head),
                 "ffn_gate": (INNER, WIDTH), "ffn_up": (INNER, WIDTH),
                 "ffn_down": (WIDTH, INNER)}
        norms = {"attn_norm": WIDTH,
                 "post_attention_norm" if self.is_oss else "ffn_norm": WIDTH}
        if self.architecture in ("qwen3", "qwen3moe", "gemma3"):
            norms |= {"attn_q_norm": self.head, "attn_k_norm": self.head}
        if self.is_gemma:
            norms |= {"post_attention_norm": WIDTH, "post_ffw_norm": WIDTH}
        if self.architecture == "phi3":
            q, k, v = (sizes.pop(f"attn_{name}")[0] for name in "qkv")
            sizes["attn_qkv"] = q + k + v, WIDTH
            sizes["ffn_up"] = 2 * sizes.pop("ffn_gate")[0], WIDTH
        experts = self.experts
        if self.is_latent:
            for name in "qkv":
                del sizes[f"attn_{name}"]
            sizes["attn_q"] = HEADS * (CONTENT + PLACE), WIDTH
            sizes["attn_kv_a_mqa"] = RANK + PLACE, WIDTH
            w.matrix(f"{at}attn_k_b.weight", RANK, CONTENT, 0.5, HEADS)
            w.matrix(f"{at}attn_v_b.weight", self.head, RANK, 0.5, HEADS)
            norms["attn_kv_a_norm"] = RANK
            if at == "blk.0.":
                experts = 0
            else:
                w.vector(f"{at}exp_probs_b.bias", experts, -8, 8)
                for name in ("ffn_gate", "ffn_up", "ffn_down"):
                    w.matrix(f"{at}{name}_shexp.weight", *sizes[name], 0.5)
        if experts:
            w.matrix(f"{at}ffn_gate_inp.weight", self.experts, WIDTH, 0.5,
                     kind="f32")
        for name, (rows, columns) in sizes.items():
            of = experts if name.startswith("ffn") else 0
            name += "_exps" if of else ""
            w.matrix(f"{at}{name}.weight", rows, columns, 0.5, of)
            if self.is_oss:
                w.vector(f"{at}{name}.bias", rows, -32, 32, of)
        if self.architecture == "phi3":
            w.divide(f"{at}attn_qkv.weight", attn_q=q, attn_k=k, attn_v=v)
            w.divide(f"{at}ffn_up.weight", ffn_gate=INNER, ffn_up=INNER)
        if self.is_oss:
            w.vector(f"{at}ffn_gate_inp.bias", self.experts, -32, 32)
            w.vector(f"{at}attn_sinks.weight", HEADS, -64, 128)
        for name, size in norms.items():
            w.vector(f"{at}{name}.weight", size, 32, 96)
        if self.architecture == "qwen2":
            for name in ("attn_q", "attn_k", "attn_v"):
                w.vector(f"{at}{name}.bias", sizes[name][0], -32, 32)

    def rotate(self, x, position, base, scale):
        half = len(x) // (4 if self.architecture == "phi3" else 2)
        rows = self.weights.rows
        factors = rows.get("rope_freqs.weight",
                           rows.get("rope_factors_long.weight", [1] * half))
        made, amplitude = list(x), 1
        if self.is_oss:
            amplitude = 1 + 0.1 * math.log(scale)
            first, last = (half * math.log(ORIGINAL / (n * 2 * math.pi)) /
                           math.log(base) for n in (32, 1))
            first, last = max(0, math.floor(first)), math.ceil(last)
        elif self.architecture == "phi3":
            amplitude = AMPLITUDE
        for p in range(half):
            i, j = (2 * p, 2 * p + 1) if self.is_latent or \
                self.architecture == "llama" else (p, p + half)
            angle = position / factors[p] * base ** (-p / half)
            kept = 1 - min(1, max(0, (p - first) / (last - first))) \
                if self.is_oss else 0
            angle *= kept + (1 - kept) / scale
            c, s = amplitude * math.cos(angle), amplitude * math.sin(angle)
            made[i], made[j] = x[i] * c - x[j] * s, x[i] * s + x[j] * c
        return made

    def attend_latent(self, layer, x, position, past):
        get = self.weights.rows.get
        at, key = f"blk.{layer}.", CONTENT + PLACE
        both = times(x, get(f"{at}attn_kv_a_mqa.weight"))
        own = norm(both[:RANK], get(f"{at}attn_kv_a_norm.weight")) + \
            self.rotate(both[RANK:], position, self.base, 1)
        past.append([round_f16(a) for a in own])
        made = []
        queries = times(x, get(f"{at}attn_q.weight"))
        for h in range(HEADS):
            q = queries[h * key:(h + 1) * key]
            q = times(q[:CONTENT], get(f"{at}attn_k_b.weight")[h]) + \
                self.rotate(q[CONTENT:], position, self.base, 1)
            shares = softmax([sum(a * b for a, b in zip(q, k)) / math.sqrt(key)
                              for k in past])
            latent = [sum(p * k[i] for p, k in zip(shares, past))
                      for i in range(RANK)]
            made += times(latent, get(f"{at}attn_v_b.weight")[h])
        return times(made, get(f"{at}attn_output.weight"))

    def attend(self, layer, x, position, past):
        """Attention of a token; past: keys and values of those before."""
        get = self.weights.rows.get
        at, head = f"blk.{layer}.", self.head
        windowed = self.is_gemma and layer % 6 != 5 or \
            self.is_oss and layer % 2 != 1
        base, scale = (1e4, 1) if self.is_gemma and windowed else \
            (self.base, self.scale)
        parts = {}
        for name in "qkv":
            y = times(x, get(f"{at}attn_{name}.weight"))
            y = [a + b for a, b in zip(y, get(f"{at}attn_{name}.bias",
                                              [0] * len(y)))]
            y = [y[i:i + head] for i in range(0, len(y), head)]
            weight = get(f"{at}attn_{name}_norm.weight")
            if weight:
                y = [norm(h, weight) for h in y]
            if name != "v":
                y = [self.rotate(h, position, base, scale) for h in y]
            if name != "q" and self.cache == "f16":
                y = [[round_f16(a) for a in h] for h in y]
            parts[name] = y
        past.append((parts["k"], parts["v"]))
        seen = past[-WINDOW:] if windowed else past
        made = []
        for h, q in enumerate(parts["q"]):
            g = h // (HEADS // GROUPS)
            scores = [sum(a * b for a, b in zip(q, k[g])) / math.sqrt(head)
                      for k, _ in seen]
            sinks = get(f"{at}attn_sinks.weight")
            shares = softmax(scores + [sinks[h]] if sinks else scores)
            made += [sum(p * v[g][d] for p, (_, v) in zip(shares, seen))
                     for d in range(head)]
        return [a + b for a, b in zip(times(made, get(f"{at}attn_output.weight")),
                                      get(f"{at}attn_output.bias", [0] * WIDTH))]

    def act(self, x):
        if self.is_gemma:
            return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) *
                                          (x + 0.044715 * x ** 3)))
        return x / (1 + math.exp(-x))

    def act_oss(self, gate, up):
        gate, up = min(gate, 7), min(max(up, -7), 7)
        return gate / (1 + math.exp(-1.702 * gate)) * (up + 1)

    def feed(self, at, h):
        rows = self.weights.rows

        def dense(end):
            y = [self.act(a) * b for a, b in
                 zip(times(h, rows[f"{at}ffn_gate{end}"]),
                     times(h, rows[f"{at}ffn_up{end}"]))]
            return times(y, rows[f"{at}ffn_down{end}"])

        if f"{at}ffn_gate_inp.weight" not in rows:
            return dense(".weight")

        def product(name, x, expert):
            y = times(x, rows[f"{at}ffn_{name}_exps.weight"][expert])
            bias = rows.get(f"{at}ffn_{name}_exps.bias")
            return [a + b for a, b in zip(y, bias[expert])] if bias else y

        logits = times(h, rows[f"{at}ffn_gate_inp.weight"])
        logits = [a + b for a, b in zip(logits, rows.get(
            f"{at}ffn_gate_inp.bias", [0] * self.experts))]
        made, ranks = [0] * WIDTH, logits
        if self.is_latent:
            sigmoids = [1 / (1 + math.exp(-a)) for a in logits]
            ranks = [a + b for a, b in zip(sigmoids,
                                           rows[f"{at}exp_probs_b.bias"])]
            made = dense("_shexp.weight")
        order = sorted(range(self.experts), key=lambda i: -ranks[i])
        self.least = min(self.least,
                         ranks[order[USED - 1]] - ranks[order[USED]])
        shares = softmax([logits[i] for i in order[:USED]])
        if self.is_latent:
            total = sum(sigmoids[i] for i in order[:USED])
            shares = [SCALE * sigmoids[i] / total for i in order[:USED]]
        for share, i in zip(shares, order):
            act = self.act_oss if self.is_oss else \
                lambda a, b: self.act(a) * b
            y = [act(a, b) for a, b in zip(product("gate", h, i),
                                           product("up", h, i))]
            made = [a + share * b for a, b in zip(made, product("down", y, i))]
        return made

    def logits(self, token, position, past):
        rows = self.weights.rows
        scale = math.sqrt(WIDTH) if self.is_gemma else 1
        x = [a * scale for a in rows["token_embd.weight"][token]]
        for layer in range(self.layers):
            at = f"blk.{layer}."
            attend = self.attend_latent if self.is_latent else self.attend
            y = attend(layer, norm(x, rows[f"{at}attn_norm.weight"]),
                       position, past[layer])
            if self.is_gemma:
                y = norm(y, rows[f"{at}post_attention_norm.weight"])
            x = [a + b for a, b in zip(x, y)]
            name = "post_attention_norm" if self.is_oss else "ffn_norm"
            y = self.feed(at, norm(x, rows[f"{at}{name}.weight"]))
            if self.is_gemma:
                y = norm(y, rows[f"{at}post_ffw_norm.weight"])
            x = [a + b for a, b in zip(x, y)]
        x = norm(x, rows["output_norm.weight"])
        return times(x, rows.get("output.weight", rows["token_embd.weight"]))

    def generate(self, prompt):
        past = [[] for _ in range(self.layers)]
        ids, made = list(prompt), []
        # Data are rounded to the type of the weights, or to 8 bits.
        least = {"q8_0": 1.5e-2, "q4_0": 1.5e-2,
                 "bf16": 1e-2}.get(self.weights.kind, 3e-3)
        self.least = 1
        for position in range(len(prompt) + STEPS - 1):
            logits = self.logits(ids[position], position, past)
            if position < len(prompt) - 1:
                continue
            best = sorted(logits)[-2:]
            assert best[1] - best[0] > least * (best[1] - min(logits)), \
                "two are too close to each other; take another seed"
            ids.append(logits.index(best[1]))
            made.append(ids[-1])
        assert self.least > least, "two experts are; take another seed"
        return made


def npy(path, rows):
    header = str({"descr": "<i8", "fortran_order": False,
                  "shape": (len(rows), len(rows[0]))})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) +
                   header.encode() +
                   b"".join(struct.pack("<q", i) for row in rows for i in row))


def main(folder):
    os.chdir(folder)
    prompt = [(7 * i + 3) % VOCABULARY for i in range(PROMPT)]
    npy("ids.npy", [prompt])
    cases = [("llama", "f32", {"base": 5e5}), ("llama", "q4_0", {"seed": 41}),
             ("qwen2", "f16", {"scale": 4.0, "cache": "f32", "seed": 2}),
             ("qwen3", "q8_0", {"head": 32, "base": 1e6, "seed": 338}),
             ("gemma3", "bf16", {"layers": 7, "base": 1e6, "seed": 11}),
             ("phi3", "f16", {"seed": 3}),
             ("qwen3moe", "f32", {"experts": 8, "seed": 3}),
             ("llama", "q8_0", {"experts": 4, "seed": 37}),
             ("deepseek2", "f16", {"experts": 4, "seed": 1}),
             ("gpt-oss", "bf16", {"experts": 4, "scale": 8.0, "seed": 2})]
    for architecture, kind, more in cases:
        name = f"{architecture}-{kind}"
        decoder = Decoder(name, architecture, kind, **more)
        made = decoder.generate(prompt)
        assert len(set(made)) >= STEPS // 3, "tokens repeat"
        with open(f"{name}.ids", "w", encoding="ascii") as file:
            file.write("".join(f"{i}\n" for i in made))
        infos = decoder.weights.infos
        write(f"{name}.gguf", decoder.keys, infos)
        if name == "llama-q4_0":
            half = len(infos) // 2
            count = {"split.count": 2}
            write("shards-00001-of-00002.gguf",
                  decoder.keys | count | {"split.no": 0}, infos[:half])
            write("shards-00002-of-00002.gguf", count | {"split.no": 1},
                  infos[half:])
        if name == "qwen3-q8_0":
            write_refused(decoder.keys, infos)


def write_refused(keys, infos):
    """Files that can be placed but not run, or contradict themselves."""
    other = {k.replace("qwen3", "olmo2"): v for k, v in keys.items()}
    write("olmo2.gguf", other | {"general.architecture": "olmo2"}, infos)
    write("scaling.gguf", keys | {"qwen3.rope.scaling.type": "su"}, infos)
    write("cap.gguf", keys | {"qwen3.final_logit_softcapping": 30.0}, infos)
    write("tensor.gguf", keys,
          infos + [("blk.1.ffn_sub_norm.weight", (INNER,), F32,
                    bytes(4 * INNER))])
    name, dims = infos[-1][:2]
    assert len(dims) == 1, "a norm"
    quantized = ("output.weight", (WIDTH, VOCABULARY), Q5_0,
                 bytes(VOCABULARY * WIDTH // 32 * 22))
    write("q5_0.gguf", keys, [quantized if i[0] == "output.weight" else i
                              for i in infos])
    for file, key, value in (("base", "rope.freq_base", "10000"),
                             ("nan", "rope.freq_base", math.nan),
                             ("rotated", "rope.dimension_count", 1e30),
                             ("width", "embedding_length", 2 * WIDTH)):
        write(f"{file}.gguf", keys | {f"qwen3.{key}": value}, infos)
    write("lone.gguf", keys,
          [i for i in infos if i[0] != "blk.1.attn_q_norm.weight"])
    write("short.gguf", keys, infos[:-1] + [(name, (1,), F32, bytes(4))])
    write("norms.gguf", keys,
          infos[:-1] + [(name, dims, F16, bytes(2 * dims[0]))])


main(sys.argv[1])
