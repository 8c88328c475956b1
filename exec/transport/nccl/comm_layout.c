/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/transport/nccl/comm_layout.h"

#include <stdlib.h>

typedef struct layout_context {
    const mo_exec_plan *plan;
    const int *rank_of;
    int rank;
    mo_nccl_comm_layout *out;
} layout_context;

bool mo_nccl_comm_layout_takes(const mo_exec_plan *plan, const int *rank_of,
                               const bool *is_gpu, int transfer)
{
    int from = plan->transfers[transfer].from;
    int to = plan->transfers[transfer].to;

    return is_gpu[from] && is_gpu[to] && rank_of[from] != rank_of[to];
}

static void assign_pair_comms(const layout_context *f)
{
    mo_nccl_comm_layout *l = f->out;

    l->n_ids = l->n;
    for (int i = 0; i < l->n; i++) {
        mo_nccl_pair *pair = &l->pairs[i];
        bool sends = f->rank_of[pair->from] == f->rank;

        l->creator_of[i] = f->rank_of[pair->from];
        if (!sends && f->rank_of[pair->to] != f->rank)
            continue;
        pair->own = l->n_members;
        pair->peer = sends ? 1 : 0;
        l->members[l->n_members++] =
            (mo_nccl_member){ .id = i,
                              .comm_size = 2,
                              .comm_rank = sends ? 0 : 1,
                              .device = sends ? pair->from : pair->to };
    }
}

/* Layout of one communicator for all GPUs that have a pair; rank_in: by
 * device, its rank in that communicator, -1 for others. */
static void assign_shared_comm(const layout_context *f, int *rank_in)
{
    mo_nccl_comm_layout *l = f->out;
    int n = 0;

    for (int d = 0; d < f->plan->n_devices; d++)
        rank_in[d] = -1;
    for (int i = 0; i < l->n; i++)
        rank_in[l->pairs[i].from] = rank_in[l->pairs[i].to] = 0;
    for (int d = 0; d < f->plan->n_devices; d++)
        if (rank_in[d] == 0) {
            if (n == 0)
                l->creator_of[0] = f->rank_of[d];
            if (f->rank_of[d] == f->rank)
                l->members[l->n_members++] =
                    (mo_nccl_member){ .comm_rank = n, .device = d };
            rank_in[d] = n++;
        }
    for (int s = 0; s < l->n_members; s++)
        l->members[s].comm_size = n;
    l->n_ids = l->n > 0;
}

static int member_of(const mo_nccl_comm_layout *l, int device)
{
    int s = 0;

    while (s < l->n_members && l->members[s].device != device)
        s++;
    return s < l->n_members ? s : -1;
}

void mo_nccl_comm_layout_clear(mo_nccl_comm_layout *layout)
{
    free(layout->pairs);
    free(layout->members);
    free(layout->pair_of);
    free(layout->creator_of);
    *layout = (mo_nccl_comm_layout){ 0 };
}

mo_status mo_nccl_comm_layout_compute(const mo_exec_plan *plan,
                                      const int *rank_of, const bool *is_gpu,
                                      int rank, bool one_comm,
                                      mo_nccl_comm_layout *layout,
                                      mo_error *err)
{
    const layout_context f = { plan, rank_of, rank, layout };
    size_t n = (size_t) plan->n_transfers + 1;
    size_t n_devices = (size_t) plan->n_devices + 1;
    int *rank_in = calloc(n_devices, sizeof *rank_in);

    layout->pairs = calloc(n, sizeof *layout->pairs);
    layout->members = calloc(n + n_devices, sizeof *layout->members);
    layout->pair_of = calloc(n, sizeof *layout->pair_of);
    layout->creator_of = calloc(n, sizeof *layout->creator_of);
    if (!rank_in || !layout->pairs || !layout->members || !layout->pair_of ||
        !layout->creator_of) {
        free(rank_in);
        return mo_fail_memory(err);
    }
    for (int t = 0; t < plan->n_transfers; t++) {
        int from = plan->transfers[t].from, to = plan->transfers[t].to;
        int at;

        layout->pair_of[t] = -1;
        if (!mo_nccl_comm_layout_takes(plan, rank_of, is_gpu, t))
            continue;

        at = 0;
        while (at < layout->n &&
               (layout->pairs[at].from != from || layout->pairs[at].to != to))
            at++;
        if (at == layout->n)
            layout->pairs[layout->n++] = (mo_nccl_pair){ from, to, -1, -1 };
        layout->pair_of[t] = at;
    }
    if (one_comm) {
        assign_shared_comm(&f, rank_in);
        for (int i = 0; i < layout->n; i++) {
            mo_nccl_pair *pair = &layout->pairs[i];
            int sends = member_of(layout, pair->from),
                receives = member_of(layout, pair->to);

            pair->own = sends >= 0 ? sends : receives;
            pair->peer = rank_in[sends >= 0 ? pair->to : pair->from];
        }
    } else
        assign_pair_comms(&f);
    free(rank_in);
    return MO_OK;
}
