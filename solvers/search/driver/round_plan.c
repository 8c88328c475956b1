/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/round_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "base/random.h"
#include "solvers/search/driver/candidate_select.h"
#include "solvers/search/driver/job_choice.h"
#include "solvers/search/driver/memory_repair.h"
#include "solvers/search/driver/priced_bound.h"
#include "solvers/search/driver/priced_plan.h"

enum {
    MAX_LONG = 16,       /* long jobs in a round */
    FIRST_MAX_LONG = 4,  /* the same in the first, for an early incumbent, and
                            where memory binds */
    PRICED_MAX_LONG = 2, /* the same beside jobs with prices of memory */
    INITIAL_WORK =
        4000000,        /* ops x boundaries x devices, for initial schedules */
    MIN_SHARE = 10,     /* a tenth of the largest gain is still worth a job */
    START_EVERY = 2,    /* rounds with starts of the load bound, ... */
    LAST_START = 6,     /* ... up to this one, ... */
    MAX_STARTS = 4,     /* ... for at most so many classes ... */
    START_BRANCHES = 32 /* ... of so many branches: fewer are rounded badly */
};

struct mo_search_round_plan {
    mo_search_state *search;
    mo_search_candidates *candidates;
    mo_forkjoin **forks; /* by class: of its largest block; or NULL */
    int next_class;      /* next to get an initial schedule */
    int next_boundary;   /* of that class */
    bool only_equal;     /* only boundaries with equal devices */
    const mo_search_candidate **chosen; /* in this round */
    mo_primal_load_start **starts;      /* by class, of this round; or NULL */
};

/* Finds the equal branches of the largest block of each class; NULL: none. */
static mo_status find_forks(mo_search_round_plan *m, mo_error *err)
{
    const mo_chain_blocks *blocks = m->search->blocks;
    mo_status status = MO_OK;

    for (int i = 0; blocks && i < m->search->classes->n && status == MO_OK;
         i++) {
        const mo_chain_partition *c = &blocks->partitions[i];

        if (c->chain &&
            m->search->classes->classes[i].n > MO_SEARCH_EXACT_MAX_OPS)
            status = mo_forkjoin_find(&c->places,
                                      mo_search_largest_segment(c->chain),
                                      &m->forks[i], err);
    }
    return status;
}

/* Returns the number of feasible boundaries of the class. */
static int count_boundaries(const mo_decomp_classes *classes,
                            const mo_decomp_class *cls)
{
    int n = 0;

    for (int p = 0; p < classes->states->n * classes->states->n; p++)
        n += cls->lower_ns[p] != INT64_MAX;
    return n;
}

/* Returns the work of initial schedules at all feasible boundaries. */
static int64_t initial_work(const mo_search_round_plan *m)
{
    const mo_decomp_classes *classes = m->search->classes;
    int64_t work = 0;

    for (int i = 0; i < classes->n; i++)
        if (classes->classes[i].part)
            work += (int64_t) count_boundaries(classes, &classes->classes[i]) *
                    classes->classes[i].n *
                    (classes->states->n + classes->x->n_devices);
    return work;
}

mo_status mo_search_round_plan_new(mo_search_state *search,
                                   mo_search_round_plan **plan, mo_error *err)
{
    mo_search_round_plan *m = calloc(1, sizeof *m);
    mo_status status;

    if (!m)
        return mo_fail_memory(err);
    m->search = search;
    m->forks = calloc((size_t) search->classes->n, sizeof *m->forks);
    m->chosen = calloc(MO_SEARCH_MAX_PRIMAL_JOBS, sizeof *m->chosen);
    m->starts = calloc((size_t) search->classes->n, sizeof *m->starts);
    status = m->forks && m->chosen && m->starts
                 ? mo_search_candidates_new(search, &m->candidates, err)
                 : mo_fail_memory(err);
    if (status == MO_OK)
        status = find_forks(m, err);
    if (status == MO_OK) {
        m->only_equal = initial_work(m) > INITIAL_WORK;
        *plan = m;
    } else {
        mo_search_round_plan_free(m);
    }
    return status;
}

static void free_starts(mo_search_round_plan *m)
{
    for (int i = 0; i < m->search->classes->n && m->starts; i++) {
        mo_primal_load_start_free(m->starts[i]);
        m->starts[i] = NULL;
    }
}

void mo_search_round_plan_free(mo_search_round_plan *m)
{
    if (!m)
        return;
    free_starts(m);
    free(m->starts);
    for (int i = 0; i < m->search->classes->n && m->forks; i++)
        mo_forkjoin_free(m->forks[i]);
    mo_search_candidates_free(m->candidates);
    free(m->forks);
    free(m->chosen);
    free(m);
}

