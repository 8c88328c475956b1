/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_search.h"

#include "base/minmax.h"

/*
 * Ops are placed in topological order, each on a device that others of the
 * interval have already or on a new one of some class.  Its start is at least
 * that of each op before it and the time between the two by what is known of
 * shorter intervals.  Besides, what shares a device, or a port or channel, is
 * there one after the other: a one-machine problem with release times and
 * tails, whose preemptive optimum (J. R. Jackson, 1955; J. Carlier, European
 * Journal of Operational Research 11, 1982) bounds the start of the op placed
 * last, and the end of the interval.  Memory limits what a device takes.
 *
 * A leaf is a placement of the ops and its value a lower bound on all
 * schedules with that placement; the least value of all is what is sought.
 * Leaving out ops of the interval is a relaxation.
 */

enum {
    MAX_OPS = 20,
    MAX_FLOWS = 80, /* between these ops */
    MAX_CLASSES = 8,
    MAX_BRANCHES = MAX_OPS + MAX_CLASSES
};

/* Numbers of ops, one after the other: few are searched to the end. */
static const int sizes[] = { 8, 12, 16, MAX_OPS };

enum { N_SIZES = sizeof sizes / sizeof *sizes };

/* An item of a one-machine problem. */
typedef struct machine_item {
    int64_t release_ns, ns, tail_ns;
    int tensor, to; /* of a transfer */
} machine_item;

typedef struct machine {
    machine_item items[MAX_FLOWS]; /* by rising release */
    int n;
} machine;

/* A flow between ops of the search. */
typedef struct search_flow {
    int from, to;
    int64_t ns;
    int tensor;
} search_flow;

/* A device that has ops. */
typedef struct used_device {
    int cls;
    int64_t bytes;
} used_device;

typedef struct interval_search {
    const mo_coloc_band *b;
    const mo_coloc_class_data *c;
    mo_coloc_case which;
    int n;
    int ops[MAX_OPS];
    int64_t same_ns[MAX_OPS][MAX_OPS]; /* negative: no predecessor */
    int64_t apart_ns[MAX_OPS][MAX_OPS];
    search_flow flows[MAX_FLOWS];
    int n_flows;
    int flow_start[MAX_OPS + 1]; /* by op: the first of its inputs */

    used_device devices[MAX_OPS];
    int n_devices;
    int device[MAX_OPS];
    int64_t p_ns[MAX_OPS]; /* there */
    int64_t start_ns[MAX_OPS];

    int64_t nodes;     /* that may still be made */
    int64_t enough_ns; /* a value of at most this ends the search */
    int64_t best_ns;   /* least value of leaves and of what was left open */
} interval_search;

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
            return;
        }
    for (; at > 0 && m->items[at - 1].release_ns > item.release_ns; at--)
        m->items[at] = m->items[at - 1];
    m->items[at] = item;
    m->n++;
}

/* Returns the makespan of Jackson's preemptive schedule: the largest over the
 * items whose tail is at least that of one of them. */
static int64_t jackson_preemptive_ns(const machine *m)
{
    int64_t most = 0;

    for (int i = 0; i < m->n; i++) {
        int64_t tail = m->items[i].tail_ns, now = 0;

        for (int j = 0; j < m->n; j++)
            if (m->items[j].tail_ns >= tail)
                now = mo_max_i64(now, m->items[j].release_ns) + m->items[j].ns;
        most = mo_max_i64(most, now + tail);
    }
    return most;
}

/*
 * Times of ops that are placed.
 */

static bool is_end(const interval_search *s, int i)
{
    return i == s->n - 1 && s->b->last != MO_FREE;
}

/* Tail of an op: from its start to the end of the interval. */
static int64_t tail_ns(const interval_search *s, int i)
{
    int v = s->n - 1;

    if (s->b->last == MO_FREE)
        return s->b->interval_tail_ns[s->ops[i]];
    if (i == v)
        return 0;
    if (s->which == MO_COLOC_SAME)
        return s->device[i] == 0 ? s->same_ns[i][v] : s->apart_ns[i][v];
    if (s->which == MO_COLOC_APART && s->device[i] == 0)
        return s->apart_ns[i][v];
    return mo_min_i64(s->same_ns[i][v], s->apart_ns[i][v]);
}

