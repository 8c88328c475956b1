#include <stdlib.h>

#include "base/array.h"
#include "schedule/resource.h"
#include "solvers/search/fork_fast_parts.h"

/*
 * A branch is a tree, so its cheapest pattern is found from its leaves on: for
 * each op, each device and both answers to whether it starts there before the
 * shared tensor arrives, the least price of all that it stands on.  An op that
 * reads the tensor never starts before; another does so only where those of
 * its inputs that come from the same device did.  An op that could is free not
 * to: a late one may have any inputs.
 */

enum { LATE, EARLY, WAYS };

struct mo_fast_pricer {
    const mo_fast *f;
    const mo_fast_rows *rows;
    const mo_fast_index *index;
    const int64_t *weight;
    int64_t *below;    /* by op, device, way: of its inputs and their sending */
    int64_t *own;      /* with the op itself */
    int *choice;       /* by op, and device and way of its reader: its own */
    int64_t *fed_by_a; /* by device: weights of what early inputs delay */
    int64_t *fed;
};

mo_status mo_fast_pricer_new(const mo_fast *f, mo_fast_pricer **pricer,
                             mo_error *err)
{
    size_t devices = (size_t) f->n_devices, size;
    mo_fast_pricer *p = calloc(1, sizeof *p);

    if (!p)
        return mo_fail_memory(err);
    p->f = f;
    if (mo_size_mul((size_t) f->n + 1, WAYS * devices, &size)) {
        p->below = calloc(size, sizeof *p->below);
        p->own = calloc(size, sizeof *p->own);
        p->choice = calloc(size, sizeof *p->choice);
        p->fed_by_a = calloc(devices, sizeof *p->fed_by_a);
        p->fed = calloc(devices, sizeof *p->fed);
    }
    if (!p->below || !p->own || !p->choice || !p->fed_by_a || !p->fed) {
        mo_fast_pricer_free(p);
        return mo_fail_memory(err);
    }
    *pricer = p;
    return MO_OK;
}

void mo_fast_pricer_free(mo_fast_pricer *p)
{
    if (!p)
        return;
    free(p->below);
    free(p->own);
    free(p->choice);
    free(p->fed_by_a);
    free(p->fed);
    free(p);
}

static size_t at(const mo_fast_pricer *p, int op, int device, int way)
{
    return ((size_t) op * (size_t) p->f->n_devices + (size_t) device) * WAYS +
           (size_t) way;
}

static void find_fed(mo_fast_pricer *p)
{
    const mo_fast *f = p->f;

    for (int k = 0; k < f->n_devices; k++) {
        p->fed[k] = p->fed_by_a[k] = 0;
        for (size_t i = 0; f->rank[k] >= 0 && i < p->rows->n; i++) {
            const mo_fast_row *row = &p->rows->rows[i];
            if (mo_fast_feeds(f, row, f->a, k))
                *(row->fed < 0 ? &p->fed_by_a[k] : &p->fed[k]) += p->weight[i];
        }
    }
}

/* The weights of the resource's rows that count the item. */
static int64_t weight_of(const mo_fast_pricer *p, int resource,
                         const mo_fast_item *item, bool early)
{
    int64_t sum = 0;

    for (int i = p->index->first[resource]; i >= 0; i = p->index->next[i]) {
        const mo_fast_row *row = &p->rows->rows[i];

        if (mo_fast_counts(row, item) && !(row->late >= 0 && early))
            sum += p->weight[i];
    }
    return sum;
}

static int64_t transfer_weight(const mo_fast_pricer *p, int from, int to,
                               const mo_fast_item *item)
{
    int pair[2];
    const int *ids;
    int n = mo_resource_list(p->f->x, p->f->congestion, from, to, pair, &ids);
    int64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += weight_of(p, p->f->n_devices + ids[i], item, false);
    return sum;
}

/* What a transfer weighs more when it is for an op that starts early. */
static int64_t early_weight(const mo_fast_pricer *p, int from, int to)
{
    return p->fed[to] + (from == p->f->a ? p->fed_by_a[to] : 0);
}

static int64_t add(int64_t a, int64_t b)
{
    return a + b < MO_FAST_NEVER ? a + b : MO_FAST_NEVER;
}

