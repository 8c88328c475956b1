/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/case_split.h"

#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "solvers/search/bound/chain/interval_load.h"
#include "solvers/search/bound/chain/time_windows.h"
#include "solvers/search/driver/job.h"

/*
 * Destructive lower bound: assume that all ends within T. For each device of a
 * hub op, propagate the time windows of all ops and test interval loads: if
 * some window is empty or an interval is overloaded, the device is removed
 * from the op's domain. An empty domain refutes T: the class takes longer.
 */

enum {
    MAX_HUBS = 3,
    CASES_STEPS = 1 << 30, /* of a certificate */
    MAX_CYCLES = 3,        /* over the hubs, for one T */
    FINENESS = 4000,       /* bisection ends at this part of the bound */
    MAX_WORK = 1 << 18,    /* ops and flows x boundaries */
    MAX_LINKS = 1 << 12,
    STEP_WORK = 2 /* of a step (mo_stop_spend) */
};

/* An op of the chain and the number of its flows that do not go to the next
 * block of the chain. */
typedef struct hub {
    int op, readers;
} hub;

typedef struct case_split {
    const mo_decomp_class *cls;
    int boundary;
    const mo_search_case_split_options *options;
    hub hubs[MAX_HUBS]; /* most readers first */
    int n_hubs;
    mo_chain_windows *windows;
    mo_chain_interval_load *loads;
    bool *allowed; /* domains: device not refuted for op */
    size_t size;   /* of allowed, in bytes */
} case_split;

static bool is_budget_spent(const case_split *f)
{
    return *f->options->steps <= 0 || mo_stop_reached(f->options->stop);
}

/* Inserts into the sorted hubs; of equals the first stays in front. */
static void insert_hub(case_split *f, hub new)
{
    int at = f->n_hubs;

    if (new.readers < f->options->least_readers)
        return;
    while (at > 0 && f->hubs[at - 1].readers < new.readers)
        at--;
    if (at == MAX_HUBS)
        return;
    if (f->n_hubs < MAX_HUBS)
        f->n_hubs++;
    memmove(f->hubs + at + 1, f->hubs + at,
            (size_t) (f->n_hubs - 1 - at) * sizeof *f->hubs);
    f->hubs[at] = new;
}

static mo_status find_hubs(case_split *f, const mo_chain_partition *chained,
                           mo_error *err)
{
    const mo_instance *x = chained->places.x;
    const mo_bound_chain *chain = chained->chain;
    int *segment_of = malloc((size_t) x->n * sizeof *segment_of);

    if (!segment_of)
        return mo_fail_memory(err);
    for (int i = 0; i < x->n; i++)
        segment_of[i] = -1;
    for (int s = 0; s < chain->n; s++) {
        for (int i = 0; i < chain->segments[s].n; i++)
            segment_of[chain->segments[s].ops[i]] = s;
        if (chain->segments[s].v != MO_FREE)
            segment_of[chain->segments[s].v] = s;
    }
    for (int s = 1; s < chain->n; s++) {
        hub new = { chain->segments[s].u, 0 };

        for (int q = x->out_start[new.op]; q < x->out_start[new.op + 1]; q++)
            new.readers += segment_of[x->flows[q].to] != s;
        insert_hub(f, new);
    }
    free(segment_of);
    return MO_OK;
}

/* Tests whether the op cannot be on device k within the time. */
static mo_status refute_case(case_split *f, int op, int k, int64_t time_ns,
                             bool *refuted, mo_error *err)
{
    mo_chain_windows *w = f->windows;
    const mo_instance *x = w->places.x;
    int64_t at = mo_allowed_devices_index(&w->places, op, k);
    int64_t steps = (int64_t) (x->n + x->n_flows) * x->n_devices;
    mo_status status = MO_OK;

    mo_chain_windows_fix(w, op, k);
    *refuted = !mo_chain_windows_propagate(w, time_ns);
    if (!*refuted)
        status = mo_chain_interval_load_refute(f->loads, time_ns,
                                               w->head_ns[at] + x->p_ns[at],
                                               &steps, refuted, err);
    *f->options->steps -= steps;
    return status;
}

/* Removes refuted devices from the domain of an op; *any: at least one,
 * *fails: all. */
static mo_status filter_hub(case_split *f, int op, int64_t time_ns, bool *any,
                            bool *fails, mo_error *err)
{
    mo_chain_windows *w = f->windows;
    bool left = false;
    mo_status status = MO_OK;

    for (int k = 0; k < w->places.x->n_devices && status == MO_OK; k++) {
        int64_t at = mo_allowed_devices_index(&w->places, op, k);
        bool refuted = false;

        if (!f->allowed[at])
            continue;
        if (!is_budget_spent(f))
            status = refute_case(f, op, k, time_ns, &refuted, err);
        f->allowed[at] = !refuted;
        *any = *any || refuted;
        left = left || !refuted;
        memcpy(w->places.allowed, f->allowed, f->size);
    }
    *fails = status == MO_OK && !left;
    return status;
}

