/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_search.h"

#include "base/minmax.h"

/*
 * Ops are placed in topological order, each on a device that others of the
 * interval have already or on a new one of some class, with the bounds of
 * colocation_node.c.  Memory limits what a device takes.
 *
 * A leaf is a placement of the ops and its value a lower bound on all
 * schedules with that placement; the least value of all is what is sought.
 * Leaving out ops of the interval is a relaxation.
 *
 * Every bound comes with the ops whose devices imply it (conflict set).  Where
 * no device of an op is left, the search goes back to the last op of the union
 * of these sets (conflict-directed backjumping, P. Prosser, Computational
 * Intelligence 9, 1993): other devices of the ops between would not help.  What
 * holds of a device that has none of the ops of a set does so for a new one of
 * its class, too, so that the set need not have the ops of each device.
 */

enum {
    MAX_CLASSES = 8,
    NODES_PER_CHECK = 1 << 14, /* of the clock */
    MAX_BRANCHES = MO_COLOC_NODE_MAX_OPS + MAX_CLASSES
};

/* Numbers of ops, one after the other: few are searched to the end. */
static const int sizes[] = { 8, 12, 16, 20, 24, 28, 34, MO_COLOC_NODE_MAX_OPS };

enum { N_SIZES = sizeof sizes / sizeof *sizes };

typedef struct interval_search {
    mo_coloc_node node; /* the current one */
    int64_t nodes;      /* that may still be made */
    int64_t enough_ns;  /* a value of at most this ends the search */
    bool found, done;   /* a leaf; a leaf that ends the search */
    int64_t best_ns;    /* least value of leaves and of what was left open */
} interval_search;

/*
 * Branching.
 */

typedef struct branch {
    int device; /* n_devices: a new one of the class */
    int cls;
    mo_coloc_node_time start, least;
} branch;

/* Returns whether op i may be on a device of a class, by the case, by groups
 * and by memory; else sets *why. */
static bool is_allowed(const interval_search *s, int i, int device, int cls,
                       uint64_t *why)
{
    const mo_coloc_node *node = &s->node;
    const int *group = node->b->x->group;
    int op = node->ops[i];
    int64_t bytes = device < node->n_devices ? node->devices[device].bytes : 0;

    *why = 0;
    if (!mo_coloc_node_allows_end(node, i, device))
        return false;
    for (int j = 0; j < i && group[op] != MO_FREE; j++)
        if (group[node->ops[j]] == group[op] && node->device[j] != device) {
            *why = mo_coloc_node_bit(j);
            return false;
        }
    *why = device < node->n_devices ? node->devices[device].ops : 0;
    return node->c->p_ns[(int64_t) op * node->c->n_classes + cls] <
               MO_COLOC_NEVER_NS &&
           node->c->bytes[op] <= node->c->capacity_bytes[cls] - bytes;
}

static bool has_new_device(const interval_search *s, int cls)
{
    int used = 0;

    for (int k = 0; k < s->node.n_devices; k++)
        used += s->node.devices[k].cls == cls;
    return used < s->node.c->n_devices[cls];
}

static void place_op(interval_search *s, int i, const branch *c)
{
    int op = s->node.ops[i];

    if (c->device == s->node.n_devices)
        s->node.devices[s->node.n_devices++] =
            (mo_coloc_node_device){ c->cls, 0, 0 };
    s->node.devices[c->device].bytes += s->node.c->bytes[op];
    s->node.devices[c->device].ops |= mo_coloc_node_bit(i);
    s->node.device[i] = c->device;
    s->node.p_ns[i] =
        s->node.c->p_ns[(int64_t) op * s->node.c->n_classes + c->cls];
    s->node.start_ns[i] = c->start.ns;
    s->node.why[i] = c->start.why;
}

static void undo_place(interval_search *s, int i, const branch *c,
                       int n_devices)
{
    s->node.devices[c->device].bytes -= s->node.c->bytes[s->node.ops[i]];
    s->node.devices[c->device].ops &= ~mo_coloc_node_bit(i);
    s->node.n_devices = n_devices;
}

/* Adds the branch of a device; branches are in the order of their bounds.
 * Returns why there is none, or 0. */
