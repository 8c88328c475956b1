/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/llm/rows.h"

#include <string.h>

/* clang-format off */
const mo_llm_row mo_llm_layer_rows[] = {
    { "attn_norm",           MO_LLM_NORM,      "x",     'h', NULL },
    { "attn_qkv",            MO_LLM_LINEAR,    "h",     'q', NULL },
    { "attn_q",              MO_LLM_LINEAR,    "h",     'q', NULL },
    { "attn_q_a",            MO_LLM_LINEAR,    "h",     'q', NULL },
    { "attn_q_a_norm",       MO_LLM_NORM,      "q",     'q', NULL },
    { "attn_q_b",            MO_LLM_LINEAR,    "q",     'q', NULL },
    { "attn_k",              MO_LLM_LINEAR,    "h",     'k', NULL },
    { "attn_v",              MO_LLM_LINEAR,    "h",     'v', NULL },
    { "attn_kv_a_mqa",       MO_LLM_LINEAR,    "h",     'k', NULL },
    { "attn_kv_a_norm",      MO_LLM_NORM,      "k",     'k', NULL },
    { "attn_kv_b",           MO_LLM_LINEAR,    "k",     'k', NULL },
    { "attn_k_b",            MO_LLM_HEADS,     "q",     'q', NULL },
    { "attn_q_norm",         MO_LLM_NORM,      "q",     'q', NULL },
    { "attn_k_norm",         MO_LLM_NORM,      "k",     'k', NULL },
    { "attn_gate",           MO_LLM_LINEAR,    "h",     'z', NULL },

    { "ssm_in",              MO_LLM_LINEAR,    "h",     's', NULL },
    { "ssm_ba",              MO_LLM_LINEAR,    "h",     't', NULL },
    { "ssm_beta",            MO_LLM_LINEAR,    "h",     't', NULL },
    { "ssm_alpha",           MO_LLM_LINEAR,    "h",     'o', NULL },
    { "shortconv.in_proj",   MO_LLM_LINEAR,    "h",     's', NULL },
    { "ssm_conv1d",          MO_LLM_CONV,      "s",     's', NULL },
    { "shortconv.conv",      MO_LLM_CONV,      "s",     's', NULL },
    { "ssm_x",               MO_LLM_LINEAR,    "s",     'd', NULL },
    { "ssm",                 MO_LLM_SCAN,      "sdtoz", 's', "ssm_a" },
    { "ssm_a",               MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_d",               MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_dt",              MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_dt_norm",         MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_b_norm",          MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_c_norm",          MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_norm",            MO_LLM_PART,      "",      0,   "ssm" },
    { "ssm_out",             MO_LLM_LINEAR,    "s",     's', NULL },
    { "shortconv.out_proj",  MO_LLM_LINEAR,    "s",     's', NULL },

    { "attn_rope",           MO_LLM_ROPE,      "q",     'q', NULL },
    { "attn_rot_embd",       MO_LLM_PART,      "",      0,   "attn_rope" },
    { "rope_freqs",          MO_LLM_PART,      "",      0,   "attn_rope" },
    { "rope_factors_long",   MO_LLM_PART,      "",      0,   "attn_rope" },
    { "rope_factors_short",  MO_LLM_PART,      "",      0,   "attn_rope" },
    { "attn",                MO_LLM_ATTENTION, "qkv",   'a', NULL },
    { "attn_sinks",          MO_LLM_PART,      "",      0,   "attn" },
    { "attn_v_b",            MO_LLM_HEADS,     "a",     'a', NULL },
    { "attn_sub_norm",       MO_LLM_NORM,      "a",     'a', NULL },
    { "attn_gated",          MO_LLM_ACT,       "az",    'a', "attn_output" },
    { "attn_output",         MO_LLM_LINEAR,    "a",     'a', NULL },
    { "attn_output_norm",    MO_LLM_NORM,      "a",     'a', NULL },
    { "post_attention_norm", MO_LLM_NORM,      "a",     'a', "ffn_norm" },
    { "attn_add",            MO_LLM_ADD,       "xas",   'x', NULL },
    { "post_attention_norm", MO_LLM_NORM,      "x",     'h', NULL },
    { "ffn_norm",            MO_LLM_NORM,      "x",     'h', NULL },

    { "ffn_gate",            MO_LLM_LINEAR,    "h",     'g', NULL },
    { "ffn_up",              MO_LLM_LINEAR,    "h",     'u', NULL },
    { "ffn_act",             MO_LLM_ACT,       "ug",    'm', "ffn_down" },
    { "ffn_sub_norm",        MO_LLM_NORM,      "m",     'm', NULL },
    { "ffn_down",            MO_LLM_LINEAR,    "m",     'm', NULL },

    { "ffn_gate_inp",        MO_LLM_LINEAR,    "h",     'r', NULL },
    { "ffn_topk",            MO_LLM_TOPK,      "r",     'r', NULL },
    { "exp_probs_b",         MO_LLM_PART,      "",      0,   "ffn_topk" },
    { "ffn_gate_exps",       MO_LLM_EXPERTS,   "hr",    'G', NULL },
    { "ffn_up_exps",         MO_LLM_EXPERTS,   "hr",    'U', NULL },
    { "ffn_gate_up_exps",    MO_LLM_EXPERTS,   "hr",    'U', NULL },
    { "ffn_exps_act",        MO_LLM_ACT,       "UG",    'E', "ffn_down_exps" },
    { "ffn_down_exps",       MO_LLM_EXPERTS,   "Er",    'E', NULL },
    { "ffn_exps_sum",        MO_LLM_SUM,       "Er",    'E', NULL },

    { "ffn_gate_inp_shexp",  MO_LLM_LINEAR,    "h",     'w', NULL },
    { "ffn_gate_shexp",      MO_LLM_LINEAR,    "h",     'S', NULL },
    { "ffn_up_shexp",        MO_LLM_LINEAR,    "h",     'T', NULL },
    { "ffn_shexp_act",       MO_LLM_ACT,       "TS",    'S', "ffn_down_shexp" },
    { "ffn_down_shexp",      MO_LLM_LINEAR,    "Sw",    'S', NULL },

    { "post_ffw_norm",       MO_LLM_NORM,      "m",     'm', NULL },
    { "ffn_add",             MO_LLM_ADD,       "xmES",  'x', NULL },
    { "layer_output_norm",   MO_LLM_NORM,      "x",     'x', NULL },

    /* A whole layer of which only the size is known. */
    { "layer",               MO_LLM_LINEAR,    "x",     'x', NULL },
    { NULL, 0, NULL, 0, NULL },
};

