/* SPDX-License-Identifier: Apache-2.0 */
#include "report/verdict.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "report/format_units.h"

enum { NAME_ROOM = 200 };

static void put_time(const char *what, int64_t ns, mo_out *out)
{
    mo_out_printf(out, "%-12s", what);
    mo_out_double(out, (double) ns / 1000);
    mo_out_text(out, " us");
}

double mo_report_verdict_gap(const mo_report_verdict *r)
{
    double makespan = (double) r->judgement->schedule->makespan_ns;
    double bound = (double) r->bound_ns;

    return makespan > bound ? (makespan - bound) / makespan : 0;
}

static void put_verdict(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->judgement;
    int n = mo_answer_evaluation_count(j);

    mo_out_text(out, mo_answer_evaluation_valid(j) ? "valid" : "invalid");
    if (r->status && mo_answer_evaluation_valid(j))
        mo_out_printf(out, ", %s", r->status);
    mo_out_text(out, "\n");
    for (int i = 0; i < n; i++)
        mo_out_printf(out, "  %s\n", mo_answer_evaluation_violation(j, i));
    if (j->verdict && j->verdict->more)
        mo_out_text(out, "  and more\n");
}

static void put_times(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->judgement;
    char id[NAME_ROOM], gap[MO_FORMAT_SIZE];

    put_time("makespan", j->schedule->makespan_ns, out);
    if (j->claim_ns != MO_ANSWER_NO_CLAIM) {
        mo_out_text(out, ", claimed ");
        mo_out_double(out, (double) j->claim_ns / 1000);
        mo_out_text(out, " us");
    }
    mo_out_text(out, "\n");
    put_time("bound", r->bound_ns, out);
    mo_out_printf(out, " (%s), gap %s %%\n", r->bound_by,
                  mo_format_percent(mo_report_verdict_gap(r), gap));
    if (j->single == MO_FREE)
        return;
    put_time("best single", j->single_ns, out);
    mo_out_printf(
        out, " on %s\n",
        mo_utf8_escape_controls(id, sizeof id, r->x->device_ids[j->single]));
}

static int count_ops(const mo_schedule *s, int device)
{
    int n = 0;

    for (int i = 0; i < s->n; i++)
        n += s->device[i] == device;
    return n;
}

static double format_gap(int64_t part, int64_t whole)
{
    return whole > 0 ? 100 * (double) part / (double) whole : 0;
}

static void put_device(const mo_report_verdict *r, int k, mo_out *out)
{
    const mo_answer_evaluation *j = r->judgement;
    int64_t capacity = r->x->capacity_bytes[k],
            peak = j->verdict->peak_bytes[k];
    char id[NAME_ROOM], used[MO_FORMAT_SIZE], most[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s%8d ops  %6.1f %% busy  %s",
                  mo_utf8_escape_controls(id, sizeof id, r->x->device_ids[k]),
                  count_ops(j->schedule, k),
                  format_gap(j->verdict->busy_ns[k], j->schedule->makespan_ns),
                  mo_format_bytes((double) peak, used));
    if (capacity < INT64_MAX)
        mo_out_printf(out, " of %s", mo_format_bytes((double) capacity, most));
    mo_out_text(out, "\n");
}

void mo_report_verdict_text(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->judgement;

    put_verdict(r, out);
    if (!j->schedule)
        return;
    put_times(r, out);
    mo_out_printf(out, "%-12s%d, ", "transfers", j->verdict->n_transfers);
    mo_out_double(out, (double) j->verdict->sent_ns / 1000);
    mo_out_text(out, " us in all\n\n");
    for (int k = 0; k < r->x->n_devices; k++)
        put_device(r, k, out);
}

/* --------------------------------------------------------------------- JSON */

/* Separator state of the members of an object. */
typedef struct members {
    mo_out *out;
    int n;
} members;

static void json_key(members *m, const char *key)
{
    mo_out_printf(m->out, "%s\n  \"%s\": ", m->n++ > 0 ? "," : "", key);
}

static void json_text(members *m, const char *key, const char *value)
{
    if (!value)
        return;
    json_key(m, key);
    mo_out_json(m->out, value);
}

static void json_int(members *m, const char *key, int64_t value)
{
    json_key(m, key);
    mo_out_int(m->out, value);
}

