/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/priced_bound.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "schedule/bound/segment_classes.h"
#include "solvers/search/bound/load/load_bound.h"
#include "solvers/search/driver/priced_bound_internal.h"

/*
 * The chain of the whole is that of the segments' partitions, one after the
 * other: the exit op of a segment is the entry op of the next.  Segments with
 * equal branches are bounded by the load bound with prices, where they are on a
 * shortest path.
 */

enum {
    CASES_EVALUATIONS = 10,
    MAX_CASES = 80,         /* of a load bound */
    MAX_CASE_WORK = 1 << 22 /* cases x ops x pairs of devices: some seconds */
};

void mo_search_priced_bound_free(mo_search_priced_bound *p)
{
    if (!p)
        return;
    mo_priced_chain_free(p->chain_prices);
    for (int c = 0; p->forks && c < p->n_classes; c++)
        mo_forkjoin_free(p->forks[c]);
    free(p->forks);
    free(p->direct);
    free(p->domains.allowed);
    free(p->chain.segments);
    free(p->chain.ops);
    free(p->block);
    free(p->cls);
    free(p->first);
    free(p->table);
    free(p);
}

static const mo_bound_chain *chain_of(const mo_search_priced_bound *p,
                                      int segment)
{
    return p->s->blocks->partitions[p->s->segments->cls[segment]].chain;
}

static mo_status allocate_priced(mo_search_priced_bound *p, mo_error *err)
{
    const mo_instance *x = p->s->x;
    size_t n_ops = (size_t) x->n + 1, n = 1;

    for (int i = 0; i < p->s->segments->n; i++) {
        const mo_bound_chain *chain = chain_of(p, i);

        n += chain ? (size_t) chain->n : 1;
    }
    p->domains = (mo_allowed_devices){ x, p->s->regime, NULL };
    p->domains.allowed =
        calloc(n_ops, (size_t) x->n_devices * sizeof *p->domains.allowed);
    p->chain.segments = calloc(n, sizeof *p->chain.segments);
    p->chain.ops = calloc(n_ops, sizeof *p->chain.ops);
    p->block = calloc(n, sizeof *p->block);
    p->cls = calloc(n, sizeof *p->cls);
    p->first = calloc(n, sizeof *p->first);
    p->table = calloc(n, sizeof *p->table);
    p->forks = calloc(n, sizeof *p->forks);
    p->direct = calloc((size_t) p->s->classes->n + 1,
                       (size_t) x->n_devices * (size_t) x->n_devices *
                           sizeof *p->direct);
    return p->domains.allowed && p->chain.segments && p->chain.ops &&
                   p->block && p->cls && p->first && p->table && p->direct &&
                   p->forks
               ? MO_OK
               : mo_fail_memory(err);
}

static int to_whole_op(int op, int first)
{
    return op == MO_FREE ? MO_FREE : first + op;
}

/* Appends the chain of a segment; *n_ops is the number of ops so far.  The
 * first and last segment of a partition lie outside its entry and exit op. */
static void append_partition(mo_search_priced_bound *p, int segment, int *n_ops)
{
    const mo_decomp_segments *segments = p->s->segments;
    const mo_bound_chain *chain = chain_of(p, segment);
    const int *block = p->s->blocks->partitions[segments->cls[segment]].block;
    int first = mo_decomp_segment_first_op(segments, segment);

    for (int i = 0; i < chain->n; i++) {
        const mo_bound_segment *from = &chain->segments[i];
        mo_bound_segment *to = &p->chain.segments[p->chain.n];

        if ((from->u == MO_FREE && segment > 0) ||
            (from->v == MO_FREE && segment < segments->n - 1))
            continue;
        *to = (mo_bound_segment){ to_whole_op(from->u, first),
                                  to_whole_op(from->v, first),
                                  p->chain.ops + *n_ops, from->n };
        for (int j = 0; j < from->n; j++)
            p->chain.ops[(*n_ops)++] = first + from->ops[j];
        p->block[p->chain.n++] = block[i];
    }
}

