/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/exact/symmetry_detect.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"

/*
 * Components without the trunk by union-find; candidates for a mapping by color
 * refinement; then every mapping is verified flow by flow.
 */

enum {
    TRUNK = -1,
    REFINEMENT_ROUNDS = 8 /* rounds, each one flow further */
};

typedef struct detector {
    const mo_instance *x;
    int *branch;            /* by op: union-find parent, or TRUNK */
    int *ops;               /* those off the trunk, by branch */
    uint64_t *label, *next; /* by op: color in color refinement */
    int *start, *class;     /* by branch */
    int n_branches;
    int *place; /* by op: index in its branch */
} detector;

static bool is_trunk(const mo_instance *x, const unsigned char *reaches, int op)
{
    size_t n = (size_t) x->n, i = (size_t) op;

    for (size_t j = 0; j < n; j++)
        if (!reaches[i * n + j] && !reaches[j * n + i])
            return false;
    return true;
}

static int find_root(detector *f, int op)
{
    while (f->branch[op] != op)
        op = f->branch[op] = f->branch[f->branch[op]];
    return op;
}

static uint64_t mix_hash(uint64_t a, uint64_t b)
{
    return mo_random_seed(a, b);
}

typedef struct sort_key {
    int branch, op;
    int64_t least_ns;
    uint64_t label;
} sort_key;

static int compare_items(const void *a, const void *b)
{
    const sort_key *v = a, *w = b;

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

/* Sorts ops by branch and in corresponding order within equal branches. */
static mo_status sort_ops(detector *f, mo_error *err)
{
    const mo_instance *x = f->x;
    sort_key *items = malloc(((size_t) x->n + 1) * sizeof *items);
    int n = 0;

    if (!items)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        if (f->branch[i] != TRUNK)
            items[n++] =
                (sort_key){ f->branch[i], i, least_ns(x, i), f->label[i] };
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

static bool are_ops_equal(const mo_instance *x, int a, int b)
{
    size_t K = (size_t) x->n_devices;

    return memcmp(x->p_ns + (size_t) a * K, x->p_ns + (size_t) b * K,
                  K * sizeof *x->p_ns) == 0 &&
           x->memory_bytes[a] == x->memory_bytes[b] &&
           x->weight_bytes[a] == x->weight_bytes[b] && x->pin[a] == x->pin[b] &&
           x->group[a] == MO_FREE && x->group[b] == MO_FREE;
}

/* Returns the identity of an op up to a swap of branches: itself on the trunk,
 * else its index in the branch. */
static int canonical_index(const detector *f, int op)
{
    return f->branch[op] == TRUNK ? op : f->x->n + f->place[op];
}

/* Returns whether the flows out of a and b, in order, correspond. */
static bool have_equal_outputs(const detector *f, int a, int b)
{
    const mo_instance *x = f->x;
    int n = x->out_start[a + 1] - x->out_start[a];

    if (n != x->out_start[b + 1] - x->out_start[b])
        return false;
    for (int i = 0; i < n; i++) {
        int p = x->out_start[a] + i, q = x->out_start[b] + i;
        int t = x->flows[p].tensor, u = x->flows[q].tensor;

        /* Tensors of an op are numbered consecutively. */
        if (canonical_index(f, x->flows[p].to) !=
                canonical_index(f, x->flows[q].to) ||
            x->comm.flow_row[p] != x->comm.flow_row[q] ||
            t - x->flows[x->out_start[a]].tensor !=
                u - x->flows[x->out_start[b]].tensor ||
            x->comm.tensor_row[t] != x->comm.tensor_row[u] ||
            x->tensor_bytes[t] != x->tensor_bytes[u])
            return false;
    }
    return true;
}

/* Returns whether their inputs from the trunk are equal. Inputs within the
 * branches are compared as outputs of their producers. */
static bool have_equal_inputs(const detector *f, int a, int b)
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
                            x->comm.flow_row[p] != x->comm.flow_row[q])))
            return false;
    }
    return true;
}

static bool are_isomorphic(const detector *f, int one, int other)
{
    const int *a = f->ops + f->start[one], *b = f->ops + f->start[other];
    int n = f->start[one + 1] - f->start[one];

    if (n != f->start[other + 1] - f->start[other])
        return false;
    for (int i = 0; i < n; i++)
        if (!are_ops_equal(f->x, a[i], b[i]) ||
            !have_equal_outputs(f, a[i], b[i]) ||
            !have_equal_inputs(f, a[i], b[i]))
            return false;
    return true;
}

/* By branch: the first equal branch; returns how many have another than
 * themselves. */