/* Tail of an op up to the start of another on its device, or to the end of the
 * interval with until negative; negative: the other does not wait. */
static int64_t tail_to_ns(const interval_search *s, int i, int until)
{
    if (until < 0)
        return tail_ns(s, i);
    return i == until ? 0 : s->same_ns[i][until];
}

/* One-machine bound of the ops on a device, up to the one placed last. */
static int64_t device_bound_ns(const interval_search *s, int device, int last,
                               int until)
{
    machine m;

    m.n = 0;
    for (int i = 0; i <= last; i++) {
        int64_t tail = tail_to_ns(s, i, until);

        if (s->device[i] == device && i != until && !is_end(s, i) && tail >= 0)
            add_item(&m,
                     (machine_item){ s->start_ns[i], s->p_ns[i],
                                     mo_max_i64(0, tail - s->p_ns[i]), 0, 0 },
                     false);
    }
    return jackson_preemptive_ns(&m);
}

/* One-machine bound of the transfers from a device to another, negative: from
 * or to any other, up to the inputs of the op placed last. */
static int64_t port_bound_ns(const interval_search *s, int from, int to,
                             int last, int until)
{
    bool once = s->b->domains->regime.tensors == MO_TENSORS_ONCE;
    machine m;

    m.n = 0;
    for (int f = 0; f < s->n_flows && s->flows[f].to <= last; f++) {
        const search_flow *flow = &s->flows[f];
        int a = s->device[flow->from], b = s->device[flow->to];
        int64_t tail;

        if (a == b || (from >= 0 && a != from) || (to >= 0 && b != to))
            continue;
        tail = tail_to_ns(s, flow->to, until);
        if (tail >= 0)
            add_item(
                &m,
                (machine_item){ s->start_ns[flow->from] + s->p_ns[flow->from],
                                flow->ns, tail, flow->tensor, b },
                once);
    }
    return jackson_preemptive_ns(&m);
}

/* Returns the least start of op i on its device. */
static int64_t earliest_start_ns(const interval_search *s, int i)
{
    mo_congestion congestion = s->b->domains->regime.congestion;
    int device = s->device[i];
    int64_t start = s->b->interval_head_ns[s->ops[i]];

    for (int y = 0; y < i; y++)
        if (s->same_ns[y][i] >= 0)
            start =
                mo_max_i64(start, s->start_ns[y] + (s->device[y] == device
                                                        ? s->same_ns[y][i]
                                                        : s->apart_ns[y][i]));
    for (int f = s->flow_start[i]; f < s->flow_start[i + 1]; f++) {
        int y = s->flows[f].from;

        start = mo_max_i64(start,
                           s->start_ns[y] + s->p_ns[y] +
                               (s->device[y] == device ? 0 : s->flows[f].ns));
    }
    start = mo_max_i64(start, device_bound_ns(s, device, i, i));
    if (congestion == MO_CONGESTION_PORT)
        start = mo_max_i64(start, port_bound_ns(s, -1, device, i, i));
    for (int f = s->flow_start[i];
         f < s->flow_start[i + 1] && congestion == MO_CONGESTION_CHANNEL; f++)
        start = mo_max_i64(
            start, port_bound_ns(s, s->device[s->flows[f].from], device, i, i));
    return start;
}

/* Returns the bound of the node where op i was placed last; it is not raised
 * further once it is at least enough_ns. */
