#include "solvers/search/try.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "schedule/heft.h"
#include "schedule/sim.h"
#include "solvers/search/along.h"
#include "solvers/search/anneal.h"
#include "solvers/search/assist.h"
#include "solvers/search/exact.h"

enum { ALONG_PASSES = 3 };

typedef struct attempt {
    const mo_kinds *kinds;
    const mo_kind *kind;
    mo_try *it;
    mo_instance x; /* pinned; only the pins are its own */
    const mo_stop *stop;
} attempt;

/* Keeps the better of the two and frees the other; either may be NULL. */
static void keep_better(mo_schedule **best, mo_schedule *other)
{
    if (!*best || (other && other->makespan_ns < (*best)->makespan_ns)) {
        mo_schedule *kept = *best;

        *best = other;
        other = kept;
    }
    mo_schedule_free(other);
}

/* The better one, or, where variants are kept, all that lists make. */
static mo_status keep(const attempt *t, mo_schedule **best, mo_schedule *s,
                      mo_error *err)
{
    mo_try *it = t->it;
    mo_status status = MO_OK;

    if (!t->kinds->keep_variants || it->how != MO_TRY_START) {
        keep_better(best, s);
        return MO_OK;
    }
    status = MO_PUSH(it->more, it->n_more, it->more_room, err);
    if (status == MO_OK)
        it->more[it->n_more++] = s;
    else
        mo_schedule_free(s);
    return status;
}

static mo_status try_heft(const attempt *t, const int *placement,
                          mo_schedule **best, mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = mo_heft(&t->x, &t->kinds->regime, placement, &s, err);

    if (status == MO_OK && s)
        status = mo_schedule_shift(&t->x, s, err);
    if (status == MO_OK && s)
        return keep(t, best, s, err);
    mo_schedule_free(s);
    return status;
}

/* All that is not pinned on one device, with each of the states' devices. */
static mo_status try_alone(const attempt *t, mo_schedule **best, mo_error *err)
{
    const mo_states *states = t->kinds->states;
    int *placement = malloc((size_t) t->x.n * sizeof *placement);
    mo_status status = placement ? MO_OK : mo_fail_memory(err);

    for (int a = 0; a < states->n && status == MO_OK; a++) {
        for (int i = 0; i < t->x.n; i++)
            placement[i] =
                t->x.pin[i] == MO_FREE ? states->device[a] : t->x.pin[i];
        status = try_heft(t, placement, best, err);
    }
    free(placement);
    return status;
}

static mo_status start(const attempt *t, mo_schedule **best, mo_error *err)
{
    mo_status status = try_heft(t, NULL, best, err);

    return status == MO_OK ? try_alone(t, best, err) : status;
}

typedef struct starting {
    int64_t start_ns;
    int op;
} starting;

static int compare_starts(const void *a, const void *b)
{
    const starting *s = a, *t = b;

    if (s->start_ns != t->start_ns)
        return s->start_ns < t->start_ns ? -1 : 1;
    return (s->op > t->op) - (s->op < t->op);
}

/* Devices as in a schedule, but for the pins; ranks by its starts. */
static mo_status plan_like(const attempt *t, const mo_schedule *s,
                           mo_plan *plan, mo_error *err)
{
    starting *starts = malloc((size_t) s->n * sizeof *starts);

    if (!starts)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n; i++) {
        starts[i] = (starting){ s->start_ns[i], i };
        plan->device[i] = t->x.pin[i] == MO_FREE ? s->device[i] : t->x.pin[i];
    }
    qsort(starts, (size_t) s->n, sizeof *starts, compare_starts);
    for (int i = 0; i < s->n; i++)
        plan->rank[starts[i].op] = i;
    free(starts);
    return MO_OK;
}

/* Takes over what another pair has, if that is better here, too. */
static mo_status try_like(const attempt *t, const mo_schedule *like,
                          mo_sim *sim, mo_plan *plan, mo_schedule **best,
                          mo_error *err)
{
    mo_schedule *s = NULL;
    mo_status status = plan_like(t, like, plan, err);
    bool fits = false;

    if (status != MO_OK ||
        (*best &&
         mo_sim_run(sim, plan, (*best)->makespan_ns) >= (*best)->makespan_ns))
        return status;
    status = mo_sim_schedule(sim, plan, &s, err);
    if (status == MO_OK)
        status = mo_schedule_fits(&t->x, s, &fits, err);
    if (status == MO_OK && fits)
        keep_better(best, s);
    else
        mo_schedule_free(s);
    return status;
}

