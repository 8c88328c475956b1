/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "report/verdict.h"

/* Separator state of the members of an object. */
typedef struct members {
    mo_out *out;
    int n;
} members;

static void put_key(members *m, const char *key)
{
    mo_out_printf(m->out, "%s\n  \"%s\": ", m->n++ > 0 ? "," : "", key);
}

static void put_text(members *m, const char *key, const char *value)
{
    if (!value)
        return;
    put_key(m, key);
    mo_out_json(m->out, value);
}

static void put_int(members *m, const char *key, int64_t value)
{
    put_key(m, key);
    mo_out_int(m->out, value);
}

static void put_double(members *m, const char *key, double value)
{
    put_key(m, key);
    mo_out_double(m->out, value);
}

static void put_us(members *m, const char *key, int64_t ns)
{
    put_double(m, key, (double) ns / 1000);
}

static void put_what(const mo_report_verdict *r, members *m)
{
    put_text(m, "graph", r->graph);
    put_text(m, "cluster", r->cluster);
    put_int(m, "ops", r->ops);
    put_int(m, "coarse_ops", r->x->n);
    put_int(m, "edges", r->edges);
    put_int(m, "devices", r->x->n_devices);
    put_text(m, "formulation", r->formulation);
    put_text(m, "congestion", mo_congestion_names[r->regime->congestion]);
    put_text(m, "tensors", mo_tensors_names[r->regime->tensors]);
    put_text(m, "memory", mo_memory_names[r->regime->memory]);
    put_text(m, "solver", r->solver);
}

static void put_times(const mo_report_verdict *r, members *m)
{
    const mo_answer_evaluation *j = r->judgement;

    if (!j->schedule)
        return;
    put_us(m, "makespan_us", j->schedule->makespan_ns);
    put_us(m, "bound_us", r->bound_ns);
    put_double(m, "gap", mo_report_verdict_gap(r));
    if (j->single != MO_FREE)
        put_us(m, "best_single_us", j->single_ns);
}

static void put_placement(const mo_instance *x, const mo_schedule *s,
                          const char *indent, mo_out *out)
{
    mo_out_text(out, "{");
    for (int i = 0; i < x->n; i++) {
        mo_out_printf(out, "%s\n%s  ", i > 0 ? "," : "", indent);
        mo_out_json(out, x->op_names[i]);
        mo_out_text(out, ": ");
        mo_out_json(out, x->device_ids[s->device[i]]);
    }
    mo_out_printf(out, "\n%s}", indent);
}

static void put_violations(const mo_answer_evaluation *j, members *m)
{
    int n = mo_answer_evaluation_count(j);

    put_key(m, "violations");
    mo_out_text(m->out, "[");
    for (int i = 0; i < n; i++) {
        mo_out_printf(m->out, "%s\n    ", i > 0 ? "," : "");
        mo_out_json(m->out, mo_answer_evaluation_violation(j, i));
    }
    mo_out_text(m->out, n > 0 ? "\n  ]" : "]");
}

static void put_by_device(const mo_instance *x, const int64_t *amounts,
                          double scale, mo_out *out)
{
    mo_out_text(out, "{");
    for (int k = 0; k < x->n_devices; k++) {
        mo_out_text(out, k > 0 ? ", " : "");
        mo_out_json(out, x->device_ids[k]);
        mo_out_text(out, ": ");
        mo_out_double(out, (double) amounts[k] / scale);
    }
    mo_out_text(out, "}");
}

static void put_devices(const mo_report_verdict *r, members *m)
{
    const mo_verdict *v = r->judgement->verdict;

    if (!v)
        return;
    put_key(m, "busy_us");
    put_by_device(r->x, v->busy_ns, 1000, m->out);
    put_key(m, "peak_bytes");
    put_by_device(r->x, v->peak_bytes, 1, m->out);
    put_int(m, "transfers", v->n_transfers);
    put_us(m, "sent_us", v->sent_ns);
}

void mo_report_verdict_json(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->judgement;
    members m = { out, 0 };

    mo_out_text(out, "{");
    put_what(r, &m);
    put_text(&m, "status",
             r->status                       ? r->status
             : mo_answer_evaluation_valid(j) ? "valid"
                                             : "invalid");
    put_times(r, &m);
    if (r->seconds >= 0)
        put_double(&m, "seconds", r->seconds);
    if (j->schedule) {
        put_key(&m, "placement");
        put_placement(r->x, j->schedule, "  ", out);
    }
    put_violations(j, &m);
    put_devices(r, &m);
    mo_out_text(out, "\n}\n");
}

static void put_starts(const mo_instance *x, const mo_schedule *s, mo_out *out)
{
    mo_out_text(out, "    \"ops\": {");
    for (int i = 0; i < x->n; i++) {
        mo_out_text(out, i > 0 ? ",\n      " : "\n      ");
        mo_out_json(out, x->op_names[i]);
        mo_out_text(out, ": ");
        mo_out_double(out, (double) s->start_ns[i] / 1000);
    }
    mo_out_text(out, "\n    },\n");
}

/* Writes the consumers of a transfer. */
static void put_readers(const mo_instance *x, const mo_schedule *s,
                        const mo_transfer *t, mo_out *out)
{
    bool once = s->regime.tensors == MO_TENSORS_ONCE;
    int first = once ? x->tensor_start[t->item] : t->item;
    int end = once ? x->tensor_start[t->item + 1] : t->item + 1;
    bool any = false;

    mo_out_text(out, "[");
    for (int q = first; q < end; q++)
        if (s->device[x->flows[q].to] == t->to) {
            mo_out_text(out, any ? ", " : "");
            mo_out_json(out, x->op_names[x->flows[q].to]);
            any = true;
        }
    mo_out_text(out, "]");
}

static void put_transfer(const mo_instance *x, const mo_schedule *s,
                         const mo_transfer *t, mo_out *out)
{
    int from = s->regime.tensors == MO_TENSORS_ONCE ? x->tensor_from[t->item]
                                                    : x->flows[t->item].from;

    mo_out_text(out, "{\"from\": ");
    mo_out_json(out, x->op_names[from]);
    mo_out_text(out, ", \"to\": ");
    put_readers(x, s, t, out);
    mo_out_text(out, ", \"device\": ");
    mo_out_json(out, x->device_ids[t->to]);
    mo_out_text(out, ", \"start_us\": ");
    mo_out_double(out, (double) t->start_ns / 1000);
    mo_out_text(out, ", \"end_us\": ");
    mo_out_double(out, (double) t->end_ns / 1000);
    mo_out_text(out, "}");
}

void mo_report_schedule_json(const mo_instance *x, const mo_schedule *s,
                             mo_out *out)
{
    mo_out_text(out, "{\n  \"placement\": ");
    put_placement(x, s, "  ", out);
    mo_out_text(out, ",\n  \"schedule\": {\n");
    put_starts(x, s, out);
    mo_out_text(out, "    \"transfers\": [");
    for (int t = 0; t < s->n_transfers; t++) {
        mo_out_text(out, t > 0 ? ",\n      " : "\n      ");
        put_transfer(x, s, &s->transfers[t], out);
    }
    mo_out_text(out, "\n    ]\n  }\n}\n");
}
