/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/known_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "driver/evaluate_answer.h"
#include "driver/placement_solution.h"
#include "models/formulation.h"
#include "schedule/heuristic/upper_bound.h"
#include "schedule/period/modulo_schedule.h"

mo_objective mo_known_schedule_objective(const mo_answer_selector *j)
{
    const mo_provenance *o = &j->review.origin;

    return o->has_options && mo_formulation_has_period(o->formulation)
               ? MO_OBJECTIVE_PERIOD
               : MO_OBJECTIVE_LATENCY;
}

void mo_known_schedule_take(mo_answer_selector *j, mo_schedule *schedule,
                            const char *by)
{
    mo_error err = { 0 };
    int64_t ns = 0;
    mo_status status = mo_period_objective(
        j->review.problem.instance, mo_known_schedule_objective(j),
        (int) j->review.origin.in_flight, schedule, &ns, &err);

    if (status != MO_OK)
        mo_answer_selector_note_failure(j, &err);
    if (status != MO_OK || (j->known && j->known_ns <= ns)) {
        mo_schedule_free(schedule);
        return;
    }
    mo_schedule_free(j->known);
    j->known = schedule;
    j->known_ns = ns;
    j->known_by = by;
}

bool mo_known_schedule_find(mo_answer_selector *j)
{
    const mo_review *r = &j->review;
    mo_schedule *schedule = NULL;
    mo_error err = { 0 };
    int64_t bound_ns;

    if (!mo_answer_selector_can_refute(j))
        return false;
    if (!j->tried_heuristic &&
        mo_bound_upper(r->problem.instance, &r->regime, &schedule, &bound_ns,
                       &err) != MO_OK)
        mo_answer_selector_note_failure(j, &err);
    j->tried_heuristic = true;
    if (schedule)
        mo_known_schedule_take(j, schedule, "heuristic");
    return j->known != NULL;
}

/* Writes the schedule as a solution. Identity columns are those of the
 * model. */
static mo_status write_schedule(const mo_answer_selector *j, const char *path,
                                mo_error *err)
{
    const mo_review *r = &j->review;
    mo_provenance_texts texts;
    mo_place_solution solution = { .x = r->problem.instance,
                                   .schedule = j->known,
                                   .made_of = r->problem.made_of,
                                   .method = j->known_by,
                                   .objective = mo_known_schedule_objective(j),
                                   .period_ns = j->known_ns };

    solution.made_of.read = mo_answer_read_options(&r->origin, &texts);
    return mo_place_solution_save(&solution, path, err);
}

static bool is_shorter(int64_t known_ns, const mo_portfolio_member *best)
{
    return !best || !best->evaluated || !best->evaluation.schedule ||
           known_ns < mo_answer_evaluation_objective_ns(&best->evaluation);
}

mo_status mo_known_schedule_enter(mo_answer_selector *j,
                                  const mo_workdir *folder, mo_portfolio *c,
                                  mo_answer_selection *selection, mo_error *err)
{
    mo_portfolio_member *e = &c->entries[c->n];
    char *path;
    mo_status status;

    if (!j->known || !j->is_emitted || j->review.origin.shapes.is_cut ||
        j->review.origin.values.is_cut || c->n == MO_PORTFOLIO_ENTRIES ||
        !is_shorter(j->known_ns, selection->best))
        return MO_OK;
    path = mo_workdir_file(folder, "known.sol");
    status = path ? write_schedule(j, path, err) : mo_fail_memory(err);
    if (status == MO_OK) {
        *e = (mo_portfolio_member){ .is_start = true,
                                    .origin = j->known_by,
                                    .ended = true,
                                    .outcome = {
                                        .claim = MO_SOLUTION_STATUS_FEASIBLE,
                                        .text = "a shorter schedule" } };
        c->n++;
        status = mo_solution_read(path, &e->outcome.solution, err);
    }
    free(path);
    if (status != MO_OK)
        return status;
    mo_answer_selector_on_answer(j, e);
    mo_answer_selector_select(j, c, selection);
    return MO_OK;
}