static uint64_t add_branch(interval_search *s, int i, int device, int cls,
                           mo_coloc_node_time least, branch *branches, int *n)
{
    int at = *n, n_devices = s->node.n_devices;
    branch c = { device, cls, { 0, 0 }, least };
    uint64_t why;

    if (mo_coloc_node_is_late(&s->node, i, device, s->best_ns, &why) ||
        !is_allowed(s, i, device, cls, &why))
        return why | mo_coloc_node_bit(i);
    place_op(s, i, &c);
    if (--s->nodes % NODES_PER_CHECK == 0 &&
        mo_stop_spend(s->node.b->stop, MO_COLOC_NODE_WORK * NODES_PER_CHECK))
        s->nodes = 0;
    c.start = mo_coloc_node_earliest_start(&s->node, i);
    if (c.start.ns < MO_MAX_TOTAL_NS) {
        mo_coloc_node_time bound;

        s->node.start_ns[i] = c.start.ns;
        s->node.why[i] = c.start.why;
        bound = mo_coloc_node_bound(&s->node, i, s->best_ns);
        if (bound.ns > c.least.ns)
            c.least = bound;
    } else {
        c.least = c.start;
    }
    undo_place(s, i, &c, n_devices);
    if (c.least.ns >= s->best_ns)
        return c.least.why | mo_coloc_node_bit(i);
    for (; at > 0 && branches[at - 1].least.ns > c.least.ns; at--)
        branches[at] = branches[at - 1];
    branches[at] = c;
    ++*n;
    return 0;
}

/* Depth-first search from op i on; least is the bound of this node.  Returns
 * why it has no leaf below best_ns: the devices of these ops before i imply
 * it. */
static uint64_t search_from(interval_search *s, int i, mo_coloc_node_time least)
{
    branch branches[MAX_BRANCHES];
    int n = 0, n_devices = s->node.n_devices;
    uint64_t why = 0;

    if (i == s->node.n) {
        s->best_ns = least.ns;
        s->found = true;
        s->done = least.ns <= s->enough_ns;
        return least.why;
    }
    for (int k = 0; k < n_devices; k++)
        why |= add_branch(s, i, k, s->node.devices[k].cls, least, branches, &n);
    for (int c = 0; c < s->node.c->n_classes; c++)
        if (has_new_device(s, c))
            why |= add_branch(s, i, n_devices, c, least, branches, &n);
    for (int j = 0; j < n && !s->done; j++) {
        uint64_t child = branches[j].least.why;

        if (s->nodes <= 0) {
            s->best_ns = mo_min_i64(s->best_ns, branches[j].least.ns);
            return UINT64_MAX;
        }
        if (branches[j].least.ns < s->best_ns) {
            place_op(s, i, &branches[j]);
            child = search_from(s, i + 1, branches[j].least);
            undo_place(s, i, &branches[j], n_devices);
        }
        /* The first op is in all sets: cases refer to its device. */
        if (i > 0 && s->node.b->has_backjumps &&
            !(child & mo_coloc_node_bit(i)))
            return child;
        why |= child;
    }
    return why & ~mo_coloc_node_bit(i);
}

/*
 * The ops of the search.
 */

/* Chooses the ends and the ops with the largest head plus tail. */
static void choose_ops(interval_search *s, int most)
{
    const mo_coloc_band *b = s->node.b;
    int64_t length_ns[MO_COLOC_NODE_MAX_OPS]; /* head plus tail */

    s->node.n = 0;
    for (int i = 0; i < b->n_ops; i++) {
        int op = b->ops[i], drop = MO_COLOC_NODE_MAX_OPS;
        int64_t ns = op == b->first || op == b->last
                         ? INT64_MAX
                         : b->interval_head_ns[op] + b->interval_tail_ns[op];

        if (s->node.n == most) {
            drop = 0;
            for (int j = 1; j < s->node.n; j++)
                if (length_ns[j] < length_ns[drop])
                    drop = j;
            if (length_ns[drop] >= ns)
                continue;
            for (int j = drop; j < s->node.n - 1; j++) {
                s->node.ops[j] = s->node.ops[j + 1];
                length_ns[j] = length_ns[j + 1];
            }
            s->node.n--;
        }
        s->node.ops[s->node.n] = op;
        length_ns[s->node.n++] = ns;
    }
}

static void fill_times(interval_search *s)
{
    const mo_coloc_band *b = s->node.b;

    for (int j = 0; j < s->node.n; j++) {
        s->node.before[j] = 0;
        for (int i = 0; i < j; i++) {
            int distance = s->node.ops[j] - s->node.ops[i];
            int64_t at = mo_coloc_band_at(b, s->node.ops[j], distance);
            bool is_near = distance < b->width;

            s->node.same_ns[j][i] =
                is_near ? b->same_to[at] : MO_COLOC_NO_INTERVAL;
            s->node.apart_ns[j][i] =
                is_near ? b->apart_to[at] : MO_COLOC_NO_INTERVAL;
            if (s->node.same_ns[j][i] >= 0)
                s->node.before[j] |= mo_coloc_node_bit(i);
        }
    }
}

