/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "solvers/process/proc_entries.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

void mo_proc_entries_each(const char *folder,
                          void (*see)(int number, void *context), void *context)
{
    _Alignas(struct dirent64) char entries[4096];
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ssize_t got;

    if (fd < 0)
        return;
    while ((got = getdents64(fd, entries, sizeof entries)) > 0)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *) (entries + at);
            int number = atoi(entry->d_name);

            if (entry->d_name[0] >= '0' && entry->d_name[0] <= '9' &&
                number != fd)
                see(number, context);
            at += entry->d_reclen;
        }
    close(fd);
}
