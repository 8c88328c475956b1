/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/subset_pricing.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/resource.h"
#include "solvers/search/period/unit_contraction.h"

/* Numbers of one device, in the end of one class. */
typedef struct view {
    const mo_period_problem *p;
    mo_subset_units *s;
    int64_t period_ns;
    int n_items;         /* of the problem: tensors or flows */
    int64_t total_bytes; /* 0: beyond any sum */
} view;

/* Fills to with the units, other than from, that read the item, in increasing
 * order; returns their number. */
static int list_readers(const view *v, int item, int *from, int *to)
{
    const mo_instance *x = v->p->x;
    const int *of_op = v->p->units->of_op;
    int first, end, n = 0, distinct = 0;

    mo_period_item_flows(v->p, item, &first, &end);
    *from = v->s->of_unit[of_op[x->flows[first].from]];
    for (int q = first; q < end; q++) {
        int u = v->s->of_unit[of_op[x->flows[q].to]];

        if (u != *from)
            to[n++] = u;
    }
    qsort(to, (size_t) n, sizeof *to, mo_compare_int);
    for (int i = 0; i < n; i++)
        if (i == 0 || to[i] != to[i - 1])
            to[distinct++] = to[i];
    return distinct;
}

/* Adds the times of an item of the problem, by device. */
static void add_times(const view *v, int item, mo_subset_item *to)
{
    const mo_instance *x = v->p->x;
    bool once = v->p->regime.tensors == MO_TENSORS_ONCE;
    int K = x->n_devices, tensor = once ? item : x->flows[item].tensor;

    for (int k = 0; k < K; k++) {
        int64_t in = INT64_MAX, out = INT64_MAX;

        for (int a = 0; a < K; a++) {
            if (a == k)
                continue;
            in = mo_min_i64(in, mo_period_item_ns(v->p, item, a, k));
            out = mo_min_i64(out, mo_period_item_ns(v->p, item, k, a));
        }
        to->in_ns[k] += in;
        to->out_ns[k] += out;
        to->busy_ns[k] += mo_instance_overhead_ns(x, tensor, k);
    }
}

/* A new item with no times. */
static mo_status append_item(const view *v, int from, const int *to, int n,
                             mo_error *err)
{
    size_t K = (size_t) v->p->x->n_devices;
    mo_subset_item *made = &v->s->items[v->s->n_items++];

    made->from = from;
    made->n = n;
    made->to = calloc((size_t) n + 1, sizeof *made->to);
    made->in_ns = calloc(K, sizeof *made->in_ns);
    made->out_ns = calloc(K, sizeof *made->out_ns);
    made->busy_ns = calloc(K, sizeof *made->busy_ns);
    if (!made->to || !made->in_ns || !made->out_ns || !made->busy_ns)
        return mo_fail_memory(err);
    memcpy(made->to, to, (size_t) n * sizeof *to);
    return MO_OK;
}

/* Those of equal ends are one.  last: by unit, the last item that it sends;
 * before: by item, the one before that; both from 1, 0: none. */
static mo_status list_items(view *v, int *last, int *before, int *to,
                            mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < v->n_items && status == MO_OK; i++) {
        int from, n = list_readers(v, i, &from, to), at = last[from];

        if (n == 0)
            continue;
        while (at > 0 && (v->s->items[at - 1].n != n ||
                          memcmp(v->s->items[at - 1].to, to,
                                 (size_t) n * sizeof *to) != 0))
            at = before[at - 1];
        if (at == 0) {
            status = append_item(v, from, to, n, err);
            at = v->s->n_items;
            before[at - 1] = last[from];
            last[from] = at;
        }
        if (status == MO_OK)
            add_times(v, i, &v->s->items[at - 1]);
    }
    return status;
}

/* Returns how many resources all transfers to device k, or from it, hold one
 * of: the last, or the first, of each.  0: some hold none. */