/* Whether the boundary gets an initial schedule. */
static bool needs_initial_schedule(const mo_search_round_plan *m,
                                   const mo_decomp_class *cls, int boundary)
{
    int n = m->search->states.n;

    return cls->part && cls->lower_ns[boundary] != INT64_MAX &&
           (!m->only_equal || boundary / n == boundary % n);
}

int mo_search_round_plan_initial_jobs(mo_search_round_plan *m,
                                      mo_search_primal_job *jobs)
{
    const mo_decomp_classes *classes = m->search->classes;
    int n_boundaries = classes->states->n * classes->states->n, n = 0;

    for (; m->next_class < classes->n; m->next_class++, m->next_boundary = 0)
        for (; m->next_boundary < n_boundaries; m->next_boundary++) {
            if (n == MO_SEARCH_MAX_PRIMAL_JOBS)
                return n;
            if (needs_initial_schedule(m, &classes->classes[m->next_class],
                                       m->next_boundary))
                jobs[n++] =
                    (mo_search_primal_job){ .cls = m->next_class,
                                            .boundary = m->next_boundary,
                                            .how = MO_SEARCH_PRIMAL_LIST };
        }
    return n;
}

static bool is_short_job(const mo_search_round_plan *m,
                         const mo_search_candidate *o)
{
    return m->search->classes->classes[o->cls].n <= MO_SEARCH_EXACT_MAX_OPS;
}

static bool is_priced(const mo_search_primal_job *it)
{
    return it->how == MO_SEARCH_PRIMAL_PRICED ||
           it->how == MO_SEARCH_PRIMAL_PRICED_HALVING;
}

/* Returns how many long jobs without prices a round has beside the jobs
 * with prices: none where equal branches are annealed with them. */
static int max_long_jobs(const mo_search_round_plan *m, int round,
                         const mo_search_primal_job *jobs, int n)
{
    if (round > 0 && !mo_search_memory_repair_needed(m->search))
        return MAX_LONG;
    if (round == 0 || n == 0)
        return FIRST_MAX_LONG;
    for (int i = 0; i < n; i++)
        if (is_priced(&jobs[i]) && jobs[i].fork &&
            mo_forkjoin_has_many_equal_branches(jobs[i].fork))
            return 0;
    return PRICED_MAX_LONG;
}

/* Chooses the candidates with the largest gains; a long job with little gain
 * beside the first long one is postponed. */
static int choose_candidates(mo_search_round_plan *m,
                             const mo_search_candidate *options, size_t n,
                             int most_long)
{
    int n_chosen = 0, n_long = 0;
    double least_ns = 0;

    for (size_t i = 0; i < n && n_chosen < MO_SEARCH_MAX_PRIMAL_JOBS / 2; i++) {
        bool takes_long = !is_short_job(m, &options[i]);

        if (takes_long &&
            (n_long == most_long || options[i].gain_ns < least_ns))
            continue;
        if (takes_long && n_long++ == 0)
            least_ns = options[i].gain_ns / MIN_SHARE;
        m->chosen[n_chosen++] = &options[i];
    }
    return n_chosen;
}

static mo_decomp_boundary *boundary_of(const mo_search_round_plan *m,
                                       const mo_search_candidate *o)
{
    return &m->search->classes->classes[o->cls].boundaries[o->boundary];
}

/* Returns how many copies of a job fill the round: more for a larger share of
 * the estimated gain. */
static int copies_for(const mo_search_round_plan *m,
                      const mo_search_candidate *o, int n_long, double sum_ns)
{
    int level = boundary_of(m, o)->level;
    int most = level < MO_SEARCH_MAX_COPIES ? level + 1 : MO_SEARCH_MAX_COPIES,
        copies;

    if (is_short_job(m, o) || o->exact ||
        mo_search_memory_repair_needed(m->search))
        return 1;
    copies = (int) ((MAX_LONG - n_long) * (o->gain_ns / sum_ns)) + 1;
    return mo_min_int(copies, most);
}

/* The longest jobs, the first copy of each, come first. */
static mo_status fill_jobs(mo_search_round_plan *m, int n_chosen, uint64_t seed,
                           mo_search_primal_job *jobs, int *n, mo_error *err)
{
    mo_status status = MO_OK;
    double sum_ns = 0;
    int n_long = 0;

    for (int i = 0; i < n_chosen; i++)
        if (!is_short_job(m, m->chosen[i])) {
            sum_ns += m->chosen[i]->gain_ns;
            n_long++;
        }
    for (int c = 0; c < MO_SEARCH_MAX_COPIES; c++)
        for (int i = 0;
             i < n_chosen && *n < MO_SEARCH_MAX_PRIMAL_JOBS && status == MO_OK;
             i++) {
            uint64_t own = mo_random_seed(seed, (uint64_t) *n);

            if (c < copies_for(m, m->chosen[i], n_long, sum_ns))
                status = mo_search_job_choose(m->search, m->forks, m->chosen[i],
                                              c, own, &jobs[(*n)++], err);
        }
    for (int i = 0; i < n_chosen; i++)
        boundary_of(m, m->chosen[i])->level++;
    return status;
}

