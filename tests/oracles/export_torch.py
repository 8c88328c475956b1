#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of moirai-export: PyTorch networks, exported and executed.

    python tests/oracles/export_torch.py [--folder DIR] [--tolerance T] [NAME...]

Not part of make check: PyTorch is a gigabyte.  Needs torch 2.4 or later and
numpy; networks of torchvision and transformers are included where these are
installed.  Weights are random.  The outputs of PyTorch are compared with those
of moirai-exec, where it is on the PATH; else only the export is tested.  Prints
TAP; exits with 1 where a claim fails, with 77 without PyTorch.
"""
import argparse
import math
import os
import shutil
import subprocess
import sys
import tempfile

top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                   "..")
sys.path.insert(0, os.path.join(top, "contrib", "export"))
sys.dont_write_bytecode = True
try:
    import numpy
    import torch
    from torch import nn
    from torch.nn import functional as F
except ImportError as error:
    print(f"1..0 # SKIP Python's package {error.name} is not installed")
    sys.exit(77)
import export_decomposed  # noqa: E402, beside this file
from moirai_export import ExportError, export  # noqa: E402, found just now

BATCH = 2
VISION = {"resnet50": 224, "inception_v3": 299, "googlenet": 224,
          "swin_t": 224, "mobilenet_v3_large": 224, "efficientnet_b0": 224,
          "densenet121": 224, "convnext_tiny": 224, "vit_b_16": 224,
          "shufflenet_v2_x1_0": 224, "swin_v2_t": 224, "maxvit_t": 224}
SMALL = {"num_hidden_layers": 2, "hidden_size": 128, "num_attention_heads": 4,
         "intermediate_size": 256, "vocab_size": 600}


class Call(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Keywords(nn.Module):
    """A model of transformers with positional inputs, which returns tensors
    only."""

    def __init__(self, model, *names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *inputs):
        made = self.model(**dict(zip(self.names, inputs))).to_tuple()
        return tuple(x for x in made if isinstance(x, torch.Tensor))


# single

def image(*shape):
    return torch.randn(*shape or (BATCH, 4, 12, 10))


def whole(high, *shape):
    return torch.randint(0, high, shape)


def functions():
    """Name: function and inputs, for ops that the networks below lack."""
    x, y = image(), image()
    rows = image(3, 5, 7)
    mask = torch.rand(3, 5, 7) > 0.4
    heads = [image(2, 4, 6, 8) for _ in range(3)]
    return {
        "mixed types": (lambda a, b: a * b + 2 * b - b / 3, x,
                        whole(9, 10)),
        "division": (lambda a, b: (a // b, a % b, torch.div(
            a, b, rounding_mode="trunc")), whole(90, 7) - 45,
            whole(5, 7) + 1),
        "powers": (lambda a: (a ** 2, 2 ** a, a.abs() ** 0.3,
                              a.abs().rsqrt()), rows),
        "numbers read": (lambda a, b: (
            a * b.max().item(), a + 1 / (b.sum().item() + 3), a - torch.full(
                (3, 1, 7), b.min().item() // 2 % 5)), rows, whole(9, 4)),
        "curves": (lambda a: (F.silu(a), F.mish(a), F.elu(a, 0.7), F.selu(a),
                              F.softplus(a, 2), F.hardswish(a), F.gelu(
                                  a, approximate="tanh"), F.hardtanh(a),
                              torch.log1p(a.abs()), torch.expm1(a)), rows),
        "rows put by a mask": (lambda a, m, v: (
            a.index_put((m,), v), a.index_put((m,), v[:, :1]), a[:, 0].index_put(
                (m,), v[:, 0], accumulate=True), a.masked_scatter(
                    m[:, None], v)), image(6, 4), torch.tensor(
                        [True, False, False, True, True, False]),
            image(3, 4)),
        "no numbers": (lambda a: (F.max_pool2d(a.log(), 3, 2, 1), F.relu(
            a.log()), F.adaptive_max_pool2d(a.log(), 2), a.log().clamp(0, 1),
            a.masked_fill(a > -9, -math.inf).logsumexp(-1),
            (a / a.relu()).logsumexp(1)), image(1, 4, 9, 9)),
        "comparisons": (lambda a, b: (a > b, a <= 0.5, a == a, (a > 0) &
                                      (b > 0), ~(a > b)), x, y),
        "choices": (lambda a, m: (torch.where(m, a, 0.5), a.masked_fill(
            m, float("-inf")), a.clamp(min=0.1), a.clamp(-0.5, 0.5)),
            rows, mask),
        "views": (lambda a: (a.flatten(1), a.transpose(1, -1), a.movedim(
            0, 2), a[:, 1], a[..., -3:], a[:, ::2, None], a.flip(1, 2)), rows),
        "parts": (lambda a: (*a.chunk(3, 2), *a.split([1, 4], 1), *a.unbind(
            0), torch.stack([a, a], 1), torch.cat([a, a], -1)), rows),
        "pads": (lambda a: (F.pad(a, (1, 2, 0, 1), value=3.0), F.pad(
            a, (1, 2, 2, 1), mode="reflect"), F.pad(
                a, (1, 2, 2, 1), mode="replicate")), x),
        "rolls": (lambda a: (a.roll((1, -2), (1, 2)), a.roll(3), a.tril(),
                             a.triu(1), a.repeat(2, 1, 1)), rows),
        "indices": (lambda a, i: (a[:, i], a[i, i], a[:, i, i], a[:, -1, i],
                                  a.index_select(2, i)), rows,
                    torch.tensor([2, 0, 1])),
        "gathers": (lambda a, i: (a.gather(1, i), a.scatter(1, i, 5.0),
                                  a.scatter_add(1, i, a)),
                    rows, whole(5, 3, 2, 7)),
        "orders": (lambda a: (*a.topk(3), a.argmax(1), a.argmin(), *a.max(
            dim=2), *a.sort(1), a.cumsum(1)), rows),
        "reductions": (lambda a: (a.mean(), a.sum((0, 2)), a.amax(1), a.prod(
            2), a.var(1), a.std(2, correction=0), a.logsumexp(1), a.norm(
                dim=1), (a > 0).any(1), (a > -9).all()), rows),
        "softmaxes": (lambda a: (a.softmax(1), a.log_softmax(-1)), rows),
        "products": (lambda a: (a @ a.mT, torch.einsum(
            "bij,bkj->bik", a, a), torch.baddbmm(a @ a.mT, a, a.mT, beta=0.5,
                                                 alpha=2)), rows),
        "attention": (lambda q, k, v: (
            F.scaled_dot_product_attention(q, k, v),
            F.scaled_dot_product_attention(q, k, v, is_causal=True),
            F.scaled_dot_product_attention(
                q, k, v, attn_mask=torch.ones(6, 6).tril().bool(), scale=0.3),
            *shared_heads(q, k, v)), *heads),
        "masked queries": (masked_queries, *heads, torch.tensor(
            [[1], [0], [1], [1], [1], [0]]).bool().expand(6, 6).clone()),
        "pools": (lambda a: (
            F.max_pool2d(a, 3, 2, 1, ceil_mode=True), F.avg_pool2d(
                a, 3, 2, 1), F.avg_pool2d(a, 3, 2, 1, ceil_mode=True,
                                          count_include_pad=False),
            F.adaptive_avg_pool2d(a, (4, 5)), F.adaptive_avg_pool2d(
                a, (5, 3)), F.max_pool2d(a[0], 2)), x),
        "norms": (lambda a: (
            F.layer_norm(a, a.shape[1:]), F.group_norm(a, 2), F.rms_norm(
                a, a.shape[-1:]), F.instance_norm(a), F.normalize(a, dim=1),
            F.local_response_norm(a, 3)), x),
        "sizes": (lambda a: (
            F.interpolate(a, scale_factor=2), F.interpolate(a, (7, 13)),
            F.interpolate(a, (20, 17), mode="bilinear"), F.interpolate(
                a, (20, 17), mode="bilinear", align_corners=True),
            F.interpolate(a, (20, 17), mode="bicubic"), F.pixel_shuffle(
                a, 2)), x),
        "complex": (lambda a: (torch.fft.rfft(a).abs(), torch.fft.irfft(
            torch.fft.rfft(a), 7), torch.view_as_real(torch.polar(
                a.abs(), a) * torch.complex(a, a))), rows),
        "in place": (written, rows, mask),
        "read sizes": (lambda s, a: (a.view(-1, s * 7), a[:, :s // 2], s + 1,
                                     F.dropout(a, s.item() / 9, False)),
                       torch.tensor(5), rows),
        "captured vmap": (captured_vmap, rows, torch.arange(7)),
        "encoder layer": (encoder_layer, image(2, 5, 8), image(2, 5) > 0,
                          torch.ones(5, 5).triu(1).bool()),
        "statistics": (statistics, x, torch.zeros(4), torch.ones(4)),
        "both sides": (lambda a: torch.cond(
            a.sum() > 0, lambda b: b + 1, lambda b: b - 1, (a,)), rows),
        "infinite bounds": (lambda a: (a.clamp(-math.inf, 0.3), F.hardtanh(
            a, -1.0, math.inf)), rows),
        "by known values": (lambda a: a[torch.ones(3).bool()].sum() * (
            2 if torch.ones(3).any().item() else 1), rows),
        "constants": (lambda a: (a + torch.arange(7), torch.zeros_like(a) + 1,
                                 torch.full((3, 5, 7), 2.0) * a), rows),
        **export_decomposed.functions(x, rows, mask),
    }


def shared_heads(q, k, v):
    """Keys and values of several heads, which PyTorch 2.4 does not have."""
    try:
        return [F.scaled_dot_product_attention(q, k[:, :2], v[:, :2],
                                               enable_gqa=True)]
    except TypeError:
        return []


def masked_queries(q, k, v, m):
    """Zeros for queries that see no key, which PyTorch 2.4 does not give."""
    masks = (m, torch.zeros(6, 6).masked_fill(~m, -math.inf))
    return tuple(F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                 .nan_to_num(5 * hasattr(torch, "_safe_softmax"))
                 for mask in masks)


def written(a, m):
    """Writes of several kinds into copies."""
    one, two, three = a.clone(), a.clone(), torch.empty_like(a)
    one[:, 1] = 0.5
    two[m] = 7.0
    three.copy_(a).mul_(2)
    return one, two, three, a.clone().index_add_(
        1, torch.tensor([0, 0, 2]), a[:, :3])


def captured_vmap(a, q):
    """A causal mask, as graphs that torch.compile captured make it."""
    functorch = torch._C._functorch
    functorch._vmap_increment_nesting(7, "error")
    row = functorch._add_batch_dim(q, 0, 1)
    functorch._vmap_increment_nesting(7, "error")
    column = functorch._add_batch_dim(torch.arange(7), 0, 2)
    seen = functorch._remove_batch_dim(column.le(row), 2, 7, 0)
    functorch._vmap_decrement_nesting()
    seen = functorch._remove_batch_dim(seen, 1, 7, 0)
    functorch._vmap_decrement_nesting()
    return (a.mT @ a).masked_fill(~seen, -1)


def encoder_layer(a, padded, later):
    """The ops that PyTorch uses for whole layers in inference."""
    parts = [torch.linspace(-1, 1, count).sin() for count in (
        24 * 8, 24, 64, 8, 8, 8, 8, 8, 16 * 8, 16, 8 * 16, 8)]
    (qkv, qkv_bias, out, out_bias, *norms, first, first_bias, second,
     second_bias) = parts
    attend = (8, 2, qkv.view(24, 8), qkv_bias, out.view(8, 8), out_bias)
    padded = padded & torch.tensor([False, True, True, True, True])
    layers = [torch._transformer_encoder_layer_fwd(
        a, *attend, gelu, before, 1e-5, *norms, first.view(16, 8), first_bias,
        second.view(8, 16), second_bias, mask, kind)
        for gelu, before, mask, kind in ((True, True, later, 0),
                                         (False, False, padded, 1))]
    return *layers, *torch._native_multi_head_attention(a, a, a, *attend), \
        torch._native_multi_head_attention(a, a + 1, a * 2, *attend,
                                           need_weights=False)[0]


def statistics(a, mean, variance):
    """Those of a batch, and how they change running ones in place."""
    mean, variance = mean.clone(), variance.clone()
    return F.batch_norm(a, mean, variance, training=True), mean, variance


def modules():
    x, series = image(), image(BATCH, 4, 20)
    return {
        "convolution, groups": (nn.Conv2d(4, 8, 3, 2, 1, groups=2), x),
        "convolution, same": (nn.Conv2d(4, 6, 4, padding="same"), x),
        "convolution, dilated": (nn.Conv1d(4, 6, 3, dilation=2), series),
        "convolution, volume": (nn.Conv3d(2, 3, 3), image(1, 2, 5, 6, 7)),
        "convolution, back": (nn.ConvTranspose2d(4, 6, 3, 2, 1, 1, 2), x),
        "batch norm": (nn.BatchNorm2d(4), x),
        "prelu": (nn.PReLU(4), x),
        "attention layer": (nn.TransformerEncoderLayer(
            16, 2, 32, batch_first=True), image(BATCH, 9, 16)),
        "lstm": (nn.LSTM(20, 6, 2, bidirectional=True, batch_first=True),
                 series),
        "gru": (nn.GRU(20, 6), series),
        "rnn": (nn.RNN(20, 6, nonlinearity="relu"), series),
        "embedding": (nn.Embedding(10, 4), whole(10, 3, 4)),
        "bilinear": (nn.Linear(10, 3, bias=False), x),
    }


# networks

def vision():
    try:
        from torchvision import models
    except ImportError:
        print("# torchvision is not installed")
        return
    for name, size in VISION.items():
        options = {"init_weights": False} \
            if name in ("googlenet", "inception_v3") else {}
        yield name, lambda name=name, size=size, options=options: (
            getattr(models, name)(weights=None, **options),
            image(1, 3, size, size))


def language():
    try:
        import transformers as hub
    except ImportError:
        print("# transformers is not installed")
        return
    ids = whole(500, 1, 24)
    seen = torch.ones(1, 24, dtype=torch.int64)
    seen[0, 18:] = 0
    gpt = {"n_layer": 2, "n_embd": 128, "n_head": 4, "vocab_size": 600,
           "use_cache": False, "bos_token_id": 1, "eos_token_id": 2}
    yield "gpt2", lambda: (Keywords(hub.GPT2LMHeadModel(hub.GPT2Config(
        **gpt)), "input_ids"), ids)
    yield "gpt2, padded", lambda: (Keywords(hub.GPT2Model(hub.GPT2Config(
        **gpt)), "input_ids", "attention_mask"), ids, seen)
    yield "bert", lambda: (Keywords(hub.BertModel(hub.BertConfig(
        **SMALL)), "input_ids"), ids)
    yield "bert, padded", lambda: (
        Keywords(hub.BertForSequenceClassification(hub.BertConfig(
            **SMALL)), "input_ids", "attention_mask"), ids, seen)
    yield "llama", lambda: (Keywords(hub.LlamaForCausalLM(hub.LlamaConfig(
        **SMALL, num_key_value_heads=2, use_cache=False)), "input_ids"), ids)
    yield "t5", lambda: (Keywords(hub.T5Model(hub.T5Config(
        num_layers=2, d_model=128, num_heads=4, d_kv=32, d_ff=256,
        vocab_size=600, use_cache=False)), "input_ids",
        "decoder_input_ids"), ids, ids)
    yield "vit", lambda: (Keywords(hub.ViTModel(hub.ViTConfig(
        **{k: v for k, v in SMALL.items() if k != "vocab_size"})),
        "pixel_values"), image(1, 3, 224, 224))


def cases():
    for name, (function, *inputs) in functions().items():
        yield name, lambda f=function, i=inputs: (Call(f), *i)
    for name, made in modules().items():
        yield name, lambda made=made: made
    yield from vision()
    yield from language()


# running

def save(folder, kind, tensors):
    for i, tensor in enumerate(tensors):
        numpy.save(f"{folder}/{kind}{i}.npy", tensor.contiguous().numpy())


def execute(folder, n_inputs, tolerance):
    """Returns the error of moirai-exec, or an empty text."""
    if not shutil.which("moirai-exec"):
        return ""
    command = ["moirai-exec", "-q", "--reference", folder, "--tolerance",
               tolerance, f"{folder}/net.graphml"]
    for i in range(n_inputs):
        command += ["-i", f"{i}={folder}/input{i}.npy"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stderr or f"exit {run.returncode}" if run.returncode else ""


def fault(make, folder, tolerance):
    """Returns the error, or an empty text."""
    torch.manual_seed(8)
    module, *inputs = make()
    module.eval()
    try:
        export(module, tuple(inputs), f"{folder}/net.graphml")
    except ExportError as error:
        return str(error)
    with torch.no_grad():
        outputs = module(*inputs)
    outputs = [x for x in torch.utils._pytree.tree_leaves(outputs)
               if isinstance(x, torch.Tensor)]
    save(folder, "input", inputs)
    save(folder, "output", outputs)
    return execute(folder, len(inputs), tolerance)


def programs_hold(folder):
    """A saved program and a function in a file give the module's graph."""
    module, x = nn.Linear(3, 2).eval(), torch.rand(1, 3)
    torch.export.save(torch.export.export(module, (x,)), f"{folder}/net.pt2")
    torch.save(module.state_dict(), f"{folder}/net.pt")
    with open(f"{folder}/net.py", "w", encoding="utf-8") as file:
        file.write("import torch\n\n\ndef net():\n"
                   "    net = torch.nn.Linear(3, 2)\n"
                   f"    net.load_state_dict(torch.load({folder!r}"
                   " + '/net.pt'))\n"
                   "    return net.eval(), (torch.rand(1, 3),)\n")
    written = []
    for source, inputs in ((module, (x,)), (f"{folder}/net.pt2", None),
                           (f"{folder}/net.py:net", None)):
        export(source, inputs, f"{folder}/one.graphml")
        with open(f"{folder}/one.graphml", "rb") as graph, \
                open(f"{folder}/one.bin", "rb") as weights:
            written.append(graph.read() + weights.read())
    return "" if len(set(written)) == 1 else "they differ"


