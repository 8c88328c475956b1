#include "solvers/search/timed_master.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "solvers/search/simplex.h"
#include "solvers/search/timed_crowd.h"

/*
 * The best prices are those of
 *
 *     max sum_c v_c + sum_k y_k
 *     v_c <= what all branches of c cost in the way P, for every P,
 *     y_k <= what sending the shared tensor to k costs from s on, for every s,
 *     sum of all prices <= 1,
 *
 * of which the rows come as they are needed: with prices halfway between the
 * best so far and those of the rows known, the cheapest ways are found, and
 * made rows.  Limits on counts have prices, too: each that counts pays for it,
 * and all that may pay is in the sum of all prices.
 *
 * When the rows at hand show that no prices on these intervals will do, other
 * intervals are added: where the ways, by their weights, crowd most.
 */

enum {
    BINS = 6,           /* intervals that a resource begins with, ... */
    FEW_RESOURCES = 24, /* ... if there are no more than these */
    MAX_INTERVALS = 320,
    MAX_ROWS = 420,
    KEPT_ROWS = 320,
    MAX_PATTERNS = 2000,
    REMEMBERED = 2,  /* states for which an interval is kept without a price */
    INHERITED = 240, /* rows that a new state begins with */
    RANGES = 2       /* of a resource are added in one round */
};

#define CROWDED                                                                \
    0.002               /* of all cells: so much too much is worth an interval \
                         */
#define ROOF       4    /* of any value */
#define NEGLIGIBLE 1e-6 /* a price */
#define ENOUGH     1e-7 /* more than 1, it may still be worth looking */

struct mo_timed_master {
    const mo_timed_case *c;
    const mo_timed_state *state;
    mo_timed_branch *branch;
    mo_timed_prices *prices;
    mo_timed_crowd *crowd;
    mo_timed_pool pool;
    mo_timed_way way;

    mo_timed_interval *intervals;
    int *used; /* by interval: the last state that had a price on it */
    int n_intervals;
    int n_states; /* that were looked at */

    /* Columns: v by class, y by device, a price for each of the limits that a
     * state may have, and one for each interval. */
    mo_simplex *lp;
    /* By row of lp, as it was made; NULL: the sum of all prices, the roofs. */
    mo_timed_pattern **rows;
    int n_rows;
    int *kept;
    double *entries; /* of a row or a column */

    double *best, *point; /* prices: of limits, then of intervals */
    double *extra;        /* by node and device */
    double best_value;
    double load;
    double items; /* an upper limit of what is added up for a value */
};

static int n_values(const mo_timed_master *m)
{
    return m->c->fork->n_classes + m->c->n_devices;
}

static int n_prices(const mo_timed_master *m)
{
    return MO_TIMED_MAX_LIMITS + m->n_intervals;
}

static int n_columns(const mo_timed_master *m)
{
    return n_values(m) + n_prices(m);
}

static void begin_intervals(mo_timed_master *m)
{
    const mo_timed_case *c = m->c;
    int bins = c->n_resources <= FEW_RESOURCES ? BINS : 0;

    for (int r = 0; r < c->n_resources; r++) {
        m->intervals[m->n_intervals++] = (mo_timed_interval){ r, 0, c->cells };
        for (int i = 0; i < bins; i++)
            m->intervals[m->n_intervals++] =
                (mo_timed_interval){ r, i * c->cells / bins,
                                     (i + 1) * c->cells / bins };
    }
}

/* Rows that a step may add: of each class for each device, twice. */
static int rows_by_step(const mo_timed_master *m)
{
    return 2 * (m->c->fork->n_classes + 1) * m->c->n_devices;
}

static mo_status reserve(mo_timed_master *m, mo_error *err)
{
    const mo_timed_case *c = m->c;
    size_t jobs = (size_t) mo_timed_branch_jobs(m->branch) + 1;
    size_t nodes = (size_t) c->n_nodes + 1;
    size_t intervals = MAX_INTERVALS + (size_t) c->n_resources * (BINS + 1);
    size_t columns = (size_t) n_values(m) + MO_TIMED_MAX_LIMITS + intervals;
    size_t rows = columns + MAX_ROWS + (size_t) rows_by_step(m);

    m->way.device = calloc(nodes, sizeof *m->way.device);
    m->way.start = calloc(nodes, sizeof *m->way.start);
    m->way.jobs = calloc(jobs, sizeof *m->way.jobs);
    m->intervals = calloc(intervals, sizeof *m->intervals);
    m->used = calloc(intervals, sizeof *m->used);
    m->rows = calloc(rows, sizeof *m->rows);
    m->kept = calloc(rows, sizeof *m->kept);
    m->entries = calloc(rows, sizeof *m->entries);
    m->best = calloc(columns, sizeof *m->best);
    m->point = calloc(columns, sizeof *m->point);
    m->extra = calloc(nodes * (size_t) c->n_devices, sizeof *m->extra);
    if (!m->way.device || !m->way.start || !m->way.jobs || !m->intervals ||
        !m->used || !m->rows || !m->kept || !m->entries || !m->best ||
        !m->point || !m->extra)
        return mo_fail_memory(err);
    return MO_OK;
}

