/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_node.h"

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

/* Returns the makespan of Jackson's preemptive schedule: the largest over the
 * items whose tail is at least that of one of them. */
static mo_coloc_node_time jackson_preemptive(const machine *m)
{
    mo_coloc_node_time most = { 0, 0 };

    for (int i = 0; i < m->n; i++) {
        mo_coloc_node_time end = last_end(m, m->items[i].tail_ns);

        raise_time(&most, end.ns + m->items[i].tail_ns, end.why);
    }
    return most;
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
        return device == 0 ? s->same_ns[i][v] : s->apart_ns[i][v];
    if (s->which == MO_COLOC_APART && device == 0)
        return s->apart_ns[i][v];
    return mo_min_i64(s->same_ns[i][v], s->apart_ns[i][v]);
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
    return i == until ? 0 : s->same_ns[i][until];
}

/* One-machine bound of the ops on a device, up to the one placed last. */
static mo_coloc_node_time device_bound(const mo_coloc_node *s, int device,
                                       int last, int until)
{
    machine m;

    m.n = 0;
    for (int i = 0; i <= last; i++) {
        int64_t tail = tail_to_ns(s, i, until);

        if (s->device[i] == device && i != until && !is_end(s, i) && tail >= 0)
            add_item(&m,
                     (machine_item){ s->start_ns[i], s->p_ns[i],
                                     mo_max_i64(0, tail - s->p_ns[i]),
                                     s->why[i], 0, 0 },
                     false);
    }
    return jackson_preemptive(&m);
}

/* One-machine bound of the transfers from a device to another, negative: from
 * or to any other, up to the inputs of the op placed last. */
static mo_coloc_node_time port_bound(const mo_coloc_node *s, int from, int to,
                                     int last, int until)
{
    bool once = s->b->domains->regime.tensors == MO_TENSORS_ONCE;
    machine m;

    m.n = 0;
    for (int f = 0; f < s->n_flows && s->flows[f].to <= last; f++) {
        const mo_coloc_node_flow *flow = &s->flows[f];
        int a = s->device[flow->from], b = s->device[flow->to];
        int64_t tail;

        if (a == b || (from >= 0 && a != from) || (to >= 0 && b != to))
            continue;
        tail = tail_to_ns(s, flow->to, until);
        if (tail >= 0)
            add_item(&m,
                     (machine_item){
                         s->start_ns[flow->from] + s->p_ns[flow->from],
                         flow->ns, tail,
                         s->why[flow->from] | mo_coloc_node_bit(flow->to),
                         flow->tensor, b },
                     once);
    }
    return jackson_preemptive(&m);
}

static int64_t between_ns(const mo_coloc_node *s, int y, int i, int device)
{
    return s->device[y] == device ? s->same_ns[y][i] : s->apart_ns[y][i];
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

    for (int y = 0; y < i; y++)
        if (s->same_ns[y][i] >= 0)
            raise_time(&start, s->start_ns[y] + between_ns(s, y, i, device),
                       s->why[y]);
    for (int f = s->flow_start[i]; f < s->flow_start[i + 1]; f++) {
        int y = s->flows[f].from;

        raise_time(&start,
                   s->start_ns[y] + s->p_ns[y] +
                       (s->device[y] == device ? 0 : s->flows[f].ns),
                   s->why[y]);
    }
    raise_to(&start, device_bound(s, device, i, i));
    if (congestion == MO_CONGESTION_PORT)
        raise_to(&start, port_bound(s, -1, device, i, i));
    for (int f = s->flow_start[i];
         f < s->flow_start[i + 1] && congestion == MO_CONGESTION_CHANNEL; f++)
        raise_to(&start,
                 port_bound(s, s->device[s->flows[f].from], device, i, i));
    start.why |= mo_coloc_node_bit(i);
    return start;
}

bool mo_coloc_node_is_late(const mo_coloc_node *s, int i, int device,
                           int64_t enough_ns, uint64_t *why)
{
    int64_t least_ns = enough_ns - tail_on_ns(s, i, device);
    bool late = false;

    for (int y = 0; y < i; y++)
        if (s->same_ns[y][i] >= 0 &&
            s->start_ns[y] + between_ns(s, y, i, device) >= least_ns &&
            (!late || s->why[y] < *why)) {
            late = true;
            *why = s->why[y];
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
        raise_to(&most, device_bound(s, device, i, -1));
    if (congestion != MO_CONGESTION_PORT && congestion != MO_CONGESTION_CHANNEL)
        return most;
    if (congestion == MO_CONGESTION_PORT && most.ns < enough_ns)
        raise_to(&most, port_bound(s, -1, device, i, -1));
    for (int f = s->flow_start[i];
         f < s->flow_start[i + 1] && most.ns < enough_ns; f++) {
        int from = s->device[s->flows[f].from];
        int to = congestion == MO_CONGESTION_PORT ? -1 : device;

        if (from != device)
            raise_to(&most, port_bound(s, from, to, i, -1));
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

        if (!mo_coloc_node_allows_end(s, j, k))
            continue;
        for (int y = 0; y <= i; y++)
            if (s->same_ns[y][j] >= 0)
                raise_time(&start, s->start_ns[y] + between_ns(s, y, j, k),
                           s->why[y]);
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
