/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_search.h"

#include "base/minmax.h"

/*
 * An op starts no sooner than each op before it and the time between the two by
 * what is known of shorter intervals.  Besides, what shares a device, or a port
 * or channel, is there one after the other: a one-machine problem with release
 * times and tails, whose preemptive optimum (J. R. Jackson, 1955; J. Carlier,
 * European Journal of Operational Research 11, 1982) bounds the start of the op
 * placed last, and the end of the interval.  So do the ops that read it, on
 * whatever device they will be.
 */

/* An item of a one-machine problem. */
typedef struct machine_item {
    int64_t release_ns, ns, tail_ns;
    uint64_t why;   /* of the release */
    int tensor, to; /* of a transfer */
} machine_item;

typedef struct machine {
    machine_item items[MO_COLOC_NODE_MAX_FLOWS]; /* by rising release */
    int n;
} machine;

/*
 * One-machine problems.
 */

/* With tensors once, further readers on a device share the transfer. */
static void add_item(machine *m, machine_item item, bool once)
{
    int at = m->n;

    for (int i = 0; once && i < m->n; i++)
        if (m->items[i].tensor == item.tensor && m->items[i].to == item.to) {
            m->items[i].tail_ns = mo_max_i64(m->items[i].tail_ns, item.tail_ns);
            m->items[i].why |= item.why;
            return;
        }
    for (; at > 0 && m->items[at - 1].release_ns > item.release_ns; at--)
        m->items[at] = m->items[at - 1];
    m->items[at] = item;
    m->n++;
}

static void raise_time(mo_coloc_node_time *t, int64_t ns, uint64_t why)
{
    if (ns > t->ns || (ns == t->ns && why < t->why))
        *t = (mo_coloc_node_time){ ns, why };
}

/* Returns the end of the items whose tail is at least tail_ns, in the order of
 * their releases; the last of them that are without a pause are why. */
static mo_coloc_node_time last_end(const machine *m, int64_t tail_ns)
{
    mo_coloc_node_time now = { 0, 0 };

    for (int j = 0; j < m->n; j++) {
        if (m->items[j].tail_ns < tail_ns)
            continue;
        if (m->items[j].release_ns >= now.ns)
            now = (mo_coloc_node_time){ m->items[j].release_ns, 0 };
        now.ns += m->items[j].ns;
        now.why |= m->items[j].why;
    }
    return now;
}

/* Raises *most to the makespan of Jackson's preemptive schedule: the largest
 * over the items whose tail is at least that of one of them. */
static void raise_to_jackson(const machine *m, mo_coloc_node_time *most)
{
    int64_t end_ns = last_end(m, 0).ns;

    for (int i = 0; i < m->n; i++)
        if (end_ns + m->items[i].tail_ns > most->ns) {
            mo_coloc_node_time end = last_end(m, m->items[i].tail_ns);

            raise_time(most, end.ns + m->items[i].tail_ns, end.why);
        }
}

/*
 * Times of ops that are placed.
 */

static bool is_end(const mo_coloc_node *s, int i)
{
    return i == s->n - 1 && s->b->last != MO_FREE;
}

bool mo_coloc_node_allows_end(const mo_coloc_node *s, int i, int device)
{
    return !is_end(s, i) || s->which == MO_COLOC_ANY ||
           (s->which == MO_COLOC_SAME) == (device == 0);
}

/* Tail of an op on a device: from its start to the end of the interval. */
static int64_t tail_on_ns(const mo_coloc_node *s, int i, int device)
{
    int v = s->n - 1;

    if (s->b->last == MO_FREE)
        return s->b->interval_tail_ns[s->ops[i]];
    if (i == v)
        return 0;
    if (s->which == MO_COLOC_SAME)
        return device == 0 ? s->same_ns[v][i] : s->apart_ns[v][i];
    if (s->which == MO_COLOC_APART && device == 0)
        return s->apart_ns[v][i];
    return mo_min_i64(s->same_ns[v][i], s->apart_ns[v][i]);
}

static int64_t tail_ns(const mo_coloc_node *s, int i)
{
    return tail_on_ns(s, i, s->device[i]);
}

/* Tail of an op up to the start of another on its device, or to the end of the
 * interval with until negative; negative: the other does not wait. */
static int64_t tail_to_ns(const mo_coloc_node *s, int i, int until)
{
    if (until < 0)
        return tail_ns(s, i);
    return i == until ? 0 : s->same_ns[until][i];
}