static void collect_flows(interval_search *s)
{
    const mo_instance *x = s->node.b->x;
    int *start;

    s->node.n_flows = s->node.flow_start[0] = 0;
    for (int j = 0; j < s->node.n; j++) {
        for (int e = x->in_start[s->node.ops[j]];
             e < x->in_start[s->node.ops[j] + 1] &&
             s->node.n_flows < MO_COLOC_NODE_MAX_FLOWS;
             e++) {
            int flow = x->in_flows[e];

            for (int i = 0; i < j; i++)
                if (s->node.ops[i] == x->flows[flow].from)
                    s->node.flows[s->node.n_flows++] = (mo_coloc_node_flow){
                        i, j,
                        mo_min_i64(s->node.b->edge_ns[flow], MO_MAX_TIME_NS),
                        x->flows[flow].tensor
                    };
        }
        s->node.flow_start[j + 1] = s->node.n_flows;
    }
    start = s->node.out_start;
    for (int i = 0; i <= s->node.n; i++)
        start[i] = 0;
    for (int f = 0; f < s->node.n_flows; f++)
        start[s->node.flows[f].from + 1]++;
    for (int i = 0; i < s->node.n; i++)
        start[i + 1] += start[i];
    /* From the last one; then each start is that of the op's own. */
    for (int f = s->node.n_flows - 1; f >= 0; f--)
        s->node.out_flows[--start[s->node.flows[f].from + 1]] = f;
    for (int i = 0; i < s->node.n; i++)
        start[i] = start[i + 1];
    start[s->node.n] = s->node.n_flows;
}

/* Searches for leaves whose value is less than limit_ns, until one is at most
 * enough_ns.  Returns limit_ns when there is none, and otherwise the least
 * value of leaves and open nodes. */
static int64_t search_below_ns(interval_search *s, int64_t limit_ns,
                               int64_t enough_ns)
{
    s->node.n_devices = 0;
    s->found = s->done = false;
    s->enough_ns = enough_ns;
    s->best_ns = limit_ns;
    search_from(s, 0, (mo_coloc_node_time){ 0, 0 });
    return s->best_ns;
}

/* Destructive improvement: lengths a step above what is proven are refuted
 * while the nodes last.  Steps double, and are halved by a leaf. */
static void probe_lengths(interval_search *s, int64_t *least_ns)
{
    int64_t step_ns = *least_ns / 32 + 1, leaf_ns = MO_COLOC_NEVER_NS;

    while (s->nodes > 0 && step_ns > 0) {
        int64_t limit_ns = mo_min_i64(*least_ns + step_ns, leaf_ns), ns;

        if (limit_ns <= *least_ns)
            return;
        ns = search_below_ns(s, limit_ns, limit_ns - 1);
        if (s->found) {
            leaf_ns = ns;
            step_ns = (ns - *least_ns + 1) / 2;
            if (step_ns < *least_ns / 256 + 1)
                return;
        } else {
            *least_ns = mo_max_i64(*least_ns, ns);
            step_ns *= 2;
        }
    }
}

bool mo_coloc_search_raise(mo_coloc_band *b, mo_coloc_case which,
                           int64_t *least_ns)
{
    interval_search s;
    bool closed = true;

    s.node.b = b;
    s.node.c = mo_coloc_test_class_data(b->test);
    s.node.which = which;
    for (int i = 0; i < N_SIZES && (i == 0 || b->n_ops > s.node.n); i++) {
        int64_t first = b->max_nodes / 4;

        if (s.node.c->n_classes > MAX_CLASSES || b->n_ops < 3 ||
            *least_ns >= MO_MAX_TOTAL_NS)
            return true;
        if (b->max_nodes == 0 || b->nodes_left <= 0 || mo_stop_reached(b->stop))
            return false;
        choose_ops(&s, sizes[i]);
        fill_times(&s);
        collect_flows(&s);
        s.nodes = first;
        *least_ns = mo_max_i64(
            *least_ns, search_below_ns(&s, MO_COLOC_NEVER_NS, *least_ns));
        b->nodes_left -= (double) (first - s.nodes);
        closed = s.nodes > 0;
        if (closed)
            continue;
        s.nodes = b->max_nodes - first;
        probe_lengths(&s, least_ns);
        b->nodes_left -= (double) (b->max_nodes - first - s.nodes);
        closed = s.nodes > 0;
        /* Of more ops only the largest number may still raise it. */
        if (!closed && i < N_SIZES - 2)
            i = N_SIZES - 2;
    }
    return closed;
}
