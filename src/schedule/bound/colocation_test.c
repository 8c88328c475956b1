/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/colocation_test.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/equal_devices.h"

/*
 * Pairs are joined in the order of falling times.  Once the pairs above a time
 * are joined, every set demands some length of the interval: on one device of
 * a class whose capacity holds it, first start, sum of processing times and
 * last end, or the way through one of its ops.  What a set demands holds for
 * all shorter times, too, since sets only grow.  The least time is where the
 * falling times meet the rising demand.
 */

typedef struct coloc_member {
    int op;
    bool runs;
    int64_t head_ns;     /* from the begin of the interval to its start */
    int64_t tail_ns;     /* from its start to the end */
    int64_t delivery_ns; /* from its end to the end */
    int64_t bytes;       /* of its group, for the first member of one; then 0 */
} coloc_member;

/* Below least_ns the members a and b are on one device. */
typedef struct coloc_pair {
    int64_t least_ns;
    int a, b;
} coloc_pair;

struct mo_coloc_test {
    const mo_instance *x;
    mo_coloc_class_data c;
    int64_t *group_bytes; /* by group */
    int *group_member;    /* by group: its first member, or -1 */

    coloc_member *members;
    int n;
    coloc_pair *pairs;
    size_t n_pairs, room;

    int *parent;                      /* by member: union-find */
    int64_t *set_bytes, *set_head_ns; /* by root */
    int64_t *set_p_ns, *set_path_ns, *set_delivery_ns; /* by root and class */
};

static void fill_numbers(mo_coloc_test *t, const mo_allowed_devices *d,
                         const int *device)
{
    const mo_instance *x = d->x;

    for (int c = 0; c < t->c.n_classes; c++)
        t->c.capacity_bytes[c] = d->regime.memory == MO_MEMORY_NONE
                                     ? INT64_MAX
                                     : x->capacity_bytes[device[c]];
    for (int i = 0; i < x->n; i++) {
        t->c.bytes[i] = mo_allowed_devices_resident_bytes(d, i);
        if (x->group[i] != MO_FREE)
            t->group_bytes[x->group[i]] += t->c.bytes[i];
        for (int c = 0; c < t->c.n_classes; c++)
            t->c.p_ns[(int64_t) i * t->c.n_classes + c] =
                mo_allowed_devices_has(d, i, device[c])
                    ? mo_instance_p_ns(x, i, device[c])
                    : MO_COLOC_NEVER_NS;
    }
    for (int g = 0; g < x->n_groups; g++)
        t->group_member[g] = -1;
}

mo_status mo_coloc_test_new(const mo_allowed_devices *domains,
                            mo_coloc_test **test, mo_error *err)
{
    const mo_instance *x = domains->x;
    size_t n = (size_t) x->n + 1, groups = (size_t) x->n_groups + 1, size;
    int *device = calloc((size_t) x->n_devices + 1, sizeof *device);
    mo_coloc_test *t = calloc(1, sizeof *t);

    if (!device || !t)
        goto out;
    t->x = x;
    t->c.n_devices = calloc((size_t) x->n_devices + 1, sizeof *t->c.n_devices);
    if (!t->c.n_devices)
        goto out;
    /* Moves the first devices of the classes of equal devices to the front. */
    mo_equal_devices_find(domains, false, device);
    for (int k = 0; k < domains->x->n_devices; k++) {
        int first = device[k];

        if (first == k)
            device[t->c.n_classes++] = k;
        for (int i = 0; i < t->c.n_classes; i++)
            t->c.n_devices[i] += device[i] == first;
    }
    if (!mo_size_mul(n, (size_t) t->c.n_classes, &size))
        goto out;
    t->c.capacity_bytes =
        calloc((size_t) t->c.n_classes, sizeof *t->c.capacity_bytes);
    t->c.p_ns = calloc(size, sizeof *t->c.p_ns);
    t->c.bytes = calloc(n, sizeof *t->c.bytes);
    t->group_bytes = calloc(groups, sizeof *t->group_bytes);
    t->group_member = calloc(groups, sizeof *t->group_member);
    t->members = calloc(n, sizeof *t->members);
    t->parent = calloc(n, sizeof *t->parent);
    t->set_bytes = calloc(n, sizeof *t->set_bytes);
    t->set_head_ns = calloc(n, sizeof *t->set_head_ns);
    t->set_delivery_ns = calloc(size, sizeof *t->set_delivery_ns);
    t->set_p_ns = calloc(size, sizeof *t->set_p_ns);
    t->set_path_ns = calloc(size, sizeof *t->set_path_ns);
    if (!t->c.capacity_bytes || !t->c.p_ns || !t->c.bytes || !t->group_bytes ||
        !t->group_member || !t->members || !t->parent || !t->set_bytes ||
        !t->set_head_ns || !t->set_delivery_ns || !t->set_p_ns ||
        !t->set_path_ns)
        goto out;
    fill_numbers(t, domains, device);
    free(device);
    *test = t;
    return MO_OK;
out:
    free(device);
    mo_coloc_test_free(t);
    return mo_fail_memory(err);
}