static void json_double(members *m, const char *key, double value)
{
    json_key(m, key);
    mo_out_double(m->out, value);
}

static void json_us(members *m, const char *key, int64_t ns)
{
    json_double(m, key, (double) ns / 1000);
}

static void json_what(const mo_report_verdict *r, members *m)
{
    json_text(m, "graph", r->graph);
    json_text(m, "cluster", r->cluster);
    json_int(m, "ops", r->ops);
    json_int(m, "coarse_ops", r->x->n);
    json_int(m, "edges", r->edges);
    json_int(m, "devices", r->x->n_devices);
    json_text(m, "formulation", r->formulation);
    json_text(m, "congestion", mo_congestion_names[r->regime->congestion]);
    json_text(m, "tensors", mo_tensors_names[r->regime->tensors]);
    json_text(m, "memory", mo_memory_names[r->regime->memory]);
    json_text(m, "solver", r->solver);
}

static void json_times(const mo_report_verdict *r, members *m)
{
    const mo_answer_evaluation *j = r->judgement;

    if (!j->schedule)
        return;
    json_us(m, "makespan_us", j->schedule->makespan_ns);
    json_us(m, "bound_us", r->bound_ns);
    json_double(m, "gap", mo_report_verdict_gap(r));
    if (j->single != MO_FREE)
        json_us(m, "best_single_us", j->single_ns);
}

static void json_placement(const mo_instance *x, const mo_schedule *s,
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

static void json_violations(const mo_answer_evaluation *j, members *m)
{
    int n = mo_answer_evaluation_count(j);

    json_key(m, "violations");
    mo_out_text(m->out, "[");
    for (int i = 0; i < n; i++) {
        mo_out_printf(m->out, "%s\n    ", i > 0 ? "," : "");
        mo_out_json(m->out, mo_answer_evaluation_violation(j, i));
    }
    mo_out_text(m->out, n > 0 ? "\n  ]" : "]");
}

static void json_by_device(const mo_instance *x, const int64_t *amounts,
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

static void json_devices(const mo_report_verdict *r, members *m)
{
    const mo_verdict *v = r->judgement->verdict;

    if (!v)
        return;
    json_key(m, "busy_us");
    json_by_device(r->x, v->busy_ns, 1000, m->out);
    json_key(m, "peak_bytes");
    json_by_device(r->x, v->peak_bytes, 1, m->out);
    json_int(m, "transfers", v->n_transfers);
    json_us(m, "sent_us", v->sent_ns);
}

void mo_report_verdict_json(const mo_report_verdict *r, mo_out *out)
{
    const mo_answer_evaluation *j = r->judgement;
    members m = { out, 0 };

    mo_out_text(out, "{");
    json_what(r, &m);
    json_text(&m, "status",
              r->status                       ? r->status
              : mo_answer_evaluation_valid(j) ? "valid"
                                              : "invalid");
    json_times(r, &m);
    if (r->seconds >= 0)
        json_double(&m, "seconds", r->seconds);
    if (j->schedule) {
        json_key(&m, "placement");
        json_placement(r->x, j->schedule, "  ", out);
    }
    json_violations(j, &m);
    json_devices(r, &m);
    mo_out_text(out, "\n}\n");
}

static void json_starts(const mo_instance *x, const mo_schedule *s, mo_out *out)
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
static void json_readers(const mo_instance *x, const mo_schedule *s,
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

static void json_transfer(const mo_instance *x, const mo_schedule *s,
                          const mo_transfer *t, mo_out *out)
{
    int from = s->regime.tensors == MO_TENSORS_ONCE ? x->tensor_from[t->item]
                                                    : x->flows[t->item].from;

    mo_out_text(out, "{\"from\": ");
    mo_out_json(out, x->op_names[from]);
    mo_out_text(out, ", \"to\": ");
    json_readers(x, s, t, out);
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
    json_placement(x, s, "  ", out);
    mo_out_text(out, ",\n  \"schedule\": {\n");
    json_starts(x, s, out);
    mo_out_text(out, "    \"transfers\": [");
    for (int t = 0; t < s->n_transfers; t++) {
        mo_out_text(out, t > 0 ? ",\n      " : "\n      ");
        json_transfer(x, s, &s->transfers[t], out);
    }
    mo_out_text(out, "\n    ]\n  }\n}\n");
}
