# SPDX-License-Identifier: Apache-2.0
"""The networks of exec_torch.py, with random weights by a seed: a function
each, as moirai-export expects. One output each."""
import torch


class First(torch.nn.Module):
    """The first output of a model of transformers."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, ids):
        return self.net(input_ids=ids, use_cache=False, return_dict=False)[0]


def linear(*shape):
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(768, 2304)).eval(), (
        torch.rand(*shape),
    )


def seq_first():
    return linear(50, 1, 768)


def batch_first():
    return linear(1, 50, 768)


def vision(name):
    import torchvision

    torch.manual_seed(0)
    net = getattr(torchvision.models, name)(weights=None)
    for weight in net.parameters():  # an untrained head is zero
        if weight.dim() > 1 and not weight.any():
            torch.nn.init.normal_(weight, std=0.02)
    return net.eval(), (torch.rand(1, 3, 224, 224),)


def vit_b_32():
    return vision("vit_b_32")


def swin_t():
    return vision("swin_t")


def bert():
    import transformers

    torch.manual_seed(0)
    net = transformers.BertModel(transformers.BertConfig())
    return First(net).eval(), (torch.randint(0, 1000, (1, 64)),)


def gpt2():
    import transformers

    torch.manual_seed(0)
    net = transformers.GPT2LMHeadModel(transformers.GPT2Config())
    return First(net).eval(), (torch.randint(0, 1000, (1, 64)),)
