/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Placeto's policy network: graph embedding by message passing, and the
 * distribution over devices.
 */
#include <math.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "schedule/heuristic/mean_cost.h"
#include "solvers/search/rl/features.h"
#include "solvers/search/rl/placeto.h"

void mo_rl_adjacency_clear(mo_rl_adjacency *lists)
{
    free(lists->start);
    free(lists->list);
    *lists = (mo_rl_adjacency){ 0 };
}

void mo_rl_ancestors_clear(mo_rl_ancestors *reach)
{
    mo_rl_adjacency_clear(&reach->before);
    mo_rl_adjacency_clear(&reach->after);
    mo_rl_adjacency_clear(&reach->incomparable);
}

/* Band matrix of reachability, by vertex: [window - d] whether the vertex d
 * before it is an ancestor. */
typedef struct reach_band {
    int n, window;
    bool *rows;
} reach_band;

static bool *band_row(const reach_band *m, int v)
{
    return m->rows + (size_t) v * (size_t) (m->window + 1);
}

static bool is_before(const reach_band *m, int u, int v)
{
    return v - u <= m->window && band_row(m, v)[m->window - (v - u)];
}

typedef enum relation { ANCESTOR, DESCENDANT, INCOMPARABLE } relation;

static bool is_related(const reach_band *m, relation wanted, int v, int other)
{
    bool before = other < v && is_before(m, other, v);
    bool after = other > v && is_before(m, v, other);

    switch (wanted) {
    case ANCESTOR:
        return before;
    case DESCENDANT:
        return after;
    case INCOMPARABLE:
        break;
    }
    return other != v && !before && !after;
}

static int first_near(const reach_band *m, int v)
{
    return v > m->window ? v - m->window : 0;
}

static int last_near(const reach_band *m, int v)
{
    return m->n - 1 - v > m->window ? v + m->window : m->n - 1;
}

static mo_status build_list(const reach_band *m, relation wanted,
                            mo_rl_adjacency *lists, mo_error *err)
{
    int64_t n = 0;

    lists->start = calloc((size_t) m->n + 1, sizeof *lists->start);
    if (!lists->start)
        return mo_fail_memory(err);
    for (int v = 0; v < m->n; v++) {
        for (int u = first_near(m, v); u <= last_near(m, v); u++)
            n += is_related(m, wanted, v, u);
        lists->start[v + 1] = (int) n;
    }
    lists->list = calloc((size_t) n + 1, sizeof *lists->list);
    if (!lists->list)
        return mo_fail_memory(err);
    n = 0;
    for (int v = 0; v < m->n; v++)
        for (int u = first_near(m, v); u <= last_near(m, v); u++)
            if (is_related(m, wanted, v, u))
                lists->list[n++] = u;
    return MO_OK;
}

mo_status mo_rl_ancestors_init(int n, const mo_rl_adjacency *parents,
                               int window, mo_rl_ancestors *reach,
                               mo_error *err)
{
    reach_band m = { .n = n, .window = window };
    mo_status status = MO_OK;

    m.rows = calloc((size_t) n * ((size_t) window + 1) + 1, sizeof *m.rows);
    if (!m.rows)
        return mo_fail_memory(err);
    for (int v = 0; v < n; v++)
        for (int k = parents->start[v]; k < parents->start[v + 1]; k++) {
            /* All ancestors of a parent are ancestors of v, within the window.
             */
            int parent = parents->list[k];
            int far = v - parent;
            bool *row = band_row(&m, v);
            const bool *from = band_row(&m, parent);

            if (far <= 0 || far > m.window)
                continue;
            row[m.window - far] = true;
            for (int i = far; i <= m.window; i++)
                row[i - far] |= from[i];
        }
    status = build_list(&m, ANCESTOR, &reach->before, err);
    if (status == MO_OK)
        status = build_list(&m, DESCENDANT, &reach->after, err);
    if (status == MO_OK)
        status = build_list(&m, INCOMPARABLE, &reach->incomparable, err);
    free(m.rows);
    return status;
}

/* List i of n becomes list which[i] of from, with by[i] added to its
 * vertices. */
static mo_status remap_adjacency(const mo_rl_adjacency *from, int n,
                                 const int *which, const int *by,
                                 mo_rl_adjacency *to, mo_error *err)
{
    int64_t at = 0;

    for (int i = 0; i < n; i++)
        at += from->start[which[i] + 1] - from->start[which[i]];
    to->start = calloc((size_t) n + 1, sizeof *to->start);
    to->list = calloc((size_t) at + 1, sizeof *to->list);
    if (!to->start || !to->list)
        return mo_fail_memory(err);
    at = 0;
    for (int i = 0; i < n; i++) {
        for (int k = from->start[which[i]]; k < from->start[which[i] + 1]; k++)
            to->list[at++] = from->list[k] + by[i];
        to->start[i + 1] = (int) at;
    }
    return MO_OK;
}

