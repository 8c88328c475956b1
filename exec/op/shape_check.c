/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/op/shape_check.h"

#include <limits.h>
#include <stdio.h>

static mo_status convert_value(const mo_tensor_dense *dense, mo_arena *arena,
                               const mo_infer_value **value, mo_error *err)
{
    const char *dtype = mo_elem_name(dense->desc.elem);
    int64_t n = mo_tensor_desc_elements(&dense->desc);
    mo_infer_value *made;

    if (n > MO_INFER_VALUE_MAX_ITEMS || !mo_infer_value_supports(dtype))
        return MO_OK;
    made = mo_infer_value_new(arena, &dense->desc.shape, dtype);
    if (!made)
        return mo_fail_memory(err);
    for (int64_t i = 0; i < n; i++)
        if (made->real)
            made->items[i].r = mo_tensor_get_double(dense, i);
        else
            made->items[i].i = mo_tensor_get_int(dense, i);
    *value = made;
    return MO_OK;
}

static const char *version_of(const mo_op_site *site, mo_arena *arena)
{
    char text[32];
    int opset = mo_op_site_opset(site);
    int length = snprintf(text, sizeof text, "opset%d", opset);

    return opset == INT_MAX ? NULL
                            : mo_arena_text(arena, text, (size_t) length);
}

mo_status mo_op_site_rule_op(const mo_op_site *site, unsigned values,
                             mo_arena *arena, mo_infer_rule_op *op,
                             mo_error *err)
{
    mo_infer_rule_input *inputs =
        mo_arena_array(arena, (size_t) site->n_in, sizeof *inputs);
    mo_status status = inputs ? MO_OK : mo_fail_memory(err);

    for (int i = 0; status == MO_OK && i < site->n_in; i++) {
        inputs[i].shape = site->in[i].shape;
        if (site->value[i] && mo_infer_rule_set_has(values, i))
            status =
                convert_value(site->value[i], arena, &inputs[i].value, err);
    }
    if (status == MO_OK)
        *op = (mo_infer_rule_op){ .type = site->type,
                                  .version = version_of(site, arena),
                                  .attrs = site->attrs,
                                  .inputs = inputs,
                                  .n_inputs = site->n_in,
                                  .n_outputs = site->n_out };
    return status;
}

static bool is_within(mo_infer_rule_arity count, int n)
{
    return n >= count.min && n <= count.max;
}

/* Some graphs omit inputs that their shapes make redundant. */
static const mo_infer_rule *find_rule(const mo_op_site *site)
{
    const mo_infer_rule *rule = mo_infer_rule_find(site->type);
    mo_infer_rule_arity one = { 1, 1 };

    if (!rule || !is_within(rule->inputs, site->n_in) ||
        !is_within(rule->outputs.max ? rule->outputs : one, site->n_out))
        return NULL;
    return rule;
}

mo_status mo_op_site_check_shapes(const mo_op_site *site, mo_arena *arena,
                                  mo_error *err)
{
    const mo_infer_rule *rule = find_rule(site);
    mo_error why = { 0 };
    mo_infer_rule_op op;
    mo_shape *made;
    mo_status status;

    if (!rule)
        return MO_OK;
    status = mo_op_site_rule_op(site, rule->needs, arena, &op, err);
    if (status != MO_OK)
        return status;
    made = mo_arena_array(arena, (size_t) site->n_out, sizeof *made);
    if (!made)
        return mo_fail_memory(err);
    status = mo_infer_rule_apply(rule, &op, made, &why);
    if (status == MO_E_SUPPORT)
        return MO_OK;
    if (status != MO_OK)
        return mo_op_site_fail(site, status, err, "%s", why.text);
    for (int i = 0; status == MO_OK && i < site->n_out; i++)
        status = mo_op_site_check_output(site, i, &made[i], err);
    return status;
}
