/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by MILP solvers, which run in child processes. */
#include <config.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/minmax.h"
#include "driver/file_hints.h"
#include "driver/portfolio.h"
#include "driver/raise_bound.h"
#include "lib/handles.h"
#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"
#include "solvers/process/interrupt.h"
#include "solvers/process/workdir.h"

/* A model and what it refers to.  Cleared by clear_built(). */
typedef struct built_model {
    mo_prepared made; /* loaded belongs to the instance */
    mo_prepared_model model;
} built_model;

static void clear_built(built_model *b)
{
    mo_prepared_model_clear(&b->model);
    b->made.loaded = (mo_problem){ 0 };
    mo_prepared_clear(&b->made);
}

/* Makes the model of the instance by the options formulation, closure, slack,
 * unit and strengthen.  Patterns consist of the results of a search; before
 * other models there is one only where it is requested. */
static mo_status make_model(const moirai_instance *instance,
                            const moirai_options *options, bool is_output,
                            built_model *b, mo_error *err)
{
    const mo_driver_log logger = mo_lib_log(options);
    const mo_regime *regime = &instance->regime;
    mo_prepare_options p = mo_lib_settings_of(options)->prepare;
    mo_strengthen_options s = mo_lib_settings_of(options)->strengthen;
    mo_status status;

    b->made.loaded = mo_lib_instance_review(instance).problem;
    p.congestion = mo_congestion_names[regime->congestion];
    p.tensors = mo_tensors_names[regime->tensors];
    p.memory = mo_memory_names[regime->memory];
    p.objective = mo_objective_names[instance->objective];
    p.in_flight = instance->in_flight;
    s.outer = options ? &options->stop : NULL;
    s.writes_model = is_output;
    if (!is_output)
        s.limit_s = mo_lib_settings_of(options)->portfolio.time_s / 2;
    status = mo_prepare_choose_formulation(&p, NULL, err);
    if (status == MO_OK && !is_output &&
        mo_formulation_of(p.formulation)->lacks_places)
        status = mo_fail(err, MO_E_USAGE,
                         "the model of %s does not say where ops are; take "
                         "another formulation",
                         p.formulation);
    if (status == MO_OK && s.seconds < 0 && !mo_prepare_has_patterns(&p))
        s.none = true;
    if (status == MO_OK)
        status = mo_prepare_check(&p, instance->graph->path, err);
    if (status == MO_OK)
        status = mo_strengthen_check(&s, &p, err);
    if (status == MO_OK)
        status = mo_strengthen_model(&s, &p, &logger, &b->made, err);
    if (status == MO_OK)
        status = mo_prepare_model(&p, &logger, &b->made, &b->model, err);
    return status;
}

/* Writes it as LP, or as MPS. */
static mo_status write_milp(const moirai_instance *instance,
                            const mo_model *model, bool mps, char *const *files,
                            mo_out *out, mo_error *err)
{
    mo_heading heading = { model, instance->graph->path,
                           instance->cluster->cluster->file, files };
    mo_sink *sink = NULL;
    mo_status status = mps ? mo_mps_writer_new(out, &heading, &sink, err)
                           : mo_lp_writer_new(out, &heading, &sink, err);

    if (status != MO_OK)
        return status;
    status = mo_model_write(model, sink, err);
    mo_sink_free(sink);
    return status;
}

/* By the option, or by the name of the file without its compression. */
static mo_status choose_format(const moirai_options *options, const char *path,
                               bool *mps, mo_error *err)
{
    const char *format = mo_lib_settings_of(options)->format;
    size_t n = path ? strlen(path) : 0;

    if (format && strcmp(format, "lp") != 0 && strcmp(format, "mps") != 0)
        return mo_fail(err, MO_E_USAGE,
                       "a model is written as lp or mps, not as %s", format);
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0)
        n -= 3;
    else if (n > 4 && strcmp(path + n - 4, ".zst") == 0)
        n -= 4;
    *mps = format ? strcmp(format, "mps") == 0
                  : n > 4 && strncmp(path + n - 4, ".mps", 4) == 0;
    return MO_OK;
}

