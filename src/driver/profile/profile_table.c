/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/profile/measure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/out.h"
#include "cost/predict.h"
#include "cost/profile/profile_builder.h"

enum { HOST_SIZE = 256 };

void mo_profiler_table_clear(mo_profiler_table *rows)
{
    mo_profile_free(rows->profile);
    mo_intern_free(rows->signatures);
    mo_arena_free(rows->arena);
    free(rows->signature_of);
    free(rows->example);
    *rows = (mo_profiler_table){ 0 };
}

static mo_status sign_ops(mo_profiler_table *rows, mo_error *err)
{
    const mo_graph *g = rows->graph;
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);

    if (status != MO_OK)
        return status;
    for (int op = 0; op < g->n_ops && status == MO_OK; op++) {
        const char *text;
        size_t length;
        int number;

        mo_profile_signature(g, op, out);
        text = mo_out_borrow(out, &length);
        status =
            text ? mo_intern_put(rows->signatures, text, length, &number, err)
                 : mo_fail_memory(err);
        if (status != MO_OK)
            break;
        rows->signature_of[op] = number;
        if (number == rows->n_signatures)
            rows->example[rows->n_signatures++] = op;
    }
    mo_out_abandon(out);
    return status;
}

/* Rows are keyed by device name, and the names may have meant other parts. */
static mo_status check_emulated(const char *file, const mo_profiler_table *rows,
                                mo_error *err)
{
    const char *was = rows->profile->emulated ? rows->profile->emulated : "";
    const char *is = rows->emulated ? rows->emulated : "";

    if (rows->profile->in_flight != rows->in_flight)
        return mo_fail_at(err, MO_E_INPUT, file, 0,
                          "was measured with --in-flight %d, not %d; name "
                          "another file",
                          rows->profile->in_flight, rows->in_flight);
    if (strcmp(was, is) == 0)
        return MO_OK;
    return mo_fail_at(err, MO_E_INPUT, file, 0,
                      "was measured %s%.80s, not %s%.80s; name another file",
                      *was ? "with --emulate " : "without --emulate", was,
                      *is ? "with --emulate " : "without", is);
}

mo_status mo_profiler_table_open(const mo_graph *graph, const char *file,
                                 const char *emulated, mo_profiler_table *rows,
                                 mo_error *err)
{
    size_t room = (size_t) graph->n_ops + 1;
    mo_status status;

    rows->graph = graph;
    rows->emulated = emulated;
    rows->arena = mo_arena_new();
    rows->signatures = rows->arena ? mo_intern_new(rows->arena) : NULL;
    rows->signature_of = calloc(room, sizeof *rows->signature_of);
    rows->example = calloc(room, sizeof *rows->example);
    if (!rows->signatures || !rows->signature_of || !rows->example)
        return mo_fail_memory(err);
    status = sign_ops(rows, err);
    if (status != MO_OK)
        return status;
    if (!file || strcmp(file, "-") == 0 || access(file, F_OK) != 0)
        return MO_OK;
    status = mo_profile_read(file, &rows->profile, err);
    return status == MO_OK ? check_emulated(file, rows, err) : status;
}

bool mo_profiler_table_has(const mo_profiler_table *rows, const char *device,
                           int signature, int count)
{
    const mo_device by_id = { .id = device };
    const mo_profile_op *row =
        rows->profile
            ? mo_profile_find(rows->profile, &by_id,
                              mo_intern_text(rows->signatures, signature))
            : NULL;

    return row && row->count >= count;
}

/* State of merging old and new rows. */
typedef struct rebuilding {
    mo_profile_builder *builder;
    const mo_profile *old;
} rebuilding;

static const char *keep_row(const rebuilding *r, const char *text)
{
    return mo_arena_text(mo_profile_builder_arena(r->builder), text,
                         strlen(text));
}

static mo_status put_op(const rebuilding *r, mo_profile_op row, mo_error *err)
{
    row.device = keep_row(r, row.device);
    row.signature = keep_row(r, row.signature);
    return row.device && row.signature
               ? mo_profile_builder_op(r->builder, &row, err)
               : mo_fail_memory(err);
}

static mo_status put_link(const rebuilding *r, mo_profile_link row,
                          mo_error *err)
{
    row.from = keep_row(r, row.from);
    row.to = keep_row(r, row.to);
    if (row.path && !(row.path = keep_row(r, row.path)))
        return mo_fail_memory(err);
    return row.from && row.to ? mo_profile_builder_link(r->builder, &row, err)
                              : mo_fail_memory(err);
}

