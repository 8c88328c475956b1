/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/cost GRAPH... - prediction error of the cost models, on graphs with
 * times measured on V100, P100, T4 and P4.
 *
 * Wave scaling from V100 to the others; the built-in roofline, which was
 * fitted to these times; the roofline fitted on two devices and tested on the
 * other two, for every such choice. Each on the original graph and on the
 * graph without no-ops. Exits with 1 when the total of a network is off by
 * more than a fifth.
 */
#include <config.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coarsen/clean.h"
#include "cost/calibrate/accuracy.h"
#include "cost/calibrate/fit_efficiency.h"
#include "ingest/read.h"

#define TOLERANCE 0.2

enum { N_DEVICES = 4 };

static const char *const models[N_DEVICES] = { "v100", "p100", "t4", "p4" };

/* The fit whose factors wave scaling takes, too: a large device and a small
 * one, of other generations than those they are tested on. */
static const char wave_training[] = "v100,t4";

typedef struct bench {
    mo_samples samples;
    mo_out *out;
    bool failed;
} bench;

/* One line per device. */
static mo_status put_totals(bench *b, const mo_predictions *predictions,
                            const char *what, mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t d = 0; d < b->samples.n_devices && status == MO_OK; d++) {
        mo_accuracy a;
        double off;
        bool is_far;

        status = mo_accuracy_of(predictions, MO_UNKNOWN, MO_UNKNOWN, (int) d,
                                &a, err);
        if (status != MO_OK || a.n == 0)
            continue;
        off = a.predicted_us / a.measured_us - 1;
        is_far = !(fabs(off) <= TOLERANCE);
        mo_out_printf(b->out,
                      "%-24s %-5s total %+6.1f %%, mean error %6.1f %%, "
                      "median error %5.1f %%%s\n",
                      what, b->samples.devices[d].id, 100 * off, 100 * a.mean,
                      100 * a.median, is_far ? "  TOO FAR" : "");
        b->failed |= is_far;
    }
    return status;
}

/* Returns the sample of the same op on another device, or NULL: samples of one
 * op are adjacent and have the same key. */
static const mo_sample *on_device(const mo_samples *samples, size_t i,
                                  int device)
{
    uint64_t key = samples->items[i].key;
    size_t first = i - i % samples->n_devices;

    for (size_t k = first; k < first + samples->n_devices; k++)
        if (k < samples->n && samples->items[k].key == key &&
            samples->items[k].device == device)
            return &samples->items[k];
    return NULL;
}

static mo_status predict_waves(const mo_samples *samples,
                               const mo_efficiencies *table,
                               mo_predictions *predictions, mo_error *err)
{
    int origin = mo_samples_device(samples, mo_device_find(models[0]));
    mo_status status = MO_OK;

    for (size_t i = 0; i < samples->n && status == MO_OK; i++) {
        const mo_sample *s = &samples->items[i];
        const mo_sample *known = on_device(samples, i, origin);
        mo_prediction prediction = { s->work.class, s->work.math, s->device,
                                     s->us, 0 };

        if (s->device == origin || !known)
            continue;
        prediction.predicted_us =
            mo_predict_wave_us(table, &s->work, &samples->devices[origin],
                               known->us, &samples->devices[s->device]);
        status = mo_predictions_add(predictions, &prediction, err);
    }
    return status;
}

static mo_status bench_waves(bench *b, const mo_efficiencies *table,
                             const char *what, mo_error *err)
{
    mo_predictions predictions = { 0 };
    mo_status status = predict_waves(&b->samples, table, &predictions, err);

    if (status == MO_OK)
        status = put_totals(b, &predictions, what, err);
    mo_predictions_clear(&predictions);
    return status;
}

static mo_status bench_builtin(bench *b, mo_error *err)
{
    mo_predictions predictions = { 0 };
    mo_status status =
        mo_predictions_add_roofline(&predictions, &b->samples, NULL, NULL, err);

    if (status == MO_OK)
        status = put_totals(b, &predictions, "roofline, built-in", err);
    mo_predictions_clear(&predictions);
    return status;
}

static mo_status bench_fit(bench *b, const char *train, mo_holdout_set *part,
                           mo_error *err)
{
    bool with_waves = strcmp(train, wave_training) == 0;
    mo_efficiencies table;
    mo_predictions predictions = { 0 };
    char what[64];
    mo_status status = mo_holdout_split(&b->samples, train, NULL, part, err);

    if (status == MO_OK)
        status = mo_fit_efficiency(&b->samples, part, &table, err);
    if (status == MO_OK)
        status = mo_predictions_add_roofline(&predictions, &b->samples, part,
                                             &table, err);
    snprintf(what, sizeof what, "roofline, fit %s", train);
    if (status == MO_OK)
        status = put_totals(b, &predictions, what, err);
    if (status == MO_OK && with_waves)
        status = bench_waves(b, &table, "wave:v100, fit v100,t4", err);
    mo_predictions_clear(&predictions);
    return status;
}

static mo_status bench_fits(bench *b, mo_error *err)
{
    mo_holdout_set *part = malloc((b->samples.n + 1) * sizeof *part);
    mo_status status = part ? MO_OK : mo_fail_memory(err);

    for (int i = 0; i < N_DEVICES; i++)
        for (int k = i + 1; k < N_DEVICES && status == MO_OK; k++) {
            char train[32];

            snprintf(train, sizeof train, "%s,%s", models[i], models[k]);
            status = bench_fit(b, train, part, err);
        }
    free(part);
    return status;
}

static mo_status bench_graph(bench *b, const mo_graph *g, mo_error *err)
{
    mo_status status = mo_samples_add_graph(&b->samples, g, err);

    if (status == MO_OK && b->samples.n_devices != N_DEVICES)
        status = mo_fail(err, MO_E_INPUT, "does not have times of 4 devices");
    mo_out_printf(b->out, "%zu rows, %zu of no use\n", b->samples.n,
                  b->samples.skipped);
    if (status == MO_OK)
        status = bench_waves(b, NULL, "wave:v100, built-in", err);
    if (status == MO_OK)
        status = bench_builtin(b, err);
    if (status == MO_OK)
        status = bench_fits(b, err);
    mo_samples_clear(&b->samples);
    return status;
}

static mo_status bench_file(bench *b, const char *path, mo_error *err)
{
    mo_graph *g = NULL, *clean = NULL;
    mo_coarsen_map *map = NULL;
    mo_clean_report report;
    mo_status status = mo_read_graph(path, NULL, &g, NULL, err);

    if (status == MO_OK)
        status = mo_clean(g, MO_CLEAN_ALL, &clean, &map, &report, err);
    if (status == MO_OK) {
        mo_out_printf(b->out, "%s, as it is: ", path);
        status = bench_graph(b, g, err);
    }
    if (status == MO_OK) {
        mo_out_printf(b->out, "\n%s, without what does no work: ", path);
        status = bench_graph(b, clean, err);
    }
    mo_coarsen_map_free(map);
    mo_graph_free(clean);
    mo_graph_free(g);
    return status;
}

int main(int argc, char **argv)
{
    bench b = { .failed = false };
    mo_error err = { 0 };
    char text[2048];
    mo_status status = mo_out_open("-", &b.out, &err);

    for (int i = 1; i < argc && status == MO_OK; i++)
        status = bench_file(&b, argv[i], &err);
    mo_samples_clear(&b.samples);
    if (status == MO_OK)
        status = mo_out_commit(b.out, &err);
    if (status != MO_OK) {
        fprintf(stderr, "bench/cost: %s\n",
                mo_error_format(&err, text, sizeof text));
        return EXIT_FAILURE;
    }
    return b.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
