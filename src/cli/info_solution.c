/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/info_solution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cost/cluster.h"
#include "driver/locate.h"
#include "report/info.h"
#include "solvers/answer/column_name.h"

enum { HEAD_BYTES = 4096, ROOT_SIZE = 64, MOST_DEVICES = MO_MAX_DEVICES };

/* A file that is no XML after all is none of these; a failure to read it is an
 * error. */
static bool is_failure(mo_status status)
{
    return status == MO_E_MEMORY || status == MO_E_IO;
}

/* Of XML files, those of CPLEX are solutions. */
static mo_status sniff_cplex(const char *path, bool *is_solution, mo_error *err)
{
    static const char wanted[] = "CPLEXSolution";
    char root[ROOT_SIZE] = "";
    mo_input *input;
    mo_status status = mo_input_open(path, &input, err);

    if (status != MO_OK)
        return status;
    status = mo_read_root(input, root, sizeof root, err);
    mo_input_close(input);
    *is_solution =
        status == MO_OK && strncmp(root, wanted, sizeof wanted - 1) == 0;
    return is_failure(status) ? status : MO_OK;
}

/* Reads the first bytes of a file as text. */
static mo_status read_head(const char *path, char head[HEAD_BYTES + 1],
                           size_t *n, mo_error *err)
{
    FILE *file = fopen(path, "re");
    bool failed;

    if (!file)
        return mo_fail_errno(err, path, "cannot open");
    *n = fread(head, 1, HEAD_BYTES, file);
    failed = ferror(file);
    head[*n] = '\0';
    if (failed)
        mo_fail_errno(err, path, "cannot read");
    (void) fclose(file);
    return failed ? MO_E_IO : MO_OK;
}

/* Sets *is_graph: whether the file has the format of a graph. */
static mo_status sniff_graph(const char *path, bool *is_graph, mo_error *err)
{
    const mo_read_format *format = NULL;
    mo_input *input = NULL;
    mo_status status = mo_input_open(path, &input, err);

    if (status == MO_OK)
        status = mo_read_find_format(input, &format, err);
    *is_graph = format != NULL;
    mo_input_close(input);
    return status;
}

mo_status mo_cli_info_sniff_solution(const char *path, bool *is_solution,
                                     mo_error *err)
{
    char head[HEAD_BYTES + 1];
    struct stat about;
    const char *at = head;
    mo_status status;
    size_t n = 0;
    bool is_graph = false;

    *is_solution = false;
    /* What is read from a pipe is lost to the reader of graphs. */
    if (strcmp(path, "-") == 0)
        return MO_OK;
    if (stat(path, &about) != 0)
        return mo_fail_errno(err, path, "cannot open");
    if (!S_ISREG(about.st_mode))
        return MO_OK;
    status = read_head(path, head, &n, err);
    if (status != MO_OK)
        return status;
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    at += strspn(at, " \t\r\n");
    if (*at == '<')
        return sniff_cplex(path, is_solution, err);
    if (*at == '{')
        status = sniff_graph(path, &is_graph, err);
    *is_solution =
        !is_graph && n > 0 && strlen(head) == n && mo_solution_sniff(head);
    return status;
}

/* Working data of a report. */
typedef struct description {
    mo_solution *solution;
    mo_provenance origin;
    mo_locate_search search;
    mo_report_input inputs[MO_LOCATE_KINDS];
    int n_inputs;
    int *ops; /* by device */
    int n_devices;
    mo_cluster *cluster; /* or NULL */
    const char **device_ids;
    const char **searched;
    mo_report_member *members;
    int n_members;
} description;

/* Counts the columns x_i_k that are 1. */
static mo_status count_ops(description *d, mo_error *err)
{
    const mo_solution *s = d->solution;
    mo_column_name name;

    d->ops = calloc(MOST_DEVICES, sizeof *d->ops);
    if (!d->ops)
        return mo_fail_memory(err);
    for (int i = 0; i < s->n && !s->nameless; i++) {
        int device;

        if (!mo_column_name_parse(s->values[i].name, &name) ||
            name.role != MO_VARIABLE_ROLE_PLACE || name.n != 2 ||
            name.number[1] >= MOST_DEVICES)
            continue;
        device = name.number[1];
        d->ops[device] += s->values[i].value > 0.5;
        if (device >= d->n_devices)
            d->n_devices = device + 1;
    }
    return MO_OK;
}

/* Device ids are those of the cluster, if it is here. */
static mo_status name_devices(description *d, mo_error *err)
{
    const char *path = d->search.inputs[MO_LOCATE_CLUSTER].path;
    mo_status status = MO_OK;
    char *where = NULL;

    if (path)
        status = mo_cluster_choose(path, NULL, &d->cluster, &where, err);
    free(where);
    if (is_failure(status))
        return status;
    if (!d->cluster || d->cluster->n_devices < d->n_devices)
        return MO_OK;
    d->n_devices = d->cluster->n_devices;
    d->device_ids = calloc((size_t) d->n_devices + 1, sizeof *d->device_ids);
    if (!d->device_ids)
        return mo_fail_memory(err);
    for (int k = 0; k < d->n_devices; k++)
        d->device_ids[k] = d->cluster->devices[k].id;
    return MO_OK;
}

