/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/period/subset_pricing.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/bound/bundle_method.h"

enum {
    RECENT = 64,       /* sets kept */
    FIRST_PASSES = 24, /* of the relaxation */
    LATER_PASSES = 6,  /* that begin at the multipliers of the last */
    MAX_FACTOR = 4,    /* totals, of the multiplier of a limit */
    TOLERANCE = 4000,  /* a part in it of a value more is not looked for */
    FIRST_LABELS = 32,
    WIDENING = 4,
    LABEL_WORK = 64, /* arcs of the relaxation that take as long as a label */
    MAX_LEVELS = 12,
    MAX_STATES = 60000,
    MAX_COMPARED = 64 /* labels of a node that another is compared with */
};

#define EXCLUDED (-(INT64_C(1) << 61))

/* A path to a node. */
typedef struct mo_subset_label {
    int node, step; /* the last of its steps, or -1 */
    bool in;        /* the last decision; its step is made when it is kept */
    int64_t value, bound;
    mo_subset_use use;
} label;

typedef struct mo_subset_step {
    int before; /* or -1 */
    bool in;
} step;

static const int64_t *capacities(const mo_subset_pricing *p)
{
    return &p->graph->units->capacity[p->class * MO_SUBSET_LIMITS];
}

/* Parts of the capacity of ports that are used, rounded down. */
static int port_level(const mo_subset_pricing *p, int limit, int64_t use)
{
    double capacity = (double) capacities(p)[limit];

    return p->n_levels == 1 || capacities(p)[limit] == INT64_MAX || use <= 0
               ? 0
               : (int) ((double) use / capacity * (p->n_levels - 1) *
                        (1 - 1e-9));
}

mo_status mo_subset_pricing_init(mo_subset_pricing *p, const mo_subset_graph *g,
                                 int class, mo_error *err)
{
    size_t n = (size_t) g->n + 1, n_nodes = (size_t) g->start[g->n];

    *p = (mo_subset_pricing){ .graph = g, .class = class };

    /* As many levels as the size of the graph allows. */
    double count = p->graph->start[p->graph->n] + 1;

    p->n_levels = MAX_LEVELS;
    while (p->n_levels > 1 && count * p->n_levels * p->n_levels > MAX_STATES)
        p->n_levels--;
    p->rest =
        calloc((n_nodes + 1) * (size_t) p->n_levels * (size_t) p->n_levels,
               sizeof *p->rest);
    p->level = calloc(2 * n_nodes + 1, sizeof *p->level);
    p->chosen = calloc(n, sizeof *p->chosen);
    p->recent = calloc(n * RECENT, sizeof *p->recent);
    if (!p->rest || !p->level || !p->chosen || !p->recent)
        return mo_fail_memory(err);
    for (size_t i = 0; i < 2 * n_nodes; i++) {
        const mo_subset_use *use =
            mo_subset_graph_use(g, class, (int) (i / 2), i % 2);

        if (use->of[MO_SUBSET_LOAD] >= 0)
            p->level[i] =
                (uint16_t) (port_level(p, MO_SUBSET_IN, use->of[MO_SUBSET_IN]) *
                                p->n_levels +
                            port_level(p, MO_SUBSET_OUT,
                                       use->of[MO_SUBSET_OUT]));
    }
    return MO_OK;
}

void mo_subset_pricing_clear(mo_subset_pricing *p)
{
    free(p->rest);
    free(p->level);
    free(p->chosen);
    free(p->recent);
    free(p->labels);
    free(p->ahead);
    free(p->steps);
    *p = (mo_subset_pricing){ 0 };
}

/* Value of a decision less what it uses at the multipliers. */
static int64_t reduced_value(const mo_subset_pricing *p, int layer, int node,
                             int in)
{
    const mo_subset_use *use =
        mo_subset_graph_use(p->graph, p->class, node, in);
    int64_t value = in ? p->value[p->graph->unit[layer]] : 0;

    if (use->of[MO_SUBSET_LOAD] < 0)
        return EXCLUDED;
    for (int l = 0; l < MO_SUBSET_LIMITS; l++)
        value -= p->multiplier[l] * use->of[l];
    return value;
}

