/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/utf8.h"
#include "report/format_units.h"
#include "report/verdict.h"

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
