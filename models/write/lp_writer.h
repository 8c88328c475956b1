/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp.h - a sink that writes CPLEX LP, in the subset that every reader takes the
 * same way (moirai-model(5)).  Rows are written as they come; what is kept is
 * the columns with their names.
 */
#ifndef MO_MODELS_WRITE_LP_WRITER_H
#define MO_MODELS_WRITE_LP_WRITER_H

#include "base/out.h"
#include "models/write/heading.h"
#include "models/sink/sink.h"

/* out and heading (NULL: no comments) must outlive the sink. */
mo_status mo_lp_writer_new(mo_out *out, const mo_heading *heading,
                           mo_sink **sink, mo_error *err);

#endif