/* Resets domains to those of the class, with u and v fixed by the boundary. */
static void reset_domains(case_split *f)
{
    int n = f->windows->places.x->n_devices;

    memcpy(f->windows->places.allowed, f->windows->partition->places.allowed,
           f->size);
    if (f->cls->u != MO_FREE)
        mo_chain_windows_fix(f->windows, f->cls->u, f->boundary / n);
    if (f->cls->v != MO_FREE)
        mo_chain_windows_fix(f->windows, f->cls->v, f->boundary % n);
}

/* Sets *fails if no schedule ends within the time. */
static mo_status refute_time(case_split *f, int64_t time_ns, bool *fails,
                             mo_error *err)
{
    mo_status status = MO_OK;
    bool any = true;

    reset_domains(f);
    *fails = false;
    for (int i = 0; i < MAX_CYCLES && any && !*fails && status == MO_OK; i++) {
        any = false;
        *fails = !mo_chain_windows_propagate(f->windows, time_ns);
        memcpy(f->allowed, f->windows->places.allowed, f->size);
        for (int j = 0; j < f->n_hubs && !*fails && status == MO_OK; j++)
            status = filter_hub(f, f->hubs[j].op, time_ns, &any, fails, err);
    }
    return status;
}

/* Bisection between the proven bound and most_ns. */
static mo_status bisect_bound(case_split *f, int64_t *lower_ns, mo_error *err)
{
    int64_t most_ns = f->options->most_ns, wanted_ns = most_ns;
    mo_status status = MO_OK;

    while (status == MO_OK && !is_budget_spent(f) &&
           most_ns - *lower_ns > *lower_ns / FINENESS) {
        bool fails;

        status = refute_time(f, wanted_ns - 1, &fails, err);
        if (status == MO_OK && fails)
            *lower_ns = wanted_ns;
        else
            most_ns = wanted_ns - 1;
        wanted_ns = *lower_ns + (most_ns - *lower_ns + 1) / 2;
    }
    return status;
}

static mo_status open_case_split(case_split *f, const mo_chain_blocks *blocks,
                                 int cls, mo_error *err)
{
    const mo_chain_partition *chained = &blocks->partitions[cls];
    const mo_instance *x = chained->places.x;
    mo_status status = find_hubs(f, chained, err);

    if (status != MO_OK || f->n_hubs == 0)
        return status;
    f->cls = &blocks->classes->classes[cls];
    f->size = (size_t) x->n * (size_t) x->n_devices * sizeof *f->allowed;
    f->allowed = malloc(f->size);
    status = f->allowed ? mo_chain_windows_new(blocks, cls, &f->windows, err)
                        : mo_fail_memory(err);
    return status == MO_OK
               ? mo_chain_interval_load_new(f->windows, &f->loads, err)
               : status;
}

mo_status
mo_search_case_split_bound(const mo_chain_blocks *blocks, int cls, int boundary,
                           const mo_search_case_split_options *options,
                           int64_t *lower_ns, mo_error *err)
{
    case_split f = { .boundary = boundary, .options = options };
    mo_status status = open_case_split(&f, blocks, cls, err);

    if (status == MO_OK && f.n_hubs > 0)
        status = bisect_bound(&f, lower_ns, err);
    free(f.allowed);
    mo_chain_interval_load_free(f.loads);
    mo_chain_windows_free(f.windows);
    return status;
}

/* Returns whether windows and interval loads would take too long. */
static bool exceeds_work(const mo_instance *x)
{
    int64_t n_boundaries = (int64_t) x->n_devices * x->n_devices;

    return ((int64_t) x->n + x->n_flows) * n_boundaries > MAX_WORK ||
           x->routing.n_links > MAX_LINKS;
}

typedef struct hubs_job {
    mo_search_state *search;
    int64_t *own_ns; /* by class and boundary: proven, 0: nothing yet */
    int64_t steps;   /* of the round */
    uint64_t known;  /* sum of incumbent and bounds at the last round: they
                        change it */
    int64_t granted; /* work of the last round */
    bool was_cut;    /* which has ended it */
} hubs_job;

/* Sets *any if some class has a hub and is small enough. */
static mo_status find_any_hub(const mo_search_state *s, bool *any,
                              mo_error *err)
{
    const mo_search_case_split_options options = {
        .least_readers = MO_SEARCH_CASE_LEAST_READERS
    };
    mo_status status = MO_OK;

    for (int i = 0; i < s->classes->n && !*any && status == MO_OK; i++) {
        case_split f = { .options = &options };

        if (!s->classes->classes[i].part ||
            exceeds_work(s->classes->classes[i].part->x))
            continue;
        status = find_hubs(&f, &s->blocks->partitions[i], err);
        *any = f.n_hubs > 0;
    }
    return status;
}

