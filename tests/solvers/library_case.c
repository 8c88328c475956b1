/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "tests/solvers/library_case.h"

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "solvers/plugins/cbc_api.h"
#include "solvers/plugins/library_solve.h"
#include "tests/support/suite.h"

library_way library_ways[LIBRARY_WAYS];
int library_ways_found;

static void sleep_s(double seconds)
{
    struct timespec rest = { .tv_sec = (time_t) seconds };

    rest.tv_nsec = (long) ((seconds - (double) rest.tv_sec) * 1e9);
    nanosleep(&rest, NULL);
}

static char *first_match(const char *folder, const char *pattern)
{
    char whole[PATH_MAX];
    glob_t found;
    char *path = NULL;

    snprintf(whole, sizeof whole, "%s%s", folder, pattern);
    if (glob(whole, 0, NULL, &found) == 0)
        path = strdup(found.gl_pathv[0]);
    globfree(&found);
    return path;
}

/* Beside the Python that configure found: DIR/bin/python. */
static char *in_python(const char *pattern)
{
    const char *python = getenv("MOIRAI_PYTHON");
    char folder[PATH_MAX];
    char *slash;

    snprintf(folder, sizeof folder, "%s", python ? python : "");
    for (int up = 0; up < 2; up++)
        if ((slash = strrchr(folder, '/')))
            *slash = 0;
    return python ? first_match(folder, pattern) : NULL;
}

static char *built(const char *name)
{
    const char *folder = getenv("top_builddir");
    char path[PATH_MAX];

    snprintf(path, sizeof path, "/tests/standin/%s", name);
    return first_match(folder ? folder : ".", path);
}

static void add_way(const library_way *way, bool found)
{
    if (found)
        library_ways[library_ways_found++] = *way;
    else
        fprintf(stderr, "not tested: %s by its library, it is not here\n",
                way->name);
}

/* The stand-ins are based on HiGHS. */
void library_ways_find(void)
{
    const char *highs = getenv("MOIRAI_HIGHS_LIB");
    char *scip = in_python("/lib/python3*/site-packages/*/libscip[-.]*so*");
    char *new_gurobi, *old_gurobi;
    mo_cbc_api cbc;

    if (highs && !*highs)
        highs = NULL;
    new_gurobi = highs ? built("standin_gurobi.so") : NULL;
    old_gurobi = highs ? built("standin_gurobi_old.so") : NULL;
    add_way(&(library_way){ "HiGHS", mo_solver_highs.solve,
                            mo_solver_highs.library_version, highs, true },
            highs != NULL);
    add_way(&(library_way){ "SCIP", mo_solver_scip.solve,
                            mo_solver_scip.library_version, scip, true },
            scip != NULL);
    add_way(&(library_way){ "Gurobi's stand-in", mo_solver_gurobi.solve,
                            mo_solver_gurobi.library_version, new_gurobi,
                            true },
            new_gurobi != NULL);
    add_way(&(library_way){ "Gurobi's old stand-in", mo_solver_gurobi.solve,
                            mo_solver_gurobi.library_version, old_gurobi,
                            true },
            old_gurobi != NULL);
    add_way(&(library_way){ "CBC", mo_solver_cbc.solve,
                            mo_solver_cbc.library_version, NULL, false },
            mo_cbc_open(NULL, &cbc, NULL) == MO_OK);
}

const char *library_real_gurobi(void)
{
    static char *path; /* kept, as the others are */

    if (!path)
        path = in_python(
            "/lib/python3*/site-packages/gurobipy/.libs/libgurobi*.so");
    return path;
}

mo_solver_job library_job(const char *model)
{
    return (mo_solver_job){ .model = model,
                            .folder = ".",
                            .time_s = 3600,
                            .gap = -1,
                            .presolve = true };
}

static void print_into(const char *file)
{
    int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    dup2(fd, 1);
    dup2(fd, 2);
    close(fd);
}

/* Check has handlers that kill the whole test; a child must not start with
 * them. */
static pid_t fork_child(void)
{
    pid_t child;

    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    fflush(NULL);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        print_into("log");
    return child;
}

