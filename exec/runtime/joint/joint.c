/* SPDX-License-Identifier: Apache-2.0 */
/* Measured runs: warm-ups and timed requests one after the other, in step with
 * all other threads of all ranks. */
#include "exec/runtime/joint/joint.h"

#include <stdio.h>
#include <unistd.h>

#include "base/minmax.h"
#include "base/stop.h"
#include "exec/runtime/joint/joint_internal.h"
#include "exec/tensor/mmap_file.h"
#include "exec/thread/run_delay.h"

/* A driver may support streams but not graphs: then the reason is kept in
 * eager_reason, and calls are launched one by one, where an error with another
 * cause occurs again. */
static mo_status try_record(mo_joint_state *j, mo_error *err)
{
    mo_error why = { 0 };
    mo_status status;

    if (!mo_joint_has_separate_memory(j) || j->are_recorded ||
        j->options->eager || *j->eager_reason)
        return MO_OK;
    status = mo_joint_record_programs(j, &why);
    if (status == MO_OK)
        return MO_OK;
    mo_joint_free_programs(j);
    if (status == MO_E_MEMORY) {
        if (err)
            *err = why;
        return status;
    }
    snprintf(j->eager_reason, MO_RUN_REASON_SIZE, "%.255s", why.text);
    return MO_OK;
}

/* Calls a function for each device, whose unit is current then. */
static mo_status for_each_device(mo_joint_state *j,
                                 mo_status (*act)(mo_run_device *, mo_error *),
                                 mo_error *err)
{
    mo_status status = MO_OK;

    for (int s = 0; s < j->n_local && status == MO_OK; s++) {
        if (j->n_local > 1)
            status = mo_joint_activate_unit(j, s, err);
        if (status == MO_OK)
            status = act(j->devices[s], err);
    }
    return status;
}

/* Run delay of this thread, whose statistics file it is, and of those of the
 * first unit since they started; 0 where unknown. */
static int64_t run_delay_ns(const mo_joint_state *j, int file)
{
    int64_t ns = file > 0 ? mo_thread_run_delay_ns(file) : 0;

    ns = mo_max_i64(ns, 0);
    if (j->backend && j->backend->run_delay_ns)
        ns += j->backend->run_delay_ns(j->devices[0]->unit);
    return ns;
}

/* Only a program whose time depends on nothing else: all that a device does,
 * without transfers. */
static void tune_program(const mo_joint_state *j, int64_t ns)
{
    const mo_joint_segment *segment = j->segments;

    if (!j->are_recorded || !j->backend->tune_program || j->n_local > 1 ||
        j->plan->n_transfers > 0 || j->n_segments != 1 || !segment->recorded)
        return;
    j->backend->tune_program(j->devices[MO_JOINT_RECORDER]->unit,
                             segment->recorded, j->calls + segment->first_call,
                             segment->n_calls, ns);
}

/* The first run triggers one-time initialization in libraries and carriers: it
 * goes call by call. Warm-ups by time go on until no device of any thread needs
 * more of them, so that all have the same number. */
static mo_status execute_runs(mo_joint_state *j, int file, int *n_warm_ups,
                              mo_error *err)
{
    const mo_run_plan_options *o = j->options;
    int64_t **rows =
        mo_arena_array(j->arena, (size_t) j->n_local, sizeof *rows);
    mo_status status = rows ? MO_OK : mo_fail_memory(err);
    int64_t begin_ns = mo_stop_clock_ns(), delay_ns, run_ns;
    bool warming = o->warm_ups > 0 && o->warm_up_ns > 0;

    for (int r = -o->warm_ups; r < o->runs && status == MO_OK; r++) {
        bool stop = mo_stop_reached(o->stop);

        if (r >= 0 && warming) {
            warming = mo_stop_clock_ns() - begin_ns < o->warm_up_ns;
            status = o->transport->barrier(o->world, &warming, err);
        }
        if (r >= 0 && warming)
            r = -1; /* one more of them */
        if (mo_mmap_file_has_failed() && status == MO_OK)
            status = mo_mmap_file_check_all(err);
        if ((*n_warm_ups > 0 || r > 0) && status == MO_OK)
            status = try_record(j, err);
        if (r == 0 && status == MO_OK)
            tune_program(j, -1);
        /* Other values may have overwritten the inputs in the last run. */
        if (status == MO_OK)
            status = for_each_device(j, mo_run_load_inputs, err);
        delay_ns = run_delay_ns(j, file);
        if (status == MO_OK)
            status = o->transport->barrier(o->world, &stop, err);
        if (status != MO_OK || stop)
            break;
        for (int s = 0; s < j->n_local && r >= 0; s++)
            rows[s] = mo_run_device_timestamps(j->devices[s], r);
        run_ns = mo_stop_clock_ns();
        status = mo_joint_execute(
            j, &(mo_joint_request){ .rows = r < 0 ? NULL : rows }, err);
        if (r < 0 && status == MO_OK)
            tune_program(j, mo_stop_clock_ns() - run_ns);
        *n_warm_ups += r < 0;
        delay_ns = run_delay_ns(j, file) - delay_ns;
        for (int s = 0; s < j->n_local && r >= 0 && status == MO_OK; s++) {
            j->devices[s]->wait_ns[r] = delay_ns;
            j->devices[s]->n_runs = r + 1;
        }
    }
    return status;
}

mo_status mo_joint_run_devices(mo_run_device *const *devices, int n,
                               mo_joint_runs *runs, mo_error *err)
{
    const mo_run_device *first = devices[0];
    const mo_run_plan_options *o = first->options;
    mo_joint_state j = { .plan = first->plan,
                         .options = o,
                         .devices = devices,
                         .n_local = n,
                         .eager_reason = runs->eager_reason };
    int file = mo_thread_run_delay_open();
    mo_status status;

    if (first->device != MO_PLAN_NONE)
        j.backend = o->backends[first->device];
    status = mo_joint_open(&j, err);
    if (status == MO_OK)
        status = execute_runs(&j, file, &runs->n_warm_ups, err);
    if (status == MO_OK && mo_joint_has_separate_memory(&j) &&
        first->n_runs > 0) {
        status = for_each_device(&j, mo_run_fetch_outputs, err);
        if (status == MO_OK && !o->whole)
            status = mo_joint_step_times(&j, &runs->chain_ns, err);
    }
    mo_joint_free_programs(&j);
    for (int s = 0; s < n; s++)
        devices[s]->carried = NULL;
    mo_arena_free(j.arena);
    if (file > 0)
        close(file);
    return status;
}
