/* SPDX-License-Identifier: Apache-2.0 */
#include "report/run_table.h"

#include <stdio.h>

#include "base/utf8.h"
#include "report/format_units.h"

enum { SHOWN_SIZE = 512 };

static void put_time(const mo_time_unit *unit, int64_t ns, int width,
                     mo_out *out)
{
    if (ns > 0)
        mo_out_printf(out, "%*.*f", width, unit->decimals,
                      (double) ns / unit->ns);
    else
        mo_out_printf(out, "%*s", width, "-");
}

/* Times have the unit of the placement's. */
void mo_report_runs_text(const mo_report_runs *p, mo_out *out)
{
    int64_t placed_ns = p->rows[0].median_ns;
    const mo_time_unit *unit = mo_format_time_unit(placed_ns);
    char shown[SHOWN_SIZE], head[MO_FORMAT_SIZE];

    snprintf(head, sizeof head, "median/%s", unit->name);
    mo_out_printf(out, "%-34s%12s%10s%11s%8s%13s\n", "run", head, "p95",
                  "predicted", "error", "placement is");
    for (int i = 0; i < p->n; i++) {
        const mo_report_run *r = &p->rows[i];

        mo_out_printf(out, "%-34s",
                      mo_utf8_escape_controls(shown, sizeof shown, r->name));
        if (*r->why) {
            mo_out_printf(out, "  %s\n",
                          mo_utf8_escape_controls(shown, sizeof shown, r->why));
            continue;
        }
        put_time(unit, r->median_ns, 12, out);
        put_time(unit, r->p95_ns, 10, out);
        put_time(unit, r->predicted_ns, 11, out);
        if (r->predicted_ns > 0)
            mo_out_printf(
                out, "%+6.0f %%",
                100 * ((double) r->median_ns / (double) r->predicted_ns - 1));
        else
            mo_out_printf(out, "%8s", "");
        if (i > 0 && placed_ns > 0)
            mo_out_printf(out, "%7.2f x %s",
                          r->median_ns >= placed_ns
                              ? (double) r->median_ns / (double) placed_ns
                              : (double) placed_ns / (double) r->median_ns,
                          r->median_ns >= placed_ns ? "faster" : "slower");
        mo_out_char(out, '\n');
    }
    if (p->note)
        mo_out_printf(out, "\n%s\n", p->note);
}

void mo_report_runs_json(const mo_report_runs *p, mo_json_writer *w,
                         const char *key)
{
    mo_json_begin_array(w, key, MO_JSON_LINES);
    for (int i = 0; i < p->n; i++) {
        const mo_report_run *r = &p->rows[i];

        mo_json_begin_object(w, NULL, MO_JSON_INLINE);
        mo_json_put_text(w, "run", r->name);
        if (*r->why)
            mo_json_put_text(w, "why", r->why);
        else {
            mo_json_put_us(w, "median_us", r->median_ns);
            mo_json_put_us(w, "p95_us", r->p95_ns);
            if (r->predicted_ns > 0)
                mo_json_put_us(w, "predicted_us", r->predicted_ns);
            mo_json_put_int(w, "runs", r->n_runs);
        }
        mo_json_end(w);
    }
    mo_json_end(w);
}