static int64_t node_bound_ns(const interval_search *s, int i, int64_t enough_ns)
{
    mo_congestion congestion = s->b->domains->regime.congestion;
    int device = s->device[i];
    int64_t most = s->start_ns[i] + tail_ns(s, i);

    if (most < enough_ns)
        most = mo_max_i64(most, device_bound_ns(s, device, i, -1));
    if (congestion != MO_CONGESTION_PORT && congestion != MO_CONGESTION_CHANNEL)
        return most;
    if (congestion == MO_CONGESTION_PORT && most < enough_ns)
        most = mo_max_i64(most, port_bound_ns(s, -1, device, i, -1));
    for (int f = s->flow_start[i]; f < s->flow_start[i + 1] && most < enough_ns;
         f++) {
        int from = s->device[s->flows[f].from];
        int to = congestion == MO_CONGESTION_PORT ? -1 : device;

        if (from != device)
            most = mo_max_i64(most, port_bound_ns(s, from, to, i, -1));
    }
    return most;
}

/*
 * Branching.
 */

typedef struct branch {
    int device; /* n_devices: a new one of the class */
    int cls;
    int64_t start_ns, least_ns;
} branch;

/* Whether op i may be on a device, by the case and by groups. */
static bool is_allowed(const interval_search *s, int i, int device)
{
    const int *group = s->b->x->group;

    if (is_end(s, i) && s->which == MO_COLOC_SAME && device != 0)
        return false;
    if (is_end(s, i) && s->which == MO_COLOC_APART && device == 0)
        return false;
    for (int j = 0; j < i && group[s->ops[i]] != MO_FREE; j++)
        if (group[s->ops[j]] == group[s->ops[i]] && s->device[j] != device)
            return false;
    return true;
}

static bool has_new_device(const interval_search *s, int cls)
{
    int used = 0;

    for (int k = 0; k < s->n_devices; k++)
        used += s->devices[k].cls == cls;
    return used < s->c->n_devices[cls];
}

static void place_op(interval_search *s, int i, const branch *c)
{
    int op = s->ops[i];

    if (c->device == s->n_devices)
        s->devices[s->n_devices++] = (used_device){ c->cls, 0 };
    s->devices[c->device].bytes += s->c->bytes[op];
    s->device[i] = c->device;
    s->p_ns[i] = s->c->p_ns[(int64_t) op * s->c->n_classes + c->cls];
    s->start_ns[i] = c->start_ns;
}

static void undo_place(interval_search *s, int i, const branch *c,
                       int n_devices)
{
    s->devices[c->device].bytes -= s->c->bytes[s->ops[i]];
    s->n_devices = n_devices;
}

/* Adds the branch of a device; branches are in the order of their bounds. */
static void add_branch(interval_search *s, int i, int device, int cls,
                       int64_t least_ns, branch *branches, int *n)
{
    int op = s->ops[i], at = *n, n_devices = s->n_devices;
    branch c = { device, cls, 0, 0 };
    int64_t bytes = device < n_devices ? s->devices[device].bytes : 0;

    if (s->c->p_ns[(int64_t) op * s->c->n_classes + cls] >= MO_COLOC_NEVER_NS ||
        s->c->bytes[op] > s->c->capacity_bytes[cls] - bytes ||
        !is_allowed(s, i, device))
        return;
    place_op(s, i, &c);
    s->nodes--;
    c.start_ns = earliest_start_ns(s, i);
    if (c.start_ns < MO_MAX_TOTAL_NS) {
        s->start_ns[i] = c.start_ns;
        c.least_ns = mo_max_i64(least_ns, node_bound_ns(s, i, s->best_ns));
    }
    undo_place(s, i, &c, n_devices);
    if (c.start_ns >= MO_MAX_TOTAL_NS || c.least_ns >= s->best_ns)
        return;
    for (; at > 0 && branches[at - 1].least_ns > c.least_ns; at--)
        branches[at] = branches[at - 1];
    branches[at] = c;
    ++*n;
}

