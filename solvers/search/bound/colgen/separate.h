/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timed_crowd.h - goods that ways, by their weights, use more of than there is.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_SEPARATE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_SEPARATE_H

#include "solvers/search/bound/colgen/master_row.h"

typedef struct mo_cg_usage {
    const mo_cg_problem *c;
    double *load; /* by resource and cell; 1: all of it is used */
} mo_cg_usage;

mo_status mo_cg_usage_new(const mo_cg_problem *c, mo_cg_usage **crowd,
                          mo_error *err);
void mo_cg_usage_free(mo_cg_usage *crowd);

/* Lays the ways of a pool on the cells. */
void mo_cg_usage_load(mo_cg_usage *crowd, const mo_cg_column_pool *pool);

/* The cells of a resource, one after the other, that have most above what they
 * can hold, counted in cells; what is found counts as just full from then on.
 */
double mo_cg_separate_capacity(mo_cg_usage *crowd, int resource,
                               mo_cg_row *worst);

/* The tick at which most of a node's equals on a device have begun to read the
 * shared tensor before it has come; offset: of the node's cells there. */
double mo_cg_separate_release(const mo_cg_problem *c,
                              const mo_cg_column_pool *pool, int node,
                              int device, int64_t offset, mo_cg_row *worst);

#endif
