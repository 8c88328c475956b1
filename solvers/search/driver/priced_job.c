/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedules of segments at prices of memory, as a job of the search: pricing of
 * a column generation.  Boundaries of classes are chosen by their
 * reduced cost, by which the shortest priced path becomes longer when one of
 * the class's segments has this boundary.  A better schedule of it has to save
 * more than that, and counts for all segments of the class.
 *
 * Variants of the least priced time leave devices partly empty.  Segments of
 * the incumbent are annealed once more within the bytes they have and those
 * that are left: one of these variants, or a few, fill up the devices.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "schedule/allowed_devices.h"
#include "solvers/search/decomp/compose.h"
#include "solvers/search/driver/job.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/priced_bound.h"
#include "solvers/search/driver/primal_job.h"
#include "solvers/search/primal/load_start.h"

enum {
    MAX_ITEMS = 256,       /* in a round, ... */
    FILL_SHARE = 4,        /* ... of whose work a quarter fills devices */
    MAX_LEVEL = 7,         /* of effort; of equal branches none, ... */
    LAST_GAIN_LEVEL = 5,   /* ... and no less is expected above this one */
    FIRST_WORK = 2000000,  /* ops x moves, doubles by level */
    MAX_OP_MOVES = 300,    /* of few ops: moves by op, doubles by level */
    MAX_FORK_LEVEL = 3,    /* largest effort level of annealing in segments with
                              many equal branches */
    HALVING_EVERY = 4,     /* every 4th job of such segments is successive
                              halving */
    STAY_LEVEL = 2,        /* above this level the receivers of the start are
                              kept */
    HALVING_WORK = 250000, /* ops x moves for each start of a halving */
    MAX_FILL_ITEMS = 16,   /* in a round */
    FILL_LEVEL = 1,
    MIN_MOVES = 2000,
    MIN_MOVES_MAX_OPS = 20000,
    MAX_STARTS = 4 /* classes with starts of the load bound in a round */
};

/* A job at level 0 may save this part of the priced time, half of it at the
 * next. */
#define FIRST_EXPECTED_GAIN 0.15

typedef struct option {
    int cls, boundary;
    double gain_ns;
} option;

typedef struct pricing {
    const mo_search_state *s;
    int n_states, n_boundaries;
    double *cost_ns;   /* by class and boundary: cheapest variant, INFINITY */
    double *slack_ns;  /* by class and boundary: reduced cost */
    double *before_ns; /* by segment and entry state: shortest path up to it */
    double *behind_ns; /* by exit state */
    double *swap_ns;
    int *count; /* by class: its segments */
    option *options;
    int n_options;
} pricing;

static void find_costs(pricing *p)
{
    const mo_decomp_classes *classes = p->s->classes;

    for (int i = 0; i < classes->n; i++)
        for (int b = 0; b < p->n_boundaries; b++) {
            const mo_decomp_class *cls = &classes->classes[i];
            double *cost_ns = &p->cost_ns[i * p->n_boundaries + b];

            p->slack_ns[i * p->n_boundaries + b] = INFINITY;
            if (cls->part && mo_decomp_class_cheapest_variant(classes, cls, b,
                                                              classes->price_ns,
                                                              cost_ns) >= 0)
                continue;
            *cost_ns = cls->part || cls->upper_ns[b] == INT64_MAX
                           ? INFINITY
                           : (double) cls->upper_ns[b];
        }
}

static const double *costs_of(const pricing *p, int segment)
{
    return p->cost_ns +
           (size_t) p->s->segments->cls[segment] * (size_t) p->n_boundaries;
}

/* Shortest paths from the start up to each segment. */
static void find_paths_before(pricing *p)
{
    int n = p->n_states;

    for (int a = 0; a < n; a++)
        p->before_ns[a] = a == 0 ? 0 : INFINITY;
    for (int i = 0; i + 1 < p->s->segments->n; i++) {
        const double *now = p->before_ns + (size_t) i * (size_t) n,
                     *cost = costs_of(p, i);
        double *next = p->before_ns + (size_t) (i + 1) * (size_t) n;

        for (int b = 0; b < n; b++) {
            next[b] = INFINITY;
            for (int a = 0; a < n; a++)
                next[b] = fmin(next[b], now[a] + cost[a * n + b]);
        }
    }
}