/* Builds the chain of the whole; returns whether its segments are connected,
 * from the begin to the end. */
static bool build_chain(mo_search_priced_bound *p)
{
    const mo_decomp_segments *segments = p->s->segments;
    int n_ops = 0, last = MO_FREE;

    for (int i = 0; i < segments->n; i++) {
        if (chain_of(p, i)) {
            append_partition(p, i, &n_ops);
            continue;
        }
        p->chain.segments[p->chain.n] =
            (mo_bound_segment){ mo_decomp_segment_entry(segments, i),
                                mo_decomp_segment_exit(segments, i),
                                p->chain.ops, 0 };
        p->block[p->chain.n++] = -1 - segments->cls[i];
    }
    for (int i = 0; i < p->chain.n; i++) {
        if (p->chain.segments[i].u != last)
            return false;
        last = p->chain.segments[i].v;
        if (last == MO_FREE && i < p->chain.n - 1)
            return false;
    }
    return p->chain.n > 0 && last == MO_FREE;
}

/* Classes by content and block. */
static mo_status find_classes(mo_search_priced_bound *p, mo_error *err)
{
    mo_bound_segment_classes *found = NULL;
    mo_status status =
        mo_bound_segment_classes_find(&p->domains, &p->chain, &found, err);

    if (status != MO_OK)
        return status;
    memcpy(p->first, found->first, (size_t) found->n * sizeof *p->first);
    p->n_classes = found->n;
    for (int i = 0; i < p->chain.n; i++) {
        int cls = found->of[i];

        for (int c = found->n;
             c < p->n_classes && p->block[p->first[cls]] != p->block[i]; c++)
            if (found->of[p->first[c]] == found->of[i] &&
                p->block[p->first[c]] == p->block[i])
                cls = c;
        if (p->block[p->first[cls]] != p->block[i]) {
            cls = p->n_classes++;
            p->first[cls] = i;
        }
        p->cls[i] = cls;
    }
    mo_bound_segment_classes_free(found);
    return MO_OK;
}

/* Fills and returns the table of a segment class without ops, up to the start
 * of v. */
static const int64_t *fill_direct(mo_search_priced_bound *p, int number, int v)
{
    const mo_decomp_class *cls = &p->s->classes->classes[number];
    int n_devices = p->s->x->n_devices, n_boundaries = n_devices * n_devices;
    int64_t *table = p->direct + (size_t) number * (size_t) n_boundaries;

    for (int i = 0; i < n_boundaries; i++) {
        table[i] = cls->lower_ns[i];
        if (table[i] != INT64_MAX && v != MO_FREE)
            table[i] -= mo_instance_p_ns(p->s->x, v, i % n_devices);
    }
    return table;
}

/* Only segments with several ops can be refined: of one, thresholds are
 * exact. */
static mo_status find_forks(mo_search_priced_bound *p, mo_error *err)
{
    mo_status status = MO_OK;

    for (int c = 0; c < p->n_classes && status == MO_OK; c++) {
        const mo_bound_segment *segment = &p->chain.segments[p->first[c]];

        if (segment->n > 1)
            status = mo_forkjoin_find(&p->domains, segment, &p->forks[c], err);
        if (status == MO_OK && p->forks[c] &&
            !mo_forkjoin_has_many_equal_branches(p->forks[c])) {
            mo_forkjoin_free(p->forks[c]);
            p->forks[c] = NULL;
        }
        p->has_forks |= p->forks[c] != NULL;
    }
    return status;
}

/* Returns how many cases a load bound may take, for which work is left. */
static int take_cases(mo_search_priced_bound *p, const mo_forkjoin *fork)
{
    int64_t work = (int64_t) p->s->x->n_devices * p->s->x->n_devices;
    int64_t n_ops = 0;

    for (int c = 0; c < fork->n_classes; c++)
        n_ops += fork->classes[c].n;
    work *= MAX_CASES * (n_ops + 1);
    if (p->case_work < work)
        return 0;
    p->case_work -= work;
    return MAX_CASES;
}

