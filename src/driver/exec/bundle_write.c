/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "driver/exec/exec_job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/tar.h"
#include "coarsen/fusion_rules.h"
#include "cost/cluster.h"
#include "driver/bundle.h"
#include "driver/exec/bundle_weights.h"
#include "driver/weight_files.h"

/* A file of the archive. */
typedef struct packed_file {
    char *member;     /* its name there, owned */
    const char *path; /* borrowed */
    bool is_weights;  /* which are of the folders that options allow only */
} packed_file;

typedef struct packer {
    const mo_exec_options *o;
    const mo_exec_job *job;
    packed_file *files; /* in the order of the archive */
    size_t n, room;
    mo_out *manifest; /* in memory */
    mo_weight_files weights;
} packer;

static bool is_taken(const packer *p, const char *member)
{
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(p->files[i].member, member) == 0)
            return true;
    return strcmp(member, MO_BUNDLE_MANIFEST) == 0;
}

/* A name in one line of the manifest and in one folder. */
static mo_status check_name(const char *name, mo_error *err)
{
    for (const char *at = name; *at; at++)
        if ((unsigned char) *at < ' ' || *at == 0x7f)
            return mo_fail_at(err, MO_E_INPUT, name, 0,
                              "has control characters in its name; rename it");
    return MO_OK;
}

/* Adds the file under its own name, or with a number before it if another file
 * has that name, and returns the name in *member. */
static mo_status add_file(packer *p, const char *path, const char **member,
                          mo_error *err)
{
    const mo_output_file output = { .option = "--bundle",
                                    .path = p->o->bundle };
    const char *base = mo_path_basename(path);
    mo_status status = MO_ARRAY_GROW(p->files, p->n, p->room, err);
    char *name;

    if (status == MO_OK && strcmp(path, "-") == 0)
        status = mo_fail(err, MO_E_USAGE,
                         "--bundle packs files, not standard input");
    if (status == MO_OK)
        status = mo_output_guard_check_input(
            &(mo_output_guard){ .outputs = &output, .n = 1 }, path, err);
    if (status == MO_OK)
        status = check_name(base, err);
    if (status != MO_OK)
        return status;
    name = strdup(base);
    for (int i = 1; name && is_taken(p, name); i++) {
        free(name);
        name = mo_path_format("%d-%s", i, base);
    }
    if (!name)
        return mo_fail_memory(err);
    p->files[p->n++] = (packed_file){ name, path, false };
    *member = name;
    return MO_OK;
}

static mo_status add_input(packer *p, const char *key, const char *path,
                           mo_error *err)
{
    const char *member = NULL;
    mo_status status = add_file(p, path, &member, err);

    if (status == MO_OK)
        mo_out_printf(p->manifest, "%s %s\n", key, member);
    return status;
}

static mo_status check_weights(const packer *p, const char *graph,
                               mo_error *err)
{
    char missing[512] = "";

    for (size_t i = 0; i < p->weights.n; i++) {
        size_t used = strlen(missing);

        if (access(p->weights.list[i].path, R_OK) != 0)
            snprintf(missing + used, sizeof missing - used, "%s%.150s",
                     used > 0 ? ", " : "", p->weights.list[i].path);
    }
    if (!missing[0] || p->o->weights != MO_EXEC_NO_SEED)
        return MO_OK;
    return mo_fail_at(err, MO_E_IO, graph, 0,
                      "its weights are missing: %s; put them there, or pack "
                      "without them with --random-weights",
                      missing);
}

/* Opens weights of the graph; fails where they are in another folder. */
static mo_status open_weights(const packer *p, const char *path, int *fd,
                              mo_error *err)
{
    const mo_option_list *allowed = &p->o->wants.weights_from;
    const mo_review *review = &p->job->review;
    const mo_weights_options options = {
        .folder = p->job->folder,
        .allowed = allowed->items,
        .n_allowed = allowed->count,
    };
    char *outside = NULL;
    mo_status status =
        mo_weights_open_allowed(&options, path, fd, &outside, err);

    if (outside)
        status = mo_weights_fail_outside(path, outside, review->located.graph,
                                         0, err);
    free(outside);
    return status;
}

