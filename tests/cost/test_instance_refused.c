/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of cost/instance.h: inputs that are rejected, and the messages. */
#include "cost/instance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/out.h"
#include "ingest/zoo.h"
#include "tests/support/problem.h"
#include "tests/support/suite.h"

#define NO_TIME "* t.A=0 t.B=0;"
#define LINKED  "A; B; A-B gbps=8"

/* words: all of them are in the error's text, with a '|' between. */
static const struct {
    const char *graph, *cluster, *words;
} refused[] = {
    { "a", "A; B",
      "'a' (no type) has no time on A, B|time_us.<device>|flops and bytes" },
    { "a flops=1 bytes=1 t.A=1", "A; B",
      "device without a speed: B: op 'a' (no type) has no time there|model, or "
      "gflops and memory_bandwidth_gbs" },
    { "* flops=1 bytes=1; a; b; c; d; e", "A gflops=1; B",
      "devices without a speed: A, B: 5 ops have no time there: 'a' (no "
      "type), 'b' (no type), 'c' (no type) and 2 more;" },
    { "a; b; c t.A=1 t.B=1", "A; B",
      "2 ops have no time on A, B: 'a' (no type), 'b' (no type); add" },
    { NO_TIME "a; b; c; a>b; b>c", LINKED,
      "2 edges have no size and no comm_us.A.B: 'a' -> 'b', 'b' -> 'c'; add" },
    { "a t.A=1 pin=B", "A; B", "'a' (no type) has no time on B;" },
    { NO_TIME "a; b; a>b", LINKED,
      "edge 'a' -> 'b' has no size and no comm_us.A.B|bytes|output_bytes" },
    { NO_TIME "a; b; a>b c.A.B=1", LINKED, "'a' -> 'b'|no comm_us.B.A" },

    { NO_TIME "a; b; a>b bytes=8", "A; B", "not connected|A cannot reach B" },
    { NO_TIME "a; b; a>b bytes=8 c.B.A=1", "A; B", "A cannot reach B" },
    { NO_TIME "a; b; a>b bytes=8", "A; B; A>B gbps=8", "B cannot reach A" },

    { "a t.A=100000000000.001 t.B=0", "A; B",
      "'a' takes 1e+11 us on device A|10^11 us" },
    { "a t.A=0 t.B=1e300", "A; B", "'a' takes 1e+300 us on device B" },
    { NO_TIME "a; b; a>b c.A.B=1e12 c.B.A=0", "A; B",
      "'a' -> 'b' takes 1e+12 us from device A to B" },
    { NO_TIME "a; b; a>b bytes=9e18", "A; B; A-B gbps=1e-6",
      "'a' -> 'b' takes|from device A to B|10^11 us" },

    { NO_TIME "a pin=C", "A; B", "'a' is pinned to 'C', which is no device" },
    { NO_TIME "a pin=A colocate=x; b colocate=x; c pin=B colocate=x", "A; B",
      "'a' and 'c'|colocate 'x'|pinned to A and B" },

    { NO_TIME "a memory=101", "A memory_bytes=7; B memory_bytes=100",
      "'a' needs 101 bytes|device B, the largest, has 100" },
    { NO_TIME "a memory=8 pin=A", "A memory_bytes=7; B",
      "'a' needs 8 bytes|device A, to which it is pinned, has 7" },
    { NO_TIME "a memory=8 colocate=x; b pin=A colocate=x",
      "A memory_bytes=7; B",
      "'a' needs 8 bytes|device A, to which it is pinned, has 7" },
    { NO_TIME "a memory=9e18; b memory=9e18", "A; B",
      "'b' needs 9000000000000000000 bytes|2^63" },
};

static void check_words(const char *text, const char *words)
{
    while (*words) {
        size_t n = strcspn(words, "|");
        char word[128];

        snprintf(word, sizeof word, "%.*s", (int) n, words);
        if (!strstr(text, word))
            ck_abort_msg("no '%s' in: %s", word, text);
        words += n + (words[n] == '|');
    }
}

START_TEST(it_is_refused_in_words)
{
    problem p = { 0 };
    mo_status status =
        problem_try(&p, refused[_i].graph, refused[_i].cluster, NULL);

    ck_assert_int_eq(status, strstr(refused[_i].words, ", has ")
                                 ? MO_E_INFEASIBLE
                                 : MO_E_INPUT);
    ck_assert_ptr_null(p.x);
    ck_assert_int_eq(p.n_missing, 0);
    check_words(p.err.text, refused[_i].words);
    problem_clear(&p);
}
END_TEST

START_TEST(a_profile_of_another_machine_is_refused)
{
    problem p = { 0 };
    mo_status status = problem_try(&p, NO_TIME "a", "A; B",
                                   "<profile><op device='X' signature='s' "
                                   "median_us='1'/></profile>");

    ck_assert_int_eq(status, MO_E_INPUT);
    ck_assert_str_eq(p.err.file, "p.xml");
    check_words(p.err.text, "another machine|of X|A, B");
    problem_clear(&p);
}
END_TEST

/* All are reported with their lines, ops and edges together; the error has
 * their number. */
START_TEST(all_that_is_missing_is_reported)
{
    problem p = { 0 };
    mo_status status = problem_try(
        &p, "a t.A=1; b t.A=1 t.B=1; c; a>b bytes=8; a>c bytes=8; b>c", LINKED,
        NULL);

    ck_assert_int_eq(status, MO_E_INPUT);
    ck_assert_int_eq(p.n_missing, 3);
    check_words(p.missing, "2: op 'a' (no type) has no time on B; add|"
                           "\n4: op 'c' (no type) has no time on A, B; add|"
                           "\n7: edge 'b' -> 'c' has no size");
    check_words(p.err.text, "3 ops and edges lack a number|the first: op 'a'");
    problem_clear(&p);
}
END_TEST

