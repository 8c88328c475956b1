/* SPDX-License-Identifier: Apache-2.0 */
#include "report/fit_quality.h"

#include <stdbool.h>

#include "report/prediction_error.h"

static size_t count_samples(const mo_report_fit *f, mo_holdout_set part)
{
    size_t n = 0;

    for (size_t i = 0; i < f->samples->n; i++)
        n += f->part[i] == part;
    return n;
}

static bool has_samples(const mo_report_fit *f, size_t device,
                        mo_holdout_set part)
{
    for (size_t i = 0; i < f->samples->n; i++)
        if (f->part[i] == part && f->samples->items[i].device == (int) device)
            return true;
    return false;
}

/* Lists the devices with rows in part. */
static void put_devices(const mo_report_fit *f, mo_holdout_set part,
                        bool as_json, mo_out *out)
{
    int n = 0;

    for (size_t d = 0; d < f->samples->n_devices; d++) {
        if (!has_samples(f, d, part))
            continue;
        if (n++ > 0)
            mo_out_text(out, ", ");
        if (as_json)
            mo_out_json(out, f->samples->devices[d].id);
        else
            mo_out_text(out, f->samples->devices[d].id);
    }
}

static void put_line(const mo_report_fit *f, const char *title,
                     mo_holdout_set part, mo_out *out)
{
    mo_out_printf(out, "%-12s%zu rows of ", title, count_samples(f, part));
    put_devices(f, part, false, out);
    mo_out_char(out, '\n');
}

mo_status mo_report_fit_text(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err)
{
    size_t unused =
        fitting->samples->skipped + count_samples(fitting, MO_HOLDOUT_NEITHER);

    put_line(fitting, "fitted to", MO_HOLDOUT_TRAIN, out);
    put_line(fitting, "tested on", MO_HOLDOUT_TEST, out);
    if (unused > 0)
        mo_out_printf(out, "not used    %zu rows\n", unused);
    mo_out_char(out, '\n');
    return mo_report_prediction_error_text(fitting->guesses, fitting->samples,
                                           out, err);
}

static void put_part(const mo_report_fit *f, const char *key,
                     mo_holdout_set part, mo_out *out)
{
    mo_out_printf(out, "  \"%s\": {\"rows\": %zu, \"devices\": [", key,
                  count_samples(f, part));
    put_devices(f, part, true, out);
    mo_out_text(out, "]},\n");
}

mo_status mo_report_fit_json(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err)
{
    mo_status status;

    mo_out_text(out, "{\n");
    put_part(fitting, "fitted", MO_HOLDOUT_TRAIN, out);
    put_part(fitting, "tested", MO_HOLDOUT_TEST, out);
    mo_out_printf(out, "  \"unused_rows\": %zu,\n",
                  fitting->samples->skipped +
                      count_samples(fitting, MO_HOLDOUT_NEITHER));
    status = mo_report_prediction_error_json(fitting->guesses, fitting->samples,
                                             out, err);
    mo_out_text(out, "\n}\n");
    return status;
}
