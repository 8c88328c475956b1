/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit to branch on is one whose device varies much in the placements of
 * the node's ascent (most-fractional branching over primal samples), weighted
 * by its load.  A child for every device that it may have, but of devices
 * that are interchangeable at the node for the first alone.  A node keeps the
 * prices that prove its bound: its children begin there.  The children of
 * several nodes at a time, as many on any number of threads, are bounded in
 * parallel.
 */
#include "solvers/search/period/branch_bound.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/minmax.h"
#include "base/parallel_for.h"
#include "schedule/equal_devices.h"
#include "solvers/search/period/priced_labelling.h"

/* The devices that units may have, reduced on the way down the tree. */

enum { SEVERAL = -1 }; /* devices */

static void set_allowed(mo_period_problem *p, int unit, int k, bool allowed)
{
    const mo_placement_units *u = p->units;

    for (int i = u->start[unit]; i < u->start[unit + 1]; i++)
        p->domains
            .allowed[mo_allowed_devices_index(&p->domains, u->ops[i], k)] =
            allowed;
}

/* Returns whether the unit may be on device k. */
static bool unit_may_be(const mo_period_problem *p, int unit, int k)
{
    return mo_allowed_devices_has(&p->domains,
                                  p->units->ops[p->units->start[unit]], k);
}

/* Returns the only device of a unit, or SEVERAL. */
static int only_device(const mo_period_problem *p, int unit)
{
    int only = SEVERAL, n = 0;

    for (int k = 0; k < p->x->n_devices; k++)
        if (unit_may_be(p, unit, k)) {
            only = k;
            n++;
        }
    return n == 1 ? only : SEVERAL;
}

/* Excludes devices from units that do not fit there beside the units that have
 * no other device, until nothing changes (constraint propagation).  Returns
 * false where a unit has no device left.  free_bytes is work space, by device.
 */
static bool exclude_by_memory(mo_period_problem *p, int64_t *free_bytes)
{
    bool again = p->regime.memory != MO_MEMORY_NONE;

    while (again) {
        again = false;
        for (int k = 0; k < p->x->n_devices; k++)
            free_bytes[k] = p->x->capacity_bytes[k];
        for (int unit = 0; unit < p->units->n; unit++) {
            int only = only_device(p, unit);

            if (only != SEVERAL)
                free_bytes[only] -= p->units->bytes[unit];
        }
        for (int unit = 0; unit < p->units->n; unit++) {
            bool had_several = only_device(p, unit) == SEVERAL;
            /* That of a unit with one device is counted in free_bytes. */
            int64_t needed = had_several ? p->units->bytes[unit] : 0;
            int n = 0;

            for (int k = 0; k < p->x->n_devices; k++) {
                if (!unit_may_be(p, unit, k))
                    continue;
                if (free_bytes[k] < needed)
                    set_allowed(p, unit, k, false);
                else
                    n++;
            }
            if (n == 0)
                return false;
            again = again || (had_several && n == 1);
        }
    }
    return true;
}

/* Computes the weights, by unit, for a period of about period_ns: the
 * processing time of a unit at its shortest, the tensors that it sends and
 * receives, by the first kind of pair, and its part of a memory in periods.
 * The caller frees them. */
static mo_status weigh_units(const mo_priced_labelling *labelling,
                             int64_t period_ns, int64_t **weights_ns,
                             mo_error *err)
{
    const mo_instance *x = labelling->problem->x;
    const mo_placement_units *units = labelling->problem->units;
    int64_t least_bytes = INT64_MAX; /* of the memories that may bind */
    int64_t *weight_ns = calloc((size_t) units->n + 1, sizeof *weight_ns);

    *weights_ns = weight_ns;
    if (!weight_ns)
        return mo_fail_memory(err);
    for (int i = 0; i < labelling->n_limited; i++)
        least_bytes =
            mo_min_i64(least_bytes, x->capacity_bytes[labelling->limited[i]]);
    for (int i = 0; i < x->n; i++) {
        int64_t least_ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            least_ns = mo_min_i64(least_ns, mo_instance_p_ns(x, i, k));
        weight_ns[units->of_op[i]] += least_ns;
    }
    for (int q = 0; q < x->n_flows && x->n_devices > 1; q++) {
        int from = units->of_op[x->flows[q].from];
        int to = units->of_op[x->flows[q].to];
        int64_t ns = mo_instance_flow_ns(x, q, 0, 1);

        if (from == to)
            continue;
        weight_ns[from] += ns;
        weight_ns[to] += ns;
    }
    for (int u = 0; u < units->n && labelling->n_limited > 0 && least_bytes > 0;
         u++)
        weight_ns[u] += (int64_t) ((double) units->bytes[u] /
                                   (double) least_bytes * (double) period_ns);
    return MO_OK;
}

