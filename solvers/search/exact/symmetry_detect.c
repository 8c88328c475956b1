/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/symmetry_detect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

enum { TRUNK = -1, SEEING = 8 /* flows far, ops tell each other apart */ };

typedef struct finder {
    const mo_instance *x;
    int *branch;            /* by op: any op that stands for it, or TRUNK */
    int *ops;               /* those off the trunk, by branch */
    uint64_t *label, *next; /* by op: what it looks like from around it */
    int *start, *kind;      /* by branch */
    int n_branches;
    int *place; /* by op: in its branch */
} finder;

static bool is_trunk(const mo_instance *x, const unsigned char *reaches, int op)
{
    size_t n = (size_t) x->n, i = (size_t) op;

    for (size_t j = 0; j < n; j++)
        if (!reaches[i * n + j] && !reaches[j * n + i])
            return false;
    return true;
}

static int root_of(finder *f, int op)
{
    while (f->branch[op] != op)
        op = f->branch[op] = f->branch[f->branch[op]];
    return op;
}

/* The smallest op stands for its branch. */
static void join(finder *f, int a, int b)
{
    int one = root_of(f, a), other = root_of(f, b);

    if (one < other)
        f->branch[other] = one;
    else
        f->branch[one] = other;
}

static void find_branches(finder *f, const unsigned char *reaches)
{
    const mo_instance *x = f->x;

    for (int i = 0; i < x->n; i++)
        f->branch[i] = is_trunk(x, reaches, i) ? TRUNK : i;
    for (int q = 0; q < x->n_flows; q++)
        if (f->branch[x->flows[q].from] != TRUNK &&
            f->branch[x->flows[q].to] != TRUNK)
            join(f, x->flows[q].from, x->flows[q].to);
    for (int i = 0; i < x->n; i++)
        if (f->branch[i] != TRUNK)
            f->branch[i] = root_of(f, i);
}

static uint64_t mixed(uint64_t a, uint64_t b)
{
    return mo_random_seed(a, b);
}

/* Its own look: trunk ops are all different. */
static uint64_t own_label(const finder *f, int op)
{
    const mo_instance *x = f->x;
    uint64_t label = 1;

    if (f->branch[op] == TRUNK)
        return mixed(2, (uint64_t) op);
    for (int k = 0; k < x->n_devices; k++)
        label = mixed(label, (uint64_t) mo_instance_p_ns(x, op, k));
    label = mixed(label, (uint64_t) x->memory_bytes[op]);
    label = mixed(label, (uint64_t) x->weight_bytes[op]);
    return mixed(label, (uint64_t) x->pin[op]);
}

/* One flow further.  Sums, so that the order of flows does not matter. */
static void look_around(finder *f)
{
    const mo_instance *x = f->x;

    for (int i = 0; i < x->n; i++)
        f->next[i] = mixed(3, f->label[i]);
    for (int q = 0; q < x->n_flows; q++) {
        const mo_flow *flow = &x->flows[q];
        uint64_t row = (uint64_t) x->flow_row[q];

        f->next[flow->from] += mixed(mixed(4, row), f->label[flow->to]);
        f->next[flow->to] += mixed(mixed(5, row), f->label[flow->from]);
    }
    for (int i = 0; i < x->n; i++)
        if (f->branch[i] != TRUNK)
            f->label[i] = f->next[i];
}

typedef struct item {
    int branch, op;
    int64_t least_ns;
    uint64_t label;
} item;

static int compare_items(const void *a, const void *b)
{
    const item *v = a, *w = b;

    if (v->branch != w->branch)
        return v->branch < w->branch ? -1 : 1;
    if (v->least_ns != w->least_ns)
        return v->least_ns > w->least_ns ? -1 : 1;
    if (v->label != w->label)
        return v->label < w->label ? -1 : 1;
    return (v->op > w->op) - (v->op < w->op);
}

static int64_t least_ns(const mo_instance *x, int op)
{
    int64_t least = INT64_MAX;

    for (int k = 0; k < x->n_devices; k++)
        if (mo_instance_p_ns(x, op, k) < least)
            least = mo_instance_p_ns(x, op, k);
    return least;
}

/* Ops by branch, those of each in an order that its twins have, too. */
static mo_status sort_ops(finder *f, mo_error *err)
{
    const mo_instance *x = f->x;
    item *items = malloc(((size_t) x->n + 1) * sizeof *items);
    int n = 0;

    if (!items)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        if (f->branch[i] != TRUNK)
            items[n++] = (item){ f->branch[i], i, least_ns(x, i), f->label[i] };
    if (n > 0)
        qsort(items, (size_t) n, sizeof *items, compare_items);
    for (int i = 0; i < n; i++) {
        if (i == 0 || items[i].branch != items[i - 1].branch)
            f->start[f->n_branches++] = i;
        f->ops[i] = items[i].op;
        f->place[items[i].op] = i - f->start[f->n_branches - 1];
    }
    f->start[f->n_branches] = n;
    free(items);
    return MO_OK;
}

static bool look_alike(const mo_instance *x, int a, int b)
{
    size_t K = (size_t) x->n_devices;

    return memcmp(x->p_ns + (size_t) a * K, x->p_ns + (size_t) b * K,
                  K * sizeof *x->p_ns) == 0 &&
           x->memory_bytes[a] == x->memory_bytes[b] &&
           x->weight_bytes[a] == x->weight_bytes[b] && x->pin[a] == x->pin[b] &&
           x->group[a] == MO_FREE && x->group[b] == MO_FREE;
}

