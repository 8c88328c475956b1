/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/priced_entries.h"

#include <stdlib.h>
#include <string.h>

#include "base/ablation.h"
#include "base/minmax.h"
#include "schedule/bound/few_ops.h"
#include "schedule/bound/head_tail.h"

/*
 * With u on a and v on b an op is on a device only if the segment takes at
 * least its head, its own time and its tail there: the threshold of the two.
 * So a placement within time T has, of each op, a device with a threshold of
 * at most T, and
 *
 *     time + price  >=  min over T >= table of  T + sum_i min { price of i on k
 *                                                 : threshold(i, k) <= T }
 *
 * which is found by a sweep over the thresholds in increasing order.  Segments
 * of few ops are enumerated (few_ops.h), and where the caller has a stronger
 * bound, it is computed, both on demand.
 */

enum {
    MAX_DEVICES = 64,
    MAX_THRESHOLDS = 1 << 21, /* of all segments; else the table alone counts */
    MAX_USED = 1 << 22,       /* of all refinements; else there are none */
    SMALL_WORK = 256          /* steps of an enumeration, roughly */
};

typedef struct threshold {
    int64_t time_ns;
    int op, device; /* op: position in the segment */
} threshold;

/* The thresholds of a boundary, sorted. */
typedef struct sweep_list {
    threshold *items;
    int n;
} sweep_list;

/* An entry that was refined. */
typedef struct refinement {
    int evaluation; /* the number of the last in which it was tried */
    bool raised;
} refinement;

struct mo_priced_entries {
    const mo_allowed_devices *domains;
    const mo_priced_chain_tables *tables;
    const int64_t *price_ns, *charges; /* by op and device, of the caller */
    int n_devices, n_boundaries;
    sweep_list **sweeps;  /* by class: by boundary; NULL: none */
    int64_t *entries;     /* by class and boundary */
    int *slot;            /* by class: of refinements; -1: none */
    refinement *refined;  /* by slot and boundary */
    double *used_bytes;   /* by slot, boundary and device */
    int evaluation;       /* number of the present one, from 1 on */
    int64_t *least_price; /* by op of a segment: scratch */
    int *least_device;    /* the same */
    int64_t work;         /* of an evaluation: thresholds */
};

static int64_t op_price_ns(const mo_priced_entries *e, int op, int device)
{
    return e->price_ns[mo_allowed_devices_index(e->domains, op, device)];
}

static bool is_end_allowed(const mo_priced_entries *e, int op, int device)
{
    return op == MO_FREE ? device == 0
                         : mo_allowed_devices_has(e->domains, op, device);
}

static int compare_thresholds(const void *a, const void *b)
{
    const threshold *s = a, *t = b;

    if (s->time_ns != t->time_ns)
        return s->time_ns < t->time_ns ? -1 : 1;
    if (s->op != t->op)
        return s->op < t->op ? -1 : 1;
    return (s->device > t->device) - (s->device < t->device);
}

/* Heads, or backward tails, of the segment's ops for one device of its end, in
 * pass->time_ns; copied to side_ns by position and device. */
static void find_side(const mo_priced_entries *e, mo_head_tail *pass,
                      const mo_bound_segment *s, int device, int64_t *side_ns)
{
    size_t size = (size_t) e->n_devices * sizeof *side_ns;
    int end = pass->backward ? s->v : s->u;

    for (int i = 0; i < s->n; i++)
        memset(pass->time_ns +
                   mo_allowed_devices_index(e->domains, s->ops[i], 0),
               0, size);
    if (end != MO_FREE)
        mo_head_tail_propagate_from(pass, end, device);
    for (int i = 0; i < s->n; i++)
        mo_head_tail_propagate(pass, s->ops[pass->backward ? s->n - 1 - i : i]);
    for (int i = 0; i < s->n; i++)
        memcpy(side_ns + (size_t) i * (size_t) e->n_devices,
               pass->time_ns +
                   mo_allowed_devices_index(e->domains, s->ops[i], 0),
               size);
}

static mo_status fill_sweep(const mo_priced_entries *e,
                            const mo_bound_segment *s, const int64_t *head_ns,
                            const int64_t *tail_ns, sweep_list *list,
                            mo_error *err)
{
    size_t most = (size_t) s->n * (size_t) e->n_devices;

    list->items = malloc(most * sizeof *list->items);
    if (!list->items)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < e->n_devices; k++) {
            size_t at = (size_t) i * (size_t) e->n_devices + (size_t) k;

            if (mo_allowed_devices_has(e->domains, s->ops[i], k))
                list->items[list->n++] =
                    (threshold){ head_ns[at] + tail_ns[at] +
                                     mo_instance_p_ns(e->domains->x, s->ops[i],
                                                      k),
                                 i, k };
        }
    qsort(list->items, (size_t) list->n, sizeof *list->items,
          compare_thresholds);
    return MO_OK;
}

