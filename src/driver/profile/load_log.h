/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_log.h - message that other processes were at work while a command
 * measured.
 */
#ifndef MO_DRIVER_PROFILE_LOAD_LOG_H
#define MO_DRIVER_PROFILE_LOAD_LOG_H

#include "driver/log.h"
#include "exec/measure/host_load.h"

/* Logs a load that is not quiet (mo_measure_load_quiet), nothing else. */
void mo_driver_load_log(const mo_driver_log *logger,
                        const mo_measure_load *load);

#endif