/* Where an op is for its branch: itself on the trunk, else its place. */
static int seen_as(const finder *f, int op)
{
    return f->branch[op] == TRUNK ? op : f->x->n + f->place[op];
}

/* Do the flows out of a and b, in their order, lead to the same? */
static bool lead_alike(const finder *f, int a, int b)
{
    const mo_instance *x = f->x;
    int n = x->out_start[a + 1] - x->out_start[a];

    if (n != x->out_start[b + 1] - x->out_start[b])
        return false;
    for (int i = 0; i < n; i++) {
        int p = x->out_start[a] + i, q = x->out_start[b] + i;
        int t = x->flows[p].tensor, u = x->flows[q].tensor;

        /* Tensors of an op have numbers one after the other. */
        if (seen_as(f, x->flows[p].to) != seen_as(f, x->flows[q].to) ||
            x->flow_row[p] != x->flow_row[q] ||
            t - x->flows[x->out_start[a]].tensor !=
                u - x->flows[x->out_start[b]].tensor ||
            x->tensor_row[t] != x->tensor_row[u] ||
            x->tensor_bytes[t] != x->tensor_bytes[u])
            return false;
    }
    return true;
}

/* Do they read the same of the trunk?  What they read of their branches is
 * looked at from its other end. */
static bool read_alike(const finder *f, int a, int b)
{
    const mo_instance *x = f->x;
    int n = x->in_start[a + 1] - x->in_start[a];

    if (n != x->in_start[b + 1] - x->in_start[b])
        return false;
    for (int i = 0; i < n; i++) {
        int p = x->in_flows[x->in_start[a] + i];
        int q = x->in_flows[x->in_start[b] + i];
        bool from_trunk = f->branch[x->flows[p].from] == TRUNK;

        if (from_trunk != (f->branch[x->flows[q].from] == TRUNK) ||
            (from_trunk && (x->flows[p].tensor != x->flows[q].tensor ||
                            x->flow_row[p] != x->flow_row[q])))
            return false;
    }
    return true;
}

static bool are_twins(const finder *f, int one, int other)
{
    const int *a = f->ops + f->start[one], *b = f->ops + f->start[other];
    int n = f->start[one + 1] - f->start[one];

    if (n != f->start[other + 1] - f->start[other])
        return false;
    for (int i = 0; i < n; i++)
        if (!look_alike(f->x, a[i], b[i]) || !lead_alike(f, a[i], b[i]) ||
            !read_alike(f, a[i], b[i]))
            return false;
    return true;
}

/* By branch: the first twin; returns how many have one that is not
 * themselves. */
static int find_kinds(finder *f)
{
    int n = 0;

    for (int b = 0; b < f->n_branches; b++) {
        f->kind[b] = b;
        for (int a = 0; a < b; a++)
            if (f->kind[a] == a && are_twins(f, a, b)) {
                f->kind[b] = a;
                break;
            }
        n += f->kind[b] != b;
    }
    return n;
}

static void put_branch(const finder *f, int branch, mo_exact_symmetry *t)
{
    int n = f->start[branch + 1] - f->start[branch];

    t->kind[t->n] = f->kind[branch];
    memcpy(t->ops + t->start[t->n], f->ops + f->start[branch],
           (size_t) n * sizeof *t->ops);
    t->start[t->n + 1] = t->start[t->n] + n;
    t->n++;
}

static void put_twins(const finder *f, mo_exact_symmetry *t)
{
    t->start[0] = 0;
    for (int a = 0; a < f->n_branches; a++) {
        bool alone = true;

        for (int b = a + 1; b < f->n_branches; b++)
            alone = alone && f->kind[b] != a;
        for (int b = a; b < f->n_branches && !alone; b++)
            if (f->kind[b] == a)
                put_branch(f, b, t);
    }
}

static mo_status find(finder *f, const unsigned char *reaches, mo_error *err)
{
    const mo_instance *x = f->x;

    find_branches(f, reaches);
    for (int i = 0; i < x->n; i++)
        f->label[i] = own_label(f, i);
    for (int i = 0; i < SEEING; i++)
        look_around(f);
    return sort_ops(f, err);
}

mo_status mo_exact_symmetry_find(const mo_instance *x,
                                 const unsigned char *reaches,
                                 mo_exact_symmetry *twins, mo_error *err)
{
    size_t n = (size_t) x->n + 1;
    finder f = { .x = x };
    int *space = malloc(5 * n * sizeof *space);
    mo_status status = MO_OK;

    *twins = (mo_exact_symmetry){ 0 };
    twins->space = calloc(3 * (n + 1), sizeof *twins->space);
    f.label = malloc(2 * n * sizeof *f.label);
    if (!space || !f.label || !twins->space) {
        status = mo_fail_memory(err);
    } else {
        f.next = f.label + n;
        f.branch = space;
        f.ops = space + n;
        f.start = space + 2 * n;
        f.kind = space + 3 * n;
        f.place = space + 4 * n;
        twins->kind = twins->space;
        twins->start = twins->space + n + 1;
        twins->ops = twins->space + 2 * (n + 1);
        status = find(&f, reaches, err);
    }
    if (status == MO_OK && find_kinds(&f) > 0)
        put_twins(&f, twins);
    free(f.label);
    free(space);
    return status;
}

void mo_exact_symmetry_clear(mo_exact_symmetry *twins)
{
    free(twins->space);
    *twins = (mo_exact_symmetry){ 0 };
}
