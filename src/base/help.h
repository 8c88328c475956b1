/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - what --help and --version print, from a command's option table.
 */
#ifndef MO_BASE_HELP_H
#define MO_BASE_HELP_H

#include "base/option.h"
#include "base/out.h"

/* Usage, purpose, the options in two columns within 80, the details. */
void mo_help_write(const mo_command *command, mo_out *out);

/* "moirai-info (Moirai) 1.2.3", what was built in, what the command adds, and
 * the licence. */
void mo_help_version(const mo_command *command, mo_out *out);

#endif
