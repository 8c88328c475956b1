/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the load bound, generated as cutting planes. Of the items that use a
 * resource and have at least some head and tail, the first does not start
 * before the head, none overlap, and behind the end of the last there is still
 * the tail:
 *
 *     u |---head---|## ## ####  ###|--tail--| v
 *
 * The set of items may be empty: a row whose base is no more than the least
 * distance of its events holds even then.
 */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

int mo_load_n_resources(const mo_load_problem *f)
{
    return f->n_devices + mo_resource_count(f->x, f->congestion);
}

static bool broadcast_uses(const mo_load_problem *f, int to, int resource)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(f->x, f->congestion, f->u_device, to, pair, &ids);

    for (int i = 0; i < n; i++)
        if (f->n_devices + ids[i] == resource)
            return true;
    return false;
}

/* Returns whether an op that reads the broadcast tensor is counted for
 * certain. */
static bool contains_reader(const mo_load_problem *f, const mo_load_row *row)
{
    int rank =
        row->resource < f->n_devices ? f->arrivals.rank[row->resource] : -1;

    return rank >= 0 && row->from <= rank + 1 &&
           row->until == mo_load_last_event(f) &&
           f->arrivals.arrival_ns[row->resource] >= row->head_ns &&
           f->arrivals.least_end_ns[rank] >= row->tail_ns;
}

/* Returns the least distance of two events. */
static int64_t min_distance_ns(const mo_load_problem *f, int from, int until)
{
    int64_t sum = 0;

    if (until == mo_load_last_event(f))
        return f->arrivals.event_tail_ns[from];
    for (int j = from; j < until; j++)
        sum += f->arrivals.sent_ns[j];
    return sum;
}

int64_t mo_load_row_base_ns(const mo_load_problem *f, const mo_load_row *row)
{
    /* The load of the broadcast tensor on a resource, which every schedule
     * of the order has. */
    int64_t sent_ns = 0;

    for (int j = row->from; j < f->order.n && j < row->until; j++) {
        mo_load_item item = f->broadcast[j];
        if (broadcast_uses(f, f->order.device[j], row->resource) &&
            item.head_ns >= row->head_ns && item.tail_ns >= row->tail_ns)
            sent_ns += item.ns;
    }
    int64_t ns = row->head_ns + row->tail_ns + sent_ns, most_ns;

    if (sent_ns > 0 || contains_reader(f, row))
        return ns;
    most_ns = min_distance_ns(f, row->from, row->until);
    return ns < most_ns ? ns : most_ns;
}

mo_status mo_load_rows_add(const mo_load_problem *f, mo_load_rows *rows,
                           mo_load_row row, mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(rows->rows, rows->n, rows->room, err);

    if (status != MO_OK)
        return status;
    row.base_ns = mo_load_row_base_ns(f, &row);
    rows->rows[rows->n++] = row;
    return MO_OK;
}

/* Minimal heads and tails, by resource. */
typedef struct min_ends {
    const mo_load_problem *f;
    int64_t *head_ns, *tail_ns;
} min_ends;

static void update_ends(min_ends *e, int resource, const mo_load_item *item)
{
    if (item->head_ns < e->head_ns[resource])
        e->head_ns[resource] = item->head_ns;
    if (item->tail_ns < e->tail_ns[resource])
        e->tail_ns[resource] = item->tail_ns;
}

static void update_transfer_ends(min_ends *e, int from, int to,
                                 const mo_load_item *item)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(e->f->x, e->f->congestion, from, to, pair, &ids);

    for (int i = 0; i < n; i++)
        update_ends(e, e->f->n_devices + ids[i], item);
}