const mo_llm_row mo_llm_model_rows[] = {
    { "token_embd",          MO_LLM_EMBED,     "",      'x', NULL },
    { "position_embd",       MO_LLM_PART,      "",      0,   "token_embd" },
    { "token_types",         MO_LLM_PART,      "",      0,   "token_embd" },
    { "rope_freqs",          MO_LLM_PART,      "",      0,   "token_embd" },
    { "rope_factors_long",   MO_LLM_PART,      "",      0,   "token_embd" },
    { "rope_factors_short",  MO_LLM_PART,      "",      0,   "token_embd" },
    { "token_embd_norm",     MO_LLM_NORM,      "x",     'x', NULL },
    { "output_norm",         MO_LLM_NORM,      "x",     'x', NULL },
    { "output",              MO_LLM_LINEAR,    "x",     'x', NULL },
    { NULL, 0, NULL, 0, NULL },
};
/* clang-format on */

_Static_assert(sizeof mo_llm_layer_rows / sizeof *mo_llm_layer_rows <=
                   MO_LLM_MAX_ROWS,
               "rows of a layer");

int mo_llm_row_find(const mo_llm_row *rows, const char *role, size_t length)
{
    for (int i = 0; rows[i].role; i++)
        if (strlen(rows[i].role) == length &&
            memcmp(rows[i].role, role, length) == 0)
            return i;
    return -1;
}