static mo_status list_members(const mo_bundle *bundle, description *d,
                              mo_error *err)
{
    size_t most = bundle->index.n + bundle->n_weights + 1;

    d->members = calloc(most, sizeof *d->members);
    if (!d->members)
        return mo_fail_memory(err);
    for (size_t i = 0; i < bundle->index.n; i++) {
        const mo_tar_member *member = &bundle->index.members[i];
        mo_report_member shown = { .name = member->name,
                                   .size = member->size,
                                   .packed = true };

        for (size_t k = 0; k < bundle->n_weights; k++)
            if (bundle->weights[k].member == member) {
                shown.has_digest = true;
                shown.digest = bundle->weights[k].digest;
            }
        d->members[d->n_members++] = shown;
    }
    for (size_t k = 0; k < bundle->n_weights; k++)
        if (!bundle->weights[k].member)
            d->members[d->n_members++] =
                (mo_report_member){ .name = bundle->weights[k].name,
                                    .size = bundle->weights[k].size,
                                    .has_digest = true,
                                    .digest = bundle->weights[k].digest };
    return MO_OK;
}

static mo_status read_solution(const char *path, const mo_bundle *bundle,
                               const mo_read_options *read,
                               const mo_driver_log *logger, description *d,
                               mo_error *err)
{
    const mo_locate_query what = { .beside = path,
                                   .also = bundle ? bundle->file : NULL,
                                   .read = *read };
    mo_status status = mo_solution_read(path, &d->solution, err);

    if (status == MO_OK && !d->solution->nameless) {
        status = mo_answer_provenance(d->solution, &d->origin, err);
        if (status != MO_OK)
            mo_error_set_location(err, path, 0);
    }
    if (status == MO_OK)
        status =
            mo_locate_search_run(&what, &d->origin, logger, &d->search, err);
    if (status == MO_OK)
        status = count_ops(d, err);
    if (status == MO_OK)
        status = name_devices(d, err);
    if (status != MO_OK)
        return status;
    /* Inputs that the solution records: built-in rule sets are among the
     * options. */
    for (int i = 0; i < MO_LOCATE_KINDS; i++) {
        const mo_locate_input *from = &d->search.inputs[i];

        if (from->has_digest || (from->needed && from->name[0]))
            d->inputs[d->n_inputs++] =
                (mo_report_input){ from->what,
                                   from->name,
                                   from->has_digest,
                                   from->digest,
                                   mo_bundle_shown(bundle, from->path),
                                   from->note };
    }
    d->searched = calloc(d->search.folders.n + 1, sizeof *d->searched);
    if (!d->searched)
        return mo_fail_memory(err);
    for (size_t i = 0; i < d->search.folders.n; i++)
        d->searched[i] = mo_bundle_shown(bundle, d->search.folders.path[i]);
    return MO_OK;
}

mo_status mo_cli_info_solution(const char *path, const mo_bundle *bundle,
                               const mo_read_options *read, bool json,
                               const mo_driver_log *logger,
                               const mo_output_file *output, mo_error *err)
{
    const char *solution = bundle ? bundle->solution : path;
    description d = { 0 };
    mo_report_solution report = { .file = path };
    bool is_solution = !bundle;
    mo_status status = bundle ? list_members(bundle, &d, err) : MO_OK;

    /* A bundle may have a graph in place of a solution. */
    if (status == MO_OK && bundle && solution)
        status = mo_cli_info_sniff_solution(solution, &is_solution, err);
    if (status == MO_OK && is_solution)
        status = read_solution(solution, bundle, read, logger, &d, err);
    for (int i = 0; i < MO_LOCATE_KINDS && status == MO_OK; i++)
        status = mo_output_guard_check_input(
            &(mo_output_guard){ .outputs = output, .n = 1 },
            d.search.inputs[i].path, err);
    if (status == MO_OK) {
        report.members = d.members;
        report.n_members = d.n_members;
        report.solution = d.solution;
        report.origin = &d.origin;
        report.inputs = d.inputs;
        report.n_inputs = d.n_inputs;
        report.ops = d.ops;
        report.n_devices = d.n_devices;
        report.device_ids = d.device_ids;
        report.searched = d.searched;
        report.n_searched = (int) d.search.folders.n;
        if (json)
            mo_report_solution_json(&report, output->out);
        else
            mo_report_solution_text(&report, output->out);
    }
    free(d.members);
    free(d.searched);
    free(d.device_ids);
    mo_cluster_free(d.cluster);
    free(d.ops);
    mo_locate_search_clear(&d.search);
    mo_solution_free(d.solution);
    return status;
}
