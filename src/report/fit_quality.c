/* SPDX-License-Identifier: Apache-2.0 */
#include "report/fit_quality.h"

#include <stdbool.h>

#include "base/json_writer.h"
#include "report/prediction_error.h"

static size_t count_samples(const mo_report_fit *f, mo_holdout_set part)
{
    size_t n = 0;

    for (size_t i = 0; i < f->samples->n; i++)
        n += f->part[i] == part;
    return n;
}

static size_t count_unused(const mo_report_fit *f)
{
    return f->samples->skipped + count_samples(f, MO_HOLDOUT_NEITHER);
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
                        mo_out *out)
{
    int n = 0;

    for (size_t d = 0; d < f->samples->n_devices; d++) {
        if (!has_samples(f, d, part))
            continue;
        if (n++ > 0)
            mo_out_text(out, ", ");
        mo_out_text(out, f->samples->devices[d].id);
    }
}

static void put_line(const mo_report_fit *f, const char *title,
                     mo_holdout_set part, mo_out *out)
{
    mo_out_printf(out, "%-12s%zu rows of ", title, count_samples(f, part));
    put_devices(f, part, out);
    mo_out_char(out, '\n');
}

mo_status mo_report_fit_text(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err)
{
    size_t unused = count_unused(fitting);

    put_line(fitting, "fitted to", MO_HOLDOUT_TRAIN, out);
    put_line(fitting, "tested on", MO_HOLDOUT_TEST, out);
    if (unused > 0)
        mo_out_printf(out, "not used    %zu rows\n", unused);
    mo_out_char(out, '\n');
    return mo_report_prediction_error_text(fitting->predictions,
                                           fitting->samples, out, err);
}

static void put_part(const mo_report_fit *f, const char *key,
                     mo_holdout_set part, mo_json_writer *w)
{
    mo_json_begin_object(w, key, MO_JSON_INLINE);
    mo_json_put_int(w, "rows", (int64_t) count_samples(f, part));
    mo_json_begin_array(w, "devices", MO_JSON_INLINE);
    for (size_t d = 0; d < f->samples->n_devices; d++)
        if (has_samples(f, d, part))
            mo_json_put_text(w, NULL, f->samples->devices[d].id);
    mo_json_end(w);
    mo_json_end(w);
}

mo_status mo_report_fit_json(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err)
{
    mo_json_writer w = { .out = out };
    mo_status status;

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    put_part(fitting, "fitted", MO_HOLDOUT_TRAIN, &w);
    put_part(fitting, "tested", MO_HOLDOUT_TEST, &w);
    mo_json_put_int(&w, "unused_rows", (int64_t) count_unused(fitting));
    status = mo_report_prediction_error_json(fitting->predictions,
                                             fitting->samples, &w, err);
    mo_json_end(&w);
    return status;
}
