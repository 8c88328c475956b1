/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The feed-forward part of a layer: two products, one of which is a gate, and a
 * third.  In a mixture of experts (Shazeer et al., 2017) a router chooses whose
 * weights a token is multiplied by:
 *
 *     logits -> TopK -> chosen logits -> SoftMax -> weights of the sum
 *                    -> numbers of experts
 *
 * The softmax of the chosen logits is that of all, divided by the sum of the
 * chosen ones.
 */
#include "ingest/llm/decoder_internal.h"

#include <stdio.h>

static int add_f32(mo_llm_run *m, const char *role, const char *part,
                   const char *type, const char *attrs, mo_shape shape, int x)
{
    return mo_llm_run_add(m, &(mo_llm_run_op){ .role = role,
                                               .part = part,
                                               .type = type,
                                               .attrs = attrs,
                                               .shape = shape,
                                               .in = { x },
                                               .n_in = 1 });
}

/* The activation of the gate, times the other operand. */
static int add_gated(mo_llm_run *m, const char *role, int gate, int up,
                     mo_shape shape)
{
    switch (m->decoder->activation) {
    case MO_LLM_SILU:
        gate = add_f32(m, role, "gate", "Swish", NULL, shape, gate);
        break;
    case MO_LLM_GELU:
        gate = add_f32(m, role, "gate", "Gelu",
                       "{\"approximation_mode\":\"tanh\"}", shape, gate);
        break;
    case MO_LLM_CLAMPED_SILU:
        gate = add_f32(m, role, "clamped_gate", "Clamp", "{\"max\":7}", shape,
                       gate);
        gate =
            add_f32(m, role, "gate", "Swish", "{\"beta\":1.702}", shape, gate);
        up = add_f32(m, role, "clamped", "Clamp", "{\"min\":-7,\"max\":7}",
                     shape, up);
        up = mo_llm_run_add_f32(m, role, "one_more", "Add", shape, up,
                                mo_llm_run_add_number(m, "one", "f32", 1));
        break;
    }
    return mo_llm_run_add_f32(m, role, NULL, "Multiply", shape, gate, up);
}

static int add_dense(mo_llm_run *m, int h)
{
    int64_t width = mo_llm_run_find_weight(m, "ffn_down")->dims[0];
    const mo_shape wide = MO_LLM_SHAPE(1, m->tokens, width);
    mo_llm_weight *both = mo_llm_run_find_weight(m, "ffn_up");
    int gate, up;

    if (!mo_llm_run_find(m, "ffn_gate", ".weight") &&
        both->dims[1] == 2 * width) {
        h = mo_llm_run_add_linear(m, "ffn_up", h);
        gate = mo_llm_run_add_slice(m, "ffn_act", "first", h, 0, wide);
        up = mo_llm_run_add_slice(m, "ffn_act", "second", h, width, wide);
    } else {
        gate = mo_llm_run_add_linear(m, "ffn_gate", h);
        up = mo_llm_run_add_linear(m, "ffn_up", h);
    }
    return mo_llm_run_add_linear(m, "ffn_down",
                                 add_gated(m, "ffn_act", gate, up, wide));
}

/* The product of x, one row or one for each chosen expert, with their weights
 * of a role, and their biases. */
static int add_experts(mo_llm_run *m, const char *role, int x, int chosen)
{
    mo_llm_weight *w = mo_llm_run_find_weight(m, role);
    mo_llm_weight *bias = mo_llm_run_find(m, role, ".bias");
    char attrs[MO_LLM_RUN_FORMAT];
    mo_llm_run_op d = { .role = role,
                        .part = bias ? "products" : NULL,
                        .type = "LinearExperts",
                        .attrs = attrs,
                        .shape = MO_LLM_SHAPE(1, m->tokens,
                                              m->decoder->model->experts_used,
                                              w->dims[1]),
                        .in = { x, mo_llm_run_add_weight(m, w), chosen },
                        .n_in = 3 };

    snprintf(attrs, sizeof attrs, "{\"format\":\"%s\"}", w->type->name);
    x = mo_llm_run_add(m, &d);
    if (!bias)
        return x;
    d.part = "biases";
    d.attrs = NULL;
    return mo_llm_run_add_f32(
        m, role, NULL, "Add", d.shape, x,
        mo_llm_run_add_gather(m, &d, mo_llm_run_add_vector(m, bias), chosen,
                              0));
}

static int add_mixture(mo_llm_run *m, int h)
{
    int64_t used = m->decoder->model->experts_used;
    int64_t inner = mo_llm_run_find_weight(m, "ffn_down_exps")->dims[0];
    int64_t width = mo_llm_run_find_weight(m, "ffn_down_exps")->dims[1];
    const mo_shape top = MO_LLM_SHAPE(1, m->tokens, used);
    int chosen, numbers, weights;

    chosen = mo_llm_run_add(
        m, &(mo_llm_run_op){
               .role = "ffn_topk",
               .part = "chosen",
               .type = "TopK",
               .attrs = "{\"axis\":-1,\"mode\":\"max\",\"sort\":\"value\"}",
               .dtype = "f32;i64",
               .shape = top,
               .in = { mo_llm_run_add_linear(m, "ffn_gate_inp", h),
                       mo_llm_run_add_int(m, used) },
               .n_in = 2,
               .n_out = 2 });
    numbers = mo_llm_run_add(m, &(mo_llm_run_op){ .role = "ffn_topk",
                                                  .part = "experts",
                                                  .type = "Reshape",
                                                  .dtype = "i64",
                                                  .shape = top,
                                                  .in = { chosen },
                                                  .n_in = 1,
                                                  .port = 1 });
    weights =
        add_f32(m, "ffn_topk", NULL, "SoftMax", "{\"axis\":-1}", top, chosen);
    weights =
        mo_llm_run_add_reshape(m, "ffn_exps_sum", "weights", weights, "f32",
                               MO_LLM_SHAPE(1, m->tokens, used, 1));
    h = add_gated(m, "ffn_exps_act",
                  add_experts(m, "ffn_gate_exps", h, numbers),
                  add_experts(m, "ffn_up_exps", h, numbers),
                  MO_LLM_SHAPE(1, m->tokens, used, inner));
    h = add_experts(m, "ffn_down_exps", h, numbers);
    h = mo_llm_run_add_f32(m, "ffn_exps_sum", "weighted", "Multiply",
                           MO_LLM_SHAPE(1, m->tokens, used, width), h, weights);
    return mo_llm_run_add_f32(m, "ffn_exps_sum", NULL, "ReduceSum",
                              MO_LLM_SHAPE(1, m->tokens, width), h,
                              mo_llm_run_add_int(m, 2));
}

int mo_llm_run_add_feed_forward(mo_llm_run *m, int h)
{
    return mo_llm_run_find(m, "ffn_gate_inp", ".weight") ? add_mixture(m, h)
                                                         : add_dense(m, h);
}