def without_weights_hold(folder):
    """Parameters without values, and those of the device meta, are constants
    that have none; what is known beside them is written."""
    path = f"{folder}/net.graphml"
    with torch.device("meta"):
        empty = nn.Linear(300, 200).eval()
    for module, weights in ((nn.Linear(300, 200).eval(), False),
                            (empty, True)):
        export(module, (torch.rand(1, 300),), path, weights=weights)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(">true<") != 2 or os.path.getsize(
                f"{folder}/net.bin") > 1000:
            return "it has weights"
    return ""


def shapes_hold(folder):
    """A dynamic program takes the shapes that are given, and refuses others.
    """
    module, x = Call(lambda a, b: a @ b.T), torch.rand(3, 4)
    size = torch.export.Dim("size")
    torch.export.save(torch.export.export(
        module.eval(), (x, x), dynamic_shapes={"inputs": ({0: size},
                                                          {0: size})}),
        f"{folder}/net.pt2")
    export(f"{folder}/net.pt2", None, f"{folder}/net.graphml", {"0": [7, 4]})
    for shapes in ({}, {"nothing": [7, 4]}, {"0": [7, 5]},
                   {"0": [7, 4], "1": [6, 4]}):
        try:
            export(f"{folder}/net.pt2", None, f"{folder}/no.graphml", shapes)
        except ExportError as error:
            if "\n" in str(error):
                return str(error)
        else:
            return f"{shapes} were taken"
    with open(f"{folder}/net.graphml", encoding="utf-8") as file:
        return "" if ">7,7<" in file.read() else "it has another shape"


