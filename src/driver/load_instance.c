/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/load_instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Context of the callback for missing numbers: the log and the file they are
 * missing in. */
typedef struct listener {
    const mo_driver_log *logger;
    const char *path;
} listener;

static void report_missing(void *context, const char *file, int line,
                           const char *what)
{
    const listener *to = context;
    mo_error missing = { 0 };
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 16];

    mo_fail_at(&missing, MO_E_INPUT, file ? file : to->path, line, "%s", what);
    mo_driver_log_warning(to->logger, "%s",
                          mo_error_format(&missing, text, sizeof text));
}

static bool is_stdin(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

const char *mo_driver_load_cost_file(const mo_driver_load_options *load)
{
    static const char kind[] = "roofline:";
    size_t length = sizeof kind - 1;

    return load->cost && strncmp(load->cost, kind, length) == 0
               ? load->cost + length
               : NULL;
}

mo_status mo_driver_load_formats(const mo_driver_load_options *load,
                                 mo_numeric *formats, mo_error *err)
{
    if (load->precision || load->weights)
        return mo_numeric_parse(load->precision, load->weights, formats, err);
    if (load->formats)
        return mo_numeric_read(load->formats, formats, err);
    return mo_numeric_parse(load->run_precision, NULL, formats, err);
}

mo_status mo_driver_load_check(const mo_driver_load_options *load,
                               const char *path, mo_error *err)
{
    mo_numeric formats;

    if (is_stdin(path) + is_stdin(load->cluster) + is_stdin(load->profile) > 1)
        return mo_fail(err, MO_E_USAGE,
                       "only one of graph, cluster and profile can be "
                       "standard input");
    return mo_driver_load_formats(load, &formats, err);
}

mo_status mo_driver_load_graph(const char *path, const mo_read_options *options,
                               const mo_driver_log *logger, mo_graph **graph,
                               const mo_read_format **format, mo_error *err)
{
    double begin = mo_driver_clock_s();
    mo_progress step;
    mo_status status;

    mo_driver_log_step(logger, &step, "reading");
    mo_progress_detail(&step, "%s", path);
    status = mo_read_graph(path, options, graph, format, err);
    mo_progress_end(&step);
    if (status == MO_OK)
        mo_driver_log_info(logger, "read %d ops and %d edges in %.2f s",
                           (*graph)->n_ops, (*graph)->n_edges,
                           mo_driver_clock_s() - begin);
    return status;
}

mo_status mo_driver_load_devices(const mo_driver_load_options *load,
                                 const char *path, const mo_driver_log *logger,
                                 mo_driver_devices *devices, mo_error *err)
{
    char *where = NULL, line[512];
    mo_driver_devices made = { 0 };
    mo_status status =
        !load->cluster && load->discover
            ? load->discover(load->run_precision, &made.cluster, err)
            : mo_cluster_choose(load->cluster, path, &made.cluster, &where,
                                err);

    /* A cluster chosen by default is reported. */
    if (status == MO_OK && !load->cluster && where && !logger->quiet)
        fprintf(stderr, "%s: the cluster is %s\n", logger->command,
                mo_utf8_escape_controls(line, sizeof line, where));
    free(where);
    if (status == MO_OK && load->profile)
        status = mo_profile_read(load->profile, &made.profile, err);
    if (status == MO_OK)
        *devices = made;
    else
        mo_driver_devices_clear(&made);
    return status;
}

void mo_driver_devices_clear(mo_driver_devices *devices)
{
    mo_profile_free(devices->profile);
    mo_cluster_free(devices->cluster);
}

mo_status mo_driver_load_instance(const mo_driver_load_options *load,
                                  const char *path, const mo_graph *g,
                                  const mo_driver_devices *devices,
                                  const mo_driver_log *logger,
                                  mo_instance **instance, mo_error *err)
{
    listener to = { logger, path };
    mo_instance_options options = { .missing = report_missing,
                                    .context = &to,
                                    .profile = devices->profile,
                                    .any_size = load->any_size,
                                    .explain = load->explain };
    double begin = mo_driver_clock_s();
    mo_progress step;
    mo_status status = MO_OK;

    if (load->cost)
        status = mo_predictor_parse(load->cost, devices->cluster,
                                    devices->profile, &options.predictor, err);
    if (status == MO_OK)
        status = mo_driver_load_formats(load, &options.predictor.numeric, err);
    if (status != MO_OK)
        return status;
    mo_driver_log_step(logger, &step, "computing times and transfers");
    status = mo_instance_make(g, devices->cluster, &options, instance, err);
    mo_progress_end(&step);
    if (status == MO_E_INPUT || status == MO_E_INFEASIBLE)
        mo_error_set_location(err, path, 0);
    if (status == MO_OK)
        mo_driver_log_info(logger, "made the instance in %.2f s",
                           mo_driver_clock_s() - begin);
    return status;
}
