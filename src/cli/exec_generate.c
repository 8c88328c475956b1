/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/exec_report.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/exec/generate.h"
#include "exec/measure/host_load.h"
#include "exec/plan/ir/plan_json.h"
#include "exec/plan/ir/value_table.h"
#include "report/generation.h"

/* Where the ids of a step go. */
typedef struct id_sink {
    bool prints, is_closed;
    mo_exec_signals *signals;
} id_sink;

/* Writes the ids of a step as one line, at once. From the first one on a signal
 * ends the generation as --stop does, and so does a closed standard output: the
 * states are still saved. */
static mo_status take_ids(void *context, const int64_t *ids, int64_t batch,
                          mo_error *err)
{
    id_sink *sink = context;

    (void) err;

    mo_exec_signals_accept(sink->signals, 0);
    atomic_store(&sink->signals->n_delivered, 1);
    if (!sink->prints)
        return MO_OK;
    for (int64_t b = 0; b < batch; b++)
        printf("%s%" PRId64, b > 0 ? " " : "", ids[b]);
    fputc('\n', stdout);
    if (fflush(stdout) != 0) {
        sink->is_closed = true;
        sink->prints = false;
        atomic_store(&sink->signals->number, SIGPIPE);
    }
    return MO_OK;
}

/* Bytes between devices in the phase of one token. */
static void count_sent(const mo_exec_plan *plan, mo_report_generation *r)
{
    int last = plan->n_phases - 1;

    for (int t = plan->phases[last].start.transfer; t < plan->n_transfers;
         t++) {
        const mo_plan_transfer *transfer = &plan->transfers[t];
        int root = mo_plan_value_root(plan->values, transfer->from_value);

        r->sent_bytes += transfer->bytes;
        if (plan->values[root].state)
            r->sent_state_bytes += transfer->bytes;
    }
}

static void fill_devices(const mo_cli_exec_stream *s,
                         mo_report_generation_device *devices)
{
    const mo_exec_plan *plan = s->job->plan;

    for (int d = 0; d < plan->n_devices; d++) {
        const mo_backend *backend = s->units->backends[d];
        const mo_plan_device *planned = &plan->devices[d];

        devices[d] = (mo_report_generation_device){
            .id = planned->id,
            .backend = backend->name,
            .threads =
                backend->separate_memory ? 0 : s->units->options[d].threads,
            .weight_bytes = planned->weight_bytes,
            .state_bytes = planned->state_bytes,
            .value_bytes = planned->arena_bytes - planned->state_bytes,
            .capacity_bytes = planned->capacity_bytes,
        };
    }
}

/* With --json to the file of the report, else behind the ids, which are on
 * standard output, to standard error. */
static mo_status put_report(const mo_exec_options *o,
                            const mo_report_generation *r, mo_error *err)
{
    mo_out *out = o->outputs[MO_EXEC_OUTPUT_REPORT].out;
    char *text;
    size_t size;
    mo_status status;

    if (out && o->json)
        mo_report_generation_json(r, out);
    else if (out)
        mo_report_generation_text(r, out);
    if (out || o->logger.quiet)
        return MO_OK;
    status = mo_out_memory(&out, err);
    if (status != MO_OK)
        return status;
    mo_report_generation_text(r, out);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    if (!text)
        return mo_fail_memory(err);
    fputs(text, stderr);
    free(text);
    return MO_OK;
}

