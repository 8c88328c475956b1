# SPDX-License-Identifier: Apache-2.0
"""Networks of torchvision, transformers and timm for bench/export_campaign.py.

All are made here with random weights, small where their configuration allows
it.  A case is a name and a function that returns a module and its inputs.
"""
import inspect
import re

import torch
from torch import nn

# Attributes of configurations, under the names that architectures give them.
SIZES = {
    "hidden_size": 32, "d_model": 32, "n_embd": 32, "dim": 32, "embed_dim": 32,
    "hidden_dim": 32, "projection_dim": 16, "word_embed_proj_dim": 32,
    "embedding_size": 32, "intermediate_size": 48, "ffn_dim": 48, "d_ff": 48,
    "n_inner": 48, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48,
    "moe_intermediate_size": 24, "shared_expert_intermediate_size": 24,
    "num_hidden_layers": 2, "num_layers": 2, "n_layer": 2, "n_layers": 2,
    "encoder_layers": 2, "decoder_layers": 2, "num_decoder_layers": 2,
    "num_attention_heads": 4, "n_head": 4, "n_heads": 4, "num_heads": 4,
    "encoder_attention_heads": 4, "decoder_attention_heads": 4,
    "num_key_value_heads": 2, "head_dim": 8, "d_kv": 8, "vocab_size": 99,
    "max_position_embeddings": 64, "n_positions": 64, "n_ctx": 64,
    "num_experts": 4, "num_local_experts": 4, "n_routed_experts": 4,
    "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
    "q_lora_rank": 16, "kv_lora_rank": 16, "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8, "v_head_dim": 8, "image_size": 32,
    "patch_size": 8, "num_mel_bins": 16, "max_source_positions": 32,
    "max_target_positions": 32, "state_size": 8, "time_step_rank": 4,
    "mamba_d_state": 8, "mamba_n_heads": 8, "mamba_d_head": 8,
    "type_vocab_size": 2, "sliding_window": 8, "num_labels": 3,
}
TOKENS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
          "decoder_start_token_id": 1, "sep_token_id": 3, "cls_token_id": 1,
          "mask_token_id": 4, "use_cache": False}

# Dense, mixture of experts, hybrid, encoder-decoder, vision, speech; all others
# come after them.
ARCHITECTURES = """
albert apertus arcee bamba bart beit bert bert-generation big_bird biogpt bit
blenderbot bloom blip camembert canine clip codegen cohere convbert convnext
convnextv2 ctrl cvt data2vec-text dbrx deberta deberta-v2 deepseek_v2
deepseek_v3 deit dinov2 distilbert dpr dpt electra ernie esm exaone4
falcon falcon_mamba flaubert fnet focalnet funnel gemma gemma2 gemma3_text glm
glm4 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj granite granitemoe groupvit
helium hiera hubert ibert jamba jetmoe layoutlm led levit lfm2 llama longformer
longt5 luke lxmert mamba mamba2 marian mbart megatron-bert mistral mixtral
mobilebert mobilenet_v1 mobilenet_v2 mobilevit mobilevitv2 modernbert mpnet mpt
mra mt5 mvp nemotron nezha nystromformer olmo olmo2 olmoe opt pegasus persimmon
phi phi3 phimoe plbart poolformer pvt pvt_v2 qwen2 qwen2_moe qwen3 qwen3_moe
recurrent_gemma reformer regnet rembert resnet roberta roc_bert roformer rwkv
segformer sew siglip smollm3 splinter squeezebert stablelm starcoder2 swin
swinv2 swiftformer t5 umt5 unispeech videomae vilt visual_bert vit vit_mae
vit_msn vivit wav2vec2 wav2vec2-bert wavlm whisper xglm xlm xlm-roberta xlnet
xmod yolos yoso zamba2
""".split()