static int count_ports(const view *v, int k, bool in)
{
    int K = v->p->x->n_devices, n_ports = 0;

    for (int a = 0; a < K; a++) {
        bool known = false;

        for (int b = 0; b <= a && !known; b++) {
            int pair[2], other[2], n, m;
            const int *ids, *more;

            if (a == k || b == k)
                continue;
            n = mo_resource_list(v->p->x, v->p->regime.congestion, in ? a : k,
                                 in ? k : a, pair, &ids);
            m = mo_resource_list(v->p->x, v->p->regime.congestion, in ? b : k,
                                 in ? k : b, other, &more);
            if (n == 0 || m == 0)
                return 0;
            known = b < a && ids[in ? n - 1 : 0] == more[in ? m - 1 : 0];
        }
        n_ports += a != k && !known;
    }
    return n_ports;
}

static int64_t port_capacity(const view *v, int k, bool in)
{
    int n = count_ports(v, k, in);
    int64_t capacity;

    return n > 0 && mo_int64_mul(v->period_ns, n, &capacity) ? capacity
                                                             : INT64_MAX;
}

static void fill_device(const view *v, int k)
{
    const mo_instance *x = v->p->x;
    const mo_placement_units *units = v->p->units;
    mo_subset_units *s = v->s;
    int64_t *capacity = &s->capacity[(int64_t) k * MO_SUBSET_LIMITS];

    capacity[MO_SUBSET_LOAD] = v->period_ns;
    capacity[MO_SUBSET_IN] = port_capacity(v, k, true);
    capacity[MO_SUBSET_OUT] = port_capacity(v, k, false);
    capacity[MO_SUBSET_BYTES] = x->capacity_bytes[k] < v->total_bytes
                                    ? x->capacity_bytes[k]
                                    : INT64_MAX;
    for (int i = 0; i < x->n; i++) {
        int u = s->of_unit[units->of_op[i]];
        int64_t *p = &s->p_ns[(int64_t) u * x->n_devices + k];

        if (!mo_allowed_devices_has(&v->p->domains, i, k))
            *p = -1;
        if (*p >= 0)
            *p += mo_instance_p_ns(x, i, k);
    }
    for (int u = 0; u < s->n; u++) {
        int64_t *p = &s->p_ns[(int64_t) u * x->n_devices + k];

        if (*p > v->period_ns || s->bytes[u] > capacity[MO_SUBSET_BYTES])
            *p = -1;
    }
}

static bool are_equal(const view *v, int k, int l)
{
    const mo_subset_units *s = v->s;
    int K = v->p->x->n_devices;

    if (memcmp(&s->capacity[(int64_t) k * MO_SUBSET_LIMITS],
               &s->capacity[(int64_t) l * MO_SUBSET_LIMITS],
               MO_SUBSET_LIMITS * sizeof *s->capacity) != 0)
        return false;
    for (int u = 0; u < s->n; u++)
        if (s->p_ns[(int64_t) u * K + k] != s->p_ns[(int64_t) u * K + l])
            return false;
    for (int i = 0; i < s->n_items; i++)
        if (s->items[i].in_ns[k] != s->items[i].in_ns[l] ||
            s->items[i].out_ns[k] != s->items[i].out_ns[l] ||
            s->items[i].busy_ns[k] != s->items[i].busy_ns[l])
            return false;
    return true;
}

