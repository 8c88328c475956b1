/* SPDX-License-Identifier: Apache-2.0 */
/*
 * help.h - output of --help and --version, from a command's option table.
 */
#ifndef MO_BASE_HELP_H
#define MO_BASE_HELP_H

#include "base/option.h"
#include "base/out.h"

/* Writes usage, purpose, the options in two columns of 80 characters together,
 * and the details. */
void mo_help_write(const mo_command *command, mo_out *out);

/* Writes "moirai-info (Moirai) 1.2.3", the libraries built in, further lines
 * of the command, and the licence. */
void mo_help_version(const mo_command *command, mo_out *out);

#endif