/* Removes the first op of a set and returns it. */
static int take_first(uint64_t *ops)
{
    int i = __builtin_ctzll(*ops);

    *ops &= *ops - 1;
    return i;
}

/* One-machine bound of the ops on a device that are placed. */
static void raise_by_device(const mo_coloc_node *s, int device, int until,
                            mo_coloc_node_time *most)
{
    uint64_t ops = s->devices[device].ops;
    machine m;

    m.n = 0;
    while (ops) {
        int i = take_first(&ops);
        int64_t tail = tail_to_ns(s, i, until);

        if (i != until && !is_end(s, i) && tail >= 0)
            add_item(&m,
                     (machine_item){ s->start_ns[i], s->p_ns[i],
                                     mo_max_i64(0, tail - s->p_ns[i]),
                                     s->why[i], 0, 0 },
                     false);
    }
    raise_to_jackson(&m, most);
}

static void add_transfer(const mo_coloc_node *s, machine *m, int f, int until)
{
    const mo_coloc_node_flow *flow = &s->flows[f];
    int64_t tail = tail_to_ns(s, flow->to, until);

    if (s->device[flow->from] != s->device[flow->to] && tail >= 0)
        add_item(m,
                 (machine_item){
                     s->start_ns[flow->from] + s->p_ns[flow->from], flow->ns,
                     tail, s->why[flow->from] | mo_coloc_node_bit(flow->to),
                     flow->tensor, s->device[flow->to] },
                 s->b->domains->regime.tensors == MO_TENSORS_ONCE);
}

/* One-machine bound of the transfers to a device, from another or, negative,
 * from any. */
static void raise_by_inputs(const mo_coloc_node *s, int from, int to, int until,
                            mo_coloc_node_time *most)
{
    uint64_t ops = s->devices[to].ops;
    machine m;

    m.n = 0;
    while (ops) {
        int i = take_first(&ops);

        for (int f = s->flow_start[i]; f < s->flow_start[i + 1]; f++)
            if (from < 0 || s->device[s->flows[f].from] == from)
                add_transfer(s, &m, f, until);
    }
    raise_to_jackson(&m, most);
}

/* And of those from a device to ops up to the one placed last. */
static void raise_by_outputs(const mo_coloc_node *s, int from, int last,
                             mo_coloc_node_time *most)
{
    uint64_t ops = s->devices[from].ops;
    machine m;

    m.n = 0;
    while (ops) {
        int i = take_first(&ops);

        for (int q = s->out_start[i];
             q < s->out_start[i + 1] && s->flows[s->out_flows[q]].to <= last;
             q++)
            add_transfer(s, &m, s->out_flows[q], -1);
    }
    raise_to_jackson(&m, most);
}

static int64_t between_ns(const mo_coloc_node *s, int y, int i, int device)
{
    return s->device[y] == device ? s->same_ns[i][y] : s->apart_ns[i][y];
}

static void raise_to(mo_coloc_node_time *t, mo_coloc_node_time other)
{
    raise_time(t, other.ns, other.why);
}

mo_coloc_node_time mo_coloc_node_earliest_start(const mo_coloc_node *s, int i)
{
    mo_congestion congestion = s->b->domains->regime.congestion;
    int device = s->device[i];
    mo_coloc_node_time start = { s->b->interval_head_ns[s->ops[i]], 0 };
    uint64_t ops = s->before[i];

    while (ops) {
        int y = take_first(&ops);

        raise_time(&start, s->start_ns[y] + between_ns(s, y, i, device),
                   s->why[y]);
    }
    for (int f = s->flow_start[i]; f < s->flow_start[i + 1]; f++) {
        int y = s->flows[f].from;

        raise_time(&start,
                   s->start_ns[y] + s->p_ns[y] +
                       (s->device[y] == device ? 0 : s->flows[f].ns),
                   s->why[y]);
    }
    raise_by_device(s, device, i, &start);
    if (congestion == MO_CONGESTION_PORT)
        raise_by_inputs(s, -1, device, i, &start);
    for (int f = s->flow_start[i];
         f < s->flow_start[i + 1] && congestion == MO_CONGESTION_CHANNEL; f++)
        raise_by_inputs(s, s->device[s->flows[f].from], device, i, &start);
    start.why |= mo_coloc_node_bit(i);
    return start;
}

