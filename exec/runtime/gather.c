/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/runtime/gather.h"

#include <stdlib.h>
#include <string.h>

#include "exec/tensor/nhwc.h"
#include "exec/tensor/convert.h"

/* Of a time, or a sum of durations: 73 years. */
static const int64_t max_time_ns = INT64_C(1) << 61;

mo_status mo_run_decode_record(const mo_run_record_header *header,
                               mo_error *err)
{
    if (header->workspace_bytes < 0 || header->allocated_bytes < 0)
        return mo_fail(err, MO_E_IO, "a negative size of memory");
    if (header->timed != 0 && header->timed != 1)
        return mo_fail(err, MO_E_IO, "a flag of value %lld",
                       (long long) header->timed);
    return MO_OK;
}

mo_status mo_run_decode_timestamps(const int64_t *times, size_t n,
                                   mo_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (times[i] < -max_time_ns || times[i] > max_time_ns)
            return mo_fail(err, MO_E_IO, "a clock of %lld ns",
                           (long long) times[i]);
    return MO_OK;
}

mo_status mo_run_decode_durations(const int64_t *times, size_t n, mo_error *err)
{
    int64_t left = max_time_ns;

    for (size_t i = 0; i < n; i++) {
        if (times[i] < 0 || times[i] > left)
            return mo_fail(err, MO_E_IO, "a time of %lld ns",
                           (long long) times[i]);
        left -= times[i];
    }
    return MO_OK;
}

/* Completes the error of a decoder. */
static mo_status check_sent(int from, mo_status status, mo_error *err)
{
    if (status == MO_OK || !err)
        return status;
    return mo_fail(err, status,
                   "rank %d sends %s of its devices: use the same moirai "
                   "everywhere",
                   from, err->text);
}

static size_t timestamps_bytes(const mo_run_result *result, int n_actions)
{
    return (size_t) result->n_runs * mo_run_timestamp_count(n_actions) *
           sizeof(int64_t);
}

static mo_status send_record(const mo_run_plan_options *o, int rank,
                             mo_run_device *d, const mo_run_result *result,
                             mo_error *err)
{
    mo_run_record_header t = { d->workspace_bytes, d->allocated_bytes,
                               d->isolated_ns != NULL };
    size_t times = (size_t) d->n_actions * sizeof *d->isolated_ns;
    mo_status status;

    status = o->transport->collect(o->world, rank, &t, sizeof t, err);
    if (status == MO_OK)
        status =
            o->transport->collect(o->world, rank, d->timestamps,
                                  timestamps_bytes(result, d->n_actions), err);
    if (status == MO_OK)
        status = o->transport->collect(
            o->world, rank, d->wait_ns,
            (size_t) result->n_runs * sizeof *d->wait_ns, err);
    if (status == MO_OK && d->isolated_ns)
        status =
            o->transport->collect(o->world, rank, d->isolated_ns, times, err);
    return status;
}

static mo_status receive_record(const mo_run_plan_options *o, int device,
                                mo_run_device_record *record,
                                const mo_run_result *result, mo_error *err)
{
    size_t timestamps = timestamps_bytes(result, record->n_actions);
    size_t times = (size_t) record->n_actions * sizeof *record->foreign;
    size_t waits = (size_t) result->n_runs * sizeof *record->foreign;
    int64_t *foreign = malloc(timestamps + waits + times + 1);
    int64_t *wait_ns = foreign ? foreign + timestamps / sizeof *foreign : NULL;
    int64_t *isolated_ns = foreign ? wait_ns + result->n_runs : NULL;
    int from = o->rank_of[device];
    mo_run_record_header t = { 0 };
    mo_status status;

    if (!foreign)
        return mo_fail_memory(err);
    record->foreign = foreign;
    status = o->transport->collect(o->world, from, &t, sizeof t, err);
    if (status == MO_OK)
        status = check_sent(from, mo_run_decode_record(&t, err), err);
    if (status == MO_OK)
        status =
            o->transport->collect(o->world, from, foreign, timestamps, err);
    if (status == MO_OK)
        status = check_sent(from,
                            mo_run_decode_timestamps(
                                foreign, timestamps / sizeof *foreign, err),
                            err);
    if (status == MO_OK)
        status = o->transport->collect(o->world, from, wait_ns, waits, err);
    if (status == MO_OK)
        status = check_sent(
            from,
            mo_run_decode_durations(wait_ns, (size_t) result->n_runs, err),
            err);
    if (status == MO_OK && t.timed)
        status = o->transport->collect(o->world, from, isolated_ns, times, err);
    if (status == MO_OK && t.timed)
        status = check_sent(from,
                            mo_run_decode_durations(
                                isolated_ns, (size_t) record->n_actions, err),
                            err);
    record->timestamps = foreign;
    record->wait_ns = wait_ns;
    record->isolated_ns = t.timed ? isolated_ns : NULL;
    record->workspace_bytes = t.workspace_bytes;
    record->allocated_bytes = t.allocated_bytes;
    return status;
}

