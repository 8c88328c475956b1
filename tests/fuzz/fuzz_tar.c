/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzer of tar archives: any bytes give an index of plain files inside the
 * archive, or an error. */
#include <config.h>

#include <assert.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mo_tar_index index = { 0 };
    mo_error err = { 0 };
    int fd = memfd_create("fuzz.tar", MFD_CLOEXEC);
    mo_status status;

    assert(fd >= 0);
    if (size > 0)
        assert(write(fd, data, size) == (ssize_t) size);
    status = mo_tar_index_read(fd, "fuzz.tar", &index, &err);
    assert(status == MO_OK || err.text[0] != '\0');
    for (size_t i = 0; i < index.n; i++) {
        const mo_tar_member *member = &index.members[i];

        assert(member->name[0] && !strchr(member->name, '/'));
        assert(strcmp(member->name, "..") != 0);
        assert(mo_tar_find(&index, member->name) == member);
        assert(member->offset >= MO_TAR_BLOCK && member->size >= 0);
        assert((uint64_t) (member->offset + member->size) <= size);
    }
    mo_tar_index_clear(&index);
    close(fd);
    return 0;
}