static mo_status begin_rebuild(mo_profiler_table *rows, rebuilding *r,
                               mo_error *err)
{
    char host[HOST_SIZE] = "";
    const char *kept;
    mo_status status = mo_profile_builder_new(&r->builder, err);

    r->old = rows->profile;
    if (status != MO_OK)
        return status;
    gethostname(host, sizeof host - 1);
    kept = keep_row(r, r->old && r->old->host ? r->old->host : host);
    if (!kept)
        return mo_fail_memory(err);
    if (*kept)
        mo_profile_builder_host(r->builder, kept);
    mo_profile_builder_in_flight(r->builder, rows->in_flight);
    if (r->old) {
        mo_profile_builder_overhead(r->builder, r->old->overhead_us,
                                    r->old->copy_gbs);
        mo_profile_builder_host_times(r->builder, r->old->host_request_us,
                                      r->old->host_transfer_us);
        mo_profile_builder_parts(r->builder, r->old->parts_slowdown,
                                 r->old->parts_overhead_us);
    }
    if (!rows->emulated)
        return MO_OK;
    kept = keep_row(r, rows->emulated);
    mo_profile_builder_emulated(r->builder, kept);
    return kept ? MO_OK : mo_fail_memory(err);
}

static mo_status end_rebuild(mo_profiler_table *rows, rebuilding *r,
                             mo_error *err)
{
    mo_profile *made = NULL;
    mo_status status =
        mo_profile_builder_finish(r->builder, "profile", &made, err);

    if (status != MO_OK)
        return status;
    mo_profile_free(rows->profile);
    rows->profile = made;
    return MO_OK;
}

static mo_profile_op row_of(const mo_profiler_table *rows, const char *device,
                            int signature, const mo_profiler_stat *m)
{
    mo_workload work = mo_workload_of(rows->graph, rows->example[signature]);

    return (mo_profile_op){
        .device = device,
        .signature = mo_intern_text(rows->signatures, signature),
        .median_us = m->median_us,
        .spread_us = m->spread_us,
        .count = m->count,
        .flops = work.flops,
        .bytes = work.bytes,
        .output_elements = work.output_elements,
        .class = (int) work.class,
    };
}

/* Whether this row of the old profile was measured anew. */
static bool is_replaced(const mo_profiler_table *rows, const mo_profile_op *row,
                        const char *device, const mo_profiler_stat *measured)
{
    int number = mo_intern_find(rows->signatures, row->signature,
                                strlen(row->signature));

    return strcmp(row->device, device) == 0 && number >= 0 &&
           measured[number].count > 0;
}

mo_status mo_profiler_table_add(mo_profiler_table *rows, const char *device,
                                const mo_profiler_stat *measured, mo_error *err)
{
    rebuilding r = { NULL, NULL };
    mo_status status = begin_rebuild(rows, &r, err);

    for (int i = 0; r.old && i < r.old->n_ops && status == MO_OK; i++)
        if (!is_replaced(rows, &r.old->ops[i], device, measured))
            status = put_op(&r, r.old->ops[i], err);
    for (int s = 0; s < rows->n_signatures && status == MO_OK; s++)
        if (measured[s].count > 0)
            status = put_op(&r, row_of(rows, device, s, &measured[s]), err);
    for (int i = 0; r.old && i < r.old->n_links && status == MO_OK; i++)
        status = put_link(&r, r.old->links[i], err);
    if (status == MO_OK)
        status = end_rebuild(rows, &r, err);
    mo_profile_builder_free(r.builder);
    return status;
}

static bool is_among(const mo_profile_link *row, const mo_profile_link *links,
                     int n)
{
    for (int i = 0; i < n; i++)
        if (strcmp(row->from, links[i].from) == 0 &&
            strcmp(row->to, links[i].to) == 0)
            return true;
    return false;
}

mo_status mo_profiler_table_add_links(mo_profiler_table *rows,
                                      const mo_profile_link *links, int n,
                                      mo_error *err)
{
    rebuilding r = { NULL, NULL };
    mo_status status = begin_rebuild(rows, &r, err);

    for (int i = 0; r.old && i < r.old->n_ops && status == MO_OK; i++)
        status = put_op(&r, r.old->ops[i], err);
    for (int i = 0; r.old && i < r.old->n_links && status == MO_OK; i++)
        if (!is_among(&r.old->links[i], links, n))
            status = put_link(&r, r.old->links[i], err);
    for (int i = 0; i < n && status == MO_OK; i++)
        status = put_link(&r, links[i], err);
    if (status == MO_OK)
        status = end_rebuild(rows, &r, err);
    mo_profile_builder_free(r.builder);
    return status;
}

mo_status mo_profiler_table_write(const mo_profiler_table *rows,
                                  const char *file, mo_error *err)
{
    mo_out *out;
    mo_status status = mo_out_open(file, &out, err);

    if (status != MO_OK)
        return status;
    mo_profile_write(rows->profile, out);
    return mo_out_commit(out, err);
}