/* The reduced costs, from the last segment back; returns the length of the
 * shortest path. */
static double find_slack(pricing *p)
{
    int n = p->n_states;
    double least = INFINITY;

    for (int b = 0; b < n; b++)
        p->behind_ns[b] = b == 0 ? 0 : INFINITY;
    for (int i = p->s->segments->n - 1; i >= 0; i--) {
        const double *before = p->before_ns + (size_t) i * (size_t) n,
                     *cost = costs_of(p, i);
        double *slack = p->slack_ns + (size_t) p->s->segments->cls[i] *
                                          (size_t) p->n_boundaries;
        double *swap = p->behind_ns;

        least = INFINITY;
        for (int a = 0; a < n; a++) {
            p->swap_ns[a] = INFINITY;
            for (int b = 0; b < n; b++) {
                double way = cost[a * n + b] + p->behind_ns[b];

                p->swap_ns[a] = fmin(p->swap_ns[a], way);
                slack[a * n + b] = fmin(slack[a * n + b], before[a] + way);
            }
            least = fmin(least, before[a] + p->swap_ns[a]);
        }
        p->behind_ns = p->swap_ns;
        p->swap_ns = swap;
    }
    return least;
}

static int compare_options(const void *a, const void *b)
{
    const option *v = a, *w = b;

    if (v->gain_ns != w->gain_ns)
        return v->gain_ns > w->gain_ns ? -1 : 1;
    if (v->cls != w->cls)
        return v->cls < w->cls ? -1 : 1;
    return (v->boundary > w->boundary) - (v->boundary < w->boundary);
}

/* Returns the part of the priced time that a job may save; 0: too little.
 * Where branches are equal, jobs differ enough to go on. */
static double expected_gain_at(const pricing *p, int cls, int level)
{
    if (mo_forkjoin_has_many_equal_branches(p->s->forks[cls]))
        return FIRST_EXPECTED_GAIN / (1 << mo_min_int(level, LAST_GAIN_LEVEL));
    return level < MAX_LEVEL ? FIRST_EXPECTED_GAIN / (1 << level) : 0;
}

/* Lists the boundaries whose gain is positive, the largest first. */
static void list_options(pricing *p, double least_ns)
{
    const mo_decomp_classes *classes = p->s->classes;

    for (int i = 0; i < classes->n; i++)
        for (int b = 0; b < p->n_boundaries && classes->classes[i].part; b++) {
            int level = classes->classes[i].boundaries[b].priced_level;
            size_t at = (size_t) i * (size_t) p->n_boundaries + (size_t) b;
            double expected_gain = expected_gain_at(p, i, level);
            double gain_ns =
                expected_gain * p->cost_ns[at] - (p->slack_ns[at] - least_ns);

            if (isfinite(p->cost_ns[at]) && isfinite(p->slack_ns[at]) &&
                expected_gain > 0 && gain_ns > 0)
                p->options[p->n_options++] =
                    (option){ i, b, gain_ns * p->count[i] };
        }
    if (p->n_options > 1)
        qsort(p->options, (size_t) p->n_options, sizeof *p->options,
              compare_options);
}

static int64_t moves_for(const mo_decomp_class *cls, int level)
{
    int64_t moves = mo_min_i64(((int64_t) FIRST_WORK << level) / cls->n,
                               ((int64_t) MAX_OP_MOVES << level) * cls->n);

    return moves < MIN_MOVES && cls->n <= MIN_MOVES_MAX_OPS ? MIN_MOVES
                                                            : moves + 1;
}

