/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signature_work.h - type and sizes of a product or attention from the
 * signature of a profile's row (mo_profile_signature).
 */
#ifndef MO_COST_CALIBRATE_SIGNATURE_WORK_H
#define MO_COST_CALIBRATE_SIGNATURE_WORK_H

#include "cost/predict.h"

/* Sets math, product and attention of work, whose other members are set, as far
 * as the signature has them. */
void mo_signature_work(const char *signature, mo_workload *work);

#endif