/* Sets rest of a node, for all levels of its ports. */
static void relax_node(mo_subset_pricing *p, int layer, int v)
{
    int L = p->n_levels;
    int64_t *most = p->rest + (int64_t) v * L * L;

    for (int i = 0; i < L * L; i++)
        most[i] = EXCLUDED;
    for (int in = 0; in < 2; in++) {
        const int64_t *rest =
            p->rest + (int64_t) p->graph->next[2 * v + in] * L * L;
        int64_t reduced = reduced_value(p, layer, v, in);
        int level = p->level[2 * v + in];

        if (reduced == EXCLUDED)
            continue;
        for (int i = 0; i < L - level / L; i++)
            for (int o = 0; o < L - level % L; o++) {
                int64_t ahead = rest[i * L + o + level];

                if (ahead > EXCLUDED)
                    most[i * L + o] =
                        mo_max_i64(most[i * L + o], ahead + reduced);
            }
    }
}

/* Sets multipliers, and rest, from the last layer to the first. */
static void relax_limits(mo_subset_pricing *p, const double *factor)
{
    const mo_subset_graph *g = p->graph;
    int L = p->n_levels;

    p->constant = 0;
    for (int l = 0; l < MO_SUBSET_LIMITS; l++) {
        int64_t capacity = capacities(p)[l];
        double f = factor[l] < MAX_FACTOR ? factor[l] : MAX_FACTOR;

        p->multiplier[l] =
            capacity == INT64_MAX || capacity <= 0
                ? 0
                : (int64_t) (f * (double) MO_SUBSET_TOTAL / (double) capacity);
        if (p->multiplier[l] > 0)
            p->constant += p->multiplier[l] * capacity;
    }
    for (int i = 0; i < L * L; i++)
        p->rest[(int64_t) g->start[g->n] * L * L + i] = 0;
    for (int layer = g->n - 1; layer >= 0; layer--)
        for (int v = g->start[layer]; v < g->start[layer + 1]; v++)
            relax_node(p, layer, v);
    p->work += 2 * (int64_t) g->start[g->n] * L * L;
}

static void keep_set(mo_subset_pricing *p, const bool *set, int64_t value)
{
    if (value <= p->chosen_value)
        return;
    p->chosen_value = value;
    memcpy(p->chosen, set, (size_t) p->graph->n * sizeof *set);
}

/* Returns rest of a node after an arc of those levels. */
static int64_t most_ahead(const mo_subset_pricing *p, int node, int level,
                          int arc_level)
{
    int L = p->n_levels;

    if (level / L + arc_level / L >= L || level % L + arc_level % L >= L)
        return EXCLUDED;
    return p->rest[(int64_t) node * L * L + level + arc_level];
}

/* The set of most reduced value; it is kept if it is within the limits. */
static void trace_relaxed(mo_subset_pricing *p, bool *set, mo_subset_use *sum)
{
    const mo_subset_graph *g = p->graph;
    int64_t value = 0;
    int L = p->n_levels;
    bool fits = true;

    *sum = (mo_subset_use){ { 0 } };
    for (int layer = 0, v = 0, level = 0; layer < g->n; layer++) {
        int64_t out = reduced_value(p, layer, v, 0);
        int64_t rest = most_ahead(p, g->next[2 * v], level, p->level[2 * v]);
        int in = out == EXCLUDED || rest == EXCLUDED ||
                 p->rest[(int64_t) v * L * L + level] > out + rest;
        const mo_subset_use *use = mo_subset_graph_use(g, p->class, v, in);

        set[g->unit[layer]] = in;
        value += in ? p->value[g->unit[layer]] : 0;
        for (int l = 0; l < MO_SUBSET_LIMITS; l++)
            sum->of[l] += use->of[l];
        level += p->level[2 * v + in];
        v = g->next[2 * v + in];
    }
    for (int l = 0; l < MO_SUBSET_LIMITS; l++)
        fits = fits && sum->of[l] <= capacities(p)[l];
    if (fits)
        keep_set(p, set, value);
}

typedef struct relaxation {
    mo_subset_pricing *p;
    bool *set; /* by unit */
} relaxation;

/* Minus the bound of the relaxation, in totals. */
static void evaluate_factors(void *context, const double *factor, double *value,
                             double *gradient)
{
    relaxation *r = context;
    mo_subset_pricing *p = r->p;
    mo_subset_use sum;

    relax_limits(p, factor);
    trace_relaxed(p, r->set, &sum);
    *value = -(double) (p->rest[0] + p->constant) / (double) MO_SUBSET_TOTAL;
    for (int l = 0; l < MO_SUBSET_LIMITS; l++)
        gradient[l] = p->multiplier[l] == 0 && factor[l] > 0
                          ? 0
                          : (double) sum.of[l] /
                                    (double) mo_max_i64(capacities(p)[l], 1) -
                                1;
}

