/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "base/minmax.h"
#include "base/array.h"
#include "driver/exec/request_files.h"
#include "exec/runtime/device/device_run.h"
#include "exec/runtime/pipeline/pipeline.h"
#include "schedule/period/modulo_schedule.h"

/* Sets the bytes of the values of so many requests, or as many as the copy of
 * the device wants. */
static void multiply_values(const mo_exec_job *job, int64_t in_flight,
                            mo_exec_plan *all)
{
    const mo_exec_plan *plan = job->plan;

    for (int d = 0; d < plan->n_devices; d++) {
        int64_t slots = in_flight;

        for (int c = 0; c < job->n_copies; c++)
            if (plan->parts[c]->devices[d].arena_bytes > 0)
                slots = mo_min_i64(in_flight, job->copies[c].n_slots);
        if (!mo_int64_mul(plan->devices[d].arena_bytes, slots,
                          &all->devices[d].arena_bytes))
            all->devices[d].arena_bytes = INT64_MAX;
    }
}

/* Requests in flight that hide what the host does for each of them on a GPU:
 * intake, launch and delivery take longer than a period there. Kernels of
 * several requests overlap, and those of a pipeline are spread over its GPUs
 * and transfers; but each has a thread that waits awake. */
enum { GPU_IN_FLIGHT = 8, MAX_GPU_IN_FLIGHT = 16 };

/* What the period needs and GPUs hide; at most the limit of the solution. */
static mo_status choose_wanted(const mo_exec_units *units,
                               const mo_exec_job *job, int copy, int *needed,
                               int64_t *wanted, mo_error *err)
{
    const mo_review *r = &job->review;
    const mo_answer_evaluation *own =
        copy > 0 ? &r->evaluation.further[copy - 1] : &r->evaluation;
    const mo_exec_plan *plan =
        job->n_copies > 0 ? job->plan->parts[copy] : job->plan;
    const mo_schedule *placed = own->schedule;
    mo_modulo_schedule m = { .in_flight = 1 };
    mo_status status = MO_OK;
    int64_t for_gpus = 0;

    for (int d = 0; d < plan->n_devices; d++)
        if (units->backends[d]->separate_memory && plan->devices[d].n_steps > 0)
            for_gpus = mo_min_i64(for_gpus + GPU_IN_FLIGHT, MAX_GPU_IN_FLIGHT);
    if (own->in_flight > 0)
        m.in_flight = own->in_flight;
    else if (placed && !job->alone)
        status = mo_modulo_schedule_make(r->problem.instance, &r->regime,
                                         placed->device, 0, NULL, &m, err);
    *needed = m.in_flight;
    *wanted = mo_min_i64((int64_t) m.in_flight + 1, MO_PIPELINE_MAX_SLOTS);
    if (r->origin.in_flight > 0)
        *wanted = mo_min_i64(*wanted, r->origin.in_flight);
    else if (for_gpus > 0)
        *wanted = mo_min_i64(mo_max_i64(*wanted, for_gpus), MAX_GPU_IN_FLIGHT);
    mo_modulo_schedule_clear(&m);
    return status;
}

/* Sets how many requests are wanted in flight: of each copy of a replicated
 * solution, and the most of them. */
static mo_status choose_all(mo_exec_options *o, const mo_exec_units *units,
                            const mo_exec_job *job, int *needed, mo_error *err)
{
    int64_t most = 0, given = o->in_flight;
    mo_status status = MO_OK;

    if (job->n_copies == 0)
        return given > 0
                   ? MO_OK
                   : choose_wanted(units, job, 0, needed, &o->in_flight, err);
    for (int c = 0; c < job->n_copies && status == MO_OK; c++) {
        int64_t wanted = given;

        if (given == 0)
            status = choose_wanted(units, job, c, needed, &wanted, err);
        wanted = mo_min_i64(wanted, MO_PIPELINE_MAX_SLOTS / job->n_copies);
        job->copies[c].n_slots = (int) wanted;
        most = mo_max_i64(most, wanted);
    }
    o->in_flight = most;
    return status;
}

/* Limits the copies to so many each; in flight are those of all. */
static void limit_copies(mo_exec_options *o, const mo_exec_job *job)
{
    int64_t sum = 0;

    for (int c = 0; c < job->n_copies; c++) {
        job->copies[c].n_slots =
            (int) mo_min_i64(job->copies[c].n_slots, o->in_flight);
        sum += job->copies[c].n_slots;
    }
    if (job->n_copies > 0)
        o->in_flight = sum;
}

/* The plan with the weights as CPU devices of this rank keep them, and what
 * calls there work in; the caller frees all->devices and *workspaces. */
