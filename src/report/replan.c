/* SPDX-License-Identifier: Apache-2.0 */
#include "report/replan.h"

#include <inttypes.h>

#include "base/utf8.h"
#include "report/format_units.h"

enum { MOST_LINES = 20, NAME_ROOM = 100 };

int64_t mo_report_replan_requests(const mo_report_replan *r)
{
    int64_t gain_ns = r->before_ns - r->after_ns;

    if (r->move_ns == 0)
        return 0;
    if (r->move_ns < 0 || r->before_ns < 0 || r->before_uses_dropped ||
        !r->before_fits || gain_ns <= 0)
        return -1;
    return r->move_ns / gain_ns + (r->move_ns % gain_ns != 0);
}

static void put_before(const mo_report_replan *r, mo_out *out)
{
    char text[MO_FORMAT_SIZE];

    if (r->before_ns < 0) {
        mo_out_text(out, "before      has no device for some ops\n");
    } else {
        mo_out_printf(out, "before      %s",
                      mo_format_time(r->before_ns, text));
        mo_out_text(out, r->before_uses_dropped ? " with the device left out"
                         : r->before_fits       ? ""
                                                : ", more than memory holds");
        mo_out_text(out, "\n");
    }
    mo_out_printf(out, "after       %s", mo_format_time(r->after_ns, text));
    if (r->before_ns > 0)
        mo_out_printf(out, ", %+.2f %%",
                      100 * ((double) r->after_ns / (double) r->before_ns - 1));
    mo_out_text(out, "\n");
}

void mo_report_replan_text(const mo_report_replan *r, mo_out *out)
{
    char text[MO_FORMAT_SIZE];
    int64_t requests = mo_report_replan_requests(r);

    if (!r->file)
        return;
    mo_out_printf(out, "\nmoves       %d of %d ops, %s of weights\n",
                  r->n_moves, r->n_ops,
                  mo_format_bytes((double) r->bytes, text));
    for (int i = 0; i < r->n_moves && i < MOST_LINES; i++) {
        const mo_report_move *m = &r->moves[i];
        char op[NAME_ROOM], name[NAME_ROOM], moved[MO_FORMAT_SIZE];

        mo_out_printf(out, "    %s",
                      mo_utf8_escape_controls(op, sizeof op, m->op));
        mo_out_printf(out, " from %s",
                      m->from
                          ? mo_utf8_escape_controls(name, sizeof name, m->from)
                          : "no device");
        mo_out_printf(out, " to %s",
                      mo_utf8_escape_controls(name, sizeof name, m->to));
        if (m->bytes > 0)
            mo_out_printf(out, ", %s",
                          mo_format_bytes((double) m->bytes, moved));
        mo_out_text(out, "\n");
    }
    if (r->n_moves > MOST_LINES)
        mo_out_printf(out, "    and %d more, see --json\n",
                      r->n_moves - MOST_LINES);
    put_before(r, out);
    if (r->move_ns > 0)
        mo_out_printf(out, "moving      %s over the links",
                      mo_format_time(r->move_ns, text));
    if (r->move_ns > 0 && requests > 0)
        mo_out_printf(out, ", paid off after %" PRId64 " request%s", requests,
                      requests == 1 ? "" : "s");
    if (r->move_ns > 0)
        mo_out_text(out, "\n");
}

void mo_report_replan_json(const mo_report_replan *r, mo_json_writer *w)
{
    if (!r->file)
        return;
    mo_json_begin_object(w, "replan", MO_JSON_LINES);
    mo_json_put_text(w, "from", r->file);
    if (r->before_ns >= 0) {
        mo_json_put_us(w, "before_us", r->before_ns);
        mo_json_put_bool(w, "before_is_possible",
                         r->before_fits && !r->before_uses_dropped);
    }
    mo_json_put_us(w, "after_us", r->after_ns);
    mo_json_put_int(w, "moved_ops", r->n_moves);
    mo_json_put_int(w, "moved_bytes", r->bytes);
    if (r->move_ns >= 0)
        mo_json_put_us(w, "moving_us", r->move_ns);
    if (mo_report_replan_requests(r) >= 0)
        mo_json_put_int(w, "paid_off_after", mo_report_replan_requests(r));
    mo_json_begin_array(w, "moves", MO_JSON_BLOCK);
    for (int i = 0; i < r->n_moves; i++) {
        const mo_report_move *m = &r->moves[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "op", m->op);
        if (m->from)
            mo_json_put_text(w, "from", m->from);
        mo_json_put_text(w, "to", m->to);
        mo_json_put_int(w, "bytes", m->bytes);
        mo_json_end(w);
    }
    mo_json_end(w);
    mo_json_end(w);
}
