#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Settings of --for, given to the libraries that they are for.

    runtimes_torch.py [MODEL...]

accelerate: device_map passes its checks, and transformers loads and runs the
model with it, with main memory and the disk in the place of GPUs.
torch.distributed.pipelining: pipeline() makes the stages of split_spec.
vLLM: get_pp_indices() of the installed package, or of its source in the folder
VLLM_SOURCE, returns the layers of the report.  Models have random weights.
Prints a line of TAP for each claim.
"""
import ast
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import types

import torch
import transformers
from accelerate.utils import (check_device_map, find_tied_parameters,
                              check_tied_parameters_on_same_device)
from torch.distributed.pipelining import SplitPoint, pipeline

MODELS = ["rtx3060", "rtx4090", "rtx3090", "rtx4080"]
LENGTHS = ["--context", "256", "--prompt", "64", "--generate", "16"]
failures = claims = 0


def claim(holds, text):
    global failures, claims
    claims += 1
    failures += not holds
    print("ok" if holds else "not ok", claims, "-", text, flush=True)


def configs():
    base = dict(vocab_size=1000, hidden_size=128, intermediate_size=256,
                num_hidden_layers=6, num_attention_heads=4,
                num_key_value_heads=2, max_position_embeddings=512,
                pad_token_id=0, eos_token_id=1, bos_token_id=1)
    moe = dict(base, num_experts_per_tok=2)
    yield "llama", "Llama", base
    yield "llama-tied", "Llama", dict(base, tie_word_embeddings=True)
    yield "qwen2", "Qwen2", base
    yield "qwen3", "Qwen3", dict(base, head_dim=48, tie_word_embeddings=True)
    yield "gemma3", "Gemma3Text", dict(base, head_dim=32, sliding_window=64)
    yield "mixtral", "Mixtral", dict(moe, num_local_experts=4)
    yield "phi3", "Phi3", base
    yield "gpt-oss", "GptOss", dict(
        moe, head_dim=32, num_local_experts=4, sliding_window=64)
    yield "deepseek", "DeepseekV3", dict(
        moe, num_key_value_heads=4, q_lora_rank=64, kv_lora_rank=32,
        qk_rope_head_dim=16, qk_nope_head_dim=32, v_head_dim=32,
        n_routed_experts=8, n_group=2, topk_group=1, moe_intermediate_size=64,
        first_k_dense_replace=1)


def write_cluster(path, n, memory):
    ids = [f"gpu{i}" for i in range(n)]
    lines = [f'<device id="{name}" model="{MODELS[i % len(MODELS)]}" '
             f'memory_bytes="{int(memory)}" reserve_bytes="0"/>'
             for i, name in enumerate(ids)]
    lines += [f'<link between="{a} {b}" kind="pcie4-x4"/>'
              for i, a in enumerate(ids) for b in ids[:i]]
    with open(path, "w") as out:
        out.write("<cluster>" + "".join(lines) + "</cluster>")


def settings_of(runtime, model, cluster):
    done = subprocess.run(
        ["moirai", "-q", "--json", "--for", runtime, "-c", cluster, *LENGTHS,
         model], capture_output=True, text=True)
    if done.returncode == 3:
        return None
    if done.returncode:
        sys.exit(f"{runtime}, {model}: {done.stderr}")
    return json.loads(done.stdout)


def raises(function, *arguments):
    try:
        function(*arguments)
    except (ValueError, RuntimeError) as error:
        return str(error)
    return ""


def check_accelerate(name, config, ids, expected):
    devices = settings_of("accelerate", name, "three.xml")["settings"]
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    claim(len(set(devices.values())) > 1 and
          not raises(check_device_map, model, devices),
          f"accelerate {name}: check_device_map")
    with_warning = []
    logger = sys.modules[find_tied_parameters.__module__].logger
    logger.warning, before = with_warning.append, logger.warning
    check_tied_parameters_on_same_device(find_tied_parameters(model), devices)
    logger.warning = before
    claim(not with_warning, f"accelerate {name}: tied parameters")
    modules = {module for module, _ in model.named_modules()}
    claim(set(devices) <= modules, f"accelerate {name}: names are modules")
    places = sorted(set(devices.values()))
    model = transformers.AutoModelForCausalLM.from_pretrained(
        name, dtype=torch.float32, offload_folder="offload", device_map={
            module: "cpu" if device == places[0] else "disk"
            for module, device in devices.items()})
    with torch.no_grad():
        claim(torch.equal(model(ids).logits, expected),
              f"accelerate {name}: loads and runs")


def check_pipelining(name, model, ids, expected):
    settings = settings_of("pytorch-pipelining", name, "three.xml")["settings"]
    pipe = pipeline(model, mb_args=(ids,), mb_kwargs={"use_cache": False},
                    split_spec={module: SplitPoint[value] for module, value in
                                settings["split_spec"].items()})
    claim(pipe.num_stages == len(settings["devices"]) > 1,
          f"pipelining {name}: {pipe.num_stages} stages")
    output = pipe(ids, use_cache=False)[0]
    claim(torch.allclose(getattr(output, "logits", output), expected,
                         atol=1e-5), f"pipelining {name}: equal outputs")


def find_parser():
    """Returns get_pp_indices(), without the package's other modules."""
    folder = os.environ.get("VLLM_SOURCE")
    spec = None if folder else importlib.util.find_spec("vllm")
    if not folder and not spec:
        return None
    path = os.path.join(folder + "/vllm" if folder else
                        spec.submodule_search_locations[0],
                        "distributed/utils.py")
    with open(path) as file:
        tree = ast.parse(file.read())
    tree.body = [node for node in tree.body if isinstance(
        node, ast.FunctionDef) and node.name == "get_pp_indices"]
    names = {"envs": types.SimpleNamespace(VLLM_PP_LAYER_PARTITION=None),
             "logger": types.SimpleNamespace(info=lambda *_: None)}
    exec(compile(tree, path, "exec"), names)
    return names