void mo_coloc_test_free(mo_coloc_test *t)
{
    if (!t)
        return;
    free(t->c.n_devices);
    free(t->c.capacity_bytes);
    free(t->c.p_ns);
    free(t->c.bytes);
    free(t->group_bytes);
    free(t->group_member);
    free(t->members);
    free(t->pairs);
    free(t->parent);
    free(t->set_bytes);
    free(t->set_head_ns);
    free(t->set_delivery_ns);
    free(t->set_p_ns);
    free(t->set_path_ns);
    free(t);
}

const mo_coloc_class_data *mo_coloc_test_class_data(const mo_coloc_test *t)
{
    return &t->c;
}

void mo_coloc_test_begin(mo_coloc_test *t)
{
    for (int i = 0; i < t->n; i++) {
        int group = t->x->group[t->members[i].op];

        if (group != MO_FREE)
            t->group_member[group] = -1;
    }
    t->n = 0;
    t->n_pairs = 0;
}

int mo_coloc_test_add(mo_coloc_test *t, int op, int64_t head_ns,
                      int64_t tail_ns, bool runs)
{
    int group = t->x->group[op];
    coloc_member *m = &t->members[t->n];

    *m = (coloc_member){ op, runs, head_ns, tail_ns, 0, t->c.bytes[op] };
    if (group != MO_FREE) {
        bool first = t->group_member[group] < 0;

        m->bytes = first ? t->group_bytes[group] : 0;
        if (first)
            t->group_member[group] = t->n;
    }
    return t->n++;
}

void mo_coloc_test_raise_delivery(mo_coloc_test *t, int member,
                                  int64_t delivery_ns)
{
    t->members[member].delivery_ns =
        mo_max_i64(t->members[member].delivery_ns, delivery_ns);
}

void mo_coloc_test_clear_pairs(mo_coloc_test *t)
{
    t->n_pairs = 0;
}

mo_status mo_coloc_test_join(mo_coloc_test *t, int64_t least_ns, int a, int b,
                             mo_error *err)
{
    mo_status status = MO_ARRAY_GROW(t->pairs, t->n_pairs, t->room, err);

    if (status == MO_OK)
        t->pairs[t->n_pairs++] = (coloc_pair){ least_ns, a, b };
    return status;
}

