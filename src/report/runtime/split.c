/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "report/runtime/any_order.h"
#include "report/runtime/equal_devices.h"
#include "report/runtime/knapsack.h"

/* Entries of the table: states times devices times units. */
enum { MAX_ENTRIES = 1 << 22, MAX_PRICES = 40, BISECTIONS = 10 };

typedef struct entry {
    double ns;        /* INFINITY: not reached */
    short last, from; /* class before, and first unit of the segment */
} entry;

/* Interchangeable devices. */
typedef struct device_class {
    int members[MO_CHAIN_MAX_DEVICES], n;
    int64_t stride; /* of its count in the number of a state */
} device_class;

typedef struct splitter {
    const mo_chain *c;
    device_class classes[MO_CHAIN_MAX_DEVICES];
    int n_classes, host_class; /* MO_CHAIN_NONE: the host takes no units */
    int first;                 /* unit that is placed first */
    double *time_ns;           /* weighted, by unit and device, with experts */
    double *extra_ns;    /* the same of experts in main memory: how much more */
    double *transfer_ns; /* weighted, as of a phase */
    double *segment_ns;  /* by class and its ends, see segment_at() */
    double byte_ns;      /* price of a byte on the host */
    double ns_share;     /* 1, or 0: prices alone count */
    mo_knapsack *moves;  /* experts of a segment, to main memory */
    entry *table;
    int64_t n_states;
} splitter;

static double *segment_at(const splitter *s, int cls, int from, int to)
{
    int n = s->c->n_units + 1;

    return &s->segment_ns[((size_t) cls * (size_t) n + (size_t) from) *
                              (size_t) n +
                          (size_t) to];
}

static entry *entry_at(const splitter *s, int64_t state, int cls, int unit)
{
    return &s->table[((size_t) state * (size_t) s->n_classes + (size_t) cls) *
                         (size_t) (s->c->n_units + 1) +
                     (size_t) unit];
}

/* classes */

/* A device joins a class if it equals all members: transfers within the class
 * are then equal, too. */
static bool joins(const splitter *s, const device_class *cls, int device)
{
    const mo_chain *c = s->c;

    if (device == c->host || cls->members[0] == c->host)
        return false;
    for (int i = 0; i < cls->n; i++)
        if (!mo_chain_equal_devices(c, cls->members[i], device))
            return false;
    return true;
}

static bool may_use(const mo_chain *c, const bool *allowed, int device)
{
    return allowed[device] &&
           (c->rules.uses_cpu || !c->cluster->devices[device].is_cpu);
}

static mo_status make_classes(splitter *s, const bool *allowed, mo_error *err)
{
    const mo_chain *c = s->c;

    s->host_class = MO_CHAIN_NONE;
    for (int k = 0; k < c->n_devices; k++) {
        int i = 0;

        if (!may_use(c, allowed, k))
            continue;
        while (i < s->n_classes && !joins(s, &s->classes[i], k))
            i++;
        if (i == s->n_classes)
            s->classes[s->n_classes++].n = 0;
        if (k == c->host)
            s->host_class = i;
        s->classes[i].members[s->classes[i].n++] = k;
    }
    s->n_states = 1;
    for (int i = 0; i < s->n_classes; i++) {
        s->classes[i].stride = s->n_states;
        s->n_states *= s->classes[i].n + 1;
        if (s->n_states * s->n_classes * (c->n_units + 1) > MAX_ENTRIES)
            return mo_fail(err, MO_E_LIMIT,
                           "too many different devices for all orders of them; "
                           "use fewer, or describe equal ones equally");
    }
    if (s->n_classes == 0)
        return mo_fail(err, MO_E_INFEASIBLE,
                       "no device of the cluster can be used");
    return MO_OK;
}

static int count_of(const splitter *s, int64_t state, int cls)
{
    return (int) (state / s->classes[cls].stride % (s->classes[cls].n + 1));
}

/* segments */

