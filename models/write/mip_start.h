/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mip_start.h - a sink that writes the MIP start, the heuristic's solution, in
 * a solver's layout.
 */
#ifndef MO_MODELS_WRITE_MIP_START_H
#define MO_MODELS_WRITE_MIP_START_H

#include "base/out.h"
#include "models/sink/sink.h"

typedef enum mo_mip_start_layout {
    MO_MIP_START_MIPLIB, /* =obj= and a column a line: SCIP, HiGHS */
    MO_MIP_START_GUROBI, /* .mst */
    MO_MIP_START_CBC     /* number, column, value, cost */
} mo_mip_start_layout;

/* Returns the layout for the ending of a file's name: .mst, .cbc, else
 * MIPLIB. */
mo_mip_start_layout mo_mip_start_layout_of(const char *path);

/* out must outlive the sink; the caller frees *sink with mo_sink_free(). */
mo_status mo_mip_start_new(mo_out *out, mo_mip_start_layout layout,
                           mo_sink **sink, mo_error *err);

#endif
