/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/sink - benchmark of the model writers: a synthetic model of ten
 * million rows through each sink.
 *
 * The rows are the most frequent ones of a large network: the order of two ops
 * on one device. The generation of rows is measured with an empty sink and
 * subtracted; CPU time. Exits with 1 when an LP file is written with less than
 * MIN_LP_SPEED, or counting takes more than half of writing.
 */
#include <config.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/write/count_sink.h"
#include "models/write/lp_writer.h"
#include "models/write/mps_writer.h"

#define MIN_LP_SPEED 0.8 /* bytes per nanosecond */
#define MAX_COUNTING 0.5

enum { OPS = 3200, DEVICES = 4, PAIRS = OPS * (OPS - 1) / 2 };

static double seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static int declare(mo_sink *sink, mo_variable_role role, int a, int b,
                   mo_variable_kind kind)
{
    return mo_sink_column(sink, &(mo_variable){ .role = role,
                                                .number = { a, b },
                                                .kind = kind,
                                                .upper = INFINITY });
}

/* w, then x by op and device, s by op, o by pair. */
static void send_columns(mo_sink *sink)
{
    declare(sink, MO_VARIABLE_ROLE_MAKESPAN, 0, 0, MO_VARIABLE_CONTINUOUS);
    for (int i = 0; i < OPS; i++)
        for (int k = 0; k < DEVICES; k++)
            declare(sink, MO_VARIABLE_ROLE_PLACE, i, k, MO_VARIABLE_BINARY);
    for (int i = 0; i < OPS; i++)
        declare(sink, MO_VARIABLE_ROLE_START, i, 0, MO_VARIABLE_CONTINUOUS);
    for (int i = 0; i < OPS; i++)
        for (int j = i + 1; j < OPS; j++)
            declare(sink, MO_VARIABLE_ROLE_ORDER, i, j, MO_VARIABLE_BINARY);
}

static int place_of(int op, int device)
{
    return 1 + op * DEVICES + device;
}

static int start_of(int op)
{
    return 1 + OPS * DEVICES + op;
}

/* Big-M row: one op follows the other, unless the binary variable relaxes it;
 * with the times on every device, for a typical length. */
static void send_order(mo_sink *sink, int i, int j, int order, double sign)
{
    double big_m = 900 + (i * 7 + j * 13) % 1000 * 0.125;

    mo_sink_term(sink, start_of(j), 1);
    mo_sink_term(sink, start_of(i), -1);
    for (int k = 0; k < DEVICES; k++)
        mo_sink_term(sink, place_of(i, k), -1.25 * (1 + (i + k) % 50));
    mo_sink_term(sink, order, sign * big_m);
    mo_sink_row(sink, MO_GE, sign < 0 ? -big_m : 0);
}

static void send_rows(mo_sink *sink)
{
    int order = start_of(OPS);

    mo_sink_family(sink, "order");
    for (int i = 0; i < OPS; i++)
        for (int j = i + 1; j < OPS; j++, order++) {
            send_order(sink, i, j, order, -1);
            send_order(sink, j, i, order, 1);
        }
}

/* Sends the model, ends and frees the sink; returns the seconds. */
static double time_sink(mo_sink *sink)
{
    double begin = seconds_now();

    for (int pass = 0; pass < sink->kind->passes; pass++) {
        mo_sink_begin(sink, pass);
        send_columns(sink);
        mo_sink_columns_end(sink);
        send_rows(sink);
    }
    if (mo_sink_end(sink, NULL) != MO_OK)
        exit(1);
    mo_sink_free(sink);
    return seconds_now() - begin;
}

static double time_nothing(void)
{
    static const mo_sink_kind kind = { .passes = 1, .wants_rows = true };
    mo_sink *sink = mo_sink_new(&kind, sizeof *sink, NULL);

    return sink ? time_sink(sink) : 0;
}

static double time_counting(mo_model_counts *count)
{
    mo_sink *sink;

    return mo_count_sink_new(count, &sink, NULL) == MO_OK ? time_sink(sink) : 0;
}

static mo_out *open_null(void)
{
    mo_out *out;

    if (mo_out_open("/dev/null", &out, NULL) != MO_OK)
        exit(1);
    return out;
}

static double time_lp(void)
{
    mo_out *out = open_null();
    mo_sink *sink;
    double seconds =
        mo_lp_writer_new(out, NULL, &sink, NULL) == MO_OK ? time_sink(sink) : 0;

    mo_out_commit(out, NULL);
    return seconds;
}

static double time_mps(void)
{
    mo_out *out = open_null();
    mo_sink *sink;
    double seconds = mo_mps_writer_new(out, NULL, &sink, NULL) == MO_OK
                         ? time_sink(sink)
                         : 0;

    mo_out_commit(out, NULL);
    return seconds;
}

static void print_sink(const char *what, double seconds, int64_t bytes)
{
    printf("%-20s %6.3f s, %5.0f MB/s\n", what, seconds,
           1e-6 * (double) bytes / seconds);
}

int main(void)
{
    mo_model_counts count;
    double nothing = time_nothing();
    double counting = time_counting(&count) - nothing;
    double lp = time_lp() - nothing;

    printf("%.1f million rows, %.1f million columns, %.1f million entries, "
           "made in %.3f s\n",
           1e-6 * (double) count.rows,
           1e-6 * (double) (count.binaries + count.continuous),
           1e-6 * (double) count.nonzeros, nothing);
    print_sink("counting, as LP", counting, count.lp_bytes);
    print_sink("LP", lp, count.lp_bytes);
    print_sink("MPS", time_mps() - 2 * nothing, count.mps_bytes);
    return 1e-9 * (double) count.lp_bytes / lp < MIN_LP_SPEED ||
           counting > MAX_COUNTING * lp;
}
