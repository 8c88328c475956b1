/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/outcome.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "solvers/process/path_util.h"

void mo_solver_log_summary_update(mo_solver_log_summary *log,
                                  const mo_solver_progress *step)
{
    if (step->has_bound && (!log->has_bound || step->bound > log->bound)) {
        log->has_bound = true;
        log->bound = step->bound;
    }
    if (step->has_claim) {
        log->has_claim = true;
        log->claim = step->claim;
    }
}

void mo_solver_log_summary_error(mo_solver_log_summary *log, const char *line)
{
    size_t length = 0;

    if (!strcasestr(line, "error") && !strcasestr(line, "too large"))
        return;
    line += strspn(line, " \t");
    for (; line[length] && length + 1 < sizeof log->error_line; length++)
        log->error_line[length] =
            iscntrl((unsigned char) line[length]) ? ' ' : line[length];
    log->error_line[length] = 0;
}

static mo_status set_output_path(const mo_solver_job *job, const char *name,
                                 char **path, mo_error *err)
{
    if (!name)
        return MO_OK;
    *path = mo_path_format("%s/%s", job->folder, name);
    if (!*path)
        return mo_fail_memory(err);
    if (unlink(*path) != 0 && errno != ENOENT)
        return mo_fail_errno(err, *path, "cannot be removed");
    return MO_OK;
}

mo_status mo_solver_output_reader_init(mo_solver_output_reader *answer,
                                       const mo_solver_output_files *files,
                                       mo_error *err)
{
    mo_status status =
        set_output_path(answer->job, files->solution, &answer->solution, err);

    return status == MO_OK
               ? set_output_path(answer->job, files->names, &answer->names, err)
               : status;
}

void mo_solver_output_reader_clear(mo_solver_output_reader *answer)
{
    free(answer->solution);
    free(answer->names);
}

/* Copies names from one file to the values of another: both have the columns
 * in the order of the model. */
static mo_status copy_names(mo_solution *solution, const mo_solution *named,
                            mo_error *err)
{
    if (named->n != solution->n)
        return mo_fail(err, MO_E_INPUT, "%d names for %d values", named->n,
                       solution->n);
    for (int i = 0; i < solution->n; i++) {
        const char *name = named->values[i].name;
        char *copy = mo_arena_text(solution->arena, name, strlen(name));

        if (!copy)
            return mo_fail_memory(err);
        solution->values[i].name = copy;
    }
    solution->nameless = false;
    return MO_OK;
}

static mo_status add_names(const char *path, mo_solution *solution,
                           mo_error *err)
{
    mo_solution *named = NULL;
    mo_status status = mo_solution_read(path, &named, err);

    if (status == MO_OK)
        status = copy_names(solution, named, err);
    mo_solution_free(named);
    return status;
}

/* Reading a FIFO in place of a solution would not end. */
static mo_status check_regular_file(const char *path, mo_error *err)
{
    struct stat state;

    if (stat(path, &state) != 0)
        return mo_fail_errno(err, path, "cannot be read");
    if (!S_ISREG(state.st_mode))
        return mo_fail_at(err, MO_E_INPUT, path, 0, "is not a plain file");
    return MO_OK;
}

static mo_status read_files(const mo_solver_output_reader *answer,
                            mo_solution **solution, mo_error *err)
{
    mo_solution *read = NULL;
    mo_status status = check_regular_file(answer->solution, err);

    if (status == MO_OK)
        status = mo_solution_read(answer->solution, &read, err);
    if (status == MO_OK && read->nameless && read->n > 0)
        status = answer->names
                     ? add_names(answer->names, read, err)
                     : mo_fail(err, MO_E_INPUT, "it has no names in it");
    if (status == MO_OK)
        *solution = read;
    else
        mo_solution_free(read);
    return status;
}

/* Reads the last incumbent of a solver that was killed. */
static mo_status read_last_incumbent(const mo_solver_output_reader *answer,
                                     mo_error *err, mo_solution **solution)
{
    if (answer->way != MO_SOLVER_VIA_PROCESS || !answer->solver->read_incumbent)
        return MO_OK;
    return answer->solver->read_incumbent(answer->job, solution, err);
}

static void describe_end(const mo_child_result *result,
                         mo_solver_outcome *outcome)
{
    char *text = outcome->text;
    size_t size = sizeof outcome->text;

    switch (result->end) {
    case MO_CHILD_NOT_STARTED:
        snprintf(text, size, "cannot be started: %s", strerror(result->code));
        break;
    case MO_CHILD_KILLED:
        snprintf(text, size, "died of signal %d (%s), and left no answer",
                 result->code, strsignal(result->code));
        break;
    case MO_CHILD_TIMEOUT:
        snprintf(text, size,
                 "did not stop at its limit, was killed after "
                 "%.1f s, and left no answer",
                 result->seconds);
        break;
    case MO_CHILD_INTERRUPTED:
        snprintf(text, size, "was interrupted after %.1f s, and left no answer",
                 result->seconds);
        break;
    case MO_CHILD_EXITED:
        snprintf(text, size,
                 "ended after %.1f s with exit code %d and no "
                 "answer",
                 result->seconds, result->code);
        break;
    }
}