static mo_status try_others(const attempt *t, mo_schedule **best, mo_error *err)
{
    int n_pairs = t->kinds->states->n * t->kinds->states->n;
    size_t n = (size_t) t->x.n;
    mo_plan plan = { .device = malloc(n * sizeof *plan.device),
                     .rank = malloc(n * sizeof *plan.rank) };
    mo_sim *sim = NULL;
    mo_status status = plan.device && plan.rank
                           ? mo_sim_new(&t->x, &t->kinds->regime, &sim, err)
                           : mo_fail_memory(err);

    for (int pair = 0; pair < n_pairs && status == MO_OK; pair++) {
        const mo_schedule *like = t->kind->pairs[pair].best;

        if (like && pair != t->it->pair)
            status = try_like(t, like, sim, &plan, best, err);
    }
    mo_sim_free(sim);
    free(plan.device);
    free(plan.rank);
    return status;
}

/* The best there is to begin with. */
static mo_status find_start(const attempt *t, mo_schedule **best, mo_error *err)
{
    const mo_schedule *own = t->kind->pairs[t->it->pair].best;
    mo_status status = own && !t->it->anew
                           ? mo_schedule_copy(&t->x, own, best, err)
                           : start(t, best, err);

    return status == MO_OK && !t->it->anew ? try_others(t, best, err) : status;
}

/* Puts what the hint says over a schedule: devices, and starts for the ranks.
 */
static void follow_hint(const attempt *t, mo_schedule *s)
{
    const mo_try *it = t->it;
    const mo_segment *segment = it->segment;
    int u = segment->u, v = segment->v, n = t->x.n_devices;
    int64_t begin_ns =
        u == MO_FREE
            ? 0
            : s->start_ns[u] + mo_instance_p_ns(&t->x, u, s->device[u]);

    for (int i = 0; i < segment->n; i++) {
        s->device[segment->ops[i]] = it->hint->device[i];
        s->start_ns[segment->ops[i]] = begin_ns + it->hint->start_ns[i];
    }
    if (u != MO_FREE)
        s->device[u] = it->segment_pair / n;
    if (v != MO_FREE)
        s->device[v] = it->segment_pair % n;
}

/* Groups stay together: their ops go where the first of them is. */
static void join_groups(const attempt *t, mo_schedule *s, int *first)
{
    for (int g = 0; g < t->x.n_groups; g++)
        first[g] = -1;
    for (int i = 0; i < t->x.n; i++) {
        int group = t->x.group[i];

        if (group == MO_FREE)
            continue;
        if (first[group] < 0)
            first[group] = i;
        s->device[i] = s->device[first[group]];
    }
}

/* What the hint makes of the start, in its place; where that does not fit, the
 * start is left as it is. */
static mo_status start_by_hint(const attempt *t, mo_schedule **start_from,
                               mo_error *err)
{
    size_t n = (size_t) t->x.n;
    mo_plan plan = { .device = malloc(n * sizeof *plan.device),
                     .rank = malloc(n * sizeof *plan.rank) };
    int *first = malloc(((size_t) t->x.n_groups + 1) * sizeof *first);
    mo_schedule *like = NULL, *hinted = NULL;
    mo_sim *sim = NULL;
    mo_status status = plan.device && plan.rank && first
                           ? mo_sim_new(&t->x, &t->kinds->regime, &sim, err)
                           : mo_fail_memory(err);

    if (status == MO_OK)
        status = mo_schedule_copy(&t->x, *start_from, &like, err);
    if (status == MO_OK) {
        follow_hint(t, like);
        join_groups(t, like, first);
        status = try_like(t, like, sim, &plan, &hinted, err);
    }
    if (status == MO_OK && hinted) {
        mo_schedule_free(*start_from);
        *start_from = hinted;
    }
    mo_schedule_free(like);
    mo_sim_free(sim);
    free(first);
    free(plan.device);
    free(plan.rank);
    return status;
}