class Named(nn.Module):
    """Inputs with names that PyTorch would change."""

    def forward(self, L_size_, L_LayerNorm_, x):
        return x[:, :L_size_] @ L_LayerNorm_


def names_hold(folder):
    """Inputs by name keep their names, in the order of the module's."""
    given = {"x": torch.rand(2, 5), "L_LayerNorm_": torch.rand(3, 4),
             "L_size_": torch.tensor(3)}
    nodes = export(Named().eval(), given, f"{folder}/net.graphml")
    made = [(node.name, node.outputs[0][0], node.attrs.get("fixed"))
            for node in nodes if node.op == "Parameter"]
    wanted = [("L_size_", (), "3"), ("L_LayerNorm_", (3, 4), None),
              ("x", (2, 5), None)]
    return "" if made == wanted else f"{made}"


def fixed_inputs_hold(folder):
    """An input whose value is read says so in the graph; others do not."""
    module = Call(lambda s, t, a: a[:s] * t)
    nodes = export(module.eval(), (torch.tensor(2), torch.tensor(3.0),
                                   torch.rand(4)), f"{folder}/net.graphml")
    fixed = [node.attrs.get("fixed") for node in nodes
             if node.op == "Parameter"]
    return "" if fixed == ["2", None, None] else f"{fixed}"


