/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/transport/shm/segment.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Segments up to this size get their pages at once, so that no run pays for
 * page faults. */
enum { POPULATE_BYTES = 64 << 20 };

static const int wanted_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

static bool map_segment(mo_shm_segment *segment, int fd, size_t bytes)
{
    int flags = MAP_SHARED | (bytes <= POPULATE_BYTES ? MAP_POPULATE : 0);
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

    if (memory == MAP_FAILED)
        return false;
    segment->memory = memory;
    segment->bytes = bytes;
    return true;
}

bool mo_shm_segment_create(mo_shm_segment *segment, size_t bytes)
{
    *segment = (mo_shm_segment){ .fd = -1 };
    if (bytes == 0 || bytes > SIZE_MAX / 2)
        return false;
    segment->fd = memfd_create("moirai", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (segment->fd >= 0 && fchmod(segment->fd, 0600) == 0 &&
        ftruncate(segment->fd, (off_t) bytes) == 0 &&
        fcntl(segment->fd, F_ADD_SEALS, wanted_seals) == 0 &&
        map_segment(segment, segment->fd, bytes))
        return true;
    mo_shm_segment_clear(segment);
    return false;
}

bool mo_shm_segment_open(mo_shm_segment *segment, int64_t pid, int fd,
                         size_t bytes)
{
    char path[64];
    struct stat info;
    int opened, seals;
    bool mapped;

    *segment = (mo_shm_segment){ .fd = -1 };
    if (pid <= 0 || fd < 0 || bytes == 0 || bytes > SIZE_MAX / 2)
        return false;
    snprintf(path, sizeof path, "/proc/%lld/fd/%d", (long long) pid, fd);
    /* Not blocking: the path may name a pipe. */
    opened = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (opened < 0)
        return false;
    /* The descriptor may belong to an unrelated process or file by now: it has
     * to be memory of this user, of this size, and sealed. */
    seals = fcntl(opened, F_GET_SEALS);
    mapped = seals >= 0 && (seals & wanted_seals) == wanted_seals &&
             fstat(opened, &info) == 0 && info.st_uid == geteuid() &&
             info.st_size == (off_t) bytes &&
             map_segment(segment, opened, bytes);
    close(opened);
    return mapped;
}

void mo_shm_segment_unpublish(mo_shm_segment *segment)
{
    if (segment->fd >= 0)
        close(segment->fd);
    segment->fd = -1;
}

void mo_shm_segment_clear(mo_shm_segment *segment)
{
    mo_shm_segment_unpublish(segment);
    if (segment->memory)
        munmap(segment->memory, segment->bytes);
    *segment = (mo_shm_segment){ .fd = -1 };
}

void mo_shm_futex_wait(atomic_uint *word, unsigned value)
{
    const struct timespec at_most = { .tv_nsec = 100000000 };

    /* Not FUTEX_PRIVATE_FLAG: other processes wake it. */
    syscall(SYS_futex, word, FUTEX_WAIT, value, &at_most, NULL, 0);
}

void mo_shm_futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

#else

bool mo_shm_segment_create(mo_shm_segment *segment, size_t bytes)
{
    (void) bytes;
    *segment = (mo_shm_segment){ .fd = -1 };
    return false;
}

bool mo_shm_segment_open(mo_shm_segment *segment, int64_t pid, int fd,
                         size_t bytes)
{
    (void) pid;
    (void) fd;
    return mo_shm_segment_create(segment, bytes);
}

void mo_shm_segment_unpublish(mo_shm_segment *segment)
{
    (void) segment;
}

void mo_shm_segment_clear(mo_shm_segment *segment)
{
    (void) segment;
}

void mo_shm_futex_wait(atomic_uint *word, unsigned value)
{
    (void) word;
    (void) value;
}

void mo_shm_futex_wake(atomic_uint *word)
{
    (void) word;
}

#endif
