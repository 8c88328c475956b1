/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer_paths.h - paths of the transfers of a plan: within a process, by
 * shared memory, or by a transport.
 */
#ifndef MO_DRIVER_EXEC_TRANSFER_PATHS_H
#define MO_DRIVER_EXEC_TRANSFER_PATHS_H

#include "base/error.h"
#include "cost/cluster.h"
#include "cost/profile.h"
#include "driver/log.h"
#include "exec/plan/ir/plan.h"
#include "exec/transport/transport.h"

/* Sets *paths, by transfer of the plan that the world has run last. The caller
 * frees the array. */
mo_status mo_exec_paths_find(const mo_transport *transport,
                             const mo_transport_world *world,
                             const mo_exec_plan *plan, const char ***paths,
                             mo_error *err);

/* Logs one line if the profile's links were measured on other paths than these
 * transfers took; profile may be NULL. */
void mo_exec_paths_log(const char *const *paths, const mo_exec_plan *plan,
                       const mo_cluster *cluster, const mo_profile *profile,
                       const mo_driver_log *logger);

#endif