static void find_classes(const view *v)
{
    mo_subset_units *s = v->s;
    int K = v->p->x->n_devices;

    for (int k = 0; k < K; k++) {
        int c = 0;

        while (c < s->n_classes && !are_equal(v, k, c))
            c++;
        if (c == s->n_classes) {
            /* Numbers of device k become those of class c <= k. */
            memmove(&s->capacity[(int64_t) c * MO_SUBSET_LIMITS],
                    &s->capacity[(int64_t) k * MO_SUBSET_LIMITS],
                    MO_SUBSET_LIMITS * sizeof *s->capacity);
            for (int u = 0; u < s->n; u++)
                s->p_ns[(int64_t) u * K + c] = s->p_ns[(int64_t) u * K + k];
            for (int i = 0; i < s->n_items; i++) {
                s->items[i].in_ns[c] = s->items[i].in_ns[k];
                s->items[i].out_ns[c] = s->items[i].out_ns[k];
                s->items[i].busy_ns[c] = s->items[i].busy_ns[k];
            }
            s->n_classes++;
        }
        s->class_of[k] = c;
        s->n_devices[c]++;
    }
    for (int u = 0; u < s->n; u++) {
        bool has_device = false;

        for (int c = 0; c < s->n_classes; c++) {
            s->p_ns[(int64_t) u * s->n_classes + c] =
                s->p_ns[(int64_t) u * K + c];
            has_device |= s->p_ns[(int64_t) u * s->n_classes + c] >= 0;
        }
        s->is_infeasible |= !has_device;
    }
}

/* Returns false, with any sums, where the total cannot be counted. */
static bool sum_bytes(view *v)
{
    const mo_placement_units *units = v->p->units;

    for (int u = 0; u < units->n; u++) {
        if (!mo_int64_add(v->total_bytes, units->bytes[u], &v->total_bytes))
            return false;
        v->s->bytes[v->s->of_unit[u]] += units->bytes[u];
    }
    return true;
}

mo_status mo_subset_units_init(mo_subset_units *s, const mo_period_problem *p,
                               int64_t period_ns, const int *joined,
                               mo_error *err)
{
    const mo_instance *x = p->x;
    size_t K = (size_t) x->n_devices;
    view v = { .p = p,
               .s = s,
               .period_ns = period_ns,
               .n_items = mo_period_item_count(p) };
    mo_status status;

    *s = (mo_subset_units){ 0 };
    s->of_unit = calloc((size_t) p->units->n + 1, sizeof *s->of_unit);
    if (!s->of_unit)
        return mo_fail_memory(err);
    memcpy(s->of_unit, joined, (size_t) p->units->n * sizeof *joined);
    s->n = mo_period_contract_units(p, period_ns, s->of_unit);

    size_t n = (size_t) v.n_items + 1;
    int *last = calloc((size_t) v.s->n + 1, sizeof *last);
    int *before = calloc(n, sizeof *before);
    int *to = calloc((size_t) v.p->x->n_flows + 1, sizeof *to);
    status = MO_OK;

    v.s->items = calloc(n, sizeof *v.s->items);
    if (!last || !before || !to || !v.s->items)
        status = mo_fail_memory(err);
    else
        status = list_items(&v, last, before, to, err);
    free(last);
    free(before);
    free(to);
    if (status != MO_OK)
        return status;
    s->bytes = calloc((size_t) s->n + 1, sizeof *s->bytes);
    s->class_of = calloc(K, sizeof *s->class_of);
    s->n_devices = calloc(K, sizeof *s->n_devices);
    s->capacity = calloc(K * MO_SUBSET_LIMITS, sizeof *s->capacity);
    s->p_ns = calloc((size_t) s->n * K + 1, sizeof *s->p_ns);
    if (!s->bytes || !s->class_of || !s->n_devices || !s->capacity || !s->p_ns)
        return mo_fail_memory(err);
    if (!sum_bytes(&v))
        v.total_bytes = 0;
    for (int k = 0; k < x->n_devices; k++)
        fill_device(&v, k);
    find_classes(&v);
    return MO_OK;
}

void mo_subset_units_clear(mo_subset_units *s)
{
    for (int i = 0; i < s->n_items; i++) {
        free(s->items[i].to);
        free(s->items[i].in_ns);
        free(s->items[i].out_ns);
        free(s->items[i].busy_ns);
    }
    free(s->items);
    free(s->of_unit);
    free(s->bytes);
    free(s->class_of);
    free(s->n_devices);
    free(s->capacity);
    free(s->p_ns);
    *s = (mo_subset_units){ 0 };
}