/* Limit on pairs of units (mo_rl_ancestors_init). */
enum { MAX_PAIRS = 1 << 22 };

/* Edges between units, those of one unit left out, each with its multiplicity:
 * parallel edges carry more weight. */
static mo_status list_neighbours(const mo_rl_placeto *p, bool parents,
                                 mo_rl_adjacency *lists, mo_error *err)
{
    const mo_instance *x = p->task->x;
    const int *of = p->units->of_op;
    int *at;

    lists->start = calloc((size_t) p->n + 2, sizeof *lists->start);
    lists->list = calloc((size_t) x->n_flows + 1, sizeof *lists->list);
    at = calloc((size_t) p->n + 2, sizeof *at);
    if (!lists->start || !lists->list || !at) {
        free(at);
        return mo_fail_memory(err);
    }
    for (int q = 0; q < x->n_flows; q++) {
        int u = of[x->flows[q].from], v = of[x->flows[q].to];

        if (u != v)
            lists->start[(parents ? v : u) + 1]++;
    }
    for (int u = 0; u < p->n; u++)
        at[u + 1] = lists->start[u + 1] += lists->start[u];
    for (int q = 0; q < x->n_flows; q++) {
        int u = of[x->flows[q].from], v = of[x->flows[q].to];

        if (u != v)
            lists->list[at[parents ? v : u]++] = parents ? u : v;
    }
    free(at);
    return MO_OK;
}

static mo_status compute_fixed_features(mo_rl_placeto *p, mo_error *err)
{
    const mo_instance *x = p->task->x;
    double mean = mo_rl_mean_unit_ns(x, p->units);
    int64_t *rows = NULL;
    mo_status status = mo_mean_cost_rows(x, &rows, err);

    p->fixed =
        calloc((size_t) p->n * (size_t) p->n_features + 1, sizeof *p->fixed);
    if (status == MO_OK && !p->fixed)
        status = mo_fail_memory(err);
    for (int u = 0; u < p->n && status == MO_OK; u++) {
        mo_rl_real *to = p->fixed + (size_t) u * (size_t) p->n_features;
        double sends = 0;

        for (int k = 0; k < p->n_devices; k++)
            to[k] = mo_rl_log_scaled(mo_rl_unit_ns(x, p->units, u, k), mean);
        for (int j = p->units->start[u]; j < p->units->start[u + 1]; j++) {
            int op = p->units->ops[j];

            for (int q = x->out_start[op]; q < x->out_start[op + 1]; q++)
                sends +=
                    (double) mo_mean_cost_flow_ns(x, &p->task->regime, rows, q);
        }
        to[p->n_devices] = mo_rl_log_scaled(sends, mean);
    }
    free(rows);
    return status;
}

mo_status mo_rl_placeto_init_features(mo_rl_placeto *placeto, mo_error *err)
{
    int window = MAX_PAIRS / (placeto->n + 1);
    mo_rl_adjacency parents = { 0 }, children = { 0 };
    mo_status status = list_neighbours(placeto, true, &parents, err);

    if (status == MO_OK)
        status = list_neighbours(placeto, false, &children, err);
    if (status == MO_OK)
        status = mo_rl_ancestors_init(placeto->n, &parents,
                                      window < placeto->n ? window : placeto->n,
                                      &placeto->near, err);
    if (status == MO_OK) {
        /* Parts in one training batch use a copy of the graph each. */
        size_t room = (size_t) placeto->n * (size_t) placeto->batch_parts + 1;
        int *which = calloc(room, sizeof *which),
            *by = calloc(room, sizeof *by);
        int n = placeto->n * placeto->batch_parts;
        status = which && by ? MO_OK : mo_fail_memory(err);

        for (int i = 0; i < n && status == MO_OK; i++) {
            which[i] = i % placeto->n;
            by[i] = i - which[i];
        }
        if (status == MO_OK)
            status =
                remap_adjacency(&parents, n, which, by, &placeto->parents, err);
        if (status == MO_OK)
            status = remap_adjacency(&children, n, which, by,
                                     &placeto->children, err);
        for (int c = 0; c < placeto->n_parts && status == MO_OK; c++)
            for (int u = placeto->first[c]; u < placeto->first[c + 1]; u++)
                by[u] = c % placeto->batch_parts * placeto->n;
        if (status == MO_OK && placeto->batch_parts > 1) {
            int count = placeto->n;

            status = remap_adjacency(&placeto->near.before, count, which, by,
                                     &placeto->near_together.before, err);

            if (status == MO_OK)
                status = remap_adjacency(&placeto->near.after, count, which, by,
                                         &placeto->near_together.after, err);
            if (status == MO_OK)
                status = remap_adjacency(
                    &placeto->near.incomparable, count, which, by,
                    &placeto->near_together.incomparable, err);
        }
        free(which);
        free(by);
    }
    mo_rl_adjacency_clear(&parents);
    mo_rl_adjacency_clear(&children);

    return status == MO_OK ? compute_fixed_features(placeto, err) : status;
}

