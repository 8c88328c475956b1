/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "models/write/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static const char *temp_folder(void)
{
    const char *name = getenv("TMPDIR");

    return name && *name ? name : "/tmp";
}

/* Without O_TMPFILE the file is unlinked at once. */
static int open_named(void)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/moirai-XXXXXX", temp_folder());
    int fd;

    if (length < 0 || (size_t) length >= sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = mkstemp(path);
    if (fd >= 0)
        unlink(path);
    return fd;
}

mo_status mo_spill_open(mo_spill *spill, mo_error *err)
{
    spill->fd = -1;
#ifdef O_TMPFILE
    spill->fd = open(temp_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
#endif
    if (spill->fd < 0)
        spill->fd = open_named();
    if (spill->fd < 0)
        return mo_fail_errno(err, temp_folder(),
                             "cannot make a temporary file (see TMPDIR)");
    return MO_OK;
}

mo_status mo_spill_write(mo_spill *spill, const void *data, size_t size,
                         uint64_t at, mo_error *err)
{
    const char *bytes = data;

    while (size > 0) {
        ssize_t n = pwrite(spill->fd, bytes, size, (off_t) at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mo_fail_errno(err, temp_folder(),
                                 "cannot write a temporary file (see TMPDIR)");
        bytes += n;
        at += (uint64_t) n;
        size -= (size_t) n;
    }
    return MO_OK;
}

mo_status mo_spill_read(mo_spill *spill, void *data, size_t size, uint64_t at,
                        mo_error *err)
{
    char *bytes = data;

    while (size > 0) {
        ssize_t n = pread(spill->fd, bytes, size, (off_t) at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return mo_fail_errno(err, temp_folder(),
                                 "cannot read a temporary file back");
        if (n == 0)
            return mo_fail_at(err, MO_E_IO, temp_folder(), 0,
                              "a temporary file is shorter than written");
        bytes += n;
        at += (uint64_t) n;
        size -= (size_t) n;
    }
    return MO_OK;
}

void mo_spill_close(mo_spill *spill)
{
    if (spill->fd >= 0)
        close(spill->fd);
    spill->fd = -1;
}
