/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "cli/info_solution.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cost/cluster.h"
#include "driver/locate.h"
#include "report/solution_info.h"
#include "solvers/answer/column_name.h"

enum { HEAD_BYTES = 4096, ROOT_SIZE = 64, MOST_DEVICES = MO_MAX_DEVICES };

/* Of XML files, those of CPLEX are solutions. */
static bool is_cplex(const char *path)
{
    static const char wanted[] = "CPLEXSolution";
    char root[ROOT_SIZE] = "";
    mo_input *input;

    if (mo_input_open(path, &input, NULL) != MO_OK)
        return false;
    if (mo_read_root(input, root, sizeof root, NULL) != MO_OK)
        root[0] = '\0';
    mo_input_close(input);
    return strncmp(root, wanted, sizeof wanted - 1) == 0;
}

bool mo_cli_info_is_solution(const char *path)
{
    char head[HEAD_BYTES + 1];
    struct stat about;
    const char *at = head;
    FILE *file;
    size_t n;

    /* What is read from a pipe is lost to the reader of graphs. */
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 ||
        !S_ISREG(about.st_mode))
        return false;
    file = fopen(path, "re");
    n = file ? fread(head, 1, HEAD_BYTES, file) : 0;
    if (file)
        fclose(file);
    head[n] = '\0';
    if (strncmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3;
    at += strspn(at, " \t\r\n");
    if (*at == '<')
        return is_cplex(path);
    return n > 0 && strlen(head) == n && mo_solution_sniff(head);
}

/* Working data of a report. */
typedef struct description {
    mo_solution *solution;
    mo_provenance origin;
    mo_locate_survey survey;
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

static void clear_description(description *d)
{
    free(d->members);
    free(d->searched);
    free(d->device_ids);
    mo_cluster_free(d->cluster);
    free(d->ops);
    mo_locate_survey_clear(&d->survey);
    mo_solution_free(d->solution);
}

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
    const char *path = d->survey.inputs[MO_LOCATE_CLUSTER].path;
    char *where = NULL;

    if (path)
        (void) mo_cluster_choose(path, NULL, &d->cluster, &where, NULL);
    free(where);
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

/* Inputs that the solution records: built-in rule sets are among the
 * options. */
static void list_inputs(const mo_bundle *bundle, description *d)
{
    for (int i = 0; i < MO_LOCATE_KINDS; i++) {
        const mo_locate_input *from = &d->survey.inputs[i];

        if (from->has_digest || (from->needed && from->name[0]))
            d->inputs[d->n_inputs++] =
                (mo_report_input){ from->what,
                                   from->name,
                                   from->has_digest,
                                   from->digest,
                                   mo_bundle_shown(bundle, from->path),
                                   from->note };
    }
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
            mo_locate_survey_make(&what, &d->origin, logger, &d->survey, err);
    if (status == MO_OK)
        status = count_ops(d, err);
    if (status == MO_OK)
        status = name_devices(d, err);
    if (status != MO_OK)
        return status;
    list_inputs(bundle, d);
    d->searched = calloc(d->survey.folders.n + 1, sizeof *d->searched);
    if (!d->searched)
        return mo_fail_memory(err);
    for (size_t i = 0; i < d->survey.folders.n; i++)
        d->searched[i] = mo_bundle_shown(bundle, d->survey.folders.path[i]);
    return MO_OK;
}

mo_status mo_cli_info_solution(const char *path, const mo_bundle *bundle,
                               const mo_read_options *read, bool json,
                               const mo_driver_log *logger, mo_out *out,
                               mo_error *err)
{
    const char *solution = bundle ? bundle->solution : path;
    description d = { 0 };
    mo_report_solution report = { .file = path };
    mo_status status = bundle ? list_members(bundle, &d, err) : MO_OK;

    if (status == MO_OK && solution && mo_cli_info_is_solution(solution))
        status = read_solution(solution, bundle, read, logger, &d, err);
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
        report.n_searched = (int) d.survey.folders.n;
        if (json)
            mo_report_solution_json(&report, out);
        else
            mo_report_solution_text(&report, out);
    }
    clear_description(&d);
    return status;
}
