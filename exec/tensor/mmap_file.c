/* SPDX-License-Identifier: Apache-2.0 */
#include <config.h>

#include "exec/tensor/mmap_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/beneath.h"
#include "base/compress.h"

/* Descriptors of so many mapped files are kept; further files are checked by
 * their names. */
enum { MAX_KEPT_FDS = 128 };

/*
 * Regions form a list that only grows: the signal handler walks it without
 * locks while other threads open and close files. A closed region is empty
 * (begin = end = 0) and is used again. All but the atomic members belong to
 * the lock.
 */
struct mo_mmap_region {
    _Atomic uintptr_t begin, end; /* whole pages */
    atomic_bool failed;
    bool in_use;
    int fd; /* -1: not kept */
    char *path;
    struct stat opened; /* when it was mapped */
    mo_mmap_region *next;
};

static _Atomic(mo_mmap_region *) regions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool any_failed;
static int n_kept_fds;
static bool has_handler;
static struct sigaction earlier;
static uintptr_t page_bytes;

/* The region of an address, or NULL. */
static mo_mmap_region *find_region(uintptr_t address)
{
    mo_mmap_region *r = atomic_load(&regions);

    while (r && (address < atomic_load(&r->begin) ||
                 address >= atomic_load(&r->end)))
        r = r->next;
    return r;
}

/* All pages from the faulting one on are replaced: where a file was cut, they
 * are gone as well. An address outside of the mappings is left to the earlier
 * handler: the instruction faults again under it. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    uintptr_t address = (uintptr_t) info->si_addr;
    mo_mmap_region *r = info->si_code > 0 ? find_region(address) : NULL;
    uintptr_t page = address - address % page_bytes;
    int saved = errno;

    (void) context;
    if (r &&
        mmap((void *) page, atomic_load(&r->end) - page, PROT_READ,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
        atomic_store(&r->failed, true);
        atomic_store(&any_failed, true);
    } else {
        sigaction(SIGBUS, &earlier, NULL);
        if (info->si_code <= 0)
            raise(number);
    }
    errno = saved;
}

/* An unused region, or a new one; NULL without memory. */
static mo_mmap_region *take_region(void)
{
    mo_mmap_region *r = atomic_load(&regions);

    while (r && r->in_use)
        r = r->next;
    if (!r && (r = calloc(1, sizeof *r)) != NULL) {
        r->next = atomic_load(&regions);
        atomic_store(&regions, r);
    }
    if (r)
        r->in_use = true;
    return r;
}

/* Registers pages from begin to end of the file. */
static mo_mmap_region *add_region(uintptr_t begin, uintptr_t end, int fd,
                                  const char *path, const struct stat *info)
{
    struct sigaction action = { .sa_sigaction = on_bus_error,
                                .sa_flags = SA_SIGINFO | SA_RESTART };
    char *copy = strdup(path);
    mo_mmap_region *r;

    pthread_mutex_lock(&lock);
    if (!has_handler) {
        page_bytes = (uintptr_t) sysconf(_SC_PAGESIZE);
        sigemptyset(&action.sa_mask);
        has_handler = sigaction(SIGBUS, &action, &earlier) == 0;
    }
    r = copy ? take_region() : NULL;
    if (r) {
        r->path = copy;
        r->opened = *info;
        r->fd = n_kept_fds < MAX_KEPT_FDS
                    ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                    : -1;
        n_kept_fds += r->fd >= 0;
        atomic_store(&r->failed, false);
        atomic_store(&r->end, end);
        atomic_store(&r->begin, begin);
    } else {
        free(copy);
    }
    pthread_mutex_unlock(&lock);
    return r;
}

/* Whether the file is as long and as old as when it was mapped. The end of a
 * last page reads as zeros after a cut, without a signal. Under its name there
 * may be another file by now, while the mapped one is unchanged. */
static bool is_unchanged(const mo_mmap_region *r)
{
    const struct stat *then = &r->opened;
    struct stat now;

    if (r->fd >= 0 ? fstat(r->fd, &now) != 0
                   : stat(r->path, &now) != 0 || now.st_dev != then->st_dev ||
                         now.st_ino != then->st_ino)
        return true;
    return now.st_size == then->st_size &&
           now.st_mtim.tv_sec == then->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == then->st_mtim.tv_nsec;
}

static mo_status check_region(const mo_mmap_region *r, mo_error *err)
{
    if (!is_unchanged(r))
        return mo_fail_at(err, MO_E_IO, r->path, 0,
                          "was cut or rewritten while it was read; run again "
                          "when it is complete");
    if (atomic_load(&r->failed))
        return mo_fail_at(err, MO_E_IO, r->path, 0,
                          "cannot be read to its end: %s", strerror(EIO));
    return MO_OK;
}

mo_status mo_mmap_file_check(const mo_mmap_file *mapped, mo_error *err)
{
    mo_status status = MO_OK;

    pthread_mutex_lock(&lock);
    if (mapped->region)
        status = check_region(mapped->region, err);
    pthread_mutex_unlock(&lock);
    return status;
}

