/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/run_analysis.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ingest/operator.h"
#include "report/trace_events.h"

typedef struct trace {
    const mo_exec_plan *plan;
    const mo_run_result *result;
    mo_trace_writer w;
    int64_t *begun; /* by transfer: its begin on the current device */
    int64_t *there; /* by transfer: its arrival at the receiver */
} trace;

static bool is_sender(const trace *t, int device, int transfer)
{
    return t->plan->transfers[transfer].from == device;
}

static void write_device(trace *t, int device)
{
    const mo_plan_device *d = &t->plan->devices[device];
    const mo_run_step *times = t->result->steps[device];

    mo_trace_put_device(&t->w, device, d->id);
    for (int i = 0; i < d->n_steps; i++) {
        const mo_plan_step *step = &d->steps[i];

        if (step->kind == MO_PLAN_STEP_COMPUTE) {
            const mo_run_step *time = &times[i];
            const mo_plan_call *c = &t->plan->calls[step->what];
            const mo_plan_item *item = &t->plan->items[c->item];

            mo_trace_open_event(&t->w, 'X', device, MO_TRACE_CALLS, item->name);
            mo_out_printf(t->w.out, ",\"cat\":\"%s\"",
                          mo_class_name(item->class));
            mo_trace_put_interval(&t->w, time->begin_ns, time->end_ns);
            mo_out_printf(t->w.out, ",\"args\":{\"call\":\"%s\",\"type\":",
                          mo_call_kind_name(c->call.kind));
            mo_out_json(t->w.out, item->type ? item->type : "");
            mo_out_text(t->w.out, "}}");
        }
        if (step->kind == MO_PLAN_STEP_SEND ||
            step->kind == MO_PLAN_STEP_RECEIVE)
            t->begun[step->what] = times[i].begin_ns;
        if (step->kind == MO_PLAN_STEP_AWAIT) {
            /* From its post to its await; of a sender, which may await much
             * later, to its arrival. */
            int64_t end_ns = times[i].end_ns;
            bool sending = is_sender(t, device, step->what);

            if (sending && t->there[step->what] < end_ns)
                end_ns = t->there[step->what];

            /* One end of a transfer. */
            int64_t begin_ns = t->begun[step->what];
            const mo_plan_transfer *way = &t->plan->transfers[step->what];
            int row = sending ? MO_TRACE_SENDING : MO_TRACE_RECEIVING;

            mo_trace_open_event(&t->w, 'X', device, row,
                                t->plan->values[way->from_value].name);
            mo_trace_put_interval(&t->w, begin_ns, end_ns);
            mo_out_printf(t->w.out, ",\"args\":{\"bytes\":%lld}}",
                          (long long) way->bytes);
            mo_trace_put_arrow(&t->w, device, step->what, sending,
                               sending ? begin_ns : end_ns);
        }
    }
}

static bool has_steps(const trace *t, int device)
{
    return t->result->steps && t->result->steps[device];
}

mo_status mo_measure_write_chrome_trace(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_out *out, mo_error *err)
{
    size_t n = (size_t) plan->n_transfers + 1;
    trace t = { .plan = plan,
                .result = result,
                .w = { .out = out },
                .begun = calloc(n, sizeof *t.begun),
                .there = calloc(n, sizeof *t.there) };
    bool done = t.begun && t.there;

    if (done) {
        for (int i = 0; i < t.plan->n_transfers; i++)
            t.there[i] = INT64_MAX;
        for (int k = 0; k < t.plan->n_devices; k++)
            if (has_steps(&t, k)) {
                const mo_plan_device *d = &t.plan->devices[k];
                const mo_run_step *times = t.result->steps[k];

                for (int i = 0; i < d->n_steps; i++)
                    if (d->steps[i].kind == MO_PLAN_STEP_AWAIT &&
                        !is_sender(&t, k, d->steps[i].what))
                        t.there[d->steps[i].what] = times[i].end_ns;
            }
        mo_trace_begin(&t.w);
        for (int k = 0; k < t.plan->n_devices; k++)
            if (has_steps(&t, k))
                write_device(&t, k);
        mo_trace_end(&t.w);
    }
    free(t.there);
    free(t.begun);
    return done ? MO_OK : mo_fail_memory(err);
}
