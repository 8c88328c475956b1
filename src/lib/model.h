/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h - the MILP of an instance of the library.
 */
#ifndef MO_LIB_MODEL_H
#define MO_LIB_MODEL_H

#include "lib/handles.h"

/* Makes the model of the instance by the options formulation, closure, slack
 * and unit. *made begins as zeros and is cleared with mo_lib_model_clear(),
 * also after a failure. */
mo_status mo_lib_model_make(const moirai_instance *instance,
                            const moirai_options *options, mo_prepared *made,
                            mo_error *err);
void mo_lib_model_clear(mo_prepared *made);

/* Writes it as LP, or as MPS. */
mo_status mo_lib_model_write(const moirai_instance *instance,
                             const mo_prepared *made, bool mps, mo_out *out,
                             mo_error *err);

#endif