mo_status mo_run_fill_output(const mo_exec_plan *plan, int i, const void *bytes,
                             mo_tensor_dense *output, mo_error *err)
{
    const mo_plan_output *planned = &plan->outputs[i];
    const mo_plan_value *value = &plan->values[planned->value];
    int64_t size = mo_tensor_desc_bytes(&value->desc);
    bool is_nhwc = value->channels_last && !value->constant;
    mo_tensor_dense narrow = { 0 };
    mo_status status = MO_OK;

    if (size == 0)
        return MO_OK;
    if (value->constant)
        bytes = value->constant->data;
    if (!planned->widened) {
        if (is_nhwc)
            mo_tensor_to_nchw(&value->desc, bytes, output->data);
        else
            memcpy(output->data, bytes, (size_t) size);
        return MO_OK;
    }
    if (is_nhwc) {
        status = mo_tensor_new(&value->desc, &narrow, err);
        if (status != MO_OK)
            return status;
        mo_tensor_to_nchw(&value->desc, bytes, narrow.data);
        bytes = narrow.data;
    }
    mo_tensor_widen_to_f32(value->desc.elem, bytes, output->data,
                           mo_tensor_desc_elements(&value->desc));
    mo_tensor_clear(&narrow);
    return MO_OK;
}

mo_status mo_run_make_output(const mo_exec_plan *plan, int i, const void *bytes,
                             mo_tensor_dense *output, mo_error *err)
{
    const mo_tensor_desc desc = mo_plan_output_desc(plan, i);
    mo_tensor_dense made = { 0 };
    mo_status status = mo_tensor_new(&desc, &made, err);

    if (status == MO_OK)
        status = mo_run_fill_output(plan, i, bytes, &made, err);
    if (status == MO_OK)
        *output = made;
    else
        mo_tensor_clear(&made);
    return status;
}

static mo_status gather_output(const mo_run_plan_options *o,
                               const mo_exec_plan *plan,
                               mo_run_device *const *here, int i,
                               mo_run_result *result, mo_error *err)
{
    int v = plan->outputs[i].value, device = plan->values[v].device;
    int from = o->rank_of[device], rank = o->transport->rank(o->world);
    const mo_tensor_desc desc = mo_plan_output_desc(plan, i);
    mo_tensor_dense passing = { 0 };
    mo_status status = MO_OK;

    if (from != rank && rank != 0)
        return MO_OK;
    if (from == rank)
        status = mo_run_make_output(
            plan, i, mo_run_device_output(here[device], v), &passing, err);
    else
        status = mo_tensor_new(&desc, &passing, err);
    if (status == MO_OK && from != 0) {
        size_t bytes = (size_t) mo_tensor_desc_bytes(&passing.desc);

        status =
            o->transport->collect(o->world, from, passing.data, bytes, err);
    }
    if (rank == 0 && status == MO_OK)
        result->outputs[i] = passing;
    else
        mo_tensor_clear(&passing);
    return status;
}

mo_status mo_run_gather_results(mo_run_device *devices, int n_here,
                                mo_run_device_record *records,
                                mo_run_result *result, mo_error *err)
{
    const mo_exec_plan *plan = devices->plan;
    const mo_run_plan_options *o = devices->options;
    mo_run_device **here;
    mo_status status;

    here = calloc((size_t) plan->n_devices + 1, sizeof *here);
    if (!here)
        return mo_fail_memory(err);
    for (int i = 0; i < n_here; i++)
        if (devices[i].device != MO_PLAN_NONE)
            here[devices[i].device] = &devices[i];

    /* Collective: all ranks iterate over the devices in the same order. */
    int rank = o->transport->rank(o->world);
    status = MO_OK;

    for (int d = 0; d < plan->n_devices && status == MO_OK; d++) {
        if (here[d]) {
            mo_run_device *local = here[d];
            int64_t offset = o->transport->clock_offset_ns(o->world);
            size_t count = (size_t) local->n_runs *
                           mo_run_timestamp_count(local->n_actions);

            for (size_t i = 0; i < count; i++)
                local->timestamps[i] += offset;
            records[d] = (mo_run_device_record){
                .timestamps = local->timestamps,
                .isolated_ns = local->isolated_ns,
                .wait_ns = local->wait_ns,
                .n_actions = local->n_actions,
                .workspace_bytes = local->workspace_bytes,
                .allocated_bytes = local->allocated_bytes,
            };
        }
        if (here[d] && rank != 0)
            status = send_record(o, rank, here[d], result, err);
        if (here[d] || rank != 0)
            continue;
        records[d].n_actions = plan->devices[d].n_steps;
        status = receive_record(o, d, &records[d], result, err);
    }
    /* Stopped before the first run, there are no outputs. */
    for (int i = 0;
         i < plan->n_outputs && result->n_runs > 0 && status == MO_OK; i++)
        status = gather_output(o, plan, here, i, result, err);
    free(here);
    return status;
}

void mo_run_device_records_clear(mo_run_device_record *records, int n_devices)
{
    for (int d = 0; d < n_devices; d++)
        free(records[d].foreign);
}
