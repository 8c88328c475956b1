/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_case.h - the calls of graph/build.h, without their errors: the test
 * fails where one is refused.
 */
#ifndef MO_TESTS_GRAPH_BUILD_CASE_H
#define MO_TESTS_GRAPH_BUILD_CASE_H

#include "graph/build.h"

mo_builder *build_new(void);
int build_slot(mo_builder *b, const char *name, int line);
mo_op *build_op(mo_builder *b, const char *name, int line);
const char *build_text(mo_builder *b, const char *text);
int build_port(mo_builder *b, const char *name);

/* Of ports and bytes that nobody knows. */
mo_builder_edge build_edge(mo_builder *b, const char *from, const char *to);
int build_add(mo_builder *b, mo_builder_edge edge);

/* Frees the builder; the graph is the caller's. */
mo_graph *build_finish(mo_builder *b);

#endif
