/*
 * timed_crowd.h - stretches of time in which a resource has more to do than it
 * can.
 */
#ifndef MO_SEARCH_TIMED_CROWD_H
#define MO_SEARCH_TIMED_CROWD_H

#include "solvers/search/timed_pool.h"

typedef struct mo_timed_crowd {
    const mo_timed_case *c;
    double *load; /* by resource and cell; 1: all of it is used */
} mo_timed_crowd;

mo_status mo_timed_crowd_new(const mo_timed_case *c, mo_timed_crowd **crowd,
                             mo_error *err);
void mo_timed_crowd_free(mo_timed_crowd *crowd);

void mo_timed_crowd_empty(mo_timed_crowd *crowd);

/* Lays a pattern on the cells, so many times. */
void mo_timed_crowd_add(mo_timed_crowd *crowd, const mo_timed_pattern *pattern,
                        double times);

/* The cells of a resource, one after the other, that have most above what they
 * can hold, counted in cells; what is found counts as just full from then on.
 */
double mo_timed_crowd_worst(mo_timed_crowd *crowd, int resource,
                            mo_timed_interval *worst);

#endif
