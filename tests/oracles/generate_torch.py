#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of moirai-exec --generate: small decoders of transformers with random
weights generate the tokens of PyTorch.

    python tests/oracles/generate_torch.py [NAME...]

Not part of make check: needs torch, transformers, and the commands on the PATH.
Each decoder runs on one device, on three unequal ones that have its layers in
turn, on two ranks, and, where there is a GPU, there and on three unequal
partitions of it.  Prints TAP; exits with 1 where a claim fails, with 77
without PyTorch.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(top, "contrib", "export"))
sys.dont_write_bytecode = True
try:
    import numpy
    import torch
    import transformers
except ImportError as error:
    print(f"1..0 # SKIP Python's package {error.name} is not installed")
    sys.exit(77)
from moirai_export import export  # noqa: E402, found just now

STEPS, PROMPT, CAPACITY, VOCABULARY = 40, 12, 64, 256
COMMON = {"vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 128,
          "num_hidden_layers": 2, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 256,
          "initializer_range": 0.3, "bos_token_id": 0, "eos_token_id": 0,
          "pad_token_id": 0}
# Model, and what its configuration has beside that or without it.
DECODERS = {
    "llama": ("LlamaForCausalLM", {}),
    "qwen2": ("Qwen2ForCausalLM", {}),
    "qwen3": ("Qwen3ForCausalLM", {"head_dim": 32}),
    "mistral": ("MistralForCausalLM", {"sliding_window": 24}),
    "gemma2": ("Gemma2ForCausalLM", {"head_dim": 16, "sliding_window": 24,
                                     "initializer_range": 0.05}),
    "phi3": ("Phi3ForCausalLM", {}),
    "granite": ("GraniteForCausalLM", {}),
    "olmo2": ("Olmo2ForCausalLM", {}),
    "gpt2": ("GPT2LMHeadModel", {
        "vocab_size": VOCABULARY, "n_embd": 64, "n_layer": 2, "n_head": 4,
        "n_positions": 256, "initializer_range": 0.3, "bos_token_id": 0,
        "eos_token_id": 0}),
}
CLUSTER = """<cluster name="three">
  <device id="a" rank="0" kind="cpu" threads="1" gflops="90"
          memory_bandwidth_gbs="20"/>
  <device id="b" rank="1" kind="cpu" threads="1" gflops="50"
          memory_bandwidth_gbs="10"/>
  <device id="c" rank="1" kind="cpu" threads="2" gflops="30"
          memory_bandwidth_gbs="10"/>
  <link between="a b" gbps="80" latency_us="1"/>
  <link between="a c" gbps="80" latency_us="1"/>
  <link between="b c" gbps="80" latency_us="1"/>
</cluster>
"""
# The same devices as parts of a GPU.
PARTS = re.sub(r'rank="."\s*kind="cpu"\s*threads="."', "", CLUSTER)


def make(name):
    """A model and the least difference of two logits by which it chooses."""
    kind, more = DECODERS[name]
    model = getattr(transformers, kind)
    config = model.config_class(**(more if name == "gpt2"
                                   else {**COMMON, **more}))
    torch.manual_seed(0)
    return model(config).eval()


def reference(model, ids):
    """Tokens of PyTorch, and the least distance of the two largest logits."""
    with torch.no_grad():
        made = model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=STEPS,
            do_sample=False, eos_token_id=None, pad_token_id=0,
            output_scores=True, return_dict_in_generate=True)
    gap = min(float(best[0] - best[1]) for best in
              (score[0].topk(2).values for score in made.scores))
    return made.sequences[0, ids.shape[1]:].tolist(), gap


def run(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


def split(folder):
    """A placement of the layers on devices of their own."""
    run("moirai-place", "-q", "-c", f"{folder}/three.xml", "--rounds", "1",
        "--method", "single", "-o", f"{folder}/one.sol", f"{folder}/chat.xml")
    place = json.loads(run("moirai-check", "--json",
                           f"{folder}/one.sol"))["placement"]

    def device(op):
        layer = re.search(r"(?:layers|\bh)\.(\d)", op)
        state = re.match(r"(?:past_|output)(\d+)(?:@|$)", op)
        if layer:
            return "bc"[int(layer[1])]
        number = int(state[1]) - op.startswith("output") if state else -1
        return "bc"[number // 2] if number >= 0 else "a"

    with open(f"{folder}/split.json", "w", encoding="utf-8") as file:
        json.dump({op: device(op) for op in place}, file)


def tokens(*arguments):
    said = json.loads(run("moirai-exec", "-q", "--json", "--generate",
                          str(STEPS), *arguments))
    assert said["sent_state_bytes"] == 0
    return said["ids"][0]


def tokens_of_ranks(*arguments):
    command = ["moirai-exec", "-q", "--json", "--generate", str(STEPS),
               "--transport", "tcp", "--ranks", "2", "--master",
               f"127.0.0.1:{20000 + os.getpid() % 20000}"]
    with subprocess.Popen([*command, "--rank", "1", *arguments]):
        return json.loads(run(*command, "--rank", "0", *arguments))["ids"][0]


def claims_of(name, folder):
    """Claims and whether they hold."""
    model = make(name)
    torch.manual_seed(1)
    ids = torch.randint(0, VOCABULARY, (1, PROMPT))
    wanted, gap = reference(model, ids)
    numpy.save(f"{folder}/ids.npy", ids.numpy())
    with open(f"{folder}/three.xml", "w", encoding="utf-8") as file:
        file.write(CLUSTER)
    export(model, (ids,), f"{folder}/chat.xml", max_length=CAPACITY)
    split(folder)
    prompt = ["--prompt", f"{folder}/ids.npy"]
    three = ["-c", f"{folder}/three.xml", "--graph", f"{folder}/chat.xml",
             *prompt, f"{folder}/split.json"]
    yield f"no logits are tied, by {gap:.1e}", gap > 1e-4
    yield "one device", tokens(*prompt, f"{folder}/chat.xml") == wanted
    yield "three devices", tokens(*three) == wanted
    yield "two ranks", tokens_of_ranks(*three) == wanted
    if torch.cuda.is_available():
        with open(f"{folder}/three.xml", "w", encoding="utf-8") as file:
            file.write(PARTS)
        yield "a GPU", tokens("--backend", "cuda", *prompt,
                              f"{folder}/chat.xml") == wanted
        yield "parts of a GPU", tokens("--emulate", "64,32,16",
                                       *three) == wanted


def main():
    count, failed = 0, 0
    for name in sys.argv[1:] or DECODERS:
        with tempfile.TemporaryDirectory() as folder:
            try:
                claims = list(claims_of(name, folder))
            except subprocess.CalledProcessError as error:
                claims = [(f"{' '.join(error.cmd)}: {error.stderr.strip()}",
                           False)]
        for claim, holds in claims:
            count += 1
            failed += not holds
            print(f"{'' if holds else 'not '}ok {count} - {name}: {claim}",
                  flush=True)
    print(f"1..{count}")
    return 1 if failed else 0


sys.exit(main())