static double count_items(const mo_timed_master *m)
{
    const mo_fork *fork = m->c->fork;
    double items = m->c->n_devices;

    for (int k = 0; k < fork->n_classes; k++)
        items += (double) fork->classes[k].count * fork->classes[k].n;
    return 4 * items + 16;
}

mo_status mo_timed_master_new(const mo_timed_case *c,
                              const mo_timed_state *state,
                              mo_timed_master **master, mo_error *err)
{
    mo_timed_master *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->c = c;
    m->state = state;
    m->pool.c = c;
    m->items = count_items(m);
    status = mo_timed_branch_new(c, state, &m->branch, err);
    if (status == MO_OK)
        status = mo_timed_prices_new(c, &m->prices, err);
    if (status == MO_OK)
        status = mo_timed_crowd_new(c, &m->crowd, err);
    if (status == MO_OK)
        status = reserve(m, err);
    if (status != MO_OK) {
        mo_timed_master_free(m);
        return status;
    }
    begin_intervals(m);
    for (int i = 0; i < m->n_intervals; i++)
        m->best[MO_TIMED_MAX_LIMITS + i] = 1.0 / m->n_intervals;
    *master = m;
    return MO_OK;
}

void mo_timed_master_free(mo_timed_master *m)
{
    if (!m)
        return;
    mo_timed_branch_free(m->branch);
    mo_timed_prices_free(m->prices);
    mo_timed_crowd_free(m->crowd);
    mo_timed_pool_clear(&m->pool);
    mo_simplex_free(m->lp);
    free(m->way.device);
    free(m->way.start);
    free(m->way.jobs);
    free(m->intervals);
    free(m->used);
    free(m->rows);
    free(m->kept);
    free(m->entries);
    free(m->best);
    free(m->point);
    free(m->extra);
    free(m);
}

static int value_of(const mo_timed_master *m, const mo_timed_pattern *p)
{
    return p->class == MO_FREE ? m->c->fork->n_classes + p->to : p->class;
}

/* How many there are of what a pattern is one of. */
static int times_of(const mo_timed_master *m, const mo_timed_pattern *p)
{
    return p->class == MO_FREE ? 1 : m->c->fork->classes[p->class].count;
}

static bool counts(const mo_timed_limit *limit, int device)
{
    return (limit->device == device) != limit->elsewhere;
}

/* What a limit's whole price pays for of a pattern. */
static double limit_part(const mo_timed_master *m, const mo_timed_pattern *p,
                         const mo_timed_limit *limit)
{
    const mo_timed_node *node = &m->c->tree->nodes[limit->node];

    if (limit->most == 0 || node->class != p->class ||
        !counts(limit, p->device[limit->node - m->c->tree->root[p->class]]))
        return 0;
    return (double) node->total / limit->most;
}

static void fill_row(mo_timed_master *m, const mo_timed_pattern *p)
{
    int times = times_of(m, p), at = n_values(m);

    memset(m->entries, 0, (size_t) n_columns(m) * sizeof *m->entries);
    m->entries[value_of(m, p)] = 1;
    for (int i = 0; i < m->state->n_limits; i++)
        m->entries[at + i] = -times * limit_part(m, p, &m->state->limits[i]);
    at += MO_TIMED_MAX_LIMITS;
    for (int i = 0; i < m->n_intervals; i++)
        m->entries[at + i] =
            -times * mo_timed_pool_part(&m->pool, p, &m->intervals[i]);
}

static mo_status add_row(mo_timed_master *m, mo_timed_pattern *p, mo_error *err)
{
    mo_status status = mo_simplex_row(m->lp, m->entries, 0, err);

    if (status == MO_OK)
        m->rows[m->n_rows++] = p;
    return status;
}

/* Intervals that have not been of use for some time are forgotten, but for
 * those that are all of a resource's time. */
