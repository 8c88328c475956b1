/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/bound/few_ops.h"

#include <string.h>

#include "base/minmax.h"

enum { MAX_NODES = 4000, MAX_DEVICES = 64 };

typedef struct few_search {
    const mo_few_ops *s;
    int64_t rest_ns[MO_BOUND_FEW_OPS + 1]; /* least prices from here on */
    int64_t load_ns[MAX_DEVICES];
    int device[MO_BOUND_FEW_OPS];
    int *best;
    int64_t best_ns;
    int n_nodes;
} few_search;

static bool is_allowed(const few_search *f, int position, int device)
{
    return f->s->threshold_ns[position * f->s->domains->x->n_devices + device] <
           INT64_MAX;
}

/* Whether an op placed before has the same group and another device. */
static bool leaves_group(const few_search *f, int position, int device)
{
    const int *group = f->s->domains->x->group, *ops = f->s->ops;

    for (int i = 0; i < position && group[ops[position]] != MO_FREE; i++)
        if (group[ops[i]] == group[ops[position]] && f->device[i] != device)
            return true;
    return false;
}

static int64_t price_of(const few_search *f, int position, int device)
{
    return f->s->price_ns[mo_allowed_devices_index(
        f->s->domains, f->s->ops[position], device)];
}

/* Places the ops from this one on: time and price are those so far. */
static void place_from(few_search *f, int position, int64_t time_ns,
                       int64_t price_ns)
{
    const mo_instance *x = f->s->domains->x;

    if (++f->n_nodes > MAX_NODES ||
        time_ns + price_ns + f->rest_ns[position] >= f->best_ns)
        return;
    if (position == f->s->n) {
        f->best_ns = time_ns + price_ns;
        memcpy(f->best, f->device, (size_t) f->s->n * sizeof *f->best);
        return;
    }
    for (int k = 0; k < x->n_devices; k++) {
        int64_t own_ns = mo_instance_p_ns(x, f->s->ops[position], k), at_ns;

        if (!is_allowed(f, position, k) || leaves_group(f, position, k))
            continue;
        f->device[position] = k;
        f->load_ns[k] += own_ns;
        at_ns = f->s->threshold_ns[position * x->n_devices + k];
        at_ns = mo_max_i64(at_ns, f->load_ns[k]);
        place_from(f, position + 1, mo_max_i64(time_ns, at_ns),
                   price_ns + price_of(f, position, k));
        f->load_ns[k] -= own_ns;
    }
}

int64_t mo_few_ops_least(const mo_few_ops *s, int *device)
{
    few_search f = { .s = s, .best = device, .best_ns = INT64_MAX };

    if (s->domains->x->n_devices > MAX_DEVICES)
        return -1;
    for (int i = s->n - 1; i >= 0; i--) {
        int64_t least_ns = INT64_MAX;

        for (int k = 0; k < s->domains->x->n_devices; k++)
            if (is_allowed(&f, i, k))
                least_ns = mo_min_i64(least_ns, price_of(&f, i, k));
        if (least_ns == INT64_MAX)
            return -1;
        f.rest_ns[i] = f.rest_ns[i + 1] + least_ns;
    }
    place_from(&f, 0, s->least_ns, 0);
    return f.n_nodes <= MAX_NODES && f.best_ns < INT64_MAX ? f.best_ns : -1;
}