/* Collapses the phases. */
static void weigh(splitter *s)
{
    const mo_chain *c = s->c;
    int n = c->n_devices;

    for (int i = 0; i < c->n_phases; i++) {
        const mo_chain_phase *phase = &c->phases[i];

        for (int u = 0; u < c->n_units; u++)
            for (int k = 0; k < n; k++) {
                int at = u * n + k;
                double experts = (double) phase->expert_ns[at], on_host;

                s->time_ns[at] +=
                    phase->weight * ((double) phase->time_ns[at] + experts);
                if (c->host == MO_CHAIN_NONE)
                    continue;
                on_host = (double) phase->expert_ns[u * n + c->host] +
                          (double) phase->expert_transfer_ns[k * n + c->host];
                s->extra_ns[at] += phase->weight * (on_host - experts);
            }
        for (int e = 0; e < c->n_units * n * n; e++)
            s->transfer_ns[e] += phase->weight * (double) phase->transfer_ns[e];
    }
}

/* Memory of a segment, with all experts, and with the embedding where this is
 * on the same device. */
static int64_t segment_bytes(const splitter *s, int device, int from, int to)
{
    const mo_chain *c = s->c;
    int64_t bytes = 0;
    bool has_embedding = s->first > 0 ? device == c->host : from == 0;

    if (has_embedding && s->first > 0)
        bytes = c->memory_bytes[0];
    if (has_embedding && to < c->n_units)
        bytes += c->tied_bytes;
    for (int u = from; u < to; u++)
        bytes += c->memory_bytes[u] + c->expert_bytes[u];
    return bytes;
}

/* Chooses the experts of a segment that are in main memory.  Returns the cost
 * that is added, or INFINITY if the segment still does not fit; on_host may be
 * NULL. */
static double move_experts(const splitter *s, int device, int from, int to,
                           bool *on_host)
{
    const mo_chain *c = s->c;
    int64_t need = segment_bytes(s, device, from, to);
    int64_t left =
        need > c->capacity_bytes[device] ? need - c->capacity_bytes[device] : 0;

    if (device == c->host && left == 0)
        return s->byte_ns * (double) need;
    if (device == c->host || c->host == MO_CHAIN_NONE ||
        !c->rules.moves_experts)
        return left == 0 ? 0 : INFINITY;
    s->moves->n_items = 0;
    for (int u = from; u < to; u++)
        if (c->expert_bytes[u] > 0)
            s->moves->items[s->moves->n_items++] = (mo_knapsack_item){
                u,
                s->ns_share * s->extra_ns[u * c->n_devices + device] +
                    s->byte_ns * (double) c->expert_bytes[u],
                c->expert_bytes[u]
            };
    return mo_knapsack_solve(s->moves, left, on_host);
}

/* Whether a segment may begin at a unit: embedding and first layer, and last
 * layer and head, are on one device where the embedding is placed with them. */
static bool may_begin(const splitter *s, int unit)
{
    if (s->first > 0)
        return true;
    return unit == 0 || (unit >= 2 && unit <= s->c->n_layers);
}

static void make_segments(splitter *s)
{
    const mo_chain *c = s->c;

    for (int cls = 0; cls < s->n_classes; cls++) {
        int k = s->classes[cls].members[0];

        for (int from = s->first; from < c->n_units; from++) {
            double ns = 0;

            for (int to = from + 1; to <= c->n_units; to++) {
                ns += s->ns_share * s->time_ns[(to - 1) * c->n_devices + k];
                *segment_at(s, cls, from, to) =
                    may_begin(s, from) && (to == c->n_units || may_begin(s, to))
                        ? ns + move_experts(s, k, from, to, NULL)
                        : INFINITY;
            }
        }
    }
}

/* recursion */

static double hop_ns(const splitter *s, int unit, int from, int to)
{
    return s->ns_share *
           s->transfer_ns[((size_t) unit * (size_t) s->c->n_devices +
                           (size_t) from) *
                              (size_t) s->c->n_devices +
                          (size_t) to];
}

/* Cost of the embedding in main memory, where a device of class cls has the
 * units behind it. */
static double embedding_ns(const splitter *s, int cls)
{
    const mo_chain *c = s->c;
    int64_t bytes = c->memory_bytes[0] + c->tied_bytes;

    if (s->first == 0 || c->host == MO_CHAIN_NONE)
        return 0;
    if (cls == s->host_class)
        bytes = 0;
    if (bytes > c->capacity_bytes[c->host])
        return INFINITY;
    return s->ns_share * s->time_ns[c->host] + s->byte_ns * (double) bytes +
           hop_ns(s, 0, c->host, s->classes[cls].members[0]);
}