static void forget_intervals(mo_timed_master *m)
{
    double *best = m->best + MO_TIMED_MAX_LIMITS;
    int n = 0;

    m->n_states++;
    for (int i = 0; i < m->n_intervals; i++) {
        const mo_timed_interval *interval = &m->intervals[i];

        if (m->used[i] + REMEMBERED < m->n_states &&
            interval->last - interval->first < m->c->cells)
            continue;
        m->intervals[n] = *interval;
        m->used[n] = m->used[i];
        best[n++] = best[i];
    }
    m->n_intervals = n;
}

static void mark_used(mo_timed_master *m)
{
    const double *z = mo_simplex_z(m->lp) + n_values(m) + MO_TIMED_MAX_LIMITS;
    const double *best = m->best + MO_TIMED_MAX_LIMITS;

    for (int i = 0; i < m->n_intervals; i++)
        if (z[i] > NEGLIGIBLE || best[i] > NEGLIGIBLE)
            m->used[i] = m->n_states;
}

/* Values have a roof until there are rows for them, so that the program begins
 * with an optimum and only ever needs to mend it. */
static mo_status begin_values(mo_timed_master *m, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < n_columns(m); i++)
        m->entries[i] = 0;
    for (int i = 0; i < n_values(m) && status == MO_OK; i++) {
        m->entries[i] = 1;
        status = mo_simplex_row(m->lp, m->entries, ROOF, err);
        m->entries[i] = 0;
    }
    if (status == MO_OK)
        mo_simplex_solve(m->lp);
    return status;
}

static mo_status begin_lp(mo_timed_master *m, mo_error *err)
{
    mo_status status;
    int n = n_columns(m);

    mo_simplex_free(m->lp);
    m->lp = NULL;
    m->n_rows = 1 + n_values(m);
    memset(m->rows, 0, (size_t) m->n_rows * sizeof(mo_timed_pattern *));
    for (int i = 0; i < n; i++)
        m->entries[i] = i < m->c->fork->n_classes;
    for (int k = 0; k < m->c->n_devices; k++)
        m->entries[m->c->fork->n_classes + k] =
            m->state->fate[k] == MO_TIMED_SURE;
    status = mo_simplex_new(n, m->entries, &m->lp, err);
    for (int i = 0; i < n; i++)
        m->entries[i] = i >= n_values(m);
    if (status == MO_OK)
        status = mo_simplex_row(m->lp, m->entries, 1, err);
    return status == MO_OK ? begin_values(m, err) : status;
}

/* The ways that were of use last and are still allowed. */
static mo_status inherit_rows(mo_timed_master *m, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = m->pool.n;
         i-- > 0 && m->n_rows < INHERITED && status == MO_OK;)
        if (mo_timed_pool_fits(&m->pool, m->pool.patterns[i], m->state)) {
            fill_row(m, m->pool.patterns[i]);
            status = add_row(m, m->pool.patterns[i], err);
        }
    return status;
}

static void spread_limits(mo_timed_master *m, const double *price)
{
    const mo_timed_case *c = m->c;

    memset(m->extra, 0,
           (size_t) c->n_nodes * (size_t) c->n_devices * sizeof *m->extra);
    for (int i = 0; i < m->state->n_limits; i++) {
        const mo_timed_limit *limit = &m->state->limits[i];

        for (int k = 0; k < c->n_devices && limit->most > 0; k++)
            if (counts(limit, k))
                m->extra[mo_timed_at(c, limit->node, k)] +=
                    price[i] / limit->most;
    }
}

/* Whether the row in entries cuts the last solution off. */
static bool cuts(const mo_timed_master *m)
{
    const double *z = mo_simplex_z(m->lp);
    double sum = 0;

    for (int i = 0; i < n_columns(m); i++)
        sum += m->entries[i] * z[i];
    return sum > ENOUGH;
}

/* A row for the pattern, if it cuts, or if it must be there. */
static mo_status offer(mo_timed_master *m, const mo_timed_pattern *pattern,
                       bool must, bool *cut, mo_error *err)
{
    mo_timed_pattern *copy;
    mo_status status;

    fill_row(m, pattern);
    if (!must && !cuts(m))
        return MO_OK;
    *cut = true;
    status = mo_timed_pool_add(&m->pool, pattern, &copy, err);
    return status == MO_OK ? add_row(m, copy, err) : status;
}

