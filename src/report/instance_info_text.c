/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/utf8.h"
#include "report/instance_info.h"
#include "report/instance_totals.h"
#include "report/format_units.h"

/* Limits: characters of names, devices across a page. */
enum { SHOWN_SIZE = 128, NAME_SIZE = 13, MOST_SHOWN = 16 };

static void put_count(mo_out *out, const char *what, int count)
{
    mo_out_printf(out, "%-12s%d\n", what, count);
}

static void put_head(const mo_report_instance *r,
                     const mo_report_instance_totals *sums, mo_out *out)
{
    const mo_instance *x = r->instance;
    char text[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, r->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_escape_controls(text, sizeof text, r->cluster));
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", x->digest);
    put_count(out, "ops", x->n);
    put_count(out, "flows", x->n_flows);
    put_count(out, "tensors", x->n_tensors);
    mo_out_printf(out, "%-12s%s\n", "memory",
                  mo_format_bytes((double) sums->memory_bytes, text));
    mo_out_printf(out, "%-12s%d ops\n", "pinned", sums->n_pinned);
    mo_out_printf(out, "%-12s%d ops in %d groups\n", "colocated",
                  sums->n_grouped, x->n_groups);
}

static void put_devices(const mo_instance *x,
                        const mo_report_instance_totals *sums, mo_out *out)
{
    char id[SHOWN_SIZE], time[MO_FORMAT_SIZE], memory[MO_FORMAT_SIZE];

    mo_out_text(out, "\ndevice        all ops on it        memory\n");
    for (int k = 0; k < x->n_devices; k++) {
        int64_t room = x->capacity_bytes[k];

        mo_out_printf(out, "%-12s %14s %13s\n",
                      mo_utf8_escape_controls(id, sizeof id, x->device_ids[k]),
                      mo_format_us((double) sums->time_ns[k] / 1000, time),
                      room == INT64_MAX
                          ? "no limit"
                          : mo_format_bytes((double) room, memory));
    }
}

static void put_row(const mo_instance *x, const mo_report_instance_totals *sums,
                    int a, int n_shown, mo_out *out)
{
    char name[NAME_SIZE], time[MO_FORMAT_SIZE];

    mo_out_printf(out, "%-12s",
                  mo_utf8_escape_controls(name, sizeof name, x->device_ids[a]));
    for (int b = 0; b < n_shown; b++) {
        double ns = (double) mo_report_instance_totals_pair_ns(sums, x, a, b);

        mo_out_printf(out, " %12s",
                      a == b ? "-" : mo_format_us(ns / 1000, time));
    }
    mo_out_char(out, '\n');
}

/* Writes a matrix, up to the width of a page. */
static void put_transfers(const mo_instance *x,
                          const mo_report_instance_totals *sums, mo_out *out)
{
    char name[NAME_SIZE];
    int n = x->n_devices < MOST_SHOWN ? x->n_devices : MOST_SHOWN;

    if (x->n_devices < 2)
        return;
    mo_out_text(out, "\nall flows from (row) to (column)\n            ");
    for (int b = 0; b < n; b++)
        mo_out_printf(
            out, " %12s",
            mo_utf8_escape_controls(name, sizeof name, x->device_ids[b]));
    mo_out_char(out, '\n');
    for (int a = 0; a < n; a++)
        put_row(x, sums, a, n, out);
    if (n < x->n_devices)
        mo_out_printf(out, "and %d more devices\n", x->n_devices - n);
}

mo_status mo_report_instance_text(const mo_report_instance *report, mo_out *out,
                                  mo_error *err)
{
    mo_report_instance_totals sums;
    mo_status status =
        mo_report_instance_totals_make(report->instance, &sums, err);

    if (status != MO_OK)
        return status;
    put_head(report, &sums, out);
    put_devices(report->instance, &sums, out);
    put_transfers(report->instance, &sums, out);
    mo_report_instance_totals_clear(&sums);
    return MO_OK;
}