CAPTURED = """
import torch
from torch import device


class GraphModule(torch.nn.Module):
    def forward(self, s0: torch.SymInt, L_ids_: torch.Tensor,
                L_self_parameters_weight_: torch.nn.parameter.Parameter):
        l_ids_ = L_ids_
        rows = torch.nn.functional.embedding(
            l_ids_, L_self_parameters_weight_, 0, None, 2.0, False, False)
        places = torch.arange(s0, device=device(type='cuda', index=0))
        places += 0
        most = l_ids_.max();  item = most.item();  most = None
        add = item + 1
        gt = add > 0
        torch.ops.aten._assert_scalar.default(gt, 'at least one')
        le = item <= s0 + 9
        torch.ops.aten._assert_scalar.default(le, 'at most s0 + 9')
        return (rows.to('cuda:0') * add, places.cuda().float(), add)
"""
DESCRIBED = """
class Program_weight_tensor_meta_s0:
    name = "s0"
    shape = []
    dtype = "torch.int64"
    data = [3]


class Program_weight_tensor_meta_L_ids_:
    name = "L_ids_"
    shape = [2, 3]
    dtype = "torch.int64"
    min_val = 0
    max_val = 4


class Program_weight_tensor_meta_L_self_parameters_weight_:
    name = "L_self_parameters_weight_"
    shape = [5, 4]
    dtype = "torch.float32"
    device = "cuda:0"
    mean = 0.25
    std = 2.0
    data = None
"""


