/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/plugins/library_solve.h"

#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "solvers/process/workdir.h"

enum { REPEAT_S = 1 };

static volatile sig_atomic_t asked;
static void (*volatile interrupt_now)(void *context);
static void *volatile interrupt_context;

static void handle_signal(int signal_number)
{
    void (*interrupt)(void *context) = interrupt_now;

    (void) signal_number;
    asked = 1;
    if (interrupt) {
        interrupt(interrupt_context);
        alarm(REPEAT_S);
    }
}

static void set_handler(int signal_number)
{
    struct sigaction action = { .sa_handler = handle_signal,
                                .sa_flags = SA_RESTART };

    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGTERM);
    sigaddset(&action.sa_mask, SIGALRM);
    sigaction(signal_number, &action, NULL);
}

bool mo_library_signals_pending(void)
{
    return asked;
}

void mo_library_signals_begin(void (*interrupt)(void *context), void *context)
{
    interrupt_context = context;
    interrupt_now = interrupt;
    if (asked)
        alarm(REPEAT_S);
}

void mo_library_signals_end(void)
{
    interrupt_now = NULL;
    alarm(0);
}

int mo_library_solve_child(mo_status (*solve)(const mo_solver_install *found,
                                              const mo_solver_job *job,
                                              mo_error *err),
                           const mo_solver_install *found,
                           const mo_solver_job *job)
{
    mo_error err = { 0 };

    setvbuf(stdout, NULL, _IOLBF, 0);
    /* From here on these signals do not end the process. */
    set_handler(SIGINT);
    set_handler(SIGTERM);
    set_handler(SIGALRM);
    return mo_library_exit_code(solve(found, job, &err), &err);
}

mo_solution_status mo_library_solution_status(mo_solution_status claim,
                                              bool solved)
{
    if (claim != MO_SOLUTION_STATUS_OPTIMAL &&
        claim != MO_SOLUTION_STATUS_FEASIBLE)
        return claim;
    return solved ? claim : MO_SOLUTION_STATUS_NO_SOLUTION;
}

static void write_finite(mo_out *out, const char *before, double value)
{
    mo_out_text(out, before);
    mo_out_double(out, value);
    mo_out_char(out, '\n');
}

/* Larger bounds mean that there is none. */
static const double infinite = 1e20;

static bool is_bound_useful(const mo_library_solution *answer)
{
    return answer->has_bound &&
           answer->claim != MO_SOLUTION_STATUS_INFEASIBLE &&
           answer->claim != MO_SOLUTION_STATUS_UNBOUNDED &&
           fabs(answer->bound) < infinite;
}

/* Refuses values that are not finite. */
static mo_status check_columns(const mo_library_solution *answer, mo_error *err)
{
    if (answer->has_objective && !isfinite(answer->objective))
        return mo_fail(err, MO_E_INPUT, "the solver's objective is no number");
    for (int i = 0; i < answer->n; i++)
        if (!isfinite(answer->values[i]))
            return mo_fail(err, MO_E_INPUT,
                           "the solver's value of column %.80s is no number",
                           answer->name(answer->context, i));
    return MO_OK;
}

mo_status mo_library_solution_write(const char *folder,
                                    const mo_library_solution *answer,
                                    mo_error *err)
{
    mo_status status = check_columns(answer, err);
    mo_out *out = NULL;

    if (status == MO_OK)
        status = mo_workdir_create_file(folder, MO_SOLVER_LIBRARY_SOLUTION,
                                        &out, err);
    if (status != MO_OK)
        return status;
    mo_out_printf(out, "# status: %s\n",
                  mo_solution_status_names[answer->claim]);
    if (is_bound_useful(answer))
        write_finite(out, "# bound: ", answer->bound);
    if (answer->has_objective)
        write_finite(out, "=obj= ", answer->objective);
    for (int i = 0; i < answer->n; i++)
        if (answer->values[i] != 0) {
            mo_out_text(out, answer->name(answer->context, i));
            write_finite(out, " ", answer->values[i]);
        }
    return mo_out_commit(out, err);
}

static int compare_names(const void *a, const void *b)
{
    const mo_solution_value *one = a, *other = b;

    return strcmp(one->name, other->name);
}

