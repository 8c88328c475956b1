/* SPDX-License-Identifier: Apache-2.0 */
#include "exec/measure/chrome_trace.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ingest/operator.h"

enum { CALLS, SENDING, RECEIVING, ROWS };

static const char *const row_names[ROWS] = { "calls", "sending", "receiving" };

typedef struct trace {
    const mo_exec_plan *plan;
    const mo_run_result *result;
    mo_out *out;
    int64_t *begun; /* by transfer: its begin on the current device */
    int64_t *there; /* by transfer: its arrival at the receiver */
    bool any;       /* an event has been written */
} trace;

/* Opens {"ph": kind, "pid": device, "tid": row, ...; the caller continues. */
static void begin_event(trace *t, char kind, int device, int row)
{
    mo_out_printf(t->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d",
                  t->any ? "," : "", kind, device, row);
    t->any = true;
}

static void write_us(trace *t, const char *key, int64_t ns)
{
    mo_out_printf(t->out, ",\"%s\":", key);
    mo_out_double(t->out, (double) ns / 1000);
}

static void write_name(trace *t, const char *name)
{
    mo_out_text(t->out, ",\"name\":");
    mo_out_json(t->out, name);
}

static void end_event(trace *t)
{
    mo_out_char(t->out, '}');
}

static void write_name_event(trace *t, const char *what, const char *name,
                             int device, int row)
{
    begin_event(t, 'M', device, row);
    write_name(t, what);
    mo_out_text(t->out, ",\"args\":{\"name\":");
    mo_out_json(t->out, name);
    mo_out_char(t->out, '}');
    end_event(t);
}

static void write_call(trace *t, int device, int call, const mo_run_step *time)
{
    const mo_plan_call *c = &t->plan->calls[call];
    const mo_plan_item *item = &t->plan->items[c->item];

    begin_event(t, 'X', device, CALLS);
    write_name(t, item->name);
    mo_out_printf(t->out, ",\"cat\":\"%s\"", mo_class_name(item->class));
    write_us(t, "ts", time->begin_ns);
    write_us(t, "dur", time->end_ns - time->begin_ns);
    mo_out_printf(t->out, ",\"args\":{\"call\":\"%s\",\"type\":",
                  mo_call_kind_name(c->call.kind));
    mo_out_json(t->out, item->type ? item->type : "");
    mo_out_char(t->out, '}');
    end_event(t);
}

/* One end of a transfer. */
static void write_transfer(trace *t, int device, int transfer, bool sending,
                           int64_t begin_ns, int64_t end_ns)
{
    const mo_plan_transfer *way = &t->plan->transfers[transfer];
    int row = sending ? SENDING : RECEIVING;

    begin_event(t, 'X', device, row);
    write_name(t, t->plan->values[way->from_value].name);
    write_us(t, "ts", begin_ns);
    write_us(t, "dur", end_ns - begin_ns);
    mo_out_printf(t->out, ",\"args\":{\"bytes\":%lld}", (long long) way->bytes);
    end_event(t);
    begin_event(t, sending ? 's' : 'f', device, row);
    mo_out_printf(t->out, ",\"cat\":\"transfer\",\"id\":%d%s", transfer,
                  sending ? "" : ",\"bp\":\"e\"");
    write_name(t, "transfer");
    write_us(t, "ts", sending ? begin_ns : end_ns);
    end_event(t);
}

static bool is_sender(const trace *t, int device, int transfer)
{
    return t->plan->transfers[transfer].from == device;
}

/* From its post to its await; of a sender, which may await much later, to its
 * arrival. */
static void write_awaited(trace *t, int device, int transfer, int64_t end_ns)
{
    bool sending = is_sender(t, device, transfer);

    if (sending && t->there[transfer] < end_ns)
        end_ns = t->there[transfer];
    write_transfer(t, device, transfer, sending, t->begun[transfer], end_ns);
}

static void write_device(trace *t, int device)
{
    const mo_plan_device *d = &t->plan->devices[device];
    const mo_run_step *times = t->result->steps[device];

    write_name_event(t, "process_name", d->id, device, 0);
    for (int row = 0; row < ROWS; row++)
        write_name_event(t, "thread_name", row_names[row], device, row);
    for (int i = 0; i < d->n_steps; i++) {
        const mo_plan_step *step = &d->steps[i];

        if (step->kind == MO_PLAN_STEP_COMPUTE)
            write_call(t, device, step->what, &times[i]);
        if (step->kind == MO_PLAN_STEP_SEND ||
            step->kind == MO_PLAN_STEP_RECEIVE)
            t->begun[step->what] = times[i].begin_ns;
        if (step->kind == MO_PLAN_STEP_AWAIT)
            write_awaited(t, device, step->what, times[i].end_ns);
    }
}

static bool has_steps(const trace *t, int device)
{
    return t->result->steps && t->result->steps[device];
}

static void write_events(trace *t)
{
    for (int i = 0; i < t->plan->n_transfers; i++)
        t->there[i] = INT64_MAX;
    for (int k = 0; k < t->plan->n_devices; k++)
        if (has_steps(t, k)) {
            const mo_plan_device *d = &t->plan->devices[k];
            const mo_run_step *times = t->result->steps[k];

            for (int i = 0; i < d->n_steps; i++)
                if (d->steps[i].kind == MO_PLAN_STEP_AWAIT &&
                    !is_sender(t, k, d->steps[i].what))
                    t->there[d->steps[i].what] = times[i].end_ns;
        }
    mo_out_text(t->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (int k = 0; k < t->plan->n_devices; k++)
        if (has_steps(t, k))
            write_device(t, k);
    mo_out_text(t->out, "\n]}\n");
}

mo_status mo_measure_write_chrome_trace(const mo_exec_plan *plan,
                                        const mo_run_result *result,
                                        mo_out *out, mo_error *err)
{
    size_t n = (size_t) plan->n_transfers + 1;
    trace t = { .plan = plan,
                .result = result,
                .out = out,
                .begun = calloc(n, sizeof *t.begun),
                .there = calloc(n, sizeof *t.there) };
    bool done = t.begun && t.there;

    if (done)
        write_events(&t);
    free(t.there);
    free(t.begun);
    return done ? MO_OK : mo_fail_memory(err);
}
