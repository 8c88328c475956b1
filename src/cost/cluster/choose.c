/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selection of the cluster: a file, a built-in name, the file beside the graph,
 * MOIRAI_CLUSTER, or the default.
 */
#include <config.h>

#include "cost/cluster.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/compress.h"

#define DEFAULT_CLUSTER "inter-server"
#define SUFFIX          ".cluster.xml"

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* A file that exists but cannot be read does not count as absent. */
static bool is_absent(const char *path)
{
    struct stat about;

    return !is_stdin(path) && stat(path, &about) != 0 &&
           (errno == ENOENT || errno == ENOTDIR);
}

static mo_status refuse_name(const char *name, mo_error *err)
{
    char list[256] = "";
    size_t n = 0;

    for (const mo_cluster_builtin *c = mo_cluster_builtins;
         c->name && n < sizeof list; c++)
        n += (size_t) snprintf(list + n, sizeof list - n, "%s%s",
                               n > 0 ? ", " : "", c->name);
    return mo_fail(err, MO_E_IO,
                   "there is no cluster '%.200s'; give a file or one of the "
                   "built-in %s",
                   name, list);
}

/* Names of built-in clusters are reserved: solutions and bundles refer to them,
 * whatever files are in the working folder. *kind is the description in front
 * of the name. */
static mo_status read_named(const char *name, mo_cluster **cluster,
                            const char **kind, mo_error *err)
{
    const mo_cluster_builtin *built_in = mo_cluster_builtin_find(name);

    *kind = "";
    if (built_in) {
        *kind = "the built-in ";
        return mo_cluster_read_memory(built_in->name, built_in->text,
                                      strlen(built_in->text), cluster, err);
    }
    if (is_absent(name))
        return refuse_name(name, err);
    return mo_cluster_read(name, cluster, err);
}

/* "dir/model.graphml" and "dir/model.graphml.gz" give "dir/model.cluster.xml";
 * the caller frees it. NULL when memory is exhausted. */
static char *cluster_path_beside(const char *graph_path)
{
    const char *slash = strrchr(graph_path, '/');
    const char *base = slash ? slash + 1 : graph_path;
    size_t stem = mo_compress_stem(graph_path);
    const char *dot = memrchr(base, '.', (size_t) (graph_path + stem - base));
    char *path;

    if (dot && dot > base)
        stem = (size_t) (dot - graph_path);
    path = malloc(stem + sizeof SUFFIX);
    if (!path)
        return NULL;
    memcpy(path, graph_path, stem);
    memcpy(path + stem, SUFFIX, sizeof SUFFIX);
    return path;
}

static mo_status describe_choice(const char *kind, const char *name,
                                 const char *origin, char **where,
                                 mo_error *err)
{
    const char *shown = is_stdin(name) ? "standard input" : name;
    size_t size = strlen(kind) + strlen(shown) + strlen(origin) + 1;

    *where = malloc(size);
    if (!*where)
        return mo_fail_memory(err);
    snprintf(*where, size, "%s%s%s", kind, shown, origin);
    return MO_OK;
}

/* origin: why the name was chosen, for the description. */
static mo_status read_chosen(const char *name, const char *origin,
                             mo_cluster **cluster, char **where, mo_error *err)
{
    const char *kind;
    mo_cluster *read = NULL;
    mo_status status = read_named(name, &read, &kind, err);

    if (status == MO_OK)
        status = describe_choice(kind, name, origin, where, err);
    if (status == MO_OK)
        *cluster = read;
    else
        mo_cluster_free(read);
    return status;
}

static mo_status take_unasked(mo_cluster **cluster, char **where, mo_error *err)
{
    const char *named = getenv("MOIRAI_CLUSTER");

    if (named && *named)
        return read_chosen(named, ", from MOIRAI_CLUSTER", cluster, where, err);
    return read_chosen(DEFAULT_CLUSTER, ", since none was given", cluster,
                       where, err);
}

mo_status mo_cluster_choose(const char *name_or_file, const char *graph_path,
                            mo_cluster **cluster, char **where, mo_error *err)
{
    char *path;
    mo_status status;

    if (name_or_file)
        return read_chosen(name_or_file, "", cluster, where, err);
    if (!graph_path || is_stdin(graph_path))
        return take_unasked(cluster, where, err);

    path = cluster_path_beside(graph_path);
    if (!path)
        return mo_fail_memory(err);
    if (is_absent(path))
        status = take_unasked(cluster, where, err);
    else
        status = read_chosen(path, ", beside the graph", cluster, where, err);
    free(path);
    return status;
}
