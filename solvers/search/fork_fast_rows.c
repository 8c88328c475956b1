#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/fork_fast_parts.h"

/*
 * Of the items that use a resource and have at least a head and at least a
 * tail, the first does not begin before the head, none overlap, and behind the
 * end of the last there is still the tail:
 *
 *     u |---head---|## ## ####  ###|--tail--| v
 *
 * That there is no item at all must be thought of, too: a row with a base of no
 * more than the path holds even then.
 */

int mo_fast_n_resources(const mo_fast *f)
{
    return f->n_devices + mo_resource_count(f->x, f->congestion);
}

static bool sends_through(const mo_fast *f, int to, int resource)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(f->x, f->congestion, f->a, to, pair, &ids);

    for (int i = 0; i < n; i++)
        if (f->n_devices + ids[i] == resource)
            return true;
    return false;
}

/* What the shared tensor takes of a resource in its order: that is there in any
 * case. */
static int64_t shared_ns(const mo_fast *f, int resource, int64_t head_ns,
                         int64_t tail_ns)
{
    int64_t sum = 0;

    for (int j = 0; j < f->order.n; j++) {
        mo_fast_item item = mo_fast_shared(f, j);
        if (sends_through(f, f->order.device[j], resource) &&
            item.head_ns >= head_ns && item.tail_ns >= tail_ns)
            sum += item.ns;
    }
    return sum;
}

/* Whether an op that reads the tensor where it was sent to is among them. */
static bool has_reader(const mo_fast *f, int resource, int64_t head_ns,
                       int64_t tail_ns)
{
    return resource < f->n_devices && f->rank[resource] >= 0 &&
           f->arrival_ns[resource] >= head_ns &&
           f->least_end_ns[f->rank[resource]] >= tail_ns;
}

int64_t mo_fast_base_ns(const mo_fast *f, int resource, int64_t head_ns,
                        int64_t tail_ns)
{
    int64_t sent_ns = shared_ns(f, resource, head_ns, tail_ns);
    int64_t ns = head_ns + tail_ns + sent_ns;

    if (sent_ns > 0 || has_reader(f, resource, head_ns, tail_ns) ||
        ns < f->path_ns)
        return ns;
    return f->path_ns;
}

static mo_status push(mo_fast_rows *rows, const mo_fast_row *row, mo_error *err)
{
    mo_status status = MO_PUSH(rows->rows, rows->n, rows->room, err);

    if (status == MO_OK)
        rows->rows[rows->n++] = *row;
    return status;
}

mo_status mo_fast_rows_add(const mo_fast *f, mo_fast_rows *rows, int resource,
                           int64_t head_ns, int64_t tail_ns, mo_error *err)
{
    mo_fast_row row = {
        .resource = resource, .head_ns = head_ns, .tail_ns = tail_ns, .late = -1
    };

    row.base_ns = mo_fast_base_ns(f, resource, head_ns, tail_ns);
    return push(rows, &row, err);
}

/* The least heads and tails, by resource. */
typedef struct ends {
    const mo_fast *f;
    int64_t *head_ns, *tail_ns;
} ends;

static void meet(ends *e, int resource, const mo_fast_item *item)
{
    if (item->head_ns < e->head_ns[resource])
        e->head_ns[resource] = item->head_ns;
    if (item->tail_ns < e->tail_ns[resource])
        e->tail_ns[resource] = item->tail_ns;
}

static void meet_transfer(ends *e, int from, int to, const mo_fast_item *item)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(e->f->x, e->f->congestion, from, to, pair, &ids);

    for (int i = 0; i < n; i++)
        meet(e, e->f->n_devices + ids[i], item);
}

static void meet_sends(ends *e, int op, int from)
{
    const mo_fast *f = e->f;
    int reader = f->ops[op].reader;

    for (int to = 0; to < f->n_devices; to++) {
        mo_fast_item item;

        if (to == from ||
            (reader == MO_FREE ? to != f->b : !mo_fast_usable(f, reader, to)))
            continue;
        item = mo_fast_send(f, op, from, to);
        if (item.ns > 0)
            meet_transfer(e, from, to, &item);
    }
}

