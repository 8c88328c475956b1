/*
 * describe.h - a graph told to a person, a program or Graphviz.
 */
#ifndef MO_REPORT_DESCRIBE_H
#define MO_REPORT_DESCRIBE_H

#include "base/out.h"
#include "graph/graph.h"
#include "graph/summary.h"

typedef struct mo_description {
    const char *file;        /* what the user called it */
    const char *format;      /* "GraphML", "OpenVINO IR" */
    const mo_graph *graph;
    const mo_summary *summary;
    uint64_t digest;
} mo_description;

void mo_describe_text(const mo_description *description, mo_out *out);
void mo_describe_json(const mo_description *description, mo_out *out);
void mo_describe_dot(const mo_description *description, mo_out *out);

#endif
