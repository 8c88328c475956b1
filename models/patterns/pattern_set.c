/* SPDX-License-Identifier: Apache-2.0 */
#include "models/patterns/pattern_set.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"

mo_status mo_pattern_set_new(const mo_instance *x, double slack,
                             mo_pattern_set **set, mo_error *err)
{
    mo_pattern_set *made = calloc(1, sizeof *made);

    if (!made)
        return mo_fail_memory(err);
    made->x = x;
    made->slack = slack > 1 ? slack : 1;
    *set = made;
    return MO_OK;
}

static void clear_pattern(mo_pattern *p)
{
    free(p->device);
    free(p->start_ns);
    free(p->transfers);
    free(p->load_ns);
}

void mo_pattern_set_free(mo_pattern_set *set)
{
    if (!set)
        return;
    for (int i = 0; i < set->n; i++) {
        for (size_t j = 0; j < set->segments[i].n; j++)
            clear_pattern(&set->segments[i].patterns[j]);
        free(set->segments[i].patterns);
        free(set->segments[i].lower_ns);
    }
    free(set->segments);
    free(set->first);
    free(set->base_ns);
    free(set);
}

mo_status mo_pattern_set_cut(mo_pattern_set *set, const int *cuts, int n_cuts,
                             mo_error *err)
{
    size_t n = (size_t) n_cuts + 1;

    assert(set->n == 0);
    set->first = calloc(n + 1, sizeof *set->first);
    set->segments = calloc(n, sizeof *set->segments);
    if (!set->first || !set->segments)
        return mo_fail_memory(err);
    for (int i = 0; i < n_cuts; i++)
        set->first[i + 1] = cuts[i] + 1;
    set->first[n] = set->x->n;
    set->n = (int) n;
    return MO_OK;
}

int mo_pattern_set_entry(const mo_pattern_set *set, int segment)
{
    return segment > 0 ? set->first[segment] - 1 : MO_FREE;
}

int mo_pattern_set_exit(const mo_pattern_set *set, int segment)
{
    return segment < set->n - 1 ? set->first[segment + 1] - 1 : MO_FREE;
}

static bool is_equal(const mo_pattern *a, const mo_pattern *b, size_t n_ops)
{
    return a->from == b->from && a->to == b->to && a->ns == b->ns &&
           memcmp(a->device, b->device, n_ops * sizeof *a->device) == 0;
}

/* Returns a copy of n bytes; of NULL, n zeros. */
static void *copy_bytes(const void *from, size_t n)
{
    void *copy = calloc(1, n + 1);

    if (copy && from && n > 0)
        memcpy(copy, from, n);
    return copy;
}

mo_status mo_pattern_set_add(mo_pattern_set *set, int segment,
                             const mo_pattern *pattern, mo_error *err)
{
    mo_pattern_segment *to = &set->segments[segment];
    size_t n_ops = (size_t) (set->first[segment + 1] - set->first[segment]);
    mo_pattern copy = *pattern;
    mo_status status;

    copy.variant = 0;
    for (size_t i = 0; i < to->n; i++) {
        mo_pattern *other = &to->patterns[i];

        if (is_equal(other, pattern, n_ops)) {
            other->is_known |= pattern->is_known;
            return MO_OK;
        }
        copy.variant += other->from == copy.from && other->to == copy.to;
    }
    status = MO_ARRAY_GROW(to->patterns, to->n, to->room, err);
    if (status != MO_OK)
        return status;
    copy.device = copy_bytes(pattern->device, n_ops * sizeof *copy.device);
    copy.start_ns =
        copy_bytes(pattern->start_ns, n_ops * sizeof *copy.start_ns);
    copy.transfers =
        copy_bytes(pattern->transfers,
                   (size_t) pattern->n_transfers * sizeof *copy.transfers);
    copy.load_ns = copy_bytes(pattern->load_ns,
                              (size_t) set->n_loads * sizeof *copy.load_ns);
    if (!copy.load_ns || !copy.device || !copy.start_ns || !copy.transfers) {
        clear_pattern(&copy);
        return mo_fail_memory(err);
    }
    to->patterns[to->n++] = copy;
    return MO_OK;
}

mo_status mo_pattern_set_lower(mo_pattern_set *set, int segment,
                               const int64_t *lower_ns, mo_error *err)
{
    size_t n = (size_t) set->x->n_devices * (size_t) set->x->n_devices;
    int64_t *copy = copy_bytes(lower_ns, n * sizeof *copy);

    if (!copy)
        return mo_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        copy[i] = mo_min_i64(copy[i], MO_MAX_TOTAL_NS);
    free(set->segments[segment].lower_ns);
    set->segments[segment].lower_ns = copy;
    return MO_OK;
}
