/* SPDX-License-Identifier: Apache-2.0 */
/* Synthetic weights: pseudo-random values, scaled by fan-in in matrices. */
#include <math.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/random.h"
#include "exec/weights/constants_internal.h"
#include "report/format_units.h"

mo_status mo_weights_alloc_synthetic(mo_weights_store *c, const mo_op *op,
                                     const mo_tensor_desc *desc,
                                     mo_tensor_dense *value, mo_error *err)
{
    int64_t bytes = mo_tensor_desc_bytes(desc);
    char need[MO_FORMAT_SIZE], left[MO_FORMAT_SIZE];

    if (bytes > c->room)
        return mo_fail_at(
            err, MO_E_MEMORY, NULL, op->line,
            "random weights of '%.80s' would take %s, and %s are left; run a "
            "smaller network, on more machines, or raise --memory-limit",
            op->name, mo_format_bytes((double) bytes, need),
            mo_format_bytes((double) c->room, left));
    c->room -= bytes;
    return mo_tensor_new(desc, value, err);
}

static mo_status fill_synthetic(mo_weights_store *c, int op, int port,
                                mo_tensor_dense *value, mo_error *err)
{
    const mo_op *reader = &c->graph->ops[op];
    uint64_t seed = mo_random_seed(c->options.seed, (uint64_t) op);
    mo_error why = { 0 };
    bool found;
    mo_status status =
        mo_weights_parse_port_values(reader, port, value, &found, &why);

    if (status == MO_OK && !found &&
        (mo_elem_is_float(value->desc.elem) ||
         !mo_weights_infer_input(c->graph, op, port, value)))
        mo_weights_add_random(c, value, mo_random_seed(seed, (uint64_t) port));
    if (status == MO_OK)
        return MO_OK;
    return mo_fail_at(err, status, NULL, reader->line,
                      "op '%.80s': in its values for port %d, %.200s",
                      reader->name, port, why.text);
}

static mo_status add_synthetic(mo_weights_store *c, int op, int port,
                               const mo_tensor_desc *desc,
                               mo_weights_synthetic *made, mo_error *err)
{
    mo_status status = mo_weights_alloc_synthetic(c, &c->graph->ops[op], desc,
                                                  &made->value, err);

    if (status == MO_OK)
        status = fill_synthetic(c, op, port, &made->value, err);
    if (status != MO_OK) {
        mo_tensor_clear(&made->value);
        return status;
    }
    made->port = port;
    made->next = c->made[op];
    c->made[op] = made;
    return MO_OK;
}

mo_status mo_weights_synthesize(mo_weights_store *c, int op, int port,
                                const mo_tensor_desc *desc,
                                const mo_tensor_dense **value, mo_error *err)
{
    mo_weights_synthetic *made;
    mo_status status = MO_OK;

    if (!c->made)
        c->made = calloc((size_t) c->graph->n_ops + 1, sizeof *c->made);
    if (!c->made)
        return mo_fail_memory(err);
    for (made = c->made[op]; made && made->port != port;)
        made = made->next;
    if (!made) {
        made = mo_arena_alloc(c->arena, sizeof *made);
        status = made ? add_synthetic(c, op, port, desc, made, err)
                      : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *value = &made->value;
    return status;
}

bool mo_weights_may_synthesize(const mo_weights_store *c)
{
    return c->options.random;
}

int64_t mo_weights_random_bytes(const mo_weights_store *c, int *tensors)
{
    *tensors = c->n_random;
    return c->random_bytes;
}

void mo_weights_add_random(mo_weights_store *c, mo_tensor_dense *value,
                           uint64_t seed)
{
    mo_weights_fill_random(value, seed);
    if (mo_elem_is_float(value->desc.elem)) {
        c->n_random++;
        c->random_bytes += mo_tensor_desc_bytes(&value->desc);
    }
}

/*
 * Integers that could not be inferred are indices: 0 is valid everywhere.
 *
 * Scalars and vectors may be an epsilon, a variance, an exponent, a divisor or
 * a bias; values near one suit all of these. Wider tensors are weights,
 * uniform around zero with variance 1 / fan-in (LeCun 1998), so that sums of
 * products keep their magnitude.
 */
void mo_weights_fill_random(mo_tensor_dense *value, uint64_t seed)
{
    const mo_shape *shape = &value->desc.shape;
    int64_t n = mo_tensor_desc_elements(&value->desc);
    int64_t longest = 1;
    double fan_in;
    mo_random random = { seed };
    int n_wide = 0; /* a bias has one, whatever its rank */

    if (!mo_elem_is_float(value->desc.elem))
        return;
    for (int d = 0; d < shape->rank; d++) {
        n_wide += shape->dims[d] > 1;
        longest = mo_max_i64(longest, shape->dims[d]);
    }
    if (n_wide > 1) {
        /* Approximate number of terms in one output: all but the output
         * channels of a filter; of a matrix, which may be transposed, the
         * longer side. */
        fan_in = shape->rank > 2 && shape->dims[0] > 0
                     ? (double) n / (double) shape->dims[0]
                     : (double) longest;
        mo_tensor_fill_random(value, seed, sqrt(3 / fan_in), 2);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        mo_tensor_set_double(value, i,
                             n == 1 ? 1 : 0.75 + mo_random_unit(&random) / 2);
}