enum { NONE = -1, UNCHOSEN = -2 }; /* units */

enum {
    EVALUATIONS = 32,  /* of a bundle at a node */
    MAX_BUNDLES = 4,   /* at a node, while one gains more than */
    LARGE_GAIN = 200,  /* a part in it of the bound */
    BATCH = 16,        /* nodes bounded at a time, and children of one more */
    MAX_NODES = 400000 /* then the bound stays */
};

typedef struct node {
    int parent;       /* -1: the root */
    int unit, device; /* fixed here */
    int branch_unit;  /* that of the children; NONE: all are fixed */
    int64_t lower_ns;
    int64_t parent_ns; /* the parent's bound */
    double *prices;    /* owned */
} node;

/* What a thread needs to bound a node. */
typedef struct worker {
    mo_period_problem p; /* with domains of its own, those of a node */
    mo_priced_labelling l;
    int *counts; /* by unit and device, of a node's placements */
    int n_counted;
    int64_t *free_bytes; /* by device */
    struct job *job;     /* in work */
} worker;

/* A node to bound, and the best placement on the way. */
typedef struct job {
    int number;
    int *device; /* by op */
    bool has_placement;
    int64_t period_ns, excess_bytes;
    int n_evaluations;
    mo_status status;
    mo_error err;
} job;

struct mo_period_branching {
    const mo_period_problem *root;
    worker *workers; /* by thread */
    int n_workers;
    job *jobs;
    int n_jobs, max_jobs;
    node *nodes;
    size_t n_nodes, n_room;
    mo_heap open; /* nodes by bound, ids negative: of equal bounds the younger
                     is first, which is deeper */
    int64_t *weight_ns; /* by unit: expected gain of fixing it */
    int *first;         /* by device: of its class */
    int64_t upper_ns;   /* of a run */
    int64_t dropped_ns; /* least bound of the nodes dropped at an upper_ns,
                           which a later run may exceed */
    const mo_stop *stop;
};

/* Appends a node with room for its prices; it is not open. */
static mo_status add_node(mo_period_branching *b, const node *made,
                          const double *prices, mo_error *err)
{
    size_t size = (size_t) b->workers[0].l.n_prices * sizeof *prices;
    double *copy = malloc(size + sizeof *copy);
    mo_status status = copy
                           ? MO_ARRAY_GROW(b->nodes, b->n_nodes, b->n_room, err)
                           : mo_fail_memory(err);

    if (status != MO_OK) {
        free(copy);
        return status;
    }
    memcpy(copy, prices, size);
    b->nodes[b->n_nodes] = *made;
    b->nodes[b->n_nodes++].prices = copy;
    return MO_OK;
}

static void reset_domains(const mo_period_branching *b, worker *w)
{
    size_t n = (size_t) b->root->x->n * (size_t) b->root->x->n_devices;

    memcpy(w->p.domains.allowed, b->root->domains.allowed,
           n * sizeof *w->p.domains.allowed);
}

static mo_status make_workers(mo_period_branching *b, int64_t upper_ns,
                              int threads, mo_error *err)
{
    int n = mo_min_int(threads > 0 ? threads : mo_parallel_for_cores(), BATCH);
    mo_status status = MO_OK;

    b->max_jobs = BATCH + b->root->x->n_devices;
    b->workers = calloc((size_t) n, sizeof *b->workers);
    b->jobs = calloc((size_t) b->max_jobs, sizeof *b->jobs);
    if (!b->workers || !b->jobs)
        return mo_fail_memory(err);
    for (int i = 0; i < n && status == MO_OK; i++) {
        size_t count =
            (size_t) b->root->x->n * (size_t) b->root->x->n_devices + 1;
        worker *w = &b->workers[b->n_workers++];

        w->p = *b->root;
        w->p.domains.allowed = calloc(count, sizeof *w->p.domains.allowed);
        w->counts = calloc(count, sizeof *w->counts);
        w->free_bytes =
            calloc((size_t) b->root->x->n_devices + 1, sizeof *w->free_bytes);
        if (!w->p.domains.allowed || !w->counts || !w->free_bytes) {
            status = mo_fail_memory(err);
        } else {
            reset_domains(b, w);
            status = mo_priced_labelling_init(&w->l, &w->p, upper_ns, err);
        }
    }
    for (int i = 0; i < b->max_jobs && status == MO_OK; i++) {
        b->jobs[i].device =
            calloc((size_t) b->root->x->n + 1, sizeof *b->jobs[i].device);
        if (!b->jobs[i].device)
            status = mo_fail_memory(err);
    }
    return status;
}

