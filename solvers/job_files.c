/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/job_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "solvers/process/decompress.h"
#include "solvers/process/path_util.h"

/* What a file begins with, comments of either format left out. */
typedef struct beginning {
    bool empty, mps, lp;
} beginning;

/* The first line that is no comment and not blank; "" where there is none.
 * What does not fit is of no interest. */
static void first_line(FILE *file, char *line, int size)
{
    bool begun = false; /* in the middle of a long line */

    while (fgets(line, size, file)) {
        bool comment = line[0] == '*' || line[0] == '\\';

        if (!begun && !comment && line[strspn(line, " \t\r\n")])
            return;
        begun = !strchr(line, '\n');
    }
    line[0] = '\0';
}

static bool begins_with(const char *line, const char *word)
{
    return strncasecmp(line, word, strlen(word)) == 0;
}

static mo_status look_into(const char *path, beginning *found, mo_error *err)
{
    FILE *file = fopen(path, "re");
    char line[512];
    const char *word;

    if (!file)
        return mo_fail_errno(err, path, "cannot be opened");
    first_line(file, line, sizeof line);
    fclose(file);
    word = line + strspn(line, " \t");
    *found = (beginning){
        .empty = !*word,
        .mps = begins_with(line, "NAME") || begins_with(line, "ROWS") ||
               begins_with(line, "OBJSENSE"),
        .lp = begins_with(word, "min") || begins_with(word, "max"),
    };
    return MO_OK;
}

/* By what is in it; solvers take a file that is no model for an empty one, and
 * say that it is solved. */
static mo_status name_model(const char *given, const char *file,
                            const char **name, mo_error *err)
{
    beginning found;
    mo_status status = look_into(file, &found, err);

    if (status != MO_OK)
        return status;
    if (!found.mps && !found.lp)
        return mo_fail_at(err, MO_E_SYNTAX, given, 0,
                          found.empty ? "is empty: no model is in it"
                                      : "is neither an LP nor an MPS model");
    *name = found.mps ? "model.mps" : "model.lp";
    return MO_OK;
}

/* Makes target what source is, without copying it. */
static mo_status link_to(const char *source, const char *target, mo_error *err)
{
    char *whole = realpath(source, NULL);
    mo_status status = MO_OK;

    if (!whole)
        return mo_fail_errno(err, source, "cannot be opened");
    if (access(whole, R_OK) != 0)
        status = mo_fail_errno(err, source, "cannot be read");
    else if (symlink(whole, target) != 0)
        status = mo_fail_errno(err, target, "cannot be made");
    free(whole);
    return status;
}

static mo_status bring(const char *source, const char *target, mo_error *err)
{
    bool packed;
    mo_status status = mo_decompress_needed(source, &packed, err);

    if (status != MO_OK)
        return status;
    if (unlink(target) != 0 && errno != ENOENT)
        return mo_fail_errno(err, target, "cannot be removed");
    return packed ? mo_decompress_file(source, target, err)
                  : link_to(source, target, err);
}

static mo_status bring_model(const mo_solver_job *job,
                             mo_solver_job_files *files, mo_error *err)
{
    char *raw = mo_path_format("%s/model", job->folder);
    const char *name = NULL;
    mo_status status = raw ? bring(job->model, raw, err) : mo_fail_memory(err);

    if (status == MO_OK)
        status = name_model(job->model, raw, &name, err);
    if (status == MO_OK) {
        files->model = mo_path_format("%s/%s", job->folder, name);
        if (!files->model)
            status = mo_fail_memory(err);
        else if (rename(raw, files->model) != 0)
            status = mo_fail_errno(err, files->model, "cannot be made");
    }
    free(raw);
    return status;
}

/* Solvers know starts by the endings of their names. */
static mo_status bring_start(const mo_solver_job *job,
                             mo_solver_job_files *files, mo_error *err)
{
    static const char *const endings[] = { [MO_MIP_START_MIPLIB] = "sol",
                                           [MO_MIP_START_GUROBI] = "mst",
                                           [MO_MIP_START_CBC] = "cbc" };

    files->start = mo_path_format("%s/start.%s", job->folder,
                                  endings[mo_mip_start_layout_of(job->start)]);
    return files->start ? bring(job->start, files->start, err)
                        : mo_fail_memory(err);
}

mo_status mo_solver_job_files_prepare(const mo_solver_job *job,
                                      mo_solver_job_files *files, mo_error *err)
{
    mo_status status = bring_model(job, files, err);

    if (status == MO_OK && job->start)
        status = bring_start(job, files, err);
    return status;
}

void mo_solver_job_files_clear(mo_solver_job_files *files)
{
    free(files->model);
    free(files->start);
    *files = (mo_solver_job_files){ 0 };
}