static mo_status open_pricing(pricing *p, const mo_search_state *s,
                              mo_error *err)
{
    size_t n_states = (size_t) s->states.n,
           size = (size_t) s->classes->n * n_states * n_states;

    *p = (pricing){ .s = s,
                    .n_states = s->states.n,
                    .n_boundaries = s->states.n * s->states.n };
    p->cost_ns = calloc(size, sizeof *p->cost_ns);
    p->slack_ns = calloc(size, sizeof *p->slack_ns);
    p->before_ns =
        calloc((size_t) s->segments->n * n_states, sizeof *p->before_ns);
    p->behind_ns = calloc(n_states, sizeof *p->behind_ns);
    p->swap_ns = calloc(n_states, sizeof *p->swap_ns);
    p->count = calloc((size_t) s->classes->n, sizeof *p->count);
    p->options = calloc(size, sizeof *p->options);
    return p->cost_ns && p->slack_ns && p->before_ns && p->behind_ns &&
                   p->swap_ns && p->count && p->options
               ? MO_OK
               : mo_fail_memory(err);
}

/* A segment of the incumbent, for a job that fills up the devices. */
typedef struct used_segment {
    int cls, boundary;
    int64_t *bytes; /* by device */
} used_segment;

typedef struct filling {
    const mo_search_state *s;
    int64_t *left_bytes; /* by device: beside the incumbent */
    used_segment segments[MAX_FILL_ITEMS];
    int n;
    int64_t *bytes; /* of the segments */
} filling;

/* Adds a segment of the incumbent unless there is one like it. */
static void add_segment(filling *f, int segment)
{
    const mo_search_state *s = f->s;
    size_t n_devices = (size_t) s->x->n_devices;
    int cls = s->segments->cls[segment],
        first = mo_decomp_segment_first_op(s->segments, segment);
    const mo_decomp_class *c = &s->classes->classes[cls];
    used_segment *u = &f->segments[f->n];

    if (!c->part || mo_search_primal_job_enumerates(s->classes, c))
        return;
    /* Every device is a state. */
    *u = (used_segment){ cls,
                         mo_decomp_boundary_of(s->classes, s->best, segment),
                         f->bytes + (size_t) f->n * n_devices };
    memset(u->bytes, 0, n_devices * sizeof *u->bytes);
    for (int i = 0; i < c->n; i++)
        u->bytes[s->best->device[first + i]] +=
            mo_regime_resident_bytes(c->part->x, s->regime.memory, i);
    for (int i = 0; i < f->n; i++)
        if (f->segments[i].cls == cls &&
            f->segments[i].boundary == u->boundary &&
            memcmp(f->segments[i].bytes, u->bytes,
                   n_devices * sizeof *u->bytes) == 0)
            return;
    f->n++;
}

typedef struct priced_job {
    mo_search_state *search;
    mo_search_primal_job *items; /* of the round, MAX_ITEMS at most */
    int n, n_rounds;
    mo_primal_load_start **starts; /* by class, of this round; or NULL */
} priced_job;

/* Adds items on segments of the incumbent within what they have and what is
 * left. */
static mo_status add_filling(priced_job *m, filling *f, uint64_t seed,
                             int64_t left, mo_error *err)
{
    const mo_search_state *s = m->search;
    size_t n_devices = (size_t) s->x->n_devices;
    mo_random random = { seed };
    int from = mo_random_below(&random, s->segments->n);

    memcpy(f->left_bytes, s->x->capacity_bytes,
           n_devices * sizeof *f->left_bytes);
    for (int i = 0; i < s->x->n; i++)
        f->left_bytes[s->best->device[i]] -=
            mo_regime_resident_bytes(s->x, s->regime.memory, i);
    for (int i = 0; i < s->segments->n && f->n < MAX_FILL_ITEMS; i++)
        add_segment(f, (from + i) % s->segments->n);
    for (int i = 0; i < f->n && m->n < MAX_ITEMS && left > 0; i++) {
        const used_segment *u = &f->segments[i];
        int64_t *capacity = malloc((n_devices + 1) * sizeof *capacity);

        if (!capacity)
            return mo_fail_memory(err);
        for (size_t k = 0; k < n_devices; k++)
            capacity[k] = u->bytes[k] + f->left_bytes[k];
        m->items[m->n] = (mo_search_primal_job){
            .cls = u->cls,
            .boundary = u->boundary,
            .how = MO_SEARCH_PRIMAL_FILL,
            .effort = moves_for(&s->classes->classes[u->cls], FILL_LEVEL),
            .seed = mo_random_seed(~seed, (uint64_t) i),
            .fork = s->forks[u->cls],
            .capacity_bytes = capacity
        };
        left -= mo_search_primal_job_work(s->classes, &m->items[m->n++]);
    }
    return MO_OK;
}

