/*
 * timed_crowd.h - goods that ways, by their weights, use more of than there is.
 */
#ifndef MO_SOLVERS_SEARCH_BOUND_COLGEN_SEPARATE_H
#define MO_SOLVERS_SEARCH_BOUND_COLGEN_SEPARATE_H

#include "solvers/search/bound/colgen/master_row.h"

typedef struct mo_timed_crowd {
    const mo_timed_case *c;
    double *load; /* by resource and cell; 1: all of it is used */
} mo_timed_crowd;

mo_status mo_timed_crowd_new(const mo_timed_case *c, mo_timed_crowd **crowd,
                             mo_error *err);
void mo_timed_crowd_free(mo_timed_crowd *crowd);

/* Lays the ways of a pool on the cells. */
void mo_timed_crowd_lay(mo_timed_crowd *crowd, const mo_timed_pool *pool);

/* The cells of a resource, one after the other, that have most above what they
 * can hold, counted in cells; what is found counts as just full from then on.
 */
double mo_timed_crowd_stretch(mo_timed_crowd *crowd, int resource,
                              mo_timed_good *worst);

/* The tick at which most of a node's equals on a device have begun to read the
 * shared tensor before it has come; offset: of the node's cells there. */
double mo_timed_crowd_gate(const mo_timed_case *c, const mo_timed_pool *pool,
                           int node, int device, int64_t offset,
                           mo_timed_good *worst);

#endif
