#include "schedule/rank.h"

#include <stdbool.h>
#include <stdlib.h>

#include "schedule/schedule.h"

typedef struct ranked {
    int64_t rank_ns;
    int op;
} ranked;

typedef struct ranker {
    const mo_instance *x;
    const mo_regime *regime;
    const int *placement;
    int64_t *mean_ns; /* by row of transfer times; NULL with a placement */
    ranked *ops;
} ranker;

static int64_t op_ns(const ranker *r, int op)
{
    int K = r->x->n_devices;
    int64_t sum_ns = 0;

    if (r->placement)
        return mo_instance_p_ns(r->x, op, r->placement[op]);
    if (r->x->pin[op] != MO_FREE)
        return mo_instance_p_ns(r->x, op, r->x->pin[op]);
    for (int k = 0; k < K; k++)
        sum_ns += mo_instance_p_ns(r->x, op, k);
    return sum_ns / K;
}

static int64_t flow_ns(const ranker *r, int flow)
{
    const mo_instance *x = r->x;
    const mo_flow *f = &x->flows[flow];
    bool once = r->regime->tensors == MO_TENSORS_ONCE;

    if (r->placement)
        return mo_schedule_item_ns(x, r->regime, once ? f->tensor : flow,
                                   r->placement[f->from], r->placement[f->to]);
    return r->mean_ns[once ? x->tensor_row[f->tensor] : x->flow_row[flow]];
}

/* Ops stand in topological order: what reads an op is ranked before it. */
static void rank(ranker *r)
{
    const mo_instance *x = r->x;

    for (int i = x->n - 1; i >= 0; i--) {
        int64_t most_ns = 0;

        for (int q = x->out_start[i]; q < x->out_start[i + 1]; q++) {
            int64_t ns = flow_ns(r, q) + r->ops[x->flows[q].to].rank_ns;

            most_ns = ns > most_ns ? ns : most_ns;
        }
        r->ops[i] = (ranked){ op_ns(r, i) + most_ns, i };
    }
}

/* How many ordered pairs of different devices there are of each kind. */
static void count_pairs(const mo_instance *x, int64_t *n_pairs)
{
    const int *kind = x->pair_kind;

    for (int a = 0; a < x->n_devices; a++)
        for (int b = 0; b < x->n_devices; b++, kind++)
            n_pairs[*kind] += a != b;
}

/* The mean of a row, rounded down; quotients and remainders by themselves, as
 * the sum may not fit. */
static int64_t mean(const int64_t *row_ns, const int64_t *n_pairs, int n_kinds,
                    int64_t n)
{
    int64_t whole_ns = 0, rest = 0;

    for (int kind = 0; kind < n_kinds; kind++) {
        whole_ns += row_ns[kind] / n * n_pairs[kind];
        rest += row_ns[kind] % n * n_pairs[kind];
    }
    return whole_ns + rest / n;
}

static mo_status find_means(ranker *r, mo_error *err)
{
    const mo_instance *x = r->x;
    int64_t *n_pairs = calloc((size_t) x->n_kinds + 1, sizeof *n_pairs);
    int64_t n = (int64_t) x->n_devices * (x->n_devices - 1);

    r->mean_ns = calloc((size_t) x->n_comm_rows + 1, sizeof *r->mean_ns);
    if (!n_pairs || !r->mean_ns) {
        free(n_pairs);
        return mo_fail_memory(err);
    }
    count_pairs(x, n_pairs);
    for (int row = 0; row < x->n_comm_rows && n > 0; row++)
        r->mean_ns[row] = mean(x->comm_ns + (int64_t) row * x->n_kinds, n_pairs,
                               x->n_kinds, n);
    free(n_pairs);
    return MO_OK;
}

static int compare_ranked(const void *a, const void *b)
{
    const ranked *v = a, *w = b;

    if (v->rank_ns != w->rank_ns)
        return v->rank_ns > w->rank_ns ? -1 : 1;
    return (v->op > w->op) - (v->op < w->op);
}

mo_status mo_rank_order(const mo_instance *x, const mo_regime *regime,
                        const int *placement, int *order, mo_error *err)
{
    ranker r = { .x = x, .regime = regime, .placement = placement };
    mo_status status = MO_OK;

    r.ops = malloc(((size_t) x->n + 1) * sizeof *r.ops);
    if (!r.ops)
        return mo_fail_memory(err);
    if (!placement)
        status = find_means(&r, err);
    if (status == MO_OK) {
        rank(&r);
        qsort(r.ops, (size_t) x->n, sizeof *r.ops, compare_ranked);
        for (int i = 0; i < x->n; i++)
            order[i] = r.ops[i].op;
    }
    free(r.mean_ns);
    free(r.ops);
    return status;
}
