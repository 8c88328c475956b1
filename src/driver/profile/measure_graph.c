/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moirai-profile run: measures op times of a graph on each device, and link
 * times.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "driver/exec/device_units.h"
#include "driver/profile/load_log.h"
#include "driver/profile/measure.h"

static mo_exec_options job_options(const mo_profiler_options *o)
{
    return (mo_exec_options){
        .prepare = { .formulation = "compact",
                     .fusion = o->fusion,
                     .read = o->read },
        .inputs = o->inputs,
        .wants = o->wants,
        .weights = o->weights,
        .as_placed = o->as_placed,
        .logger = o->logger,
    };
}

/* The network is planned for one device, for CPUs and for GPUs. Calls are
 * timed one by one, so one stream suffices. */
static mo_status make_plans(const mo_exec_options *options, mo_profiler_work *w,
                            mo_error *err)
{
    int streams = 1;
    bool can_jit = false, any_gpu = false;
    const mo_exec_units like = { .n = 1,
                                 .streams = &streams,
                                 .can_jit = &can_jit };
    mo_status status = mo_exec_job_plan(options, &like, true, &w->job, err);

    for (int k = 0; k < w->devices.cluster->n_devices; k++)
        any_gpu |= mo_profiler_is_own(w, k) &&
                   w->devices.units.backends[k]->separate_memory;
    if (status != MO_OK || !any_gpu)
        return status;
    can_jit = true;
    return mo_exec_job_replan(options, &w->job, &like, &w->gpu_plan, err);
}

/* Ranks exchange measurements by signature and device. */
static mo_status check_same(const mo_profiler_work *w, mo_error *err)
{
    mo_digest *digest = mo_digest_new();
    uint64_t value;

    if (!digest)
        return mo_fail_memory(err);
    for (int s = 0; s < w->rows.n_signatures; s++)
        mo_digest_text(digest, mo_intern_text(w->rows.signatures, s));
    for (int k = 0; k < w->devices.cluster->n_devices; k++)
        mo_digest_text(digest, w->devices.cluster->devices[k].id);
    value = mo_digest_value(digest);
    mo_digest_free(digest);
    return mo_profiler_ranks_check_same(&w->ranks, value, err);
}

static mo_status prepare_work(mo_profiler_work *w, const char *path,
                              mo_error *err)
{
    const mo_exec_options options = job_options(w->o);
    const mo_problem *problem = &w->job.review.problem;
    mo_status status =
        mo_profiler_devices_find(w->o, &w->ranks, &w->devices, err);

    if (status == MO_OK)
        status = mo_exec_job_load(&options, path, &w->job, err);
    if (status == MO_OK && !w->job.valid)
        status = mo_fail_at(err, MO_E_INPUT, path, 0,
                            "cannot run on one device: its ops are pinned to "
                            "several; take the pins out to measure it");
    if (status == MO_OK && problem->instance->n_devices > 1)
        status = mo_fail_at(err, MO_E_INPUT, path, 0,
                            "is placed on %d devices, but ops are measured on "
                            "one at a time; give its graph",
                            problem->instance->n_devices);
    if (status == MO_OK)
        mo_exec_fit_log(&w->devices.units.fits[0], -1, &w->o->logger);
    if (status == MO_OK)
        status = make_plans(&options, w, err);
    if (status == MO_OK) {
        /* Inputs, outputs and the values of a device of threads are held by
         * this process. */
        int rank_of[] = { 0 };
        const mo_backend *backends[] = { w->devices.units.backends[0] };
        const mo_exec_units one = { .n = 1,
                                    .rank_of = rank_of,
                                    .backends = backends };

        for (int k = w->devices.cluster->n_devices - 1; k >= 0; k--)
            if (mo_profiler_is_own(w, k) &&
                !w->devices.units.backends[k]->separate_memory)
                backends[0] = w->devices.units.backends[k];
        status = mo_exec_units_check_memory(
            &one, w->job.plan, 0, mo_exec_job_memory_left(&options, &w->job),
            err);
    }
    if (status == MO_OK)
        status = mo_exec_inputs_make(&options, problem->fine, w->job.plan, NULL,
                                     0, &w->inputs, err);
    w->rows.in_flight = (int) w->o->in_flight;
    /* Parts of a GPU measured one by one are another configuration. */
    if (w->o->wants.emulate)
        snprintf(w->parts, sizeof w->parts, "%s%s", w->o->wants.emulate,
                 w->o->alone ? " alone" : "");
    if (status == MO_OK)
        status = mo_profiler_table_open(
            mo_problem_placed(problem), w->o->output,
            w->parts[0] ? w->parts : NULL, &w->rows, err);
    if (status != MO_OK)
        return status;
    w->measured = calloc((size_t) w->devices.cluster->n_devices *
                                 (size_t) w->rows.n_signatures +
                             1,
                         sizeof *w->measured);
    return w->measured ? check_same(w, err) : mo_fail_memory(err);
}

/* Measurements are saved at once if there is a file. Other ranks than the
 * first have none. */
static mo_status save_profile(const mo_profiler_work *w, mo_error *err)
{
    if (!w->o->output || strcmp(w->o->output, "-") == 0)
        return MO_OK;
    return mo_profiler_table_write(&w->rows, w->o->output, err);
}

/* Whether the device can be measured, and the profile lacks an op of it. */
static bool is_needed(const mo_profiler_work *w, int device)
{
    const mo_exec_plan *plan = w->job.plan;

    if (!mo_profiler_devices_available(&w->devices, device))
        return false;
    for (int i = 0; i < plan->n_items; i++)
        if (plan->items[i].op != MO_PLAN_NONE &&
            !mo_profiler_table_has(
                &w->rows, mo_profiler_devices_name(&w->devices, device),
                w->rows.signature_of[plan->items[i].op], (int) w->o->runs))
            return true;
    return false;
}

