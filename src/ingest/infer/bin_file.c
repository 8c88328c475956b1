/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "ingest/infer/bin_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/compress.h"

mo_bin_file mo_bin_file_init(const char *path)
{
    return (mo_bin_file){ .path = path, .file = -1 };
}

void mo_bin_file_close(mo_bin_file *bin)
{
    if (bin->file >= 0)
        close(bin->file);
    bin->file = -1;
}

static mo_status fail_read(const mo_bin_file *bin, mo_error *err)
{
    return mo_fail(err, MO_E_IO, "%s cannot be read: %s", bin->path,
                   strerror(errno));
}

/* Non-blocking, so that a pipe of that name does not block. */
static mo_status open_bin(mo_bin_file *bin, mo_error *err)
{
    struct stat info;

    if (!bin->path)
        return mo_fail(err, MO_E_IO, "there is no .bin file");
    if (mo_compress_check_plain(bin->path, err) != MO_OK)
        return MO_E_SUPPORT;
    bin->file = mo_open_nonblocking(bin->path);
    if (bin->file < 0 || fstat(bin->file, &info) != 0)
        return fail_read(bin, err);
    if (!S_ISREG(info.st_mode)) {
        mo_bin_file_close(bin);
        return mo_fail(err, MO_E_IO, "%s is not a file", bin->path);
    }
    bin->size = info.st_size;
    return MO_OK;
}

mo_status mo_bin_file_read(mo_bin_file *bin, int64_t offset, size_t size,
                           void *bytes, mo_error *err)
{
    mo_status status = bin->file < 0 ? open_bin(bin, err) : MO_OK;
    char *to = bytes;

    if (status != MO_OK)
        return status;
    if (offset < 0 || offset > bin->size ||
        size > (uint64_t) (bin->size - offset))
        return mo_fail(
            err, MO_E_INPUT, "%s ends before byte %lld + %zu (it has %lld)",
            bin->path, (long long) offset, size, (long long) bin->size);
    while (size > 0) {
        ssize_t n = pread(bin->file, to, size, (off_t) offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_read(bin, err);
        if (n == 0)
            return mo_fail(err, MO_E_IO, "%s was cut while it was read",
                           bin->path);
        to += n;
        offset += n;
        size -= (size_t) n;
    }
    return MO_OK;
}
