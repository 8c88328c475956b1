/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/run_solver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/out.h"
#include "solvers/plugins/library_solve.h"
#include "solvers/outcome.h"
#include "solvers/process/decompress.h"
#include "solvers/process/path_util.h"
#include "solvers/registry.h"

enum { MODEL, SOLUTION, START, TIME, GAP, THREADS, N_PLACEHOLDERS };

static const char *const placeholders[N_PLACEHOLDERS] = {
    "{model}", "{solution}", "{start}", "{time}", "{gap}", "{threads}"
};

typedef struct expansion {
    const char *values[N_PLACEHOLDERS];
    char time[32], gap[32], threads[16];
    bool used[N_PLACEHOLDERS];
} expansion;

static mo_status expand(expansion *f, const char *text, mo_out *out,
                        mo_error *err)
{
    char quote = 0;

    while (*text) {
        int placeholder = 0;

        while (placeholder < N_PLACEHOLDERS &&
               strncmp(text, placeholders[placeholder],
                       strlen(placeholders[placeholder])) != 0)
            placeholder++;
        if (placeholder == N_PLACEHOLDERS) {
            /* An escaped character is not special. */
            if (*text == '\\' && quote != '\'' && text[1])
                mo_out_char(out, *text++);
            else {
                char c = *text;

                if (quote)
                    quote = c == quote ? 0 : quote;
                else
                    quote = c == '\'' || c == '"' ? c : 0;
            }
            mo_out_char(out, *text++);
            continue;
        }
        if (quote)
            return mo_fail(err, MO_E_USAGE,
                           "%s stands within quotes, and will be quoted: "
                           "take those away",
                           placeholders[placeholder]);
        /* Within single quotes only the closing quote is special. */
        const char *value = f->values[placeholder];

        mo_out_char(out, '\'');
        for (; *value; value++)
            if (*value == '\'')
                mo_out_text(out, "'\\''");
            else
                mo_out_char(out, *value);
        mo_out_char(out, '\'');
        f->used[placeholder] = true;
        text += strlen(placeholders[placeholder]);
    }
    return MO_OK;
}

static mo_status check_required(const expansion *f, mo_error *err)
{
    for (int i = MODEL; i <= SOLUTION; i++)
        if (!f->used[i])
            return mo_fail(err, MO_E_USAGE, "the command has no %s in it",
                           placeholders[i]);
    return MO_OK;
}

mo_status mo_command_template_expand(const char *text, const mo_solver_job *job,
                                     const char *solution, char **line,
                                     mo_error *err)
{
    expansion f = { .used = { false } };
    mo_out *out;
    mo_status status = mo_out_memory(&out, err);
    size_t size;

    if (status != MO_OK)
        return status;
    snprintf(f.time, sizeof f.time, "%.17g",
             job->time_s > 0 ? job->time_s : 1e20);
    snprintf(f.gap, sizeof f.gap, "%.17g", job->gap >= 0 ? job->gap : 1e-4);
    snprintf(f.threads, sizeof f.threads, "%d", job->threads);
    f.values[MODEL] = job->model;
    f.values[SOLUTION] = solution;
    f.values[START] = job->start ? job->start : "";
    f.values[TIME] = f.time;
    f.values[GAP] = f.gap;
    f.values[THREADS] = f.threads;
    status = expand(&f, text, out, err);
    if (status == MO_OK)
        status = check_required(&f, err);
    if (status == MO_OK) {
        *line = mo_out_take(out, &size);
        if (!*line)
            status = mo_fail_memory(err);
    }
    mo_out_abandon(out);
    return status;
}

static const double default_grace_s = 2;

/* Fraction of the grace period before a late solver is interrupted. */
static const double interrupt_fraction = 0.25;

#define COMMAND_SOLUTION "solution.sol"

/* Input files of a job under fixed names in its folder: compressed ones are
 * decompressed, others linked. */
typedef struct job_files {
    char *model; /* folder/model.lp or folder/model.mps */
    char *start; /* folder/start.sol, .mst or .cbc; NULL without one */
} job_files;

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

/* Names the model by its content, apart from comments of either format. Solvers
 * read a file that is no model as an empty one, and report it as solved. */
static mo_status name_model(const char *given, const char *path,
                            const char **name, mo_error *err)
{
    FILE *file = fopen(path, "re");
    char line[512];
    const char *word;
    bool mps;

    if (!file)
        return mo_fail_errno(err, path, "cannot be opened");
    read_first_line(file, line, sizeof line);
    (void) fclose(file);
    word = line + strspn(line, " \t");
    mps = begins_with(line, "NAME") || begins_with(line, "ROWS") ||
          begins_with(line, "OBJSENSE");
    if (!mps && !begins_with(word, "min") && !begins_with(word, "max"))
        return mo_fail_at(err, MO_E_SYNTAX, given, 0,
                          !*word ? "is empty: no model is in it"
                                 : "is neither an LP nor an MPS model");
    *name = mps ? "model.mps" : "model.lp";
    return MO_OK;
}

