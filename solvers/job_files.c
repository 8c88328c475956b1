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

/* How a file starts, apart from comments of either format. */
typedef struct file_start {
    bool empty, mps, lp;
} file_start;

/* Reads the first line that is neither a comment nor blank; "" when there is
 * none. Longer lines are truncated. */
static void read_first_line(FILE *file, char *line, int size)
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

static mo_status inspect_file(const char *path, file_start *found,
                              mo_error *err)
{
    FILE *file = fopen(path, "re");
    char line[512];
    const char *word;

    if (!file)
        return mo_fail_errno(err, path, "cannot be opened");
    read_first_line(file, line, sizeof line);
    (void) fclose(file);
    word = line + strspn(line, " \t");
    *found = (file_start){
        .empty = !*word,
        .mps = begins_with(line, "NAME") || begins_with(line, "ROWS") ||
               begins_with(line, "OBJSENSE"),
        .lp = begins_with(word, "min") || begins_with(word, "max"),
    };
    return MO_OK;
}

/* Names the model by its content. Solvers read a file that is no model as an
 * empty one, and report it as solved. */
static mo_status name_model(const char *given, const char *file,
                            const char **name, mo_error *err)
{
    file_start found;
    mo_status status = inspect_file(file, &found, err);

    if (status != MO_OK)
        return status;
    if (!found.mps && !found.lp)
        return mo_fail_at(err, MO_E_SYNTAX, given, 0,
                          found.empty ? "is empty: no model is in it"
                                      : "is neither an LP nor an MPS model");
    *name = found.mps ? "model.mps" : "model.lp";
    return MO_OK;
}

/* Makes target a symbolic link to source. */
static mo_status link_to(const char *source, const char *target, mo_error *err)
{
    char *absolute = realpath(source, NULL);
    mo_status status = MO_OK;

    if (!absolute)
        return mo_fail_errno(err, source, "cannot be opened");
    if (access(absolute, R_OK) != 0)
        status = mo_fail_errno(err, source, "cannot be read");
    else if (symlink(absolute, target) != 0)
        status = mo_fail_errno(err, target, "cannot be made");
    free(absolute);
    return status;
}

static mo_status provide_file(const char *source, const char *target,
                              mo_error *err)
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

static mo_status provide_model(const mo_solver_job *job,
                               mo_solver_job_files *files, mo_error *err)
{
    char *raw = mo_path_format("%s/model", job->folder);
    const char *name = NULL;
    mo_status status =
        raw ? provide_file(job->model, raw, err) : mo_fail_memory(err);

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

/* Solvers recognise the format of a start by its suffix. */
static mo_status provide_start(const mo_solver_job *job,
                               mo_solver_job_files *files, mo_error *err)
{
    static const char *const endings[] = { [MO_MIP_START_MIPLIB] = "sol",
                                           [MO_MIP_START_GUROBI] = "mst",
                                           [MO_MIP_START_CBC] = "cbc" };

    files->start = mo_path_format("%s/start.%s", job->folder,
                                  endings[mo_mip_start_layout_of(job->start)]);
    return files->start ? provide_file(job->start, files->start, err)
                        : mo_fail_memory(err);
}

mo_status mo_solver_job_files_prepare(const mo_solver_job *job,
                                      mo_solver_job_files *files, mo_error *err)
{
    mo_status status = provide_model(job, files, err);

    if (status == MO_OK && job->start)
        status = provide_start(job, files, err);
    return status;
}

void mo_solver_job_files_clear(mo_solver_job_files *files)
{
    free(files->model);
    free(files->start);
    *files = (mo_solver_job_files){ 0 };
}
