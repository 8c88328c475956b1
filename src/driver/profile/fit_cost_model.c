/* SPDX-License-Identifier: Apache-2.0 */
/* moirai-profile fit: fits efficiency factors to measured profiles. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "driver/output_guard.h"
#include "driver/profile/profile_options.h"
#include "coarsen/clean.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/fit_efficiency.h"
#include "ingest/read.h"
#include "report/fit_quality.h"

enum { ROOT_SIZE = 64 };

/* State of the subcommand. */
typedef struct work {
    mo_samples samples;
    const char *outside; /* file of samples.outside_line; NULL: none */
    mo_holdout_set *part;
    mo_efficiencies table;
    mo_predictions predictions;
} work;

static mo_status add_profile(mo_input *input, mo_samples *samples,
                             mo_error *err)
{
    mo_profile *profile;
    mo_status status = mo_profile_read_input(input, &profile, err);

    if (status != MO_OK)
        return status;
    status = mo_samples_add_profile(samples, profile, err);
    mo_profile_free(profile);
    return status;
}

static mo_status add_graph(const mo_profiler_options *o, mo_input *input,
                           mo_samples *samples, mo_error *err)
{
    mo_graph *graph = NULL, *clean = NULL;
    mo_coarsen_map *map = NULL;
    mo_clean_report report;
    mo_status status = mo_read_input(input, NULL, &graph, NULL, err);

    if (status == MO_OK)
        status = mo_clean(graph, o->passes, &clean, &map, &report, err);
    if (status == MO_OK)
        status = mo_samples_add_graph(samples, clean, err);
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(graph);
    return status;
}

static mo_status add_file(const mo_profiler_options *o, const char *path,
                          mo_samples *samples, mo_error *err)
{
    char root[ROOT_SIZE];
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);
    size_t before = samples->n;

    if (status != MO_OK)
        return status;
    status = mo_read_root(input, root, sizeof root, err);
    if (status == MO_OK)
        status = strcmp(root, "profile") == 0
                     ? add_profile(input, samples, err)
                     : add_graph(o, input, samples, err);
    if (status == MO_OK)
        mo_driver_log_info(&o->logger, "%s: %zu rows", mo_input_name(input),
                           samples->n - before);
    mo_input_close(input);
    return status;
}

static mo_status fit_factors(const mo_profiler_options *o, const char *file,
                             work *w, mo_error *err)
{
    double begin = mo_driver_clock_s();
    mo_status status;

    if (w->samples.n == 0 && w->outside)
        return mo_fail_at(err, MO_E_INPUT, w->outside, w->samples.outside_line,
                          "median_us of %g is out of range, and no other row "
                          "is of use; measure it, from %g to %g",
                          w->samples.outside_us, MO_SAMPLE_LEAST_US,
                          MO_SAMPLE_MOST_US);
    if (w->samples.n == 0)
        return mo_fail_at(err, MO_E_INPUT, file, 0,
                          "none of %zu rows, other files included, is a time "
                          "on a known device model of an op whose work is "
                          "known (moirai-profile(1))",
                          w->samples.skipped);
    w->part = calloc(w->samples.n, sizeof *w->part);
    status =
        w->part ? mo_holdout_split(&w->samples, o->train, o->test, w->part, err)
                : mo_fail_memory(err);
    if (status == MO_OK)
        status = mo_fit_efficiency(&w->samples, w->part, &w->table, err);
    if (status == MO_OK)
        status = mo_predictions_add_roofline(&w->predictions, &w->samples,
                                             w->part, &w->table, err);
    if (status == MO_OK)
        mo_driver_log_info(&o->logger, "fitted in %.2f s",
                           mo_driver_clock_s() - begin);
    return status;
}

static mo_status write_factors(const char *path, const work *w, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_efficiencies_write(&w->table, out);
    return mo_out_commit(out, err);
}

static mo_status write_report(const mo_profiler_options *o, const work *w,
                              mo_error *err)
{
    const mo_report_fit fitting = { &w->samples, w->part, &w->predictions };
    mo_out *out;
    mo_status status = mo_out_open("-", &out, err);

    if (status != MO_OK)
        return status;
    status = o->json ? mo_report_fit_json(&fitting, out, err)
                     : mo_report_fit_text(&fitting, out, err);
    if (status == MO_OK)
        return mo_out_commit(out, err);
    mo_out_abandon(out);
    return status;
}

mo_status mo_profiler_fit(mo_profiler_options *o, char **files, size_t n,
                          mo_error *err)
{
    const mo_output_file output = { .option = "--output", .path = o->output };
    const mo_output_guard guard = { .outputs = &output, .n = 1 };
    work w = { .part = NULL };
    mo_status status = mo_clean_parse(o->clean, &o->passes, err);

    for (size_t i = 0; i < n && status == MO_OK; i++)
        status = mo_output_guard_check_input(&guard, files[i], err);
    for (size_t i = 0; i < n && status == MO_OK; i++) {
        status = add_file(o, files[i], &w.samples, err);
        if (!w.outside && w.samples.outside_line > 0)
            w.outside = files[i];
    }
    if (status == MO_OK)
        status = fit_factors(o, n > 0 ? files[0] : NULL, &w, err);
    if (status == MO_OK) {
        /* Standard output gets the factors if they are requested there, else
         * the report. */
        status = o->output ? write_factors(o->output, &w, err) : MO_OK;
        if (status == MO_OK && (!o->output || strcmp(o->output, "-") != 0))
            status = write_report(o, &w, err);
    }
    mo_predictions_clear(&w.predictions);
    free(w.part);
    mo_samples_clear(&w.samples);
    return status;
}
