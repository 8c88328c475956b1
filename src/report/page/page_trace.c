/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule as trace events: a process for each device. */
#include "report/page/page.h"

enum { CALLS, SENDING, RECEIVING, ROWS };

static const char *const row_names[ROWS] = { "calls", "sending", "receiving" };

typedef struct trace {
    const mo_page *page;
    const mo_schedule *s;
    mo_out *out;
    bool any;
} trace;

static void begin_event(trace *t, char kind, int device, int row,
                        const char *name)
{
    mo_out_printf(t->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"name\":",
                  t->any ? "," : "", kind, device, row);
    mo_out_json(t->out, name);
    t->any = true;
}

static void put_name(trace *t, const char *what, const char *name, int device,
                     int row)
{
    begin_event(t, 'M', device, row, what);
    mo_out_text(t->out, ",\"args\":{\"name\":");
    mo_out_json(t->out, name);
    mo_out_text(t->out, "}}");
}

static void put_times(trace *t, int64_t start_ns, int64_t end_ns)
{
    mo_out_text(t->out, ",\"ts\":");
    mo_out_double(t->out, (double) start_ns / 1000);
    mo_out_text(t->out, ",\"dur\":");
    mo_out_double(t->out, (double) (end_ns - start_ns) / 1000);
}

static void put_op(trace *t, int op)
{
    int k = t->s->device[op];
    const char *type = t->page->graph->ops[op].type;

    begin_event(t, 'X', k, CALLS, t->page->x->op_names[op]);
    put_times(t, t->s->start_ns[op],
              t->s->start_ns[op] + mo_instance_p_ns(t->page->x, op, k));
    mo_out_text(t->out, ",\"args\":{\"type\":");
    mo_out_json(t->out, type ? type : "");
    mo_out_text(t->out, "}}");
}

static void put_transfer_end(trace *t, int number, bool sending)
{
    const mo_transfer *way = &t->s->transfers[number];
    int tensor = mo_page_tensor(t->page, t->s, way);
    int from = t->page->x->tensor_from[tensor];
    int device = sending ? way->from : way->to;
    int row = sending ? SENDING : RECEIVING;

    begin_event(t, 'X', device, row, t->page->x->op_names[from]);
    put_times(t, way->start_ns, way->end_ns);
    mo_out_char(t->out, '}');
    begin_event(t, sending ? 's' : 'f', device, row, "transfer");
    mo_out_printf(t->out, ",\"cat\":\"transfer\",\"id\":%d%s,\"ts\":", number,
                  sending ? "" : ",\"bp\":\"e\"");
    mo_out_double(t->out,
                  (double) (sending ? way->start_ns : way->end_ns) / 1000);
    mo_out_char(t->out, '}');
}

void mo_page_trace(const mo_page *page, mo_out *out)
{
    trace t = { .page = page,
                .s = page->placements[0].judgement->schedule,
                .out = out };

    mo_out_text(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (int k = 0; k < page->x->n_devices; k++) {
        put_name(&t, "process_name", page->x->device_ids[k], k, 0);
        for (int row = 0; row < ROWS; row++)
            put_name(&t, "thread_name", row_names[row], k, row);
    }
    for (int i = 0; i < t.s->n; i++)
        put_op(&t, i);
    for (int i = 0; i < t.s->n_transfers; i++) {
        put_transfer_end(&t, i, true);
        put_transfer_end(&t, i, false);
    }
    mo_out_text(out, "\n]}\n");
}
