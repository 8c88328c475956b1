/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mps_writer.h - a sink that writes free MPS, in the subset that every reader
 * interprets alike (moirai-model(5)).
 */
#ifndef MO_MODELS_WRITE_MPS_WRITER_H
#define MO_MODELS_WRITE_MPS_WRITER_H

#include "base/out.h"
#include "models/write/heading.h"
#include "models/sink/sink.h"

/* As mo_lp_writer_new.  Keeps 12 bytes for each entry of the matrix, to write
 * it by columns.  The caller frees *sink. */
mo_status mo_mps_writer_new(mo_out *out, const mo_heading *heading,
                            mo_sink **sink, mo_error *err);

#endif