/* Raises an entry by the load bound. */
static bool raise_by_load(mo_search_priced_bound *p, int cls, int boundary,
                          const int64_t *price_ns, int64_t *entry_ns,
                          double *used_bytes)
{
    mo_forkjoin_case at;
    int n = p->s->x->n_devices, max_cases;
    int64_t bound_ns = 0;

    if (!p->forks[cls] || p->refined != MO_OK)
        return false;
    max_cases = take_cases(p, p->forks[cls]);
    mo_stop_spend(p->stop, (1 + max_cases) * mo_load_bound_work(p->forks[cls]));
    at = mo_forkjoin_at(p->forks[cls], boundary / n, boundary % n);
    p->refined = mo_load_bound_priced(&at, price_ns, max_cases, &bound_ns,
                                      used_bytes, &p->err);
    if (p->refined != MO_OK || bound_ns <= *entry_ns)
        return false;
    *entry_ns = bound_ns;
    return true;
}

/* mo_priced_chain_refine. */
static bool refine_entry(void *context, int cls, int boundary,
                         const int64_t *price_ns, int64_t *entry_ns,
                         double *used_bytes)
{
    mo_search_priced_bound *p = context;
    int n = p->s->x->n_devices;
    int64_t *known, before_ns = *entry_ns;

    if (!p->known || !p->forks[cls])
        return raise_by_load(p, cls, boundary, price_ns, entry_ns, used_bytes);
    p->op_price_ns = price_ns;
    known = &p->known[(size_t) cls * (size_t) (n * n) + (size_t) boundary];
    if (*known == 0)
        raise_by_load(p, cls, boundary, price_ns, entry_ns, used_bytes);
    *known = *entry_ns = mo_max_i64(*known, *entry_ns);
    memset(used_bytes, 0, (size_t) n * sizeof *used_bytes);
    return *entry_ns > before_ns;
}

static void set_tables(mo_search_priced_bound *p)
{
    for (int c = 0; c < p->n_classes; c++) {
        int segment = p->first[c], block = p->block[segment];

        p->table[c] =
            block < 0 ? fill_direct(p, -1 - block, p->chain.segments[segment].v)
                      : p->s->blocks->blocks[block].lower_ns;
    }
    p->tables = (mo_priced_chain_tables){ .segments = p->chain.segments,
                                          .n = p->chain.n,
                                          .cls = p->cls,
                                          .n_classes = p->n_classes,
                                          .first = p->first,
                                          .table = p->table,
                                          .refine = refine_entry,
                                          .context = p };
}

mo_status mo_search_priced_bound_new(mo_search_state *search,
                                     mo_search_priced_bound **priced,
                                     mo_error *err)
{
    mo_search_priced_bound *p;
    mo_status status;
    bool useful = false;

    *priced = NULL;
    if (!search->blocks || !search->memory_matters || !search->states.all)
        return MO_OK;
    p = calloc(1, sizeof *p);
    if (!p)
        return mo_fail_memory(err);
    p->s = search;
    status = allocate_priced(p, err);
    if (status == MO_OK)
        status = mo_allowed_devices_find(&p->domains, err);
    if (status == MO_OK)
        useful = mo_priced_chain_pays(&p->domains) && build_chain(p);
    if (status == MO_OK && useful)
        status = find_classes(p, err);
    if (status == MO_OK && useful)
        status = find_forks(p, err);
    if (status == MO_OK && useful)
        set_tables(p);
    if (status == MO_OK && useful)
        status =
            mo_priced_chain_new(&p->domains, &p->tables, &p->chain_prices, err);
    if (status == MO_OK && useful)
        *priced = p;
    else
        mo_search_priced_bound_free(p);
    return status;
}