/* Fills the sweeps of a class. */
static mo_status fill_sweeps(mo_priced_entries *e, int cls, int64_t *time_ns,
                             int64_t *arrival_ns, mo_error *err)
{
    const mo_bound_segment *s = &e->tables->segments[e->tables->first[cls]];
    size_t n_devices = (size_t) e->n_devices;
    size_t side = (size_t) s->n * n_devices;
    int64_t *heads = malloc((side * n_devices + 1) * sizeof *heads);
    int64_t *tails = malloc((side * n_devices + 1) * sizeof *tails);
    mo_head_tail pass = { .domains = e->domains,
                          .time_ns = time_ns,
                          .arrival_ns = arrival_ns };
    mo_status status = MO_OK;

    e->sweeps[cls] = calloc(n_devices * n_devices, sizeof **e->sweeps);
    if (!heads || !tails || !e->sweeps[cls])
        status = mo_fail_memory(err);
    for (int k = 0; k < e->n_devices && status == MO_OK; k++) {
        pass.backward = false;
        if (is_end_allowed(e, s->u, k))
            find_side(e, &pass, s, k, heads + (size_t) k * side);
        pass.backward = true;
        if (is_end_allowed(e, s->v, k))
            find_side(e, &pass, s, k, tails + (size_t) k * side);
    }
    for (int a = 0; a < e->n_devices; a++)
        for (int b = 0; b < e->n_devices && status == MO_OK; b++)
            if (is_end_allowed(e, s->u, a) && is_end_allowed(e, s->v, b))
                status = fill_sweep(e, s, heads + (size_t) a * side,
                                    tails + (size_t) b * side,
                                    &e->sweeps[cls][a * e->n_devices + b], err);
    free(heads);
    free(tails);
    return status;
}

/* The thresholds of a single op are exact. */
static bool is_small(const mo_bound_segment *s)
{
    return s->n > 1 && s->n <= MO_BOUND_FEW_OPS;
}

/* Gives every class that can be refined a slot; returns their number. */
static size_t number_slots(mo_priced_entries *e)
{
    const mo_priced_chain_tables *t = e->tables;
    size_t size = (size_t) e->n_boundaries * (size_t) e->n_devices;
    int n = 0;

    for (int cls = 0; cls < t->n_classes; cls++) {
        bool fits = ((size_t) n + 1) * size <= MAX_USED;

        e->slot[cls] = (t->refine ? t->segments[t->first[cls]].n > 0
                                  : is_small(&t->segments[t->first[cls]])) &&
                               fits
                           ? n++
                           : -1;
    }
    return (size_t) n;
}

static mo_status allocate_entries(mo_priced_entries *e, mo_error *err)
{
    size_t n = (size_t) e->domains->x->n + 1, n_slots;
    size_t n_classes = (size_t) e->tables->n_classes + 1;
    size_t n_boundaries = (size_t) e->n_boundaries;

    e->slot = calloc(n_classes, sizeof *e->slot);
    if (!e->slot)
        return mo_fail_memory(err);
    n_slots = number_slots(e) + 1;
    e->sweeps = calloc(n_classes, sizeof *e->sweeps);
    e->entries = calloc(n_classes, n_boundaries * sizeof *e->entries);
    e->refined = calloc(n_slots, n_boundaries * sizeof *e->refined);
    e->used_bytes =
        calloc(n_slots, n_boundaries * (size_t) e->n_devices * sizeof(double));
    e->least_price = calloc(n, sizeof *e->least_price);
    e->least_device = calloc(n, sizeof *e->least_device);
    return e->sweeps && e->entries && e->refined && e->used_bytes &&
                   e->least_price && e->least_device
               ? MO_OK
               : mo_fail_memory(err);
}

