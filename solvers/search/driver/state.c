/* SPDX-License-Identifier: Apache-2.0 */
#include "solvers/search/driver/state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/minmax.h"
#include "schedule/heuristic/single_device.h"
#include "solvers/search/decomp/compose.h"
#include "solvers/search/driver/priced_bound.h"

enum {
    MAX_ALL_STATES = 16, /* up to so many devices, each is a state */
    N_SOME_STATES = 8,   /* of more, the fastest */
    WHOLE_MAX_OPS = 40   /* up to this size no decomposition with memory */
};

/* With many devices the states are those with the shortest total time of all
 * ops. */
static mo_status choose_states(const mo_instance *x, mo_decomp_states *states,
                               mo_error *err)
{
    size_t n = (size_t) x->n_devices;
    mo_status status = MO_OK;

    assert(x->n_devices > 0); /* else gcc 13 warns of the sizes below */
    states->all = x->n_devices <= MAX_ALL_STATES;
    states->n = states->all ? x->n_devices : N_SOME_STATES;
    states->device = calloc(n, sizeof *states->device);
    states->state_of = calloc(n, sizeof *states->state_of);
    if (!states->device || !states->state_of)
        return mo_fail_memory(err);
    for (int a = 0; a < states->n; a++)
        states->device[a] = a;
    if (!states->all)
        status = mo_single_device_order(x, states->device, err);
    if (!states->all && status == MO_OK)
        qsort(states->device, (size_t) states->n, sizeof *states->device,
              mo_compare_int);
    for (int k = 0; k < x->n_devices; k++)
        states->state_of[k] = -1;
    for (int a = 0; a < states->n; a++)
        states->state_of[states->device[a]] = a;
    return status;
}

static void add_bytes(int64_t *sum, int64_t bytes)
{
    if (bytes > 0 && !mo_int64_add(*sum, bytes, sum))
        *sum = INT64_MAX;
}

static mo_status decompose(mo_search_state *s, bool use_cuts, mo_error *err)
{
    mo_status status =
        mo_decomp_segments_find(s->x, &s->regime, use_cuts, &s->segments, err);

    if (status == MO_OK)
        status = mo_decomp_classes_new(s->segments, &s->states, &s->regime,
                                       s->memory_matters && s->states.all,
                                       &s->classes, err);
    if (status == MO_OK)
        status = mo_decomp_path_new(s->segments, s->states.n, &s->path, err);
    return status;
}

static void free_decomposition(mo_search_state *s)
{
    for (int i = 0; s->forks && i < s->classes->n; i++)
        mo_forkjoin_free(s->forks[i]);
    free(s->forks);
    mo_search_priced_bound_free(s->priced);
    mo_chain_blocks_free(s->blocks);
    mo_decomp_path_free(s->path);
    mo_decomp_classes_free(s->classes);
    mo_decomp_segments_free(s->segments);
    s->forks = NULL;
    s->priced = NULL;
    s->blocks = NULL;
    s->path = NULL;
    s->classes = NULL;
    s->segments = NULL;
}

/* Returns the shortest path by upper or lower bounds, INT64_MAX: none. */
static int64_t shortest_path_ns(mo_search_state *s, bool upper)
{
    for (int i = 0; i < s->classes->n; i++)
        s->path->tables[i] = upper ? s->classes->classes[i].upper_ns
                                   : s->classes->classes[i].lower_ns;
    return mo_decomp_path_shortest(s->path);
}

mo_status mo_search_state_open(const mo_method_task *task, mo_search_state *s,
                               mo_error *err)
{
    int64_t bytes = 0;
    bool matters = false;
    mo_status status;

    *s = (mo_search_state){ .task = task,
                            .x = task->x,
                            .regime = task->regime,
                            .begin_ns = mo_stop_clock_ns(),
                            .hoped = 1,
                            .upper_path_ns = INT64_MAX };
    /* An upper bound on what can be on one device at once. */
    for (int i = 0; i < s->x->n; i++)
        add_bytes(&bytes, s->x->memory_bytes[i]);
    for (int t = 0; t < s->x->n_tensors && s->regime.memory == MO_MEMORY_LIVE;
         t++)
        for (int q = s->x->tensor_start[t]; q <= s->x->tensor_start[t + 1]; q++)
            add_bytes(&bytes, s->x->tensor_bytes[t]);
    for (int k = 0; k < s->x->n_devices; k++)
        matters = matters || bytes > s->x->capacity_bytes[k];
    s->memory_matters = matters && s->regime.memory != MO_MEMORY_NONE;
    if (!s->memory_matters)
        s->regime.memory = MO_MEMORY_NONE;
    status = choose_states(s->x, &s->states, err);
    if (status == MO_OK)
        status =
            decompose(s, !s->memory_matters || s->x->n > WHOLE_MAX_OPS, err);
    /* A cut may be pinned to a device that is no state. */
    if (status == MO_OK && shortest_path_ns(s, false) == INT64_MAX) {
        free_decomposition(s);
        status = decompose(s, false, err);
    }
    return status;
}

