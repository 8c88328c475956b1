#include <inttypes.h>

#include "base/utf8.h"
#include "report/instance.h"
#include "report/instance_sums.h"
#include "report/unit.h"

enum { SHOWN_SIZE = 128, MOST_SHOWN = 16 };

static void put_head(const mo_instance_report *r, mo_out *out)
{
    const mo_instance *x = r->instance;
    char text[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_visible(text, sizeof text, r->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_visible(text, sizeof text, r->cluster));
    mo_out_printf(out, "%-12s%016" PRIx64 "\n", "digest", x->digest);
    mo_out_printf(out, "%-12s%d\n%-12s%d\n%-12s%d, %d different\n", "ops",
                  x->n, "flows", x->n_flows, "tensors", x->n_tensors,
                  x->n_comm_rows);
    mo_out_printf(out, "%-12s%s\n", "memory",
                  mo_unit_bytes(mo_instance_memory_bytes(x), text));
}

static void put_bound(const mo_instance *x, mo_out *out)
{
    int n_pinned = 0, n_grouped = 0;

    for (int i = 0; i < x->n; i++) {
        n_pinned += x->pin[i] != MO_FREE;
        n_grouped += x->group[i] != MO_FREE;
    }
    mo_out_printf(out, "%-12s%d ops\n%-12s%d ops in %d groups\n", "pinned",
                  n_pinned, "colocated", n_grouped, x->n_groups);
}

static void put_devices(const mo_instance *x, mo_out *out)
{
    char id[SHOWN_SIZE], time[MO_UNIT_SIZE], memory[MO_UNIT_SIZE];

    mo_out_text(out, "\ndevice        all ops on it        memory\n");
    for (int k = 0; k < x->n_devices; k++)
        mo_out_printf(out, "%-12s %14s %13s\n",
                      mo_utf8_visible(id, sizeof id, x->device_ids[k]),
                      mo_unit_us(mo_instance_time_ns(x, k) / 1000, time),
                      x->capacity_bytes[k] == INT64_MAX
                          ? "no limit"
                          : mo_unit_bytes((double) x->capacity_bytes[k],
                                          memory));
}

/* A matrix as wide as a page takes. */
static void put_transfers(const mo_instance *x, mo_out *out)
{
    char text[SHOWN_SIZE];
    int n = x->n_devices < MOST_SHOWN ? x->n_devices : MOST_SHOWN;

    if (x->n_devices < 2)
        return;
    mo_out_text(out, "\nall flows from (row) to (column)\n            ");
    for (int b = 0; b < n; b++)
        mo_out_printf(out, " %12.12s",
                      mo_utf8_visible(text, sizeof text, x->device_ids[b]));
    mo_out_char(out, '\n');
    for (int a = 0; a < n; a++) {
        mo_out_printf(out, "%-12.12s",
                      mo_utf8_visible(text, sizeof text, x->device_ids[a]));
        for (int b = 0; b < n; b++)
            mo_out_printf(out, " %12s",
                          a == b ? "-"
                                 : mo_unit_us(mo_instance_transfer_ns(x, a, b) /
                                                  1000,
                                              text));
        mo_out_char(out, '\n');
    }
    if (n < x->n_devices)
        mo_out_printf(out, "and %d more devices\n", x->n_devices - n);
}

void mo_instance_text(const mo_instance_report *report, mo_out *out)
{
    put_head(report, out);
    put_bound(report->instance, out);
    put_devices(report->instance, out);
    put_transfers(report->instance, out);
}