static mo_status open_job(mo_search_state *s, void **self, mo_error *err)
{
    size_t n_boundaries = (size_t) (s->states.n * s->states.n);
    hubs_job *m;
    bool any = false;
    mo_status status = s->blocks ? find_any_hub(s, &any, err) : MO_OK;

    if (status != MO_OK || !any)
        return status;
    m = calloc(1, sizeof *m);
    if (!m)
        return mo_fail_memory(err);
    *self = m;
    m->search = s;
    m->own_ns =
        calloc((size_t) s->classes->n + 1, n_boundaries * sizeof *m->own_ns);
    return m->own_ns ? MO_OK : mo_fail_memory(err);
}

static void close_job(void *self)
{
    hubs_job *m = self;

    free(m->own_ns);
    free(m);
}

/* Nothing new is proven until the incumbent or a bound has changed, or there is
 * twice the work of a round that was too short. */
static mo_status plan_job(void *self, const mo_search_grant *grant, int *n,
                          mo_error *err)
{
    hubs_job *m = self;
    const mo_search_state *s = m->search;
    uint64_t known = (uint64_t) mo_search_upper_ns(s);

    (void) err;
    for (int i = 0; i < s->classes->n; i++)
        for (int p = 0; p < s->states.n * s->states.n; p++)
            known += (uint64_t) s->classes->classes[i].lower_ns[p];
    *n = s->best && grant->work >= STEP_WORK &&
         (known != m->known || (m->was_cut && grant->work >= 2 * m->granted));
    if (*n > 0) {
        m->known = known;
        m->granted = grant->work;
        m->steps = grant->work / STEP_WORK;
    }
    return MO_OK;
}

/* Raises the boundaries that might be on a path shorter than the incumbent.
 * None of them has to become longer by more than the gap of the whole. */
static mo_status raise_class(hubs_job *m, int number, const mo_stop *stop,
                             mo_error *err)
{
    const mo_search_state *s = m->search;
    const mo_decomp_class *cls = &s->classes->classes[number];
    int64_t gap_ns = s->best->makespan_ns - s->lower_ns, far_ns = INT64_MAX;
    int n_boundaries = s->states.n * s->states.n;
    mo_status status = MO_OK;

    if (!cls->part || exceeds_work(cls->part->x))
        return MO_OK;
    for (int p = 0; p < n_boundaries; p++)
        far_ns = mo_min_i64(far_ns, cls->lower_ns[p]);
    if (far_ns < MO_MAX_TOTAL_NS)
        far_ns += gap_ns;
    for (int p = 0; p < n_boundaries && status == MO_OK; p++) {
        int64_t *own_ns = &m->own_ns[number * n_boundaries + p];
        int64_t lower_ns = cls->lower_ns[p];
        mo_search_case_split_options options = { lower_ns + gap_ns,
                                                 MO_SEARCH_CASE_LEAST_READERS,
                                                 &m->steps, stop };

        if (lower_ns >= far_ns)
            continue;
        status = mo_search_case_split_bound(s->blocks, number, p, &options,
                                            &lower_ns, err);
        *own_ns = mo_max_i64(*own_ns, lower_ns);
    }
    return status;
}

static mo_status run_job(void *self, int item, const mo_stop *stop,
                         mo_error *err)
{
    hubs_job *m = self;
    int64_t steps = m->steps;
    mo_status status = MO_OK;

    (void) item;
    for (int i = 0; i < m->search->classes->n && status == MO_OK; i++)
        status = raise_class(m, i, stop, err);
    m->was_cut = m->steps <= 0 || mo_stop_reached(stop);
    mo_stop_spend(stop, STEP_WORK * (steps - m->steps));
    return status;
}

static mo_status merge_job(void *self, const mo_stop *stop, mo_error *err)
{
    hubs_job *m = self;
    int n_boundaries = m->search->states.n * m->search->states.n;

    (void) stop;
    for (int i = 0; i < m->search->classes->n; i++) {
        mo_decomp_boundary *boundaries =
            m->search->classes->classes[i].boundaries;

        for (int p = 0; boundaries && p < n_boundaries; p++) {
            int64_t own_ns = m->own_ns[i * n_boundaries + p];

            if (own_ns <= boundaries[p].own_ns)
                continue;
            boundaries[p].own_ns = own_ns;
            boundaries[p].reason = (mo_proof_reason){
                .known = true, .kind = MO_PROOF_CASES, .params = { CASES_STEPS }
            };
        }
    }
    return mo_search_update_bounds(m->search, "cases of ops that many read",
                                   err);
}

const mo_search_job mo_search_job_hubs = {
    .name = "case split on hub ops",
    .ablation = MO_ABLATION_job_hubs,
    .weight = 1,
    .opens = true,
    .open = open_job,
    .close = close_job,
    .plan = plan_job,
    .run = run_job,
    .merge = merge_job,
};
