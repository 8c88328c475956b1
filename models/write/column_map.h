/* SPDX-License-Identifier: Apache-2.0 */
/*
 * column_map.h - a sink that writes the meaning of every column as CSV, for
 * models extended in another modelling tool.
 */
#ifndef MO_MODELS_WRITE_COLUMN_MAP_H
#define MO_MODELS_WRITE_COLUMN_MAP_H

#include "base/out.h"
#include "models/model.h"
#include "models/sink/sink.h"

/* out and model must outlive the sink; the caller frees *sink with
 * mo_sink_free(). */
mo_status mo_column_map_new(mo_out *out, const mo_model *model, mo_sink **sink,
                            mo_error *err);

#endif