mo_status mo_priced_entries_new(const mo_allowed_devices *domains,
                                const mo_priced_chain_tables *tables,
                                const int64_t *price_ns, const int64_t *charges,
                                mo_priced_entries **entries, mo_error *err)
{
    mo_priced_entries *e = calloc(1, sizeof *e);
    mo_status status;

    if (!e)
        return mo_fail_memory(err);
    e->domains = domains;
    e->tables = tables;
    e->price_ns = price_ns;
    e->charges = charges;
    e->n_devices = domains->x->n_devices;
    e->n_boundaries = e->n_devices * e->n_devices;
    status = allocate_entries(e, err);
    if (status == MO_OK) {
        size_t n_devices = (size_t) e->n_devices;
        size_t n = (size_t) e->domains->x->n * n_devices, left;
        int64_t *time_ns = calloc(n + 1, sizeof *time_ns);
        int64_t *arrival_ns = calloc(n_devices + 1, sizeof *arrival_ns);
        status = time_ns && arrival_ns ? MO_OK : mo_fail_memory(err);

        left = mo_ablated(MO_ABLATION_priced_thresholds) ? 0 : MAX_THRESHOLDS;
        for (int cls = 0; cls < e->tables->n_classes && status == MO_OK;
             cls++) {
            const mo_bound_segment *s =
                &e->tables->segments[e->tables->first[cls]];
            size_t size = (size_t) s->n * n_devices * n_devices * n_devices;

            if (s->n == 0 || size > left)
                continue;
            left -= size;
            e->work += (int64_t) size + (is_small(s) ? SMALL_WORK : 0);
            status = fill_sweeps(e, cls, time_ns, arrival_ns, err);
        }
        free(time_ns);
        free(arrival_ns);
    }
    if (status == MO_OK)
        *entries = e;
    else
        mo_priced_entries_free(e);
    return status;
}

void mo_priced_entries_free(mo_priced_entries *e)
{
    if (!e)
        return;
    for (int cls = 0; cls < e->tables->n_classes; cls++) {
        for (int i = 0; e->sweeps && e->sweeps[cls] && i < e->n_boundaries; i++)
            free(e->sweeps[cls][i].items);
        if (e->sweeps)
            free(e->sweeps[cls]);
    }
    free(e->slot);
    free(e->sweeps);
    free(e->entries);
    free(e->refined);
    free(e->used_bytes);
    free(e->least_price);
    free(e->least_device);
    free(e);
}

int64_t mo_priced_entries_work(const mo_priced_entries *e)
{
    return e->work;
}

int mo_priced_entries_cheapest(const mo_priced_entries *e, int op)
{
    int best = -1;

    for (int k = 0; k < e->n_devices; k++)
        if (mo_allowed_devices_has(e->domains, op, k) &&
            (best < 0 || op_price_ns(e, op, k) < op_price_ns(e, op, best)))
            best = k;
    return best;
}

/* The sweep over the first n thresholds: least_price and least_device of each
 * op.  Returns the entry; *best_n is how many thresholds give it. */
static int64_t sweep_thresholds(mo_priced_entries *e, const mo_bound_segment *s,
                                const sweep_list *list, int n, int64_t table_ns,
                                int *best_n)
{
    int64_t least_ns = INT64_MAX, sum = 0;
    int n_placed = 0;

    for (int i = 0; i < s->n; i++)
        e->least_price[i] = -1;
    for (int j = 0; j < n; j++) {
        const threshold *t = &list->items[j];
        int64_t *least = &e->least_price[t->op];
        int64_t here = op_price_ns(e, s->ops[t->op], t->device);

        if (*least >= 0 && here >= *least)
            continue;
        n_placed += *least < 0;
        sum += here - (*least < 0 ? 0 : *least);
        *least = here;
        e->least_device[t->op] = t->device;
        if (n_placed == s->n &&
            mo_max_i64(table_ns, t->time_ns) + sum < least_ns) {
            least_ns = mo_max_i64(table_ns, t->time_ns) + sum;
            *best_n = j + 1;
        }
    }
    return least_ns;
}

/* Entry of a class and boundary without thresholds. */
static int64_t add_cheapest(const mo_priced_entries *e,
                            const mo_bound_segment *s, int64_t table_ns)
{
    for (int i = 0; i < s->n; i++)
        table_ns +=
            op_price_ns(e, s->ops[i], mo_priced_entries_cheapest(e, s->ops[i]));
    return table_ns;
}

void mo_priced_entries_evaluate(mo_priced_entries *e)
{
    int ignored;

    e->evaluation++;
    for (int cls = 0; cls < e->tables->n_classes; cls++) {
        const mo_bound_segment *s = &e->tables->segments[e->tables->first[cls]];
        const int64_t *table = e->tables->table[cls];
        int64_t *entries = e->entries + (size_t) cls * (size_t) e->n_boundaries;

        for (int i = 0; i < e->n_boundaries; i++) {
            const sweep_list *list = e->sweeps[cls] ? &e->sweeps[cls][i] : NULL;

            if (!is_end_allowed(e, s->u, i / e->n_devices) ||
                !is_end_allowed(e, s->v, i % e->n_devices) ||
                table[i] == INT64_MAX)
                entries[i] = INT64_MAX;
            else if (list)
                entries[i] =
                    sweep_thresholds(e, s, list, list->n, table[i], &ignored);
            else
                entries[i] = add_cheapest(e, s, table[i]);
        }
    }
}

