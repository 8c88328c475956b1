/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/hf/tensor_role.h"

#include <string.h>

#include "base/number.h"

/* Roles of modules, without layer, expert and suffix. */
static const struct {
    const char *module, *role;
} layer_roles[] = {
    { "input_layernorm", "attn_norm" },
    { "self_attn.q_proj", "attn_q" },
    { "self_attn.k_proj", "attn_k" },
    { "self_attn.v_proj", "attn_v" },
    { "self_attn.qkv_proj", "attn_qkv" },
    { "self_attn.o_proj", "attn_output" },
    { "self_attn.q_norm", "attn_q_norm" },
    { "self_attn.k_norm", "attn_k_norm" },
    { "self_attn.q_layernorm", "attn_q_norm" },
    { "self_attn.k_layernorm", "attn_k_norm" },
    { "self_attn.sinks", "attn_sinks" },
    { "self_attn.rotary_emb", "attn_rot_embd" },
    { "self_attn.q_a_proj", "attn_q_a" },
    { "self_attn.q_a_layernorm", "attn_q_a_norm" },
    { "self_attn.q_b_proj", "attn_q_b" },
    { "self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa" },
    { "self_attn.kv_a_layernorm", "attn_kv_a_norm" },
    { "self_attn.kv_b_proj", "attn_kv_b" },
    { "post_attention_layernorm", "post_attention_norm" },
    { "pre_feedforward_layernorm", "ffn_norm" },
    { "post_feedforward_layernorm", "post_ffw_norm" },
    { "mlp.gate_proj", "ffn_gate" },
    { "mlp.up_proj", "ffn_up" },
    { "mlp.gate_up_proj", "ffn_up" },
    { "mlp.down_proj", "ffn_down" },
    { "mlp.gate", "ffn_gate_inp" },
    { "mlp.router", "ffn_gate_inp" },
    { "block_sparse_moe.gate", "ffn_gate_inp" },
    { "mlp.gate.e_score_correction", "exp_probs_b" },
    { "mlp.experts.gate_proj", "ffn_gate_exps" },
    { "mlp.experts.up_proj", "ffn_up_exps" },
    { "mlp.experts.gate_up_proj", "ffn_gate_up_exps" },
    { "mlp.experts.down_proj", "ffn_down_exps" },
    { "block_sparse_moe.experts.w1", "ffn_gate_exps" },
    { "block_sparse_moe.experts.w3", "ffn_up_exps" },
    { "block_sparse_moe.experts.w2", "ffn_down_exps" },
    { "mlp.shared_expert_gate", "ffn_gate_inp_shexp" },
    { "mlp.shared_expert.gate_proj", "ffn_gate_shexp" },
    { "mlp.shared_expert.up_proj", "ffn_up_shexp" },
    { "mlp.shared_expert.down_proj", "ffn_down_shexp" },
    { "mlp.shared_experts.gate_proj", "ffn_gate_shexp" },
    { "mlp.shared_experts.up_proj", "ffn_up_shexp" },
    { "mlp.shared_experts.down_proj", "ffn_down_shexp" },
    { "self_attn.out_proj", "attn_output" },
    { "post_self_attn_layernorm", "attn_output_norm" },
    { "post_mlp_layernorm", "post_ffw_norm" },
    { "operator_norm", "attn_norm" },
    { "ffn_norm", "ffn_norm" },
    { "mlp.c_fc", "ffn_up" },
    { "mlp.c_proj", "ffn_down" },
    { "mlp.moe_statics.e_score_correction", "exp_probs_b" },
    { "block_sparse_moe.e_score_correction", "exp_probs_b" },
    { "block_sparse_moe.router.layer", "ffn_gate_inp" },
    { "block_sparse_moe.input_linear", "ffn_gate_up_exps" },
    { "block_sparse_moe.output_linear", "ffn_down_exps" },
    { "shared_mlp.input_linear", "ffn_up_shexp" },
    { "shared_mlp.output_linear", "ffn_down_shexp" },
    { "feed_forward.w1", "ffn_gate" },
    { "feed_forward.w2", "ffn_down" },
    { "feed_forward.w3", "ffn_up" },
    { "conv.in_proj", "shortconv.in_proj" },
    { "conv.conv", "shortconv.conv" },
    { "conv.out_proj", "shortconv.out_proj" },
    { "linear_attn.in_proj_qkvz", "ssm_in" },
    { "linear_attn.in_proj_ba", "ssm_ba" },
    { "linear_attn.in_proj_qkv", "attn_qkv" },
    { "linear_attn.in_proj_z", "attn_gate" },
    { "linear_attn.in_proj_b", "ssm_beta" },
    { "linear_attn.in_proj_a", "ssm_alpha" },
    { "linear_attn.conv1d", "ssm_conv1d" },
    { "linear_attn.A_log", "ssm_a" },
    { "linear_attn.dt", "ssm_dt" },
    { "linear_attn.norm", "ssm_norm" },
    { "linear_attn.out_proj", "ssm_out" },
    { "mixer.q_proj", "attn_q" },
    { "mixer.k_proj", "attn_k" },
    { "mixer.v_proj", "attn_v" },
    { "mixer.o_proj", "attn_output" },
    { "mixer.up_proj", "ffn_up" },
    { "mixer.down_proj", "ffn_down" },
    { "mixer.gate", "ffn_gate_inp" },
    { "mixer.gate.e_score_correction", "exp_probs_b" },
    { "mixer.experts.up_proj", "ffn_up_exps" },
    { "mixer.experts.down_proj", "ffn_down_exps" },
    { "mixer.shared_experts.up_proj", "ffn_up_shexp" },
    { "mixer.shared_experts.down_proj", "ffn_down_shexp" },
    { "norm", "attn_norm" },
    { "mixer.in_proj", "ssm_in" },
    { "mixer.conv1d", "ssm_conv1d" },
    { "mixer.x_proj", "ssm_x" },
    { "mixer.dt_proj", "ssm_dt" },
    { "mixer.dt", "ssm_dt" },
    { "mixer.A_log", "ssm_a" },
    { "mixer.D", "ssm_d" },
    { "mixer.norm", "ssm_norm" },
    { "mixer.out_proj", "ssm_out" },
    { "mamba.in_proj", "ssm_in" },
    { "mamba.conv1d", "ssm_conv1d" },
    { "mamba.x_proj", "ssm_x" },
    { "mamba.dt_proj", "ssm_dt" },
    { "mamba.dt", "ssm_dt" },
    { "mamba.norm", "ssm_norm" },
    { "mamba.A_log", "ssm_a" },
    { "mamba.D", "ssm_d" },
    { "mamba.dt_layernorm", "ssm_dt_norm" },
    { "mamba.b_layernorm", "ssm_b_norm" },
    { "mamba.c_layernorm", "ssm_c_norm" },
    { "mamba.out_proj", "ssm_out" },
    { "pre_ff_layernorm", "ffn_norm" },
    { "feed_forward.router", "ffn_gate_inp" },
    { "feed_forward.gate_proj", "ffn_gate" },
    { "feed_forward.up_proj", "ffn_up" },
    { "feed_forward.down_proj", "ffn_down" },
    { "feed_forward.experts.gate_proj", "ffn_gate_exps" },
    { "feed_forward.experts.up_proj", "ffn_up_exps" },
    { "feed_forward.experts.down_proj", "ffn_down_exps" },
}, model_roles[] = {
    { "model.embed_tokens", "token_embd" },
    { "model.norm", "output_norm" },
    { "model.final_layernorm", "output_norm" },
    { "model.embedding_norm", "output_norm" },
    { "lm_head", "output" },
    { "model.rotary_emb", "rope_freqs" },
    { "backbone.embeddings", "token_embd" },
    { "backbone.norm_f", "output_norm" },
};