static mo_status choose_factors(mo_subset_pricing *p, mo_error *err)
{
    bool is_first = p->factor[MO_SUBSET_LOAD] == 0;
    bool *set = calloc((size_t) p->graph->n + 1, sizeof *set);
    relaxation r = { p, set };
    const mo_bundle_problem problem = { .n = MO_SUBSET_LIMITS,
                                        .evaluate = evaluate_factors,
                                        .context = &r,
                                        .max_evaluations = is_first
                                                               ? FIRST_PASSES
                                                               : LATER_PASSES,
                                        .tolerance = 1e-5 };
    double value;
    mo_status status;

    if (!set)
        return mo_fail_memory(err);
    if (is_first)
        p->factor[MO_SUBSET_LOAD] = 0.2;
    status = mo_bundle_maximize(&problem, p->factor, &value, err);
    if (status == MO_OK)
        relax_limits(p, p->factor);
    free(set);
    return status;
}

/* Extends the label by a decision; returns whether it is within the limits. */
static bool extend_label(const mo_subset_pricing *p, int layer,
                         const label *from, int in, label *to)
{
    const mo_subset_graph *g = p->graph;
    const mo_subset_use *use = mo_subset_graph_use(g, p->class, from->node, in);

    if (use->of[MO_SUBSET_LOAD] < 0)
        return false;
    *to = *from;
    to->in = in;
    to->node = g->next[2 * from->node + in];
    to->value += in ? p->value[g->unit[layer]] : 0;
    for (int l = 0; l < MO_SUBSET_LIMITS; l++) {
        to->use.of[l] += use->of[l];
        if (to->use.of[l] > capacities(p)[l])
            return false;
    }

    int64_t rest = most_ahead(
        p, to->node,
        port_level(p, MO_SUBSET_IN, to->use.of[MO_SUBSET_IN]) * p->n_levels,
        port_level(p, MO_SUBSET_OUT, to->use.of[MO_SUBSET_OUT]));
    int64_t bound = to->value + rest + p->constant;

    if (rest == EXCLUDED) {
        to->bound = EXCLUDED;
    } else {
        for (int i = 0; i < MO_SUBSET_LIMITS; i++)
            bound -= p->multiplier[i] * to->use.of[i];
        to->bound = bound;
    }
    return to->bound > EXCLUDED;
}

/* By node, then by decreasing value, then by use. */
static int compare_labels(const void *a, const void *b)
{
    const label *l = a, *m = b;

    if (l->node != m->node)
        return l->node < m->node ? -1 : 1;
    if (l->value != m->value)
        return l->value > m->value ? -1 : 1;
    for (int i = 0; i < MO_SUBSET_LIMITS; i++)
        if (l->use.of[i] != m->use.of[i])
            return l->use.of[i] < m->use.of[i] ? -1 : 1;
    return l->step != m->step ? (l->step < m->step ? -1 : 1)
                              : (int) l->in - (int) m->in;
}

static int compare_bounds(const void *a, const void *b)
{
    const label *l = a, *m = b;

    if (l->bound != m->bound)
        return l->bound > m->bound ? -1 : 1;
    return compare_labels(a, b);
}

/* Of equal or more value, and of no more use. */
static bool dominates(const label *a, const label *b)
{
    for (int l = 0; l < MO_SUBSET_LIMITS; l++)
        if (a->use.of[l] > b->use.of[l])
            return false;
    return a->value >= b->value;
}

/* Makes the labels ahead those of the layer; *dropped is raised to the largest
 * bound of those that are too many. */
