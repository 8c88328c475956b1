/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lp_writer.h - a sink that writes CPLEX LP, in the subset that every reader
 * interprets alike (moirai-model(5)).  Rows are written as they arrive; only
 * the columns with their names are kept.
 */
#ifndef MO_MODELS_WRITE_LP_WRITER_H
#define MO_MODELS_WRITE_LP_WRITER_H

#include "base/out.h"
#include "models/write/heading.h"
#include "models/sink/sink.h"

/* out and heading (NULL: no comments) must outlive the sink.  The caller frees
 * *sink with mo_sink_free(). */
mo_status mo_lp_writer_new(mo_out *out, const mo_heading *heading,
                           mo_sink **sink, mo_error *err);

#endif
