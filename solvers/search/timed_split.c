#include "solvers/search/timed_split.h"

#include <math.h>

/*
 * First whether the shared tensor comes to a device at all, then when, as long
 * as some of what reads it does so before it has come; then counts.
 */

#define NEGLIGIBLE 1e-4 /* of one branch */
#define FINEST     0.02 /* of the horizon: arrivals are not split further */
#define WHOLE      0.08 /* so close to a whole number, a count is one */

/* How the pool's ways read the shared tensor on a device. */
typedef struct reading {
    double mass;      /* readers */
    double mean;      /* tick at which it has come, on average */
    double too_early; /* readers times how much before that they start */
    int64_t first;    /* start of a reader */
} reading;

static void add_arrivals(const mo_timed_case *c, const mo_timed_pool *pool,
                         int device, reading *r)
{
    double weight = 0;

    for (size_t i = 0; i < pool->n; i++) {
        const mo_timed_pattern *p = pool->patterns[i];

        if (p->class != MO_FREE || p->to != device || p->weight <= 0)
            continue;
        weight += p->weight;
        r->mean +=
            p->weight * (double) (p->start[0] + mo_timed_shared(c, device));
    }
    r->mean = weight > 0 ? r->mean / weight : 0;
}

static void add_reader(const mo_timed_case *c, const mo_timed_pattern *p,
                       int node, reading *r)
{
    int64_t start = p->start[node - c->tree->root[p->class]];
    double mass = p->weight * c->fork->classes[p->class].count *
                  c->tree->nodes[node].total;

    if (r->mass == 0 || start < r->first)
        r->first = start;
    r->mass += mass;
    r->too_early += mass * fmax(0, r->mean - (double) start);
}

static reading read_on(const mo_timed_case *c, const mo_timed_pool *pool,
                       int device)
{
    reading r = { 0 };

    add_arrivals(c, pool, device, &r);
    for (size_t i = 0; i < pool->n; i++) {
        const mo_timed_pattern *p = pool->patterns[i];

        if (p->class == MO_FREE || p->weight <= NEGLIGIBLE)
            continue;
        for (int node = c->tree->root[p->class];
             node < c->n_nodes && c->tree->nodes[node].class == p->class;
             node++)
            if (c->from_u[node] == MO_TIMED_SHARED &&
                p->device[node - c->tree->root[p->class]] == device)
                add_reader(c, p, node, &r);
    }
    return r;
}

static mo_status copy_two(const mo_timed_case *c, const mo_timed_state *state,
                          mo_timed_state **parts, int *n, mo_error *err)
{
    mo_status status = mo_timed_state_copy(c, state, &parts[0], err);

    *n = 0;
    if (status != MO_OK)
        return status;
    status = mo_timed_state_copy(c, state, &parts[1], err);
    if (status == MO_OK)
        *n = 2;
    else
        mo_timed_state_free(parts[0]);
    return status;
}

static mo_status split_fate(const mo_timed_case *c, const mo_timed_state *state,
                            int device, mo_timed_state **parts, int *n,
                            mo_error *err)
{
    mo_status status = copy_two(c, state, parts, n, err);

    if (status == MO_OK) {
        parts[0]->fate[device] = MO_TIMED_NEVER;
        parts[1]->fate[device] = MO_TIMED_SURE;
    }
    return status;
}

/* Between the first reader and the mean arrival: early ones are right or late
 * ones are, and both must change something. */
static mo_status split_arrival(const mo_timed_case *c,
                               const mo_timed_state *state, int device,
                               const reading *r, mo_timed_state **parts, int *n,
                               mo_error *err)
{
    int64_t lo = state->lo[device], hi = state->hi[device];
    int64_t middle = (r->first + (int64_t) r->mean) / 2;
    mo_status status = copy_two(c, state, parts, n, err);

    if (middle < lo + (hi - lo) / 8)
        middle = lo + (hi - lo) / 8;
    if (middle > hi - (hi - lo) / 8)
        middle = hi - (hi - lo) / 8;
    if (status == MO_OK) {
        parts[0]->hi[device] = middle;
        parts[1]->lo[device] = middle + 1;
    }
    return status;
}

