/* SPDX-License-Identifier: Apache-2.0 */
/* tags: threads */
/* Tests of exec/measure/bench.h: rows, sizes and times of messages. */
#include <config.h>

#include "exec/measure/bench.h"

#include <stdio.h>

#include "tests/exec/support/manual_plan.h"
#include "tests/support/suite.h"

static const char *const ids[] = { "A", "B", "C" };
static const mo_backend *const backends[] = { &manual_backend, &manual_backend,
                                              &manual_backend };
static const mo_backend_unit_options units[3];
static const int ranks[3];

static void measure(int n_devices, const mo_stop *stop,
                    mo_measure_link_row **rows, int *n_rows)
{
    mo_run_plan_options run = { .transport = &mo_transport_local,
                                .backends = backends,
                                .units = units,
                                .rank_of = ranks,
                                .stop = stop };
    mo_measure_links_options options = {
        .n_devices = n_devices, .ids = ids, .run = &run, .repeats = 5
    };

    MUST(mo_transport_local.open(&(mo_transport_world_options){ 0 }, &run.world,
                                 &err));
    MUST(mo_measure_links(&options, rows, n_rows, &err));
    mo_transport_local.close(run.world);
}

START_TEST(every_pair_and_size_has_a_row)
{
    mo_measure_link_row *rows;
    int n_rows, n = 0;

    measure(3, NULL, &rows, &n_rows);
    ck_assert_int_eq(n_rows, 6 * 8);
    for (int from = 0; from < 3; from++)
        for (int to = 0; to < 3; to++)
            for (int k = 0; from != to && k < 8; k++, n++) {
                ck_assert_int_eq(rows[n].from, from);
                ck_assert_int_eq(rows[n].to, to);
                ck_assert_int_eq(rows[n].bytes, 1 << (10 + 2 * k));
                ck_assert_int_eq(rows[n].count,
                                 rows[n].bytes <= 1 << 20 ? 5 : 2);
                ck_assert_str_eq(rows[n].path, "local");
                ck_assert_int_gt(rows[n].median_ns, 0);
                ck_assert_int_ge(rows[n].spread_ns, 0);
            }
    free(rows);
}
END_TEST

/* No memory is as fast as that: 16 MiB at 1000 GB/s. */
START_TEST(large_messages_take_their_time)
{
    mo_measure_link_row *rows;
    int n_rows;

    measure(2, NULL, &rows, &n_rows);
    for (int i = 7; i < n_rows; i += 8)
        ck_assert_int_gt(rows[i].median_ns, 16777);
    free(rows);
}
END_TEST

START_TEST(one_device_has_no_links)
{
    mo_measure_link_row *rows;
    int n_rows;

    measure(1, NULL, &rows, &n_rows);
    ck_assert_int_eq(n_rows, 0);
    free(rows);
}
END_TEST

START_TEST(stopped_there_are_no_rows)
{
    mo_measure_link_row *rows;
    mo_stop stop;
    int n_rows;

    mo_stop_after(&stop, 0);
    mo_stop_request(&stop);
    measure(2, &stop, &rows, &n_rows);
    ck_assert_ptr_null(rows);
}
END_TEST

SUITE(bench_link)
{
    TEST(every_pair_and_size_has_a_row);
    TEST(large_messages_take_their_time);
    TEST(one_device_has_no_links);
    TEST(stopped_there_are_no_rows);
}
