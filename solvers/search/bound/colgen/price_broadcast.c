/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/bound/colgen/price_broadcast.h"

#include <math.h>

/*
 * Gates cut the time at which it may come into pieces: behind each, one more is
 * paid for.
 */

/* Whether it pays for a gate at all. */
static bool is_gate_of(const mo_cg_release_dual *gate, int device)
{
    return gate->good.device == device;
}

/* Takes the cheapest tick between two if it costs less than what is known. */
static void consider(const mo_cg_problem *c, const mo_cg_dual_profile *prices,
                     int device, int64_t from, int64_t to, double tolls,
                     double *least, int64_t *tick)
{
    int64_t length = mo_cg_broadcast_ticks(c, device), start;
    const mo_cg_cost_curve *curve =
        &prices->pairs[mo_cg_device_pair(c, c->a, device)];
    double price;

    if (from > to)
        return;
    price = tolls + mo_cg_cheapest_start(c, curve, length, from - length,
                                         to - length, &start);
    if (price < *least) {
        *least = price;
        *tick = start + length;
    }
}

double mo_cg_price_broadcast(const mo_cg_problem *c,
                             const mo_cg_dual_profile *prices,
                             const mo_cg_node *state, int device, int64_t *tick)
{
    int64_t from = state->lo[device], to = state->hi[device];
    double tolls = 0, all = 0, least;

    for (int i = 0; i < prices->n_gates; i++)
        if (is_gate_of(&prices->gates[i], device))
            all += prices->gates[i].price;
    /* More than any tick can cost, where it must come. */
    *tick = c->horizon + 1;
    least = state->fate[device] == MO_CG_ARRIVAL_UNDECIDED ? all : INFINITY;
    for (int i = 0; i < prices->n_gates; i++) {
        const mo_cg_release_dual *gate = &prices->gates[i];

        if (!is_gate_of(gate, device))
            continue;
        consider(c, prices, device, from,
                 gate->good.tick - 1 < to ? gate->good.tick - 1 : to, tolls,
                 &least, tick);
        if (gate->good.tick > from)
            from = gate->good.tick;
        tolls += gate->price;
    }
    consider(c, prices, device, from, to, tolls, &least, tick);
    return least;
}

void mo_cg_broadcast_column(const mo_cg_problem *c, int device, int64_t tick,
                            mo_cg_column *way)
{
    int pair = mo_cg_device_pair(c, c->a, device);
    int64_t length = mo_cg_broadcast_ticks(c, device);

    way->class = MO_FREE;
    way->to = device;
    way->start[0] = tick;
    way->n_jobs = 0;
    for (int i = c->pair_start[pair];
         i < c->pair_start[pair + 1] && tick <= c->horizon; i++)
        way->jobs[way->n_jobs++] =
            (mo_cg_job){ c->pair_resource[i], 1, tick - length, length };
}
