/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Most-fractional branching over primal samples: the unit to branch on is one
 * whose device varies most in the placements of the node's ascent, weighted by
 * its time and that of its transfers.  A child
 * for every device that it may have, but of devices that are interchangeable at
 * the node for the first alone.  A node keeps the prices that prove its bound:
 * its children begin there.
 */
#include "solvers/search/period/branch_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/heap.h"
#include "base/minmax.h"
#include "schedule/equal_devices.h"

enum { NONE = -1, UNCHOSEN = -2 }; /* units */

enum {
    EVALUATIONS = 40,  /* of a bundle at a node */
    MAX_BUNDLES = 3,   /* at a node, while they gain */
    MAX_NODES = 100000 /* then the bound stays */
};

typedef struct node {
    int parent;       /* -1: the root */
    int unit, device; /* fixed here */
    int branch_unit;  /* that of the children; NONE: all are fixed */
    int64_t lower_ns;
    double *prices; /* owned */
} node;

struct mo_period_branching {
    mo_period_problem p; /* with domains of its own, those of a node */
    const mo_period_problem *root;
    mo_priced_labelling l;
    node *nodes;
    size_t n_nodes, n_room;
    mo_heap open;       /* nodes by bound; ids are negative numbers */
    int64_t *weight_ns; /* by unit */
    int *counts;        /* by unit and device, of a node's placements */
    int n_counted;
    int *first; /* by device: of its class */
    mo_period_offer *offer;
    void *context;
};

/* The open node of the least bound first; of equal bounds the younger, which is
 * deeper. */
static mo_status push_open(mo_period_branching *b, int number, mo_error *err)
{
    return mo_heap_push(&b->open, b->nodes[number].lower_ns, -number, err);
}

/* -------------------------------------------------------------------- setup */

/* The processing time of a unit at its shortest, and the tensors that it sends
 * and receives, by the first kind of pair. */
static void compute_branching_weights(mo_period_branching *b)
{
    const mo_instance *x = b->p.x;

    for (int i = 0; i < x->n; i++) {
        int64_t least_ns = INT64_MAX;

        for (int k = 0; k < x->n_devices; k++)
            least_ns = mo_min_i64(least_ns, mo_instance_p_ns(x, i, k));
        b->weight_ns[b->p.units->of_op[i]] += least_ns;
    }
    for (int q = 0; q < x->n_flows && x->n_devices > 1; q++) {
        int from = b->p.units->of_op[x->flows[q].from];
        int to = b->p.units->of_op[x->flows[q].to];
        int64_t ns = mo_instance_flow_ns(x, q, 0, 1);

        if (from == to)
            continue;
        b->weight_ns[from] += ns;
        b->weight_ns[to] += ns;
    }
}

