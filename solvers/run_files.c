#include <config.h>

#include "solvers/run_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/compress.h"
#include "solvers/places.h"
#include "solvers/unpack.h"

static bool ends_with(const char *path, size_t length, const char *ending)
{
    size_t n = strlen(ending);

    return length >= n && strncasecmp(path + length - n, ending, n) == 0;
}

/* MPS begins with one of these words, after comments; LP never does. */
static bool begins_as_mps(const char *path)
{
    static const char *const words[] = { "NAME", "ROWS", "OBJSENSE" };
    char line[512] = "";
    FILE *file = fopen(path, "re");
    bool mps = false;

    if (!file)
        return false;
    while (fgets(line, sizeof line, file))
        if (line[0] != '*' && line[strspn(line, " \t\r\n")])
            break;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            mps = true;
    fclose(file);
    return mps;
}

/* By the name that was given, else by looking into the file. */
static const char *model_name(const char *given, const char *file)
{
    size_t stem = mo_compress_stem(given);

    if (ends_with(given, stem, ".mps"))
        return "model.mps";
    if (ends_with(given, stem, ".lp"))
        return "model.lp";
    return begins_as_mps(file) ? "model.mps" : "model.lp";
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
    mo_status status = mo_unpack_needed(source, &packed, err);

    if (status != MO_OK)
        return status;
    if (unlink(target) != 0 && errno != ENOENT)
        return mo_fail_errno(err, target, "cannot be removed");
    return packed ? mo_unpack(source, target, err)
                  : link_to(source, target, err);
}

static mo_status bring_model(const mo_job *job, mo_run_files *files,
                             mo_error *err)
{
    char *raw = mo_places_text("%s/model", job->folder);
    mo_status status = raw ? bring(job->model, raw, err) : mo_fail_memory(err);

    if (status == MO_OK) {
        files->model =
            mo_places_text("%s/%s", job->folder, model_name(job->model, raw));
        if (!files->model)
            status = mo_fail_memory(err);
        else if (rename(raw, files->model) != 0)
            status = mo_fail_errno(err, files->model, "cannot be made");
    }
    free(raw);
    return status;
}

/* Solvers know starts by the endings of their names. */
static mo_status bring_start(const mo_job *job, mo_run_files *files,
                             mo_error *err)
{
    static const char *const endings[] = { [MO_START_MIPLIB] = "sol",
                                           [MO_START_GUROBI] = "mst",
                                           [MO_START_CBC] = "cbc" };

    files->start = mo_places_text("%s/start.%s", job->folder,
                                  endings[mo_start_layout_of(job->start)]);
    return files->start ? bring(job->start, files->start, err)
                        : mo_fail_memory(err);
}

mo_status mo_run_files_prepare(const mo_job *job, mo_run_files *files,
                               mo_error *err)
{
    mo_status status = bring_model(job, files, err);

    if (status == MO_OK && job->start)
        status = bring_start(job, files, err);
    return status;
}

void mo_run_files_clear(mo_run_files *files)
{
    free(files->model);
    free(files->start);
    *files = (mo_run_files){ 0 };
}

mo_status mo_run_files_create(const char *folder, const char *name,
                              mo_out **out, mo_error *err)
{
    char *path = mo_places_text("%s/%s", folder, name);
    mo_status status = path ? mo_out_open(path, out, err) : mo_fail_memory(err);

    free(path);
    return status;
}
