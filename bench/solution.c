/*
 * bench/solution - answers of five million columns, about 100 MB each, read in
 * every layout that solvers write on their own, against counting the lines of
 * the same file, as wc -l does.
 *
 * Time is the processor's, the best of three: page faults and reading count,
 * waiting for others does not.  Exits with 1 when a layout of lines
 * is read at less than 200 MB/s.
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
#include "solvers/solution.h"

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

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
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

/* What wc -l does.  Returns its seconds. */
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

static mo_status read_once(double *seconds, mo_error *err)
{
    double begin = seconds_now();
    mo_solution *solution;
    mo_status status = mo_solution_read(file, &solution, err);

    if (status == MO_OK) {
        *seconds = seconds_now() - begin;
        if (solution->n < N_COLUMNS)
            status = mo_fail(err, MO_E_INPUT, "only %d columns", solution->n);
        mo_solution_free(solution);
    }
    return status;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static mo_status measure(int layout, bool *failed, mo_error *err)
{
    double reading = 1e9, counting = 1e9, seconds = 0, mb;
    size_t size = 0;
    mo_status status = write_file(layout, err);

    for (int run = 0; run < N_RUNS && status == MO_OK; run++) {
        counting = least(counting, count_lines(&size));
        status = read_once(&seconds, err);
        reading = least(reading, seconds);
    }
    unlink(file);
    if (status != MO_OK)
        return status;
    mb = (double) size / 1e6;
    printf("%-12s %4.0f MB: %5.0f MB/s", layouts[layout].name, mb,
           mb / reading);
    if (layouts[layout].of_lines) {
        bool slow = mb / reading < MIN_MB_PER_S;

        printf(", %.2f of counting its lines%s", counting / reading,
               slow ? "  TOO SLOW" : "");
        *failed |= slow;
    }
    putchar('\n');
    return MO_OK;
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
