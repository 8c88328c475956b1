/* SPDX-License-Identifier: Apache-2.0 */
#include "report/fit_quality.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json_writer.h"
#include "base/out.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/sample.h"
#include "report/format_units.h"

/* Subject of a line. */
typedef struct subject {
    const char *name;
    int class, math, device; /* MO_UNKNOWN: all of them */
} subject;

enum { NAME_SIZE = 64 };

static mo_status put_one(const mo_predictions *predictions,
                         const subject *about, mo_out *out, mo_error *err)
{
    char name[NAME_SIZE];
    mo_accuracy a;
    mo_status status = mo_accuracy_of(predictions, about->class, about->math,
                                      about->device, &a, err);
    char measured[MO_FORMAT_SIZE];
    char predicted[MO_FORMAT_SIZE];

    if (status != MO_OK || a.n == 0)
        return status;
    snprintf(name, sizeof name, "%s%s%s", about->name,
             about->math > MO_MATH_F32 ? " " : "",
             about->math > MO_MATH_F32 ? mo_math_name((mo_math) about->math)
                                       : "");
    mo_out_printf(out,
                  "%-14s %6zu  %8.1f %%  %8.1f %%  %10s  %10s  %+6.1f %%\n",
                  name, a.n, 100 * a.mean, 100 * a.median,
                  mo_format_us(a.measured_us, measured),
                  mo_format_us(a.predicted_us, predicted),
                  100 * (a.predicted_us / a.measured_us - 1));
    return MO_OK;
}

static mo_status put_object(const mo_predictions *predictions, const char *key,
                            const subject *about, mo_json_writer *w,
                            mo_error *err)
{
    mo_accuracy a;
    mo_status status = mo_accuracy_of(predictions, about->class, about->math,
                                      about->device, &a, err);

    if (status != MO_OK || a.n == 0)
        return status;
    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, key, about->name);
    if (about->math >= 0)
        mo_json_put_text(w, "type", mo_math_name((mo_math) about->math));
    mo_json_put_int(w, "rows", (int64_t) a.n);
    mo_json_put_double(w, "mean_error", a.mean);
    mo_json_put_double(w, "median_error", a.median);
    mo_json_put_double(w, "measured_us", a.measured_us);
    mo_json_put_double(w, "predicted_us", a.predicted_us);
    mo_json_end(w);
    return MO_OK;
}

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

static void put_line(const mo_report_fit *f, const char *title,
                     mo_holdout_set part, mo_out *out)
{
    int n = 0;

    mo_out_printf(out, "%-12s%zu rows of ", title, count_samples(f, part));
    /* Lists the devices with rows in part. */
    for (size_t d = 0; d < f->samples->n_devices; d++) {
        if (!has_samples(f, d, part))
            continue;
        if (n++ > 0)
            mo_out_text(out, ", ");
        mo_out_text(out, f->samples->devices[d].id);
    }
    mo_out_char(out, '\n');
}

mo_status mo_report_fit_text(const mo_report_fit *fitting, mo_out *out,
                             mo_error *err)
{
    size_t unused = count_unused(fitting);
    mo_status status = MO_OK;

    put_line(fitting, "fitted to", MO_HOLDOUT_TRAIN, out);
    put_line(fitting, "tested on", MO_HOLDOUT_TEST, out);
    if (unused > 0)
        mo_out_printf(out, "not used    %zu rows\n", unused);
    mo_out_char(out, '\n');
    /* Writes a table: a line for each predicted class, one for all of them, and
     * one for each device with the sums. */
    mo_out_printf(out, "%-14s %6s  %10s  %10s  %10s  %10s  %8s\n", "", "rows",
                  "mean err", "median err", "measured", "predicted", "total");
    for (int i = 0; i < MO_CLASSES * MO_MATHS && status == MO_OK; i++) {
        int c = i / MO_MATHS;
        subject about = { mo_class_name((mo_class) c), c, i % MO_MATHS,
                          MO_UNKNOWN };

        status = put_one(fitting->predictions, &about, out, err);
    }
    for (size_t d = 0; d < fitting->samples->n_devices && status == MO_OK;
         d++) {
        subject about = { fitting->samples->devices[d].id, MO_UNKNOWN,
                          MO_UNKNOWN, (int) d };

        status = put_one(fitting->predictions, &about, out, err);
    }
    if (status == MO_OK)
        status = put_one(
            fitting->predictions,
            &(subject){ "all", MO_UNKNOWN, MO_UNKNOWN, MO_UNKNOWN }, out, err);
    return status;
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
    /* Writes "classes": [{...}, ...], "devices": [{...}, ...]: two members of
     * an object that the caller opens and closes. */
    status = MO_OK;
    mo_json_begin_array(&w, "classes", MO_JSON_BLOCK);
    for (int i = 0; i < MO_CLASSES * MO_MATHS && status == MO_OK; i++) {
        int c = i / MO_MATHS;
        subject about = { mo_class_name((mo_class) c), c, i % MO_MATHS,
                          MO_UNKNOWN };

        status = put_object(fitting->predictions, "class", &about, &w, err);
    }
    mo_json_end(&w);
    mo_json_begin_array(&w, "devices", MO_JSON_BLOCK);
    for (size_t d = 0; d < fitting->samples->n_devices && status == MO_OK;
         d++) {
        subject about = { fitting->samples->devices[d].id, MO_UNKNOWN,
                          MO_UNKNOWN, (int) d };

        status = put_object(fitting->predictions, "device", &about, &w, err);
    }
    mo_json_end(&w);
    mo_json_end(&w);
    return status;
}
