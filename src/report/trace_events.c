/* SPDX-License-Identifier: Apache-2.0 */
#include "report/trace_events.h"

static const char *const row_names[MO_TRACE_ROWS] = { "calls", "sending",
                                                      "receiving" };

void mo_trace_begin(mo_trace_writer *w)
{
    mo_out_text(w->out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

void mo_trace_end(mo_trace_writer *w)
{
    mo_out_text(w->out, "\n]}\n");
}

static void open_event(mo_trace_writer *w, char kind, int device, int row)
{
    mo_out_printf(w->out, "%s\n{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d",
                  w->any ? "," : "", kind, device, row);
    w->any = true;
}

void mo_trace_open_event(mo_trace_writer *w, char kind, int device, int row,
                         const char *name)
{
    open_event(w, kind, device, row);
    mo_out_text(w->out, ",\"name\":");
    mo_out_json(w->out, name);
}

static void put_name(mo_trace_writer *w, const char *what, const char *name,
                     int device, int row)
{
    mo_trace_open_event(w, 'M', device, row, what);
    mo_out_text(w->out, ",\"args\":{\"name\":");
    mo_out_json(w->out, name);
    mo_out_text(w->out, "}}");
}

void mo_trace_put_device(mo_trace_writer *w, int device, const char *id)
{
    put_name(w, "process_name", id, device, 0);
    for (int row = 0; row < MO_TRACE_ROWS; row++)
        put_name(w, "thread_name", row_names[row], device, row);
}

void mo_trace_put_us(mo_trace_writer *w, const char *key, int64_t ns)
{
    mo_out_printf(w->out, ",\"%s\":", key);
    mo_out_double(w->out, (double) ns / 1000);
}

void mo_trace_put_interval(mo_trace_writer *w, int64_t start_ns, int64_t end_ns)
{
    mo_trace_put_us(w, "ts", start_ns);
    mo_trace_put_us(w, "dur", end_ns - start_ns);
}

void mo_trace_put_arrow(mo_trace_writer *w, int device, int transfer,
                        bool sending, int64_t at_ns)
{
    open_event(w, sending ? 's' : 'f', device,
               sending ? MO_TRACE_SENDING : MO_TRACE_RECEIVING);
    mo_out_printf(w->out,
                  ",\"cat\":\"transfer\",\"id\":%d%s,\"name\":\"transfer\"",
                  transfer, sending ? "" : ",\"bp\":\"e\"");
    mo_trace_put_us(w, "ts", at_ns);
    mo_out_char(w->out, '}');
}