START_TEST(one_that_is_missing_is_in_the_error_with_its_line)
{
    problem p = { 0 };

    problem_try(&p, "a t.A=1 t.B=1; b", "A; B", NULL);
    ck_assert_int_eq(p.err.line, 3);
    ck_assert_int_eq(p.n_missing, 0);
    problem_clear(&p);
}
END_TEST

/* "g0; g1; ..."; free() it. */
static char *devices(int n)
{
    mo_out *out;
    size_t size;
    char *text;

    MUST(mo_out_memory(&out, &err));
    for (int k = 0; k < n; k++)
        mo_out_printf(out, "g%d; ", k);
    text = mo_out_take(out, &size);
    mo_out_abandon(out);
    return text;
}

/* The place is that of the first device in the cluster's file. */
START_TEST(a_device_without_a_speed_is_a_mistake_of_the_cluster)
{
    problem p = { 0 };

    problem_try(&p, "* flops=1 bytes=1; a; b", "A model=t4; B; C", NULL);
    ck_assert_str_eq(p.err.file, p.cluster->file);
    ck_assert_int_eq(p.err.line, p.cluster->devices[1].line);
    ck_assert_int_eq(p.n_missing, 0);
    check_words(p.err.text, "devices without a speed: B, C: 2 ops");
    problem_clear(&p);
}
END_TEST

/* The number of lines is limited by the number of distinct causes. */
START_TEST(causes_beyond_the_limit_are_counted)
{
    char *cluster = devices(40);
    mo_out *out;
    size_t size;
    char *graph;
    problem p = { 0 };

    MUST(mo_out_memory(&out, &err));
    for (int k = 0; k < 40; k++)
        mo_out_printf(out, "%so%d pin=g%d", k > 0 ? "; " : "", k, k);
    graph = mo_out_take(out, &size);
    mo_out_abandon(out);
    problem_try(&p, graph, cluster, NULL);
    ck_assert_int_eq(p.n_missing, 16);
    check_words(p.err.text,
                "40 ops and edges lack a number|the first: op 'o0'");
    problem_clear(&p);
    free(graph);
    free(cluster);
}
END_TEST

START_TEST(nobody_needs_to_listen)
{
    static const mo_instance_options silent;
    problem p = { 0 };
    mo_error err;

    problem_try(&p, "a t.A=1; b", "A; B", NULL);
    ck_assert_int_eq(p.n_missing, 2);
    ck_assert_int_eq(mo_instance_make(p.g, p.cluster, &silent, &p.x, &err),
                     MO_E_INPUT);
    ck_assert_str_eq(err.text, p.err.text);
    problem_clear(&p);
}
END_TEST

START_TEST(scaling_reports_what_it_scales_from)
{
    problem p = { .cost = "wave:t4" };

    problem_try(&p, "a", "A model=v100", NULL);
    check_words(p.err.text,
                "no time on t4, from which --cost wave scales; add time_us");
    problem_clear(&p);

    p = (problem){ .cost = "wave:A" };
    problem_try(&p, "* t.A=1 flops=1 bytes=1; a; b", "A; B model=t4", NULL);
    check_words(p.err.text, "device without a speed: A: 2 ops have no time on "
                            "B");
    problem_clear(&p);
}
END_TEST

/* As many names as fit on a line, and how many do not. */
START_TEST(many_devices_are_counted)
{
    char *cluster = devices(300);
    problem p = { 0 };

    problem_try(&p, "a", cluster, NULL);
    check_words(p.err.text, "no time on g0, g1, g2,| more; add");
    problem_clear(&p);
    free(cluster);
}
END_TEST

/* Times must add up: 10^4 of the longest do, one more does not. */
START_TEST(sums_stay_in_range)
{
    char *ops = devices(10000 + _i), *graph = malloc(strlen(ops) + 64);
    problem p = { 0 };

    sprintf(graph, "* t.A=100000000000; %s", ops);
    ck_assert_int_eq(problem_try(&p, graph, "A", NULL),
                     _i == 0 ? MO_OK : MO_E_INPUT);
    if (_i == 1)
        check_words(p.err.text, "10^15 us");
    problem_clear(&p);
    free(graph);
    free(ops);
}
END_TEST

START_TEST(more_times_than_fit_are_refused_at_once)
{
    mo_zoo_config config = { "zoo", 700, 32, 32, 1, 1, "f32" };
    char *cluster = devices(1024);
    problem p = { 0 };
    mo_graph *g;

    MUST(mo_zoo_build(&config, &g, &err));
    ck_assert_int_eq(problem_try_graph(&p, g, cluster, NULL), MO_E_LIMIT);
    check_words(p.err.text, "276500 ops on 1024 devices");
    problem_clear(&p);
    free(cluster);
}
END_TEST

SUITE(instance_refused)
{
    EACH(it_is_refused_in_words, COUNT(refused));
    TEST(a_profile_of_another_machine_is_refused);
    TEST(all_that_is_missing_is_reported);
    TEST(one_that_is_missing_is_in_the_error_with_its_line);
    TEST(a_device_without_a_speed_is_a_mistake_of_the_cluster);
    TEST(causes_beyond_the_limit_are_counted);
    TEST(nobody_needs_to_listen);
    TEST(scaling_reports_what_it_scales_from);
    TEST(many_devices_are_counted);
    EACH(sums_stay_in_range, 2);
    SOME(more_times_than_fit_are_refused_at_once, 1, 0);
}
