/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/transport/nccl/comm_layout.h"

#include <stdlib.h>

typedef struct finding {
    const mo_exec_plan *plan;
    const int *rank_of;
    int rank;
    mo_nccl_comm_layout *out;
} finding;

static int find_line(const mo_nccl_comm_layout *l, int from, int to)
{
    int i = 0;

    while (i < l->n && (l->lines[i].from != from || l->lines[i].to != to))
        i++;
    return i;
}

static void find_lines(const finding *f, const bool *is_gpu)
{
    mo_nccl_comm_layout *l = f->out;

    for (int t = 0; t < f->plan->n_transfers; t++) {
        int from = f->plan->transfers[t].from, to = f->plan->transfers[t].to;
        int at;

        l->line_of[t] = -1;
        if (!is_gpu[from] || !is_gpu[to] || f->rank_of[from] == f->rank_of[to])
            continue;
        at = find_line(l, from, to);
        if (at == l->n)
            l->lines[l->n++] = (mo_nccl_pair){ from, to, -1, -1 };
        l->line_of[t] = at;
    }
}

static void seat_pairs(const finding *f)
{
    mo_nccl_comm_layout *l = f->out;

    l->n_ids = l->n;
    for (int i = 0; i < l->n; i++) {
        mo_nccl_pair *line = &l->lines[i];
        bool sends = f->rank_of[line->from] == f->rank;

        l->maker_of[i] = f->rank_of[line->from];
        if (!sends && f->rank_of[line->to] != f->rank)
            continue;
        line->own = l->n_seats;
        line->peer = sends ? 1 : 0;
        l->seats[l->n_seats++] =
            (mo_nccl_member){ .id = i,
                              .n_seats = 2,
                              .seat = sends ? 0 : 1,
                              .device = sends ? line->from : line->to };
    }
}

/* place: by device, where it sits among all that have a line; -1 for others. */
static void seat_all(const finding *f, int *place)
{
    mo_nccl_comm_layout *l = f->out;
    int n = 0;

    for (int d = 0; d < f->plan->n_devices; d++)
        place[d] = -1;
    for (int i = 0; i < l->n; i++)
        place[l->lines[i].from] = place[l->lines[i].to] = 0;
    for (int d = 0; d < f->plan->n_devices; d++)
        if (place[d] == 0) {
            if (n == 0)
                l->maker_of[0] = f->rank_of[d];
            if (f->rank_of[d] == f->rank)
                l->seats[l->n_seats++] =
                    (mo_nccl_member){ .seat = n, .device = d };
            place[d] = n++;
        }
    for (int s = 0; s < l->n_seats; s++)
        l->seats[s].n_seats = n;
    l->n_ids = l->n > 0;
}

static int seat_of(const mo_nccl_comm_layout *l, int device)
{
    int s = 0;

    while (s < l->n_seats && l->seats[s].device != device)
        s++;
    return s < l->n_seats ? s : -1;
}

static void join_seats(mo_nccl_comm_layout *l, const int *place)
{
    for (int i = 0; i < l->n; i++) {
        mo_nccl_pair *line = &l->lines[i];
        int sends = seat_of(l, line->from), receives = seat_of(l, line->to);

        line->own = sends >= 0 ? sends : receives;
        line->peer = place[sends >= 0 ? line->to : line->from];
    }
}

void mo_nccl_comm_layout_clear(mo_nccl_comm_layout *lines)
{
    free(lines->lines);
    free(lines->seats);
    free(lines->line_of);
    free(lines->maker_of);
    *lines = (mo_nccl_comm_layout){ 0 };
}

mo_status mo_nccl_comm_layout_compute(const mo_exec_plan *plan,
                                      const int *rank_of, const bool *is_gpu,
                                      int rank, bool safe,
                                      mo_nccl_comm_layout *lines, mo_error *err)
{
    const finding f = { plan, rank_of, rank, lines };
    size_t n = (size_t) plan->n_transfers + 1;
    size_t n_devices = (size_t) plan->n_devices + 1;
    int *place = calloc(n_devices, sizeof *place);

    lines->lines = calloc(n, sizeof *lines->lines);
    lines->seats = calloc(n + n_devices, sizeof *lines->seats);
    lines->line_of = calloc(n, sizeof *lines->line_of);
    lines->maker_of = calloc(n, sizeof *lines->maker_of);
    if (!place || !lines->lines || !lines->seats || !lines->line_of ||
        !lines->maker_of) {
        free(place);
        return mo_fail_memory(err);
    }
    find_lines(&f, is_gpu);
    if (safe) {
        seat_all(&f, place);
        join_seats(lines, place);
    } else
        seat_pairs(&f);
    free(place);
    return MO_OK;
}
