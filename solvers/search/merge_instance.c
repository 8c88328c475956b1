#include "solvers/search/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct maker {
    const mo_instance *whole;
    const int *cluster;
    const int64_t *rows_ns; /* mean transfer times */
    mo_instance *x;
} maker;

/* A tensor that goes from one cluster to another. */
typedef struct crossing {
    int from, tensor, to; /* clusters */
    int flow;             /* one of those in the whole */
    int64_t mean_ns;      /* what that takes on average */
} crossing;

static int compare_crossings(const void *a, const void *b)
{
    const crossing *v = a, *w = b;

    if (v->from != w->from)
        return v->from < w->from ? -1 : 1;
    if (v->tensor != w->tensor)
        return v->tensor < w->tensor ? -1 : 1;
    if (v->to != w->to)
        return v->to < w->to ? -1 : 1;
    if (v->mean_ns != w->mean_ns)
        return v->mean_ns > w->mean_ns ? -1 : 1;
    return (v->flow > w->flow) - (v->flow < w->flow);
}

/* Fills the crossings, of which there is room for every flow, and says how many
 * there are.  Of several flows of one tensor to one cluster the slowest counts.
 */
static int find_crossings(const maker *m, crossing *all)
{
    const mo_instance *whole = m->whole;
    int n = 0, kept = 0;

    for (int q = 0; q < whole->n_flows; q++) {
        const mo_flow *f = &whole->flows[q];
        int from = m->cluster[f->from], to = m->cluster[f->to];

        if (from != to)
            all[n++] = (crossing){ from, f->tensor, to, q,
                                   m->rows_ns[whole->flow_row[q]] };
    }
    qsort(all, (size_t) n, sizeof *all, compare_crossings);
    for (int i = 0; i < n; i++)
        if (i == 0 || all[i].tensor != all[i - 1].tensor ||
            all[i].to != all[i - 1].to)
            all[kept++] = all[i];
    return kept;
}

static bool reserve(maker *m)
{
    mo_instance *x = m->x;
    size_t n = (size_t) x->n, n_flows = (size_t) x->n_flows;
    mo_arena *arena = x->arena;

    x->op_names = mo_arena_array(arena, n, sizeof *x->op_names);
    x->p_ns = mo_arena_array(arena, n * (size_t) x->n_devices, sizeof *x->p_ns);
    x->memory_bytes = mo_arena_array(arena, n, sizeof *x->memory_bytes);
    x->weight_bytes = mo_arena_array(arena, n, sizeof *x->weight_bytes);
    x->pin = mo_arena_array(arena, n, sizeof *x->pin);
    x->group = mo_arena_array(arena, n, sizeof *x->group);
    x->out_start = mo_arena_array(arena, n + 1, sizeof *x->out_start);
    x->in_start = mo_arena_array(arena, n + 2, sizeof *x->in_start);
    x->flows = mo_arena_array(arena, n_flows, sizeof *x->flows);
    x->flow_row = mo_arena_array(arena, n_flows, sizeof *x->flow_row);
    x->in_flows = mo_arena_array(arena, n_flows, sizeof *x->in_flows);
    x->tensor_from = mo_arena_array(arena, n_flows, sizeof *x->tensor_from);
    x->tensor_start =
        mo_arena_array(arena, n_flows + 1, sizeof *x->tensor_start);
    x->tensor_bytes = mo_arena_array(arena, n_flows, sizeof *x->tensor_bytes);
    x->tensor_row = mo_arena_array(arena, n_flows, sizeof *x->tensor_row);
    return x->op_names && x->p_ns && x->memory_bytes && x->weight_bytes &&
           x->pin && x->group && x->out_start && x->in_start && x->flows &&
           x->flow_row && x->in_flows && x->tensor_from && x->tensor_start &&
           x->tensor_bytes && x->tensor_row;
}

static void add(int64_t *sum, int64_t more)
{
    if (!mo_int64_add(*sum, more, sum))
        *sum = INT64_MAX;
}

/* From the last to the first, so that the first gives the name. */
static void add_ops(maker *m)
{
    const mo_instance *whole = m->whole;
    mo_instance *x = m->x;

    for (int c = 0; c < x->n; c++)
        x->pin[c] = x->group[c] = MO_FREE;
    for (int i = whole->n - 1; i >= 0; i--) {
        int c = m->cluster[i];

        x->op_names[c] = whole->op_names[i];
        for (int k = 0; k < x->n_devices; k++)
            x->p_ns[(int64_t) c * x->n_devices + k] +=
                mo_instance_p_ns(whole, i, k);
        add(&x->memory_bytes[c], whole->memory_bytes[i]);
        add(&x->weight_bytes[c], whole->weight_bytes[i]);
        if (whole->pin[i] != MO_FREE)
            x->pin[c] = whole->pin[i];
        if (whole->group[i] != MO_FREE)
            x->group[c] = whole->group[i];
    }
}

static void begin_tensor(maker *m, const crossing *c, int flow)
{
    mo_instance *x = m->x;
    int t = x->n_tensors++;

    x->tensor_from[t] = c->from;
    x->tensor_start[t] = flow;
    x->tensor_bytes[t] = m->whole->tensor_bytes[c->tensor];
    x->tensor_row[t] = m->whole->tensor_row[c->tensor];
}

static void add_flows(maker *m, const crossing *all)
{
    mo_instance *x = m->x;

    x->n_tensors = 0;
    for (int q = 0; q < x->n_flows; q++) {
        const crossing *c = &all[q];

        if (q == 0 || c->tensor != all[q - 1].tensor)
            begin_tensor(m, c, q);
        x->flows[q] = (mo_flow){ c->from, c->to, x->n_tensors - 1 };
        x->flow_row[q] = m->whole->flow_row[c->flow];
        x->out_start[c->from + 1]++;
        x->in_start[c->to + 2]++;
    }
    x->tensor_start[x->n_tensors] = x->n_flows;
    for (int c = 0; c < x->n; c++) {
        x->out_start[c + 1] += x->out_start[c];
        x->in_start[c + 2] += x->in_start[c + 1];
    }
    for (int q = 0; q < x->n_flows; q++)
        x->in_flows[x->in_start[x->flows[q].to + 1]++] = q;
}

static mo_status fill(maker *m, int n, mo_error *err)
{
    mo_instance *x = m->x;
    mo_arena *arena = x->arena;
    crossing *all = malloc(((size_t) m->whole->n_flows + 1) * sizeof *all);

    if (!all)
        return mo_fail_memory(err);
    *x = *m->whole;
    x->arena = arena;
    x->n = n;
    x->n_flows = find_crossings(m, all);
    if (!reserve(m)) {
        free(all);
        return mo_fail_memory(err);
    }
    add_ops(m);
    add_flows(m, all);
    free(all);
    return MO_OK;
}

mo_status mo_merge_instance(const mo_instance *whole, const int64_t *rows_ns,
                            const int *cluster, int n, mo_instance **merged,
                            mo_error *err)
{
    maker m = { .whole = whole, .cluster = cluster, .rows_ns = rows_ns };
    mo_status status;

    m.x = calloc(1, sizeof *m.x);
    if (!m.x)
        return mo_fail_memory(err);
    m.x->arena = mo_arena_new();
    status = m.x->arena ? fill(&m, n, err) : mo_fail_memory(err);
    if (status == MO_OK)
        *merged = m.x;
    else
        mo_instance_free(m.x);
    return status;
}