# One small variant of most families of timm; others come after them, but for
# the largest.
TIMM = """
beit_base_patch16_224 botnet26t_256 caformer_s18 cait_xxs24_224 coat_tiny
coatnet_nano_rw_224 convit_tiny convmixer_768_32 convnext_atto cpubone_nano
crossvit_9_240 csatv2 cspnext_tiny cspresnet50 darknet53 davit_tiny
deit_tiny_patch16_224 densenet121 dla34 dpn48b edgenext_xx_small
efficientformer_l1 efficientformerv2_s0 efficientnet_b0 efficientvim_m1
efficientvit_b0 efficientvit_m0 ese_vovnet19b_slim_dw eva02_tiny_patch14_224
fasternet_t0 fastvit_t8 fbnetc_100 focalnet_tiny_srf gcvit_xxtiny
gemma4_vit_167m gernet_s ghostnet_050 gmixer_24_224 gmlp_s16_224 halonet26t
hardcorenas_a hgnetv2_b0 hiera_tiny_224 hrnet_w18_small iformer_t
inception_next_atto inception_resnet_v2 inception_v3 inception_v4
lambda_resnet26t lcnet_050 lcnetv2_small legacy_xception levit_128s
lowformer_b0 mambaout_femto maxvit_nano_rw_256 mixer_s32_224 mixnet_s
mnasnet_050 mobilenetv2_035 mobilenetv3_small_050 mobilenetv4_conv_small
mobilenetv5_300m mobileone_s0 mobilevit_xxs mobilevitv2_050 mvitv2_tiny
naflexvit_base_patch16_gap nest_tiny nextvit_small nf_resnet50 pit_ti_224
poolformer_s12 pvt_v2_b0 qwen3_vit_88m rdnet_tiny regnetx_002 regnety_002
repghostnet_050 repvgg_a0 repvit_m0_9 res2net50_14w_8s resmlp_12_224 resnest14d
resnet18 resnetv2_50 rexnet_100 sam2_hiera_tiny samvit_base_patch16_224
sebotnet33ts_256 selecsls42 senet154 sequencer2d_s shvit_s1 skresnet18
starnet_s050 swiftformer_xs swin_tiny_patch4_window7_224 swinv2_cr_tiny_224
swinv2_tiny_window8_256 test_vit_relpos tf_efficientnetv2_b0 tiny_vit_5m_224
tnt_s_patch16_224 tresnet_m twins_pcpvt_small vgg11 visformer_tiny
vit_tiny_patch16_224 vit_tiny_r_s16_p8_224 vitamin_small_224 volo_d1_224
xception41 xcit_nano_12_p16_224
""".split()


class Keywords(nn.Module):
    """A model of transformers with positional inputs, which returns tensors
    only."""

    def __init__(self, model, names):
        super().__init__()
        self.model = model
        self.names = names

    def forward(self, *inputs):
        made = self.model(**dict(zip(self.names, inputs)))
        made = made.to_tuple() if hasattr(made, "to_tuple") else made
        return tuple(x for x in made if isinstance(x, torch.Tensor))


