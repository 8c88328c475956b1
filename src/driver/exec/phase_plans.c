/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a workload, or of a replicated solution: a plan for each phase or
 * copy, merged into one. */
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "driver/exec/exec_job.h"
#include "exec/plan/build.h"
#include "exec/plan/verify/verify.h"
#include "graph/phases.h"
#include "schedule/phase_schedule.h"

/* Returns the op of a phase's placed graph for an op of its fine graph. */
static int find_placed(const mo_problem *problem, int p, int op)
{
    const mo_phase *fine = &problem->fine->phases->items[p];
    int target;

    if (!problem->coarse)
        return op;
    target = problem->map->coarse_of[fine->op_of[op]];
    return target >= 0 ? problem->coarse->phases->source[target] : target;
}

/* Ops of a graph that runs in place of the fine one have the names of its ops,
 * and perhaps a part behind a '/'; a name of a part alone is of no op. */
static mo_status find_fine(const mo_graph *fine, const mo_graph *runs,
                           int *fine_of, mo_error *err)
{
    mo_arena *arena = mo_arena_new();
    mo_intern *names = arena ? mo_intern_new(arena) : NULL;
    mo_status status = names ? MO_OK : mo_fail_memory(err);
    int number;

    for (int i = 0; i < fine->n_ops && status == MO_OK; i++)
        status = mo_intern_put(names, fine->ops[i].name,
                               strlen(fine->ops[i].name), &number, err);
    for (int i = 0; i < runs->n_ops && status == MO_OK; i++) {
        const char *name = runs->ops[i].name;
        size_t length = strcspn(name, "/");

        fine_of[i] = length > 0 ? mo_intern_find(names, name, length)
                                : MO_COARSEN_MAP_REPLICATED;
        if (length > 0 && fine_of[i] < 0)
            status =
                mo_fail(err, MO_E_INPUT, "op '%.80s' was not placed", name);
    }
    mo_intern_free(names);
    mo_arena_free(arena);
    return status;
}

/* The map from the ops of the graph that runs as a phase to those of the placed
 * graph: that of the composed graphs, in the numbers of the phase. */
static mo_status make_map(const mo_problem *problem, int p,
                          const mo_graph *runs, mo_coarsen_map **map,
                          mo_error *err)
{
    const mo_graph *fine = problem->fine->phases->items[p].graph;
    mo_coarsen_map *made = NULL;
    mo_status status = mo_coarsen_map_new(
        runs->n_ops, mo_problem_placed(problem)->phases->items[p].graph->n_ops,
        &made, err);

    if (status != MO_OK)
        return status;
    for (int i = 0; i < runs->n_ops; i++)
        made->coarse_of[i] = i;
    if (runs != fine)
        status = find_fine(fine, runs, made->coarse_of, err);
    for (int i = 0; i < runs->n_ops && status == MO_OK; i++)
        if (made->coarse_of[i] >= 0)
            made->coarse_of[i] = find_placed(problem, p, made->coarse_of[i]);
    if (status != MO_OK) {
        mo_coarsen_map_free(made);
        return status;
    }
    mo_coarsen_map_gather(made);
    *map = made;
    return MO_OK;
}

/* Reads the weights of a graph, which are in its folder. */
static mo_status open_weights(const mo_graph *graph,
                              const mo_weights_options *weights,
                              mo_exec_job *job, mo_weights_store **store,
                              mo_error *err)
{
    mo_weights_options own = *weights;
    char *copy = graph->n_files > 0 ? strdup(graph->files[0]) : NULL;
    mo_status status;

    if (copy && !job->bundle) {
        const char *folder = dirname(copy);

        own.folder = mo_arena_text(graph->arena, folder, strlen(folder));
    }
    free(copy);
    if (!own.folder)
        return mo_fail_memory(err);
    own.share =
        job->n_others > 0 ? job->others[job->n_others - 1] : job->constants;
    status = mo_weights_new(graph, &own, store, err);
    if (status != MO_OK)
        return status;
    if (job->constants)
        job->others[job->n_others++] = *store;
    else
        job->constants = *store;
    return MO_OK;
}