def check_vllm(names, model, layers):
    """Splits over two to eight GPUs, with less and less memory."""
    size = os.path.getsize(model + "/model.safetensors")
    wrong = runs = 0
    for n in range(2, 9):
        for share in 0.9, 0.6, 0.4, 0.3:
            write_cluster("many.xml", n, share * size / 0.9 + 6e5)
            report = settings_of("vllm", model, "many.xml")
            if not report:
                continue
            words = dict(word.split("=", 1) for word in
                         report["settings"].split() if "=" in word)
            stages = int(report["settings"].split(
                "parallel-size ")[1].split()[0])
            names["envs"].VLLM_PP_LAYER_PARTITION = words[
                "VLLM_PP_LAYER_PARTITION"]
            order = [int(gpu) for gpu in
                     words["CUDA_VISIBLE_DEVICES"].split(",")]
            for rank in range(stages):
                first, end = names["get_pp_indices"](layers, rank, stages)
                held = report["devices"][order[rank]]["layers"]
                wrong += held != list(range(first, end))
            runs += stages > 1
    claim(wrong == 0 and runs > 9, f"vllm {model}: the parser gives the layers of {runs} "
          "reports")


def main(wanted):
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    parser = find_parser()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, kind, keys in configs():
            if wanted and name not in wanted:
                continue
            torch.manual_seed(1)
            config = getattr(transformers, kind + "Config")(**keys)
            model = transformers.AutoModelForCausalLM.from_config(
                config, dtype=torch.float32).eval()
            model.save_pretrained(name)
            ids = torch.arange(12).reshape(1, 12)
            with torch.no_grad():
                expected = model(ids).logits
                size = os.path.getsize(name + "/model.safetensors")
                write_cluster("three.xml", 3, 0.6 * size + 3e5)
                check_accelerate(name, config, ids, expected)
                check_pipelining(name, model, ids, expected)
            if parser:
                check_vllm(parser, name, config.num_hidden_layers)
        os.chdir("/")
    if not parser:
        print("# vLLM: not installed, see VLLM_SOURCE")
    print(f"1..{claims}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