/* Returns the least cost until unit on the devices of the state, with the
 * transfer to a device of class cls; *last is the class of the last device,
 * MO_CHAIN_NONE before the first. */
static double reach(const splitter *s, int64_t state, int cls, int unit,
                    short *last)
{
    const device_class *to = &s->classes[cls];
    double best = INFINITY;

    *last = MO_CHAIN_NONE;
    if (state == 0)
        return unit > s->first ? INFINITY : embedding_ns(s, cls);
    for (int d = 0; d < s->n_classes; d++) {
        const entry *e = entry_at(s, state, d, unit);
        const device_class *from = &s->classes[d];
        double ns;

        if (count_of(s, state, d) == 0 || isinf(e->ns))
            continue;
        ns = e->ns +
             hop_ns(s, unit - 1, from->members[0], to->members[d == cls]);
        if (ns < best) {
            best = ns;
            *last = (short) d;
        }
    }
    return best;
}

/* Adds a device of a class to a state. */
static void extend(const splitter *s, int64_t state, int cls)
{
    int n = s->c->n_units;

    for (int from = s->first; from < n; from++) {
        short last;
        double begin = reach(s, state, cls, from, &last);

        if (isinf(begin))
            continue;
        for (int to = from + 1; to <= n; to++) {
            entry *e = entry_at(s, state + s->classes[cls].stride, cls, to);
            double ns = begin + *segment_at(s, cls, from, to);

            if (ns < e->ns)
                *e = (entry){ ns, last, (short) from };
        }
    }
}

/* Fills the table; returns the least cost, with the way back to the host, and
 * where it is. */
static double fill_table(const splitter *s, int64_t *state, int *cls)
{
    const mo_chain *c = s->c;
    double best = INFINITY;

    for (int64_t i = 0;
         i < s->n_states * s->n_classes * (int64_t) (c->n_units + 1); i++)
        s->table[i].ns = INFINITY;
    for (int64_t i = 0; i < s->n_states; i++)
        for (int k = 0; k < s->n_classes; k++)
            /* Units in main memory come first where the embedding is there. */
            if (count_of(s, i, k) < s->classes[k].n &&
                (k != s->host_class || s->first == 0 || i == 0))
                extend(s, i, k);
    for (int64_t i = 0; i < s->n_states; i++)
        for (int k = 0; k < s->n_classes; k++) {
            double ns = entry_at(s, i, k, c->n_units)->ns;

            if (k == s->host_class && i == s->classes[k].stride &&
                c->rules.copies_from_tokens > 0)
                continue;
            if (s->first > 0 && c->host != MO_CHAIN_NONE)
                ns += hop_ns(s, c->n_units - 1, s->classes[k].members[0],
                             c->host);
            if (ns < best) {
                best = ns;
                *state = i;
                *cls = k;
            }
        }
    return best;
}

/* Follows the table back; the devices of a class are used in their order. */
static void trace(const splitter *s, int64_t state, int cls, mo_split *split)
{
    const mo_chain *c = s->c;
    int to = c->n_units;

    split->placement.device[0] = c->host;
    while (cls != MO_CHAIN_NONE) {
        const entry *e = entry_at(s, state, cls, to);
        int device = s->classes[cls].members[count_of(s, state, cls) - 1];

        for (int u = e->from; u < to; u++)
            split->placement.device[u] = device;
        move_experts(s, device, e->from, to, split->placement.experts_on_host);
        state -= s->classes[cls].stride;
        to = e->from;
        cls = e->last;
    }
    mo_chain_evaluate(c, &split->placement, &split->figures);
}

static mo_status fail_memory(const mo_chain *c, const bool *allowed,
                             bool undecided, mo_error *err)
{
    double need = 0, room = 0;

    if (undecided)
        return mo_fail(err, MO_E_LIMIT,
                       "too many sizes of experts for all choices of those in "
                       "main memory; use a file whose layers are more alike");
    for (int u = 0; u < c->n_units; u++)
        need += (double) c->memory_bytes[u] + (double) c->expert_bytes[u];
    for (int k = 0; k < c->n_devices; k++)
        if (may_use(c, allowed, k))
            room += (double) c->capacity_bytes[k];
    return mo_fail(err, MO_E_INFEASIBLE,
                   "no split fits: weights and cache need %.2f GiB, the "
                   "devices have %.2f GiB",
                   need / 1073741824, room / 1073741824);
}

