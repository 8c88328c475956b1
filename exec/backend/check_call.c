/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/backend/check_call.h"

mo_status mo_backend_check_attention(const mo_call *call,
                                     const mo_backend_operand *in,
                                     const mo_tensor_desc *out, mo_error *err)
{
    const mo_elem elem = out[0].elem, kept = in[1].desc.elem;

    for (int i = 0; i < 3; i++)
        if (in[i].desc.elem != (i == 0 ? elem : kept) ||
            !mo_elem_is_float(in[i].desc.elem) ||
            in[i].desc.elem == MO_ELEM_F64)
            return mo_fail(err, MO_E_SUPPORT,
                           "attention over %s to %s cannot be run",
                           mo_elem_name(in[i].desc.elem), mo_elem_name(elem));
    if (call->u.attention.has_mask && in[3].desc.elem != MO_ELEM_BOOL &&
        !mo_elem_is_float(in[3].desc.elem))
        return mo_fail(err, MO_E_SUPPORT,
                       "a mask for attention must be real or bool, not %s",
                       mo_elem_name(in[3].desc.elem));
    if (call->u.attention.has_sinks &&
        (call->u.attention.score ||
         !mo_elem_is_float(in[3 + call->u.attention.has_mask].desc.elem)))
        return mo_fail(err, MO_E_SUPPORT,
                       "attention with these sinks cannot be run");
    return MO_OK;
}

/* Shapes of the indexed tensor, of the indices, and of the slices at them. */
typedef struct indexed {
    int64_t data, indices, slices;
} indexed;

static bool has_sizes(const indexed *expected, const mo_tensor_desc *data,
                      const mo_tensor_desc *indices,
                      const mo_tensor_desc *slices)
{
    return data->elem == slices->elem && !mo_elem_is_float(indices->elem) &&
           mo_tensor_desc_elements(data) == expected->data &&
           mo_tensor_desc_elements(indices) == expected->indices &&
           mo_tensor_desc_elements(slices) == expected->slices;
}

static indexed gather_sizes(const mo_call_gather *g)
{
    int64_t elements = mo_shape_elements(&g->result);

    switch (g->kind) {
    case MO_CALL_GATHER_AXIS:
        return (indexed){ g->batch * g->outer * g->axis * g->inner,
                          g->batch * g->count,
                          g->batch * g->outer * g->count * g->inner };
    case MO_CALL_GATHER_ND:
        return (indexed){ g->batch * mo_shape_product(g->dims, g->depth) *
                              g->inner,
                          g->batch * g->count * g->depth,
                          g->batch * g->count * g->inner };
    default:
        return (indexed){ mo_shape_elements(&g->data), elements, elements };
    }
}

mo_status mo_backend_check_gather(const mo_call *call,
                                  const mo_backend_operand *in,
                                  const mo_tensor_desc *out, mo_error *err)
{
    indexed expected = gather_sizes(&call->u.gather);

    if (has_sizes(&expected, &in[0].desc, &in[1].desc, &out[0]))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT, "a gather does not fit its tensors");
}

static indexed scatter_sizes(const mo_call_scatter *s)
{
    int64_t elements = mo_shape_elements(&s->updates);

    switch (s->kind) {
    case MO_CALL_GATHER_AXIS:
        return (indexed){ s->outer * s->axis * s->inner, s->count,
                          s->outer * s->count * s->inner };
    case MO_CALL_GATHER_ND:
        return (indexed){ mo_shape_product(s->dims, s->depth) * s->inner,
                          s->count * s->depth, s->count * s->inner };
    default:
        return (indexed){ mo_shape_elements(&s->data), elements, elements };
    }
}

mo_status mo_backend_check_scatter(const mo_call *call,
                                   const mo_backend_operand *in,
                                   const mo_tensor_desc *out, mo_error *err)
{
    indexed expected = scatter_sizes(&call->u.scatter);

    if (mo_tensor_desc_equal(&in[0].desc, &out[0]) &&
        has_sizes(&expected, &out[0], &in[1].desc, &in[2].desc))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT, "a scatter does not fit its tensors");
}

static bool interpolate_fits(const mo_call_interpolate *call,
                             const mo_tensor_desc *in,
                             const mo_tensor_desc *out)
{
    for (int d = 0; d < call->rank; d++)
        if (call->out[d] > 0 && call->in[d] <= 0)
            return false;
    return in->elem == out->elem && call->rank > 0 &&
           mo_shape_product(call->in, call->rank) ==
               mo_tensor_desc_elements(in) &&
           mo_shape_product(call->out, call->rank) ==
               mo_tensor_desc_elements(out) &&
           (call->mode == MO_CALL_INTERPOLATE_NEAREST ||
            mo_elem_is_float(out->elem));
}

