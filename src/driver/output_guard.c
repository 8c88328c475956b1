/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/output_guard.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "driver/load_instance.h"
#include "driver/weight_files.h"
#include "graph/phases.h"
#include "solvers/process/path_util.h"

/* Whether both names are one existing regular file that writing would replace;
 * two outputs to /dev/null are harmless. */
static bool same_entry(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool mo_output_guard_same_folder(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISDIR(x.st_mode) &&
           x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool mo_output_guard_is_above(const char *folder, int levels, char *path)
{
    for (int i = 0; i < levels; i++)
        path = dirname(path);
    return mo_output_guard_same_folder(path, folder);
}

/* Whether both are paths of one file that does not exist yet: the same name in
 * the same folder. */
static bool same_place(const char *a, const char *b)
{
    struct stat there;
    char *x = strdup(a), *y = strdup(b);
    bool same = x && y && stat(a, &there) != 0 &&
                strcmp(mo_path_basename(a), mo_path_basename(b)) == 0 &&
                mo_output_guard_same_folder(dirname(x), dirname(y));

    free(x);
    free(y);
    return same;
}

static mo_status check_outputs(const mo_output_guard *guard, mo_error *err)
{
    for (int i = 0; i < guard->n; i++)
        for (int j = 0; j < i; j++) {
            const mo_output_file *a = &guard->outputs[j];
            const mo_output_file *b = &guard->outputs[i];
            bool to_stdout = a->path && strcmp(a->path, "-") == 0;

            if (a->path && b->path &&
                (to_stdout || strcmp(b->path, "-") == 0
                     ? strcmp(a->path, b->path) == 0
                     : same_entry(a->path, b->path) ||
                           same_place(a->path, b->path)))
                return mo_fail(err, MO_E_USAGE,
                               "%s and %s cannot both be %s; name another file",
                               a->option, b->option,
                               to_stdout ? "standard output" : b->path);
        }
    return MO_OK;
}

bool mo_output_guard_is_array(const char *name)
{
    size_t prefix = strlen("output");
    size_t digits;

    if (strncmp(name, "output", prefix) != 0)
        return false;
    digits = strspn(name + prefix, "0123456789");
    return digits > 0 && strcmp(name + prefix + digits, ".npy") == 0;
}

/* Whether the file is, or lies where, an array of the guard's folder is
 * written. */
static bool is_in_arrays(const mo_output_guard *guard, const char *file)
{
    char *path = realpath(file, NULL);
    const char *name = path ? strrchr(path, '/') : NULL;
    bool is = name && mo_output_guard_is_array(name + 1) &&
              mo_output_guard_is_above(guard->arrays, guard->by_request ? 2 : 1,
                                       path);

    free(path);
    return is;
}

mo_status mo_output_guard_check_input(const mo_output_guard *guard,
                                      const char *path, mo_error *err)
{
    for (int i = 0; i < guard->n && path; i++)
        if (guard->outputs[i].path && same_entry(guard->outputs[i].path, path))
            return mo_fail(err, MO_E_USAGE,
                           "%s would replace %s, which is read; name another "
                           "file",
                           guard->outputs[i].option, path);
    if (path && guard->arrays && is_in_arrays(guard, path))
        return mo_fail(err, MO_E_USAGE,
                       "--output would replace %s, which is read; name "
                       "another folder",
                       path);
    return MO_OK;
}

mo_status mo_output_guard_check_inputs(const mo_output_guard *guard,
                                       const char *const *paths, size_t n,
                                       mo_error *err)
{
    mo_status status = MO_OK;

    for (size_t i = 0; i < n && status == MO_OK; i++)
        status = mo_output_guard_check_input(guard, paths[i], err);
    return status;
}

mo_status mo_output_guard_check_given(const mo_output_guard *guard,
                                      const mo_prepare_options *p,
                                      const char *graph, mo_error *err)
{
    const char *inputs[] = { graph, p->load.cluster, p->load.profile,
                             mo_driver_load_cost_file(&p->load), p->fusion };
    mo_status status = check_outputs(guard, err);

    if (status == MO_OK)
        status = mo_output_guard_check_inputs(
            guard, inputs, sizeof inputs / sizeof *inputs, err);
    return status;
}

mo_status mo_output_guard_check_plugins(const mo_output_guard *guard,
                                        const mo_option_list *files,
                                        mo_error *err)
{
    const char *list = getenv("MOIRAI_PLUGINS");
    char *copy = strdup(list ? list : ""), *rest = NULL;
    mo_status status = copy ? MO_OK : mo_fail_memory(err);

    for (char *file = copy ? strtok_r(copy, ":", &rest) : NULL;
         file && status == MO_OK; file = strtok_r(NULL, ":", &rest))
        status = mo_output_guard_check_input(guard, file, err);
    free(copy);
    if (status == MO_OK)
        status = mo_output_guard_check_inputs(
            guard, (const char *const *) files->items, files->count, err);
    return status;
}

/* Checks what the graph of a file was read from, and its weights. */
static mo_status check_graph(const mo_output_guard *guard, const mo_graph *g,
                             const char *file, mo_error *err)
{
    mo_weight_files weights = { 0 };
    mo_status status = mo_weight_files_list(g, file, &weights, err);

    if (status == MO_OK && g->n_files > 0)
        status = mo_output_guard_check_inputs(guard, g->files,
                                              (size_t) g->n_files, err);
    for (size_t i = 0; i < weights.n && status == MO_OK; i++)
        status = mo_output_guard_check_input(guard, weights.list[i].path, err);
    mo_weight_files_clear(&weights);
    return status;
}

mo_status mo_output_guard_check_found(const mo_output_guard *guard,
                                      const mo_graph *fine,
                                      const mo_cluster *cluster,
                                      const char *graph, mo_error *err)
{
    const mo_phases *phases = fine->phases;
    mo_status status = check_graph(guard, fine, graph, err);

    for (int p = 0; phases && p < phases->n && status == MO_OK; p++) {
        const mo_graph *g = phases->items[p].graph;

        if (g->n_files > 0)
            status = check_graph(guard, g, g->files[0], err);
    }
    if (status == MO_OK && cluster)
        status = mo_output_guard_check_input(guard, cluster->file, err);
    return status;
}

mo_status mo_output_guard_check_review(const mo_output_guard *guard,
                                       const mo_review *r, mo_error *err)
{
    const mo_driver_load_options load = { .cost = r->located.cost };
    const char *inputs[] = { r->located.graph, r->located.profile,
                             r->located.rules,
                             mo_driver_load_cost_file(&load) };
    mo_status status = mo_output_guard_check_found(
        guard, r->problem.fine, r->problem.cluster, r->located.graph, err);

    if (status == MO_OK)
        status = mo_output_guard_check_inputs(
            guard, inputs, sizeof inputs / sizeof *inputs, err);
    return status;
}