static int find_classes(detector *f)
{
    int n = 0;

    for (int b = 0; b < f->n_branches; b++) {
        f->class[b] = b;
        for (int a = 0; a < b; a++)
            if (f->class[a] == a && are_isomorphic(f, a, b)) {
                f->class[b] = a;
                break;
            }
        n += f->class[b] != b;
    }
    return n;
}

static mo_status
find_and_sort_branches(detector *f, const unsigned char *reaches, mo_error *err)
{
    const mo_instance *x = f->x;

    for (int i = 0; i < x->n; i++)
        f->branch[i] = is_trunk(x, reaches, i) ? TRUNK : i;
    for (int q = 0; q < x->n_flows; q++)
        if (f->branch[x->flows[q].from] != TRUNK &&
            f->branch[x->flows[q].to] != TRUNK) {
            /* The smallest op is the root of its branch. */
            int one = find_root(f, x->flows[q].from),
                other = find_root(f, x->flows[q].to);

            if (one < other)
                f->branch[other] = one;
            else
                f->branch[one] = other;
        }
    for (int i = 0; i < x->n; i++)
        if (f->branch[i] != TRUNK)
            f->branch[i] = find_root(f, i);
    for (int i = 0; i < x->n; i++) {
        /* Initial color: own properties; trunk ops all differ. */
        uint64_t label = 1;

        if (f->branch[i] == TRUNK) {
            f->label[i] = mix_hash(2, (uint64_t) i);
        } else {
            for (int k = 0; k < x->n_devices; k++)
                label = mix_hash(label, (uint64_t) mo_instance_p_ns(x, i, k));
            label = mix_hash(label, (uint64_t) x->memory_bytes[i]);
            label = mix_hash(label, (uint64_t) x->weight_bytes[i]);
            f->label[i] = mix_hash(label, (uint64_t) x->pin[i]);
        }
    }
    for (int i = 0; i < REFINEMENT_ROUNDS; i++) {
        /* One round of color refinement (Weisfeiler and Leman 1968). Hashes are
         * summed, so that the order of flows does not matter. */
        for (int j = 0; j < x->n; j++)
            f->next[j] = mix_hash(3, f->label[j]);
        for (int q = 0; q < x->n_flows; q++) {
            const mo_flow *flow = &x->flows[q];
            uint64_t row = (uint64_t) x->comm.flow_row[q];

            f->next[flow->from] +=
                mix_hash(mix_hash(4, row), f->label[flow->to]);
            f->next[flow->to] +=
                mix_hash(mix_hash(5, row), f->label[flow->from]);
        }
        for (int j = 0; j < x->n; j++)
            if (f->branch[j] != TRUNK)
                f->label[j] = f->next[j];
    }
    return sort_ops(f, err);
}

mo_status mo_exact_symmetry_find(const mo_instance *x,
                                 const unsigned char *reaches,
                                 mo_exact_symmetry *symmetry, mo_error *err)
{
    size_t n = (size_t) x->n + 1;
    detector f = { .x = x };
    int *space = malloc(5 * n * sizeof *space);
    mo_status status = MO_OK;

    *symmetry = (mo_exact_symmetry){ 0 };
    symmetry->space = calloc(3 * (n + 1), sizeof *symmetry->space);
    f.label = malloc(2 * n * sizeof *f.label);
    if (!space || !f.label || !symmetry->space) {
        status = mo_fail_memory(err);
    } else {
        f.next = f.label + n;
        f.branch = space;
        f.ops = space + n;
        f.start = space + 2 * n;
        f.class = space + 3 * n;
        f.place = space + 4 * n;
        symmetry->class = symmetry->space;
        symmetry->start = symmetry->space + n + 1;
        symmetry->ops = symmetry->space + 2 * (n + 1);
        status = find_and_sort_branches(&f, reaches, err);
    }
    if (status == MO_OK && find_classes(&f) > 0) {
        symmetry->start[0] = 0;
        for (int a = 0; a < f.n_branches; a++) {
            bool alone = true;

            for (int b = a + 1; b < f.n_branches; b++)
                alone = alone && f.class[b] != a;
            for (int b = a; b < f.n_branches && !alone; b++)
                if (f.class[b] == a) {
                    int count = f.start[b + 1] - f.start[b];

                    symmetry->class[symmetry->n] = f.class[b];
                    memcpy(symmetry->ops + symmetry->start[symmetry->n],
                           f.ops + f.start[b],
                           (size_t) count * sizeof *symmetry->ops);
                    symmetry->start[symmetry->n + 1] =
                        symmetry->start[symmetry->n] + count;
                    symmetry->n++;
                }
        }
    }
    free(f.label);
    free(space);
    return status;
}

void mo_exact_symmetry_clear(mo_exact_symmetry *symmetry)
{
    free(symmetry->space);
    *symmetry = (mo_exact_symmetry){ 0 };
}
