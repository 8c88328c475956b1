/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/emit_output.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_writer.h"
#include "base/out.h"
#include "base/utf8.h"
#include "models/model.h"
#include "models/sink/scale.h"
#include "models/write/column_map.h"
#include "models/write/count_sink.h"
#include "models/write/lp_writer.h"
#include "models/write/mip_start.h"
#include "models/write/mps_writer.h"
#include "report/format_units.h"

/* Beyond this number of rows no solver is known to succeed. */
enum { MANY_ROWS = 10 * 1000 * 1000 };

static void warn_of_many(void *context)
{
    const mo_driver_log *logger = context;

    if (!logger->quiet)
        fprintf(stderr,
                "%s: more than %d million rows, which no solver is known to "
                "digest; moirai-place needs none\n",
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
    status = mo_model_write(emit->model, sink, err);
    mo_sink_free(sink);
    return status;
}

static mo_heading heading_of(const mo_cli_emit *emit)
{
    return (mo_heading){ emit->model, emit->graph, emit->problem->cluster->file,
                         emit->files };
}

mo_status mo_cli_emit_model(const mo_cli_emit *emit, bool mps, mo_out *out,
                            mo_error *err)
{
    mo_heading heading = heading_of(emit);
    double begin = mo_driver_clock_s();
    mo_sink *sink;
    mo_progress step;
    mo_status status = mps ? mo_mps_writer_new(out, &heading, &sink, err)
                           : mo_lp_writer_new(out, &heading, &sink, err);

    mo_driver_log_step(emit->logger, &step, "writing the model");
    if (status == MO_OK)
        status = send_model(emit, sink, err);
    mo_progress_end(&step);
    if (status == MO_OK)
        mo_driver_log_info(emit->logger, "wrote the model in %.2f s",
                           mo_driver_clock_s() - begin);
    return status;
}

mo_status mo_cli_emit_map(const mo_cli_emit *emit, mo_out *out, mo_error *err)
{
    mo_sink *sink;
    mo_status status = mo_column_map_new(out, emit->model, &sink, err);

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

enum { SHOWN_SIZE = 128 }; /* of a name; longer ones end in "..." */

static void put_range(const char *what, double least, double largest,
                      mo_out *out)
{
    mo_out_printf(out, "%-12s", what);
    if (largest == 0) {
        mo_out_text(out, "none\n");
        return;
    }
    mo_out_double(out, least);
    mo_out_text(out, " to ");
    mo_out_double(out, largest);
    mo_out_char(out, '\n');
}

/* heading_bytes are those of the comments at the beginning of a file. */
static void print_size_text(const mo_cli_emit *emit, const mo_model_counts *c,
                            int64_t heading_bytes, mo_out *out)
{
    const mo_frame *frame = emit->model->frame;
    const int ops = emit->problem->fine->n_ops;
    char text[SHOWN_SIZE];

    mo_out_printf(out, "%-12s%s\n", "graph",
                  mo_utf8_escape_controls(text, sizeof text, emit->graph));
    mo_out_printf(out, "%-12s%s\n", "cluster",
                  mo_utf8_escape_controls(text, sizeof text,
                                          emit->problem->cluster->file));
    mo_out_printf(out, "%-12s%d", "ops", ops);
    if (frame->x->n != ops)
        mo_out_printf(out, ", coarsened %d", frame->x->n);
    mo_out_printf(out, "\n%-12s%d\n", "devices", frame->x->n_devices);
    mo_out_printf(out, "%-12s%s%s\n", "formulation",
                  emit->model->formulation->name,
                  frame->closure ? " --closure" : "");
    mo_out_printf(out, "%-12s%s\n", "congestion",
                  mo_congestion_names[frame->regime.congestion]);
    mo_out_printf(out, "%-12s%s\n", "tensors",
                  mo_tensors_names[frame->regime.tensors]);
    mo_out_printf(out, "%-12s%s\n", "memory",
                  mo_memory_names[frame->regime.memory]);
    mo_scale_unit_text(frame->unit_ns, text);
    mo_out_printf(out, "%-12s%s\n", "time unit", text);
    mo_out_printf(out, "%-12s%s%s\n", "horizon",
                  mo_format_us((double) frame->horizon_ns / 1000, text),
                  mo_model_has_start(emit->model) ? "" : ", no start found");
    mo_out_printf(out, "\n%-12s%" PRId64 "\n", "rows", c->rows);
    mo_out_printf(
        out, "%-12s%" PRId64 ", %" PRId64 " binary, %" PRId64 " continuous\n",
        "columns", c->binaries + c->continuous, c->binaries, c->continuous);
    mo_out_printf(out, "%-12s%" PRId64 "\n", "non-zeros", c->nonzeros);
    put_range("coefficient", c->least_coef, c->largest_coef, out);
    put_range("big-M", c->least_big_m, c->largest_big_m, out);
    mo_out_printf(
        out, "%-12s%s\n", "as LP",
        mo_format_bytes((double) (c->lp_bytes + heading_bytes), text));
    mo_out_printf(
        out, "%-12s%s\n", "as MPS",
        mo_format_bytes((double) (c->mps_bytes + heading_bytes), text));
    mo_out_text(out, "\nrows by family\n");
    for (int i = 0; i < c->n_families; i++)
        mo_out_printf(out, "%12" PRId64 "  %s\n", c->family[i].rows,
                      c->family[i].name);
}

/* Writes the object of moirai-emit(1). */
static void print_size_json(const mo_cli_emit *emit, const mo_model_counts *c,
                            int64_t heading_bytes, mo_out *out)
{
    const mo_frame *frame = emit->model->frame;
    const mo_instance *x = frame->x;
    mo_json_writer w = { .out = out };

    mo_json_begin_object(&w, NULL, MO_JSON_LINES);
    mo_json_put_text(&w, "graph", emit->graph);
    mo_json_put_text(&w, "cluster", emit->problem->cluster->file);
    mo_json_put_int(&w, "ops", emit->problem->fine->n_ops);
    mo_json_put_int(&w, "coarse_ops", x->n);
    mo_json_put_int(&w, "flows", x->n_flows);
    mo_json_put_int(&w, "devices", x->n_devices);
    mo_json_put_text(&w, "formulation", emit->model->formulation->name);
    mo_json_put_text(&w, "congestion",
                     mo_congestion_names[frame->regime.congestion]);
    mo_json_put_text(&w, "tensors", mo_tensors_names[frame->regime.tensors]);
    mo_json_put_text(&w, "memory", mo_memory_names[frame->regime.memory]);
    mo_json_put_us(&w, "unit_us", frame->unit_ns);
    mo_json_put_us(&w, "horizon_us", frame->horizon_ns);
    mo_json_put_text(&w, "start",
                     mo_model_has_start(emit->model) ? "found" : "none");
    mo_json_put_int(&w, "rows", c->rows);
    mo_json_put_int(&w, "columns", c->binaries + c->continuous);
    mo_json_put_int(&w, "binaries", c->binaries);
    mo_json_put_int(&w, "nonzeros", c->nonzeros);
    mo_json_put_double(&w, "least_coefficient", c->least_coef);
    mo_json_put_double(&w, "largest_coefficient", c->largest_coef);
    mo_json_put_double(&w, "least_big_m", c->least_big_m);
    mo_json_put_double(&w, "largest_big_m", c->largest_big_m);
    mo_json_put_int(&w, "lp_bytes", c->lp_bytes + heading_bytes);
    mo_json_put_int(&w, "mps_bytes", c->mps_bytes + heading_bytes);
    mo_json_begin_object(&w, "families", MO_JSON_INLINE);
    for (int i = 0; i < c->n_families; i++)
        mo_json_put_int(&w, c->family[i].name, c->family[i].rows);
    mo_json_end(&w);
    mo_json_end(&w);
}

mo_status mo_cli_emit_stats(const mo_cli_emit *emit, bool json, mo_out *out,
                            mo_error *err)
{
    mo_model_counts counts;
    int64_t heading_bytes;
    mo_status status = count_model(emit, &counts, &heading_bytes, err);

    if (status != MO_OK)
        return status;
    if (json)
        print_size_json(emit, &counts, heading_bytes, out);
    else
        print_size_text(emit, &counts, heading_bytes, out);
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