def folders_hold(folder):
    """A folder of a captured graph is a source, whatever device it names; its
    GraphModule is one in training mode, too, its sizes are numbers, and a
    number it reads is none of the outputs."""
    os.mkdir(f"{folder}/graph.a1")
    for name, text in ("model.py", CAPTURED), ("weight_meta.py", DESCRIBED):
        with open(f"{folder}/graph.a1/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    scope = {}
    exec(CAPTURED.replace("'cuda', index=0", "'cpu'").replace(
        "'cuda:0'", "'cpu'").replace("cuda()", "cpu()"), scope)
    module = scope["GraphModule"]()
    inputs = torch.tensor(3), torch.tensor([[4, 0, 1], [2, 3, 4]]), \
        torch.randn(5, 4)
    for source, given in (f"{folder}/graph.a1", None), \
            (f"{folder}/graph.a1/model.py", None), (module, inputs):
        export(source, given, f"{folder}/net.graphml")
        save(folder, "input", inputs)
        save(folder, "output", module(3, *inputs[1:])[:2])
        wrong = execute(folder, 3, "1e-5")
        if wrong:
            return wrong
    return captured_errors(f"{folder}/graph.a1")


def refusal(source):
    """Why a source is not exported, or None."""
    try:
        export(source, None, f"{source}/no.graphml")
    except ExportError as error:
        return str(error)
    return None


def captured_errors(folder):
    """Errors name the file of the folder; its coding may be declared."""
    name = f"{folder}/weight_meta.py"
    for text, wanted in (
            (b"raise ValueError('stop')", "in line 1 of weight_meta.py: stop"),
            (b"\na = (", "its weight_meta.py is no Python that can be read: "
                         "line 2"),
            (b"a = 1\0", "its weight_meta.py is no Python that can be read"),
            (b"# coding: none-such", "its weight_meta.py is no Python"),
            (b"# \xff", "its weight_meta.py is no Python"),
            (b"# coding: latin-1\n# \xff", "describes the argument"),
            (b"\xef\xbb\xbf# a mark", "describes the argument")):
        with open(name, "wb") as file:
            file.write(text)
        if wanted not in (refusal(folder) or ""):
            return f"{text}: {refusal(folder)}"
    os.rename(folder, f"{folder}:x")
    folder = f"{folder}:x"
    if "describes the argument" not in (refusal(folder) or ""):
        return f"a folder of this name: {refusal(folder)}"
    os.remove(f"{folder}/model.py")
    return "" if "without model.py" in (refusal(folder) or "") else (
        f"a folder without a graph: {refusal(folder)}")


def routed(x):
    """Experts, each of which computes the rows that a mask chooses."""
    weights, chosen = torch.topk(x[:, :3].softmax(1), 2)
    mask = F.one_hot(chosen, 3).permute(2, 1, 0)
    made = torch.zeros_like(x)
    for expert in range(3):
        at, row = torch.where(mask[expert])
        rows = F.silu(x[None, row].reshape(-1, 5) @ x[:5].T) * (expert + 1)
        made.index_add_(0, row, rows * weights[row, at, None])
    return made


def routes_hold(folder):
    """Rows that a mask chooses are those of any input; what depends on their
    number, or on others of them, is refused."""
    def among(change):
        def function(x):
            row, = torch.where(x[:, 0] > 0)
            return torch.zeros_like(x).index_add(0, row, change(x[row]))
        return Call(function).eval()

    x, y = torch.randn(8, 5), torch.randn(8, 5)
    x[0, 0], x[1, 0] = 1, -1
    for module in (Call(routed).eval(), among(torch.tanh)):
        export(module, (x,), f"{folder}/net.graphml")
        save(folder, "input", [y])
        save(folder, "output", [module(y)])
        wrong = execute(folder, 1, "1e-4")
        if wrong:
            return wrong
    for change in (lambda rows: rows / rows.shape[0],
                   lambda rows: rows - rows.mean(0),
                   lambda rows: rows.flip(0), lambda rows: rows.cumsum(0),
                   lambda rows: rows if rows.shape[0] > 2 else rows * 2):
        try:
            export(among(change), (x,), f"{folder}/no.graphml")
        except ExportError:
            continue
        return "rows that depend on others were exported"
    return ""


def refusals_hold(folder):
    """All ops that cannot be exported are reported, and no file is written."""
    module = Call(lambda a: (torch.linalg.svdvals(a), torch.rand_like(a),
                             a.view(torch.int32)))
    try:
        export(module.eval(), (torch.rand(3, 3),), f"{folder}/no.graphml")
    except ExportError as error:
        text = str(error)
    else:
        return "it was exported"
    if os.path.exists(f"{folder}/no.graphml"):
        return "a file was written"
    parts = ("svd", "random", "the bits", f" at {__file__}:")
    return "" if all(part in text for part in parts) else text


def report(number, name, wrong):
    print(f"{'not ok' if wrong else 'ok'} {number} - {name}", flush=True)
    for line in wrong.strip().splitlines()[:5]:
        print(f"# {line[:300]}")
    return bool(wrong)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder")
    parser.add_argument("--tolerance", default="1e-4")
    parser.add_argument("names", nargs="*")
    chosen = parser.parse_args()
    torch.manual_seed(8)
    wanted = [(name, lambda folder, make=make: fault(make, folder,
                                                     chosen.tolerance))
              for name, make in cases()]
    wanted += [("programs and files", programs_hold),
               ("without weights", without_weights_hold),
               ("dynamic programs", shapes_hold),
               ("fixed inputs", fixed_inputs_hold),
               ("folders of captured graphs", folders_hold),
               ("names", names_hold),
               ("routed rows", routes_hold),
               ("refusals", refusals_hold)]
    wanted = [(name, test) for name, test in wanted
              if not chosen.names or name in chosen.names]
    print(f"1..{len(wanted)}")
    failed = 0
    for number, (name, test) in enumerate(wanted, 1):
        with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
            try:
                wrong = test(folder)
            except Exception as error:  # the rest is still to be tried
                wrong = f"{type(error).__name__}: {error}"
        failed += report(number, name, wrong)
    sys.exit(failed > 0)


main()
