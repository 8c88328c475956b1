/* SPDX-License-Identifier: Apache-2.0 */
/* Placements of a chain: their times and memory. */
#include <stdlib.h>
#include <string.h>

#include "report/runtime/chain.h"

/* In the order in which they are kept, as by --fit of llama.cpp. */
const char *const mo_chain_part_names[MO_CHAIN_PARTS] = { "up", "gate",
                                                          "down" };

void mo_chain_add_part(mo_chain *c, int unit, const char *name, int64_t bytes)
{
    const char *part = strstr(name, ".ffn_");

    for (int i = 0; i < MO_CHAIN_PARTS && part; i++) {
        size_t length = strlen(mo_chain_part_names[i]);

        if (strncmp(part + 5, mo_chain_part_names[i], length) == 0 &&
            strcmp(part + 5 + length, "_exps") == 0)
            c->part_bytes[unit][i] += bytes;
    }
}

mo_status mo_chain_placement_new(const mo_chain *c, mo_chain_placement *p,
                                 mo_error *err)
{
    p->device = calloc((size_t) c->n_units, sizeof *p->device);
    p->experts_on_host =
        calloc((size_t) c->n_units, sizeof *p->experts_on_host);
    p->kept = calloc((size_t) c->n_units, sizeof *p->kept);
    if (p->device && p->experts_on_host && p->kept)
        return MO_OK;
    mo_chain_placement_clear(p);
    return mo_fail_memory(err);
}

void mo_chain_placement_clear(mo_chain_placement *p)
{
    free(p->device);
    free(p->experts_on_host);
    free(p->kept);
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

static int64_t kept_bytes(const mo_chain *c, const mo_chain_placement *p, int u)
{
    int64_t bytes = 0;

    for (int i = 0; i < MO_CHAIN_PARTS; i++)
        if (p->kept[u] >> i & 1)
            bytes += c->part_bytes[u][i];
    return bytes;
}

/* The times of a unit's experts are in proportion to the bytes of their parts.
 */
static void add_experts(const mo_chain *c, const mo_chain_placement *p, int i,
                        int u, mo_chain_figures *f)
{
    const int64_t *ns = &c->phases[i].expert_ns[u * c->n_devices];
    int k = p->device[u];
    double kept;

    if (!p->experts_on_host[u]) {
        f->device_ns[i][k] += ns[k];
        return;
    }
    f->transfer_ns[i] +=
        c->phases[i].expert_transfer_ns[k * c->n_devices + c->host];
    if (p->kept[u] == 0) {
        f->device_ns[i][c->host] += ns[c->host];
        return;
    }
    kept = (double) kept_bytes(c, p, u) / (double) c->expert_bytes[u];
    f->device_ns[i][k] += (int64_t) (kept * (double) ns[k]);
    f->device_ns[i][c->host] += (int64_t) ((1 - kept) * (double) ns[c->host]);
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
        add_experts(c, p, i, u, f);
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
        if (p->experts_on_host[u]) {
            int64_t kept = kept_bytes(c, p, u);

            f.memory_bytes[k] += kept;
            f.memory_bytes[c->host] += c->expert_bytes[u] - kept;
        } else {
            f.memory_bytes[k] += c->expert_bytes[u];
        }
        if (u == 0 && k != p->device[c->n_units - 1])
            f.memory_bytes[k] += c->tied_bytes;
    }
    for (int k = 0; k < c->n_devices; k++)
        f.fits = f.fits && f.memory_bytes[k] <= c->capacity_bytes[k];
    *figures = f;
}

bool mo_chain_keep_parts(const mo_chain *c, mo_chain_placement *p,
                         mo_chain_figures *figures)
{
    bool done[MO_CHAIN_MAX_DEVICES] = { false }, any = false;

    for (int u = 0; u < c->n_units && c->part_bytes; u++) {
        int k = p->device[u];

        if (k == MO_CHAIN_NONE || done[k] || !p->experts_on_host[u])
            continue;
        done[k] = true;
        /* One part at least is left in main memory. */
        for (int i = 0; i < MO_CHAIN_PARTS - 1; i++) {
            mo_chain_figures tried;

            p->kept[u] |= (unsigned char) (1 << i);
            mo_chain_evaluate(c, p, &tried);
            if (c->part_bytes[u][i] > 0 && tried.fits &&
                tried.request_ns < figures->request_ns) {
                *figures = tried;
                any = true;
            } else {
                p->kept[u] &= (unsigned char) ~(1 << i);
            }
        }
    }
    return any;
}
