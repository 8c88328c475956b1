/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "ingest/infer/rule_args.h"
#include "ingest/infer/dims.h"
#include "ingest/infer/rule.h"

/* Those that networks are full of first: the search is linear. */
static const mo_infer_rule *const families[] = {
    mo_infer_rules_elementwise,    mo_infer_rules_same_shape,
    mo_infer_rules_reshape,        mo_infer_rules_matmul,
    mo_infer_rules_transpose_tile, mo_infer_rules_concat_split,
    mo_infer_rules_gather,         mo_infer_rules_slice,
    mo_infer_rules_convolution,    mo_infer_rules_pool,
    mo_infer_rules_channelwise,    mo_infer_rules_reduce,
    mo_infer_rules_creation,       mo_infer_rules_scatter,
    mo_infer_rules_pad_space,      mo_infer_rules_interpolate,
    mo_infer_rules_einsum,         mo_infer_rules_attention,
    mo_infer_rules_recurrent,      mo_infer_rules_roi,
    mo_infer_rules_fourier,
};

const mo_infer_rule *mo_infer_rule_find(const char *type)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const mo_infer_rule *rule = families[i]; rule->type; rule++)
            if (strcmp(rule->type, type) == 0)
                return rule;
    return NULL;
}

const mo_infer_rule *mo_infer_rule_at(int index)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (const mo_infer_rule *rule = families[i]; rule->type; rule++)
            if (index-- == 0)
                return rule;
    return NULL;
}

bool mo_infer_rule_set_has(unsigned set, int input)
{
    return set == MO_INFER_RULE_ALL || (input < 32 && set >> input & 1);
}

static mo_status check_count(mo_infer_rule_arity allowed, int count,
                             const char *what, mo_error *err)
{
    if (count >= allowed.min && count <= allowed.max)
        return MO_OK;
    if (allowed.min == allowed.max)
        return mo_fail(err, MO_E_INPUT, "has %d %s, not %d", count, what,
                       allowed.min);
    if (count < allowed.min)
        return mo_fail(err, MO_E_INPUT, "has %d %s, at least %d are needed",
                       count, what, allowed.min);
    return mo_fail(err, MO_E_INPUT, "has %d %s, at most %d are known", count,
                   what, allowed.max);
}

static mo_status check_output(const mo_shape *shape, mo_error *err)
{
    if (shape->rank > MO_MAX_RANK)
        return mo_fail(err, MO_E_LIMIT,
                       "its output has more than %d dimensions", MO_MAX_RANK);
    for (int d = 0; d < shape->rank; d++)
        if (shape->dims[d] < 0)
            return mo_fail(err, MO_E_INPUT,
                           "its output would have %lld elements along "
                           "dimension %d",
                           (long long) shape->dims[d], d);
    if (!mo_shape_fits(shape))
        return mo_fail(err, MO_E_LIMIT, "its output (%s) is too large",
                       mo_dims_format(shape).text);
    return MO_OK;
}

mo_status mo_infer_rule_apply(const mo_infer_rule *rule,
                              const mo_infer_rule_op *op, mo_shape *outputs,
                              mo_error *err)
{
    mo_infer_rule_arity one = { 1, 1 };
    mo_status status;

    status = check_count(rule->inputs, op->n_inputs, "inputs", err);
    if (status == MO_OK)
        status = check_count(rule->outputs.max ? rule->outputs : one,
                             op->n_outputs, "outputs", err);
    if (status == MO_OK)
        status = rule->shapes(op, outputs, err);
    for (int i = 0; status == MO_OK && i < op->n_outputs; i++)
        status = check_output(&outputs[i], err);
    return status;
}