static mo_status find_sizes(const mo_exec_plan *plan,
                            const mo_exec_units *units, int rank,
                            mo_exec_plan *all, int64_t **workspaces,
                            mo_error *err)
{
    const mo_run_plan_options options = { .backends = units->backends,
                                          .units = units->options };
    size_t n = (size_t) plan->n_devices + 1;
    mo_status status;

    *all = *plan;
    all->devices = calloc(n, sizeof *all->devices);
    *workspaces = calloc(n, sizeof **workspaces);
    status = all->devices && *workspaces ? MO_OK : mo_fail_memory(err);
    for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
        mo_run_sizes sizes = { 0 };

        all->devices[d] = plan->devices[d];
        if (units->rank_of[d] != rank || units->backends[d]->separate_memory ||
            plan->devices[d].capacity_bytes == INT64_MAX)
            continue;
        status = mo_run_device_sizes(plan, &options, d, &sizes, err);
        all->devices[d].weight_bytes = sizes.weight_bytes;
        (*workspaces)[d] = sizes.workspace_bytes;
    }
    return status;
}

/* The least of all ranks, for all. */
static mo_status agree(const mo_transport *transport, mo_transport_world *world,
                       int64_t *in_flight, mo_error *err)
{
    int rank = transport->rank(world), n = transport->n_ranks(world);
    int64_t theirs = *in_flight;
    mo_status status = MO_OK;

    if (n == 1)
        return MO_OK;
    if (rank != 0)
        status = transport->collect(world, rank, &theirs, sizeof theirs, err);
    for (int r = 1; r < n && rank == 0 && status == MO_OK; r++) {
        status = transport->collect(world, r, &theirs, sizeof theirs, err);
        if (status == MO_OK)
            *in_flight = mo_min_i64(*in_flight, theirs);
    }
    if (status == MO_OK)
        status = transport->broadcast(world, in_flight, sizeof *in_flight, err);
    if (status == MO_OK &&
        (*in_flight < 1 || *in_flight > MO_PIPELINE_MAX_SLOTS))
        status = mo_fail(err, MO_E_IO,
                         "a rank sends a number of requests in flight that "
                         "cannot be: use the same moirai everywhere");
    return status;
}

mo_status mo_exec_requests_choose_in_flight(
    mo_exec_options *o, const mo_exec_units *units, const mo_exec_job *job,
    const mo_transport *transport, mo_transport_world *world, mo_error *err)
{
    int64_t made_for = job->n_copies > 0 ? 0 : job->review.origin.in_flight;
    bool fewer, is_given = o->in_flight > 0;
    int needed = 0;
    mo_status status = choose_all(o, units, job, &needed, err);

    if (!is_given) {
        if (status == MO_OK) {
            /* Lowered to what fits into the memory of this rank, but not to
             * 0. */
            int rank = transport->rank(world);
            int64_t limit = mo_exec_job_memory_left(o, job);
            int64_t *workspaces = NULL;
            mo_exec_plan all = { 0 };

            if (o->in_flight > 1)
                status =
                    find_sizes(job->plan, units, rank, &all, &workspaces, err);
            for (; status == MO_OK && o->in_flight > 1; --o->in_flight) {
                multiply_values(job, o->in_flight, &all);
                if (mo_plan_check_capacity(&all, workspaces, NULL) == MO_OK &&
                    mo_exec_units_check_memory(units, &all, rank, limit,
                                               NULL) == MO_OK)
                    break;
            }
            free(workspaces);
            free(all.devices);
        }
        if (status == MO_OK)
            status = agree(transport, world, &o->in_flight, err);
    }
    limit_copies(o, job);
    fewer = o->in_flight < made_for;
    /* needed: by the period, or 0. */
    if (status != MO_OK || made_for == 0 || o->in_flight == made_for ||
        o->logger.quiet || (fewer && needed > 0 && o->in_flight >= needed))
        return status;
    fprintf(stderr,
            "%s: the placement was made for %lld request%s in flight, and this "
            "run has %lld: %s\n",
            o->logger.command, (long long) made_for, made_for > 1 ? "s" : "",
            (long long) o->in_flight,
            fewer ? "the period may be longer than predicted"
                  : "requests take longer than predicted, and more memory");
    return MO_OK;
}

mo_status mo_exec_requests_check_memory(const mo_exec_job *job,
                                        const mo_exec_units *units, int rank,
                                        int in_flight, int64_t limit,
                                        mo_error *err)
{
    const mo_exec_plan *plan = job->plan;
    mo_exec_plan all = *plan;
    mo_error why = { 0 };
    mo_status status;

    all.devices = calloc((size_t) plan->n_devices + 1, sizeof *all.devices);
    if (!all.devices)
        return mo_fail_memory(err);
    for (int d = 0; d < plan->n_devices; d++)
        all.devices[d] = plan->devices[d];
    multiply_values(job, in_flight, &all);
    status = mo_plan_check_capacity(&all, NULL, &why);
    if (status == MO_OK)
        status = mo_exec_units_check_memory(units, &all, rank, limit, &why);
    free(all.devices);
    if (status == MO_OK)
        return MO_OK;
    return mo_fail(err, status,
                   "%.800s (%d requests in flight have values of their own; "
                   "lower --in-flight)",
                   why.text, in_flight);
}