static mo_status add_fill_items(priced_job *m, uint64_t seed, int64_t work,
                                mo_error *err)
{
    size_t n_devices = (size_t) m->search->x->n_devices + 1;
    filling f = { .s = m->search };
    mo_status status = MO_OK;

    f.left_bytes = calloc(n_devices, sizeof *f.left_bytes);
    f.bytes = calloc(n_devices * MAX_FILL_ITEMS, sizeof *f.bytes);
    if (f.left_bytes && f.bytes)
        status = add_filling(m, &f, seed, work, err);
    else
        status = mo_fail_memory(err);
    free(f.left_bytes);
    free(f.bytes);
    return status;
}

/* Where branches are equal, some jobs are successive halving. */
static mo_search_primal_job make_job(const mo_decomp_class *cls,
                                     const option *o, const mo_forkjoin *fork,
                                     int level, uint64_t seed, int number)
{
    mo_search_primal_job job = { .cls = o->cls,
                                 .boundary = o->boundary,
                                 .how = MO_SEARCH_PRIMAL_PRICED,
                                 .seed = seed,
                                 .fork = fork };

    if (!mo_forkjoin_has_many_equal_branches(fork)) {
        job.effort = moves_for(cls, level);
        return job;
    }
    job.effort = moves_for(cls, mo_min_int(level, MAX_FORK_LEVEL));
    if (number % HALVING_EVERY != HALVING_EVERY - 1)
        return job;
    job.how = MO_SEARCH_PRIMAL_PRICED_HALVING;
    job.effort = HALVING_WORK / cls->n + 1;
    job.stay = level > STAY_LEVEL;
    return job;
}

static void free_starts(priced_job *m)
{
    for (int i = 0; i < m->search->classes->n && m->starts; i++) {
        mo_primal_load_start_free(m->starts[i]);
        m->starts[i] = NULL;
    }
}

static void close_job(void *self)
{
    priced_job *m = self;

    for (int i = 0; i < m->n; i++)
        mo_search_primal_job_clear(&m->items[i]);
    free_starts(m);
    free(m->starts);
    free(m->items);
    free(m);
}

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    priced_job *m;

    if (!s->classes->keep_variants)
        return MO_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    *self = m;
    m->search = s;
    m->items = calloc(MAX_ITEMS, sizeof *m->items);
    m->starts = calloc((size_t) s->classes->n, sizeof *m->starts);
    return m->items && m->starts ? MO_OK : mo_fail_memory(err);
}

/* Gives items with prices starts of the load bound, in every other round: at
 * first at the prices of the bound, which are good before there are
 * variants. */
static mo_status add_starts(priced_job *m, mo_error *err)
{
    const mo_search_state *s = m->search;
    double price_ns[MO_DECOMP_MAX_STATES];
    mo_status status = MO_OK;
    int n_starts = 0;

    free_starts(m);
    if (m->n_rounds % 2 != 0)
        return MO_OK;
    if (m->n_rounds > 0 || !mo_search_priced_bound_prices(s->priced, price_ns))
        memcpy(price_ns, s->classes->price_ns,
               (size_t) s->x->n_devices * sizeof *price_ns);
    for (int i = 0; i < m->n && status == MO_OK; i++) {
        int cls = m->items[i].cls;

        if (!mo_forkjoin_has_many_equal_branches(s->forks[cls]))
            continue;
        if (!m->starts[cls] && n_starts++ < MAX_STARTS)
            status = mo_primal_load_start_new(
                s->forks[cls], &s->classes->regime, price_ns, s->task->threads,
                s->task->stop, &m->starts[cls], err);
        m->items[i].start = m->starts[cls];
    }
    return status;
}