static mo_status provide_file(const char *source, const char *target,
                              mo_error *err)
{
    bool packed;
    mo_status status = mo_decompress_needed(source, &packed, err);
    char *absolute;

    if (status != MO_OK)
        return status;
    if (unlink(target) != 0 && errno != ENOENT)
        return mo_fail_errno(err, target, "cannot be removed");
    if (packed)
        return mo_decompress_file(source, target, err);
    /* Else target is a symbolic link to source. */
    absolute = realpath(source, NULL);
    if (!absolute)
        return mo_fail_errno(err, source, "cannot be opened");
    if (access(absolute, R_OK) != 0)
        status = mo_fail_errno(err, source, "cannot be read");
    else if (symlink(absolute, target) != 0)
        status = mo_fail_errno(err, target, "cannot be made");
    free(absolute);
    return status;
}

/* Solvers recognise the format of a start by its suffix. */
static mo_status provide_start(const mo_solver_job *job, job_files *files,
                               mo_error *err)
{
    static const char *const endings[] = { [MO_MIP_START_MIPLIB] = "sol",
                                           [MO_MIP_START_GUROBI] = "mst",
                                           [MO_MIP_START_CBC] = "cbc" };

    files->start = mo_path_format("%s/start.%s", job->folder,
                                  endings[mo_mip_start_layout_of(job->start)]);
    return files->start ? provide_file(job->start, files->start, err)
                        : mo_fail_memory(err);
}

typedef struct log_reader {
    const mo_solver *solver; /* NULL: a user's command, any solver */
    const mo_solver_run_options *options;
    mo_solver_log_summary log;
} log_reader;

static bool parse_line(const mo_solver *solver, const char *line,
                       mo_solver_progress *step)
{
    if (solver && solver->parse_log_line)
        return solver->parse_log_line(line, step);
    for (const mo_solver *const *s = mo_solver_table; *s; s++)
        if ((*s)->parse_log_line(line, step))
            return true;
    return false;
}

static void handle_line(void *listener, const char *line)
{
    log_reader *l = listener;
    const mo_solver_run_options *options = l->options;
    mo_solver_progress step;

    if (options->line)
        options->line(options->context, l->solver, line);
    mo_solver_log_summary_error(&l->log, line);
    if (!parse_line(l->solver, line, &step))
        return;
    mo_solver_log_summary_update(&l->log, &step);
    if (options->progress)
        options->progress(options->context, l->solver, &step);
}

typedef struct library_job {
    const mo_solver *solver;
    const mo_solver_install *found;
    const mo_solver_job *job;
} library_job;

static int run_library_child(void *context)
{
    const library_job *l = context;

    return mo_library_solve_child(l->solver->solve, l->found, l->job);
}

static mo_status run_child(mo_child_job *child, log_reader *l,
                           const mo_solver_job *job, mo_child_result *result,
                           mo_error *err)
{
    /* A solver that enforces its limits by itself is not interrupted in time;
     * one that stops well is interrupted when it is late; every one is killed
     * in the end. */
    bool stops = l->options->way == MO_SOLVER_VIA_LIBRARY || !l->solver ||
                 l->solver->writes_on_sigint;
    bool limits_itself =
        l->solver && (l->solver->limits & MO_SOLVER_LIMIT_MEMORY);

    child->line = handle_line;
    child->listener = l;
    child->scratch = l->options->scratch;
    child->grace_s =
        l->options->grace_s > 0 ? l->options->grace_s : default_grace_s;
    if (job->time_s > 0) {
        child->hard_s = job->time_s + child->grace_s;
        if (stops)
            child->soft_s = job->time_s + child->grace_s * interrupt_fraction;
    }
    if (job->memory_mib > 0 && !limits_itself)
        child->memory_bytes = (int64_t) job->memory_mib << 20;
    return mo_child_run(child, result, err);
}

