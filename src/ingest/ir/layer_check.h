/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ir_layer.h - a layer that has been read is checked and made whole.
 */
#ifndef MO_INGEST_IR_LAYER_CHECK_H
#define MO_INGEST_IR_LAYER_CHECK_H

#include <stddef.h>

#include "base/error.h"
#include "ingest/ir/ir.h"

/* The type that a file calls name; NULL where it says that it is not known yet
 * ("dynamic").  A name that nobody knows is an error. */
mo_status mo_ir_read_dtype(const mo_ir *ir, const char *name, size_t length,
                           int line, const char **dtype, mo_error *err);

/* The value of a text attribute of layer, not 0-terminated; NULL when it has
 * none of that name. */
const char *mo_ir_attribute(const mo_ir_layer *layer, const char *name,
                            size_t *length);

/* Takes what the ports do not say from <data> (the type of a Const, the dynamic
 * rank of a Parameter) and checks that the rest agrees with it: ports have
 * different ids, a Const has as many bytes as its shape needs. */
mo_status mo_ir_complete_layer(const mo_ir *ir, mo_ir_layer *layer,
                               mo_error *err);

#endif
