/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/solution - benchmark of the readers of solution files: five million
 * columns, about 100 MB, in every solver's format, compared with wc -l and
 * cat.
 *
 * The speed is by CPU time, the best of three: page faults and reading count,
 * waiting does not. Against cat it is by wall time; the file is in the page
 * cache for both. Exits with 1 when a line-based format is read at less than
 * 200 MB/s.
 */
#include <config.h>

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/out.h"
#include "solvers/formats/solution.h"

#define MIN_MB_PER_S 200.0

enum { N_COLUMNS = 5000000, N_RUNS = 3 };

static const char file[] = "bench-solution.tmp";

static const struct {
    const char *name, *head, *line, *foot;
    bool of_lines;
} layouts[] = {
    { "miplib", "=obj= 30\n", "x_%d_%d %s\n", "", true },
    { "scip", "solution status: optimal solution found\nobjective value: 30\n",
      "x_%d_%d              %s \t(obj:0)\n", "", true },
    { "highs",
      "Model status\nOptimal\n\n# Primal solution values\nFeasible\n"
      "Objective 30\n# Columns 5000000\n",
      "x_%d_%d %s\n", "# Rows 0\n", true },
    { "cbc", "Optimal - objective value 30\n",
      "      1 x_%d_%d         %s             0\n", "", true },
    { "gurobi-json", "{ \"SolutionInfo\": { \"Status\": 2 }, \"Vars\": [",
      "{ \"VarName\": \"x_%d_%d\", \"X\": %s},",
      "{ \"VarName\": \"w\", \"X\": 30}]}", false },
};

enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

/* The best of the runs, in seconds. */
typedef struct timing {
    double reading, counting; /* CPU time */
    double reading_wall, cat_wall;
} timing;

static double clock_s(clockid_t id)
{
    struct timespec now;

    clock_gettime(id, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static double seconds_now(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static mo_status write_file(int layout, mo_error *err)
{
    static const char *const values[] = { "0", "1", "0.9999999999999",
                                          "1234.5678" };
    mo_out *out = NULL;
    mo_status status = mo_out_open(file, &out, err);

    if (status != MO_OK)
        return status;
    mo_out_text(out, layouts[layout].head);
    for (int i = 0; i < N_COLUMNS; i++) {
        char line[128];
        int n = snprintf(line, sizeof line, layouts[layout].line, i / 4, i % 4,
                         values[i % 4]);

        mo_out_bytes(out, line, (size_t) n);
    }
    mo_out_text(out, layouts[layout].foot);
    return mo_out_commit(out, err);
}

/* Counts lines as wc -l does. Returns its seconds. */
static double count_lines(size_t *size)
{
    static char block[1 << 18];
    int fd = open(file, O_RDONLY);
    double begin = seconds_now();
    size_t lines = 0;
    ssize_t got;

    *size = 0;
    while (fd >= 0 && (got = read(fd, block, sizeof block)) > 0) {
        for (char *at = block, *end = block + got;
             (at = memchr(at, '\n', (size_t) (end - at))); at++)
            lines++;
        *size += (size_t) got;
    }
    close(fd);
    return lines > 0 ? seconds_now() - begin : 0;
}

/* Returns a very large time if cat fails. */
static double cat_wall_s(void)
{
    char command[sizeof file + 32];
    double begin = clock_s(CLOCK_MONOTONIC);

    snprintf(command, sizeof command, "cat %s >/dev/null", file);
    return system(command) == 0 ? clock_s(CLOCK_MONOTONIC) - begin : 1e9;
}

static mo_status read_once(timing *best, mo_error *err)
{
    double begin = seconds_now(), begin_wall = clock_s(CLOCK_MONOTONIC);
    mo_solution *solution;
    mo_status status = mo_solution_read(file, &solution, err);

    if (status == MO_OK) {
        best->reading = least(best->reading, seconds_now() - begin);
        best->reading_wall =
            least(best->reading_wall, clock_s(CLOCK_MONOTONIC) - begin_wall);
        if (solution->n < N_COLUMNS)
            status = mo_fail(err, MO_E_INPUT, "only %d columns", solution->n);
        mo_solution_free(solution);
    }
    return status;
}

/* Prints one format; returns whether it is too slow. */
static bool print_format(int layout, const timing *best, double mb)
{
    bool of_lines = layouts[layout].of_lines;
    bool slow = of_lines && mb / best->reading < MIN_MB_PER_S;

    printf("%-12s %4.0f MB: %5.0f MB/s", layouts[layout].name, mb,
           mb / best->reading);
    if (of_lines)
        printf(", %.2f of counting its lines", best->counting / best->reading);
    printf(", %.2f of cat%s\n", best->cat_wall / best->reading_wall,
           slow ? "  TOO SLOW" : "");
    return slow;
}

static mo_status measure(int layout, bool *failed, mo_error *err)
{
    timing best = { 1e9, 1e9, 1e9, 1e9 };
    size_t size = 0;
    mo_status status = write_file(layout, err);

    for (int run = 0; run < N_RUNS && status == MO_OK; run++) {
        best.counting = least(best.counting, count_lines(&size));
        best.cat_wall = least(best.cat_wall, cat_wall_s());
        status = read_once(&best, err);
    }
    unlink(file);
    if (status == MO_OK && print_format(layout, &best, (double) size / 1e6))
        *failed = true;
    return status;
}

int main(void)
{
    mo_error err = { 0 };
    bool failed = false;

    for (int layout = 0; layout < N_LAYOUTS; layout++)
        if (measure(layout, &failed, &err) != MO_OK) {
            fprintf(stderr, "bench/solution: %s\n", err.text);
            return EXIT_FAILURE;
        }
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