/* Fills own for an op whose inputs have been here. */
static void price_op(mo_fast_pricer *p, int op, int device)
{
    const mo_fast *f = p->f;
    bool may_be_early = f->rank[device] >= 0 && !f->ops[op].reads_shared;
    int64_t *own = p->own + at(p, op, device, 0);
    const int64_t *below = p->below + at(p, op, device, 0);
    mo_fast_item run, read;
    int64_t price = 0;

    own[LATE] = own[EARLY] = MO_FAST_NEVER;
    if (!mo_fast_usable(f, op, device))
        return;
    run = mo_fast_run(f, op, device);
    read = mo_fast_read(f, op, device);
    if (read.ns > 0)
        price = read.ns * transfer_weight(p, f->a, device, &read);
    own[LATE] =
        add(below[LATE], price + run.ns * weight_of(p, device, &run, false));
    if (may_be_early)
        own[EARLY] =
            add(below[EARLY], price + read.ns * early_weight(p, f->a, device) +
                                  run.ns * weight_of(p, device, &run, true));
}

typedef struct offer {
    int64_t price;
    int choice;
} offer;

static void take(offer *best, int64_t price, int device, int way)
{
    if (price < best->price) {
        best->price = price;
        best->choice = device * WAYS + way;
    }
}

/* The cheapest ways for op when its output is needed on a device, late and
 * early. */
static void price_output(const mo_fast_pricer *p, int op, int to,
                         offer best[WAYS])
{
    const mo_fast *f = p->f;

    best[LATE] = best[EARLY] = (offer){ MO_FAST_NEVER, 0 };
    for (int from = 0; from < f->n_devices; from++) {
        const int64_t *own = p->own + at(p, op, from, 0);
        int way = own[EARLY] < own[LATE] ? EARLY : LATE;
        mo_fast_item send;
        int64_t weight;

        if (own[way] >= MO_FAST_NEVER)
            continue;
        if (from == to) {
            take(&best[LATE], own[way], from, way);
            take(&best[EARLY], own[EARLY], from, EARLY);
            continue;
        }
        send = mo_fast_send(f, op, from, to);
        weight = transfer_weight(p, from, to, &send);
        take(&best[LATE], own[way] + send.ns * weight, from, way);
        weight += early_weight(p, from, to);
        take(&best[EARLY], own[way] + send.ns * weight, from, way);
    }
}

static void price_for_reader(mo_fast_pricer *p, int op)
{
    const mo_fast *f = p->f;
    int reader = f->ops[op].reader;

    for (int to = 0; to < f->n_devices; to++) {
        offer best[WAYS];

        if (!mo_fast_usable(f, reader, to))
            continue;
        price_output(p, op, to, best);
        for (int way = 0; way < WAYS; way++) {
            size_t there = at(p, reader, to, way);

            p->below[there] = add(p->below[there], best[way].price);
            p->choice[at(p, op, to, way)] = best[way].choice;
        }
    }
}

/* The least price of the branch that ends with op; its choice is kept at device
 * 0, where no reader's can be. */
static int64_t price_branch(mo_fast_pricer *p, int op)
{
    const mo_fast *f = p->f;
    offer best[WAYS];

    if (f->b != MO_FREE && f->ops[op].row >= 0) {
        price_output(p, op, f->b, best);
    } else {
        best[LATE] = (offer){ MO_FAST_NEVER, 0 };
        for (int k = 0; k < f->n_devices; k++)
            for (int way = 0; way < WAYS; way++)
                take(&best[LATE], p->own[at(p, op, k, way)], k, way);
    }
    p->choice[at(p, op, 0, LATE)] = best[LATE].choice;
    return best[LATE].price;
}

static int64_t price_group(mo_fast_pricer *p, int first, int last)
{
    const mo_fast *f = p->f;
    int64_t sum = 0;

    for (size_t i = at(p, first, 0, 0); i < at(p, last, 0, 0); i++)
        p->below[i] = 0;
    for (int o = first; o < last; o++) {
        for (int k = 0; k < f->n_devices; k++)
            price_op(p, o, k);
        if (f->ops[o].reader != MO_FREE)
            price_for_reader(p, o);
        else
            sum += price_branch(p, o) * f->ops[o].count;
    }
    return sum;
}

static void follow_choices(const mo_fast_pricer *p, int *device, bool *early)
{
    for (int o = p->f->n - 1; o >= 0; o--) {
        int reader = p->f->ops[o].reader, choice;

        if (reader == MO_FREE)
            choice = p->choice[at(p, o, 0, LATE)];
        else
            choice = p->choice[at(p, o, device[reader],
                                  early[reader] ? EARLY : LATE)];
        device[o] = choice / WAYS;
        early[o] = choice % WAYS == EARLY;
    }
}

void mo_fast_price(mo_fast_pricer *p, const mo_fast_rows *rows,
                   const mo_fast_index *index, const int64_t *weight,
                   int64_t *price, int *device, bool *early)
{
    p->rows = rows;
    p->index = index;
    p->weight = weight;
    find_fed(p);
    for (int g = 0; g < p->f->n_groups; g++)
        price[g] =
            price_group(p, p->f->group_start[g], p->f->group_start[g + 1]);
    follow_choices(p, device, early);
}