static mo_status anneal(const attempt *t, mo_error *err)
{
    mo_try *it = t->it;
    mo_anneal_options options = { .seed = it->seed,
                                  .moves = it->effort,
                                  .enough_ns = t->kind->lower_ns[it->pair],
                                  .stop = t->stop };
    mo_annealed annealed = { 0 };
    mo_schedule *from = NULL;
    mo_status status = find_start(t, &from, err);

    if (status == MO_OK && from && it->hint)
        status = start_by_hint(t, &from, err);
    if (it->fork && it->fork->n_classes > 0 && it->fork->classes[0].count > 1) {
        options.branch_ops = it->fork->classes[0].members;
        options.n_branches = it->fork->classes[0].count;
        options.branch_n = it->fork->classes[0].n;
    }
    if (status == MO_OK && from)
        status =
            mo_anneal(&t->x, &t->kinds->regime, from, &options, &annealed, err);
    if (status == MO_OK)
        keep_better(&from, annealed.schedule);
    it->schedule = from;
    return status;
}

/* In several passes, so that blocks can follow what others have found. */
static mo_status go_along(const attempt *t, mo_error *err)
{
    mo_try *it = t->it;
    mo_along_options options = { .seed = it->seed,
                                 .threads = 1,
                                 .stop = t->stop };
    mo_along *along = NULL;
    mo_status status =
        mo_along_new(&t->x, &t->kinds->regime, &options, &along, err);

    for (int pass = 0; pass < ALONG_PASSES && status == MO_OK; pass++)
        status =
            mo_along_improve(along, it->effort / ALONG_PASSES, t->stop, err);
    if (status == MO_OK)
        status = mo_along_assemble(along, &it->schedule, err);
    mo_along_free(along);
    return status;
}

static mo_status search_all(const attempt *t, mo_error *err)
{
    mo_try *it = t->it;
    mo_exact_options options = { .below_ns = t->kind->upper_ns[it->pair],
                                 .nodes = it->effort,
                                 .stop = t->stop };
    mo_exact_result result = { 0 };
    mo_status status =
        mo_exact(&t->x, &t->kinds->regime, &options, &result, err);

    if (status != MO_OK)
        return status;
    it->schedule = result.best;
    it->lower_ns = result.lower_ns;
    if (result.finished)
        it->lower_ns =
            result.best ? result.best->makespan_ns : options.below_ns;
    return MO_OK;
}

static mo_status ask_solver(const attempt *t, mo_error *err)
{
    mo_try *it = t->it;
    mo_assist_options options = { .solver = it->solver,
                                  .found = it->found,
                                  .start = t->kind->pairs[it->pair].best,
                                  .seconds = it->seconds,
                                  .stop = t->stop };
    mo_assisted assisted = { 0 };
    mo_status status =
        mo_assist_solve(&t->x, &t->kinds->regime, &options, &assisted, err);

    if (status != MO_OK)
        return status;
    it->lower_ns = assisted.lower_ns;
    it->schedule = assisted.schedule;
    return MO_OK;
}

static mo_status make(const attempt *t, mo_error *err)
{
    switch (t->it->how) {
    case MO_TRY_START:
        return start(t, &t->it->schedule, err);
    case MO_TRY_ANNEAL:
        return anneal(t, err);
    case MO_TRY_ALONG:
        return go_along(t, err);
    case MO_TRY_EXACT:
        return search_all(t, err);
    case MO_TRY_ASSIST:
        return ask_solver(t, err);
    }
    return MO_OK;
}

void mo_try_make(const mo_kinds *kinds, mo_try *it, const mo_stop *stop)
{
    attempt t = {
        .kinds = kinds, .kind = &kinds->kinds[it->kind], .it = it, .stop = stop
    };
    bool possible = false;

    it->status =
        mo_kind_pinned(kinds, t.kind, it->pair, &t.x, &possible, &it->err);
    if (it->status == MO_OK && !possible)
        it->lower_ns = INT64_MAX;
    else if (it->status == MO_OK)
        it->status = make(&t, &it->err);
    free(t.x.pin);
}
