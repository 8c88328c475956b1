/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attribute_writer.h - writes attributes of an XML element.
 */
#ifndef MO_COST_XML_ATTRIBUTE_WRITER_H
#define MO_COST_XML_ATTRIBUTE_WRITER_H

#include <stdint.h>

#include "base/out.h"

/* ' name="value"' */
void mo_attribute_write_text(mo_out *out, const char *name, const char *value);
void mo_attribute_write_number(mo_out *out, const char *name, double value);
void mo_attribute_write_int(mo_out *out, const char *name, int64_t value);

#endif
