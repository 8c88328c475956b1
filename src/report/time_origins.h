/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time_origins.h - report of where the times of an instance come from, by
 * device: source, limit, and typical error.
 */
#ifndef MO_REPORT_TIME_ORIGINS_H
#define MO_REPORT_TIME_ORIGINS_H

#include "base/json_writer.h"
#include "base/out.h"
#include "cost/instance.h"

/* Write a table of the first n_devices devices; an array "origins" for one of
 * them; arrays "origin" and "error" for one op. They write nothing where x has
 * no origins. */
void mo_report_time_origins_text(const mo_instance *x, int n_devices,
                                 mo_out *out);
void mo_report_time_origins_json(const mo_instance *x, int device,
                                 mo_json_writer *w);
void mo_report_time_origins_op_json(const mo_instance *x, int op,
                                    mo_json_writer *w);

#endif