/* Makes the split of least cost; returns its cost, or INFINITY. */
static double make_split(splitter *s, mo_split *split)
{
    const mo_chain *c = s->c;
    int64_t state = 0;
    int cls = MO_CHAIN_NONE;
    double ns;

    make_segments(s);
    ns = fill_table(s, &state, &cls);
    if (isinf(ns) || s->moves->fractional)
        return ns;
    memset(split->placement.kept, 0, (size_t) c->n_units);
    memset(split->placement.experts_on_host, 0,
           (size_t) c->n_units * sizeof *split->placement.experts_on_host);
    trace(s, state, cls, split);
    return ns;
}

/* Weak duality: with a price of main memory no split that fits costs less than
 * ns, and none pays for more than there is.  Less the error of sums. */
static double dual_bound(const splitter *s, double ns)
{
    double paid;

    if (s->byte_ns == 0)
        return ns;
    paid = s->byte_ns * (double) s->c->capacity_bytes[s->c->host];
    return ns - paid - 1e-14 * (ns + paid);
}

static void keep_better(mo_split *best, mo_split *tried)
{
    mo_split other = *best;

    if (!tried->figures.fits ||
        (best->figures.fits &&
         best->figures.request_ns <= tried->figures.request_ns))
        return;
    *best = *tried;
    *tried = other;
    best->bound_ns = other.bound_ns;
}

/* The units and experts of several devices share main memory, which the table
 * does not count: its bytes get a price (Lagrangian relaxation).  The split of
 * least bytes decides whether there is one that fits; then the least price is
 * searched for by doubling and bisection.  Returns the price of the best
 * bound. */
static double search_prices(splitter *s, mo_split *best, mo_split *tried)
{
    double too_low = 0, enough = INFINITY, bound_price = 0;

    bool gave_up = s->moves->gave_up;

    s->moves->gave_up = false;
    s->ns_share = 0;
    s->byte_ns = 1;
    make_split(s, tried);
    keep_better(best, tried);
    if (!best->figures.fits)
        return 0;
    s->moves->gave_up = s->moves->gave_up || gave_up;
    s->ns_share = 1;
    for (int i = 0, n = 0; i < MAX_PRICES && n < BISECTIONS &&
                           best->figures.request_ns > best->bound_ns;
         i++) {
        double ns;

        s->byte_ns = !isinf(enough) ? (too_low + enough) / 2
                     : too_low > 0  ? 2 * too_low
                                    : 1e-3;
        ns = dual_bound(s, make_split(s, tried));
        if (ns > best->bound_ns) {
            best->bound_ns = ns;
            bound_price = s->byte_ns;
        }
        if (tried->figures.fits)
            enough = s->byte_ns;
        else
            too_low = s->byte_ns;
        n += !isinf(enough);
        keep_better(best, tried);
    }
    return bound_price;
}

static mo_status search(splitter *s, const bool *allowed, mo_split *split,
                        mo_error *err)
{
    mo_split tried = { .bound_ns = 0 };
    double price = 0;
    mo_status status = MO_OK;

    s->ns_share = 1;
    split->bound_ns = make_split(s, split);
    if (isinf(split->bound_ns)) {
        split->bound_ns = 0;
        return fail_memory(s->c, allowed, false, err);
    }
    if (!split->figures.fits) {
        status = mo_chain_placement_new(s->c, &tried.placement, err);
        if (status == MO_OK)
            price = search_prices(s, split, &tried);
        mo_chain_placement_clear(&tried.placement);
    }
    if (status != MO_OK)
        return status;
    if (!split->figures.fits)
        return fail_memory(s->c, allowed, s->moves->gave_up, err);
    if (mo_chain_keep_parts(s->c, &split->placement, &split->figures) ||
        s->moves->gave_up) {
        s->moves->fractional = true;
        s->byte_ns = price;
        split->bound_ns = dual_bound(s, make_split(s, split));
    }
    /* Sums of the same numbers in another order. */
    split->bound_ns = mo_min_double(split->bound_ns, split->figures.request_ns);
    if (split->figures.request_ns - split->bound_ns <
        1e-12 * split->figures.request_ns)
        split->bound_ns = split->figures.request_ns;
    return MO_OK;
}

/* Takes all units on the host, which the search leaves out where the table
 * counts copies of weights to a GPU, if this is better or the search found
 * nothing. */
