#include "exec/trace.h"

#include <stdbool.h>
#include <stdlib.h>

#include "ingest/operator.h"

enum { CALLS, SENDING, RECEIVING, ROWS };

static const char *const row_names[ROWS] = { "calls", "sending", "receiving" };

typedef struct trace {
    const mo_plan *plan;
    const mo_run_result *result;
    mo_out *out;
    int64_t *begun; /* by transfer: when it began on the device at hand */
    bool any;       /* an event stands there already */
} trace;

/* {"ph": kind, "pid": device, "tid": row, ...: the caller goes on. */
static void begin_event(trace *t, char kind, int device, int row)
{
    mo_out_printf(t->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d",
                  t->any ? "," : "", kind, device, row);
    t->any = true;
}

static void put_us(trace *t, const char *key, int64_t ns)
{
    mo_out_printf(t->out, ",\"%s\":", key);
    mo_out_double(t->out, (double) ns / 1000);
}

static void put_name(trace *t, const char *name)
{
    mo_out_text(t->out, ",\"name\":");
    mo_out_json(t->out, name);
}

static void end_event(trace *t)
{
    mo_out_char(t->out, '}');
}

static void name_one(trace *t, const char *what, const char *name, int device,
                     int row)
{
    begin_event(t, 'M', device, row);
    put_name(t, what);
    mo_out_text(t->out, ",\"args\":{\"name\":");
    mo_out_json(t->out, name);
    mo_out_char(t->out, '}');
    end_event(t);
}

static void put_call(trace *t, int device, int call, const mo_run_step *time)
{
    const mo_plan_call *c = &t->plan->calls[call];
    const mo_plan_item *item = &t->plan->items[c->item];

    begin_event(t, 'X', device, CALLS);
    put_name(t, item->name);
    mo_out_printf(t->out, ",\"cat\":\"%s\"", mo_class_name(item->class));
    put_us(t, "ts", time->begin_ns);
    put_us(t, "dur", time->end_ns - time->begin_ns);
    mo_out_printf(t->out, ",\"args\":{\"call\":\"%s\",\"type\":",
                  mo_call_kind_name(c->call.kind));
    mo_out_json(t->out, item->type ? item->type : "");
    mo_out_char(t->out, '}');
    end_event(t);
}

/* One end of a transfer, from where it began to where it was awaited. */
static void put_transfer(trace *t, int device, int transfer, bool sending,
                         int64_t begin_ns, int64_t end_ns)
{
    const mo_plan_transfer *way = &t->plan->transfers[transfer];
    int row = sending ? SENDING : RECEIVING;

    begin_event(t, 'X', device, row);
    put_name(t, t->plan->values[way->from_value].name);
    put_us(t, "ts", begin_ns);
    put_us(t, "dur", end_ns - begin_ns);
    mo_out_printf(t->out, ",\"args\":{\"bytes\":%lld}", (long long) way->bytes);
    end_event(t);
    begin_event(t, sending ? 's' : 'f', device, row);
    mo_out_printf(t->out, ",\"cat\":\"transfer\",\"id\":%d%s", transfer,
                  sending ? "" : ",\"bp\":\"e\"");
    put_name(t, "transfer");
    put_us(t, "ts", sending ? begin_ns : end_ns);
    end_event(t);
}

static void put_device(trace *t, int device)
{
    const mo_plan_device *d = &t->plan->devices[device];
    const mo_run_step *times = t->result->steps[device];

    name_one(t, "process_name", d->id, device, 0);
    for (int row = 0; row < ROWS; row++)
        name_one(t, "thread_name", row_names[row], device, row);
    for (int i = 0; i < d->n_steps; i++) {
        const mo_plan_step *step = &d->steps[i];

        if (step->kind == MO_STEP_COMPUTE)
            put_call(t, device, step->what, &times[i]);
        if (step->kind == MO_STEP_SEND || step->kind == MO_STEP_RECEIVE)
            t->begun[step->what] = times[i].begin_ns;
        if (step->kind == MO_STEP_AWAIT)
            put_transfer(t, device, step->what,
                         t->plan->transfers[step->what].from == device,
                         t->begun[step->what], times[i].end_ns);
    }
}

mo_status mo_trace_write(const mo_plan *plan, const mo_run_result *result,
                         mo_out *out, mo_error *err)
{
    trace t = { plan, result, out,
                calloc((size_t) plan->n_transfers + 1, sizeof *t.begun),
                false };

    if (!t.begun)
        return mo_fail_memory(err);

    mo_out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (int k = 0; k < plan->n_devices; k++)
        if (result->steps && result->steps[k])
            put_device(&t, k);
    mo_out_text(out, "\n]}\n");
    free(t.begun);
    return MO_OK;
}
