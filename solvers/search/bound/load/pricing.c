/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/bound/load/load_bound_internal.h"

/*
 * A branch is a tree, so its cheapest pattern is found from its leaves on: for
 * each op, device and stage, the least price of all that it stands on.  Stages
 * do not fall on the way to v, and an op that reads the shared tensor is in
 * none before its arrival.  What an op costs itself depends on its reader's
 * stage, too, and is told when the reader asks for its output.
 */

enum { STAGES = MO_LOAD_MAX_ARRIVALS + 1 };

/* The weights of what counts something, by the stages of its begin and end. */
typedef struct weights {
    int64_t of[STAGES][STAGES];
} weights;

struct mo_load_pricer {
    const mo_load_problem *f;
    const mo_load_rows *rows;
    const mo_load_row_index *index;
    const int64_t *weight;
    int n_stages;
    int64_t *own;  /* by op, device, stage: all that it stands on, and reads */
    int *choice;   /* by op, and device and stage of its reader: its own */
    weights *runs; /* by device, of the op that is looked at */
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
        p->own = calloc(size, sizeof *p->own);
        p->choice = calloc(size, sizeof *p->choice);
        p->runs = calloc(devices, sizeof *p->runs);
    }
    if (!p->own || !p->choice || !p->runs) {
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
    free(p->own);
    free(p->choice);
    free(p->runs);
    free(p);
}

static size_t at(const mo_load_pricer *p, int op, int device, int stage)
{
    return ((size_t) op * (size_t) p->f->n_devices + (size_t) device) *
               (size_t) p->n_stages +
           (size_t) stage;
}

/* Adds the resource's rows that may count the item where each begins and
 * ends. */
static void add_rows(const mo_load_pricer *p, int resource,
                     const mo_load_item *item, weights *w)
{
    for (int i = p->index->first[resource]; i >= 0; i = p->index->next[i]) {
        const mo_load_row *row = &p->rows->rows[i];

        if (item->head_ns >= row->head_ns && item->tail_ns >= row->tail_ns)
            w->of[row->from][row->until - 1] += p->weight[i];
    }
}

/* A row counts what begins no earlier than it and ends no later. */
static void spread(const mo_load_pricer *p, weights *w)
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

static void clear(const mo_load_pricer *p, weights *w)
{
    for (int begin = 0; begin < p->n_stages; begin++)
        for (int end = 0; end < p->n_stages; end++)
            w->of[begin][end] = 0;
}

static void weigh_run(const mo_load_pricer *p, int device,
                      const mo_load_item *item, weights *w)
{
    clear(p, w);
    add_rows(p, device, item, w);
    spread(p, w);
}

static void weigh_transfer(const mo_load_pricer *p, int from, int to,
                           const mo_load_item *item, weights *w)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(p->f->x, p->f->congestion, from, to, pair, &ids);

    clear(p, w);
    for (int i = 0; i < n; i++)
        add_rows(p, p->f->n_devices + ids[i], item, w);
    spread(p, w);
}

static int64_t add(int64_t a, int64_t b)
{
    return a + b < MO_LOAD_INFINITY ? a + b : MO_LOAD_INFINITY;
}

/* Finishes own for an op whose inputs have been here. */
static void price_reads(mo_load_pricer *p, int op, int device)
{
    const mo_load_problem *f = p->f;
    int64_t *own = p->own + at(p, op, device, 0);
    int first = f->first_stage[mo_load_op_device(f, op, device)];
    int last = f->last_stage[mo_load_op_device(f, op, device)];
    bool usable = mo_load_can_run(f, op, device);
    mo_load_item read;
    weights w;

    for (int stage = 0; stage < p->n_stages; stage++)
        if (!usable || stage < first || stage > last)
            own[stage] = MO_LOAD_INFINITY;
    if (!usable)
        return;
    read = mo_load_item_input(f, op, device);
    if (read.ns == 0)
        return;
    weigh_transfer(p, f->a, device, &read, &w);
    for (int stage = first; stage <= last; stage++)
        own[stage] = add(own[stage], read.ns * w.of[0][stage]);
}

typedef struct offer {
    int64_t price;
    int choice;
} offer;

/* Makes the offers of op on one device, for each stage of its reader, whose
 * inputs are sent at those weights. */
