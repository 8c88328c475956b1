/* SPDX-License-Identifier: Apache-2.0 */
#include "report/time_origins.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "report/format_units.h"

enum { NAME_SIZE = 13, TEXT_SIZE = 64 };

/* Ops of one device with the same source, limit and type. */
typedef struct origin_sum {
    int n;
    int64_t time_ns;
    double error_ns, known_ns; /* errors, and the times that have one */
} origin_sum;

typedef struct origin_sums {
    origin_sum of[MO_TIME_SOURCES][MO_TIME_LIMITS][MO_MATHS];
} origin_sums;

static void add_up(const mo_instance *x, int device, origin_sums *sums)
{
    memset(sums, 0, sizeof *sums);
    for (int i = 0; i < x->n; i++) {
        int64_t at = (int64_t) i * x->n_devices + device;
        const mo_time_origin *from = &x->origins[at];
        origin_sum *sum = &sums->of[from->source][from->limit][from->math];

        sum->n++;
        sum->time_ns += x->p_ns[at];
        if (isnan(from->error))
            continue;
        sum->known_ns += (double) x->p_ns[at];
        sum->error_ns += from->error * (double) x->p_ns[at];
    }
}

/* Returns the mean error by time; NAN where at most half of the time has
 * one. */
static double mean_error(const origin_sum *sum)
{
    return sum->known_ns > 0 && 2 * sum->known_ns > (double) sum->time_ns
               ? sum->error_ns / sum->known_ns
               : NAN;
}

/* Writes "predicted: compute f16" or "measured". */
static const char *origin_text(mo_time_source source, mo_time_limit limit,
                               mo_math math, char text[TEXT_SIZE])
{
    snprintf(text, TEXT_SIZE, "%s%s%s%s%s", mo_time_source_names[source],
             limit != MO_TIME_LIMIT_NONE ? ": " : "",
             mo_time_limit_names[limit], math != MO_MATH_F32 ? " " : "",
             math != MO_MATH_F32 ? mo_math_name(math) : "");
    return text;
}

/* Calls put for every combination that ops of device have. */
typedef void put_sum(const origin_sum *sum, const char *origin, void *to);

static void for_each_sum(const mo_instance *x, int device, put_sum *put,
                         void *to)
{
    char text[TEXT_SIZE];
    origin_sums sums;

    add_up(x, device, &sums);
    for (int s = 0; s < MO_TIME_SOURCES; s++)
        for (int l = 0; l < MO_TIME_LIMITS; l++)
            for (int m = 0; m < MO_MATHS; m++)
                if (sums.of[s][l][m].n > 0)
                    put(&sums.of[s][l][m],
                        origin_text((mo_time_source) s, (mo_time_limit) l,
                                    (mo_math) m, text),
                        to);
}

typedef struct table {
    mo_out *out;
    char device[NAME_SIZE];
} table;

static void put_row(const origin_sum *sum, const char *origin, void *to)
{
    table *t = to;
    double error = mean_error(sum);
    char time[MO_FORMAT_SIZE];

    mo_out_printf(t->out, "%-12s %-24s %8d %13s", t->device, origin, sum->n,
                  mo_format_us((double) sum->time_ns / 1000, time));
    if (isnan(error))
        mo_out_text(t->out, "   unknown\n");
    else
        mo_out_printf(t->out, " %7.0f %%\n", 100 * error);
    t->device[0] = '\0';
}

void mo_report_time_origins_text(const mo_instance *x, int n_devices,
                                 mo_out *out)
{
    if (!x->origins || x->n == 0)
        return;
    mo_out_text(out, "\ndevice       times are                     ops     "
                     "take all     error\n");
    for (int k = 0; k < n_devices; k++) {
        table t = { .out = out };

        mo_utf8_escape_controls(t.device, sizeof t.device, x->device_ids[k]);
        for_each_sum(x, k, put_row, &t);
    }
}

static void json_error(mo_json_writer *w, const char *key, double error)
{
    if (isnan(error))
        mo_json_put_null(w, key);
    else
        mo_json_put_double(w, key, round(error * 1000) / 1000);
}

static void json_sum(const origin_sum *sum, const char *origin, void *to)
{
    mo_json_writer *w = to;

    mo_json_begin_object(w, NULL, MO_JSON_INLINE);
    mo_json_put_text(w, "origin", origin);
    mo_json_put_int(w, "ops", sum->n);
    mo_json_put_us(w, "time_us", sum->time_ns);
    json_error(w, "error", mean_error(sum));
    mo_json_end(w);
}

void mo_report_time_origins_json(const mo_instance *x, int device,
                                 mo_json_writer *w)
{
    if (!x->origins)
        return;
    mo_json_begin_array(w, "origins", MO_JSON_INLINE);
    for_each_sum(x, device, json_sum, w);
    mo_json_end(w);
}

void mo_report_time_origins_op_json(const mo_instance *x, int op,
                                    mo_json_writer *w)
{
    const mo_time_origin *from;
    char text[TEXT_SIZE];

    if (!x->origins)
        return;
    from = x->origins + (int64_t) op * x->n_devices;
    mo_json_begin_array(w, "origin", MO_JSON_INLINE);
    for (int k = 0; k < x->n_devices; k++)
        mo_json_put_text(
            w, NULL,
            origin_text(from[k].source, from[k].limit, from[k].math, text));
    mo_json_end(w);
    mo_json_begin_array(w, "error", MO_JSON_INLINE);
    for (int k = 0; k < x->n_devices; k++)
        json_error(w, NULL, from[k].error);
    mo_json_end(w);
}
