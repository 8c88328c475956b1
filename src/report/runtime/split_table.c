/* SPDX-License-Identifier: Apache-2.0 */
#include "report/runtime/split_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/runtime/equal_devices.h"

/* Entries of the table: states times devices times units. */
enum { MAX_ENTRIES = 1 << 22 };

struct mo_split_entry {
    double ns;        /* INFINITY: not reached */
    short last, from; /* class before, and first unit of the segment */
};

static double *segment_at(const mo_split_table *s, int cls, int from, int to)
{
    int n = s->c->n_units + 1;

    return &s->segment_ns[((size_t) cls * (size_t) n + (size_t) from) *
                              (size_t) n +
                          (size_t) to];
}

static mo_split_entry *entry_at(const mo_split_table *s, int64_t state, int cls,
                                int unit)
{
    return &s->entries[((size_t) state * (size_t) s->n_classes + (size_t) cls) *
                           (size_t) (s->c->n_units + 1) +
                       (size_t) unit];
}

/* classes */

/* A device joins a class if it equals all members: transfers within the class
 * are then equal, too. */
static bool joins(const mo_split_table *s, const mo_split_class *cls,
                  int device)
{
    const mo_chain *c = s->c;

    if (device == c->host || cls->members[0] == c->host)
        return false;
    for (int i = 0; i < cls->n; i++)
        if (!mo_chain_equal_devices(c, cls->members[i], device))
            return false;
    return true;
}

bool mo_split_may_use(const mo_chain *c, const bool *allowed, int device)
{
    return allowed[device] &&
           (c->rules.uses_cpu || !c->cluster->devices[device].is_cpu);
}

static mo_status make_classes(mo_split_table *s, const bool *allowed,
                              mo_error *err)
{
    const mo_chain *c = s->c;

    s->host_class = MO_CHAIN_NONE;
    for (int k = 0; k < c->n_devices; k++) {
        int i = 0;

        if (!mo_split_may_use(c, allowed, k))
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

static int count_of(const mo_split_table *s, int64_t state, int cls)
{
    return (int) (state / s->classes[cls].stride % (s->classes[cls].n + 1));
}

/* segments */

/* Collapses the phases. */
static void weigh(mo_split_table *s)
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
static int64_t segment_bytes(const mo_split_table *s, int device, int from,
                             int to)
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
static double move_experts(const mo_split_table *s, int device, int from,
                           int to, bool *on_host)
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
static bool may_begin(const mo_split_table *s, int unit)
{
    if (s->first > 0)
        return true;
    return unit == 0 || (unit >= 2 && unit <= s->c->n_layers);
}

static void make_segments(mo_split_table *s)
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

static double hop_ns(const mo_split_table *s, int unit, int from, int to)
{
    return s->ns_share *
           s->transfer_ns[((size_t) unit * (size_t) s->c->n_devices +
                           (size_t) from) *
                              (size_t) s->c->n_devices +
                          (size_t) to];
}

/* Cost of the embedding in main memory, where a device of class cls has the
 * units behind it. */
static double embedding_ns(const mo_split_table *s, int cls)
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
static double reach(const mo_split_table *s, int64_t state, int cls, int unit,
                    short *last)
{
    const mo_split_class *to = &s->classes[cls];
    double best = INFINITY;

    *last = MO_CHAIN_NONE;
    if (state == 0)
        return unit > s->first ? INFINITY : embedding_ns(s, cls);
    for (int d = 0; d < s->n_classes; d++) {
        const mo_split_entry *e = entry_at(s, state, d, unit);
        const mo_split_class *from = &s->classes[d];
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
static void extend(const mo_split_table *s, int64_t state, int cls)
{
    int n = s->c->n_units;

    for (int from = s->first; from < n; from++) {
        short last;
        double begin = reach(s, state, cls, from, &last);

        if (isinf(begin))
            continue;
        for (int to = from + 1; to <= n; to++) {
            mo_split_entry *e =
                entry_at(s, state + s->classes[cls].stride, cls, to);
            double ns = begin + *segment_at(s, cls, from, to);

            if (ns < e->ns)
                *e = (mo_split_entry){ ns, last, (short) from };
        }
    }
}

/* Fills the table; returns the least cost, with the way back to the host, and
 * where it is. */
static double fill_table(const mo_split_table *s, int64_t *state, int *cls)
{
    const mo_chain *c = s->c;
    double best = INFINITY;

    for (int64_t i = 0;
         i < s->n_states * s->n_classes * (int64_t) (c->n_units + 1); i++)
        s->entries[i].ns = INFINITY;
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
static void trace(const mo_split_table *s, int64_t state, int cls,
                  mo_split *split)
{
    const mo_chain *c = s->c;
    int to = c->n_units;

    split->placement.device[0] = c->host;
    while (cls != MO_CHAIN_NONE) {
        const mo_split_entry *e = entry_at(s, state, cls, to);
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

mo_status mo_split_table_new(const mo_chain *c, const bool *allowed,
                             mo_split_table **table, mo_error *err)
{
    mo_split_table *s = calloc(1, sizeof *s);
    size_t units = (size_t) c->n_units, devices = (size_t) c->n_devices;
    size_t entries, ends = (units + 1) * (units + 1);
    mo_status status;

    if (!s)
        return mo_fail_memory(err);
    s->c = c;
    s->first = c->rules.embeds_on_host;
    status = make_classes(s, allowed, err);
    if (status == MO_OK) {
        entries = (size_t) s->n_states * (size_t) s->n_classes * (units + 1);
        s->time_ns = calloc(units * devices, sizeof *s->time_ns);
        s->extra_ns = calloc(units * devices, sizeof *s->extra_ns);
        s->transfer_ns =
            calloc(units * devices * devices, sizeof *s->transfer_ns);
        s->segment_ns =
            calloc((size_t) s->n_classes * ends, sizeof *s->segment_ns);
        s->entries = calloc(entries, sizeof *s->entries);
        s->moves = calloc(1, sizeof *s->moves);
        if (!s->time_ns || !s->extra_ns || !s->transfer_ns || !s->segment_ns ||
            !s->entries || !s->moves)
            status = mo_fail_memory(err);
    }
    if (status != MO_OK) {
        mo_split_table_free(s);
        return status;
    }
    weigh(s);
    *table = s;
    return MO_OK;
}

void mo_split_table_free(mo_split_table *s)
{
    if (!s)
        return;
    free(s->time_ns);
    free(s->extra_ns);
    free(s->transfer_ns);
    free(s->segment_ns);
    free(s->entries);
    free(s->moves);
    free(s);
}

double mo_split_table_solve(mo_split_table *s, mo_split *split)
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
