/* SPDX-License-Identifier: Apache-2.0 */
#include "coarsen/fusion_pattern.h"

#include <string.h>
#include <strings.h>

static bool is_named(const mo_fusion_candidate *subject, const char *name)
{
    return subject->kind && strcmp(subject->kind->name, name) == 0;
}

static bool is_class(const mo_fusion_candidate *subject, mo_class class)
{
    return subject->kind && subject->kind->class == class;
}

static bool is_conv(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_CONVOLUTION) &&
           (is_named(subject, "Convolution") ||
            is_named(subject, "GroupConvolution"));
}

static bool is_matmul(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_MATMUL) &&
           (is_named(subject, "MatMul") || is_named(subject, "Linear") ||
            is_named(subject, "Gemm") || is_named(subject, "Addmm"));
}

/* One of the two operands is no op: it is a constant. */
static bool is_bias(const mo_fusion_candidate *subject)
{
    return subject->n_inputs == 1 && is_named(subject, "Add");
}

static bool is_scale(const mo_fusion_candidate *subject)
{
    return subject->n_inputs == 1 &&
           (is_named(subject, "Multiply") || is_named(subject, "Divide"));
}

static bool is_bn(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_NORMALIZATION) &&
           is_named(subject, "BatchNormInference");
}

static bool is_norm(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_NORMALIZATION);
}

static bool is_act(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_ACTIVATION);
}

static bool is_eltwise(const mo_fusion_candidate *subject)
{
    return is_act(subject) || is_class(subject, MO_CLASS_ELEMENTWISE);
}

static bool is_pool(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_POOL);
}

static bool is_softmax(const mo_fusion_candidate *subject)
{
    return is_class(subject, MO_CLASS_SOFTMAX);
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

/* A type that stands for an operator is that and no mere text: aten.norm is no
 * "norm". */
bool mo_fusion_pattern_matches(const mo_fusion_pattern *word,
                               const mo_fusion_candidate *subject)
{
    if (!subject->kind)
        return subject->type && strcasecmp(word->text, subject->type) == 0;
    return word->role ? word->role->answers(subject)
                      : word->kind == subject->kind;
}
