/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_write - wall time and peak memory of the graph reader, the writer, or
 * any command.
 *
 *     read_write read GRAPH          seconds to read it, peak memory in kB
 *     read_write write GRAPH FILE    seconds to write it, once it is read
 *     read_write run COMMAND...      seconds of the command, its peak memory in
 *                                    kB, its CPU time in seconds
 *
 * Used by read_write.sh, emit.sh and solve.sh.
 */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ingest/graphml.h"
#include "ingest/read.h"

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + (double) t.tv_nsec * 1e-9;
}

static long peak_kb(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static mo_status time_read(const char *path, mo_graph **g, mo_error *err)
{
    double start = now();
    mo_status status = mo_read_graph(path, NULL, g, NULL, err);

    if (status == MO_OK)
        printf("%.3f %ld\n", now() - start, peak_kb());
    return status;
}

static mo_status time_write(const mo_graph *g, const char *path, mo_error *err)
{
    double start = now();
    mo_out *out;
    mo_status status = mo_out_open(path, &out, err);

    if (status != MO_OK)
        return status;
    mo_graphml_write(g, out);
    status = mo_out_commit(out, err);
    if (status == MO_OK)
        printf("%.3f\n", now() - start);
    return status;
}

static double seconds(struct timeval time)
{
    return (double) time.tv_sec + 1e-6 * (double) time.tv_usec;
}

static int time_command(char **argv)
{
    double start = now();
    pid_t child = fork();
    struct rusage usage;
    int status;

    if (child == 0) {
        execvp(argv[0], argv);
        perror(argv[0]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child)
        return EXIT_FAILURE;
    printf("%.4f %ld %.4f\n", now() - start, usage.ru_maxrss,
           seconds(usage.ru_utime) + seconds(usage.ru_stime));
    return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int fail(const mo_error *err)
{
    char text[2000];

    fprintf(stderr, "read_write: %s\n",
            mo_error_format(err, text, sizeof text));
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    mo_error err = { 0 };
    mo_graph *g = NULL;
    mo_status status;

    if (argc > 2 && strcmp(argv[1], "run") == 0)
        return time_command(argv + 2);
    if (argc == 3 && strcmp(argv[1], "read") == 0) {
        status = time_read(argv[2], &g, &err);
    } else if (argc == 4 && strcmp(argv[1], "write") == 0) {
        status = mo_read_graph(argv[2], NULL, &g, NULL, &err);
        if (status == MO_OK)
            status = time_write(g, argv[3], &err);
    } else {
        status = mo_fail(&err, MO_E_USAGE,
                         "see the head of bench/"
                         "read_write.c");
    }
    mo_graph_free(g);
    return status == MO_OK ? EXIT_SUCCESS : fail(&err);
}
