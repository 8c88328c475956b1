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
 * chosen ones; where it is not divided, or is another function, that is
 * computed first.
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

int mo_llm_run_add_experts(mo_llm_run *m, const char *role, int x,
                           mo_shape shape, int chosen, int64_t used)
{
    mo_llm_weight *w = mo_llm_run_find_weight(m, role);
    static const char *const parts[] = { "narrow", "data" };
    mo_llm_weight *bias = mo_llm_run_find(m, role, ".bias");
    char attrs[MO_LLM_RUN_FORMAT];
    mo_llm_run_op d = { .role = role,
                        .part = bias ? "products" : NULL,
                        .type = "LinearExperts",
                        .attrs = attrs,
                        .shape = MO_LLM_SHAPE(1, m->tokens, used, w->dims[1]),
                        .in = { mo_llm_run_add_rounding(m, role, parts, x,
                                                        w->type->name, shape),
                                mo_llm_run_add_weight(m, w), chosen },
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

/* Chooses experts: sets *numbers to [1, tokens, used]; returns the weights of
 * their results. */
static int add_router(mo_llm_run *m, int h, int *numbers)
{
    const mo_llm_decoder *d = m->decoder;
    const mo_llm_weight *w = mo_llm_run_find_weight(m, "ffn_gate_inp");
    mo_llm_weight *bias = mo_llm_run_find(m, "exp_probs_b", ".bias");
    int64_t used = d->model->experts_used;
    const mo_shape all = MO_LLM_SHAPE(1, m->tokens, w->dims[1]);
    const mo_shape top = MO_LLM_SHAPE(1, m->tokens, used);
    const mo_shape one = MO_LLM_SHAPE(1, m->tokens, 1);
    bool is_plain = d->experts_norm && !d->experts_sigmoid && !bias;
    int shares = mo_llm_run_add_linear(m, "ffn_gate_inp", h), chosen, sum;

    if (!is_plain)
        shares = add_f32(
            m, "ffn_topk", "shares", d->experts_sigmoid ? "Sigmoid" : "SoftMax",
            d->experts_sigmoid ? NULL : "{\"axis\":-1}", all, shares);
    chosen = bias ? mo_llm_run_add_f32(m, "ffn_topk", "biased", "Add", all,
                                       shares, mo_llm_run_add_vector(m, bias))
                  : shares;
    chosen = mo_llm_run_add(
        m, &(mo_llm_run_op){
               .role = "ffn_topk",
               .part = "chosen",
               .type = "TopK",
               .attrs = "{\"axis\":-1,\"mode\":\"max\",\"sort\":\"value\"}",
               .dtype = "f32;i64",
               .shape = top,
               .in = { chosen, mo_llm_run_add_int(m, used) },
               .n_in = 2,
               .n_out = 2 });
    *numbers = mo_llm_run_add(m, &(mo_llm_run_op){ .role = "ffn_topk",
                                                   .part = "experts",
                                                   .type = "Reshape",
                                                   .dtype = "i64",
                                                   .shape = top,
                                                   .in = { chosen },
                                                   .n_in = 1,
                                                   .port = 1 });
    if (is_plain) {
        chosen = add_f32(m, "ffn_topk", "weights", "SoftMax", "{\"axis\":-1}",
                         top, chosen);
    } else {
        chosen = mo_llm_run_add(m, &(mo_llm_run_op){ .role = "ffn_topk",
                                                     .part = "weights",
                                                     .type = "GatherElements",
                                                     .attrs = "{\"axis\":2}",
                                                     .shape = top,
                                                     .in = { shares, *numbers },
                                                     .n_in = 2 });
        if (d->experts_norm) {
            sum = mo_llm_run_add(
                m, &(mo_llm_run_op){ .role = "ffn_topk",
                                     .part = "sum",
                                     .type = "ReduceSum",
                                     .attrs = "{\"keep_dims\":true}",
                                     .shape = one,
                                     .in = { chosen, mo_llm_run_add_int(m, 2) },
                                     .n_in = 2 });
            sum = add_f32(m, "ffn_topk", "divisor", "Clamp",
                          "{\"min\":6.103515625e-5}", one, sum);
            chosen = mo_llm_run_add_f32(m, "ffn_topk", "normalized", "Divide",
                                        top, chosen, sum);
        }
    }
    if (d->experts_scale == 1)
        return chosen;
    return mo_llm_run_add_f32(
        m, "ffn_topk", "scaled", "Multiply", top, chosen,
        mo_llm_run_add_number(m, "experts_scale", "f32", d->experts_scale));
}

/* Experts that all tokens use. */
static int add_shared(mo_llm_run *m, int h)
{
    int64_t inner = mo_llm_run_find_weight(m, "ffn_down_shexp")->dims[0];
    int gate = mo_llm_run_add_linear(m, "ffn_gate_shexp", h);
    int up = mo_llm_run_add_linear(m, "ffn_up_shexp", h);

    return mo_llm_run_add_linear(m, "ffn_down_shexp",
                                 add_gated(m, "ffn_shexp_act", gate, up,
                                           MO_LLM_SHAPE(1, m->tokens, inner)));
}

static int add_mixture(mo_llm_run *m, int h)
{
    int64_t used = m->decoder->model->experts_used;
    int64_t inner = mo_llm_run_find_weight(m, "ffn_down_exps")->dims[0];
    int64_t width = mo_llm_run_find_weight(m, "ffn_down_exps")->dims[1];
    const mo_shape rows = MO_LLM_SHAPE(1, m->tokens, width);
    const mo_shape wide = MO_LLM_SHAPE(1, m->tokens, used, inner);
    int numbers, weights = add_router(m, h, &numbers), x;

    weights =
        mo_llm_run_add_reshape(m, "ffn_exps_sum", "weights", weights, "f32",
                               MO_LLM_SHAPE(1, m->tokens, used, 1));
    x = add_gated(
        m, "ffn_exps_act",
        mo_llm_run_add_experts(m, "ffn_gate_exps", h, rows, numbers, used),
        mo_llm_run_add_experts(m, "ffn_up_exps", h, rows, numbers, used), wide);
    x = mo_llm_run_add_experts(m, "ffn_down_exps", x, wide, numbers, used);
    x = mo_llm_run_add_f32(m, "ffn_exps_sum", "weighted", "Multiply",
                           MO_LLM_SHAPE(1, m->tokens, used, width), x, weights);
    x = mo_llm_run_add_f32(m, "ffn_exps_sum", NULL, "ReduceSum", rows, x,
                           mo_llm_run_add_int(m, 2));
    if (!mo_llm_run_find(m, "ffn_up_shexp", ".weight"))
        return x;
    return mo_llm_run_add_f32(m, "ffn_add", "shared", "Add", rows, x,
                              add_shared(m, h));
}

int mo_llm_run_add_feed_forward(mo_llm_run *m, int h)
{
    return mo_llm_run_find(m, "ffn_gate_inp", ".weight") ? add_mixture(m, h)
                                                         : add_dense(m, h);
}