/* A device that the tensor may come to or not, with most that reads it. */
static int open_device(const mo_timed_case *c, const mo_timed_state *state,
                       const mo_timed_pool *pool)
{
    double most = NEGLIGIBLE;
    int best = MO_FREE;

    for (int k = 0; k < c->n_devices; k++) {
        double mass =
            state->fate[k] == MO_TIMED_OPEN ? read_on(c, pool, k).mass : 0;

        if (mass > most) {
            most = mass;
            best = k;
        }
    }
    return best;
}

/* A device where most is read too early. */
static int early_device(const mo_timed_case *c, const mo_timed_state *state,
                        const mo_timed_pool *pool, reading *most)
{
    int best = MO_FREE;

    *most = (reading){ .too_early = NEGLIGIBLE * (double) c->horizon };
    for (int k = 0; k < c->n_devices; k++) {
        int64_t width = state->hi[k] - state->lo[k];
        reading r;

        if (state->fate[k] != MO_TIMED_SURE ||
            (double) width < FINEST * (double) c->horizon)
            continue;
        r = read_on(c, pool, k);
        if (r.too_early > most->too_early) {
            *most = r;
            best = k;
        }
    }
    return best;
}

/* How many of a node's equals run on a device. */
static double count_on(const mo_timed_case *c, const mo_timed_pool *pool,
                       int node, int device)
{
    int class = c->tree->nodes[node].class, root = c->tree->root[class];
    double sum = 0;

    for (size_t i = 0; i < pool->n; i++) {
        const mo_timed_pattern *p = pool->patterns[i];

        if (p->class == class && p->device[node - root] == device)
            sum += p->weight;
    }
    return sum * c->fork->classes[class].count * c->tree->nodes[node].total;
}

static double distance(double count)
{
    return fabs(count - floor(count + 0.5));
}

/* The root, or else another node, with a count that is farthest from whole. */
static double broken_count(const mo_timed_case *c, const mo_timed_pool *pool,
                           bool roots, int *node, int *device)
{
    double count = 0;

    *node = MO_FREE;
    for (int i = 0; i < c->n_nodes; i++) {
        if ((c->tree->nodes[i].reader == MO_FREE) != roots)
            continue;
        for (int k = 0; k < c->n_devices; k++) {
            double on = count_on(c, pool, i, k);

            if (distance(on) > WHOLE &&
                (*node == MO_FREE || distance(on) > distance(count))) {
                count = on;
                *node = i;
                *device = k;
            }
        }
    }
    return count;
}

static mo_status split_count(const mo_timed_case *c,
                             const mo_timed_state *state, int node, int device,
                             double count, mo_timed_state **parts, int *n,
                             mo_error *err)
{
    const mo_timed_node *of = &c->tree->nodes[node];
    int all = c->fork->classes[of->class].count * of->total;
    int most = (int) floor(count);
    mo_timed_limit few = { node, device, false, most };
    mo_timed_limit many = { node, device, true, all - most - 1 };
    mo_status status = copy_two(c, state, parts, n, err);
    int at = count - most < 0.5; /* few is the nearer one */

    if (status == MO_OK) {
        parts[at]->limits[parts[at]->n_limits++] = few;
        parts[!at]->limits[parts[!at]->n_limits++] = many;
    }
    return status;
}

mo_status mo_timed_split(const mo_timed_case *c, const mo_timed_state *state,
                         const mo_timed_pool *pool,
                         mo_timed_state *parts[MO_TIMED_MAX_PARTS], int *n,
                         mo_error *err)
{
    int device = open_device(c, state, pool), node;
    double count;
    reading r;

    *n = 0;
    if (device != MO_FREE)
        return split_fate(c, state, device, parts, n, err);
    device = early_device(c, state, pool, &r);
    if (device != MO_FREE)
        return split_arrival(c, state, device, &r, parts, n, err);
    if (state->n_limits == MO_TIMED_MAX_LIMITS)
        return MO_OK;
    count = broken_count(c, pool, true, &node, &device);
    if (node == MO_FREE)
        count = broken_count(c, pool, false, &node, &device);
    return node == MO_FREE
               ? MO_OK
               : split_count(c, state, node, device, count, parts, n, err);
}