/* Depth-first search from op i on; least_ns is the bound of this node. */
static void search_from(interval_search *s, int i, int64_t least_ns)
{
    branch branches[MAX_BRANCHES];
    int n = 0, n_devices = s->n_devices;

    if (i == s->n) {
        s->best_ns = mo_min_i64(s->best_ns, least_ns);
        return;
    }
    for (int k = 0; k < n_devices; k++)
        add_branch(s, i, k, s->devices[k].cls, least_ns, branches, &n);
    for (int c = 0; c < s->c->n_classes; c++)
        if (has_new_device(s, c))
            add_branch(s, i, n_devices, c, least_ns, branches, &n);
    for (int j = 0; j < n && branches[j].least_ns < s->best_ns &&
                    s->best_ns > s->enough_ns;
         j++) {
        if (s->nodes <= 0) {
            s->best_ns = branches[j].least_ns;
            return;
        }
        place_op(s, i, &branches[j]);
        search_from(s, i + 1, branches[j].least_ns);
        undo_place(s, i, &branches[j], n_devices);
    }
}

/*
 * The ops of the search.
 */

/* Chooses the ends and the ops with the largest head plus tail. */
static void choose_ops(interval_search *s, int most)
{
    const mo_coloc_band *b = s->b;
    int64_t length_ns[MAX_OPS]; /* head plus tail */

    s->n = 0;
    for (int i = 0; i < b->n_ops; i++) {
        int op = b->ops[i], drop = MAX_OPS;
        int64_t ns = op == b->first || op == b->last
                         ? INT64_MAX
                         : b->interval_head_ns[op] + b->interval_tail_ns[op];

        if (s->n == most) {
            drop = 0;
            for (int j = 1; j < s->n; j++)
                if (length_ns[j] < length_ns[drop])
                    drop = j;
            if (length_ns[drop] >= ns)
                continue;
            for (int j = drop; j < s->n - 1; j++) {
                s->ops[j] = s->ops[j + 1];
                length_ns[j] = length_ns[j + 1];
            }
            s->n--;
        }
        s->ops[s->n] = op;
        length_ns[s->n++] = ns;
    }
}

static void fill_times(interval_search *s)
{
    const mo_coloc_band *b = s->b;

    for (int i = 0; i < s->n; i++)
        for (int j = i + 1; j < s->n; j++) {
            int distance = s->ops[j] - s->ops[i];
            int64_t at = mo_coloc_band_at(b, s->ops[i], distance);

            s->same_ns[i][j] =
                distance < b->width ? b->same_from[at] : MO_COLOC_NO_INTERVAL;
            s->apart_ns[i][j] =
                distance < b->width ? b->apart_from[at] : MO_COLOC_NO_INTERVAL;
        }
}

static void collect_flows(interval_search *s)
{
    const mo_instance *x = s->b->x;

    s->n_flows = s->flow_start[0] = 0;
    for (int j = 0; j < s->n; j++) {
        for (int e = x->in_start[s->ops[j]];
             e < x->in_start[s->ops[j] + 1] && s->n_flows < MAX_FLOWS; e++) {
            int flow = x->in_flows[e];

            for (int i = 0; i < j; i++)
                if (s->ops[i] == x->flows[flow].from)
                    s->flows[s->n_flows++] = (search_flow){
                        i, j, mo_min_i64(s->b->edge_ns[flow], MO_MAX_TIME_NS),
                        x->flows[flow].tensor
                    };
        }
        s->flow_start[j + 1] = s->n_flows;
    }
}

void mo_coloc_search_raise(const mo_coloc_band *b, mo_coloc_case which,
                           int64_t *least_ns)
{
    interval_search s;

    s.b = b;
    s.c = mo_coloc_test_class_data(b->test);
    s.which = which;
    for (int i = 0; i < N_SIZES && (i == 0 || b->n_ops > sizes[i - 1]); i++) {
        if (s.c->n_classes > MAX_CLASSES || b->n_ops < 3 ||
            *least_ns >= MO_MAX_TOTAL_NS || b->max_nodes == 0)
            return;
        s.n_devices = 0;
        s.nodes = b->max_nodes;
        s.enough_ns = *least_ns;
        s.best_ns = MO_COLOC_NEVER_NS;
        choose_ops(&s, sizes[i]);
        fill_times(&s);
        collect_flows(&s);
        search_from(&s, 0, 0);
        *least_ns = mo_max_i64(*least_ns, s.best_ns);
    }
}
