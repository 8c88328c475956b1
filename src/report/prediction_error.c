/* SPDX-License-Identifier: Apache-2.0 */
#include "report/prediction_error.h"

#include <stdio.h>

#include "report/format_units.h"

/* Subject of a line. */
typedef struct subject {
    const char *name;
    int class, math, device; /* MO_UNKNOWN: all of them */
} subject;

enum { NAME_SIZE = 64 };

static double bias_of(const mo_accuracy *a)
{
    return a->predicted_us / a->measured_us - 1;
}

static void put_row(mo_out *out, const char *name, const mo_accuracy *a)
{
    char measured[MO_FORMAT_SIZE], predicted[MO_FORMAT_SIZE];

    mo_out_printf(out,
                  "%-14s %6zu  %8.1f %%  %8.1f %%  %10s  %10s  %+6.1f %%\n",
                  name, a->n, 100 * a->mean, 100 * a->median,
                  mo_format_us(a->measured_us, measured),
                  mo_format_us(a->predicted_us, predicted), 100 * bias_of(a));
}

static mo_status put_one(const mo_predictions *predictions,
                         const subject *about, mo_out *out, mo_error *err)
{
    char name[NAME_SIZE];
    mo_accuracy a;
    mo_status status = mo_accuracy_of(predictions, about->class, about->math,
                                      about->device, &a, err);

    if (status != MO_OK || a.n == 0)
        return status;
    snprintf(name, sizeof name, "%s%s%s", about->name,
             about->math > MO_MATH_F32 ? " " : "",
             about->math > MO_MATH_F32 ? mo_math_name((mo_math) about->math)
                                       : "");
    put_row(out, name, &a);
    return MO_OK;
}

mo_status mo_report_prediction_error_text(const mo_predictions *predictions,
                                          const mo_samples *samples,
                                          mo_out *out, mo_error *err)
{
    mo_status status = MO_OK;

    mo_out_printf(out, "%-14s %6s  %10s  %10s  %10s  %10s  %8s\n", "", "rows",
                  "mean err", "median err", "measured", "predicted", "total");
    for (int i = 0; i < MO_CLASSES * MO_MATHS && status == MO_OK; i++) {
        int c = i / MO_MATHS;
        subject about = { mo_class_name((mo_class) c), c, i % MO_MATHS,
                          MO_UNKNOWN };

        status = put_one(predictions, &about, out, err);
    }
    for (size_t d = 0; d < samples->n_devices && status == MO_OK; d++) {
        subject about = { samples->devices[d].id, MO_UNKNOWN, MO_UNKNOWN,
                          (int) d };

        status = put_one(predictions, &about, out, err);
    }
    if (status == MO_OK)
        status = put_one(
            predictions,
            &(subject){ "all", MO_UNKNOWN, MO_UNKNOWN, MO_UNKNOWN }, out, err);
    return status;
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

mo_status mo_report_prediction_error_json(const mo_predictions *predictions,
                                          const mo_samples *samples,
                                          mo_json_writer *w, mo_error *err)
{
    mo_status status = MO_OK;

    mo_json_begin_array(w, "classes", MO_JSON_BLOCK);
    for (int i = 0; i < MO_CLASSES * MO_MATHS && status == MO_OK; i++) {
        int c = i / MO_MATHS;
        subject about = { mo_class_name((mo_class) c), c, i % MO_MATHS,
                          MO_UNKNOWN };

        status = put_object(predictions, "class", &about, w, err);
    }
    mo_json_end(w);
    mo_json_begin_array(w, "devices", MO_JSON_BLOCK);
    for (size_t d = 0; d < samples->n_devices && status == MO_OK; d++) {
        subject about = { samples->devices[d].id, MO_UNKNOWN, MO_UNKNOWN,
                          (int) d };

        status = put_object(predictions, "device", &about, w, err);
    }
    mo_json_end(w);
    return status;
}
