# SPDX-License-Identifier: Apache-2.0
"""Causal language models of transformers as two phases that share a cache.

prefill takes a prompt, decode one token; both take the number of tokens that
came before, and read and write the keys and values of all layers, states of a
fixed capacity:

    ids [batch, n], position [1], states  ->  logits [batch, vocabulary], states
"""
import inspect

import torch

from . import torch_read
from .graph import ExportError


def cache_kinds():
    """The base classes of caches; None where transformers is too old."""
    try:
        from transformers.cache_utils import Cache, CacheLayerMixin
    except ImportError:
        raise ExportError("generation needs transformers 4.56 or later") \
            from None
    return Cache, CacheLayerMixin


def layer_of(keys, values, position):
    """A layer of a cache whose tensors are replaced, not written."""
    class Layer(cache_kinds()[1]):
        is_sliding = False
        is_compileable = True

        def __init__(self):
            super().__init__()
            self.keys, self.values = keys, values
            self.is_initialized = True

        def lazy_initialization(self, *_, **__):
            pass

        def update(self, new_keys, new_values, *_, **__):
            at = position + torch.arange(new_keys.shape[-2],
                                         device=new_keys.device)
            self.keys = self.keys.index_copy(2, at, new_keys)
            self.values = self.values.index_copy(2, at, new_values)
            return self.keys, self.values

        def get_mask_sizes(self, *_, **__):
            return keys.shape[-2], 0

        def get_seq_length(self, *_, **__):
            return position[0]

        def get_max_cache_shape(self):
            return keys.shape[-2]

        get_max_length = get_max_cache_shape

    return Layer()


class Phase(torch.nn.Module):
    """The model with its cache as inputs and outputs."""

    def __init__(self, model):
        super().__init__()
        self.model = model
        self.parameters_of = inspect.signature(model.forward).parameters

    def forward(self, ids, position, past):
        cache = cache_kinds()[0](layers=[
            layer_of(keys, values, position)
            for keys, values in zip(past[::2], past[1::2])])
        at = position + torch.arange(ids.shape[1], device=ids.device)
        more = {}
        if "cache_position" in self.parameters_of:
            more["cache_position"] = at
        if "logits_to_keep" in self.parameters_of:
            more["logits_to_keep"] = 1
        made = self.model(input_ids=ids, position_ids=at.unsqueeze(0),
                          past_key_values=cache, use_cache=True, **more)
        return [made.logits[:, -1], *(x for layer in cache.layers
                                      for x in (layer.keys, layer.values))]


def ids_of(inputs):
    """The example prompt among the inputs."""
    if isinstance(inputs, dict):
        mask = inputs.get("attention_mask")
        if mask is not None and not bool((mask != 0).all()):
            raise ExportError("--max-length needs prompts without padding: "
                              "attention_mask has zeros; give prompts of "
                              "equal length")
        inputs = [inputs.get("input_ids", next(iter(inputs.values()), None))]
    ids = inputs[0] if isinstance(inputs, (list, tuple)) and inputs else inputs
    if not isinstance(ids, torch.Tensor) or ids.dim() != 2 or \
            ids.is_floating_point():
        raise ExportError("--max-length needs a prompt of token ids, [batch, "
                          "length], as the first input")
    return ids


def empty_cache(model, ids, capacity):
    """Zeros for the keys and values of all layers, as the model makes them."""
    try:
        with torch.no_grad():
            made = model(input_ids=ids[:, :1], use_cache=True)
        layers = made.past_key_values.layers
        past = [x for layer in layers for x in (layer.keys, layer.values)]
        shapes = [tuple(x.shape) for x in past]
    except ExportError:
        raise
    except Exception as error:
        raise ExportError("--max-length needs a causal language model of "
                          "transformers whose layers cache keys and values: "
                          f"{type(error).__name__}: {error}") from error
    if not shapes or any(len(shape) != 4 or shape[2] != 1 for shape in shapes):
        raise ExportError("--max-length needs layers that cache keys and "
                          "values [batch, heads, length, width]; this model "
                          "has others")
    return [x.new_zeros((*shape[:2], capacity, shape[3]))
            for x, shape in zip(past, shapes)]


def read_phase(model, ids, past, with_weights):
    position = torch.zeros(1, dtype=torch.int64, device=ids.device)
    graph = torch_read.read(Phase(model).eval(), {"ids": ids,
                                                  "position": position,
                                                  "past": past},
                            {}, with_weights)
    names = [f"{kind}.{layer}" for layer in range(len(past) // 2)
             for kind in ("key", "value")]
    if [node.name for node in graph.inputs[:2]] != ["ids", "position"] or \
            len(graph.inputs) != 2 + len(past):
        raise ExportError("the model does not read its prompt or its position")
    for name, read, written in zip(names, graph.inputs[2:], graph.results[1:]):
        read.state = written.state = name
    return graph


def read(model, inputs, capacity, with_weights=True):
    """The graphs of both phases, by name."""
    cache_kinds()
    if not isinstance(model, torch.nn.Module):
        raise ExportError(f"a {type(model).__name__} is no torch.nn.Module")
    ids = ids_of(inputs)
    if ids.shape[1] >= capacity:
        raise ExportError(f"a prompt of {ids.shape[1]} tokens leaves no room "
                          f"for an answer in --max-length {capacity}", 2)
    past = empty_cache(model, ids, capacity)
    return {"prefill": read_phase(model, ids, past, with_weights),
            "decode": read_phase(model, ids[:, :1], past, with_weights)}
