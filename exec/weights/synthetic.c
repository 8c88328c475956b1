/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/random.h"
#include "exec/weights/constants_internal.h"

mo_status mo_weights_alloc_synthetic(mo_weights_store *c,
                                     const mo_tensor_desc *desc,
                                     mo_tensor_dense *value, mo_error *err)
{
    int64_t bytes = mo_tensor_desc_bytes(desc);

    if (bytes > c->room)
        return mo_fail(err, MO_E_MEMORY,
                       "weights that are made up need more memory than this "
                       "machine has left; run a smaller network, or on more "
                       "machines");
    c->room -= bytes;
    return mo_tensor_new(desc, value, err);
}

static mo_status fill_made(const mo_weights_store *c, int op, int port,
                           mo_tensor_dense *value, mo_error *err)
{
    const mo_op *reader = &c->graph->ops[op];
    uint64_t seed = mo_random_seed(c->options.seed, (uint64_t) op);
    mo_error why = { 0 };
    bool told;
    mo_status status =
        mo_weights_parse_port_values(reader, port, value, &told, &why);

    if (status == MO_OK && !told)
        mo_weights_fill_random(value, mo_random_seed(seed, (uint64_t) port));
    if (status == MO_OK)
        return MO_OK;
    return mo_fail_at(err, status, NULL, reader->line,
                      "op '%.80s': in its values for port %d, %.200s",
                      reader->name, port, why.text);
}

static mo_status make(mo_weights_store *c, int op, int port,
                      const mo_tensor_desc *desc, mo_weights_synthetic *made,
                      mo_error *err)
{
    mo_status status = mo_weights_alloc_synthetic(c, desc, &made->value, err);

    if (status == MO_OK)
        status = fill_made(c, op, port, &made->value, err);
    if (status != MO_OK) {
        mo_tensor_clear(&made->value);
        return status;
    }
    made->port = port;
    made->next = c->made[op];
    c->made[op] = made;
    c->bytes += mo_tensor_desc_bytes(desc);
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
        status =
            made ? make(c, op, port, desc, made, err) : mo_fail_memory(err);
    }
    if (status == MO_OK)
        *value = &made->value;
    return status;
}