static mo_status plan_phase(const mo_plan_source *source, int p,
                            const mo_weights_options *weights, mo_exec_job *job,
                            mo_exec_plan **plan, mo_error *err)
{
    const mo_problem *problem = &job->review.problem;
    const mo_phases *placed = mo_problem_placed(problem)->phases;
    const mo_graph *fine = problem->fine->phases->items[p].graph;
    const mo_graph *runs = job->phases[0] ? job->phases[p] : fine;
    mo_plan_source own = *source;
    mo_schedule *schedule = NULL;
    mo_coarsen_map *map = NULL;
    mo_status status = open_weights(runs, weights, job, &own.constants, err);

    if (status == MO_OK)
        status = mo_phase_schedule_make(placed, p, problem->instance,
                                        job->review.evaluation.schedule,
                                        problem->phases[p], &schedule, err);
    if (status == MO_OK && (problem->coarse || runs != fine))
        status = make_map(problem, p, runs, &map, err);
    own.fine = runs;
    own.placed = placed->items[p].graph;
    own.map = map;
    own.instance = problem->phases[p];
    own.schedule = schedule;
    own.keeps_state = true;
    if (status == MO_OK)
        status = mo_plan_build(&own, plan, err);
    if (status == MO_OK)
        status = mo_verify_plan(*plan, err);
    mo_coarsen_map_free(map);
    mo_schedule_free(schedule);
    return status;
}

mo_status mo_exec_job_plan_phases(const mo_plan_source *source,
                                  const mo_weights_options *weights,
                                  mo_exec_job *job, mo_error *err)
{
    const mo_phases *phases = job->review.problem.fine->phases;
    size_t n = (size_t) phases->n;
    mo_exec_plan **plans = calloc(n, sizeof(mo_exec_plan *));
    const char **names = calloc(n, sizeof(char *));
    mo_plan_source own = *source;
    mo_status status;

    job->others = calloc(n, sizeof *job->others);
    status = plans && names && job->others ? MO_OK : mo_fail_memory(err);
    for (int p = 0; p < phases->n && status == MO_OK; p++) {
        names[p] = phases->items[p].name;
        own.earlier = p > 0 ? plans[p - 1] : NULL;
        status = plan_phase(&own, p, weights, job, &plans[p], err);
    }
    if (status == MO_OK)
        status = mo_plan_merge_phases(plans, names, phases->n, &job->plan, err);
    for (int p = 0; p < phases->n && plans && status != MO_OK; p++)
        mo_plan_free(plans[p]);
    free(names);
    free(plans);
    return status;
}

mo_status mo_exec_job_plan_copies(const mo_plan_source *source,
                                  mo_exec_job *job, mo_error *err)
{
    const mo_answer_evaluation *all = &job->review.evaluation;
    size_t n = 1 + (size_t) all->n_further;
    mo_exec_plan **plans = calloc(n, sizeof(mo_exec_plan *));
    char(*names)[32] = calloc(n, sizeof *names);
    const char **shown = calloc(n, sizeof(char *));
    mo_plan_source own = *source;
    mo_status status;

    job->copies = calloc(n, sizeof *job->copies);
    status =
        plans && names && shown && job->copies ? MO_OK : mo_fail_memory(err);
    for (size_t c = 0; c < n && status == MO_OK; c++) {
        const mo_answer_evaluation *copy = c == 0 ? all : &all->further[c - 1];

        snprintf(names[c], sizeof names[c], "copy %zu", c + 1);
        shown[c] = names[c];
        job->copies[c] = (mo_pipeline_copy){
            .n_slots = 1,
            .latency_ns = copy->schedule->makespan_ns,
            .period_ns = c == 0 ? all->own_period_ns : copy->period_ns,
        };
        own.schedule = copy->schedule;
        own.earlier = c > 0 ? plans[c - 1] : NULL;
        status = mo_plan_build(&own, &plans[c], err);
        if (status == MO_OK)
            status = mo_verify_plan(plans[c], err);
        own.on_unsupported = NULL;
    }
    if (status == MO_OK)
        status = mo_plan_merge_phases(plans, shown, (int) n, &job->plan, err);
    if (status == MO_OK)
        job->n_copies = (int) n;
    for (size_t c = 0; c < n && plans && status != MO_OK; c++)
        mo_plan_free(plans[c]);
    free(names);
    free(shown);
    free(plans);
    return status;
}