static void meet_all(ends *e)
{
    const mo_fast *f = e->f;

    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++) {
            mo_fast_item run, read;

            if (!mo_fast_usable(f, o, k))
                continue;
            run = mo_fast_run(f, o, k);
            meet(e, k, &run);
            meet_sends(e, o, k);
            read = mo_fast_read(f, o, k);
            if (read.ns > 0)
                meet_transfer(e, f->a, k, &read);
        }
    for (int j = 0; j < f->order.n; j++) {
        mo_fast_item item = mo_fast_shared(f, j);
        meet_transfer(e, f->a, f->order.device[j], &item);
    }
}

static mo_status add_whole(const mo_fast *f, mo_fast_rows *rows, mo_error *err)
{
    int n = mo_fast_n_resources(f);
    int64_t *least = malloc((size_t) n * 2 * sizeof *least);
    ends e = { f, least, least ? least + n : NULL };
    mo_status status = MO_OK;

    if (!least)
        return mo_fail_memory(err);
    for (int i = 0; i < 2 * n; i++)
        least[i] = MO_FAST_NEVER;
    meet_all(&e);
    for (int r = 0; r < n && status == MO_OK; r++)
        if (e.head_ns[r] < MO_FAST_NEVER)
            status =
                mo_fast_rows_add(f, rows, r, e.head_ns[r], e.tail_ns[r], err);
    free(least);
    return status;
}

/* One op that reads the tensor is there, so that what is late is not nothing,
 * as long as the tail is none that all of those might lack. */
static mo_status add_late(const mo_fast *f, mo_fast_rows *rows, int rank,
                          int64_t tail_ns, mo_error *err)
{
    int device = f->order.device[rank];
    mo_fast_row row = { .resource = device, .tail_ns = tail_ns, .late = rank };
    mo_status status = MO_OK;

    for (row.fed = -1; row.fed <= rank && status == MO_OK; row.fed++) {
        row.base_ns = f->arrival_ns[device] + tail_ns;
        if (row.fed >= 0)
            row.base_ns -=
                f->arrival_ns[f->order.device[row.fed]] - f->sent_ns[row.fed];
        status = push(rows, &row, err);
    }
    return status;
}

static int64_t least_tail_ns(const mo_fast *f, int device)
{
    int64_t least = MO_FAST_NEVER;

    for (int o = 0; o < f->n; o++)
        if (mo_fast_usable(f, o, device) &&
            f->tail_ns[mo_fast_at(f, o, device)] < least)
            least = f->tail_ns[mo_fast_at(f, o, device)];
    return least;
}

mo_status mo_fast_rows_make(const mo_fast *f, mo_fast_rows *rows, mo_error *err)
{
    mo_status status;

    rows->n = 0;
    status = add_whole(f, rows, err);
    for (int j = 0; j < f->order.n && status == MO_OK; j++) {
        int64_t tail_ns = least_tail_ns(f, f->order.device[j]);

        status = add_late(f, rows, j, tail_ns, err);
        if (status == MO_OK && tail_ns < f->least_end_ns[j])
            status = add_late(f, rows, j, f->least_end_ns[j], err);
    }
    return status;
}

mo_status mo_fast_index_new(const mo_fast *f, size_t n_rows,
                            mo_fast_index *index, mo_error *err)
{
    int n = mo_fast_n_resources(f);

    index->first = calloc((size_t) n + 1, sizeof *index->first);
    index->next = calloc(n_rows + 1, sizeof *index->next);
    if (index->first && index->next)
        return MO_OK;
    mo_fast_index_free(index);
    return mo_fail_memory(err);
}

void mo_fast_index_free(mo_fast_index *index)
{
    free(index->first);
    free(index->next);
    *index = (mo_fast_index){ 0 };
}

void mo_fast_index_fill(const mo_fast *f, mo_fast_index *index,
                        const mo_fast_rows *rows, const int64_t *weight)
{
    int n = mo_fast_n_resources(f);

    for (int r = 0; r < n; r++)
        index->first[r] = -1;
    for (size_t i = rows->n; i-- > 0;) {
        int *first = &index->first[rows->rows[i].resource];

        if (weight && weight[i] == 0)
            continue;
        index->next[i] = *first;
        *first = (int) i;
    }
}