static mo_status add_weights(packer *p, mo_error *err)
{
    bool pack =
        !p->o->bundle_weights || strcmp(p->o->bundle_weights, "pack") == 0;
    const mo_review *review = &p->job->review;
    const char *graph = review->located.graph;
    mo_status status =
        mo_weight_files_list(review->problem.fine, graph, &p->weights, err);

    if (status == MO_OK)
        status = check_weights(p, graph, err);
    for (size_t i = 0; i < p->weights.n && status == MO_OK; i++) {
        const mo_weight_file *file = &p->weights.list[i];
        const char *member = NULL;
        uint64_t digest;
        int64_t size;
        int fd = -1;

        /* Otherwise check_weights has found all of them. */
        if (p->o->weights != MO_EXEC_NO_SEED && access(file->path, R_OK) != 0)
            continue;
        status = check_name(file->name, err);
        if (status == MO_OK)
            status = open_weights(p, file->path, &fd, err);
        if (status == MO_OK)
            status =
                mo_bundle_weights_measure(fd, file->path, &size, &digest, err);
        if (status == MO_OK)
            mo_out_printf(p->manifest,
                          "weights %016" PRIx64 " %" PRId64 " %s\n", digest,
                          size, file->name);
        if (status == MO_OK && pack)
            status = add_file(p, file->path, &member, err);
        if (member) {
            p->files[p->n - 1].is_weights = true;
            mo_out_printf(p->manifest, "packed %s\n", member);
        }
    }
    return status;
}

static mo_status put_file(const packer *p, const packed_file *file, mo_out *out,
                          mo_error *err)
{
    int fd = -1;
    mo_status status;

    if (!file->is_weights)
        return mo_tar_put_file(out, file->member, file->path, err);
    status = open_weights(p, file->path, &fd, err);
    if (status == MO_OK)
        status = mo_tar_put_fd(out, file->member, fd, file->path, err);
    return status;
}

static mo_status write_archive(const packer *p, mo_error *err)
{
    size_t size = 0;
    const char *text = mo_out_borrow(p->manifest, &size);
    mo_out *out;
    mo_status status =
        text ? mo_out_open(p->o->bundle, &out, err) : mo_fail_memory(err);

    if (status != MO_OK)
        return status;
    mo_tar_put_bytes(out, MO_BUNDLE_MANIFEST, text, size);
    for (size_t i = 0; i < p->n && status == MO_OK; i++)
        status = put_file(p, &p->files[i], out, err);
    if (status != MO_OK) {
        mo_out_abandon(out);
        return status;
    }
    mo_tar_put_end(out);
    return mo_out_commit(out, err);
}

static mo_status put_list(packer *p, const char *key,
                          const mo_option_list *list, mo_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        mo_status status = check_name(list->items[i], err);

        if (status != MO_OK)
            return status;
        mo_out_printf(p->manifest, "%s %s\n", key, list->items[i]);
    }
    return MO_OK;
}

mo_status mo_bundle_write(const mo_exec_options *o, const mo_exec_job *job,
                          const char *path, mo_error *err)
{
    packer p = { .o = o, .job = job };
    mo_status status;

    if (job->review.phases)
        return mo_fail(err, MO_E_USAGE,
                       "--bundle does not pack workloads; copy the graphs of "
                       "the phases and their weights with the solution");
    status = mo_out_memory(&p.manifest, err);
    if (status != MO_OK)
        return status;
    mo_out_text(p.manifest, MO_BUNDLE_FIRST_LINE "\n");
    /* Graph, solution, cluster, profile, rules and cost model. The graph keeps
     * its name: the name of an OpenVINO model's weights follows from it. */
    const mo_review *review = &p.job->review;
    const mo_locate_result *located = &review->located;
    const char *cluster = review->problem.cluster->file;
    const mo_driver_load_options load = { .cost = located->cost };
    const mo_locate_query given = { .read = o->prepare.read };
    mo_provenance_texts texts;
    const mo_read_options read =
        mo_locate_read_options(&given, &review->origin, &texts);
    const char *cost_file = mo_driver_load_cost_file(&load);

    status = add_input(&p, "graph", located->graph, err);
    if (status == MO_OK && !p.job->alone)
        status = add_input(&p, "solution", path, err);
    if (status == MO_OK && !mo_cluster_builtin_find(cluster))
        status = add_input(&p, "cluster", cluster, err);
    else
        mo_out_printf(p.manifest, "cluster-name %s\n", cluster);
    if (status == MO_OK && located->profile)
        status = add_input(&p, "profile", located->profile, err);
    if (status == MO_OK && !mo_fusion_rules_is_set(located->rules))
        status = add_input(&p, "fusion", located->rules, err);
    else
        mo_out_printf(p.manifest, "fusion-name %s\n", located->rules);
    if (status == MO_OK && cost_file)
        status = add_input(&p, "cost-file", cost_file, err);
    else if (located->cost)
        mo_out_printf(p.manifest, "cost %s\n", located->cost);
    if (status == MO_OK)
        status = put_list(&p, "shape", &read.shapes, err);
    if (status == MO_OK)
        status = put_list(&p, "value", &read.values, err);
    if (status == MO_OK)
        status = add_weights(&p, err);
    if (status == MO_OK)
        status = write_archive(&p, err);
    mo_out_abandon(p.manifest);
    mo_weight_files_clear(&p.weights);
    for (size_t i = 0; i < p.n; i++)
        free(p.files[i].member);
    free(p.files);
    return status;
}
