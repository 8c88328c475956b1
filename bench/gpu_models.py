# SPDX-License-Identifier: Apache-2.0
"""The networks of gpu.py, with synthetic weights by a seed, scaled so that
activations keep their magnitude from layer to layer: a function each, as
moirai-export expects."""
import torch


def vision(name, size, **options):
    import torchvision

    torch.manual_seed(0)
    net = getattr(torchvision.models, name)(weights=None, **options)
    for layer in net.modules():
        if isinstance(layer, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(layer.weight)
        if isinstance(layer, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(layer.running_mean, -0.1, 0.1)
            torch.nn.init.uniform_(layer.running_var, 0.8, 1.2)
    return net.eval(), (torch.rand(1, 3, size, size),)


def resnet50():
    return vision("resnet50", 224)


def inception_v3():
    return vision("inception_v3", 299, init_weights=False, aux_logits=False)


def googlenet():
    return vision("googlenet", 224, init_weights=False, aux_logits=False)


def swin_t():
    return vision("swin_t", 224)


def gpt2():
    import transformers

    torch.manual_seed(0)
    net = transformers.GPT2LMHeadModel(transformers.GPT2Config(use_cache=False))
    return net.eval(), {"input_ids": torch.randint(0, 1000, (1, 512))}


def bert():
    import transformers

    torch.manual_seed(0)
    net = transformers.BertModel(transformers.BertConfig())
    return net.eval(), {"input_ids": torch.randint(0, 1000, (1, 128))}


MODELS = {
    make.__name__: make
    for make in (resnet50, inception_v3, googlenet, swin_t, gpt2, bert)
}