static void update_all_ends(min_ends *e)
{
    const mo_load_problem *f = e->f;

    for (int o = 0; o < f->n; o++)
        for (int k = 0; k < f->n_devices; k++) {
            int reader = f->ops[o].reader;
            mo_load_item run, read;

            if (!mo_load_can_run(f, o, k))
                continue;
            run = mo_load_item_compute(f, o, k);
            update_ends(e, k, &run);
            for (int to = 0; to < f->n_devices; to++) {
                mo_load_item item;

                if (to == k ||
                    (reader == MO_FREE ? to != f->v_device
                                       : !mo_load_can_run(f, reader, to)))
                    continue;
                item = mo_load_item_transfer(f, o, k, to);
                if (item.ns > 0)
                    update_transfer_ends(e, k, to, &item);
            }
            read = mo_load_item_input(f, o, k);
            if (read.ns > 0)
                update_transfer_ends(e, f->u_device, k, &read);
        }
    for (int j = 0; j < f->order.n; j++) {
        mo_load_item item = f->broadcast[j];
        update_transfer_ends(e, f->u_device, f->order.device[j], &item);
    }
}

static int64_t min_tail_ns(const mo_load_problem *f, int device)
{
    int64_t least = MO_LOAD_INFINITY;

    for (int o = 0; o < f->n; o++)
        if (mo_load_can_run(f, o, device) &&
            f->tail_ns[mo_load_index(f, o, device)] < least)
            least = f->tail_ns[mo_load_index(f, o, device)];
    return least;
}

mo_status mo_load_rows_init(const mo_load_problem *f, mo_load_rows *rows,
                            mo_error *err)
{
    mo_status status;

    rows->n = 0;

    int n = mo_load_n_resources(f);
    int64_t *least = malloc((size_t) n * 2 * sizeof *least);
    min_ends e = { f, least, least ? least + n : NULL };
    status = MO_OK;

    if (!least) {
        status = mo_fail_memory(err);
    } else {
        for (int i = 0; i < 2 * n; i++)
            least[i] = MO_LOAD_INFINITY;
        update_all_ends(&e);
        for (int r = 0; r < n && status == MO_OK; r++) {
            mo_load_row row = {
                r, 0, mo_load_last_event(f), e.head_ns[r], e.tail_ns[r], 0
            };
            if (row.head_ns < MO_LOAD_INFINITY)
                status = mo_load_rows_add(f, rows, row, err);
        }
        free(least);
    }
    for (int j = 0; j < f->order.n && status == MO_OK; j++) {
        /* Rows of a stage: from the arrival on a device to J, and the transfer
         * there through the port of u, with all that the port sends meanwhile.
         */
        int device = f->order.device[j];
        mo_load_row behind = { .resource = device,
                               .from = j + 1,
                               .until = mo_load_last_event(f),
                               .tail_ns = min_tail_ns(f, device) };
        mo_load_row link = { .resource = -1, .from = j, .until = j + 1 };
        int pair[2];
        const int *ids;
        status = mo_load_rows_add(f, rows, behind, err);

        if (mo_resource_list(f->x, f->congestion, f->u_device, device, pair,
                             &ids) > 0)
            link.resource = f->n_devices + ids[0];
        if (status == MO_OK && link.resource >= 0)
            status = mo_load_rows_add(f, rows, link, err);
    }
    return status == MO_OK ? mo_load_limits_add_rows(f, rows, err) : status;
}

mo_status mo_load_row_index_new(const mo_load_problem *f, size_t n_rows,
                                mo_load_row_index *index, mo_error *err)
{
    int n = mo_load_n_resources(f);

    index->first = calloc((size_t) n + 1, sizeof *index->first);
    index->next = calloc(n_rows + 1, sizeof *index->next);
    if (index->first && index->next)
        return MO_OK;
    mo_load_row_index_free(index);
    return mo_fail_memory(err);
}

void mo_load_row_index_free(mo_load_row_index *index)
{
    free(index->first);
    free(index->next);
    *index = (mo_load_row_index){ 0 };
}

void mo_load_row_index_fill(const mo_load_problem *f, mo_load_row_index *index,
                            const mo_load_rows *rows, const int64_t *weight)
{
    int n = mo_load_n_resources(f);

    for (int r = 0; r < n; r++)
        index->first[r] = -1;
    for (size_t i = rows->n; i-- > 0;) {
        int resource = rows->rows[i].resource, *first;

        if (resource < 0 || (weight && weight[i] == 0))
            continue;
        first = &index->first[resource];
        index->next[i] = *first;
        *first = (int) i;
    }
}
