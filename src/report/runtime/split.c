/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "report/runtime/any_order.h"

/* Entries of the table: states times devices times units. */
enum { MAX_ENTRIES = 1 << 22, MAX_PENALTIES = 40 };

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
    double byte_ns;      /* penalty for each byte of experts on the host */
    bool fractional;     /* a part of the experts of a layer may be moved */
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

static bool equal_times(const mo_chain *c, int a, int b)
{
    int n = c->n_devices;

    for (int i = 0; i < c->n_phases; i++)
        for (int u = 0; u < c->n_units; u++)
            if (c->phases[i].time_ns[u * n + a] !=
                    c->phases[i].time_ns[u * n + b] ||
                c->phases[i].expert_ns[u * n + a] !=
                    c->phases[i].expert_ns[u * n + b])
                return false;
    return c->capacity_bytes[a] == c->capacity_bytes[b] &&
           c->is_remote[a] == c->is_remote[b];
}

static bool equal_pairs(const int64_t *ns, int n, int a, int b)
{
    for (int k = 0; k < n; k++)
        if (k != a && k != b &&
            (ns[a * n + k] != ns[b * n + k] || ns[k * n + a] != ns[k * n + b]))
            return false;
    return ns[a * n + b] == ns[b * n + a];
}

static bool equal_transfers(const mo_chain *c, int a, int b)
{
    int n = c->n_devices;

    for (int i = 0; i < c->n_phases; i++) {
        const mo_chain_phase *phase = &c->phases[i];

        for (int u = 0; u < c->n_units; u++)
            if (!equal_pairs(phase->transfer_ns + (size_t) u * n * n, n, a, b))
                return false;
        if (!equal_pairs(phase->expert_transfer_ns, n, a, b))
            return false;
    }
    return true;
}

/* A device joins a class if it equals all members: transfers within the class
 * are then equal, too. */
static bool joins(const splitter *s, const device_class *cls, int device)
{
    const mo_chain *c = s->c;

    if (device == c->host || cls->members[0] == c->host)
        return false;
    for (int i = 0; i < cls->n; i++)
        if (!equal_times(c, cls->members[i], device) ||
            !equal_transfers(c, cls->members[i], device))
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

typedef struct move {
    int unit;
    double ns;
    int64_t bytes;
} move;

/* The last of equal layers comes first: llama.cpp then needs smaller buffers.
 */
static int compare_moves(const void *a, const void *b)
{
    const move *x = a, *y = b;
    double left = x->ns * (double) y->bytes, right = y->ns * (double) x->bytes;

    if (left != right)
        return left < right ? -1 : 1;
    return y->unit - x->unit;
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

/* Chooses the experts of a segment that are in main memory, the greedy solution
 * of a knapsack problem: with experts of one size, or of which a part may be
 * moved, it is optimal.  Returns the time that is added, or INFINITY if the
 * segment still does not fit; on_host may be NULL. */
static double move_experts(const splitter *s, int device, int from, int to,
                           bool *on_host)
{
    const mo_chain *c = s->c;
    int64_t left = segment_bytes(s, device, from, to);
    move moves[MO_CHAIN_MAX_LAYERS + 2];
    int n = 0;
    double ns = 0;

    left =
        left > c->capacity_bytes[device] ? left - c->capacity_bytes[device] : 0;
    if (device == c->host || c->host == MO_CHAIN_NONE ||
        !c->rules.moves_experts)
        return left == 0 ? 0 : INFINITY;
    for (int u = from; u < to; u++)
        if (c->expert_bytes[u] > 0)
            moves[n++] = (move){ u,
                                 s->extra_ns[u * c->n_devices + device] +
                                     s->byte_ns * (double) c->expert_bytes[u],
                                 c->expert_bytes[u] };
    qsort(moves, (size_t) n, sizeof *moves, compare_moves);
    for (int i = 0; i < n && (left > 0 || moves[i].ns < 0); i++) {
        double part = s->fractional && moves[i].ns > 0 && moves[i].bytes > left
                          ? (double) left / (double) moves[i].bytes
                          : 1;

        ns += part * moves[i].ns;
        left -= mo_min_i64(left, moves[i].bytes);
        if (on_host)
            on_host[moves[i].unit] = true;
    }
    return left > 0 ? INFINITY : ns;
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
                ns += s->time_ns[(to - 1) * c->n_devices + k];
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
    return s->transfer_ns[((size_t) unit * (size_t) s->c->n_devices +
                           (size_t) from) *
                              (size_t) s->c->n_devices +
                          (size_t) to];
}

/* Returns the least time until unit on the devices of the state, with the
 * transfer to a device of class cls; *last is the class of the last device,
 * MO_CHAIN_NONE before the first. */
static double reach(const splitter *s, int64_t state, int cls, int unit,
                    short *last)
{
    const mo_chain *c = s->c;
    const device_class *to = &s->classes[cls];
    double best = INFINITY;

    *last = MO_CHAIN_NONE;
    if (state == 0) {
        if (unit > s->first)
            return INFINITY;
        /* From the embedding in main memory. */
        if (s->first > 0 && c->host != MO_CHAIN_NONE)
            return s->time_ns[c->host] + hop_ns(s, 0, c->host, to->members[0]);
        return 0;
    }
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

/* Fills the table; returns the least time, with the way back to the host, and
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

/* Whether greedy choices of experts are optimal. */
static bool experts_are_equal(const mo_chain *c)
{
    int64_t bytes = 0;

    for (int u = 0; u < c->n_units; u++) {
        if (c->expert_bytes[u] > 0 && bytes > 0 && c->expert_bytes[u] != bytes)
            return false;
        bytes = mo_max_i64(bytes, c->expert_bytes[u]);
    }
    return true;
}

static mo_status fail_memory(const mo_chain *c, const bool *allowed,
                             mo_error *err)
{
    double need = 0, room = 0;

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

/* Experts of several devices share main memory, which the table does not count:
 * they get a price until they fit (Lagrangian relaxation). */
static mo_status search(splitter *s, const bool *allowed, mo_split *split,
                        mo_error *err)
{
    int64_t state;
    int cls;
    double ns = 0;

    for (int i = 0; i < MAX_PENALTIES; i++) {
        make_segments(s);
        ns = fill_table(s, &state, &cls);
        if (isinf(ns))
            return fail_memory(s->c, allowed, err);
        if (i == 0)
            split->bound_ns = ns;
        memset(split->placement.kept, 0, (size_t) s->c->n_units);
        memset(split->placement.experts_on_host, 0,
               (size_t) s->c->n_units *
                   sizeof *split->placement.experts_on_host);
        trace(s, state, cls, split);
        if (split->figures.fits)
            break;
        s->byte_ns = s->byte_ns > 0 ? 2 * s->byte_ns : 1e-3;
    }
    if (!split->figures.fits)
        return fail_memory(s->c, allowed, err);
    if (mo_chain_keep_parts(s->c, &split->placement, &split->figures) ||
        !experts_are_equal(s->c)) {
        s->fractional = true;
        s->byte_ns = 0;
        make_segments(s);
        split->bound_ns = fill_table(s, &state, &cls);
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
        if (!s->time_ns || !s->extra_ns || !s->transfer_ns || !s->segment_ns ||
            !s->table)
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