/* Width of an embedding; of the layer before the last. */
enum { WIDTH = 8, HIDDEN = 32, ROUNDS = 8 };

/* Features of a unit behind its times; then its device. */
enum { SENDS, STARTS, VISITED, IS_NEXT };

/* Layers; for each direction one for messages and one for their aggregate. */
enum {
    EMBED,
    MESSAGE,
    AGGREGATE = MESSAGE + 2,
    POOL = AGGREGATE + 2,
    HIDDEN_LAYER,
    OUTPUT,
    LAYERS
};

_Static_assert((int) LAYERS == (int) MO_RL_PLACETO_LAYERS,
               "a layer has no place");

/* Logit of an excluded choice. */
static const double excluded_logit = -1e9;

typedef struct layer_shape {
    const char *name;
    int rows, cols;
} layer_shape;

mo_status mo_rl_placeto_init_params(mo_rl_placeto *placeto, uint64_t seed,
                                    mo_error *err)
{
    const layer_shape layers[LAYERS] = {
        { "into", placeto->n_features, WIDTH },
        { "say-down", WIDTH, WIDTH },
        { "say-up", WIDTH, WIDTH },
        { "hear-down", WIDTH, WIDTH },
        { "hear-up", WIDTH, WIDTH },
        { "pool", 2 * WIDTH, WIDTH },
        { "think", 5 * WIDTH, HIDDEN },
        { "choose", HIDDEN, placeto->n_devices },
    };
    mo_status status = MO_OK;

    for (int i = 0; i < LAYERS && status == MO_OK; i++)
        status = mo_rl_dense_add(&placeto->layers[i], &placeto->weights,
                                 layers[i].name, layers[i].rows, layers[i].cols,
                                 seed, err);
    return status;
}

void mo_rl_placeto_features(const mo_rl_placeto *placeto, const int *device,
                            int c, int64_t *scratch, mo_rl_real *features)
{
    const mo_rl_placeto *p = placeto;

    /* scratch: earliest start of each op without contention for devices or
     * ports, the longest path; last: the last end. */
    const mo_instance *x = p->task->x;
    int64_t last = 1;

    for (int i = 0; i < x->n; i++) {
        int at = device[p->units->of_op[i]];

        scratch[i] = 0;
        for (int q = x->in_start[i]; q < x->in_start[i + 1]; q++) {
            int flow = x->in_flows[q], from = x->flows[flow].from;
            int there = device[p->units->of_op[from]];
            int64_t ready = scratch[from] + mo_instance_p_ns(x, from, there) +
                            mo_instance_flow_ns(x, flow, there, at);

            if (ready > scratch[i])
                scratch[i] = ready;
        }
        if (scratch[i] + mo_instance_p_ns(x, i, at) > last)
            last = scratch[i] + mo_instance_p_ns(x, i, at);
    }
    int k = p->n_devices;

    memcpy(features, p->fixed,
           (size_t) p->n * (size_t) p->n_features * sizeof *features);
    for (int u = 0; u < p->n; u++, features += p->n_features) {
        int op = p->units->ops[p->units->start[u]];

        features[k + MO_RL_PLACETO_UNIT_FEATURES + device[u]] = 1;
        features[k + STARTS] = (mo_rl_real) scratch[op] / (mo_rl_real) last;
        features[k + VISITED] = (mo_rl_real) (u < p->first[c]);
        features[k + IS_NEXT] =
            (mo_rl_real) (p->first[c] <= u && u < p->first[c + 1]);
    }
}

static mo_rl_var apply_layer(const mo_rl_placeto *p, mo_rl_tape *t, mo_rl_var a,
                             int which)
{
    return mo_rl_dense_relu(&p->layers[which], t, a);
}

/* Message passing: embeddings after ROUNDS rounds of aggregation over
 * neighbours. */
