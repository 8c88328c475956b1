/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pricing problem: the cheapest pattern of a branch, by dynamic programming
 * from the leaves of the in-tree: for each op, device and stage, the least
 * cost of its subtree. Stages do not decrease towards v, and an op that reads
 * the broadcast tensor is in none before its arrival. The cost of an op itself
 * depends on the stage of its reader, too, and is added when the reader is
 * priced.
 */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

enum { STAGES = MO_LOAD_MAX_ARRIVALS + 1 };

/* Sums of row weights, by the stages of an item's begin and end. */
typedef struct stage_weights {
    int64_t of[STAGES][STAGES];
} stage_weights;

struct mo_load_pricer {
    const mo_load_problem *f;
    const mo_load_rows *rows;
    const mo_load_row_index *index;
    const int64_t *weight;
    int64_t whole; /* weight that ends at J: of a price */
    int n_stages;
    int64_t *subtree_cost; /* by op, device, stage: inputs and their subtrees */
    int *choice; /* by op, and device and stage of its reader: its device and
                    stage */
    stage_weights *run_weights; /* by device, of the present op */
    int64_t *limit_cost; /* by op, device and that of its reader: of limits */
};

mo_status mo_load_pricer_new(const mo_load_problem *f, mo_load_pricer **pricer,
                             mo_error *err)
{
    size_t devices = (size_t) f->n_devices, size;
    mo_load_pricer *p = calloc(1, sizeof *p);

    if (!p)
        return mo_fail_memory(err);
    p->f = f;
    if (mo_size_mul((size_t) f->n + 1, STAGES * devices, &size)) {
        p->subtree_cost = calloc(size, sizeof *p->subtree_cost);
        p->choice = calloc(size, sizeof *p->choice);
        p->run_weights = calloc(devices, sizeof *p->run_weights);
        p->limit_cost =
            calloc((size_t) f->n + 1, devices * devices * sizeof(int64_t));
    }
    if (!p->subtree_cost || !p->choice || !p->run_weights || !p->limit_cost) {
        mo_load_pricer_free(p);
        return mo_fail_memory(err);
    }
    *pricer = p;
    return MO_OK;
}

void mo_load_pricer_free(mo_load_pricer *p)
{
    if (!p)
        return;
    free(p->subtree_cost);
    free(p->choice);
    free(p->run_weights);
    free(p->limit_cost);
    free(p);
}

static size_t table_index(const mo_load_pricer *p, int op, int device,
                          int stage)
{
    return ((size_t) op * (size_t) p->f->n_devices + (size_t) device) *
               (size_t) p->n_stages +
           (size_t) stage;
}

/* Adds the weights of the resource's rows that may count the item, at the
 * stages where they begin and end. */
static void add_row_weights(const mo_load_pricer *p, int resource,
                            const mo_load_item *item, stage_weights *w)
{
    for (int i = p->index->first[resource]; i >= 0; i = p->index->next[i]) {
        const mo_load_row *row = &p->rows->rows[i];

        if (item->head_ns >= row->head_ns && item->tail_ns >= row->tail_ns)
            w->of[row->from][row->until - 1] += p->weight[i];
    }
}

/* Two-dimensional prefix sums: a row counts items that begin no earlier and
 * end no later than it. */
static void accumulate_weights(const mo_load_pricer *p, stage_weights *w)
{
    int last = p->n_stages - 1;

    for (int begin = 0; begin <= last; begin++)
        for (int end = last; end >= 0; end--) {
            if (begin > 0)
                w->of[begin][end] += w->of[begin - 1][end];
            if (end < last)
                w->of[begin][end] += w->of[begin][end + 1];
            if (begin > 0 && end < last)
                w->of[begin][end] -= w->of[begin - 1][end + 1];
        }
}

static void clear_weights(const mo_load_pricer *p, stage_weights *w)
{
    for (int begin = 0; begin < p->n_stages; begin++)
        for (int end = 0; end < p->n_stages; end++)
            w->of[begin][end] = 0;
}

static void weigh_transfer(const mo_load_pricer *p, int from, int to,
                           const mo_load_item *item, stage_weights *w)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(p->f->x, p->f->congestion, from, to, pair, &ids);

    clear_weights(p, w);
    for (int i = 0; i < n; i++)
        add_row_weights(p, p->f->n_devices + ids[i], item, w);
    accumulate_weights(p, w);
}

static int64_t saturating_add(int64_t a, int64_t b)
{
    return a + b < MO_LOAD_INFINITY ? a + b : MO_LOAD_INFINITY;
}

/* Completes subtree_cost of an op after its inputs have been priced. */
static void add_input_cost(mo_load_pricer *p, int op, int device)
{
    const mo_load_problem *f = p->f;
    int64_t *subtree_cost = p->subtree_cost + table_index(p, op, device, 0);
    int first = f->first_stage[mo_load_index(f, op, device)];
    int last = f->last_stage[mo_load_index(f, op, device)];
    bool usable = mo_load_can_run(f, op, device);
    mo_load_item read;
    stage_weights w;

    for (int stage = 0; stage < p->n_stages; stage++)
        if (!usable || stage < first || stage > last)
            subtree_cost[stage] = MO_LOAD_INFINITY;
    if (!usable)
        return;
    read = mo_load_item_input(f, op, device);
    if (read.ns == 0)
        return;
    weigh_transfer(p, f->u_device, device, &read, &w);
    for (int stage = first; stage <= last; stage++)
        subtree_cost[stage] =
            saturating_add(subtree_cost[stage], read.ns * w.of[0][stage]);
}