/* Appends a node with room for its prices; it is not open. */
static mo_status add_node(mo_period_branching *b, const node *made,
                          const double *prices, mo_error *err)
{
    size_t size = (size_t) b->l.n_prices * sizeof *prices;
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

static void reset_domains(mo_period_branching *b)
{
    size_t n = (size_t) b->p.x->n * (size_t) b->p.x->n_devices;

    memcpy(b->p.domains.allowed, b->root->domains.allowed,
           n * sizeof *b->p.domains.allowed);
}

mo_status mo_period_branching_new(const mo_period_problem *p, int64_t upper_ns,
                                  int64_t lower_ns, const double *prices,
                                  mo_period_branching **made, mo_error *err)
{
    const node root = { .parent = -1,
                        .branch_unit = UNCHOSEN,
                        .lower_ns = lower_ns };
    size_t n = (size_t) p->x->n, K = (size_t) p->x->n_devices;
    mo_period_branching *b = calloc(1, sizeof *b);
    mo_status status = MO_OK;

    if (!b)
        return mo_fail_memory(err);
    b->p = *p;
    b->root = p;
    b->p.domains.allowed = calloc(n * K + 1, sizeof *b->p.domains.allowed);
    b->weight_ns = calloc(n + 1, sizeof *b->weight_ns);
    b->counts = calloc(n * K + 1, sizeof *b->counts);
    b->first = calloc(K + 1, sizeof *b->first);
    if (!b->p.domains.allowed || !b->weight_ns || !b->counts || !b->first)
        status = mo_fail_memory(err);
    if (status == MO_OK) {
        reset_domains(b);
        compute_branching_weights(b);
        status = mo_priced_labelling_init(&b->l, &b->p, upper_ns, err);
    }
    if (status == MO_OK)
        status = add_node(b, &root, prices, err);
    if (status == MO_OK)
        status = push_open(b, 0, err);
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
    mo_priced_labelling_clear(&b->l);
    for (size_t i = 0; i < b->n_nodes; i++)
        free(b->nodes[i].prices);
    free(b->nodes);
    mo_heap_clear(&b->open);
    free(b->p.domains.allowed);
    free(b->weight_ns);
    free(b->counts);
    free(b->first);
    free(b);
}

/* -------------------------------------------------------------------- nodes */

static void fix_unit(mo_period_branching *b, int unit, int device)
{
    const mo_placement_units *u = b->p.units;

    for (int i = u->start[unit]; i < u->start[unit + 1]; i++)
        for (int k = 0; k < b->p.x->n_devices; k++)
            b->p.domains.allowed[mo_allowed_devices_index(
                &b->p.domains, u->ops[i], k)] = k == device;
}

/* Sets the domains to those of a node. */
static void enter_node(mo_period_branching *b, int number)
{
    reset_domains(b);
    for (const node *at = &b->nodes[number]; at->parent >= 0;
         at = &b->nodes[at->parent])
        fix_unit(b, at->unit, at->device);
}

static void count_placement(void *context, const int *device)
{
    mo_period_branching *b = context;
    const mo_placement_units *u = b->p.units;

    for (int unit = 0; unit < u->n; unit++)
        b->counts[(int64_t) unit * b->p.x->n_devices +
                  device[u->ops[u->start[unit]]]]++;
    b->n_counted++;
    if (b->offer)
        b->offer(b->context, device);
}

static bool is_in_domain(const mo_period_branching *b, int unit, int k)
{
    return mo_allowed_devices_has(&b->p.domains,
                                  b->p.units->ops[b->p.units->start[unit]], k);
}

/* Returns a unit with several devices left, or NONE. */
static int choose_unit(const mo_period_branching *b)
{
    int K = b->p.x->n_devices, chosen = NONE;
    double best = -1;

    for (int unit = 0; unit < b->p.units->n; unit++) {
        int n_devices = 0, most = 0;
        double score;

        for (int k = 0; k < K; k++) {
            n_devices += is_in_domain(b, unit, k);
            most = mo_max_int(most, b->counts[(int64_t) unit * K + k]);
        }
        /* A unit that did not vary may do so yet. */
        score = (double) b->weight_ns[unit] * (b->n_counted - most + 0.01);
        if (n_devices > 1 && score > best) {
            best = score;
            chosen = unit;
        }
    }
    return chosen;
}

/* Returns the period of the only placement, or INT64_MAX above memory. */
static int64_t evaluate_leaf(mo_period_branching *b)
{
    mo_period_fill_single(&b->p, 0, b->l.device);
    mo_period_state_set(&b->l.state, b->l.device);
    if (b->offer)
        b->offer(b->context, b->l.device);
    return mo_period_state_excess_bytes(&b->l.state) > 0
               ? INT64_MAX
               : mo_period_state_period_ns(&b->l.state);
}

/* Raises the bound of a node, whose domains are entered, and chooses the unit
 * of its children. */
static mo_status bound_node(mo_period_branching *b, int number,
                            int64_t upper_ns, const mo_stop *stop, double *work,
                            mo_error *err)
{
    double cost = mo_labelling_work(b->l.labelling) + b->p.x->n_flows;
    mo_status status = MO_OK;
    bool gains = true;

    memset(b->counts, 0,
           (size_t) b->p.units->n * (size_t) b->p.x->n_devices *
               sizeof *b->counts);
    b->n_counted = 0;
    for (int i = 0; i < MAX_BUNDLES && gains && status == MO_OK &&
                    b->nodes[number].lower_ns < upper_ns;
         i++) {
        node *at = &b->nodes[number];
        int64_t before_ns = at->lower_ns;

        status = mo_period_price_ascend(&b->l, upper_ns, EVALUATIONS, stop,
                                        count_placement, b, &at->lower_ns,
                                        at->prices, err);
        gains = at->lower_ns - before_ns > before_ns / 1000;
        *work += EVALUATIONS * cost;
    }
    b->nodes[number].branch_unit = choose_unit(b);
    if (b->nodes[number].branch_unit == NONE)
        b->nodes[number].lower_ns = evaluate_leaf(b);
    return status;
}

static mo_status expand_node(mo_period_branching *b, int number,
                             int64_t upper_ns, const mo_stop *stop,
                             double *work, mo_error *err)
{
    /* mo_equal_devices_find() compares neither routes nor overheads: symmetry
     * breaking would be wrong there. */
    bool symmetric =
        b->p.regime.congestion != MO_CONGESTION_LINK && !b->p.x->overhead_ns;
    int unit, K = b->p.x->n_devices;
    mo_status status = MO_OK;

    enter_node(b, number);
    if (b->nodes[number].branch_unit == UNCHOSEN)
        status = bound_node(b, number, upper_ns, stop, work, err);
    unit = b->nodes[number].branch_unit;
    if (status == MO_OK && unit == NONE && b->nodes[number].lower_ns < upper_ns)
        status = push_open(b, number, err);
    if (symmetric)
        mo_equal_devices_find(&b->p.domains, true, b->first);
    for (int k = 0; k < K && status == MO_OK && unit != NONE; k++) {
        const node child = { .parent = number,
                             .unit = unit,
                             .device = k,
                             .branch_unit = UNCHOSEN,
                             .lower_ns = b->nodes[number].lower_ns };
        int made = (int) b->n_nodes;

        enter_node(b, number);
        if (!is_in_domain(b, unit, k) || (symmetric && b->first[k] != k))
            continue;
        status = add_node(b, &child, b->nodes[number].prices, err);
        if (status != MO_OK)
            break;
        fix_unit(b, unit, k);
        status = bound_node(b, made, upper_ns, stop, work, err);
        if (status == MO_OK && b->nodes[made].lower_ns < upper_ns)
            status = push_open(b, made, err);
    }
    return status;
}

mo_status mo_period_branching_run(mo_period_branching *b, int64_t upper_ns,
                                  double max_work, const mo_stop *stop,
                                  mo_period_offer *offer, void *context,
                                  int64_t *lower_ns, mo_error *err)
{
    mo_status status = MO_OK;
    double work = 0;

    b->offer = offer;
    b->context = context;
    while (status == MO_OK && b->open.n > 0 && work < max_work &&
           b->n_nodes < MAX_NODES && !mo_stop_reached(stop)) {
        int number = -b->open.items[0].id;

        if (b->nodes[number].lower_ns >= upper_ns ||
            b->nodes[number].branch_unit == NONE)
            break; /* closed, or a placement */
        mo_heap_pop(&b->open);
        status = expand_node(b, number, upper_ns, stop, &work, err);
        /* Stopped on the way: its children may be missing. */
        if (status == MO_OK && mo_stop_reached(stop))
            status = push_open(b, number, err);
    }
    if (status == MO_OK)
        *lower_ns = mo_max_i64(*lower_ns,
                               b->open.n > 0
                                   ? mo_min_i64(b->open.items[0].key, upper_ns)
                                   : upper_ns);
    return status;
}
