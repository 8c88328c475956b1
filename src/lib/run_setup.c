/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "lib/run_setup.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "driver/exec/request_files.h"
#include "graph/phases.h"

static mo_status keep_text(mo_arena *arena, const char **text, mo_error *err)
{
    if (!*text)
        return MO_OK;
    *text = mo_arena_text(arena, *text, strlen(*text));
    return *text ? MO_OK : mo_fail_memory(err);
}

/* Copies the options of execution: those of the caller may be freed. */
static mo_status keep_options(mo_lib_run *run, const mo_exec_options *options,
                              mo_error *err)
{
    mo_exec_config *wants = &run->options.wants;
    const char **items;
    mo_status status = MO_OK;

    run->options = *options;
    run->options.logger = (mo_driver_log){ .command = "moirai",
                                           .quiet = true,
                                           .print = mo_lib_print_message };
    if (run->options.in_flight < 1)
        run->options.in_flight = 1;
    if (!wants->precision) {
        const moirai_graph *graph = run->placement->instance->graph;
        mo_math own = graph->formats.precision;

        wants->precision = mo_math_name(own > MO_MATH_BF16 ? MO_MATH_F16 : own);
    }
    items = mo_arena_array(run->arena, wants->weights_from.count + 1,
                           sizeof *items);
    if (!items)
        return mo_fail_memory(err);
    for (size_t i = 0; i < wants->weights_from.count && status == MO_OK; i++) {
        items[i] = wants->weights_from.items[i];
        status = keep_text(run->arena, &items[i], err);
    }
    wants->weights_from.items = items;
    if (status == MO_OK)
        status = keep_text(run->arena, &wants->backend, err);
    if (status == MO_OK)
        status = keep_text(run->arena, &wants->precision, err);
    if (status == MO_OK)
        status = keep_text(run->arena, &wants->cache, err);
    if (status == MO_OK)
        status = keep_text(run->arena, &wants->pin, err);
    if (status == MO_OK)
        status = keep_text(run->arena, &run->options.load_states, err);
    if (status == MO_OK)
        status = keep_text(run->arena, &run->options.save_states, err);
    return status;
}

/* The instances of the phases of a workload, as the commands make them. */
static mo_status make_phases(mo_lib_run *run, mo_error *err)
{
    const moirai_instance *x = run->placement->instance;
    const mo_driver_devices devices = { .cluster = x->cluster->cluster,
                                        .profile = x->profile
                                                       ? x->profile->profile
                                                       : NULL };
    const mo_driver_log logger = mo_lib_log(NULL);
    mo_driver_load_options load = mo_lib_settings_of(NULL)->prepare.load;
    char formats[MO_NUMERIC_TEXT];
    mo_status status;

    mo_numeric_write(&x->graph->formats, formats);
    load.formats = formats;
    load.cost = x->cost;
    status = mo_prepare_phases(&load, x->graph->path, x->graph->graph, &devices,
                               &logger, &run->job.review.problem.phases, err);
    if (run->job.review.problem.phases)
        run->job.review.problem.n_phases = x->graph->graph->phases->n;
    return status;
}

static mo_status make_plan(mo_lib_run *run, mo_error *err)
{
    const moirai_placement *p = run->placement;
    const moirai_graph *placed = p->instance->graph;
    const mo_exec_options *o = &run->options;
    mo_review *r = &run->job.review;
    mo_status status = MO_OK;

    status = mo_lib_placement_check_single(p, err);
    if (status != MO_OK)
        return status;
    if (moirai_placement_n_violations(p) > 0)
        return mo_fail(err, MO_E_INPUT, "the placement is not valid: %.900s",
                       moirai_placement_violation(p, 0));
    *r = mo_lib_instance_review(p->instance);
    run->options.prepare.read = (placed->fine ? placed->fine : placed)->read;
    r->evaluation = p->evaluation;
    run->job.valid = true;
    /* The folder of the graph is where its weights are. */
    char *copy = strdup(r->located.graph);

    run->job.folder = copy ? strdup(dirname(copy)) : NULL;
    free(copy);
    status = run->job.folder ? MO_OK : mo_fail_memory(err);
    if (status == MO_OK)
        status = make_phases(run, err);
    if (status == MO_OK)
        status = mo_exec_units_make(p->instance->cluster->cluster, 1, 0,
                                    &o->wants, &run->units, err);
    if (status == MO_OK)
        status = mo_exec_job_plan(o, &run->units, false, &run->job, err);
    if (status == MO_OK)
        status = mo_exec_requests_check_memory(
            &run->job, &run->units, 0, (int) o->in_flight,
            mo_exec_job_memory_left(o, &run->job), err);
    return status;
}

mo_status mo_lib_run_open(const moirai_placement *placement,
                          const mo_exec_options *options, int64_t generate,
                          mo_lib_run *run, mo_error *err)
{
    mo_status status;

    run->placement = mo_lib_retain_placement(placement);
    run->arena = mo_arena_new();
    status = run->arena ? keep_options(run, options, err) : mo_fail_memory(err);
    run->options.generate = generate;
    run->job.by_shape = generate == 0;
    if (generate > 0)
        run->options.in_flight = 1;
    return status == MO_OK ? make_plan(run, err) : status;
}

void mo_lib_run_clear(mo_lib_run *run)
{
    const mo_problem own = run->job.review.problem;

    /* All else of the review is the placement's. */
    run->job.review = (mo_review){ .problem = { .phases = own.phases,
                                                .n_phases = own.n_phases } };
    mo_exec_job_clear(&run->job);
    mo_exec_units_clear(&run->units);
    mo_arena_free(run->arena);
    moirai_placement_free(run->placement);
}

mo_status mo_lib_run_pipeline(const mo_lib_run *run,
                              mo_pipeline_options options, mo_error *err)
{
    const mo_transport *transport = &mo_transport_local;
    const mo_transport_world_options none = { .note = NULL };
    mo_transport_world *world = NULL;
    mo_pipeline_result result = { 0 };
    mo_status status = transport->open(&none, &world, err);
    const mo_run_plan_options all = { .transport = transport,
                                      .world = world,
                                      .backends = run->units.backends,
                                      .units = run->units.options,
                                      .rank_of = run->units.rank_of,
                                      .runs = 1 };

    if (status != MO_OK)
        return status;
    options.run = &all;
    options.n_slots = (int) run->options.in_flight;
    options.untimed = true;
    status = mo_pipeline_run(run->job.plan, &options, &result, err);
    mo_pipeline_result_clear(&result);
    transport->close(world);
    return status;
}
