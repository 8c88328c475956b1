/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layer_check.h - validation and completion of a parsed layer.
 */
#ifndef MO_INGEST_IR_LAYER_CHECK_H
#define MO_INGEST_IR_LAYER_CHECK_H

#include <stddef.h>

#include "base/error.h"
#include "ingest/ir/ir.h"

/* Sets *dtype to the type of a name; NULL for "dynamic", "undefined" and
 * "unspecified". An unknown name is an
 * error. */
mo_status mo_ir_read_dtype(const mo_ir *ir, const char *name, size_t length,
                           int line, const char **dtype, mo_error *err);

/* Returns the value of a string attribute of layer, *length bytes, not
 * terminated, owned by layer; NULL when there is none of that name. */
const char *mo_ir_attribute(const mo_ir_layer *layer, const char *name,
                            size_t *length);

/* Fills what the ports lack from <data> (the type of a Const, the dynamic rank
 * of a Parameter) and checks that the rest agrees with it: ports have distinct
 * ids, a Const has as many bytes as its shape needs. */
mo_status mo_ir_complete_layer(const mo_ir *ir, mo_ir_layer *layer,
                               mo_error *err);

#endif