/* The cheapest ways of a class, with its root on each of the devices. */
static mo_status offer_class(mo_timed_master *m, int class, bool must,
                             double *least, bool *cut, mo_error *err)
{
    mo_status status = MO_OK;

    *least = INFINITY;
    for (int k = 0; k < m->c->n_devices && status == MO_OK; k++) {
        double price = mo_timed_branch_least(m->branch, class, k);
        mo_timed_pattern p = { .class = class,
                               .device = m->way.device,
                               .start = m->way.start,
                               .jobs = m->way.jobs };

        if (isinf(price))
            continue;
        *least = price < *least ? price : *least;
        mo_timed_branch_way(m->branch, class, k, &m->way);
        p.n_jobs = m->way.n_jobs;
        status = offer(m, &p, must, cut, err);
    }
    return status;
}

static mo_status offer_shared(mo_timed_master *m, int to, bool must,
                              double *least, bool *cut, mo_error *err)
{
    const mo_timed_case *c = m->c;
    int64_t length = mo_timed_shared(c, to);
    int pair = mo_timed_pair(c, c->a, to), first = c->pair_start[pair];
    mo_timed_pattern p = { .class = MO_FREE,
                           .to = to,
                           .device = m->way.device,
                           .start = m->way.start,
                           .jobs = m->way.jobs };

    *least = mo_timed_cheapest(c, &m->prices->pairs[pair], length,
                               m->state->lo[to] - length,
                               m->state->hi[to] - length, &p.start[0]);
    for (int i = first; i < c->pair_start[pair + 1]; i++)
        p.jobs[p.n_jobs++] =
            (mo_timed_job){ c->pair_resource[i], 1, p.start[0], length };
    return offer(m, &p, must, cut, err);
}

/*
 * What all branches cost at these prices; each way that is cheapest is offered
 * as a row.
 */
static mo_status evaluate(mo_timed_master *m, const double *price, bool must,
                          double *value, bool *cut, mo_error *err)
{
    const mo_timed_case *c = m->c;
    mo_status status = MO_OK;
    double least;

    *value = 0;
    *cut = false;
    spread_limits(m, price);
    mo_timed_prices_set(m->prices, m->intervals, m->n_intervals,
                        price + MO_TIMED_MAX_LIMITS);
    mo_timed_branch_price(m->branch, m->prices, m->state, m->extra);
    for (int i = 0; i < c->fork->n_classes && status == MO_OK; i++) {
        status = offer_class(m, i, must, &least, cut, err);
        *value += c->fork->classes[i].count * least;
    }
    for (int k = 0; k < c->n_devices && status == MO_OK; k++)
        if (m->state->fate[k] == MO_TIMED_SURE) {
            status = offer_shared(m, k, must, &least, cut, err);
            *value += least;
        }
    return status;
}

/*
 * Prices are taken as the doubles they are, so only sums of them are rounded.
 * What a stretch of a resource's time costs is a difference of two sums of at
 * most `cells` prices, none larger than the sum of all, which is about 1; a
 * value adds up at most `items` of these, times whole numbers.  So it is off by
 * less than the margin below, and the sum of all prices, at most
 * MAX_INTERVALS + cells additions, too.
 */
static bool is_proof(const mo_timed_master *m, const double *price,
                     double value)
{
    double total = m->prices->total;
    double margin =
        8 * DBL_EPSILON * m->items * (m->c->cells + MAX_INTERVALS + m->items);

    for (int i = 0; i < m->state->n_limits; i++)
        total += price[i];
    return value > (total + margin) * (1 + margin);
}

static void keep_best(mo_timed_master *m, const double *price, double value)
{
    if (value <= m->best_value)
        return;
    m->best_value = value;
    memmove(m->best, price, (size_t) n_prices(m) * sizeof *price);
}

static bool is_known(const mo_timed_master *m, const mo_timed_interval *other)
{
    for (int i = 0; i < m->n_intervals; i++)
        if (m->intervals[i].resource == other->resource &&
            m->intervals[i].first == other->first &&
            m->intervals[i].last == other->last)
            return true;
    return false;
}

static void lay_out(mo_timed_master *m)
{
    const double *weight = mo_simplex_prices(m->lp);

    mo_timed_crowd_empty(m->crowd);
    for (int i = 0; i < m->n_rows; i++)
        if (m->rows[i] && weight[i] > 0)
            mo_timed_crowd_add(m->crowd, m->rows[i],
                               weight[i] * times_of(m, m->rows[i]));
}

