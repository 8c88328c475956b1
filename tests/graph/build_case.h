/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_case.h - wrappers of graph/build.h that fail the test on an error.
 */
#ifndef MO_TESTS_GRAPH_BUILD_CASE_H
#define MO_TESTS_GRAPH_BUILD_CASE_H

#include "graph/build.h"

mo_builder *build_new(void);
int build_slot(mo_builder *b, const char *name, int line);
mo_op *build_op(mo_builder *b, const char *name, int line);
const char *build_text(mo_builder *b, const char *text);
int build_port(mo_builder *b, const char *name);

/* Returns an edge with unknown ports and bytes. */
mo_builder_edge build_edge(mo_builder *b, const char *from, const char *to);
int build_add(mo_builder *b, mo_builder_edge edge);

/* Frees the builder; the graph is the caller's. */
mo_graph *build_finish(mo_builder *b);

#endif
