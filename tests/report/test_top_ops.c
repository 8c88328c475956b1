/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of report/top_ops.c. */
#include "report/graph_info.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/graphml.h"
#include "tests/support/fp_emulated.h"
#include "tests/support/graphs.h"
#include "tests/support/suite.h"

/* Column by column, as the header puts it. */
static double weight_of(const mo_graph *g, int op, const char *key)
{
    double longest = -1;

    if (strcmp(key, "flops") == 0)
        return g->ops[op].flops;
    if (strcmp(key, "memory_bytes") == 0)
        return (double) g->ops[op].memory_bytes;
    for (int column = 0; column < g->n_time_columns; column++)
        longest = fmax(longest, mo_graph_time_us(g, op, column));
    return longest;
}

/* "d b a": the heaviest ops of g, by the measure that key names. */
static void check_heaviest(const mo_graph *g, const char *key,
                           const char *wanted)
{
    mo_summary summary = { 0 };
    mo_report_top_ops h;
    char found[256] = "";

    MUST(mo_summary_make(g, &summary, &err));
    MUST(mo_report_top_ops_find(g, &summary, &h, &err));
    for (int i = 0; i < h.n; i++) {
        size_t used = strlen(found);

        snprintf(found + used, sizeof found - used, "%s%s", used ? " " : "",
                 g->ops[h.ops[i]].name);
        if (!is_miscalculated())
            ck_assert_double_eq(h.weights[i], weight_of(g, h.ops[i], key));
    }
    ck_assert_pstr_eq(h.by ? h.by->key : NULL, key);
    ck_assert_str_eq(found, wanted);
    mo_summary_clear(&summary);
}

START_TEST(nothing_known_is_nothing_listed)
{
    mo_graph *empty = graph_of(""), *bare = graph_of("a -> b");

    check_heaviest(empty, NULL, "");
    check_heaviest(bare, NULL, "");
    mo_graph_free(bare);
    mo_graph_free(empty);
}
END_TEST

START_TEST(flops_come_first)
{
    mo_graph *g = graph_of("a -> b -> c -> d");

    for (int i = 0; i < 4; i++)
        g->ops[i].memory_bytes = 10 - i;
    g->ops[1].flops = 5;
    g->ops[2].flops = 0;
    g->ops[3].flops = 7;
    check_heaviest(g, "flops", "d b c"); /* those of a are not known */
    mo_graph_free(g);
}
END_TEST

START_TEST(memory_comes_last)
{
    mo_graph *g = graph_of("a -> b -> c");

    g->ops[1].memory_bytes = 9;
    g->ops[2].memory_bytes = 9;
    g->ops[1].flops = 0; /* known, but of no use */
    check_heaviest(g, "memory_bytes", "b c a");
    mo_graph_free(g);
}
END_TEST

/* a has a time of its own on one device, b on the other, c on both, d none. */
static const char timed[] =
    "<graphml><key id='x' for='node' attr.name='time_us.x'/>"
    "<key id='y' for='node' attr.name='time_us.y'/>"
    "<key id='m' for='node' attr.name='memory'/><graph>"
    "<node id='a'><data key='x'>3</data></node>"
    "<node id='b'><data key='y'>8</data><data key='m'>5</data></node>"
    "<node id='c'><data key='x'>9</data><data key='y'>1</data></node>"
    "<node id='d'><data key='m'>99</data></node>"
    "</graph></graphml>";

START_TEST(time_on_the_slowest_device_comes_between)
{
    mo_graph *g;

    MUST(mo_graphml_read_memory("timed", timed, strlen(timed), NULL, &g, &err));
    check_heaviest(g, "time_us", "c b a");
    mo_graph_free(g);
}
END_TEST

/* The default of y is the longest time of a, that of x of b, and c has its own
 * for both: that of z, which is shorter, is left. */
static const char with_defaults[] =
    "<graphml><key id='x' for='node' attr.name='time_us.x'>"
    "<default>6</default></key>"
    "<key id='y' for='node' attr.name='time_us.y'><default>7</default></key>"
    "<key id='z' for='node' attr.name='time_us.z'><default>2</default></key>"
    "<graph><node id='a'><data key='x'>3</data></node>"
    "<node id='b'><data key='y'>5</data></node>"
    "<node id='c'><data key='y'>1</data><data key='x'>0</data></node>"
    "<node id='d'><data key='z'>8</data></node>"
    "</graph></graphml>";

START_TEST(a_default_counts_where_there_is_no_time)
{
    mo_graph *g;

    MUST(mo_graphml_read_memory("defaults", with_defaults,
                                strlen(with_defaults), NULL, &g, &err));
    check_heaviest(g, "time_us", "d a b c");
    mo_graph_free(g);
}
END_TEST

/* Each op on a device of its own: a search over every device for every op would
 * take minutes. */
START_TEST(many_devices_cost_no_more_than_their_times)
{
    enum { N = 100000, ROOM = N * 120 };
    char *xml = malloc(ROOM), *end = xml;
    mo_summary summary = { 0 };
    mo_report_top_ops h;
    mo_graph *g;

    ck_assert_ptr_nonnull(xml);
    end += sprintf(end, "<graphml>");
    for (int i = 0; i < N; i++)
        end += sprintf(end, "<key id='%d' for='node' attr.name='time_us.%d'/>",
                       i, i);
    end += sprintf(end, "<graph>");
    for (int i = 0; i < N; i++)
        end += sprintf(end, "<node id='%d'><data key='%d'>%d</data></node>", i,
                       i, i);
    end += sprintf(end, "</graph></graphml>");
    MUST(mo_graphml_read_memory("many", xml, (size_t) (end - xml), NULL, &g,
                                &err));
    MUST(mo_summary_make(g, &summary, &err));
    MUST(mo_report_top_ops_find(g, &summary, &h, &err));
    ck_assert_str_eq(g->ops[h.ops[0]].name, "99999");
    ck_assert_double_eq(h.weights[0], N - 1);
    mo_summary_clear(&summary);
    mo_graph_free(g);
    free(xml);
}
END_TEST

START_TEST(at_most_ten_are_listed_equal_ones_by_id)
{
    mo_graph *g = graph_of("a -> b -> c -> d -> e -> f -> g -> h -> i -> j "
                           "-> k -> l");

    for (int i = 0; i < g->n_ops; i++)
        g->ops[i].memory_bytes = i < 6 ? 1 : 2;
    check_heaviest(g, "memory_bytes", "g h i j k l a b c d");
    mo_graph_free(g);
}
END_TEST

SUITE(top_ops)
{
    TEST(nothing_known_is_nothing_listed);
    TEST(flops_come_first);
    TEST(memory_comes_last);
    TEST(time_on_the_slowest_device_comes_between);
    TEST(a_default_counts_where_there_is_no_time);
    SOME(many_devices_cost_no_more_than_their_times, 1, 0);
    TEST(at_most_ten_are_listed_equal_ones_by_id);
}
