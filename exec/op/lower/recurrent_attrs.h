/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recurrent_attrs.h - attributes of recurrent layers and cells: directions,
 * activations, clip.
 */
#ifndef MO_EXEC_OP_LOWER_RECURRENT_ATTRS_H
#define MO_EXEC_OP_LOWER_RECURRENT_ATTRS_H

#include "exec/op/call.h"
#include "exec/op/op_site.h"

/* Reads direction, clip, linear_before_reset and the activations with their
 * alphas and betas, in the names of ONNX and of OpenVINO, into *rnn, whose cell
 * is set.  Fails with MO_E_SUPPORT for what cannot be run. */
mo_status mo_lower_recurrent_read_attrs(const mo_op_site *site,
                                        mo_call_rnn *rnn, mo_error *err);

#endif