class Detector(nn.Module):
    """A detector for one image, whose outputs are tensors."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image):
        return tuple(self.model([image])[0].values())


# torchvision

def vision_inputs(name, models):
    if name in models.list_models(module=models.video):
        return (torch.randn(1, 3, 16, 112, 112) if "mvit" not in name
                and "swin" not in name else torch.randn(1, 3, 16, 224, 224),)
    if name in models.list_models(module=models.optical_flow):
        return torch.randn(1, 3, 128, 128), torch.randn(1, 3, 128, 128)
    size = 64
    if name.startswith(("vit", "maxvit")):
        size = 518 if "h_14" in name else 224
    elif name.startswith(("inception", "googlenet", "alexnet", "vgg", "dense",
                          "squeeze", "swin")):
        size = 96
    return (torch.randn(1, 3, size, size),)


def vision_model(name, models):
    options = {"weights": None}
    if name in ("googlenet", "inception_v3"):
        options["init_weights"] = False
    if name.startswith(("vit",)):
        options["image_size"] = 224 if "h_14" not in name else 518
    detects = name in models.list_models(module=models.detection)
    if detects or name in models.list_models(module=models.segmentation):
        options["weights_backbone"] = None
    if detects:
        return Detector(models.get_model(name, **options)), \
            (torch.rand(3, 96, 96),)
    return models.get_model(name, **options), vision_inputs(name, models)


def torchvision():
    from torchvision import models
    for name in models.list_models():
        if not name.startswith("quantized"):
            yield name, lambda name=name: vision_model(name, models)


# transformers

def shrink(config):
    """Small sizes, here and in the configurations within."""
    for name, value in list(vars(config).items()):
        if hasattr(value, "to_dict"):
            shrink(value)
        elif name in SIZES and isinstance(value, int):
            setattr(config, name, SIZES[name])
        elif name in TOKENS and (value is not None or name == "pad_token_id"):
            setattr(config, name, TOKENS[name])
        elif name == "layer_types" and value:
            setattr(config, name, value[:2])
    return config


def small_config(hub, kind):
    kind = hub.models.auto.configuration_auto.CONFIG_MAPPING[kind]
    wanted = {}
    taken = {**inspect.signature(kind.__init__).parameters,
             **getattr(kind, "__dataclass_fields__", {}),
             **getattr(kind, "attribute_map", {})}
    for name, value in {**SIZES, **TOKENS}.items():
        if name in taken or name in TOKENS:
            wanted[name] = value
    try:
        return shrink(kind(**wanted))
    except Exception:  # sizes that do not go together: the defaults' do
        return shrink(kind())


def language_inputs(model, config):
    taken = inspect.signature(model.forward).parameters
    ids = torch.randint(5, 90, (1, 12))
    inputs = {}
    if "pixel_values" in taken and (model.main_input_name == "pixel_values"
                                    or "input_ids" in taken):
        vision = getattr(config, "vision_config", config)
        size = getattr(vision, "image_size", 32)
        size = size if isinstance(size, int) else size[0]
        shape = (1, getattr(vision, "num_channels", 3), size, size)
        if hasattr(vision, "num_frames"):
            shape = (1, vision.num_frames) + shape[1:]
        inputs["pixel_values"] = torch.randn(*shape)
    if "input_ids" in taken:
        inputs["input_ids"] = ids
    if "input_features" in taken:
        bins = getattr(config, "num_mel_bins", None) or \
            getattr(config, "feature_projection_input_dim", 80)
        n = 2 * getattr(config, "max_source_positions", 16)
        inputs["input_features"] = torch.randn(1, bins, n) \
            if "whisper" in config.model_type else torch.randn(1, 24, bins)
    if "input_values" in taken:
        inputs["input_values"] = torch.randn(1, 2000)
    if "decoder_input_ids" in taken:
        inputs["decoder_input_ids"] = ids[:, :5]
    if "visual_feats" in taken:
        inputs["visual_feats"] = torch.randn(1, 4, config.visual_feat_dim)
        inputs["visual_pos"] = torch.rand(1, 4, 4)
    return inputs


def language_model(hub, kind):
    config = small_config(hub, kind)
    mapping = hub.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING
    auto = hub.AutoModelForCausalLM if type(config) in mapping and not \
        config.is_encoder_decoder else hub.AutoModel
    if kind in ("dpr",):
        model = hub.DPRContextEncoder(config)
    else:
        model = auto.from_config(config)
    model = model.eval()
    inputs = language_inputs(model, config)
    return Keywords(model, list(inputs)), tuple(inputs.values())


def transformers():
    import transformers as hub
    hub.logging.set_verbosity_error()
    known = hub.models.auto.configuration_auto.CONFIG_MAPPING
    for kind in (*ARCHITECTURES, *sorted(set(known) - set(ARCHITECTURES))):
        if kind in known:
            yield kind, lambda kind=kind: language_model(hub, kind)


# timm

def timm_model(timm, name):
    """With the smallest image that it can be made for, or that it takes."""
    fixed = timm.create_model(name, pretrained=False, num_classes=10)
    wanted = fixed.pretrained_cfg["input_size"][-1]
    for size in (64, 96, 128, wanted):
        image = torch.randn(1, 3, size, size)
        for options in ({"img_size": size}, {}):
            try:
                model = timm.create_model(name, pretrained=False,
                                          num_classes=10, **options).eval()
                with torch.no_grad():
                    model(image)
                return model, (image,)
            except Exception:  # of many kinds: not made for this size
                continue
    return fixed, (torch.randn(1, 3, wanted, wanted),)


def timm():
    import timm as library
    known = [name for name in library.list_models()
             if not re.search("huge|giant|gigantic|enormous|xxl|7b", name)]
    for name in (*TIMM, *sorted(set(known) - set(TIMM))):
        if name in known:
            yield name, lambda name=name: timm_model(library, name)


GROUPS = {"torchvision": torchvision, "transformers": transformers,
          "timm": timm}
