/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/fusion_pattern.h"

#include <string.h>
#include <strings.h>

static bool is_named(const mo_fusion_candidate *candidate, const char *name)
{
    return candidate->kind && strcmp(candidate->kind->name, name) == 0;
}

static bool is_class(const mo_fusion_candidate *candidate, mo_class class)
{
    return candidate->kind && candidate->kind->class == class;
}

static bool is_conv(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_CONVOLUTION) &&
           (is_named(candidate, "Convolution") ||
            is_named(candidate, "GroupConvolution"));
}

static bool is_matmul(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_MATMUL) &&
           (is_named(candidate, "MatMul") || is_named(candidate, "Linear") ||
            is_named(candidate, "Gemm") || is_named(candidate, "Addmm"));
}

/* The other operand is a constant. */
static bool is_bias(const mo_fusion_candidate *candidate)
{
    return candidate->n_inputs == 1 && is_named(candidate, "Add");
}

static bool is_scale(const mo_fusion_candidate *candidate)
{
    return candidate->n_inputs == 1 &&
           (is_named(candidate, "Multiply") || is_named(candidate, "Divide"));
}

static bool is_bn(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_NORMALIZATION) &&
           is_named(candidate, "BatchNormInference");
}

static bool is_norm(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_NORMALIZATION);
}

static bool is_act(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_ACTIVATION);
}

static bool is_eltwise(const mo_fusion_candidate *candidate)
{
    return is_act(candidate) || is_class(candidate, MO_CLASS_ELEMENTWISE);
}

static bool is_pool(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_POOL);
}

static bool is_softmax(const mo_fusion_candidate *candidate)
{
    return is_class(candidate, MO_CLASS_SOFTMAX);
}

const mo_fusion_role mo_fusion_roles[] = {
    { "conv", "a convolution, grouped or not", is_conv },
    { "matmul", "a matrix product, with or without its own bias", is_matmul },
    { "bias", "an Add that reads one op: its other operand is a constant",
      is_bias },
    { "scale", "a Multiply or Divide that reads one op", is_scale },
    { "bn", "a batch normalisation", is_bn },
    { "norm", "any normalisation", is_norm },
    { "act", "any activation: one input, element by element", is_act },
    { "eltwise", "anything element by element", is_eltwise },
    { "pool", "any pooling", is_pool },
    { "softmax", "a softmax or log-softmax", is_softmax },
    { NULL, NULL, NULL },
};

mo_fusion_pattern mo_fusion_pattern_of(const char *text)
{
    mo_fusion_pattern word = { .text = text };

    for (const mo_fusion_role *role = mo_fusion_roles; role->word; role++)
        if (strcasecmp(role->word, text) == 0)
            word.role = role;
    if (!word.role)
        word.kind = mo_operator_find(text);
    return word;
}

/* A type that denotes an operator is compared as such, not as text: aten.norm
 * is not "norm". */
bool mo_fusion_pattern_matches(const mo_fusion_pattern *word,
                               const mo_fusion_candidate *candidate)
{
    if (!candidate->kind)
        return candidate->type && strcasecmp(word->text, candidate->type) == 0;
    return word->role ? word->role->matches(candidate)
                      : word->kind == candidate->kind;
}
