/* SPDX-License-Identifier: Apache-2.0 */
#include "models/frame/proven_bounds.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

mo_status mo_proven_bounds_new(int n_devices, mo_proven_bounds **proven,
                               mo_error *err)
{
    mo_proven_bounds *s = calloc(1, sizeof *s);

    if (!s)
        return mo_fail_memory(err);
    s->n_devices = n_devices;
    *proven = s;
    return MO_OK;
}

void mo_proven_bounds_free(mo_proven_bounds *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        free(s->pairs[i].least_ns);
        free(s->pairs[i].ops);
        free(s->pairs[i].price_ns);
        free(s->pairs[i].priced_ns);
    }
    free(s->pairs);
    mo_proof_free(s->proof);
    free(s);
}

/* Clamped, so that sums of times up to it cannot overflow. */
static int64_t clamp_time(int64_t ns)
{
    if (ns < 0)
        return 0;
    return ns < MO_MAX_TOTAL_NS ? ns : MO_MAX_TOTAL_NS;
}

mo_status mo_proven_bounds_add(mo_proven_bounds *s, int u, int v,
                               const int64_t *least_ns, mo_error *err)
{
    size_t size = (size_t) s->n_devices * (size_t) s->n_devices;
    int64_t *copy;
    mo_status status = MO_ARRAY_GROW(s->pairs, s->n, s->room, err);

    assert(s->n == 0 ||
           (s->pairs[s->n - 1].v != MO_FREE && u >= s->pairs[s->n - 1].v));
    assert(v == MO_FREE || u < v);
    if (status != MO_OK)
        return status;
    copy = malloc((size + 1) * sizeof *copy);
    if (!copy)
        return mo_fail_memory(err);
    for (size_t i = 0; i < size; i++)
        copy[i] = clamp_time(least_ns[i]);
    s->pairs[s->n++] =
        (mo_proven_bounds_pair){ .u = u, .v = v, .least_ns = copy };
    return MO_OK;
}

mo_status mo_proven_bounds_add_prices(mo_proven_bounds *s, size_t pair,
                                      int n_ops, const int *ops,
                                      const int64_t *price_ns,
                                      const int64_t *priced_ns, mo_error *err)
{
    size_t n_devices = (size_t) s->n_devices, n = (size_t) n_ops;
    mo_proven_bounds_pair *to = &s->pairs[pair];

    assert(pair < s->n && to->n_ops == 0 && n_ops > 0);
    to->ops = malloc(n * sizeof *to->ops);
    to->price_ns = malloc(n * n_devices * sizeof *to->price_ns);
    to->priced_ns = malloc(n_devices * n_devices * sizeof *to->priced_ns);
    if (!to->ops || !to->price_ns || !to->priced_ns)
        return mo_fail_memory(err);
    memcpy(to->ops, ops, n * sizeof *ops);
    for (size_t i = 0; i < n * n_devices; i++)
        to->price_ns[i] = clamp_time(price_ns[i]);
    for (size_t i = 0; i < n_devices * n_devices; i++)
        to->priced_ns[i] = clamp_time(priced_ns[i]);
    to->n_ops = n_ops;
    return MO_OK;
}