static mo_status try_host_alone(const mo_chain *c, mo_split *split, bool found,
                                mo_error *err)
{
    mo_chain_figures figures;
    mo_chain_placement p;
    mo_status status = mo_chain_placement_new(c, &p, err);

    if (status != MO_OK)
        return status;
    for (int u = 0; u < c->n_units; u++)
        p.device[u] = c->host;
    mo_chain_evaluate(c, &p, &figures);
    if (!figures.fits ||
        (found && figures.request_ns >= split->figures.request_ns)) {
        mo_chain_placement_clear(&p);
        return found ? MO_OK : MO_E_INFEASIBLE;
    }
    /* 0: there is nothing else. */
    if (split->bound_ns == 0 || figures.request_ns < split->bound_ns)
        split->bound_ns = figures.request_ns;
    mo_chain_placement_clear(&split->placement);
    split->placement = p;
    split->figures = figures;
    return MO_OK;
}

mo_status mo_split_find(const mo_chain *c, const bool *allowed, mo_split *split,
                        mo_error *err)
{
    splitter *s = calloc(1, sizeof *s);
    mo_split made = { .bound_ns = 0 };
    size_t units = (size_t) c->n_units, devices = (size_t) c->n_devices;
    mo_status status = mo_chain_placement_new(c, &made.placement, err);

    if (status != MO_OK || !s) {
        mo_split_clear(&made);
        free(s);
        return status != MO_OK ? status : mo_fail_memory(err);
    }
    s->c = c;
    s->first = c->rules.embeds_on_host;
    status = make_classes(s, allowed, err);
    if (status == MO_OK) {
        size_t ends = (units + 1) * (units + 1);

        s->time_ns = calloc(units * devices, sizeof *s->time_ns);
        s->extra_ns = calloc(units * devices, sizeof *s->extra_ns);
        s->transfer_ns =
            calloc(units * devices * devices, sizeof *s->transfer_ns);
        s->segment_ns =
            calloc((size_t) s->n_classes * ends, sizeof *s->segment_ns);
        s->table =
            calloc((size_t) s->n_states * (size_t) s->n_classes * (units + 1),
                   sizeof *s->table);
        s->moves = calloc(1, sizeof *s->moves);
        if (!s->time_ns || !s->extra_ns || !s->transfer_ns || !s->segment_ns ||
            !s->table || !s->moves)
            status = mo_fail_memory(err);
    }
    if (status == MO_OK) {
        weigh(s);
        status = search(s, allowed, &made, err);
    }
    if ((status == MO_OK || status == MO_E_INFEASIBLE) &&
        s->host_class != MO_CHAIN_NONE && c->rules.copies_from_tokens > 0)
        status = try_host_alone(c, &made, status == MO_OK, err);
    if (status == MO_OK && c->rules.in_any_order) {
        bool used[MO_CHAIN_MAX_DEVICES];

        for (int k = 0; k < c->n_devices; k++)
            used[k] = may_use(c, allowed, k);
        status = mo_chain_any_order_bound(c, used, made.figures.request_ns,
                                          &made.bound_ns, err);
    }
    if (status == MO_OK)
        *split = made;
    else
        mo_split_clear(&made);
    free(s->time_ns);
    free(s->extra_ns);
    free(s->transfer_ns);
    free(s->segment_ns);
    free(s->table);
    free(s->moves);
    free(s);
    return status;
}

mo_status mo_split_by_counts(const mo_chain *c, const int *order,
                             const int *counts, int n, mo_split *split,
                             mo_error *err)
{
    mo_split made = { .bound_ns = 0 };
    mo_status status = mo_chain_placement_new(c, &made.placement, err);
    int u = 1, last = c->host;

    if (status != MO_OK)
        return status;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < counts[i] && u < c->n_units; k++) {
            last = order[i];
            made.placement.device[u++] = last;
        }
    while (u < c->n_units)
        made.placement.device[u++] = last;
    made.placement.device[0] =
        c->rules.embeds_on_host ? c->host : made.placement.device[1];
    mo_chain_evaluate(c, &made.placement, &made.figures);
    *split = made;
    return MO_OK;
}

void mo_split_clear(mo_split *split)
{
    mo_chain_placement_clear(&split->placement);
    *split = (mo_split){ 0 };
}
