/*
 * instance.h - an instance told to a person (sums) or to a program (all of it).
 */
#ifndef MO_REPORT_INSTANCE_H
#define MO_REPORT_INSTANCE_H

#include "base/out.h"
#include "cost/instance.h"

typedef struct mo_instance_report {
    const char *graph, *cluster;    /* what the user called them */
    const mo_instance *instance;
} mo_instance_report;

void mo_instance_text(const mo_instance_report *report, mo_out *out);

/* "ops" gives every op's times by device, "tensors" every tensor's readers and
 * transfer times from device to device, all in microseconds. */
void mo_instance_json(const mo_instance_report *report, mo_out *out);

#endif