/* Parts of a weight beside the weight itself come from quantization. */
static const char *const suffixes[] = {
    ".weight",
    ".bias",
    ".inv_freq",
    ".qweight",
    ".qzeros",
    ".scales",
    ".g_idx",
    ".weight_scale",
    ".weight_packed",
    ".weight_shape",
    ".weight_scale_inv",
    ".weight_zero_point",
    ".input_scale",
    ".weight_scale_2",
    "_blocks",
    "_scales",
    "_bias",
};

/* Length of the first number between dots, which begins at *at; 0: none. */
static size_t find_number(const char *text, size_t length, size_t *at)
{
    for (size_t i = 0; i < length; i++) {
        size_t n = text[i] == '.' ? strspn(text + i + 1, "0123456789") : 0;

        if (n > 0 && n < 7 && i + 1 + n < length && text[i + 1 + n] == '.') {
            *at = i + 1;
            return n;
        }
    }
    return 0;
}

static const char *find_suffix(const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t n = strlen(suffixes[i]);

        if (length > n && strcmp(name + length - n, suffixes[i]) == 0)
            return name + length - n;
    }
    return name + length;
}

/* Removes the number of an expert from the name of the op, behind `from`. */
static void strip_expert(mo_hf_role *role, size_t from)
{
    size_t length = strlen(role->op), at = 0;
    size_t digits = find_number(role->op + from, length - from, &at);
    char *number = role->op + from + at;
    const char *rest = number + digits + 1;

    if (digits == 0)
        return;
    (void) mo_number_read_int(number, digits, &role->expert);
    do
        *number++ = *rest;
    while (*rest++);
}

mo_hf_role mo_hf_role_of(const char *name)
{
    const char *suffix = find_suffix(name);
    size_t length = (size_t) (suffix - name), at = 0, digits;
    mo_hf_role role = { .layer = -1, .expert = -1, .suffix = suffix };
    int64_t number = 0;

    memcpy(role.op, name, length);
    role.op[length] = '\0';
    digits = find_number(name, length, &at);
    if (digits == 0) {
        for (size_t i = 0; i < sizeof model_roles / sizeof *model_roles; i++)
            if (strcmp(model_roles[i].module, role.op) == 0)
                role.role = model_roles[i].role;
        return role;
    }
    (void) mo_number_read_int(name + at, digits, &number);
    role.layer = (int) number;
    role.prefix_length = at;
    at += digits + 1;
    strip_expert(&role, at - 1);
    for (size_t i = 0; i < sizeof layer_roles / sizeof *layer_roles; i++)
        if (strcmp(layer_roles[i].module, role.op + at) == 0)
            role.role = layer_roles[i].role;
    return role;
}