static mo_status select_labels(mo_subset_pricing *p, size_t n, int max_labels,
                               int64_t *dropped, mo_error *err)
{
    label *swap = p->labels;
    size_t room = p->label_room;

    qsort(p->ahead, n, sizeof *p->ahead, compare_labels);
    /* Removes dominated labels of the sorted array. */
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        bool is_dominated = false;
        int compared = 0;

        for (size_t j = kept;
             j > 0 && p->ahead[j - 1].node == p->ahead[i].node &&
             !is_dominated && compared < MAX_COMPARED;
             j--, compared++)
            is_dominated = dominates(&p->ahead[j - 1], &p->ahead[i]);
        if (!is_dominated)
            p->ahead[kept++] = p->ahead[i];
    }
    n = kept;
    if (n > (size_t) max_labels) {
        qsort(p->ahead, n, sizeof *p->ahead, compare_bounds);
        *dropped = mo_max_i64(*dropped, p->ahead[max_labels].bound);
        n = (size_t) max_labels;
    }
    p->labels = p->ahead;
    p->label_room = p->ahead_room;
    p->ahead = swap;
    p->ahead_room = room;
    p->n_labels = n;
    for (size_t i = 0; i < n; i++) {
        label *l = &p->labels[i];
        mo_status status =
            MO_ARRAY_GROW(p->steps, p->n_steps, p->step_room, err);

        if (status != MO_OK)
            return status;
        p->steps[p->n_steps] = (step){ l->step, l->in };
        l->step = (int) p->n_steps++;
    }
    return MO_OK;
}

/* Sets *most, unless p->stop is reached before; labels that do not exceed cut
 * are not followed. */
static mo_status run_labels(mo_subset_pricing *p, int max_labels, int64_t cut,
                            int64_t *most, mo_error *err)
{
    const mo_subset_graph *g = p->graph;
    int64_t dropped = 0;
    mo_status status = MO_ARRAY_GROW(p->labels, 0, p->label_room, err);

    if (status != MO_OK)
        return status;
    p->n_steps = 0;
    p->n_labels = 1;
    p->labels[0] = (label){ .node = 0, .step = -1 };
    for (int layer = 0; layer < g->n && status == MO_OK; layer++) {
        size_t n = 0;

        if (mo_stop_reached(p->stop))
            return MO_OK;
        status = mo_array_reserve((void **) &p->ahead, &p->ahead_room,
                                  2 * p->n_labels + 1, sizeof *p->ahead, err);
        for (size_t i = 0; i < 2 * p->n_labels && status == MO_OK; i++)
            if (extend_label(p, layer, &p->labels[i / 2], i % 2,
                             &p->ahead[n]) &&
                p->ahead[n].bound > cut)
                n++;
        p->work += LABEL_WORK * 2 * (int64_t) p->n_labels;
        if (status == MO_OK)
            status = select_labels(p, n, max_labels, &dropped, err);
    }
    for (size_t i = 0; i < p->n_labels && status == MO_OK; i++)
        if (p->labels[i].value > p->chosen_value) {
            int layer = p->graph->n;

            p->chosen_value = p->labels[i].value;
            for (int s = p->labels[i].step; s >= 0 && layer > 0;
                 s = p->steps[s].before)
                p->chosen[p->graph->unit[--layer]] = p->steps[s].in;
        }
    *most = mo_max_i64(mo_max_i64(cut, dropped), p->chosen_value);
    return status;
}

mo_status mo_subset_price(mo_subset_pricing *p, const int64_t *value,
                          int64_t enough, int max_labels, int64_t *most,
                          mo_error *err)
{
    size_t n = (size_t) p->graph->n;
    mo_status status;

    p->value = value;
    p->chosen_value = 0; /* of no unit */
    memset(p->chosen, 0, n * sizeof *p->chosen);
    for (int i = 0; i < p->n_recent; i++) {
        const bool *set = p->recent + (size_t) i * n;
        int64_t sum = 0;

        for (int u = 0; u < p->graph->n; u++)
            sum += set[u] ? p->value[u] : 0;
        keep_set(p, set, sum);
    }
    *most = INT64_MAX;
    status = p->chosen_value < enough ? choose_factors(p, err) : MO_OK;
    for (int width = FIRST_LABELS;
         width <= max_labels && status == MO_OK && p->chosen_value < enough;
         width *= WIDENING) {
        int64_t cut = p->chosen_value + p->chosen_value / TOLERANCE;

        if (enough < INT64_MAX)
            cut = mo_max_i64(cut, enough - 1);
        if (*most <= cut)
            break;
        status = run_labels(p, width, cut, most, err);
    }
    if (status != MO_OK)
        return status;
    memcpy(p->recent + (size_t) p->next_recent * n, p->chosen,
           n * sizeof *p->chosen);
    p->next_recent = (p->next_recent + 1) % RECENT;
    p->n_recent = mo_min_int(p->n_recent + 1, RECENT);
    return MO_OK;
}
