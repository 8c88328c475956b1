/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graphs.h - test graphs: parsed from one line of text, or random.
 *
 *     mo_graph *g = graph_of("a:conv -> b:bn -> c:relu; a -> c");
 *     ck_assert_int_eq(g->n_edges, 3);
 *     mo_graph_free(g);
 *
 * Statements end at ';' or at a line's end and count lines by the latter, for
 * errors.  A statement is a name or a chain of names with "->" between them; a
 * name is anything without white space, ';', ':' or "->".  "name:type" gives
 * the type where the op is named first.  A name with a '$' in front, "$w", is a
 * constant.  An empty text is an empty graph.
 */
#ifndef MO_TESTS_SUPPORT_GRAPHS_H
#define MO_TESTS_SUPPORT_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/build.h"
#include "graph/graph.h"

/* Returns the graph of a text, which the caller frees; fails the test when it
 * is invalid. */
mo_graph *graph_of(const char *text);

/* The same for texts that may be invalid.  Errors name the file "text". */
mo_status graph_parse(const char *text, mo_graph **graph, mo_error *err);

/*
 * Returns a graph with n_ops ops, the same for the same seed on any machine.
 * Some are chains and some dense, some have several components; there are
 * parallel edges, tensors with several consumers, ports with numbers and with
 * names, constants and measured times, all of them in some graphs and not in
 * others.
 */
mo_graph *random_graph(unsigned seed, int n_ops);

/* The same graph, passed to the builder in an order that depends on
 * permutation: ops and edges mixed, lines all different.  random_graph is
 * permutation 0. */
mo_graph *random_graph_permuted(unsigned seed, int n_ops, unsigned permutation);

/* Returns the id of the op of that name; fails the test when there is none. */
int id_of(const mo_graph *g, const char *name);

/* Returns "a c d" for the names of those ids; valid until the next call. */
const char *names_of(const mo_graph *g, const int *ids, int count);

/* Transitive closure by definition: paths[a * n_ops + b]; every op reaches
 * itself.  Takes n_ops^3 time; the caller frees it. */
bool *paths_of(const mo_graph *g);

/* Random numbers for tests: the same everywhere, unlike rand(). */
typedef struct test_random {
    uint64_t state;
} test_random;

int random_below(test_random *random, int bound); /* in [0, bound) */

#endif