/* Rank 0 adds what another rank has measured: rows for the device and, in one
 * process, the equivalent devices after it. */
static mo_status collect_device(mo_profiler_work *w, int device, mo_error *err)
{
    const mo_profiler_devices *d = &w->devices;
    mo_profiler_stat *m = mo_profiler_measured(w, device);
    mo_status status = mo_profiler_ranks_collect(
        &w->ranks, d->units.rank_of[device], m,
        (size_t) w->rows.n_signatures * sizeof *m, err);

    if (status != MO_OK || w->ranks.rank != 0)
        return status;
    for (int i = 0; i < w->rows.n_signatures; i++)
        if (!isfinite(m[i].median_us) || m[i].median_us < 0 ||
            !isfinite(m[i].spread_us) || m[i].spread_us < 0 || m[i].count < 0)
            return mo_fail(err, MO_E_IO,
                           "rank %d sends times of device '%s' that are no "
                           "times: use the same moirai everywhere",
                           d->units.rank_of[device],
                           mo_profiler_devices_name(d, device));
    for (int k = device; k < d->cluster->n_devices && status == MO_OK; k++)
        if (k == device ||
            (w->ranks.n_ranks == 1 && mo_profiler_devices_available(d, k) &&
             mo_profiler_devices_equivalent(d, device, k)))
            status = mo_profiler_table_add(
                &w->rows, mo_profiler_devices_name(d, k), m, err);
    return status == MO_OK ? save_profile(w, err) : status;
}

/* Ranks measure at the same time, as they run: each is background load of the
 * others. Rank 0, which has the profile, decides what is needed. */
static mo_status measure_devices(mo_profiler_work *w, mo_error *err)
{
    int n = w->devices.cluster->n_devices;
    bool *needed = calloc((size_t) n, sizeof *needed);
    bool alone = w->ranks.n_ranks == 1;
    mo_status status = MO_OK;

    if (!needed)
        return mo_fail_memory(err);
    mo_driver_log_step(&w->o->logger, &w->progress, "measuring ops");
    for (int k = 0; k < n && !alone; k++)
        needed[k] = is_needed(w, k);
    if (!alone)
        status = mo_profiler_ranks_broadcast_flags(&w->ranks, needed,
                                                   (size_t) n, err);
    for (int k = 0; k < n && status == MO_OK; k++) {
        if (alone) {
            w->done = (int64_t) k * MO_PROFILER_ROUNDS;
            needed[k] = is_needed(w, k);
        }
        if (needed[k] && mo_profiler_is_own(w, k))
            status = mo_profiler_measure_device(w, k, err);
        if (needed[k] && alone && status == MO_OK)
            status = collect_device(w, k, err);
    }
    for (int k = 0; k < n && !alone && status == MO_OK; k++)
        if (needed[k])
            status = collect_device(w, k, err);
    mo_progress_end(&w->progress);
    free(needed);
    return status;
}

/* All between joining and leaving the ranks. */
static mo_status measure(mo_profiler_work *w, const char *path, mo_error *err)
{
    const mo_exec_options options = job_options(w->o);
    const char *output = w->o->output;
    mo_measure_load load;
    mo_error why = { 0 };
    mo_progress step;
    bool added = false;
    mo_status status = prepare_work(w, path, err);

    mo_measure_load_read(NULL, &load);
    if (status == MO_OK)
        status = measure_devices(w, err);
    mo_driver_log_step(&w->o->logger, &step, "measuring links");
    if (status == MO_OK && !w->devices.units.parts)
        status = mo_profiler_measure_links(w, &added, err);
    mo_progress_end(&step);
    mo_driver_log_step(&w->o->logger, &step, "measuring requests in flight");
    if (status == MO_OK && w->o->in_flight > 0)
        status = mo_profiler_measure_overheads(w, &added, err);
    /* Where the split cannot run, for want of links or of memory, the profile
     * is complete but for the slowdown. */
    if (status == MO_OK && w->o->in_flight > 0 &&
        mo_profiler_measure_split(w, &options, &added, &why) != MO_OK)
        mo_driver_log_warning(&w->o->logger,
                              "how much parts slow each other down is not "
                              "measured: %.800s",
                              why.text);
    mo_progress_end(&step);
    mo_measure_load_since(NULL, &load);
    if (status == MO_OK)
        status = mo_measure_load_gather(w->ranks.transport, w->ranks.world,
                                        &load, err);
    if (status == MO_OK)
        mo_driver_load_log(&w->o->logger, &load);
    if (status == MO_OK && added)
        status = save_profile(w, err);
    if (status == MO_OK && w->ranks.rank == 0 &&
        (!output || strcmp(output, "-") == 0))
        status = mo_profiler_table_write(&w->rows, "-", err);
    return status;
}

mo_status mo_profiler_measure(mo_profiler_options *o, const char *path,
                              mo_error *err)
{
    mo_profiler_work w = { .o = o };
    mo_status status = mo_profiler_ranks_open(o, &w.ranks, err);

    if (status != MO_OK)
        return status;
    if (w.ranks.rank != 0) {
        /* Only the first rank prints and writes. */
        o->logger.quiet = true;
        o->output = NULL;
    }
    status = measure(&w, path, err);
    mo_profiler_ranks_close(&w.ranks, status, err);
    free(w.measured);
    mo_profiler_table_clear(&w.rows);
    mo_exec_inputs_clear(&w.inputs);
    mo_plan_free(w.gpu_plan);
    mo_exec_job_clear(&w.job);
    mo_profiler_devices_clear(&w.devices);
    return status;
}