static mo_status write_report(mo_exec_options *o, const mo_cli_exec_stream *s,
                              const mo_generate_run *g, int interrupt,
                              const mo_measure_load *load, mo_error *err)
{
    const mo_review *review = &s->job->review;
    const mo_exec_plan *plan = s->job->plan;
    mo_out *plan_out = o->outputs[MO_EXEC_OUTPUT_PLAN].out;
    char loads[MO_MEASURE_LOAD_SIZE];
    mo_report_generation_device *devices =
        calloc((size_t) plan->n_devices + 1, sizeof *devices);
    int64_t *ns = calloc((size_t) g->n + 1, sizeof *ns);
    mo_report_generation r = {
        .graph = mo_bundle_shown(s->job->bundle, review->located.graph),
        .cluster =
            mo_bundle_shown(s->job->bundle, review->problem.cluster->file),
        .transport = mo_cli_exec_transport_name(s->transport, s->world),
        .precision = o->wants.precision,
        .n_ranks = s->transport->n_ranks(s->world),
        .trusted = mo_cli_exec_is_trusted(s->job),
        .load = mo_measure_load_quiet(load)
                    ? NULL
                    : mo_measure_load_format(load, loads),
        .batch = g->batch,
        .prompt = g->n_prompt,
        .loaded = g->n_past,
        .capacity = g->capacity,
        .ids = g->ids,
        .ns = ns,
        .n = g->n,
        .planned = o->dry_run ? g->n_wanted : 0,
        .stopped_by = interrupt != 0 ? mo_exec_signals_name(interrupt)
                      : !o->dry_run && g->n < g->n_wanted ? "--stop"
                                                          : NULL,
        .predicted_first_ns = mo_generate_predicted_first_ns(g),
        .predicted_token_ns = plan->phases[1].predicted_ns,
        .devices = devices,
        .n_devices = plan->n_devices,
    };
    mo_status status = devices && ns ? MO_OK : mo_fail_memory(err);

    if (status == MO_OK) {
        for (int64_t i = 0; i < g->n; i++)
            ns[i] = g->times_ns[i + 1] - g->times_ns[i];
        fill_devices(s, devices);
        count_sent(plan, &r);
        if (plan_out)
            mo_plan_write_json(plan, plan_out);
        status = put_report(o, &r, err);
    }
    if (status == MO_OK)
        status = mo_output_files_commit(o->outputs, MO_EXEC_N_OUTPUTS, err);
    free(ns);
    free(devices);
    return status;
}

mo_status mo_cli_exec_generate(mo_exec_options *o,
                               const mo_cli_exec_stream *stream, mo_error *err)
{
    const mo_exec_job *job = stream->job;
    mo_progress step;
    const mo_cli_exec_progress progress = { &o->logger, &step };
    const mo_run_plan_options run = {
        .transport = stream->transport,
        .world = stream->world,
        .backends = stream->units->backends,
        .units = stream->units->options,
        .rank_of = stream->units->rank_of,
        .runs = 1,
        .config_digest = stream->config_digest,
        .min_transfer_ns = stream->min_transfer_ns,
        .n_slots = 1,
        .within_capacity = true,
        .on_progress = mo_cli_exec_log_progress,
        .progress_context = &progress,
    };
    int rank = stream->transport->rank(stream->world);
    id_sink sink = { .prints = !o->json, .signals = stream->signals };
    mo_generate_run g = { .on_ids = take_ids, .context = &sink };
    mo_pipeline_options options = {
        .run = &run,
        .n_slots = 1,
        .next = mo_generate_next,
        .sink = mo_generate_take,
        .phase = mo_generate_phase,
        .context = &g,
        .direct = true,
        .untimed = true,
        .load_states = o->load_states,
        .save_states = o->save_states,
        .interrupt = &stream->signals->number,
    };
    mo_pipeline_result result = { 0 };
    mo_measure_load load;
    mo_status status = mo_generate_open(o, job, rank == 0, &g, err);

    mo_measure_load_read(NULL, &load);
    if (status == MO_OK && !o->dry_run) {
        options.n_requests = mo_generate_n_requests(&g);
        mo_driver_log_step(&o->logger, &step, "generating");
        status = mo_pipeline_run(job->plan, &options, &result, err);
        mo_progress_end(&step);
    }
    mo_measure_load_since(NULL, &load);
    if (status == MO_OK)
        status = mo_measure_load_gather(stream->transport, stream->world, &load,
                                        err);
    if (status == MO_OK)
        status = mo_generate_save(o, &g, err);
    if (status == MO_OK && rank == 0 && stream->transport->settle)
        status = stream->transport->settle(stream->world, err);
    if (status == MO_OK && rank == 0)
        status = write_report(o, stream, &g, result.interrupt, &load, err);
    if (status == MO_OK && sink.is_closed)
        status = mo_fail(err, MO_E_IO, "standard output cannot be written to");
    if (status == MO_OK && result.interrupt != 0)
        o->code = 128 + result.interrupt;
    mo_pipeline_result_clear(&result);
    mo_generate_clear(&g);
    return status;
}
