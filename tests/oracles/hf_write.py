#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes folders as transformers saves models, without the weights.

    hf_write.py FOLDER

Prints a line for each: name, layers, bytes of the tensors that are run, experts
of a layer, cache bytes of a token (f16) in all layers, tensors not understood.
"""
import json
import os
import struct
import sys

BITS = {"BF16": 16, "F32": 32, "U8": 8, "I32": 32, "F16": 16}
HIDDEN, HEADS, KV, HEAD, INNER, VOCAB = 256, 8, 2, 32, 512, 1000


class Model:
    def __init__(self, kind, layers=4, **config):
        self.kind, self.layers, self.tensors = kind, layers, []
        self.config = dict(
            model_type=kind, num_hidden_layers=layers, hidden_size=HIDDEN,
            num_attention_heads=HEADS, num_key_value_heads=KV,
            max_position_embeddings=8192, torch_dtype="bfloat16", **config)
        self.add("model.embed_tokens.weight", VOCAB, HIDDEN)
        self.add("model.norm.weight", HIDDEN)

    def add(self, name, *shape, kind="BF16"):
        size = BITS[kind] // 8
        for n in shape:
            size *= n
        self.tensors.append((name, kind, shape, size))

    def write(self, folder, shards):
        os.makedirs(folder)
        with open(folder + "/config.json", "w") as out:
            json.dump(self.config, out)
        names = ["model.safetensors"] if shards == 1 else [
            f"model-{i + 1:05}-of-{shards:05}.safetensors"
            for i in range(shards)]
        where = {}
        for i, name in enumerate(names):
            header, offset = {"__metadata__": {"format": "pt"}}, 0
            for tensor, kind, shape, size in self.tensors[i::shards]:
                header[tensor] = {"dtype": kind, "shape": list(shape),
                                  "data_offsets": [offset, offset + size]}
                offset += size
                where[tensor] = name
            text = json.dumps(header).encode()
            with open(f"{folder}/{name}", "wb") as out:
                out.write(struct.pack("<Q", len(text)) + text)
        if shards > 1:
            with open(folder + "/model.safetensors.index.json", "w") as out:
                json.dump({"metadata": {}, "weight_map": where}, out)

    def total(self):
        return sum(size for name, _, _, size in self.tensors
                   if not name.startswith(f"model.layers.{self.layers}."))


def attention(m, p, bias=False, norms=False):
    m.add(p + "input_layernorm.weight", HIDDEN)
    for name, n in (("q", HEADS), ("k", KV), ("v", KV)):
        m.add(f"{p}self_attn.{name}_proj.weight", n * HEAD, HIDDEN)
        if bias:
            m.add(f"{p}self_attn.{name}_proj.bias", n * HEAD)
    for name in "qk" if norms else "":
        m.add(f"{p}self_attn.{name}_norm.weight", HEAD)
    m.add(p + "self_attn.o_proj.weight", HIDDEN, HEADS * HEAD)
    m.add(p + "post_attention_layernorm.weight", HIDDEN)


def dense(m, p, inner=INNER, module="mlp"):
    m.add(f"{p}{module}.gate_proj.weight", inner, HIDDEN)
    m.add(f"{p}{module}.up_proj.weight", inner, HIDDEN)
    m.add(f"{p}{module}.down_proj.weight", HIDDEN, inner)


def packed(m, name, inputs, outputs):
    m.add(name + ".qweight", inputs // 8, outputs, kind="I32")
    m.add(name + ".qzeros", inputs // 128, outputs // 8, kind="I32")
    m.add(name + ".scales", inputs // 128, outputs, kind="F16")
    m.add(name + ".g_idx", inputs, kind="I32")


CACHE = 2 * KV * HEAD * 2


def models():
    """Yields name, model, experts, cache bytes, unknown tensors."""
    m = Model("llama")
    for i in range(4):
        attention(m, f"model.layers.{i}.")
        dense(m, f"model.layers.{i}.")
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "llama", m, 0, 4 * CACHE, 0

    m = Model("qwen2", tie_word_embeddings=True, sliding_window=4096,
              use_sliding_window=False)
    for i in range(4):
        attention(m, f"model.layers.{i}.", bias=True)
        dense(m, f"model.layers.{i}.")
    yield "qwen2-tied", m, 0, 4 * CACHE, 0

    m = Model("qwen3_moe", num_experts_per_tok=2, head_dim=HEAD)
    for i in range(4):
        p = f"model.layers.{i}."
        attention(m, p, norms=True)
        m.add(p + "mlp.gate.weight", 8, HIDDEN)
        for e in range(8):
            dense(m, p, 128, f"mlp.experts.{e}")
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "qwen3moe", m, 8, 4 * CACHE, 0

    m = Model("gemma3_text", 12, sliding_window=512, head_dim=HEAD)
    for i in range(12):
        p = f"model.layers.{i}."
        attention(m, p, norms=True)
        m.add(p + "pre_feedforward_layernorm.weight", HIDDEN)
        m.add(p + "post_feedforward_layernorm.weight", HIDDEN)
        dense(m, p)
    yield "gemma3", m, 0, 12 * CACHE, 0

    m = Model("deepseek_v3", num_experts_per_tok=2)
    for i in range(5):  # the last one drafts tokens
        p = f"model.layers.{i}."
        m.add(p + "input_layernorm.weight", HIDDEN)
        m.add(p + "self_attn.q_a_proj.weight", 96, HIDDEN)
        m.add(p + "self_attn.q_a_layernorm.weight", 96)
        m.add(p + "self_attn.q_b_proj.weight", HEADS * 48, 96)
        m.add(p + "self_attn.kv_a_proj_with_mqa.weight", 80, HIDDEN)
        m.add(p + "self_attn.kv_a_layernorm.weight", 64)
        m.add(p + "self_attn.kv_b_proj.weight", HEADS * 64, 64)
        m.add(p + "self_attn.o_proj.weight", HIDDEN, HEADS * 32)
        m.add(p + "post_attention_layernorm.weight", HIDDEN)
        if i == 0:
            dense(m, p)
            continue
        m.add(p + "mlp.gate.weight", 8, HIDDEN)
        m.add(p + "mlp.gate.e_score_correction_bias", 8, kind="F32")
        dense(m, p, 128, "mlp.shared_experts")
        for e in range(8):
            dense(m, p, 128, f"mlp.experts.{e}")
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "deepseek", m, 8, 4 * 80 * 2, 0

    m = Model("gpt_oss", num_experts_per_tok=4, sliding_window=128,
              layer_types=["sliding_attention", "full_attention"] * 2,
              quantization_config={"quant_method": "mxfp4"})
    for i in range(4):
        p = f"model.layers.{i}."
        attention(m, p, bias=True)
        m.add(p + "self_attn.sinks", HEADS)
        m.add(p + "mlp.router.weight", 8, HIDDEN)
        m.add(p + "mlp.router.bias", 8)
        for name, n in (("gate_up_proj", 2 * HIDDEN), ("down_proj", HIDDEN)):
            m.add(f"{p}mlp.experts.{name}_blocks", 8, n, HIDDEN // 32, 16,
                  kind="U8")
            m.add(f"{p}mlp.experts.{name}_scales", 8, n, HIDDEN // 32,
                  kind="U8")
            m.add(f"{p}mlp.experts.{name}_bias", 8, n)
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "gpt-oss", m, 8, 4 * CACHE, 0

    m = Model("phi3")
    for i in range(4):
        p = f"model.layers.{i}."
        m.add(p + "input_layernorm.weight", HIDDEN)
        m.add(p + "self_attn.qkv_proj.weight", (HEADS + 2 * KV) * HEAD, HIDDEN)
        m.add(p + "self_attn.o_proj.weight", HIDDEN, HIDDEN)
        m.add(p + "post_attention_layernorm.weight", HIDDEN)
        m.add(p + "mlp.gate_up_proj.weight", 2 * INNER, HIDDEN)
        m.add(p + "mlp.down_proj.weight", HIDDEN, INNER)
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "phi3", m, 0, 4 * CACHE, 0

    m = Model("llama", quantization_config={"quant_method": "gptq", "bits": 4})
    for i in range(4):
        p = f"model.layers.{i}."
        m.add(p + "input_layernorm.weight", HIDDEN)
        for name, n in (("q", HEADS), ("k", KV), ("v", KV)):
            packed(m, f"{p}self_attn.{name}_proj", HIDDEN, n * HEAD)
        packed(m, p + "self_attn.o_proj", HIDDEN, HIDDEN)
        m.add(p + "post_attention_layernorm.weight", HIDDEN)
        packed(m, p + "mlp.gate_proj", HIDDEN, INNER)
        packed(m, p + "mlp.up_proj", HIDDEN, INNER)
        packed(m, p + "mlp.down_proj", INNER, HIDDEN)
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "gptq", m, 0, 4 * CACHE, 0

    m = Model("lfm2", tie_word_embeddings=True)
    m.tensors.pop()
    m.add("model.embedding_norm.weight", HIDDEN)
    for i in range(4):
        p = f"model.layers.{i}."
        m.add(p + "operator_norm.weight", HIDDEN)
        if i == 2:
            for name, n in (("q", HEADS), ("k", KV), ("v", KV)):
                m.add(f"{p}self_attn.{name}_proj.weight", n * HEAD, HIDDEN)
            m.add(p + "self_attn.q_layernorm.weight", HEAD)
            m.add(p + "self_attn.k_layernorm.weight", HEAD)
            m.add(p + "self_attn.out_proj.weight", HIDDEN, HIDDEN)
        else:
            m.add(p + "conv.in_proj.weight", 3 * HIDDEN, HIDDEN)
            m.add(p + "conv.conv.weight", HIDDEN, 1, 3)
            m.add(p + "conv.out_proj.weight", HIDDEN, HIDDEN)
        m.add(p + "ffn_norm.weight", HIDDEN)
        for name, n in (("w1", INNER), ("w2", HIDDEN), ("w3", INNER)):
            m.add(f"{p}feed_forward.{name}.weight", n,
                  HIDDEN + INNER - n)
    yield "lfm2", m, 0, CACHE, 0

    m = Model("qwen3_next", num_experts_per_tok=2, head_dim=HEAD,
              linear_key_head_dim=16)
    for i in range(4):
        p = f"model.layers.{i}."
        if i == 3:
            attention(m, p, norms=True)
        else:
            m.add(p + "input_layernorm.weight", HIDDEN)
            m.add(p + "linear_attn.in_proj_qkvz.weight", 192, HIDDEN)
            m.add(p + "linear_attn.in_proj_ba.weight", 8, HIDDEN)
            m.add(p + "linear_attn.conv1d.weight", 128, 1, 4)
            m.add(p + "linear_attn.A_log", 4)
            m.add(p + "linear_attn.dt_bias", 4)
            m.add(p + "linear_attn.norm.weight", 16)
            m.add(p + "linear_attn.out_proj.weight", HIDDEN, 64)
            m.add(p + "post_attention_layernorm.weight", HIDDEN)
        m.add(p + "mlp.gate.weight", 8, HIDDEN)
        m.add(p + "mlp.shared_expert_gate.weight", 1, HIDDEN)
        dense(m, p, 48, "mlp.shared_expert")
        for e in range(8):
            dense(m, p, 48, f"mlp.experts.{e}")
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "qwen3next", m, 8, CACHE, 0

    m = Model("nemotron_h", layers_block_type=["mamba", "mlp", "attention"],
              ssm_state_size=16)
    m.layers, m.tensors = 3, []
    del m.config["num_hidden_layers"]
    m.add("backbone.embeddings.weight", VOCAB, HIDDEN)
    m.add("backbone.norm_f.weight", HIDDEN)
    for i in range(3):
        m.add(f"backbone.layers.{i}.norm.weight", HIDDEN)
    p = "backbone.layers.0.mixer."
    m.add(p + "in_proj.weight", 296, HIDDEN)
    m.add(p + "conv1d.weight", 160, 1, 4)
    m.add(p + "conv1d.bias", 160)
    for name in "A_log", "D", "dt_bias":
        m.add(p + name, 8)
    m.add(p + "norm.weight", 128)
    m.add(p + "out_proj.weight", HIDDEN, 128)
    m.add("backbone.layers.1.mixer.up_proj.weight", INNER, HIDDEN)
    m.add("backbone.layers.1.mixer.down_proj.weight", HIDDEN, INNER)
    for name, n in (("q", HEADS), ("k", KV), ("v", KV), ("o", HEADS)):
        m.add(f"backbone.layers.2.mixer.{name}_proj.weight", n * HEAD, HIDDEN)
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "nemotron-h", m, 0, CACHE, 0

    m = Model("novel", auto_map={"AutoModel": "code.py"})
    for i in range(4):
        p = f"model.layers.{i}."
        attention(m, p)
        m.add(p + "magic.weight", HIDDEN, HIDDEN)
    m.add("lm_head.weight", VOCAB, HIDDEN)
    yield "novel", m, 0, 0, 4


def main(folder):
    for i, (name, model, experts, cache, unknown) in enumerate(models()):
        model.write(f"{folder}/{name}", i % 3 + 1)
        print(name, model.layers, model.total(), experts, cache, unknown)


if __name__ == "__main__":
    main(*sys.argv[1:])
