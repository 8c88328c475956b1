/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fill_weights GRAPH SEED FILE - writes the weights of a model, synthetic where
 * it has none, to a file, and their offsets to stdout.
 *
 * The values are those of moirai-exec --random-weights, so that other runtimes
 * can run the same model. A constant computed from other constants is written
 * as its value. A line of the output has the offset, the size in bytes, the
 * output port, the type, the shape ("." for a scalar) and the name of a
 * constant.
 */
#include <config.h>

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>

#include "exec/weights/constants.h"
#include "ingest/read.h"

enum { ALIGNMENT = 64 };

/* The file being written, and its size so far. */
typedef struct filling {
    FILE *file;
    const char *path;
    int64_t offset;
} filling;

static mo_status pad(filling *f, mo_error *err)
{
    for (; f->offset % ALIGNMENT != 0; f->offset++)
        if (fputc(0, f->file) == EOF)
            return mo_fail_at(err, MO_E_IO, f->path, 0, "cannot be written");
    return MO_OK;
}

static void print_constant(const filling *f, const char *name, int port,
                           const mo_tensor_desc *desc)
{
    printf("%lld %lld %d %s ", (long long) f->offset,
           (long long) mo_tensor_desc_bytes(desc), port,
           mo_elem_name(desc->elem));
    for (int d = 0; d < desc->shape.rank; d++)
        printf("%s%lld", d > 0 ? "," : "", (long long) desc->shape.dims[d]);
    printf("%s %s\n", desc->shape.rank == 0 ? "." : "", name);
}

static mo_status put(filling *f, const char *name, int port,
                     const mo_tensor_dense *value, mo_error *err)
{
    size_t bytes = (size_t) mo_tensor_desc_bytes(&value->desc);
    mo_status status = pad(f, err);

    if (status != MO_OK)
        return status;
    if (fwrite(value->data, 1, bytes, f->file) != bytes)
        return mo_fail_at(err, MO_E_IO, f->path, 0, "cannot be written");
    print_constant(f, name, port, &value->desc);
    f->offset += (int64_t) bytes;
    return MO_OK;
}

/* Returns whether an op reads it that no earlier feed leads to. */
static bool is_first_of(const mo_graph *g, int feed)
{
    if (g->feeds[feed].to >= g->n_ops)
        return false;
    for (int f = 0; f < feed; f++)
        if (g->feeds[f].to < g->n_ops &&
            g->feeds[f].from == g->feeds[feed].from &&
            g->feed_port[f] == g->feed_port[feed])
            return false;
    return true;
}

static mo_status put_all(const mo_graph *g, mo_weights_store *constants,
                         filling *f, mo_error *err)
{
    mo_status status = MO_OK;

    for (int i = 0; i < g->n_feeds && status == MO_OK; i++) {
        int from = g->feeds[i].from, port = g->feed_port[i];
        const mo_tensor_dense *value;

        if (!is_first_of(g, i))
            continue;
        port = port < 0 ? 0 : port;
        status = mo_weights_get(constants, from, port, &value, err);
        if (status == MO_OK)
            status = put(f, g->ops[from].name, port, value, err);
    }
    return status;
}

static mo_status write_file(const mo_graph *g, mo_weights_store *constants,
                            const char *path, mo_error *err)
{
    filling f = { fopen(path, "wb"), path, 0 };
    mo_status status;

    if (!f.file)
        return mo_fail_at(err, MO_E_IO, path, 0, "cannot be written");
    status = put_all(g, constants, &f, err);
    if (fclose(f.file) != 0 && status == MO_OK)
        status = mo_fail_at(err, MO_E_IO, path, 0, "cannot be written");
    return status;
}

/* Truncates the graph's path to its folder once it is read: existing weights
 * are read from there. */
static mo_status fill(char *graph, const char *seed, const char *path,
                      mo_error *err)
{
    mo_weights_options options = { .random = true,
                                   .seed = strtoull(seed, NULL, 10) };
    mo_weights_store *constants = NULL;
    mo_graph *g = NULL;
    mo_status status = mo_read_graph(graph, NULL, &g, NULL, err);

    options.folder = dirname(graph);
    if (status == MO_OK)
        status = mo_weights_new(g, &options, &constants, err);
    if (status == MO_OK)
        status = write_file(g, constants, path, err);
    mo_weights_free(constants);
    mo_graph_free(g);
    return status;
}

int main(int argc, char **argv)
{
    mo_error err;

    if (argc != 4) {
        fprintf(stderr, "usage: fill_weights GRAPH SEED FILE\n");
        return 2;
    }
    if (fill(argv[1], argv[2], argv[3], &err) != MO_OK) {
        fprintf(stderr, "fill_weights: %s\n", err.text);
        return 1;
    }
    return 0;
}