/* Sets the values of columns in the start; returns their number. */
static int fill_values(const mo_solution *start, int n,
                       const char *(*name)(void *context, int column),
                       void *context, double *values)
{
    int known = 0;

    for (int i = 0; i < n; i++) {
        mo_solution_value wanted = { .name = name(context, i) };
        const mo_solution_value *found =
            bsearch(&wanted, start->values, (size_t) start->n,
                    sizeof *start->values, compare_names);

        values[i] = found ? found->value : 0;
        known += found != NULL;
    }
    return known;
}

mo_status
mo_library_read_mip_start(const char *path, int n,
                          const char *(*name)(void *context, int column),
                          void *context, double **values, mo_error *err)
{
    mo_solution *start = NULL;
    mo_status status = mo_solution_read(path, &start, err);

    *values = NULL;
    if (status != MO_OK)
        return status;
    *values = calloc((size_t) n + 1, sizeof **values);
    if (!*values)
        status = mo_fail_memory(err);
    else if (start->nameless || start->n == 0)
        status = mo_fail_at(err, MO_E_INPUT, path, 0, "no start: it has no %s",
                            start->nameless ? "names" : "columns");
    else {
        qsort(start->values, (size_t) start->n, sizeof *start->values,
              compare_names);
        if (fill_values(start, n, name, context, *values) == 0)
            status = mo_fail_at(err, MO_E_INPUT, path, 0,
                                "a start for some other model: it knows none "
                                "of the columns");
    }
    if (status != MO_OK) {
        free(*values);
        *values = NULL;
    }
    mo_solution_free(start);
    return status;
}

int mo_library_exit_code(mo_status status, const mo_error *err)
{
    char text[MO_ERROR_FILE_SIZE + MO_ERROR_TEXT_SIZE + 32];

    if (status != MO_OK)
        printf("error: %s\n", mo_error_format(err, text, sizeof text));
    if (fflush(stdout) != 0 && status == MO_OK)
        return EXIT_FAILURE;
    return status == MO_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

int mo_library_print_version(const mo_dynlib_spec *kind, const char *path)
{
    mo_dynlib *library = calloc(1, kind->size);
    mo_error err = { 0 };
    mo_status status = library ? mo_dynlib_open(kind, path, library, &err)
                               : mo_fail_memory(&err);

    if (status == MO_OK)
        printf("%d.%d.%d\n", library->version[0], library->version[1],
               library->version[2]);
    free(library);
    return mo_library_exit_code(status, &err);
}

/* Pause after a write: multiple of its duration, and minimum. */
static const double wait_factor = 50, wait_s = 0.1;

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec * 1e-9;
}

mo_status mo_library_incumbent_new(
    const char *folder, int n, const char *(*name)(void *context, int column),
    void *context, mo_library_incumbent *best, mo_error *err)
{
    double *values = calloc((size_t) n + 1, sizeof *values);

    if (!values)
        return mo_fail_memory(err);
    *best = (mo_library_incumbent){ .folder = folder, .values = values };
    best->answer = (mo_library_solution){ .claim = MO_SOLUTION_STATUS_FEASIBLE,
                                          .has_objective = true,
                                          .has_bound = true,
                                          .n = n,
                                          .values = values,
                                          .name = name,
                                          .context = context };
    return MO_OK;
}

void mo_library_incumbent_clear(mo_library_incumbent *best)
{
    free(best->values);
    *best = (mo_library_incumbent){ 0 };
}

void mo_library_incumbent_update(mo_library_incumbent *best, double objective,
                                 double bound, const double *values)
{
    memcpy(best->values, values, (size_t) best->answer.n * sizeof *values);
    best->answer.objective = objective;
    best->answer.bound = bound;
    best->unwritten = true;
    mo_library_incumbent_flush(best);
}

void mo_library_incumbent_flush(mo_library_incumbent *best)
{
    double begin_s, took_s;

    if (!best->unwritten)
        return;
    begin_s = now_s();
    if (begin_s < best->next_s)
        return;
    mo_library_solution_write(best->folder, &best->answer, NULL);
    best->unwritten = false;
    took_s = now_s() - begin_s;
    best->next_s = begin_s + took_s + wait_factor * took_s + wait_s;
}