bool mo_coloc_node_is_late(const mo_coloc_node *s, int i, int device,
                           int64_t enough_ns, uint64_t *why)
{
    int64_t least_ns = enough_ns - tail_on_ns(s, i, device);
    uint64_t ops = s->before[i];
    bool late = false;

    while (ops) {
        int y = take_first(&ops);

        if (s->start_ns[y] + between_ns(s, y, i, device) >= least_ns &&
            (!late || s->why[y] < *why)) {
            late = true;
            *why = s->why[y];
        }
    }
    if (late)
        *why |= mo_coloc_node_bit(i);
    return late;
}

/* Returns the bound of the node where op i was placed last; it is not raised
 * further once it is at least enough_ns. */
static mo_coloc_node_time placed_bound(const mo_coloc_node *s, int i,
                                       int64_t enough_ns)
{
    mo_congestion congestion = s->b->domains->regime.congestion;
    int device = s->device[i];
    mo_coloc_node_time most = { s->start_ns[i] + tail_ns(s, i), s->why[i] };

    if (most.ns < enough_ns)
        raise_by_device(s, device, -1, &most);
    if (congestion != MO_CONGESTION_PORT && congestion != MO_CONGESTION_CHANNEL)
        return most;
    if (congestion == MO_CONGESTION_PORT && most.ns < enough_ns)
        raise_by_inputs(s, -1, device, -1, &most);
    for (int f = s->flow_start[i];
         f < s->flow_start[i + 1] && most.ns < enough_ns; f++) {
        int from = s->device[s->flows[f].from];

        if (from != device && congestion == MO_CONGESTION_PORT)
            raise_by_outputs(s, from, i, &most);
        else if (from != device)
            raise_by_inputs(s, from, device, -1, &most);
    }
    return most;
}

/* Returns when the port of a device has received what op j reads of the ops up
 * to i: transfers in the order of their release. */
static mo_coloc_node_time received(const mo_coloc_node *s, int device, int i,
                                   int j)
{
    bool once = s->b->domains->regime.tensors == MO_TENSORS_ONCE;
    machine m;

    m.n = 0;
    for (int f = s->flow_start[j]; f < s->flow_start[j + 1]; f++) {
        int y = s->flows[f].from;

        if (y <= i && s->device[y] != device)
            add_item(&m,
                     (machine_item){ s->start_ns[y] + s->p_ns[y],
                                     s->flows[f].ns, 0, s->why[y],
                                     s->flows[f].tensor, 0 },
                     once);
    }
    return m.n > 0 ? last_end(&m, 0) : (mo_coloc_node_time){ 0, 0 };
}

/* Returns the least length of the interval by op j, which reads some of the ops
 * up to i and is not placed: the least over the devices of those ops and a new
 * one. */
static mo_coloc_node_time reader_bound(const mo_coloc_node *s, int i, int j)
{
    bool ports = s->b->domains->regime.congestion == MO_CONGESTION_PORT;
    mo_coloc_node_time least = { MO_COLOC_NEVER_NS, 0 };

    for (int k = 0; k <= s->n_devices; k++) {
        mo_coloc_node_time start = { s->b->interval_head_ns[s->ops[j]], 0 };
        uint64_t ops = s->before[j] & (2 * mo_coloc_node_bit(i) - 1);

        if (!mo_coloc_node_allows_end(s, j, k))
            continue;
        while (ops) {
            int y = take_first(&ops);

            raise_time(&start, s->start_ns[y] + between_ns(s, y, j, k),
                       s->why[y]);
        }
        if (ports)
            raise_to(&start, received(s, k, i, j));
        least.ns = mo_min_i64(least.ns, start.ns + tail_on_ns(s, j, k));
        least.why |= start.why;
    }
    return least;
}

/* Returns the bound of the node where op i was placed last by its readers. */
static mo_coloc_node_time readers_bound(const mo_coloc_node *s, int i,
                                        int64_t enough_ns)
{
    mo_coloc_node_time most = { 0, 0 };

    for (int f = s->flow_start[i + 1]; f < s->n_flows && most.ns < enough_ns;
         f++)
        if (s->flows[f].from == i)
            raise_to(&most, reader_bound(s, i, s->flows[f].to));
    return most;
}

mo_coloc_node_time mo_coloc_node_bound(const mo_coloc_node *s, int i,
                                       int64_t enough_ns)
{
    mo_coloc_node_time most = placed_bound(s, i, enough_ns);

    if (most.ns < enough_ns)
        raise_to(&most, readers_bound(s, i, enough_ns));
    return most;
}