moirai_status moirai_emit(const moirai_instance *instance,
                          const moirai_options *options, const char *path,
                          moirai_write_fn *write, void *context,
                          moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    built_model built = { 0 };
    mo_path_list files = { 0 };
    mo_out *out = NULL;
    bool mps = false;
    mo_status status = choose_format(options, path, &mps, e);

    if (status == MO_OK)
        status = mo_lib_open_output(path, write, context, &out, e);
    if (status == MO_OK)
        status = make_model(instance, options, true, &built, e);
    if (status == MO_OK && path) {
        const mo_review r = mo_lib_instance_review(instance);

        status = mo_file_hints_list(&r.problem.made_of, path, &files, e);
    }
    if (status == MO_OK)
        status =
            write_milp(instance, &built.model.model, mps, files.paths, out, e);
    status = mo_lib_close_output(out, status, e);
    mo_path_list_clear(&files);
    clear_built(&built);
    return mo_lib_status(status);
}

enum { POLL_MS = 20 };

/* A call of moirai_solve() that runs. */
typedef struct solve_run {
    const moirai_instance *instance;
    const moirai_options *options;
    const mo_model *model;
    mo_portfolio_options portfolio;
    int64_t unit_ns;
    mo_report_proof proven; /* by the certificate of the search */
    moirai_placement *best;
    mo_status status; /* exhausted memory */
    mo_error err;
    atomic_bool ended; /* the watch of cancellation ends */
} solve_run;

static bool is_better(const moirai_placement *a, const moirai_placement *b)
{
    bool valid = moirai_placement_n_violations(a) == 0;

    return valid &&
           (!b || mo_answer_evaluation_objective_ns(&a->evaluation) <
                      mo_answer_evaluation_objective_ns(&b->evaluation));
}

/* Whether a bound of the solver is one of the instance: the model admits every
 * schedule. */
static bool is_relaxation(const solve_run *s)
{
    const mo_formulation *f = s->model->formulation;

    return f == &mo_formulation_period ||
           ((f == &mo_formulation_compact || f == &mo_formulation_paper) &&
            s->instance->regime.memory != MO_MEMORY_LIVE);
}

/* Callback of the portfolio: keeps the best answer that is valid. Returns
 * whether it is proven optimal here, so that others can stop. */
static bool take_answer(void *context, mo_portfolio_member *member)
{
    solve_run *s = context;
    moirai_placement *answer = NULL;
    const char *title = mo_portfolio_member_title(member);
    mo_error err = { 0 };
    mo_status status;

    if (member->status != MO_OK || !member->outcome.solution)
        return false;
    status = mo_lib_placement_of_solution(s->instance, title,
                                          member->outcome.solution, NULL,
                                          &s->proven, &answer, &err);
    if (status == MO_E_MEMORY) {
        s->status = status;
        s->err = err;
    }
    if (status != MO_OK)
        return false;
    snprintf(answer->method, sizeof answer->method, "%s", title);
    if (is_relaxation(s) && member->outcome.has_bound &&
        isfinite(member->outcome.bound) && member->outcome.bound > 0)
        mo_lib_placement_claim(
            answer, llround(fmin(member->outcome.bound * (double) s->unit_ns,
                                 (double) MO_MAX_TOTAL_NS)));
    if (is_better(answer, s->best)) {
        moirai_placement *worse = s->best;

        s->best = answer;
        answer = worse;
    }
    moirai_placement_free(answer);
    return s->best && moirai_placement_gap(s->best) <= 0;
}

