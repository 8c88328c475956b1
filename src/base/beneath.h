/* SPDX-License-Identifier: Apache-2.0 */
/*
 * beneath.h - opening of files that untrusted input names, also within given
 * folders.
 */
#ifndef MO_BASE_BENEATH_H
#define MO_BASE_BENEATH_H

#include <stddef.h>

/* Opens path for reading (O_NONBLOCK, O_CLOEXEC), so that a pipe of that name
 * does not block. Returns the descriptor, or -1 with errno set, not EINTR. */
int mo_open_nonblocking(const char *path);

/*
 * Opens path for reading (O_NONBLOCK, O_CLOEXEC) if it lies in one of n
 * folders or below, symbolic links resolved in both. No link is followed
 * behind the check: a path that changes in between is not opened elsewhere.
 *
 * Returns the descriptor, or -1 with errno set. EXDEV: it lies outside of all
 * folders; then *outside is its resolved path, which the caller frees; NULL
 * otherwise. Folders that do not exist contain nothing.
 */
int mo_beneath_open(const char *path, const char *const *folders, size_t n,
                    char **outside);

#endif