const int64_t *mo_priced_entries_of(const mo_priced_entries *e, int cls)
{
    return e->entries + (size_t) cls * (size_t) e->n_boundaries;
}

/* The number of an entry of a slot. */
static size_t refined_at(const mo_priced_entries *e, int cls, int boundary)
{
    return (size_t) e->slot[cls] * (size_t) e->n_boundaries + (size_t) boundary;
}

static void add_charge(const mo_priced_entries *e, int op, int device,
                       double *used_bytes)
{
    used_bytes[device] +=
        (double) e->charges[mo_allowed_devices_index(e->domains, op, device)];
}

/* Returns whether op may be on a device with the end of its segment on at. */
static bool may_stand_by(const mo_priced_entries *e, int end, int at, int op,
                         int device)
{
    const int *group = e->domains->x->group;

    return end == MO_FREE || group[op] == MO_FREE || group[op] != group[end] ||
           device == at;
}

/* Raises an entry to the least over all placements. */
static bool enumerate(mo_priced_entries *e, int cls, int boundary,
                      int64_t *entry_ns, double *used_bytes)
{
    const mo_bound_segment *s = &e->tables->segments[e->tables->first[cls]];
    int64_t threshold_ns[MO_BOUND_FEW_OPS * MAX_DEVICES], least_ns;
    const mo_few_ops few = { e->domains,  s->ops,
                             s->n,        threshold_ns,
                             e->price_ns, e->tables->table[cls][boundary] };
    const sweep_list *list = &e->sweeps[cls][boundary];
    int device[MO_BOUND_FEW_OPS];

    for (int i = 0; i < s->n * e->n_devices; i++)
        threshold_ns[i] = INT64_MAX;
    for (int j = 0; j < list->n; j++) {
        const threshold *t = &list->items[j];
        int op = s->ops[t->op];

        if (may_stand_by(e, s->u, boundary / e->n_devices, op, t->device) &&
            may_stand_by(e, s->v, boundary % e->n_devices, op, t->device))
            threshold_ns[t->op * e->n_devices + t->device] = t->time_ns;
    }
    least_ns = mo_few_ops_least(&few, device);
    if (least_ns <= *entry_ns)
        return false;
    *entry_ns = least_ns;
    memset(used_bytes, 0, (size_t) e->n_devices * sizeof *used_bytes);
    for (int i = 0; i < s->n; i++)
        add_charge(e, s->ops[i], device[i], used_bytes);
    return true;
}

bool mo_priced_entries_refine(mo_priced_entries *e, int cls, int boundary)
{
    size_t entry = (size_t) cls * (size_t) e->n_boundaries + (size_t) boundary;
    size_t at;
    double *used_bytes;

    if (e->slot[cls] < 0)
        return false;
    at = refined_at(e, cls, boundary);
    if (e->refined[at].evaluation == e->evaluation)
        return false;
    e->refined[at].evaluation = e->evaluation;
    used_bytes = e->used_bytes + at * (size_t) e->n_devices;
    e->refined[at].raised =
        e->sweeps[cls] &&
        is_small(&e->tables->segments[e->tables->first[cls]]) &&
        enumerate(e, cls, boundary, &e->entries[entry], used_bytes);
    if (e->tables->refine)
        e->refined[at].raised |=
            e->tables->refine(e->tables->context, cls, boundary, e->price_ns,
                              &e->entries[entry], used_bytes);
    return e->refined[at].raised;
}

void mo_priced_entries_add_used(mo_priced_entries *e, int cls, int boundary,
                                double *used_bytes)
{
    const mo_bound_segment *s = &e->tables->segments[e->tables->first[cls]];
    int best_n = 0;

    if (e->slot[cls] >= 0) {
        size_t at = refined_at(e, cls, boundary);

        if (e->refined[at].evaluation == e->evaluation &&
            e->refined[at].raised) {
            for (int k = 0; k < e->n_devices; k++)
                used_bytes[k] +=
                    e->used_bytes[at * (size_t) e->n_devices + (size_t) k];
            return;
        }
    }
    if (e->sweeps[cls]) {
        const sweep_list *list = &e->sweeps[cls][boundary];
        int64_t table_ns = e->tables->table[cls][boundary];

        sweep_thresholds(e, s, list, list->n, table_ns, &best_n);
        sweep_thresholds(e, s, list, best_n, table_ns, &best_n);
    }
    for (int i = 0; i < s->n; i++) {
        int device = e->sweeps[cls] ? e->least_device[i]
                                    : mo_priced_entries_cheapest(e, s->ops[i]);

        add_charge(e, s->ops[i], device, used_bytes);
    }
}