/* Tables only grow: their sum changes with any of them. */
static uint64_t sum_tables(const mo_search_priced_bound *p)
{
    int n_boundaries = p->s->x->n_devices * p->s->x->n_devices;
    uint64_t sum = 1;

    for (int i = 0; i < p->s->blocks->n; i++)
        for (int j = 0; j < n_boundaries; j++)
            sum += (uint64_t) p->s->blocks->blocks[i].lower_ns[j];
    return sum;
}

bool mo_search_priced_bound_is_stale(const mo_search_priced_bound *p)
{
    return sum_tables(p) != p->tables_sum;
}

mo_status mo_search_priced_bound_compute(mo_search_priced_bound *p,
                                         const mo_stop *stop, int64_t *bound_ns,
                                         mo_error *err)
{
    mo_status status;

    p->tables_sum = sum_tables(p);
    p->stop = stop;
    status = mo_priced_chain_raise(p->chain_prices, 0, stop, bound_ns, err);
    p->stop = NULL;
    if (status == MO_OK && p->refined != MO_OK) {
        status = p->refined;
        if (err)
            *err = p->err;
    }
    p->has_prices = status == MO_OK;
    return status;
}

bool mo_search_priced_bound_prices(const mo_search_priced_bound *p,
                                   double *price_ns)
{
    if (!p || !p->has_prices)
        return false;
    mo_priced_chain_best_prices(p->chain_prices, price_ns);
    return true;
}

mo_status mo_search_priced_bound_run_cases(mo_search_priced_bound *p,
                                           const mo_stop *stop,
                                           int64_t *bound_ns, mo_error *err)
{
    mo_status status;

    p->stop = stop;
    p->case_work = MAX_CASE_WORK;
    status = mo_priced_chain_raise(p->chain_prices, CASES_EVALUATIONS, stop,
                                   bound_ns, err);
    p->case_work = 0;
    p->stop = NULL;
    return status;
}

/* Adds the prices of a segment to a pair with the same ends. */
static mo_status export_segment(const mo_search_priced_bound *p, int segment,
                                const int64_t *price_ns,
                                mo_proven_bounds *proven, size_t pair,
                                mo_error *err)
{
    const mo_bound_segment *s = &p->chain.segments[segment];
    size_t n_devices = (size_t) p->s->x->n_devices;
    int64_t *prices = malloc((size_t) s->n * n_devices * sizeof *prices);
    int64_t any = 0;
    mo_status status = MO_OK;

    if (!prices)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++)
        for (size_t k = 0; k < n_devices; k++) {
            int64_t ns = price_ns[(size_t) s->ops[i] * n_devices + k];

            prices[(size_t) i * n_devices + k] = ns;
            any |= ns;
        }
    if (any > 0)
        status = mo_proven_bounds_add_prices(
            proven, pair, s->n, s->ops, prices,
            mo_priced_chain_entries(p->chain_prices, p->cls[segment]), err);
    free(prices);
    return status;
}

mo_status mo_search_priced_bound_export(mo_search_priced_bound *p,
                                        mo_proven_bounds *proven, mo_error *err)
{
    const int64_t *price_ns;
    size_t pair = 0;
    mo_status status = MO_OK;

    if (!p || !p->has_prices)
        return MO_OK;
    price_ns = mo_priced_chain_evaluate_best(p->chain_prices);
    if (p->refined != MO_OK) {
        if (err)
            *err = p->err;
        return p->refined;
    }
    /* Both are in the order of the chain. */
    for (int i = 0; i < p->chain.n && status == MO_OK; i++) {
        const mo_bound_segment *s = &p->chain.segments[i];

        if (s->n == 0 || s->u == MO_FREE || s->v == MO_FREE)
            continue;
        while (pair < proven->n && proven->pairs[pair].u < s->u)
            pair++;
        if (pair < proven->n && proven->pairs[pair].u == s->u &&
            proven->pairs[pair].v == s->v)
            status = export_segment(p, i, price_ns, proven, pair, err);
    }
    return status;
}