static int find_root(int *parent, int i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

/* Returns the least length of the interval with the set on one device. */
static int64_t set_demand_ns(const mo_coloc_test *t, int root)
{
    int64_t at = (int64_t) root * t->c.n_classes;
    bool any_runs = t->set_head_ns[root] < MO_COLOC_NEVER_NS;
    int64_t least = MO_COLOC_NEVER_NS;

    for (int c = 0; c < t->c.n_classes; c++) {
        int64_t ns = t->set_path_ns[at + c];

        if (t->set_bytes[root] > t->c.capacity_bytes[c])
            continue;
        if (any_runs)
            ns = mo_max_i64(ns, t->set_head_ns[root] + t->set_p_ns[at + c] +
                                    t->set_delivery_ns[at + c]);
        least = mo_min_i64(least, ns);
    }
    return least;
}

/* Returns the demand of the united set. */
static int64_t unite_sets(mo_coloc_test *t, int i, int j)
{
    int a = find_root(t->parent, i), b = find_root(t->parent, j);

    if (a == b)
        return 0;
    t->parent[b] = a;
    t->set_bytes[a] += t->set_bytes[b];
    t->set_head_ns[a] = mo_min_i64(t->set_head_ns[a], t->set_head_ns[b]);
    for (int c = 0; c < t->c.n_classes; c++) {
        int64_t to = (int64_t) a * t->c.n_classes + c;
        int64_t from = (int64_t) b * t->c.n_classes + c;

        t->set_p_ns[to] += t->set_p_ns[from];
        t->set_delivery_ns[to] =
            mo_min_i64(t->set_delivery_ns[to], t->set_delivery_ns[from]);
        t->set_path_ns[to] =
            mo_max_i64(t->set_path_ns[to], t->set_path_ns[from]);
    }
    return set_demand_ns(t, a);
}

/* The sets of any time: groups are on one device. */
static int64_t start_sets(mo_coloc_test *t)
{
    int64_t demand_ns = 0;

    for (int i = 0; i < t->n; i++) {
        const coloc_member *m = &t->members[i];
        const int64_t *p_ns = t->c.p_ns + (int64_t) m->op * t->c.n_classes;

        t->parent[i] = i;
        t->set_bytes[i] = m->bytes;
        t->set_head_ns[i] = m->runs ? m->head_ns : MO_COLOC_NEVER_NS;
        for (int c = 0; c < t->c.n_classes; c++) {
            int64_t at = (int64_t) i * t->c.n_classes + c;

            t->set_p_ns[at] = t->set_path_ns[at] = 0;
            t->set_delivery_ns[at] = MO_COLOC_NEVER_NS;
            if (p_ns[c] == MO_COLOC_NEVER_NS) {
                t->set_path_ns[at] = MO_COLOC_NEVER_NS;
            } else if (m->runs) {
                t->set_p_ns[at] = p_ns[c];
                t->set_delivery_ns[at] =
                    mo_max_i64(m->delivery_ns, m->tail_ns - p_ns[c]);
                t->set_path_ns[at] =
                    m->head_ns + p_ns[c] + t->set_delivery_ns[at];
            }
        }
        demand_ns = mo_max_i64(demand_ns, set_demand_ns(t, i));
    }
    for (int i = 0; i < t->n && t->x->n_groups > 0; i++) {
        int group = t->x->group[t->members[i].op];

        if (group != MO_FREE)
            demand_ns =
                mo_max_i64(demand_ns, unite_sets(t, t->group_member[group], i));
    }
    return demand_ns;
}

/* Joins a pair and returns what the sets demand then. */
static int64_t join_pair(mo_coloc_test *t, const coloc_pair *pair, int a, int b)
{
    int64_t demand_ns = unite_sets(t, pair->a, pair->b);

    return a >= 0 && find_root(t->parent, a) == find_root(t->parent, b)
               ? MO_COLOC_NEVER_NS
               : demand_ns;
}

/* Returns whether something is refuted at from_ns; keeps only the pairs that
 * are joined there. */
static bool is_refuted_at(mo_coloc_test *t, int64_t from_ns, int a, int b)
{
    int64_t demand_ns = start_sets(t);
    size_t n = 0;

    for (size_t i = 0; i < t->n_pairs; i++)
        if (t->pairs[i].least_ns > from_ns)
            t->pairs[n++] = t->pairs[i];
    t->n_pairs = n;
    for (size_t i = 0; i < n && demand_ns <= from_ns; i++)
        demand_ns = mo_max_i64(demand_ns, join_pair(t, &t->pairs[i], a, b));
    return demand_ns > from_ns;
}

static int compare_pairs(const void *a, const void *b)
{
    int64_t x = ((const coloc_pair *) a)->least_ns;
    int64_t y = ((const coloc_pair *) b)->least_ns;

    return (x < y) - (x > y);
}

int64_t mo_coloc_test_least_ns(mo_coloc_test *t, int64_t from_ns, int a, int b)
{
    int64_t demand_ns;
    size_t i = 0;

    if (!is_refuted_at(t, from_ns, a, b))
        return from_ns;
    if (t->n_pairs > 0)
        qsort(t->pairs, t->n_pairs, sizeof *t->pairs, compare_pairs);
    demand_ns = mo_max_i64(from_ns, start_sets(t));
    while (i < t->n_pairs && demand_ns < t->pairs[i].least_ns) {
        int64_t before_ns = t->pairs[i].least_ns;

        demand_ns = mo_max_i64(demand_ns, join_pair(t, &t->pairs[i], a, b));
        if (demand_ns >= before_ns)
            return mo_min_i64(before_ns, MO_COLOC_NEVER_NS);
        i++;
    }
    return mo_min_i64(demand_ns, MO_COLOC_NEVER_NS);
}
