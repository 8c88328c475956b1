/* SPDX-License-Identifier: Apache-2.0 */
/*
 * missing_inputs.h - the error for inputs of a solution that are not here.
 */
#ifndef MO_DRIVER_MISSING_INPUTS_H
#define MO_DRIVER_MISSING_INPUTS_H

#include "base/error.h"
#include "driver/locate.h"

/* Fills err with one line that names everything missing with its digest, files
 * of the same name that differ, the searched folders and the options that give
 * the inputs; returns MO_E_INPUT. At least one input is missing. */
mo_status mo_missing_inputs_fail(const mo_locate_query *what,
                                 const mo_provenance *origin,
                                 const mo_locate_search *search, mo_error *err);

#endif