/* Returns whether some were added. */
static bool add_intervals(mo_timed_master *m)
{
    int before = m->n_intervals;

    lay_out(m);
    for (int r = 0; r < m->c->n_resources; r++)
        for (int i = 0; i < RANGES && m->n_intervals < MAX_INTERVALS; i++) {
            mo_timed_interval worst;
            double excess = mo_timed_crowd_worst(m->crowd, r, &worst);

            if (excess < CROWDED * m->c->cells || is_known(m, &worst))
                break;
            m->best[n_prices(m)] = 0;
            m->used[m->n_intervals] = m->n_states;
            m->intervals[m->n_intervals++] = worst;
        }
    return m->n_intervals > before;
}

static void trim(mo_timed_master *m)
{
    int n = 0;

    if (m->n_rows < MAX_ROWS)
        return;
    mo_simplex_trim(m->lp, KEPT_ROWS, m->kept);
    for (int i = 0; i < m->n_rows; i++)
        if (m->kept[i] >= 0)
            m->rows[n++] = m->rows[i];
    m->n_rows = n;
}

/* Halfway from the best prices so far to those of the last solution; with
 * all_the_way, those. */
static void find_point(mo_timed_master *m, bool all_the_way)
{
    const double *z = mo_simplex_z(m->lp) + n_values(m);

    for (int i = 0; i < n_prices(m); i++)
        m->point[i] = all_the_way ? z[i] : 0.5 * (m->best[i] + z[i]);
}

static mo_status look_at(mo_timed_master *m, const double *price, bool must,
                         bool *cut, bool *refuted, mo_error *err)
{
    double value;
    mo_status status = evaluate(m, price, must, &value, cut, err);

    if (status != MO_OK)
        return status;
    *refuted = is_proof(m, price, value);
    keep_best(m, price, value);
    return MO_OK;
}

/* Patterns carry their weights; what has none is forgotten first. */
static void weigh(mo_timed_master *m)
{
    const double *weight = mo_simplex_prices(m->lp);

    for (size_t i = 0; i < m->pool.n; i++)
        m->pool.patterns[i]->weight = 0;
    for (int i = 0; i < m->n_rows; i++)
        if (m->rows[i])
            m->rows[i]->weight += weight[i];
    mark_used(m);
    mo_timed_pool_sort(&m->pool, MAX_PATTERNS);
}

/* The program anew, with the rows that were of use.  That is quicker than to
 * mend it after new columns came: so many of its rows are ties. */
static mo_status begin(mo_timed_master *m, mo_error *err)
{
    mo_status status = begin_lp(m, err);

    return status == MO_OK ? inherit_rows(m, err) : status;
}

/* One step: other prices, or other intervals.  *on: there may be more. */
static mo_status step(mo_timed_master *m, int *rounds, bool *on, bool *refuted,
                      mo_error *err)
{
    bool cut = false;
    mo_status status;

    trim(m);
    *on = mo_simplex_solve(m->lp);
    if (!*on)
        return MO_OK;
    m->load = mo_simplex_value(m->lp);
    if (m->load <= 1 + ENOUGH) {
        *on = (*rounds)-- > 0 && add_intervals(m);
        if (!*on)
            return MO_OK;
        weigh(m);
        return begin(m, err);
    }
    find_point(m, false);
    status = look_at(m, m->point, false, &cut, refuted, err);
    if (status == MO_OK && !cut && !*refuted) {
        find_point(m, true);
        status = look_at(m, m->point, false, &cut, refuted, err);
        *on = cut;
    }
    return status;
}

mo_status mo_timed_master_try(mo_timed_master *m, const mo_timed_state *state,
                              const mo_timed_effort *effort, bool *refuted,
                              mo_error *err)
{
    bool on = true, cut;
    int rounds = effort->rounds;
    mo_status status;

    *refuted = false;
    m->load = 0;
    m->state = state;
    forget_intervals(m);
    status = begin(m, err);
    if (status == MO_OK) {
        m->best_value = 0;
        memset(m->best, 0, MO_TIMED_MAX_LIMITS * sizeof *m->best);
        status = look_at(m, m->best, true, &cut, refuted, err);
    }
    for (int i = 0; i < effort->steps && on && status == MO_OK && !*refuted &&
                    !mo_stop_now(effort->stop);
         i++)
        status = step(m, &rounds, &on, refuted, err);
    if (status == MO_OK)
        weigh(m);
    return status;
}

const mo_timed_pool *mo_timed_master_pool(const mo_timed_master *m)
{
    return &m->pool;
}

double mo_timed_master_load(const mo_timed_master *m)
{
    return m->load;
}
