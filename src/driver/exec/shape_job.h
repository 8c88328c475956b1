/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape_job.h - a placement of several shapes (moirai-workload(5)) as the job
 * of one of them: that of the given inputs.
 *
 * Shapes of inputs are texts as those of --shape: "NAME=1,128", with a name or
 * number, or "1,128" for an only input.
 */
#ifndef MO_DRIVER_EXEC_SHAPE_JOB_H
#define MO_DRIVER_EXEC_SHAPE_JOB_H

#include <stdbool.h>

#include "base/error.h"
#include "driver/exec/exec_job.h"
#include "graph/graph.h"

/* Returns the first phase of g, a workload, whose inputs have these shapes, or
 * -1: there is none. Where g is no workload, it is the phase 0. */
int mo_exec_shape_find(const mo_graph *g, const mo_path_list *shapes);

/* Fails with MO_E_INPUT since g has no such phase; the error lists those that
 * it has, and how others are accepted: in a stream they are not. */
mo_status mo_exec_shape_fail(const mo_graph *g, const mo_path_list *shapes,
                             bool stream, mo_error *err);

/* Checks a graph that was read with these shapes as hints. Fails with why, the
 * reason why it could not be read, and g is NULL, or unless g has the shapes:
 * other dimensions of its inputs are fixed. */
mo_status mo_exec_shape_check(const mo_graph *g, const mo_path_list *shapes,
                              const mo_error *why, mo_error *err);

/* Sets device, by placed op of to, which has the same graph as from at another
 * shape: that of the op of the same name, by device_of; an op that from lacks
 * gets that of an op that it reads. */
mo_status mo_exec_shape_devices(const mo_problem *from, const int *device_of,
                                const mo_problem *to, int *device,
                                mo_error *err);

/* Returns whether the job is of several shapes of one graph. */
bool mo_exec_job_has_shapes(const mo_exec_job *job);

/* Replaces the problem and evaluation of a valid job, if it is of several
 * shapes without states, by those of the shape of --input, or of the first one;
 * with --shapes-max a shape that was not placed has the devices of the others.
 */
mo_status mo_exec_job_take_shape(const mo_exec_options *o, mo_exec_job *job,
                                 mo_error *err);

/* Lets the plan of such a job have a phase for each shape instead, for a stream
 * of requests with any of them. */
mo_status mo_exec_job_keep_shapes(const mo_exec_options *o, mo_exec_job *job,
                                  mo_error *err);

#endif