/* Gives jobs with prices starts of the load bound: at first at the prices of
 * the bound, which are good before there are variants. */
static mo_status add_starts(mo_search_round_plan *m, int round,
                            mo_search_primal_job *jobs, int n, mo_error *err)
{
    const mo_search_state *s = m->search;
    double price_ns[MO_DECOMP_MAX_STATES];
    mo_status status = MO_OK;
    int n_starts = 0;

    free_starts(m);
    if (round % START_EVERY != 0 || round > LAST_START)
        return MO_OK;
    if (round > 0 || !mo_search_priced_bound_prices(s->priced, price_ns))
        memcpy(price_ns, s->classes->price_ns,
               (size_t) s->x->n_devices * sizeof *price_ns);
    for (int i = 0; i < n && status == MO_OK; i++) {
        int cls = jobs[i].cls;

        if (!is_priced(&jobs[i]) || !m->forks[cls] ||
            m->forks[cls]->n_classes == 0 ||
            m->forks[cls]->classes[0].count < START_BRANCHES)
            continue;
        if (!m->starts[cls] && n_starts++ < MAX_STARTS)
            status = mo_primal_load_start_new(
                m->forks[cls], &s->classes->regime, price_ns, s->task->threads,
                s->task->stop, &m->starts[cls], err);
        jobs[i].start = m->starts[cls];
    }
    return status;
}

mo_status mo_search_round_plan_next_jobs(mo_search_round_plan *m, int round,
                                         mo_search_primal_job *jobs, int *n,
                                         double *hoped, mo_error *err)
{
    uint64_t seed = mo_random_seed(m->search->task->seed, (uint64_t) round);
    const mo_search_candidate *options = NULL;
    size_t n_options = 0;
    mo_status status = mo_search_candidates_select(m->candidates, &options,
                                                   &n_options, hoped, err);

    /* Where memory binds, jobs with prices come first, in case that the time of
     * the round does not suffice for all. */
    *n = 0;
    if (status == MO_OK)
        status = mo_search_priced_plan_jobs(m->search, round, m->forks, jobs, n,
                                            MO_SEARCH_MAX_PRIMAL_JOBS, err);
    if (status == MO_OK)
        status = add_starts(m, round, jobs, *n, err);
    if (status == MO_OK)
        status = fill_jobs(m,
                           choose_candidates(m, options, n_options,
                                             max_long_jobs(m, round, jobs, *n)),
                           seed, jobs, n, err);
    return status;
}

static mo_status merge_schedule(mo_search_round_plan *m,
                                const mo_search_primal_job *it,
                                mo_schedule *schedule, mo_error *err)
{
    mo_search_state *s = m->search;

    if (schedule && s->blocks)
        mo_chain_blocks_record_schedule(s->blocks, it->cls, schedule);
    return mo_decomp_class_update_upper(
        s->classes, &s->classes->classes[it->cls], it->boundary, schedule, err);
}

/* Returns the least priced time of the boundary, INFINITY: no variant. */
static double least_priced_ns(const mo_search_round_plan *m,
                              const mo_search_primal_job *it)
{
    const mo_decomp_classes *classes = m->search->classes;
    double ns = INFINITY;

    mo_decomp_class_cheapest_variant(classes, &classes->classes[it->cls],
                                     it->boundary, classes->price_ns, &ns);
    return ns;
}

mo_status mo_search_round_plan_merge_result(mo_search_round_plan *m,
                                            mo_search_primal_job *it,
                                            mo_error *err)
{
    mo_decomp_class *cls = &m->search->classes->classes[it->cls];
    mo_decomp_boundary *boundary = &cls->boundaries[it->boundary];
    double before_ns = least_priced_ns(m, it);
    mo_status status;

    if (it->how == MO_SEARCH_PRIMAL_EXACT &&
        (it->lower_ns > cls->lower_ns[it->boundary] || it->schedule))
        boundary->exact_pays = true;
    status = merge_schedule(m, it, it->schedule, err);
    if (it->lower_ns > boundary->own_ns)
        boundary->own_ns = it->lower_ns;
    for (size_t i = 0; i < it->n_more; i++) {
        mo_status other = merge_schedule(m, it, it->more[i], err);

        status = status == MO_OK ? other : status;
    }
    /* Not done: the next is no longer.  In vain: less is expected of it. */
    if (is_priced(it) && it->stopped)
        boundary->priced_level--;
    else if (is_priced(it) && least_priced_ns(m, it) >= before_ns)
        boundary->priced_level++;
    free(it->more);
    free(it->capacity_bytes);
    it->schedule = NULL;
    it->capacity_bytes = NULL;
    it->more = NULL;
    it->n_more = 0;
    return status;
}