mo_status mo_period_branching_new(const mo_period_problem *p, int64_t upper_ns,
                                  int64_t lower_ns, const double *prices,
                                  int threads, mo_period_branching **made,
                                  mo_error *err)
{
    const node root = { .parent = -1,
                        .branch_unit = UNCHOSEN,
                        .lower_ns = lower_ns };
    mo_period_branching *b = calloc(1, sizeof *b);
    mo_status status = MO_OK;

    if (!b)
        return mo_fail_memory(err);
    b->root = p;
    b->dropped_ns = INT64_MAX;
    b->first = calloc((size_t) p->x->n_devices + 1, sizeof *b->first);
    if (!b->first)
        status = mo_fail_memory(err);
    if (status == MO_OK)
        status = make_workers(b, upper_ns, threads, err);
    if (status == MO_OK)
        status = weigh_units(&b->workers[0].l, upper_ns, &b->weight_ns, err);
    if (status == MO_OK)
        status = add_node(b, &root, prices, err);
    if (status == MO_OK)
        status = mo_heap_push(&b->open, lower_ns, 0, err);
    if (status == MO_OK)
        *made = b;
    else
        mo_period_branching_free(b);
    return status;
}

void mo_period_branching_free(mo_period_branching *b)
{
    if (!b)
        return;
    for (int i = 0; i < b->n_workers; i++) {
        mo_priced_labelling_clear(&b->workers[i].l);
        free(b->workers[i].p.domains.allowed);
        free(b->workers[i].counts);
        free(b->workers[i].free_bytes);
    }
    for (int i = 0; i < b->max_jobs && b->jobs; i++)
        free(b->jobs[i].device);
    for (size_t i = 0; i < b->n_nodes; i++)
        free(b->nodes[i].prices);
    free(b->workers);
    free(b->jobs);
    free(b->nodes);
    mo_heap_clear(&b->open);
    free(b->weight_ns);
    free(b->first);
    free(b);
}

/* Sets the domains to those of a node. */
static void enter_node(const mo_period_branching *b, worker *w, int number)
{
    reset_domains(b, w);
    for (const node *at = &b->nodes[number]; at->parent >= 0;
         at = &b->nodes[at->parent])
        for (int k = 0; k < w->p.x->n_devices; k++)
            set_allowed(&w->p, at->unit, k, k == at->device);
}

/* Keeps the placement that the labelling has, if it is the best of the job. */
static void keep_placement(worker *w)
{
    job *j = w->job;
    int64_t ns = mo_period_state_period_ns(&w->l.state);
    int64_t excess = mo_period_state_excess_bytes(&w->l.state);

    if (j->has_placement &&
        (excess != j->excess_bytes ? excess > j->excess_bytes
                                   : ns >= j->period_ns))
        return;
    j->has_placement = true;
    j->period_ns = ns;
    j->excess_bytes = excess;
    memcpy(j->device, w->l.device, (size_t) w->p.x->n * sizeof *j->device);
}

static void count_placement(void *context, const int *device)
{
    worker *w = context;
    const mo_placement_units *u = w->p.units;

    for (int unit = 0; unit < u->n; unit++)
        w->counts[(int64_t) unit * w->p.x->n_devices +
                  device[u->ops[u->start[unit]]]]++;
    w->n_counted++;
    keep_placement(w);
}

/* Returns a unit with several devices left, or NONE. */
static int choose_unit(const mo_period_branching *b, const worker *w)
{
    int K = w->p.x->n_devices, chosen = NONE;
    double best = -1;

    for (int unit = 0; unit < w->p.units->n; unit++) {
        int n_devices = 0, most = 0;
        double score;

        for (int k = 0; k < K; k++) {
            n_devices += unit_may_be(&w->p, unit, k);
            most = mo_max_int(most, w->counts[(int64_t) unit * K + k]);
        }
        /* A unit that did not vary may do so yet. */
        score = (double) b->weight_ns[unit] * (w->n_counted - most + 0.01);
        if (n_devices > 1 && score > best) {
            best = score;
            chosen = unit;
        }
    }
    return chosen;
}

/* Raises the bound of a job's node and chooses the unit of its children. */
static void bound_node(void *context, int number, int thread)
{
    mo_period_branching *b = context;
    worker *w = &b->workers[thread];
    job *j = &b->jobs[number];
    node *at = &b->nodes[j->number];
    const mo_period_step step = { b->upper_ns, b->stop, count_placement, w };
    bool gains = true;

    w->job = j;
    w->n_counted = 0;
    memset(w->counts, 0,
           (size_t) w->p.units->n * (size_t) w->p.x->n_devices *
               sizeof *w->counts);
    enter_node(b, w, j->number);
    if (!exclude_by_memory(&w->p, w->free_bytes)) {
        at->lower_ns = INT64_MAX;
        return;
    }
    for (int i = 0; i < MAX_BUNDLES && gains && j->status == MO_OK &&
                    at->lower_ns < b->upper_ns;
         i++) {
        int64_t before_ns = at->lower_ns;

        j->status = mo_period_price_ascend(&w->l, &step, EVALUATIONS,
                                           &at->lower_ns, at->prices, &j->err);
        gains = at->lower_ns - before_ns > before_ns / LARGE_GAIN;
    }
    j->n_evaluations = w->n_counted;
    at->branch_unit = choose_unit(b, w);
    if (at->branch_unit == NONE) { /* the only placement */
        mo_period_fill_single(&w->p, 0, w->l.device);
        mo_period_state_set(&w->l.state, w->l.device);
        keep_placement(w);
        at->lower_ns = mo_period_state_excess_bytes(&w->l.state) > 0
                           ? INT64_MAX
                           : mo_period_state_period_ns(&w->l.state);
    }
}

