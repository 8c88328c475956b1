#include "coarsen/word.h"

#include <string.h>
#include <strings.h>

static bool is_named(const mo_subject *subject, const char *name)
{
    return subject->operator&& strcmp(subject->operator->name, name) == 0;
}

static bool is_class(const mo_subject *subject, mo_class class)
{
    return subject->operator&& subject->operator->class == class;
}

static bool is_conv(const mo_subject *subject)
{
    return is_named(subject, "Convolution") ||
           is_named(subject, "GroupConvolution");
}

static bool is_matmul(const mo_subject *subject)
{
    return is_named(subject, "MatMul") || is_named(subject, "Gemm") ||
           is_named(subject, "Linear") || is_named(subject, "Addmm");
}

/* One of the two operands is no op: it is a constant. */
static bool is_bias(const mo_subject *subject)
{
    return is_named(subject, "Add") && subject->n_inputs == 1;
}

static bool is_scale(const mo_subject *subject)
{
    return (is_named(subject, "Multiply") || is_named(subject, "Divide")) &&
           subject->n_inputs == 1;
}

static bool is_bn(const mo_subject *subject)
{
    return is_named(subject, "BatchNormInference");
}

static bool is_norm(const mo_subject *subject)
{
    return is_class(subject, MO_CLASS_NORMALIZATION);
}

static bool is_act(const mo_subject *subject)
{
    return is_class(subject, MO_CLASS_ACTIVATION);
}

static bool is_eltwise(const mo_subject *subject)
{
    return is_act(subject) || is_class(subject, MO_CLASS_ELEMENTWISE);
}

static bool is_pool(const mo_subject *subject)
{
    return is_class(subject, MO_CLASS_POOL);
}

static bool is_softmax(const mo_subject *subject)
{
    return is_class(subject, MO_CLASS_SOFTMAX);
}

const mo_role mo_roles[] = {
    { "conv", "a convolution, grouped or not", is_conv },
    { "matmul", "a matrix product, with or without its own bias", is_matmul },
    { "bias", "an Add whose other operand is a constant", is_bias },
    { "scale", "a Multiply or Divide by a constant", is_scale },
    { "bn", "a batch normalisation", is_bn },
    { "norm", "any normalisation", is_norm },
    { "act", "any activation: one input, element by element", is_act },
    { "eltwise", "anything element by element", is_eltwise },
    { "pool", "any pooling", is_pool },
    { "softmax", "a softmax or log-softmax", is_softmax },
    { NULL, NULL, NULL },
};

mo_word mo_word_of(const char *text)
{
    mo_word word = { .text = text };

    for (const mo_role *role = mo_roles; role->word; role++)
        if (strcasecmp(role->word, text) == 0)
            word.role = role;
    if (!word.role)
        word.operator = mo_operator_find(text);
    return word;
}

bool mo_word_matches(const mo_word *word, const mo_subject *subject)
{
    if (word->role && word->role->answers(subject))
        return true;
    if (word->operator)
        return word->operator== subject->operator;
    return subject->type && strcasecmp(word->text, subject->type) == 0;
}

static int count_producers(const mo_graph *g, int op)
{
    int n = 0, last = -1;

    for (int i = g->in_start[op]; i < g->in_start[op + 1]; i++) {
        int from = g->edges[g->in_edges[i]].from;

        /* Two distinct ones are all that any role asks for. */
        if (from != last && n < 2)
            n++;
        last = from;
    }
    return n;
}

mo_subject mo_subject_of(const mo_graph *g, int op)
{
    const char *type = g->ops[op].type;

    return (mo_subject) {
        .type = type,
        .operator = type ? mo_operator_find(type) : NULL,
        .n_inputs = count_producers(g, op),
    };
}