mo_status mo_mmap_file_check_all(mo_error *err)
{
    mo_status status = MO_OK;

    pthread_mutex_lock(&lock);
    for (mo_mmap_region *r = atomic_load(&regions); r && status == MO_OK;
         r = r->next)
        if (r->in_use)
            status = check_region(r, err);
    pthread_mutex_unlock(&lock);
    return status;
}

bool mo_mmap_file_has_failed(void)
{
    return atomic_load_explicit(&any_failed, memory_order_relaxed);
}

/* Mappings begin at pages: what lies before offset on its page is mapped,
 * too. */
static mo_status map_part(int fd, const char *path, const struct stat *info,
                          int64_t offset, int64_t size, mo_mmap_file *mapped,
                          mo_error *err)
{
    int64_t page = sysconf(_SC_PAGESIZE), shift = offset % page;
    uintptr_t end;
    char *data;

    if ((uint64_t) size > SIZE_MAX - (uint64_t) (shift + page))
        return mo_fail_at(err, MO_E_LIMIT, path, 0,
                          "is larger than this machine can address");
    if (size == 0)
        return MO_OK;
    data = mmap(NULL, (size_t) (size + shift), PROT_READ, MAP_PRIVATE, fd,
                (off_t) (offset - shift));
    if (data == MAP_FAILED)
        return mo_fail_errno(err, path, "cannot map");
    end = (uintptr_t) data + (uintptr_t) (size + shift + page - 1);
    *mapped = (mo_mmap_file){ data + shift, (size_t) size, (size_t) shift,
                              add_region((uintptr_t) data,
                                         end - end % (uintptr_t) page, fd, path,
                                         info) };
    if (mapped->region)
        return MO_OK;
    mo_mmap_file_close(mapped);
    return mo_fail_memory(err);
}

static mo_status map_fd(int fd, const char *path, int64_t offset, int64_t size,
                        mo_mmap_file *mapped, mo_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return mo_fail_errno(err, path, "cannot read");
    if (!S_ISREG(info.st_mode))
        return mo_fail_at(err, MO_E_IO, path, 0,
                          "is no file; give the name of one");
    if (offset < 0 || offset > info.st_size || size > info.st_size - offset)
        return mo_fail_at(err, MO_E_INPUT, path, 0,
                          "is too short; copy it again");
    return map_part(fd, path, &info, offset,
                    size < 0 ? info.st_size - offset : size, mapped, err);
}

mo_status mo_mmap_file_open_fd(int fd, const char *path, mo_mmap_file *mapped,
                               mo_error *err)
{
    mo_status status;

    *mapped = (mo_mmap_file){ 0 };
    status = map_fd(fd, path, 0, -1, mapped, err);
    close(fd);
    return status;
}

/* O_NONBLOCK: opening a pipe of that name returns at once. */
mo_status mo_mmap_file_open_part(const char *path, int64_t offset, int64_t size,
                                 mo_mmap_file *mapped, mo_error *err)
{
    mo_status status = mo_compress_check_plain(path, err);
    int fd;

    *mapped = (mo_mmap_file){ 0 };
    if (status != MO_OK)
        return status;
    fd = mo_open_nonblocking(path);
    if (fd < 0)
        return mo_fail_errno(err, path, "cannot open");
    status = map_fd(fd, path, offset, size, mapped, err);
    close(fd);
    return status;
}

mo_status mo_mmap_file_open(const char *path, mo_mmap_file *mapped,
                            mo_error *err)
{
    return mo_mmap_file_open_part(path, 0, -1, mapped, err);
}

/* munmap() takes a pointer without const. */
void mo_mmap_file_close(mo_mmap_file *mapped)
{
    if (mapped->region) {
        pthread_mutex_lock(&lock);
        atomic_store(&mapped->region->end, 0);
        atomic_store(&mapped->region->begin, 0);
        if (mapped->region->fd >= 0) {
            close(mapped->region->fd);
            n_kept_fds--;
        }
        free(mapped->region->path);
        mapped->region->path = NULL;
        mapped->region->in_use = false;
        pthread_mutex_unlock(&lock);
    }
    if (mapped->data)
        munmap((char *) (uintptr_t) mapped->data - mapped->shift,
               mapped->size + mapped->shift);
    *mapped = (mo_mmap_file){ 0 };
}

/* The pages of the mapping are never written, so that nothing is lost. */
void mo_mmap_file_release(const void *data, size_t size)
{
    uintptr_t begin = (uintptr_t) data, end = begin + size;
    mo_mmap_region *r = size > 0 ? find_region(begin) : NULL;

    if (!r || end > atomic_load(&r->end))
        return;
    begin += (page_bytes - begin % page_bytes) % page_bytes;
    end -= end % page_bytes;
    /* Advice only: failure is ignored. */
    if (begin < end)
        (void) madvise((void *) begin, end - begin, MADV_DONTNEED);
}