mo_status mo_backend_check_interpolate(const mo_call *call,
                                       const mo_backend_operand *in,
                                       const mo_tensor_desc *out, mo_error *err)
{
    if (interpolate_fits(&call->u.interpolate, &in[0].desc, &out[0]))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "an interpolation does not fit its tensors");
}

mo_status mo_backend_check_pool(const mo_call *call,
                                const mo_backend_operand *in,
                                const mo_tensor_desc *out, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;

    if (!mo_elem_is_float(elem) || out[0].elem != elem)
        return mo_fail(err, MO_E_SUPPORT, "a pool of %s to %s cannot be run",
                       mo_elem_name(elem), mo_elem_name(out[0].elem));
    if (call->n_out > 1 && out[1].elem != MO_ELEM_I32 &&
        out[1].elem != MO_ELEM_I64)
        return mo_fail(err, MO_E_SUPPORT,
                       "indices of a pool must be i32 or i64, not %s",
                       mo_elem_name(out[1].elem));
    return MO_OK;
}

mo_status mo_backend_check_range(const mo_call *call,
                                 const mo_backend_operand *in, mo_error *err)
{
    if (call->n_in == 0 ||
        (call->n_in >= 3 && mo_tensor_desc_elements(&in[0].desc) == 1 &&
         mo_tensor_desc_elements(&in[2].desc) == 1))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "a range needs one start, one stop, one step");
}

static bool has_elements(const mo_tensor_desc *desc, mo_elem elem, int64_t n)
{
    return desc->elem == elem && mo_tensor_desc_elements(desc) == n;
}

static bool rnn_fits(const mo_call_rnn *rnn, const mo_backend_operand *in,
                     const mo_tensor_desc *out)
{
    mo_elem elem = in[0].desc.elem;
    int64_t states = (int64_t) rnn->batch * rnn->directions * rnn->hidden;
    int64_t gates = (int64_t) rnn->directions * rnn->n_gates * rnn->hidden;

    return has_elements(&in[0].desc, elem, rnn->steps * rnn->batch * gates) &&
           has_elements(&in[1].desc, elem, gates * rnn->hidden) &&
           (rnn->bias < 0 ||
            has_elements(&in[rnn->bias].desc, elem,
                         rnn->directions * rnn->bias_direction)) &&
           (rnn->state < 0 ||
            has_elements(&in[rnn->state].desc, elem, states)) &&
           (rnn->cell_state < 0 ||
            has_elements(&in[rnn->cell_state].desc, elem, states)) &&
           (rnn->lengths < 0 ||
            (!mo_elem_is_float(in[rnn->lengths].desc.elem) &&
             mo_tensor_desc_elements(&in[rnn->lengths].desc) == rnn->batch)) &&
           (rnn->peephole < 0 ||
            has_elements(&in[rnn->peephole].desc, elem,
                         (int64_t) rnn->directions * 3 * rnn->hidden)) &&
           (rnn->all < 0 ||
            has_elements(&out[rnn->all], elem, rnn->steps * states)) &&
           (rnn->last < 0 || has_elements(&out[rnn->last], elem, states)) &&
           (rnn->last_cell < 0 ||
            has_elements(&out[rnn->last_cell], elem, states));
}

mo_status mo_backend_check_rnn(const mo_call *call,
                               const mo_backend_operand *in,
                               const mo_tensor_desc *out, mo_error *err)
{
    mo_elem elem = in[0].desc.elem;

    if (!mo_elem_is_float(elem) || elem == MO_ELEM_F64)
        return mo_fail(err, MO_E_SUPPORT,
                       "a recurrent layer of %s cannot be run; convert it to "
                       "f32",
                       mo_elem_name(elem));
    if (rnn_fits(&call->u.rnn, in, out))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT,
                   "a recurrent layer does not fit its "
                   "tensors");
}

mo_status mo_backend_check_grid_sample(const mo_call *call,
                                       const mo_backend_operand *in,
                                       const mo_tensor_desc *out, mo_error *err)
{
    const mo_call_grid_sample *g = &call->u.grid_sample;
    mo_elem elem = out[0].elem;
    int64_t images = g->batch * g->channels;

    if (!mo_elem_is_float(elem) || elem == MO_ELEM_F64)
        return mo_fail(err, MO_E_SUPPORT,
                       "samples of %s cannot be taken; convert to f32",
                       mo_elem_name(elem));
    if (has_elements(&in[0].desc, elem,
                     images * mo_shape_product(g->in, g->spatial)) &&
        has_elements(&in[1].desc, elem, g->batch * g->points * g->spatial) &&
        has_elements(&out[0], elem, images * g->points))
        return MO_OK;
    return mo_fail(err, MO_E_INPUT, "a grid does not fit its tensors");
}
