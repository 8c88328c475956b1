/* SPDX-License-Identifier: Apache-2.0 */
/* Placements of a chain: their times and memory. */
#include <stdlib.h>

#include "report/runtime/chain.h"

mo_status mo_chain_placement_new(const mo_chain *c, mo_chain_placement *p,
                                 mo_error *err)
{
    p->device = calloc((size_t) c->n_units, sizeof *p->device);
    p->experts_on_host =
        calloc((size_t) c->n_units, sizeof *p->experts_on_host);
    if (p->device && p->experts_on_host)
        return MO_OK;
    mo_chain_placement_clear(p);
    return mo_fail_memory(err);
}

void mo_chain_placement_clear(mo_chain_placement *p)
{
    free(p->device);
    free(p->experts_on_host);
    *p = (mo_chain_placement){ 0 };
}

/* Without a GPU in use no weights are copied to one. */
static bool is_host_alone(const mo_chain *c, const mo_chain_placement *p)
{
    for (int u = 0; u < c->n_units; u++)
        if (p->device[u] != c->host)
            return false;
    return c->host != MO_CHAIN_NONE && c->rules.copies_from_tokens > 0;
}

static void add_phase(const mo_chain *c, const mo_chain_placement *p, int i,
                      mo_chain_figures *f)
{
    const mo_chain_phase *phase = &c->phases[i];
    bool is_alone = is_host_alone(c, p);
    int n = c->n_devices;

    for (int u = 0; u < c->n_units && !is_alone; u++) {
        int k = p->device[u];
        int to = u + 1 < c->n_units        ? p->device[u + 1]
                 : c->rules.embeds_on_host ? c->host
                                           : MO_CHAIN_NONE;

        if (k == MO_CHAIN_NONE)
            continue;
        f->device_ns[i][k] += phase->time_ns[u * n + k];
        if (p->experts_on_host[u]) {
            f->device_ns[i][c->host] += phase->expert_ns[u * n + c->host];
            f->transfer_ns[i] += phase->expert_transfer_ns[k * n + c->host];
        } else {
            f->device_ns[i][k] += phase->expert_ns[u * n + k];
        }
        if (to != MO_CHAIN_NONE)
            f->transfer_ns[i] += phase->transfer_ns[(u * n + k) * n + to];
    }
    for (int u = 0; u < c->n_units && is_alone; u++)
        f->device_ns[i][c->host] += phase->alone_ns[u];
    f->phase_ns[i] = f->transfer_ns[i];
    for (int k = 0; k < n; k++)
        f->phase_ns[i] += f->device_ns[i][k];
    f->request_ns += phase->weight * (double) f->phase_ns[i];
}

void mo_chain_evaluate(const mo_chain *c, const mo_chain_placement *p,
                       mo_chain_figures *figures)
{
    mo_chain_figures f = { .fits = true };

    for (int i = 0; i < c->n_phases; i++)
        add_phase(c, p, i, &f);
    for (int u = 0; u < c->n_units; u++) {
        int k = p->device[u];

        if (k == MO_CHAIN_NONE)
            continue;
        f.memory_bytes[k] += c->memory_bytes[u];
        f.memory_bytes[p->experts_on_host[u] ? c->host : k] +=
            c->expert_bytes[u];
        if (u == 0 && k != p->device[c->n_units - 1])
            f.memory_bytes[k] += c->tied_bytes;
    }
    for (int k = 0; k < c->n_devices; k++)
        f.fits = f.fits && f.memory_bytes[k] <= c->capacity_bytes[k];
    *figures = f;
}
