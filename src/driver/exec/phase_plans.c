/* SPDX-License-Identifier: Apache-2.0 */
/* The plan of a workload: a plan for each phase, merged into one. */
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/exec_job.h"
#include "exec/plan/build.h"
#include "exec/plan/merge_phases.h"
#include "exec/plan/verify/verify.h"
#include "graph/phases.h"
#include "schedule/phase_schedule.h"

/* The map from the ops of a phase to those of its coarse graph: that of the
 * composed graphs, in the numbers of the phase. */
static mo_status make_map(const mo_problem *problem, int p,
                          mo_coarsen_map **map, mo_error *err)
{
    const mo_phase *fine = &problem->fine->phases->items[p];
    const mo_phases *coarse = problem->coarse->phases;
    mo_coarsen_map *made = NULL;
    mo_status status = mo_coarsen_map_new(
        fine->graph->n_ops, coarse->items[p].graph->n_ops, &made, err);

    for (int i = 0; i < fine->graph->n_ops && status == MO_OK; i++) {
        int target = problem->map->coarse_of[fine->op_of[i]];

        made->coarse_of[i] = target >= 0 ? coarse->source[target] : target;
    }
    if (status != MO_OK)
        return status;
    mo_coarsen_map_gather(made);
    *map = made;
    return MO_OK;
}

/* Reads the weights of a phase, which are in the folder of its graph. */
static mo_status open_weights(const mo_phase *phase,
                              const mo_weights_options *weights,
                              mo_exec_job *job, mo_weights_store **store,
                              mo_error *err)
{
    mo_weights_options own = *weights;
    char *copy =
        phase->graph->n_files > 0 ? strdup(phase->graph->files[0]) : NULL;
    mo_status status;

    if (copy && !job->bundle) {
        const char *folder = dirname(copy);

        own.folder = mo_arena_text(phase->graph->arena, folder, strlen(folder));
    }
    free(copy);
    if (!own.folder)
        return mo_fail_memory(err);
    own.share =
        job->n_others > 0 ? job->others[job->n_others - 1] : job->constants;
    status = mo_weights_new(phase->graph, &own, store, err);
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
    const mo_phase *phase = &problem->fine->phases->items[p];
    mo_plan_source own = *source;
    mo_schedule *schedule = NULL;
    mo_coarsen_map *map = NULL;
    mo_status status = open_weights(phase, weights, job, &own.constants, err);

    if (status == MO_OK)
        status = mo_phase_schedule_make(placed, p, problem->instance,
                                        job->review.evaluation.schedule,
                                        problem->phases[p], &schedule, err);
    if (status == MO_OK && problem->coarse)
        status = make_map(problem, p, &map, err);
    own.fine = phase->graph;
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