typedef struct output_option {
    int64_t price;
    int choice;
} output_option;

/* Prices the output of op on one device, for each stage of its reader, with a
 * transfer at those weights (send NULL: none). */
static void price_output_from(const mo_load_pricer *p, int op, int from,
                              int64_t limit_cost, int64_t send_ns,
                              const stage_weights *send, output_option *best)
{
    const int64_t *subtree_cost = p->subtree_cost + table_index(p, op, from, 0);
    int64_t run_ns = p->f->p_ns[mo_load_index(p->f, op, from)];
    const stage_weights *run = &p->run_weights[from];
    int64_t extra =
        p->whole * p->f->price_ns[mo_load_index(p->f, op, from)] + limit_cost;

    for (int stage = 0; stage < p->n_stages; stage++) {
        if (subtree_cost[stage] >= MO_LOAD_INFINITY)
            continue;
        for (int end = stage; end < p->n_stages; end++) {
            int64_t price =
                subtree_cost[stage] + extra + run_ns * run->of[stage][end];

            if (send)
                price += send_ns * send->of[stage][end];
            if (price < best[end].price) {
                best[end].price = price;
                best[end].choice = from * p->n_stages + stage;
            }
        }
    }
}

/* Stores the cheapest options to have the output of op on a device, or, with
 * MO_FREE, anywhere, by the stage of its reader. */
static void price_output(const mo_load_pricer *p, int op, int to,
                         output_option *best)
{
    const mo_load_problem *f = p->f;
    const int64_t *limits =
        p->limit_cost +
        (size_t) mo_load_index(f, op, 0) * (size_t) f->n_devices +
        (f->ops[op].reader == MO_FREE ? 0 : to);

    for (int end = 0; end < p->n_stages; end++)
        best[end] = (output_option){ MO_LOAD_INFINITY, 0 };
    for (int from = 0; from < f->n_devices; from++) {
        int64_t limit_cost = limits[from * f->n_devices];
        mo_load_item send;
        stage_weights w;

        if (!mo_load_can_run(f, op, from))
            continue;
        if (from == to || to == MO_FREE) {
            price_output_from(p, op, from, limit_cost, 0, NULL, best);
            continue;
        }
        send = mo_load_item_transfer(f, op, from, to);
        weigh_transfer(p, from, to, &send, &w);
        price_output_from(p, op, from, limit_cost, send.ns, &w, best);
    }
}

static int64_t price_group(mo_load_pricer *p, int first, int last)
{
    const mo_load_problem *f = p->f;
    int64_t sum = 0;

    for (size_t i = table_index(p, first, 0, 0); i < table_index(p, last, 0, 0);
         i++)
        p->subtree_cost[i] = 0;
    for (int o = first; o < last; o++) {
        for (int k = 0; k < f->n_devices; k++) {
            mo_load_item run = mo_load_item_compute(f, o, k);

            add_input_cost(p, o, k);
            clear_weights(p, &p->run_weights[k]);
            add_row_weights(p, k, &run, &p->run_weights[k]);
            accumulate_weights(p, &p->run_weights[k]);
        }
        if (f->ops[o].reader != MO_FREE) {
            int reader = f->ops[o].reader;

            for (int to = 0; to < f->n_devices; to++) {
                output_option best[STAGES];

                if (!mo_load_can_run(f, reader, to))
                    continue;
                price_output(p, o, to, best);
                for (int end = 0; end < p->n_stages; end++) {
                    int64_t *subtree_cost =
                        p->subtree_cost + table_index(p, reader, to, end);

                    *subtree_cost =
                        saturating_add(*subtree_cost, best[end].price);
                    p->choice[table_index(p, o, to, end)] = best[end].choice;
                }
            }
        } else {
            /* The least cost of the branch with root op. Its choice is stored
             * as if for a reader on device 0. */
            output_option best[STAGES];
            int latest = p->n_stages - 1;

            price_output(p, o, f->ops[o].row < 0 ? MO_FREE : f->v_device, best);
            p->choice[table_index(p, o, 0, latest)] = best[latest].choice;
            int64_t price = best[latest].price;

            if (price >= MO_LOAD_INFINITY)
                return MO_LOAD_INFINITY;
            sum += price * f->ops[o].count;
        }
    }
    return sum;
}

void mo_load_price_patterns(mo_load_pricer *p, const mo_load_rows *rows,
                            const mo_load_row_index *index,
                            const int64_t *weight, int64_t whole,
                            int64_t *price, mo_load_pattern *found)
{
    p->rows = rows;
    p->index = index;
    p->weight = weight;
    p->whole = whole;
    p->n_stages = p->f->order.n + 1;
    if (p->f->cases.is_used)
        mo_load_limits_cost(p->f, rows, weight, p->limit_cost);
    for (int g = 0; g < p->f->n_groups; g++)
        price[g] =
            price_group(p, p->f->group_start[g], p->f->group_start[g + 1]);
    for (int o = p->f->n - 1; o >= 0; o--) {
        int reader = p->f->ops[o].reader, choice;

        if (reader == MO_FREE)
            choice = p->choice[table_index(p, o, 0, p->n_stages - 1)];
        else
            choice = p->choice[table_index(p, o, found->device[reader],
                                           found->stage[reader])];
        found->device[o] = choice / p->n_stages;
        found->stage[o] = choice % p->n_stages;
    }
}
