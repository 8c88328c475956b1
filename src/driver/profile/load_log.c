/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/profile/load_log.h"

#include <stdio.h>

void mo_driver_load_log(const mo_driver_log *logger,
                        const mo_measure_load *load)
{
    char text[MO_MEASURE_LOAD_SIZE];

    if (!logger->quiet && !mo_measure_load_quiet(load))
        fprintf(
            stderr,
            "%s: the machine was not idle: %s; measure again when it is idle\n",
            logger->command, mo_measure_load_format(load, text));
}
