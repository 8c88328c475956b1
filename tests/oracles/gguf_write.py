#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes headers of GGUF files, without weights, of a dozen architectures.

    gguf_write.py FOLDER [SCALE]

Prints a line for each file: name, layers, bytes of all tensors, experts of a
layer, cache bytes of a token (f16) in layers without a window and in all
layers, and bytes of states, which do not grow.  With SCALE all sizes are
multiples.  Where the package gguf is there, its sizes of blocks are checked.
"""
import struct
import sys

BLOCKS = {  # number: elements, bytes
    "F32": (0, 1, 4), "F16": (1, 1, 2), "Q4_0": (2, 32, 18),
    "Q8_0": (8, 32, 34), "Q4_K": (12, 256, 144), "Q6_K": (14, 256, 210),
    "MXFP4": (39, 32, 17)}
U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5


class File:
    """A header; sizes are given as frameworks do, the innermost last."""

    def __init__(self, arch, endian="<", version=3):
        self.arch, self.endian, self.version = arch, endian, version
        self.keys, self.tensors, self.total = [], [], 0
        self.put("general.architecture", arch)

    def pack(self, form, *values):
        return struct.pack(self.endian + form, *values)

    def text(self, text):
        return self.pack("Q", len(text)) + text.encode()

    def put(self, key, value):
        if isinstance(value, str):
            data = self.pack("I", STRING) + self.text(value)
        elif isinstance(value, list) and value and isinstance(value[0], str):
            data = self.pack("IIQ", ARRAY, STRING, len(value))
            data += b"".join(map(self.text, value))
        elif isinstance(value, list):
            data = self.pack(f"IIQ{len(value)}i", ARRAY, I32, len(value),
                             *value)
        else:
            data = self.pack("II", U32, value)
        self.keys.append(self.text(key) + data)

    def set(self, **values):
        for key, value in values.items():
            self.put(f"{self.arch}.{key.replace('__', '.')}", value)

    def add(self, name, *shape, kind="Q4_K"):
        number, block, size = BLOCKS[kind]
        if shape[-1] % block:
            number, block, size = BLOCKS["Q8_0" if shape[-1] % 32 == 0
                                         else "F16"]
        count = 1
        for n in shape:
            count *= n
        self.tensors.append((name, shape, number, count // block * size))
        self.total += count // block * size

    def vector(self, name, n):
        self.add(name, n, kind="F32")

    def bytes(self, tensors=None, offset=0):
        tensors = self.tensors if tensors is None else tensors
        out = b"GGUF" + self.pack("IQQ", self.version, len(tensors),
                                  len(self.keys)) + b"".join(self.keys)
        for name, shape, number, size in tensors:
            out += self.text(name) + self.pack(
                f"I{len(shape)}QIQ", len(shape), *reversed(shape), number,
                offset)
            offset += (size + 31) // 32 * 32
        return out


class Sizes:
    def __init__(self, scale):
        self.hidden, self.heads, self.kv = 256 * scale, 8 * scale, 2 * scale
        self.inner, self.vocab, self.head = 512 * scale, 1000 * scale, 32


def start(arch, s, layers, tied=False, **keys):
    f = File(arch)
    f.put("tokenizer.ggml.tokens", [f"t{i}" for i in range(s.vocab)])
    f.set(block_count=layers, context_length=8192, embedding_length=s.hidden,
          **keys)
    f.add("token_embd.weight", s.vocab, s.hidden)
    f.vector("output_norm.weight", s.hidden)
    if not tied:
        f.add("output.weight", s.vocab, s.hidden, kind="Q6_K")
    return f


def heads(s, **more):
    return dict(attention__head_count=s.heads,
                attention__head_count_kv=s.kv, **more)


def attention(f, p, s, bias=False, norms=False):
    f.vector(p + "attn_norm.weight", s.hidden)
    for name, n in (("q", s.heads), ("k", s.kv), ("v", s.kv)):
        f.add(f"{p}attn_{name}.weight", n * s.head, s.hidden,
              kind="Q6_K" if name == "v" else "Q4_K")
        if bias:
            f.vector(f"{p}attn_{name}.bias", n * s.head)
    for name in "qk" if norms else "":
        f.vector(f"{p}attn_{name}_norm.weight", s.head)
    f.add(p + "attn_output.weight", s.hidden, s.heads * s.head)


def dense(f, p, s, suffix="", inner=0, norm=True):
    if norm:
        f.vector(p + "ffn_norm.weight", s.hidden)
    inner = inner or s.inner
    f.add(f"{p}ffn_gate{suffix}.weight", inner, s.hidden)
    f.add(f"{p}ffn_up{suffix}.weight", inner, s.hidden)
    f.add(f"{p}ffn_down{suffix}.weight", s.hidden, inner)


def experts(f, p, s, n, norm="ffn_norm", kind="Q4_K", bias=False):
    inner = s.hidden
    f.vector(f"{p}{norm}.weight", s.hidden)
    f.add(p + "ffn_gate_inp.weight", n, s.hidden, kind="F32")
    for name, a, b in (("gate", inner, s.hidden), ("up", inner, s.hidden),
                       ("down", s.hidden, inner)):
        f.add(f"{p}ffn_{name}_exps.weight", n, a, b, kind=kind)
        if bias:
            f.add(f"{p}ffn_{name}_exps.bias", n, a, kind="F32")


def mamba(f, p, s, norms=False):
    inner = 2 * s.hidden
    f.vector(p + "attn_norm.weight", s.hidden)
    f.add(p + "ssm_in.weight", 2 * inner, s.hidden)
    f.add(p + "ssm_conv1d.weight", inner, 4, kind="F32")
    f.vector(p + "ssm_conv1d.bias", inner)
    f.add(p + "ssm_x.weight", 16 + 32, inner)
    f.add(p + "ssm_dt.weight", inner, 16, kind="F32")
    f.vector(p + "ssm_dt.bias", inner)
    f.add(p + "ssm_a", inner, 16, kind="F32")
    f.vector(p + "ssm_d", inner)
    for name in ("dt", "b", "c") if norms else ():
        f.vector(f"{p}ssm_{name}_norm.weight", 16)
    f.add(p + "ssm_out.weight", s.hidden, inner)
    return 3 * inner * 4 + 16 * inner * 4


def cache(s, layers):
    return layers * 2 * s.kv * s.head * 2


def models(s, layers):
    """Yields name, file, experts, cache bytes, state bytes."""
    f = start("llama", s, layers, **heads(s))
    for i in range(layers):
        attention(f, f"blk.{i}.", s)
        dense(f, f"blk.{i}.", s)
    yield "llama", f, 0, cache(s, layers), 0

    f = start("qwen2", s, layers, **heads(s))
    for i in range(layers):
        attention(f, f"blk.{i}.", s, bias=True)
        dense(f, f"blk.{i}.", s)
    yield "qwen2", f, 0, cache(s, layers), 0

    f = start("qwen3", s, layers, **heads(s, attention__key_length=s.head))
    for i in range(layers):
        attention(f, f"blk.{i}.", s, norms=True)
        dense(f, f"blk.{i}.", s)
    yield "qwen3", f, 0, cache(s, layers), 0

    for arch, name in (("qwen3moe", "qwen3moe"), ("llama", "mixtral")):
        f = start(arch, s, layers, **heads(s), expert_count=8,
                  expert_used_count=2)
        for i in range(layers):
            attention(f, f"blk.{i}.", s, norms=name == "qwen3moe")
            experts(f, f"blk.{i}.", s, 8)
        yield name, f, 8, cache(s, layers), 0

    f = start("gemma3", s, layers, tied=True,
              **heads(s, attention__sliding_window=512))
    for i in range(layers):
        p = f"blk.{i}."
        attention(f, p, s, norms=True)
        f.vector(p + "post_attention_norm.weight", s.hidden)
        dense(f, p, s)
        f.vector(p + "post_ffw_norm.weight", s.hidden)
    yield "gemma3", f, 0, cache(s, layers // 6), 0

    f = start("deepseek2", s, layers, attention__head_count=s.heads,
              attention__head_count_kv=1, attention__key_length=80,
              expert_count=8, expert_used_count=2)
    for i in range(layers):
        p = f"blk.{i}."
        f.vector(p + "attn_norm.weight", s.hidden)
        f.add(p + "attn_q_a.weight", 96, s.hidden)
        f.vector(p + "attn_q_a_norm.weight", 96)
        f.add(p + "attn_q_b.weight", s.heads * 48, 96)
        f.add(p + "attn_kv_a_mqa.weight", 64 + 16, s.hidden)
        f.vector(p + "attn_kv_a_norm.weight", 64)
        f.add(p + "attn_k_b.weight", s.heads, 64, 32)
        f.add(p + "attn_v_b.weight", s.heads, 32, 64)
        f.add(p + "attn_output.weight", s.hidden, s.heads * 32)
        if i == 0:
            dense(f, p, s)
        else:
            experts(f, p, s, 8)
            f.vector(p + "exp_probs_b.bias", 8)
            dense(f, p, s, "_shexp", 256, norm=False)
    yield "deepseek2", f, 8, layers * 80 * 2, 0

    f = start("gpt-oss", s, layers, **heads(s), expert_count=8,
              expert_used_count=4, attention__sliding_window=128)
    for i in range(layers):
        p = f"blk.{i}."
        attention(f, p, s, bias=True)
        f.vector(p + "attn_output.bias", s.hidden)
        f.vector(p + "attn_sinks.weight", s.heads)
        experts(f, p, s, 8, "post_attention_norm", "MXFP4", bias=True)
    yield "gpt-oss", f, 8, cache(s, layers // 2), 0

    f = start("phi3", s, layers, **heads(s))
    f.vector("rope_factors_long.weight", 16)
    f.vector("rope_factors_short.weight", 16)
    for i in range(layers):
        p = f"blk.{i}."
        f.vector(p + "attn_norm.weight", s.hidden)
        f.add(p + "attn_qkv.weight", (s.heads + 2 * s.kv) * s.head, s.hidden)
        f.add(p + "attn_output.weight", s.hidden, s.heads * s.head)
        f.vector(p + "ffn_norm.weight", s.hidden)
        f.add(p + "ffn_up.weight", 2 * s.inner, s.hidden)
        f.add(p + "ffn_down.weight", s.hidden, s.inner)
    yield "phi3", f, 0, cache(s, layers), 0

    f = start("mamba", s, layers, ssm__state_size=16)
    state = sum(mamba(f, f"blk.{i}.", s) for i in range(layers))
    yield "mamba", f, 0, 0, state

    f = start("jamba", s, layers, attention__head_count=s.heads,
              attention__head_count_kv=[s.kv * (i % 4 == 2)
                                        for i in range(layers)],
              expert_count=8, expert_used_count=2, ssm__state_size=16)
    state = 0
    for i in range(layers):
        p = f"blk.{i}."
        if i % 4 == 2:
            attention(f, p, s)
        else:
            state += mamba(f, p, s, norms=True)
        experts(f, p, s, 8) if i % 2 else dense(f, p, s)
    yield "jamba", f, 8, cache(s, (layers + 1) // 4), state


def check_blocks():
    try:
        import gguf
    except ImportError:
        return
    for name, (number, block, size) in BLOCKS.items():
        kind = gguf.GGMLQuantizationType(number)
        assert kind.name == name, name
        assert gguf.GGML_QUANT_SIZES[kind] == (block, size), name


def main(folder, scale="1"):
    check_blocks()
    layers = 12
    s = Sizes(int(scale))
    for name, f, n, tokens, state in models(s, layers):
        with open(f"{folder}/{name}.gguf", "wb") as out:
            out.write(f.bytes())
        windows = {"gemma3": cache(s, layers), "gpt-oss": cache(s, layers)}
        print(name, layers, f.total, n, tokens, windows.get(name, tokens),
              state)


if __name__ == "__main__":
    main(*sys.argv[1:])
