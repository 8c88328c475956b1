/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/profile/load_log.h"

#include <stdio.h>

void mo_driver_load_log(const mo_driver_log *logger,
                        const mo_measure_load *load)
{
    char text[MO_MEASURE_LOAD_SIZE];

    if (!logger->quiet && !mo_measure_load_quiet(load))
        fprintf(stderr,
                "%s: not quiet: %s meanwhile; measure again when they rest\n",
                logger->command, mo_measure_load_format(load, text));
}
