/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_text.h - values as texts: numbers of --value, literals of constants.
 */
#ifndef MO_INGEST_INFER_VALUE_TEXT_H
#define MO_INGEST_INFER_VALUE_TEXT_H

#include "base/out.h"
#include "ingest/infer/infer_value.h"

/*
 * Reads the numbers of a request "NAME=16000" or "NAME=1,0,1", as many as shape
 * has elements, or one for all of them. A vector of dynamic length gets as many
 * elements as there are numbers. arena owns *value; dtype NULL: not given.
 *
 * Errors name the request: no number, too many or too few, one that the type
 * cannot hold (0 and 1 of booleans), a shape that is dynamic otherwise.
 */
mo_status mo_infer_value_read(mo_arena *arena, const char *request,
                              const char *numbers, const mo_shape *shape,
                              const char *dtype, mo_infer_value **value,
                              mo_error *err);

/* Writes x so that it is read again as it is: nan, inf and -inf are words, the
 * sign of zero is kept. */
void mo_infer_real_write(double x, mo_out *out);

/* Writes the attributes of a constant with that value: {"element_type":"i64",
 * "shape":"2","value":"1,0"}. */
void mo_infer_value_write_literal(const mo_infer_value *value, mo_out *out);

/* Reads the items of a value from such attributes; false: they are no literal
 * of as many items. */
bool mo_infer_value_read_literal(const char *attrs, mo_infer_value *value);

#endif
