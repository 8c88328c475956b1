/* SPDX-License-Identifier: Apache-2.0 */
#include "ingest/work/input_order.h"

#include "ingest/work/flops.h"

/* Flops of all arrangements of one kind. */
typedef struct outcome {
    bool is_there, is_split;
    double flops;
} outcome;

typedef struct search {
    const mo_work_input *input;
    mo_shape *places; /* the shapes that input points to */
    mo_shape shapes[MO_INPUT_ORDER_MAX_FREE]; /* of the inputs without a port */
    const mo_input_order_free_input *free_inputs;
    int n;
    outcome all, constants_behind;
} search;

bool mo_input_order_matters(const mo_operator *kind)
{
    return kind->flops && kind->flops != mo_flops_output &&
           kind->flops != mo_flops_largest && kind->flops != mo_flops_pool &&
           kind->flops != mo_flops_lrn && kind->flops != mo_flops_interpolate;
}

static void add_flops(outcome *v, double flops)
{
    if (!v->is_there)
        *v = (outcome){ true, false, flops };
    else if (v->flops != flops)
        v->is_split = true;
}

static void try_arrangement(search *s, bool constants_behind)
{
    double flops;

    if (!mo_work_shapes_agree(s->input))
        return;
    flops = s->input->kind->flops(s->input);
    add_flops(&s->all, flops);
    if (constants_behind)
        add_flops(&s->constants_behind, flops);
}

/* Fills the places from number at on with the inputs not yet used (a bit
 * each), in every order. */
static void permute_inputs(search *s, int at, unsigned used,
                           bool constants_behind)
{
    bool after_constant = false;

    if (at == s->n) {
        try_arrangement(s, constants_behind);
        return;
    }
    for (int i = 0; i < s->n; i++)
        after_constant |= (used >> i & 1) && s->free_inputs[i].is_constant;
    for (int i = 0; i < s->n; i++) {
        if (used >> i & 1)
            continue;
        s->places[s->free_inputs[at].slot] = s->shapes[i];
        permute_inputs(s, at + 1, used | 1u << i,
                       constants_behind &&
                           (!after_constant || s->free_inputs[i].is_constant));
    }
}

double mo_input_order_flops(const mo_work_input *input, mo_shape *shapes,
                            const mo_input_order_free_input *free_inputs, int n)
{
    search s = {
        .input = input, .places = shapes, .free_inputs = free_inputs, .n = n
    };
    const outcome *v = &s.all;

    for (int i = 0; i < n; i++)
        s.shapes[i] = shapes[free_inputs[i].slot];
    permute_inputs(&s, 0, 0, true);
    if (v->is_split && s.constants_behind.is_there)
        v = &s.constants_behind;
    return v->is_there && !v->is_split ? v->flops : MO_UNKNOWN;
}
