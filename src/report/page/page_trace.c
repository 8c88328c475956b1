/* SPDX-License-Identifier: Apache-2.0 */
/* The schedule as trace events: a process for each device. */
#include "report/page/page.h"

#include "report/trace_events.h"

typedef struct trace {
    const mo_page *page;
    const mo_schedule *s;
    mo_trace_writer w;
} trace;

static void put_transfer_end(trace *t, int number, bool sending)
{
    const mo_transfer *way = &t->s->transfers[number];
    int tensor = mo_schedule_tensor(t->page->x, t->s, way);
    int from = t->page->x->tensor_from[tensor];
    int device = sending ? way->from : way->to;
    int row = sending ? MO_TRACE_SENDING : MO_TRACE_RECEIVING;

    mo_trace_open_event(&t->w, 'X', device, row, t->page->x->op_names[from]);
    mo_trace_put_interval(&t->w, way->start_ns, way->end_ns);
    mo_out_char(t->w.out, '}');
    mo_trace_put_arrow(&t->w, device, number, sending,
                       sending ? way->start_ns : way->end_ns);
}

void mo_page_trace(const mo_page *page, mo_out *out)
{
    trace t = { .page = page,
                .s = mo_page_schedule(&page->placements[0]),
                .w = { .out = out } };

    mo_trace_begin(&t.w);
    for (int k = 0; k < page->x->n_devices; k++)
        mo_trace_put_device(&t.w, k, page->x->device_ids[k]);
    for (int i = 0; i < t.s->n; i++) {
        int k = t.s->device[i];
        const char *type = t.page->graph->ops[i].type;

        mo_trace_open_event(&t.w, 'X', k, MO_TRACE_CALLS,
                            t.page->x->op_names[i]);
        mo_trace_put_interval(&t.w, t.s->start_ns[i],
                              t.s->start_ns[i] +
                                  mo_instance_p_ns(t.page->x, i, k));
        mo_out_text(t.w.out, ",\"args\":{\"type\":");
        mo_out_json(t.w.out, type ? type : "");
        mo_out_text(t.w.out, "}}");
    }
    for (int i = 0; i < t.s->n_transfers; i++) {
        put_transfer_end(&t, i, true);
        put_transfer_end(&t, i, false);
    }
    mo_trace_end(&t.w);
}
