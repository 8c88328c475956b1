/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/exchange_units.h"

#include "cost/cluster.h"

/* A GPU of another rank, never called here: this program may have been built
 * without CUDA. */
static const mo_backend elsewhere = { .name = "cuda", .apart = true };

/* By device, whether it is a GPU. Fixed size: ranks may have clusters of other
 * sizes, which is detected later. */
typedef struct unit_kinds {
    bool apart[MO_MAX_DEVICES];
} unit_kinds;

_Static_assert(sizeof(bool) == 1, "they travel as bytes");

/* At rank 0: receives the message of every rank. */
static mo_status receive_all(const mo_transport *transport,
                             mo_transport_world *world,
                             const mo_exec_units *units, unit_kinds *all,
                             mo_error *err)
{
    mo_status status = MO_OK;
    unit_kinds theirs;

    for (int r = 1; r < transport->n_ranks(world) && status == MO_OK; r++) {
        status = transport->collect(world, r, &theirs, sizeof theirs, err);
        for (int k = 0; k < units->n && status == MO_OK; k++)
            if (units->rank_of[k] == r)
                all->apart[k] = theirs.apart[k];
    }
    return status;
}

mo_status mo_exec_exchange_units(const mo_transport *transport,
                                 mo_transport_world *world,
                                 const mo_exec_config *wants,
                                 mo_exec_units *units, mo_error *err)
{
    int rank = transport->rank(world);
    unit_kinds all = { { false } };
    mo_status status;

    if (transport->n_ranks(world) == 1)
        return MO_OK;
    for (int k = 0; k < units->n; k++)
        all.apart[k] = units->backends[k]->apart;
    status = rank == 0 ? receive_all(transport, world, units, &all, err)
                       : transport->collect(world, rank, &all, sizeof all, err);
    if (status == MO_OK)
        status = transport->broadcast(world, &all, sizeof all, err);
    for (int k = 0; k < units->n && status == MO_OK; k++)
        if (units->rank_of[k] != rank) {
            units->backends[k] = all.apart[k] ? &elsewhere : &mo_backend_cpu;
            mo_exec_units_set_plan_traits(units, k, wants);
        }
    return status;
}