static void append_detail(mo_solver_outcome *outcome, const char *text)
{
    size_t length = strlen(outcome->text);

    if (*text)
        snprintf(outcome->text + length, sizeof outcome->text - length, ": %s",
                 text);
}

static void describe_solution(const mo_child_result *result,
                              mo_solver_outcome *outcome)
{
    static const char *const how[] = {
        [MO_CHILD_EXITED] = "",
        [MO_CHILD_KILLED] = ", and then it crashed",
        [MO_CHILD_TIMEOUT] = ", and then it had to be killed",
        [MO_CHILD_INTERRUPTED] = ", when it was interrupted",
        [MO_CHILD_NOT_STARTED] = ""
    };

    snprintf(outcome->text, sizeof outcome->text, "%s after %.1f s%s",
             mo_solution_status_names[outcome->claim], result->seconds,
             how[result->end]);
}

static bool is_proof(mo_solution_status claim)
{
    return claim == MO_SOLUTION_STATUS_INFEASIBLE ||
           claim == MO_SOLUTION_STATUS_UNBOUNDED;
}

static void set_bound(const mo_solver_log_summary *log,
                      mo_solver_outcome *outcome)
{
    const mo_solution *solution = outcome->solution;

    outcome->has_bound = log->has_bound;
    outcome->bound = log->bound;
    if (solution && solution->has_bound &&
        (!outcome->has_bound || solution->bound > outcome->bound)) {
        outcome->has_bound = true;
        outcome->bound = solution->bound;
    }
    /* Some solvers print a bound only where it differs. */
    if (!outcome->has_bound && outcome->claim == MO_SOLUTION_STATUS_OPTIMAL &&
        solution->has_objective) {
        outcome->has_bound = true;
        outcome->bound = solution->objective;
    }
}

mo_status mo_solver_output_reader_read(const mo_solver_output_reader *answer,
                                       const mo_solver_log_summary *log,
                                       const mo_child_result *result,
                                       mo_solver_outcome *outcome,
                                       mo_error *err)
{
    mo_error unread = { .status = MO_OK };
    mo_solution *incumbent = NULL;
    char text[MO_ERROR_TEXT_SIZE + MO_ERROR_FILE_SIZE];
    const mo_solution *solution;
    bool ended_well =
        result->end != MO_CHILD_KILLED && result->end != MO_CHILD_TIMEOUT;
    bool has_proof;

    if ((access(answer->solution, F_OK) == 0 || errno != ENOENT) &&
        read_files(answer, &outcome->solution, &unread) == MO_E_MEMORY)
        return mo_fail_memory(err);
    if (!outcome->solution || outcome->solution->n == 0) {
        if (read_last_incumbent(answer, &unread, &incumbent) == MO_E_MEMORY)
            return mo_fail_memory(err);
        if (incumbent &&
            !(outcome->solution && is_proof(outcome->solution->claim))) {
            mo_solution_free(outcome->solution);
            outcome->solution = incumbent;
        } else {
            mo_solution_free(incumbent);
        }
    }
    /* After a crash only the solution file counts, not the log. */
    solution = outcome->solution;
    has_proof = log->has_claim && ended_well && is_proof(log->claim);
    /* The log is more specific than a file without values. */
    if (solution && solution->claim != MO_SOLUTION_STATUS_UNKNOWN &&
        !(has_proof && solution->n == 0))
        outcome->claim = solution->claim;
    else if (log->has_claim && ended_well &&
             (is_proof(log->claim) || (solution && solution->n > 0)))
        outcome->claim = log->claim;
    else if (solution && solution->n > 0)
        outcome->claim = MO_SOLUTION_STATUS_FEASIBLE;
    set_bound(log, outcome);
    outcome->seconds = result->seconds;
    outcome->end = result->end;
    if (outcome->solution || is_proof(outcome->claim)) {
        describe_solution(result, outcome);
    } else if (unread.status != MO_OK) {
        snprintf(outcome->text, sizeof outcome->text,
                 "left an answer that cannot be read");
        append_detail(outcome, *log->error_line ? log->error_line
                                                : mo_error_format(&unread, text,
                                                                  sizeof text));
    } else {
        describe_end(result, outcome);
        append_detail(outcome, log->error_line);
    }
    return MO_OK;
}
