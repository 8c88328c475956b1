/* SPDX-License-Identifier: Apache-2.0 */
/* Placement by the methods of the library. */
#include <config.h>

#include <stdlib.h>

#include "driver/place/compare_methods.h"
#include "driver/place/replan_start.h"
#include "driver/plugin/plugin.h"
#include "lib/handles.h"

/* A call of moirai_place() that runs. */
typedef struct search {
    const moirai_options *options;
    mo_stop stop; /* requested by the progress callback, or within: cancelled */
    double begin_s;
} search;

static void report_progress(void *context, const mo_method_progress *news)
{
    search *s = context;
    const moirai_options *o = s->options;

    if (o->on_progress(o->progress_context, news->makespan_ns, news->lower_ns,
                       mo_driver_clock_s() - s->begin_s) != 0)
        mo_stop_request(&s->stop);
}

/* The best result as a placement. */
static mo_status take_best(const moirai_instance *instance, const search *s,
                           const mo_place_comparison *c,
                           const mo_place_replan *replan,
                           moirai_placement **placement, mo_error *err)
{
    const mo_place_result *best = mo_place_comparison_best(c);
    const mo_place_result *first = c->n > 0 ? c->ranked[0] : NULL;
    /* With the devices that were left out the bound may be less. */
    bool is_whole = replan->x == replan->whole;
    bool is_replicated = replan->n_copies > 0;
    const mo_lower_bound known = { !is_whole       ? 0
                                   : is_replicated ? c->report.copies_bound_ns
                                                   : c->report.bound_ns,
                                   is_replicated ? "mean load"
                                                 : c->report.bound_by };
    const mo_lib_result result = {
        .method = best ? best->method->name : "moirai",
        .schedule = replan->placed,
        .further = is_replicated ? replan->copies + 1 : NULL,
        .n_further = is_replicated ? replan->n_copies - 1 : 0,
        .period_ns = is_replicated                     ? replan->period_ns
                     : best && best->row.steady_ns > 0 ? best->row.makespan_ns
                                                       : 0,
        .known = is_whole ? &known : NULL,
    };
    mo_status status;

    if (!best && is_replicated)
        return mo_lib_placement_of_result(instance, &result, placement, err);
    if (!best && mo_stop_is_requested(&s->stop))
        return mo_fail(err, (mo_status) MOIRAI_E_CANCELLED,
                       "cancelled before there was a placement");
    if (!best && first && first->status != MO_OK) {
        if (err)
            *err = first->err;
        return first->status;
    }
    if (!best)
        return mo_fail(err,
                       first && first->placed.infeasible
                           ? MO_E_INFEASIBLE
                           : (mo_status) MOIRAI_E_NO_SOLUTION,
                       "no placement: %.900s",
                       !first           ? "no method was given"
                       : first->row.why ? first->row.why
                                        : "none fits into memory");
    status = mo_lib_placement_of_result(instance, &result, placement, err);
    if (status == MO_OK && is_whole && !is_replicated)
        status = mo_lib_placement_prove(*placement,
                                        mo_place_comparison_proof(c), err);
    if (status == MO_OK && is_whole)
        mo_lib_placement_claim(*placement, is_replicated ? replan->bound_ns
                                                         : c->report.search_ns);
    return status;
}

static mo_status place(const moirai_instance *instance,
                       const moirai_options *options, search *s,
                       moirai_placement **placement, mo_error *err)
{
    const mo_place_options *o = &mo_lib_settings_of(options)->place;
    const mo_driver_log logger = mo_lib_log(options);
    mo_place_context setting = { .options = o,
                                 .regime = instance->regime,
                                 .objective = instance->objective,
                                 .in_flight = (int) instance->in_flight,
                                 .logger = &logger,
                                 .begin_s = s->begin_s,
                                 .stop = &s->stop };
    const mo_method **methods = NULL;
    int n = 0;
    mo_solver_install found = { 0 };
    mo_place_comparison c = { 0 };
    mo_place_replan replan = { 0 };
    mo_status status = mo_place_select_methods(o, &methods, &n, err);

    if (status == MO_OK)
        status = mo_place_assist_solver(o, &setting.assist, &found, err);
    setting.found = &found;
    if (options && options->on_progress) {
        setting.on_progress = report_progress;
        setting.context = s;
    }
    if (status == MO_OK)
        status = mo_place_replan_open(&replan, &setting, &o->dropped,
                                      instance->instance,
                                      instance->cluster->cluster, err);
    if (replan.start.device)
        setting.start = &replan.start;
    if (status == MO_OK)
        status =
            mo_place_compare_methods(&setting, replan.x, methods, n, &c, err);
    if (status == MO_OK)
        status = mo_place_replan_finish(&replan, &setting, &c, err);
    if (status == MO_OK)
        status = take_best(instance, s, &c, &replan, placement, err);
    mo_place_comparison_clear(&c);
    mo_place_replan_clear(&replan);
    mo_solver_install_clear(&found);
    free(methods);
    return status;
}

moirai_status moirai_place(const moirai_instance *instance,
                           const moirai_options *options,
                           moirai_placement **placement, moirai_error *err)
{
    search s = { .options = options, .begin_s = mo_driver_clock_s() };

    mo_stop_after(&s.stop, 0);
    s.stop.outer = options ? &options->stop : NULL;
    return mo_lib_status(
        place(instance, options, &s, placement, mo_lib_error(err)));
}

const char *moirai_method_name(int i)
{
    const char *name = i >= 0 ? mo_suggest_method((size_t) i) : NULL;

    /* Behind the methods comes "all". */
    return name && mo_method_find(name) ? name : NULL;
}

const char *moirai_solver_name(int i)
{
    return i >= 0 ? mo_suggest_solver((size_t) i) : NULL;
}

moirai_status moirai_plugin_load(const char *path, moirai_error *err)
{
    return mo_lib_status(mo_plugin_load(path, mo_lib_error(err)));
}
