/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.h - tokens that the ranks of a job authenticate each other by.
 */
#ifndef MO_DRIVER_EXEC_TOKEN_H
#define MO_DRIVER_EXEC_TOKEN_H

#include "base/error.h"

/*
 * Draws 32 bytes from the random number generator of the kernel and writes them
 * as a line of 43 characters (base64url, RFC 4648) to a new file at path that
 * only its owner may read, or to standard output for NULL and "-". An existing
 * file is an error and stays as it is; after a failure there is no file.
 */
mo_status mo_launch_token_write(const char *path, mo_error *err);

#endif
