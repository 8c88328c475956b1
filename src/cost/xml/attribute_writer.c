/* SPDX-License-Identifier: Apache-2.0 */
#include "cost/xml/attribute_writer.h"

static void begin(mo_out *out, const char *name)
{
    mo_out_char(out, ' ');
    mo_out_text(out, name);
    mo_out_text(out, "=\"");
}

void mo_attribute_write_text(mo_out *out, const char *name, const char *value)
{
    begin(out, name);
    mo_out_xml(out, value);
    mo_out_char(out, '"');
}

void mo_attribute_write_number(mo_out *out, const char *name, double value)
{
    begin(out, name);
    mo_out_double(out, value);
    mo_out_char(out, '"');
}

void mo_attribute_write_int(mo_out *out, const char *name, int64_t value)
{
    begin(out, name);
    mo_out_int(out, value);
    mo_out_char(out, '"');
}