/* Returns the least priced time of the boundary, INFINITY: no variant. */
static double least_priced_ns(const mo_search_state *s,
                              const mo_search_primal_job *it)
{
    double ns = INFINITY;

    mo_decomp_class_cheapest_variant(s->classes, &s->classes->classes[it->cls],
                                     it->boundary, s->classes->price_ns, &ns);
    return ns;
}

/* Adds items for the boundaries of the largest gain while there is work. */
static void add_priced_items(priced_job *m, const pricing *p, uint64_t seed,
                             int64_t left)
{
    const mo_search_state *s = m->search;
    int number = 0;

    for (int i = 0; i < p->n_options && m->n < MAX_ITEMS && left > 0; i++) {
        const option *o = &p->options[i];
        mo_decomp_class *cls = &s->classes->classes[o->cls];
        mo_search_primal_job *it = &m->items[m->n];

        *it = make_job(cls, o, s->forks[o->cls],
                       cls->boundaries[o->boundary].priced_level++,
                       mo_random_seed(seed, (uint64_t) i), number);
        number += !mo_search_primal_job_enumerates(s->classes, cls);
        left -= mo_search_primal_job_work(s->classes, it);
        m->n++;
    }
}

static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    priced_job *m = self;
    const mo_search_state *s = m->search;
    int64_t fill_work =
        s->best && m->n_rounds > 0 ? grant->work / FILL_SHARE : 0;
    pricing p;
    mo_status status;

    m->n = 0;
    if (!mo_search_memory_repair_needed(s))
        return MO_OK;
    status = open_pricing(&p, s, err);
    if (status == MO_OK) {
        for (int i = 0; i < s->segments->n; i++)
            p.count[s->segments->cls[i]]++;
        find_costs(&p);
        find_paths_before(&p);
        list_options(&p, find_slack(&p));
        add_priced_items(m, &p, grant->seed, grant->work - fill_work);
    }
    free(p.cost_ns);
    free(p.slack_ns);
    free(p.before_ns);
    free(p.behind_ns);
    free(p.swap_ns);
    free(p.count);
    free(p.options);
    if (status == MO_OK)
        status = add_starts(m, err);
    if (status == MO_OK && fill_work > 0)
        status = add_fill_items(m, grant->seed, fill_work, err);
    m->n_rounds += m->n > 0;
    *n = m->n;
    return status;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    priced_job *m = self;

    return mo_search_primal_job_run(m->search->classes, &m->items[item], stop,
                                    err);
}

/* Not done: the next is no longer.  In vain: less is expected of it. */
static mo_status merge_item(priced_job *m, mo_search_primal_job *it,
                            mo_error *err)
{
    mo_decomp_boundary *boundary =
        &m->search->classes->classes[it->cls].boundaries[it->boundary];
    bool is_priced = it->how != MO_SEARCH_PRIMAL_FILL, stopped = it->stopped;
    double before_ns = least_priced_ns(m->search, it);
    mo_status status = mo_search_primal_job_merge(m->search, it, err);

    if (is_priced && stopped)
        boundary->priced_level--;
    else if (is_priced && least_priced_ns(m->search, it) >= before_ns)
        boundary->priced_level++;
    return status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    priced_job *m = self;
    mo_status status = MO_OK;

    (void) stop;
    for (int i = 0; i < m->n; i++) {
        mo_status merged =
            merge_item(m, &m->items[i], status == MO_OK ? err : NULL);

        status = status == MO_OK ? merged : status;
    }
    m->n = 0;
    if (status == MO_OK)
        status = mo_search_update_bounds(m->search, "improving segments", err);
    return status;
}

const mo_search_job mo_search_job_priced = {
    .name = "priced schedules of segments",
    .ablation = MO_ABLATION_job_priced,
    .weight = 4,
    .on_segments = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
