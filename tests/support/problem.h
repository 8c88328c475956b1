/* SPDX-License-Identifier: Apache-2.0 */
/*
 * problem.h - test fixture: an instance from a short text, or the error with
 * which it was rejected.
 *
 *     problem p = { 0 };
 *
 *     problem_make(&p, "a t.A=1 t.B=2; b t.A=3 t.B=4; a>b bytes=8",
 *                  "A; B model=t4; A-B gbps=8", NULL);
 *     ck_assert_int_eq(mo_instance_p_ns(p.x, 0, B), 2000);
 *     problem_clear(&p);
 *
 * Statements end at ';' and hold no other blanks than those between words.
 *
 * A graph has ops, "a t.A=1 op=Add pin=B", and edges, "a>b bytes=8 c.A.B=5";
 * the words are data by the names of moirai-graph(5), with t. for time_us. and
 * c. for comm_us. in front.  "* t.A=0" and "*>* bytes=8", in front of the
 * others, are defaults.  It is written as GraphML, the first statement on line
 * 2 and each on one of its own, and read as such.
 *
 * A cluster has devices, "B model=t4", links one way, "A>B gbps=8", and links
 * both ways, "A-B gbps=8", with the attributes of moirai-cluster(5); those of
 * the cluster itself are first, "* host_request_us=8".
 */
#ifndef MO_TESTS_SUPPORT_PROBLEM_H
#define MO_TESTS_SUPPORT_PROBLEM_H

#include "cost/instance.h"

typedef struct problem {
    mo_graph *g;
    mo_cluster *cluster;
    mo_profile *profile; /* or NULL */
    const char *cost;    /* set before: as for --cost; NULL is roofline */
    bool explain;        /* set before: with the origins of times */
    mo_instance *x;      /* NULL when it was rejected */
    mo_error err;        /* the reason */
    char missing[4096];  /* reported as without a number: "3: op ...\n" */
    int n_missing;
} problem;

/* The profile is a file's text, or NULL.  The test fails when one of the three
 * cannot be read, or when no instance can be made.  The caller clears p. */
void problem_make(problem *p, const char *graph, const char *cluster,
                  const char *profile);

/* The same when there need be no instance; returns the status. */
mo_status problem_try(problem *p, const char *graph, const char *cluster,
                      const char *profile);

/* The same for an existing graph; p owns it from then on. */
mo_status problem_try_graph(problem *p, mo_graph *g, const char *cluster,
                            const char *profile);

void problem_clear(problem *p);

mo_graph *problem_graph(const char *text);
mo_cluster *problem_cluster(const char *text);
mo_cluster *problem_cluster_read(const char *xml); /* a file's text */

/* Return the files that those read, for other readers; the caller frees
 * them. */
char *problem_graphml(const char *text);
char *problem_cluster_xml(const char *text);

/* Returns the op of that name; the test fails when there is none. */
int problem_op(const problem *p, const char *name);

/* Returns the flow from one op to another; the first, where there are
 * several. */
int problem_flow(const problem *p, const char *from, const char *to);

/* Returns its duration from a device to another. */
int64_t problem_flow_ns(const problem *p, const char *from, const char *to,
                        int from_device, int to_device);

#endif