static void read_last_line(const char *file, char *line, size_t size)
{
    FILE *stream = fopen(file, "r");

    *line = 0;
    ck_assert_ptr_nonnull(stream);
    while (fgets(line, (int) size, stream))
        line[strcspn(line, "\n")] = 0;
    fclose(stream);
}

static void wait_for(pid_t child, int signal_number, double after_s,
                     library_end *end)
{
    int status;

    if (signal_number) {
        sleep_s(after_s);
        kill(child, signal_number);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    end->exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    read_last_line("log", end->last_line, sizeof end->last_line);
}

library_end library_run(const library_way *way, const mo_solver_job *job,
                        int signal_number, double after_s)
{
    mo_solver_install found = { 0 };
    library_end end = { 0 };
    pid_t child;

    remove(MO_SOLVER_LIBRARY_SOLUTION);
    child = fork_child();
    if (child == 0) {
        found.library = way->library ? strdup(way->library) : NULL;
        _exit(mo_library_solve_child(way->solve, &found, job));
    }
    wait_for(child, signal_number, after_s, &end);
    if (access(MO_SOLVER_LIBRARY_SOLUTION, F_OK) == 0)
        MUST(mo_solution_read(MO_SOLVER_LIBRARY_SOLUTION, &end.answer, &err));
    return end;
}

library_end library_query(int (*ask)(const char *library), const char *library)
{
    library_end end = { 0 };
    pid_t child;

    child = fork_child();
    if (child == 0) {
        _exit(ask(library));
    }
    wait_for(child, 0, 0, &end);
    return end;
}

void library_end_clear(library_end *end)
{
    mo_solution_free(end->answer);
    end->answer = NULL;
}

double library_value(const library_end *end, const char *name)
{
    for (int i = 0; end->answer && i < end->answer->n; i++)
        if (strcmp(end->answer->values[i].name, name) == 0)
            return end->answer->values[i].value;
    return NAN;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void write_binaries(FILE *stream, int n)
{
    fputs("Binary\n", stream);
    for (int j = 0; j < n; j++)
        fprintf(stream, " x%d\n", j);
    fputs("End\n", stream);
}

/* In several dimensions, with values close to weights. */
void library_write_knapsack(const char *model)
{
    enum { THINGS = 100, ROWS = 10 };
    static int weight[ROWS][THINGS];
    FILE *stream = fopen(model, "w");
    uint32_t state = 7;

    ck_assert_ptr_nonnull(stream);
    fputs("Minimize\n obj:", stream);
    for (int j = 0; j < THINGS; j++) {
        int sum = 0;

        for (int i = 0; i < ROWS; i++)
            sum += weight[i][j] = 1 + (int) (next_random(&state) % 1000);
        fprintf(stream, " - %d x%d\n", sum / ROWS + (int) (state >> 8) % 500,
                j);
    }
    fputs("Subject To\n", stream);
    for (int i = 0; i < ROWS; i++) {
        int sum = 0;

        fprintf(stream, " c%d:", i);
        for (int j = 0; j < THINGS; sum += weight[i][j++])
            fprintf(stream, " + %d x%d\n", weight[i][j], j);
        fprintf(stream, " <= %d\n", sum / 2);
    }
    write_binaries(stream, THINGS);
    ck_assert_int_eq(fclose(stream), 0);
}

/* Equality constraints that every other item satisfies, and hardly any other
 * choice. */
void library_write_split(const char *model, const char *start)
{
    enum { THINGS = 60, ROWS = 5 };
    FILE *stream = fopen(model, "w"), *told = fopen(start, "w");
    uint32_t state = 11;

    ck_assert(stream && told);
    fputs("Minimize\n obj: x0\nSubject To\n", stream);
    for (int i = 0; i < ROWS; i++) {
        int sum = 0;

        fprintf(stream, " c%d:", i);
        for (int j = 0; j < THINGS; j++) {
            int weight = 1 + (int) (next_random(&state) % 100000);

            sum += j % 2 == 0 ? weight : 0;
            fprintf(stream, " + %d x%d\n", weight, j);
        }
        fprintf(stream, " = %d\n", sum);
    }
    write_binaries(stream, THINGS);
    fputs("=obj= 1\n", told);
    for (int j = 0; j < THINGS; j += 2)
        fprintf(told, "x%d 1\n", j);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(fclose(told), 0);
}
