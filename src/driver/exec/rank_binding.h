/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_binding.h - check of a launcher's CPU binding: mpirun binds each of
 * two ranks to one core, and Slurm to --cpus-per-task of them.
 */
#ifndef MO_DRIVER_EXEC_RANK_BINDING_H
#define MO_DRIVER_EXEC_RANK_BINDING_H

#include "base/error.h"
#include "driver/exec/device_units.h"
#include "driver/log.h"
#include "exec/plan/ir/plan.h"
#include "exec/transport/transport.h"

enum { MO_EXEC_REMEDY_SIZE = 96 };

/* Writes how the launcher of this process gives a rank so many processors into
 * text and returns it; without a launcher, what limits them. */
const char *mo_exec_binding_remedy(int needed, char text[MO_EXEC_REMEDY_SIZE]);

/* Rank 0 logs one line if a rank is bound to as many processors as its devices
 * have threads, and values go by messages, which then make no progress while
 * these compute. paths: by transfer of the plan. Collective. */
mo_status mo_exec_rank_binding_log(const mo_transport *transport,
                                   mo_transport_world *world,
                                   const mo_exec_units *units,
                                   const mo_exec_plan *plan,
                                   const char *const *paths,
                                   const mo_driver_log *logger, mo_error *err);

#endif