void mo_search_state_close(mo_search_state *s)
{
    free_decomposition(s);
    mo_schedule_free(s->best);
    free(s->states.device);
    free(s->states.state_of);
}

int64_t mo_search_upper_ns(const mo_search_state *s)
{
    return s->best ? s->best->makespan_ns : INT64_MAX;
}

double mo_search_gap(const mo_search_state *s)
{
    double makespan_ns = s->best ? (double) s->best->makespan_ns : 0;

    return makespan_ns > 0 ? 1 - (double) s->lower_ns / makespan_ns : 1;
}

bool mo_search_is_done(const mo_search_state *s)
{
    double makespan_ns;

    if (!s->best)
        return false;
    makespan_ns = (double) s->best->makespan_ns;
    return s->lower_ns >= s->best->makespan_ns ||
           makespan_ns - (double) s->lower_ns <= s->task->gap * makespan_ns;
}

/* Calls the progress callback, unless it is NULL. */
static void report_progress(const mo_search_state *s, const char *what)
{
    mo_method_progress progress = {
        mo_search_upper_ns(s), s->lower_ns,
        1e-9 * (double) (mo_stop_clock_ns() - s->begin_ns), what
    };

    if (s->task->on_progress)
        s->task->on_progress(s->task->context, &progress);
}

void mo_search_raise_lower(mo_search_state *s, int64_t lower_ns,
                           const char *what)
{
    if (lower_ns <= s->lower_ns)
        return;
    s->lower_ns = lower_ns;
    report_progress(s, what);
}

mo_status mo_search_submit_schedule(mo_search_state *s, mo_schedule *schedule,
                                    const char *what, mo_error *err)
{
    bool fits = false;
    mo_status status;

    if (!schedule)
        return MO_OK;
    schedule->regime = s->regime;
    status = mo_decomp_split_schedule(s->classes, schedule, err);
    if (status == MO_OK && schedule->makespan_ns < mo_search_upper_ns(s))
        status = mo_schedule_fits_memory(s->x, schedule, &fits, err);
    if (status != MO_OK || !fits) {
        mo_schedule_free(schedule);
        return status;
    }
    mo_schedule_free(s->best);
    s->best = schedule;
    report_progress(s, what);
    return MO_OK;
}

/* Raises the lower bounds of a class to the maximum of those proven for the
 * class itself and those of the chain of its blocks. */
static mo_status raise_class(const mo_search_state *s, int number,
                             mo_error *err)
{
    mo_decomp_class *cls = &s->classes->classes[number];
    int n_boundaries = s->states.n * s->states.n;
    int64_t *times_ns;
    mo_status status = MO_OK;

    if (!cls->part)
        return MO_OK;
    times_ns = malloc((size_t) n_boundaries * sizeof *times_ns);
    if (!times_ns)
        return mo_fail_memory(err);
    for (int boundary = 0; boundary < n_boundaries; boundary++)
        times_ns[boundary] = 0;
    if (s->blocks)
        status =
            mo_chain_blocks_min_times(s->blocks, number, NULL, times_ns, err);
    for (int boundary = 0; boundary < n_boundaries && status == MO_OK;
         boundary++) {
        int64_t *lower_ns = &cls->lower_ns[boundary];

        if (times_ns[boundary] > *lower_ns)
            *lower_ns = times_ns[boundary];
        if (cls->boundaries[boundary].own_ns > *lower_ns)
            *lower_ns = cls->boundaries[boundary].own_ns;
    }
    free(times_ns);
    return status;
}

static mo_status raise_classes(mo_search_state *s, const char *what,
                               mo_error *err)
{
    mo_status status = MO_OK;
    int64_t lower_ns;

    for (int i = 0; i < s->classes->n && status == MO_OK; i++)
        status = raise_class(s, i, err);
    if (status != MO_OK)
        return status;
    lower_ns = shortest_path_ns(s, false);
    /* If a cut may be on a device that is no state, nothing is proven. */
    if ((s->states.all || s->segments->n == 1) && lower_ns != INT64_MAX)
        mo_search_raise_lower(s, lower_ns, what);
    return MO_OK;
}

mo_status mo_search_update_bounds(mo_search_state *s, const char *what,
                                  mo_error *err)
{
    mo_schedule *schedule = NULL;
    int64_t upper_ns;
    mo_status status = raise_classes(s, what, err);

    if (status != MO_OK)
        return status;
    upper_ns = shortest_path_ns(s, true);
    if (upper_ns >= s->upper_path_ns)
        return MO_OK;
    s->upper_path_ns = upper_ns;
    if (upper_ns >= mo_search_upper_ns(s))
        return MO_OK;
    status = mo_decomp_compose(s->classes, s->path, NULL, &schedule, err);
    return status == MO_OK ? mo_search_submit_schedule(s, schedule, what, err)
                           : status;
}