static void add_job(mo_period_branching *b, int number)
{
    job *j = &b->jobs[b->n_jobs++];

    *j = (job){ .number = number, .device = j->device, .status = MO_OK };
}

/* Makes the children of a node, each a job. */
static mo_status expand_node(mo_period_branching *b, int number, mo_error *err)
{
    /* mo_equal_devices_find() compares neither routes nor overheads: symmetry
     * breaking would be wrong there. */
    bool symmetric = b->root->regime.congestion != MO_CONGESTION_LINK &&
                     !b->root->x->load.overhead_ns;
    worker *w = &b->workers[0];
    int unit = b->nodes[number].branch_unit;
    mo_status status = MO_OK;

    enter_node(b, w, number);
    if (symmetric)
        mo_equal_devices_find(&w->p.domains, true, b->first);
    for (int k = 0; k < w->p.x->n_devices && status == MO_OK; k++) {
        const node child = { .parent = number,
                             .unit = unit,
                             .device = k,
                             .branch_unit = UNCHOSEN,
                             .lower_ns = b->nodes[number].lower_ns,
                             .parent_ns = b->nodes[number].lower_ns };

        if (!unit_may_be(&w->p, unit, k) || (symmetric && b->first[k] != k))
            continue;
        add_job(b, (int) b->n_nodes);
        status = add_node(b, &child, b->nodes[number].prices, err);
    }
    return status;
}

/* Whether the least bound of the open nodes may still be raised. */
static bool can_raise(const mo_period_branching *b)
{
    const node *at;

    if (b->open.n == 0 || b->n_nodes >= MAX_NODES)
        return false;
    at = &b->nodes[-b->open.items[0].id];
    return at->lower_ns < b->upper_ns && at->branch_unit != NONE;
}

/* Bounds the best nodes that are not yet bounded, or the children of them. */
static mo_status bound_batch(mo_period_branching *b, int n, mo_error *err)
{
    mo_status status = MO_OK;

    b->n_jobs = 0;
    while (status == MO_OK && b->n_jobs < n && can_raise(b)) {
        int number = -mo_heap_pop(&b->open).id;

        if (b->nodes[number].branch_unit == UNCHOSEN)
            add_job(b, number);
        else
            status = expand_node(b, number, err);
    }
    if (status == MO_OK)
        mo_parallel_for(b->n_workers, b->n_jobs, bound_node, b);
    for (int i = 0; i < b->n_jobs && status == MO_OK; i++) {
        const job *j = &b->jobs[i];

        if (j->status != MO_OK) {
            *err = j->err;
            status = j->status;
        } else if (b->nodes[j->number].lower_ns < b->upper_ns) {
            status = mo_heap_push(&b->open, b->nodes[j->number].lower_ns,
                                  -j->number, err);
        } else {
            b->dropped_ns =
                mo_min_i64(b->dropped_ns, b->nodes[j->number].lower_ns);
        }
    }
    return status;
}

mo_status mo_period_branching_run(mo_period_branching *b,
                                  const mo_period_step *step, double max_work,
                                  int64_t *lower_ns, mo_error *err)
{
    double cost =
        mo_labelling_work(b->workers[0].l.labelling) + b->root->x->n_flows;
    double work = 0;
    int n = (int) fmin(fmax(max_work / (EVALUATIONS * cost), 1), BATCH);
    mo_status status = MO_OK;

    b->upper_ns = step->upper_ns;
    b->stop = step->stop;
    while (status == MO_OK && work < max_work && can_raise(b) &&
           !mo_stop_reached(step->stop)) {
        status = bound_batch(b, n, err);
        for (int i = 0; i < b->n_jobs && status == MO_OK; i++) {
            work += (b->jobs[i].n_evaluations + 1) * cost;
            if (step->offer && b->jobs[i].has_placement)
                step->offer(step->context, b->jobs[i].device);
        }
    }
    if (status == MO_OK)
        *lower_ns = mo_max_i64(
            *lower_ns,
            mo_min_i64(b->open.n > 0 ? b->open.items[0].key : INT64_MAX,
                       mo_min_i64(b->dropped_ns, step->upper_ns)));
    return status;
}
