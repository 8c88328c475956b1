/*
 * instance_parts.h - what the steps of mo_instance_make share; for this room
 * only.
 */
#ifndef MO_COST_INSTANCE_PARTS_H
#define MO_COST_INSTANCE_PARTS_H

#include "cost/instance.h"
#include "cost/route.h"

typedef struct mo_maker {
    const mo_graph *g;
    const mo_cluster *cluster;
    const mo_instance_options *options;
    mo_routes *routes;
    mo_instance *x;
    int n_missing;
    char first_missing[256];
} mo_maker;

/* Reports something that lacks a number; mo_maker_complete fails if anything
 * was. */
void mo_maker_miss(mo_maker *m, const char *format, ...) MO_PRINTF(2, 3);
mo_status mo_maker_complete(const mo_maker *m, const char *advice,
                            mo_error *err);

/* Each fills its part of m->x. */
mo_status mo_maker_flows(mo_maker *m, mo_error *err);
mo_status mo_maker_times(mo_maker *m, mo_error *err);
mo_status mo_maker_comms(mo_maker *m, mo_error *err);
mo_status mo_maker_bindings(mo_maker *m, mo_error *err);
mo_status mo_maker_memory(mo_maker *m, mo_error *err);

/* The column for a device: by its id, else by its model, else -1. */
int mo_maker_column(const mo_column *columns, int n, const char *key);

/* Microseconds as nanoseconds, to the nearest; -1 when out of range. */
int64_t mo_maker_ns(double us);

#endif