static void offer_from(const mo_load_pricer *p, int op, int from,
                       int64_t send_ns, const weights *send, offer *best)
{
    const int64_t *own = p->own + at(p, op, from, 0);
    int64_t run_ns = p->f->p_ns[mo_load_op_device(p->f, op, from)];
    const weights *run = &p->runs[from];

    for (int stage = 0; stage < p->n_stages; stage++) {
        if (own[stage] >= MO_LOAD_INFINITY)
            continue;
        for (int end = stage; end < p->n_stages; end++) {
            int64_t price = own[stage] + run_ns * run->of[stage][end];

            if (send)
                price += send_ns * send->of[stage][end];
            if (price < best[end].price) {
                best[end].price = price;
                best[end].choice = from * p->n_stages + stage;
            }
        }
    }
}

/* The cheapest ways to have op's output on a device, or, with MO_FREE, to have
 * it anywhere, by the stage of whoever needs it. */
static void price_output(const mo_load_pricer *p, int op, int to, offer *best)
{
    const mo_load_problem *f = p->f;

    for (int end = 0; end < p->n_stages; end++)
        best[end] = (offer){ MO_LOAD_INFINITY, 0 };
    for (int from = 0; from < f->n_devices; from++) {
        mo_load_item send;
        weights w;

        if (!mo_load_can_run(f, op, from))
            continue;
        if (from == to || to == MO_FREE) {
            offer_from(p, op, from, 0, NULL, best);
            continue;
        }
        send = mo_load_item_transfer(f, op, from, to);
        weigh_transfer(p, from, to, &send, &w);
        offer_from(p, op, from, send.ns, &w, best);
    }
}

static void price_for_reader(mo_load_pricer *p, int op)
{
    const mo_load_problem *f = p->f;
    int reader = f->ops[op].reader;

    for (int to = 0; to < f->n_devices; to++) {
        offer best[STAGES];

        if (!mo_load_can_run(f, reader, to))
            continue;
        price_output(p, op, to, best);
        for (int end = 0; end < p->n_stages; end++) {
            int64_t *own = p->own + at(p, reader, to, end);

            *own = add(*own, best[end].price);
            p->choice[at(p, op, to, end)] = best[end].choice;
        }
    }
}

/* The least price of the branch that ends with op.  Its choice is kept where
 * that for a reader on device 0 would be. */
static int64_t price_branch(mo_load_pricer *p, int op)
{
    const mo_load_problem *f = p->f;
    offer best[STAGES];
    int last = p->n_stages - 1;

    price_output(p, op, f->ops[op].row < 0 ? MO_FREE : f->b, best);
    p->choice[at(p, op, 0, last)] = best[last].choice;
    return best[last].price;
}

static int64_t price_group(mo_load_pricer *p, int first, int last)
{
    const mo_load_problem *f = p->f;
    int64_t sum = 0;

    for (size_t i = at(p, first, 0, 0); i < at(p, last, 0, 0); i++)
        p->own[i] = 0;
    for (int o = first; o < last; o++) {
        for (int k = 0; k < f->n_devices; k++) {
            mo_load_item run = mo_load_item_compute(f, o, k);

            price_reads(p, o, k);
            weigh_run(p, k, &run, &p->runs[k]);
        }
        if (f->ops[o].reader != MO_FREE) {
            price_for_reader(p, o);
        } else {
            int64_t price = price_branch(p, o);

            if (price >= MO_LOAD_INFINITY)
                return MO_LOAD_INFINITY;
            sum += price * f->ops[o].count;
        }
    }
    return sum;
}

static void follow_choices(const mo_load_pricer *p, mo_load_pattern *found)
{
    for (int o = p->f->n - 1; o >= 0; o--) {
        int reader = p->f->ops[o].reader, choice;

        if (reader == MO_FREE)
            choice = p->choice[at(p, o, 0, p->n_stages - 1)];
        else
            choice = p->choice[at(p, o, found->device[reader],
                                  found->stage[reader])];
        found->device[o] = choice / p->n_stages;
        found->stage[o] = choice % p->n_stages;
    }
}

void mo_load_price_patterns(mo_load_pricer *p, const mo_load_rows *rows,
                            const mo_load_row_index *index,
                            const int64_t *weight, int64_t *price,
                            mo_load_pattern *found)
{
    p->rows = rows;
    p->index = index;
    p->weight = weight;
    p->n_stages = p->f->order.n + 1;
    for (int g = 0; g < p->f->n_groups; g++)
        price[g] =
            price_group(p, p->f->group_start[g], p->f->group_start[g + 1]);
    follow_choices(p, found);
}