static mo_rl_var pass_messages(const mo_rl_placeto *p, mo_rl_tape *t,
                               mo_rl_var first, const mo_rl_adjacency *from,
                               int way)
{
    int rows = mo_rl_tape_rows(t, first);
    mo_rl_var is = first;

    for (int round = 0; round < ROUNDS; round++) {
        mo_rl_var said = apply_layer(p, t, is, MESSAGE + way);
        mo_rl_var heard =
            mo_rl_tape_segment_sum(t, said, from->start, from->list, rows);

        is =
            mo_rl_tape_add(t, first, apply_layer(p, t, heard, AGGREGATE + way));
    }
    return is;
}

/* Parts under evaluation: many of them from c on, units first, ..., first + n
 * - 1. */
typedef struct part_range {
    int c, many;
    int first, n;
    const mo_rl_ancestors *near;
} part_range;

/* Pooling: the scaled sum over some of the units for each under evaluation;
 * the scale keeps it independent of the size of the graph. */
static mo_rl_var pool_units(const mo_rl_placeto *p, mo_rl_tape *t, mo_rl_var of,
                            const mo_rl_adjacency *lists, const part_range *at)
{
    mo_rl_var sum = mo_rl_tape_segment_sum(t, of, lists->start + at->first,
                                           lists->list, at->n);

    return mo_rl_tape_scale(t, sum, 1 / sqrt((double) p->n));
}

static mo_rl_var gather_parts(const mo_rl_placeto *p, mo_rl_tape *t,
                              mo_rl_var a, const part_range *at)
{
    int *rows = malloc(((size_t) at->n + 1) * sizeof *rows);
    mo_rl_var part;

    if (!rows)
        return mo_rl_tape_fail(t);
    for (int j = 0; j < at->many; j++)
        for (int u = p->first[at->c + j]; u < p->first[at->c + j + 1]; u++)
            rows[u - at->first] = j * p->n + u;
    part = mo_rl_tape_gather_rows(t, a, rows, at->n);
    free(rows);
    return part;
}

/* Adds the mask of excluded devices and the initial logits. */
static mo_rl_var add_mask(const mo_rl_placeto *p, mo_rl_tape *t,
                          mo_rl_var logits, const mo_rl_real *features,
                          const part_range *at)
{
    int k = p->n_devices;
    mo_rl_real *mask = calloc((size_t) at->n * (size_t) k + 1, sizeof *mask);
    mo_rl_var sum;

    if (!mask)
        return mo_rl_tape_fail(t);
    for (int j = 0; j < at->many; j++)
        for (int u = p->first[at->c + j]; u < p->first[at->c + j + 1]; u++) {
            const mo_rl_real *is = features +
                                   ((size_t) j * (size_t) p->n + (size_t) u) *
                                       (size_t) p->n_features +
                                   k + MO_RL_PLACETO_UNIT_FEATURES;
            mo_rl_real *to = mask + (size_t) (u - at->first) * (size_t) k;
            int pin = p->units->pin[u];

            for (int d = 0; d < k; d++)
                to[d] = pin != MO_FREE && pin != d
                            ? (mo_rl_real) excluded_logit
                            : (mo_rl_real) p->stay_logit * is[d];
        }
    sum = mo_rl_tape_add(t, logits, mo_rl_tape_constant(t, at->n, k, mask));
    free(mask);
    return sum;
}

mo_rl_var mo_rl_placeto_log_probs(const mo_rl_placeto *placeto,
                                  mo_rl_tape *tape, const mo_rl_real *features,
                                  int c, int many)
{
    const mo_rl_placeto *p = placeto;
    const part_range at = { .c = c,
                            .many = many,
                            .first = p->first[c],
                            .n = p->first[c + many] - p->first[c],
                            .near = many > 1 ? &p->near_together : &p->near };
    mo_rl_var input =
        mo_rl_tape_constant(tape, many * p->n, p->n_features, features);
    mo_rl_var first = apply_layer(p, tape, input, EMBED);
    mo_rl_var ways[2], parts[4], is, pool;

    ways[0] = pass_messages(p, tape, first, &p->parents, 0);
    ways[1] = pass_messages(p, tape, first, &p->children, 1);
    is = mo_rl_tape_concat_cols(tape, ways, 2);
    pool = apply_layer(p, tape, is, POOL);
    parts[0] = gather_parts(p, tape, is, &at);
    parts[1] = pool_units(p, tape, pool, &at.near->before, &at);
    parts[2] = pool_units(p, tape, pool, &at.near->after, &at);
    parts[3] = pool_units(p, tape, pool, &at.near->incomparable, &at);
    is = apply_layer(p, tape, mo_rl_tape_concat_cols(tape, parts, 4),
                     HIDDEN_LAYER);
    is = mo_rl_dense_linear(&p->layers[OUTPUT], tape, is);
    return mo_rl_tape_log_softmax(tape, add_mask(p, tape, is, features, &at));
}
