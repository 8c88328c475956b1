/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/emit_output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "models/write/count_sink.h"
#include "models/write/lp_writer.h"
#include "models/write/column_map.h"
#include "models/write/mps_writer.h"
#include "models/write/mip_start.h"
#include "report/model_size.h"
#include "report/format_units.h"

/* Beyond this number of rows no solver is known to succeed. */
enum { MANY_ROWS = 10 * 1000 * 1000 };

static void warn_of_many(void *context)
{
    const mo_driver_log *logger = context;

    if (!logger->quiet)
        fprintf(stderr,
                "%s: more than %d million rows, which no solver is known to "
                "digest; moirai-place needs none, and --fusion default makes "
                "the graph smaller\n",
                logger->command, MANY_ROWS / 1000000);
}

/* The context is only read, but callbacks take it non-const. */
static mo_status send_model(const mo_cli_emit *emit, mo_sink *sink,
                            mo_error *err)
{
    mo_driver_log logger = *emit->logger;
    mo_status status;

    sink->row_limit = MANY_ROWS;
    sink->on_row_limit = warn_of_many;
    sink->context = &logger;
    status = mo_model_write(&emit->prepared->model, sink, err);
    mo_sink_free(sink);
    return status;
}

static mo_heading heading_of(const mo_cli_emit *emit)
{
    return (mo_heading){ &emit->prepared->model, emit->graph,
                         emit->prepared->loaded.cluster->file };
}

mo_status mo_cli_emit_model(const mo_cli_emit *emit, bool mps, mo_out *out,
                            mo_error *err)
{
    mo_heading heading = heading_of(emit);
    double begin = mo_driver_clock_s();
    mo_sink *sink;
    mo_status status = mps ? mo_mps_writer_new(out, &heading, 0, &sink, err)
                           : mo_lp_writer_new(out, &heading, &sink, err);

    if (status == MO_OK)
        status = send_model(emit, sink, err);
    if (status == MO_OK)
        mo_driver_log_info(emit->logger, "wrote the model in %.2f s",
                           mo_driver_clock_s() - begin);
    return status;
}

mo_status mo_cli_emit_map(const mo_cli_emit *emit, mo_out *out, mo_error *err)
{
    mo_sink *sink;
    mo_status status =
        mo_column_map_new(out, &emit->prepared->model, &sink, err);

    return status == MO_OK ? send_model(emit, sink, err) : status;
}

mo_status mo_cli_emit_start(const mo_cli_emit *emit, const char *path,
                            mo_out *out, mo_error *err)
{
    mo_sink *sink;
    mo_status status =
        mo_mip_start_new(out, mo_mip_start_layout_of(path), &sink, err);

    return status == MO_OK ? send_model(emit, sink, err) : status;
}

/* Comments have the same length in every format; the last line of a file is
 * counted with the model. */
static mo_status measure_heading(const mo_cli_emit *emit, int64_t *bytes,
                                 mo_error *err)
{
    mo_heading heading = heading_of(emit);
    char end[MO_HEADING_END_SIZE];
    mo_out *out;
    size_t size = 0;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    mo_heading_write(&heading, "*", out);
    free(mo_out_take(out, &size));
    *bytes = (int64_t) (size + mo_heading_end(false, 0, end)) -
             (int64_t) strlen("End\n");
    return mo_out_commit(out, err);
}

static mo_status count_model(const mo_cli_emit *emit, mo_model_counts *counts,
                             int64_t *heading_bytes, mo_error *err)
{
    mo_sink *sink;
    mo_status status = mo_count_sink_new(counts, &sink, err);

    if (status == MO_OK)
        status = send_model(emit, sink, err);
    return status == MO_OK ? measure_heading(emit, heading_bytes, err) : status;
}

mo_status mo_cli_emit_stats(const mo_cli_emit *emit, bool json, mo_out *out,
                            mo_error *err)
{
    const mo_prepared *made = emit->prepared;
    mo_model_counts counts;
    mo_report_model_size report = { .graph = emit->graph,
                                    .cluster = made->loaded.cluster->file,
                                    .ops = made->fine->n_ops,
                                    .model = &made->model,
                                    .count = &counts };
    mo_status status = count_model(emit, &counts, &report.heading_bytes, err);

    if (status != MO_OK)
        return status;
    if (json)
        mo_report_model_size_json(&report, out);
    else
        mo_report_model_size_text(&report, out);
    return MO_OK;
}

mo_status mo_cli_emit_hint(const mo_cli_emit *emit, mo_error *err)
{
    const char *command = emit->logger->command;
    char graph[512], size[MO_FORMAT_SIZE];
    mo_model_counts c;
    int64_t heading_bytes;
    mo_status status = count_model(emit, &c, &heading_bytes, err);

    if (status != MO_OK)
        return status;
    mo_utf8_escape_controls(graph, sizeof graph, emit->graph);
    fprintf(stderr,
            "%s: a model of %" PRId64 " rows, %" PRId64
            " columns and %s is not for a terminal\n",
            command, c.rows, c.binaries + c.continuous,
            mo_format_bytes((double) (c.lp_bytes + heading_bytes), size));
    fprintf(stderr,
            "    into a file:       %s %s -o model.lp\n"
            "    into a pipe:       %s %s | less\n"
            "    what is in it:     %s %s --stats\n",
            command, graph, command, graph, command, graph);
    return MO_OK;
}