/* Thread: when the options are cancelled, solvers stop as after a signal. */
static void *watch_cancel(void *context)
{
    solve_run *s = context;
    const struct timespec pause = { 0, POLL_MS * 1000000L };

    while (!atomic_load(&s->ended)) {
        if (mo_stop_is_requested(&s->options->stop))
            mo_interrupt_all();
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static mo_status write_model(const solve_run *s, const mo_workdir *folder,
                             mo_error *err)
{
    mo_out *out = NULL;
    mo_status status =
        mo_workdir_create_file(mo_workdir_path(folder), "model.mps", &out, err);

    if (status == MO_OK)
        status = write_milp(s->instance, s->model, true, NULL, out, err);
    return mo_lib_close_output(out, status, err);
}

static mo_status run_solvers(solve_run *s, const mo_portfolio_options *o,
                             const char *model, const mo_workdir *folder,
                             mo_portfolio *portfolio, mo_error *err)
{
    const mo_driver_log logger = mo_lib_log(s->options);
    const mo_portfolio_job job = { .options = o,
                                   .model = model,
                                   .unit_ns = s->unit_ns,
                                   .folder = folder,
                                   .logger = &logger,
                                   .on_finish = take_answer,
                                   .context = s };
    pthread_t watch;
    bool watches;
    mo_status status = mo_portfolio_find_solvers(o, &logger, portfolio, err);

    if (status != MO_OK)
        return status;
    watches = s->options && pthread_create(&watch, NULL, watch_cancel, s) == 0;
    status = mo_portfolio_run(&job, portfolio, err);
    atomic_store(&s->ended, true);
    if (watches)
        pthread_join(watch, NULL);
    if (status == MO_OK && s->status != MO_OK) {
        if (err)
            *err = s->err;
        return s->status;
    }
    return status;
}

static mo_status no_answer(const solve_run *s, const mo_portfolio *portfolio,
                           mo_error *err)
{
    const mo_portfolio_member *first = &portfolio->entries[0];

    if (s->options && mo_stop_is_requested(&s->options->stop))
        return mo_fail(err, (mo_status) MOIRAI_E_CANCELLED,
                       "cancelled before there was a placement");
    return mo_fail(err, (mo_status) MOIRAI_E_NO_SOLUTION,
                   "no valid placement: %s: %s",
                   mo_portfolio_member_title(first), first->outcome.text);
}

static mo_status solve_in(solve_run *s, const mo_workdir *folder, mo_error *err)
{
    mo_portfolio portfolio = { 0 };
    char *path = mo_workdir_file(folder, "model.mps");
    mo_status status = path ? write_model(s, folder, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = run_solvers(s, &s->portfolio, path, folder, &portfolio, err);
    if (status == MO_OK && !s->best)
        status = no_answer(s, &portfolio, err);
    mo_portfolio_clear(&portfolio);
    free(path);
    return status;
}

moirai_status moirai_solve(const moirai_instance *instance,
                           const moirai_options *options,
                           moirai_placement **placement, moirai_error *err)
{
    mo_error *e = mo_lib_error(err);
    solve_run s = { .instance = instance,
                    .options = options,
                    .portfolio = mo_lib_settings_of(options)->portfolio };
    double begin_s = mo_driver_clock_s(), time_s = s.portfolio.time_s;
    built_model built = { 0 };
    const mo_proven_bounds *proven;
    mo_workdir *folder = NULL;
    mo_status status = mo_portfolio_check_options(&s.portfolio, e);

    if (status == MO_OK)
        status = make_model(instance, options, false, &built, e);
    proven = built.made.strength;
    if (status == MO_OK) {
        s.model = &built.model.model;
        s.unit_ns = s.model->frame->unit_ns;
        if (proven && time_s > 0) /* solvers have what the search left */
            s.portfolio.time_s =
                fmax(time_s - (mo_driver_clock_s() - begin_s), time_s / 2);
        if (proven)
            s.proven = mo_certificate_trust(proven->proof);
        status = mo_workdir_new(&folder, e);
    }
    if (status == MO_OK)
        status = solve_in(&s, folder, e);
    if (status == MO_OK && proven)
        status = mo_lib_placement_prove(s.best, proven->proof, e);
    if (status == MO_OK && proven)
        mo_lib_placement_claim(
            s.best, mo_max_i64(s.best->claimed_ns, proven->lower_ns));
    mo_workdir_free(folder);
    clear_built(&built);
    if (status == MO_OK)
        *placement = s.best;
    else
        moirai_placement_free(s.best);
    return mo_lib_status(status);
}
