/*
 * heaviest.h - the ops that weigh most, by the best measure a graph has.
 *
 * That is flops where any are known; else the time somebody measured, on the
 * slowest device; else memory.
 */
#ifndef MO_REPORT_TOP_OPS_H
#define MO_REPORT_TOP_OPS_H

#include "base/error.h"
#include "graph/graph.h"
#include "graph/summary.h"

enum { MO_HEAVIEST_MAX = 10 };

typedef struct mo_weighing {
    const char *key;   /* "flops": as JSON calls it */
    const char *title; /* as a person calls it */
    const char *(*show)(double weight, char *text); /* report/format_units.h */
} mo_weighing;

typedef struct mo_heaviest {
    const mo_weighing *by; /* NULL when nothing is known: then n is 0 */
    int ops[MO_HEAVIEST_MAX];
    double weights[MO_HEAVIEST_MAX];
    int n;
} mo_heaviest;

/* The heaviest first, equal ones by id; those by flops as the summary of g
 * has them.  O(ops + measurements + columns log columns); fails only for want of
 * memory. */
mo_status mo_heaviest_find(const mo_graph *g, const mo_summary *summary,
                           mo_heaviest *heaviest, mo_error *err);

#endif
