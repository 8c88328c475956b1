"""The networks of gpu.py, with weights made up by a seed: a function each, as
moirai-export takes them."""
import torch


def vision(name, size, **options):
    import torchvision

    torch.manual_seed(0)
    net = getattr(torchvision.models, name)(weights=None, **options)
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
