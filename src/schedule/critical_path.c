/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/critical_path.h"

#include <stdlib.h>

#include "schedule/resource.h"

/* An op or transfer on a device or resource. */
typedef struct visit {
    int place; /* device; of transfers, resource */
    int id;
    int64_t start_ns, end_ns;
} visit;

/* Visits sorted by place and time, and the position of each item in them. */
typedef struct visit_list {
    visit *visits;
    int n;
} visit_list;

typedef struct search {
    const mo_instance *x;
    const mo_schedule *s;
    visit_list ops, transfers;
    int *op_position; /* in ops, by op */
} search;

/* The latest predecessor so far. */
typedef struct predecessor {
    mo_path_item item; /* without its own reason and gap */
    mo_path_reason why;
    int64_t end_ns; /* -1: none */
} predecessor;

static int compare_visits(const void *a, const void *b)
{
    const visit *v = a, *w = b;

    if (v->place != w->place)
        return v->place < w->place ? -1 : 1;
    if (v->start_ns != w->start_ns)
        return v->start_ns < w->start_ns ? -1 : 1;
    if (v->end_ns != w->end_ns) /* what takes no time goes first */
        return v->end_ns < w->end_ns ? -1 : 1;
    return (v->id > w->id) - (v->id < w->id);
}

static void sort_visits(visit_list *list)
{
    if (list->n > 0)
        qsort(list->visits, (size_t) list->n, sizeof *list->visits,
              compare_visits);
}

static int64_t end_of_op(const search *f, int op)
{
    return f->s->start_ns[op] + mo_instance_p_ns(f->x, op, f->s->device[op]);
}

static mo_status list_ops(search *f, mo_error *err)
{
    const mo_schedule *s = f->s;
    size_t room = (size_t) s->n + 1;

    f->ops.visits = calloc(room, sizeof *f->ops.visits);
    f->op_position = calloc(room, sizeof *f->op_position);
    if (!f->ops.visits || !f->op_position)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        f->ops.visits[f->ops.n++] =
            (visit){ s->device[i], i, s->start_ns[i], end_of_op(f, i) };
    sort_visits(&f->ops);
    for (int i = 0; i < f->ops.n; i++)
        f->op_position[f->ops.visits[i].id] = i;
    return MO_OK;
}

static int list_resources(const search *f, const mo_transfer *t, int pair[2],
                          const int **ids)
{
    return mo_resource_list(f->x, f->s->regime.congestion, t->from, t->to, pair,
                            ids);
}

static mo_status list_transfers(search *f, mo_error *err)
{
    const mo_schedule *s = f->s;
    const int *ids;
    size_t room = 1;
    int pair[2];

    for (int i = 0; i < s->n_transfers; i++)
        room += (size_t) list_resources(f, &s->transfers[i], pair, &ids);
    f->transfers.visits = calloc(room, sizeof *f->transfers.visits);
    if (!f->transfers.visits)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n_transfers; i++) {
        int n = list_resources(f, &s->transfers[i], pair, &ids);

        for (int r = 0; r < n; r++)
            f->transfers.visits[f->transfers.n++] =
                (visit){ ids[r], i, s->transfers[i].start_ns,
                         s->transfers[i].end_ns };
    }
    sort_visits(&f->transfers);
    return MO_OK;
}

static void try_op(const search *f, int op, mo_path_reason why, predecessor *p)
{
    int64_t end_ns = end_of_op(f, op);

    if (end_ns > p->end_ns)
        *p = (predecessor){ { .is_transfer = false, .id = op }, why, end_ns };
}

static void try_transfer(const search *f, int number, mo_path_reason why,
                         predecessor *p)
{
    int64_t end_ns = f->s->transfers[number].end_ns;

    if (end_ns > p->end_ns)
        *p =
            (predecessor){ { .is_transfer = true, .id = number }, why, end_ns };
}

static void find_before_op(const search *f, int op, predecessor *p)
{
    const mo_instance *x = f->x;
    const mo_schedule *s = f->s;
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int at = f->op_position[op];

    for (int i = x->in_start[op]; i < x->in_start[op + 1]; i++) {
        int q = x->in_flows[i];
        const mo_transfer *t = mo_schedule_transfer(
            s, once ? x->flows[q].tensor : q, s->device[op]);

        if (t)
            try_transfer(f, (int) (t - s->transfers), MO_PATH_INPUT, p);
        else
            try_op(f, x->flows[q].from, MO_PATH_INPUT, p);
    }
    if (at > 0 && f->ops.visits[at - 1].place == s->device[op])
        try_op(f, f->ops.visits[at - 1].id, MO_PATH_DEVICE, p);
}

static void find_before_transfer(const search *f, int number, predecessor *p)
{
    const mo_transfer *t = &f->s->transfers[number];
    const int *ids;
    int pair[2], n = list_resources(f, t, pair, &ids);

    try_op(f, f->x->tensor_from[mo_schedule_tensor(f->x, f->s, t)],
           MO_PATH_INPUT, p);
    for (int r = 0; r < n; r++) {
        const visit key = { ids[r], number, t->start_ns, t->end_ns };
        const visit *at =
            bsearch(&key, f->transfers.visits, (size_t) f->transfers.n,
                    sizeof key, compare_visits);

        if (at > f->transfers.visits && at[-1].place == ids[r])
            try_transfer(f, at[-1].id, MO_PATH_TRAFFIC, p);
    }
}

/* From the last op back; every predecessor is earlier in the order of start,
 * precedence and number, so no item comes twice. */
static void walk_back(const search *f, mo_critical_path *path)
{
    mo_path_item at = { .is_transfer = false, .id = 0 };
    int most = f->s->n + f->s->n_transfers;

    for (int i = 1; i < f->s->n; i++)
        if (end_of_op(f, i) > end_of_op(f, at.id))
            at.id = i;

    while (path->n < most) {
        predecessor p = { .end_ns = -1 };
        int64_t start_ns = at.is_transfer ? f->s->transfers[at.id].start_ns
                                          : f->s->start_ns[at.id];

        if (at.is_transfer)
            find_before_transfer(f, at.id, &p);
        else
            find_before_op(f, at.id, &p);
        at.reason = p.end_ns < 0 ? MO_PATH_FIRST : p.why;
        at.gap_ns = p.end_ns < 0 ? start_ns : start_ns - p.end_ns;
        path->items[path->n++] = at;
        if (p.end_ns < 0)
            break;
        at = p.item;
    }
    for (int i = 0, j = path->n - 1; i < j; i++, j--) {
        mo_path_item item = path->items[i];

        path->items[i] = path->items[j];
        path->items[j] = item;
    }
}

mo_status mo_critical_path_find(const mo_instance *x, const mo_schedule *s,
                                mo_critical_path *path, mo_error *err)
{
    search f = { .x = x, .s = s };
    mo_status status = list_ops(&f, err);

    if (status == MO_OK)
        status = list_transfers(&f, err);
    if (status == MO_OK) {
        path->items = calloc((size_t) s->n + (size_t) s->n_transfers + 1,
                             sizeof *path->items);
        if (!path->items)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK && s->n > 0)
        walk_back(&f, path);
    free(f.op_position);
    free(f.ops.visits);
    free(f.transfers.visits);
    return status;
}

void mo_critical_path_clear(mo_critical_path *path)
{
    free(path->items);
    *path = (mo_critical_path){ 0 };
}
