/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of ingest/workload.h: files of moirai-workload(5). */
#include "ingest/workload.h"

#include <sys/stat.h>

#include "graph/phases.h"
#include "tests/support/graphs.h"
#include "tests/support/problem.h"
#include "tests/support/scratch.h"
#include "tests/support/suite.h"

static void write_graph(const char *file, const char *text)
{
    char *graphml = problem_graphml(text);

    scratch_write(file, graphml);
    free(graphml);
}

static mo_status read_text(const char *text, mo_graph **g, mo_error *err)
{
    write_graph("one.graphml", "a; b; a>b bytes=8");
    write_graph("two.v1.graphml", "a");
    scratch_write("w.xml", text);
    return mo_read_graph("w.xml", NULL, g, NULL, err);
}

START_TEST(phases_have_names_and_weights)
{
    mo_graph *g = NULL;

    MUST(read_text("<workload name='chat'><phase graph='one.graphml'/>"
                   "<phase graph='./two.v1.graphml' weight='128'/>"
                   "<phase name='x y' graph='one.graphml' weight='2'/>"
                   "</workload>",
                   &g, &err));
    ck_assert_str_eq(g->name, "chat");
    ck_assert_int_eq(g->phases->n, 3);
    ck_assert_str_eq(g->phases->items[0].name, "one");
    ck_assert_int_eq(g->phases->items[0].weight, 1);
    ck_assert_str_eq(g->phases->items[1].name, "two");
    ck_assert_int_eq(g->phases->items[1].weight, 128);
    ck_assert_str_eq(g->phases->items[2].name, "x y");
    ck_assert_int_ge(mo_graph_find(g, "b@x y"), 0);
    mo_graph_free(g);
}
END_TEST

START_TEST(files_are_relative_to_the_workload)
{
    mo_graph *g = NULL;

    ck_assert_int_eq(mkdir("folder", 0700), 0);
    write_graph("folder/here.graphml", "a");
    scratch_write("folder/w.xml",
                  "<workload><phase graph='here.graphml'/></workload>");
    MUST(mo_read_graph("folder/w.xml", NULL, &g, NULL, &err));
    ck_assert_int_eq(g->n_ops, 1);
    mo_graph_free(g);
}
END_TEST

/* Two files that differ in a weight only are different graphs. */
START_TEST(weights_are_part_of_the_digest)
{
    uint64_t digests[2];

    for (int i = 0; i < 2; i++) {
        mo_graph *g = NULL;
        char text[200];

        snprintf(text, sizeof text,
                 "<workload><phase graph='one.graphml' weight='%d'/>"
                 "<phase graph='two.v1.graphml'/></workload>",
                 1 + i);
        MUST(read_text(text, &g, &err));
        MUST(mo_graph_digest(g, &digests[i], &err));
        mo_graph_free(g);
    }
    ck_assert(digests[0] != digests[1]);
}
END_TEST

static const struct {
    const char *text, *fault;
} faults[] = {
    { "<workload/>", "has no phase" },
    { "<workload><phase/></workload>", "has no graph" },
    { "<workload><phase graph='-'/></workload>", "no standard input" },
    { "<workload><phase graph='none.graphml'/></workload>", "none.graphml" },
    { "<workload><phase graph='w.xml'/></workload>", "is a workload itself" },
    { "<workload size='1'/>", "'size' is unknown" },
    { "<workload><stage graph='one.graphml'/></workload>",
      "'stage' is unknown" },
    { "<workload><phase graph='one.graphml'><phase/></phase></workload>",
      "'phase' is unknown" },
    { "<workload><phase graph='one.graphml' times='1'/></workload>",
      "'times' is unknown" },
    { "<workload><phase graph='one.graphml' weight='0'/></workload>",
      "weight '0' is no number of runs" },
    { "<workload><phase graph='one.graphml' weight='0.5'/></workload>",
      "weight '0.5'" },
    { "<workload><phase graph='one.graphml' weight='9999999999'/></workload>",
      "weight '9999999999'" },
    { "<workload><phase graph='one.graphml'/><phase graph='one.graphml'/>"
      "</workload>",
      "two phases are called 'one'" },
};

START_TEST(mistakes_are_named)
{
    mo_graph *g = NULL;
    mo_error err = { 0 };
    char text[2048];

    ck_assert_int_ne(read_text(faults[_i].text, &g, &err), MO_OK);
    mo_error_format(&err, text, sizeof text);
    ck_assert_msg(strstr(text, faults[_i].fault) != NULL, "%s", text);
}
END_TEST

SUITE(workload_read)
{
    tcase_add_unchecked_fixture(tests, scratch_enter, scratch_leave);
    TEST(phases_have_names_and_weights);
    TEST(files_are_relative_to_the_workload);
    TEST(weights_are_part_of_the_digest);
    EACH(mistakes_are_named, COUNT(faults));
}