static mo_status check_way(const mo_solver *solver,
                           const mo_solver_install *found,
                           const mo_solver_run_options *options, mo_error *err)
{
    if (options->way == MO_SOLVER_VIA_COMMAND)
        return options->command
                   ? MO_OK
                   : mo_fail(err, MO_E_USAGE, "no command was given");
    if (options->way == MO_SOLVER_VIA_LIBRARY && !solver->solve)
        return mo_fail(err, MO_E_SUPPORT, "%s cannot be run as a library",
                       solver->title);
    if (options->way == MO_SOLVER_VIA_LIBRARY ? !found->library
                                              : !found->program)
        return mo_fail(
            err, MO_E_SUPPORT, "%s: no %s of it was found", solver->title,
            options->way == MO_SOLVER_VIA_LIBRARY ? "library" : "program");
    return MO_OK;
}

static mo_solver_output_files output_files(const mo_solver *solver,
                                           mo_solver_via way)
{
    if (way == MO_SOLVER_VIA_LIBRARY)
        return (mo_solver_output_files){ .solution =
                                             MO_SOLVER_LIBRARY_SOLUTION };
    if (way == MO_SOLVER_VIA_COMMAND)
        return (mo_solver_output_files){ .solution = COMMAND_SOLUTION };
    return solver->files;
}

static mo_status run_and_read(const mo_solver *solver,
                              const mo_solver_install *found,
                              const mo_solver_job *job,
                              const mo_solver_run_options *options,
                              mo_solver_outcome *outcome, mo_error *err)
{
    log_reader l = { .solver = solver, .options = options };
    mo_solver_output_files names = output_files(solver, options->way);
    mo_solver_output_reader answer = { .solver = solver,
                                       .job = job,
                                       .way = options->way };
    mo_child_result result = { .end = MO_CHILD_NOT_STARTED };
    mo_status status = mo_solver_output_reader_init(&answer, &names, err);

    if (status == MO_OK) {
        if (options->way == MO_SOLVER_VIA_LIBRARY) {
            library_job context = { l.solver, found, job };
            mo_child_job child = { .body = run_library_child,
                                   .context = &context,
                                   .folder = job->folder };

            status = run_child(&child, &l, job, &result, err);
        } else if (options->way == MO_SOLVER_VIA_COMMAND) {
            /* Runs in the current folder, since the command may name files of
             * the user. */
            char *text = NULL;

            status = mo_command_template_expand(l.options->command, job,
                                                answer.solution, &text, err);
            if (status == MO_OK) {
                const char *const argv[] = { "sh", "-c", text, NULL };
                mo_child_job child = { .argv = argv };

                status = run_child(&child, &l, job, &result, err);
            }
            free(text);
        } else {
            mo_argv line = { 0 };

            status = l.solver->command(found, job, &line, err);
            if (status == MO_OK) {
                mo_child_job child = {
                    .argv = (const char *const *) line.argv,
                    .environment = (const char *const *) line.environment,
                    .folder = job->folder
                };

                status = run_child(&child, &l, job, &result, err);
            }
            mo_argv_clear(&line);
        }
    }
    if (status == MO_OK)
        status = mo_solver_output_reader_read(&answer, &l.log, &result, outcome,
                                              err);
    mo_solver_output_reader_clear(&answer);
    return status;
}

mo_status mo_solver_run(const mo_solver *solver, const mo_solver_install *found,
                        const mo_solver_job *job,
                        const mo_solver_run_options *options,
                        mo_solver_outcome *outcome, mo_error *err)
{
    job_files files = { 0 };
    mo_status status = check_way(solver, found, options, err);

    *outcome = (mo_solver_outcome){ .claim = MO_SOLUTION_STATUS_NO_SOLUTION };
    if (status == MO_OK) {
        char *raw = mo_path_format("%s/model", job->folder);
        const char *name = NULL;

        status = raw ? provide_file(job->model, raw, err) : mo_fail_memory(err);
        if (status == MO_OK)
            status = name_model(job->model, raw, &name, err);
        if (status == MO_OK) {
            files.model = mo_path_format("%s/%s", job->folder, name);
            if (!files.model)
                status = mo_fail_memory(err);
            else if (rename(raw, files.model) != 0)
                status = mo_fail_errno(err, files.model, "cannot be made");
        }
        free(raw);
        if (status == MO_OK && job->start)
            status = provide_start(job, &files, err);
    }
    if (status == MO_OK) {
        mo_solver_job inner = *job;

        inner.model = files.model;
        inner.start = files.start;
        inner.presolve = job->presolve && !(found && found->no_presolve);
        status = run_and_read(solver, found, &inner, options, outcome, err);
    }
    free(files.model);
    free(files.start);
    return status;
}

void mo_solver_outcome_clear(mo_solver_outcome *outcome)
{
    mo_solution_free(outcome->solution);
    *outcome = (mo_solver_outcome){ .claim = MO_SOLUTION_STATUS_NO_SOLUTION };
}
