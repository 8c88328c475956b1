/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation functions that fail, and the blocks and descriptors that the
 * command holds. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/torture/failpoint.h"

/* The allocator of glibc below its public names. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

/* A set of blocks: open addressing, linear probing. */
enum { SLOTS = 1 << 20, MAX_BLOCKS = SLOTS / 2, MAX_FDS = 1024 };

typedef struct slot {
    void *block;
    uint64_t number;
} slot;

static slot *slots;
static size_t n_blocks;
static bool is_full;
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Atomic bool is_ours[MAX_FDS];

#define CALLER __builtin_return_address(0)

void failpoint_hold_blocks(void)
{
    while (atomic_flag_test_and_set(&lock))
        ;
}

void failpoint_release_blocks(void)
{
    atomic_flag_clear(&lock);
}

static size_t home_of(const void *block)
{
    return ((uintptr_t) block * 0x9e3779b97f4a7c15) >> 44;
}

static bool has_slots(void)
{
    void *made;

    if (slots || is_full)
        return slots != NULL;
    made = (void *) syscall(SYS_mmap, NULL, SLOTS * sizeof *slots,
                            PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                            -1, 0);
    if (made == MAP_FAILED)
        is_full = true;
    else
        slots = made;
    return !is_full;
}

void failpoint_track_block(void *block)
{
    uint64_t number = failpoint_alloc_number();
    size_t at = home_of(block);

    failpoint_hold_blocks();
    if (n_blocks < MAX_BLOCKS && has_slots()) {
        while (slots[at].block)
            at = (at + 1) % SLOTS;
        slots[at] = (slot){ block, number };
        n_blocks++;
    }
    failpoint_release_blocks();
}

/* Removal moves later entries of the run back, so that no gap breaks it. */
static void remove_slot(size_t gap)
{
    size_t at = gap;

    for (;;) {
        size_t home;

        at = (at + 1) % SLOTS;
        if (!slots[at].block)
            break;
        home = home_of(slots[at].block);
        if ((at - home) % SLOTS >= (at - gap) % SLOTS) {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap].block = NULL;
    n_blocks--;
}

void failpoint_forget_block(void *block)
{
    size_t at = home_of(block);

    if (!slots || !block)
        return;
    failpoint_hold_blocks();
    while (slots[at].block && slots[at].block != block)
        at = (at + 1) % SLOTS;
    if (slots[at].block)
        remove_slot(at);
    failpoint_release_blocks();
}

size_t failpoint_live_blocks(uint64_t *first_number)
{
    uint64_t first = UINT64_MAX;

    for (size_t i = 0; slots && i < SLOTS; i++)
        if (slots[i].block && slots[i].number < first)
            first = slots[i].number;
    *first_number = first;
    return n_blocks;
}

void failpoint_track_fd(int fd, const void *caller)
{
    int saved = errno;

    if (fd >= 0 && fd < MAX_FDS && failpoint_is_own(caller))
        is_ours[fd] = true;
    errno = saved;
}

void failpoint_forget_fd(int fd)
{
    if (fd >= 0 && fd < MAX_FDS)
        is_ours[fd] = false;
}

size_t failpoint_live_fds(void)
{
    size_t n = 0;

    for (int fd = 3; fd < MAX_FDS; fd++)
        n += is_ours[fd];
    return n;
}

static bool refuses(const void *caller)
{
    if (failpoint_count(FAILPOINT_ALLOC, caller) != FAILPOINT_REFUSE)
        return false;
    errno = ENOMEM;
    return true;
}

static void *keep(void *block, const void *caller)
{
    if (block && failpoint_is_own(caller))
        failpoint_track_block(block);
    return block;
}

void *malloc(size_t size)
{
    return refuses(CALLER) ? NULL : keep(__libc_malloc(size), CALLER);
}

void *calloc(size_t n, size_t size)
{
    return refuses(CALLER) ? NULL : keep(__libc_calloc(n, size), CALLER);
}

void *realloc(void *block, size_t size)
{
    void *made;

    if (refuses(CALLER))
        return NULL;
    failpoint_forget_block(block);
    made = __libc_realloc(block, size);
    if (!made && size > 0)
        return keep(block, CALLER), NULL;
    return keep(made, CALLER);
}

void *reallocarray(void *block, size_t n, size_t size)
{
    size_t whole;

    if (refuses(CALLER) || __builtin_mul_overflow(n, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    failpoint_forget_block(block);
    return keep(__libc_realloc(block, whole), CALLER);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return refuses(CALLER) ? NULL
                           : keep(__libc_memalign(alignment, size), CALLER);
}

void *memalign(size_t alignment, size_t size)
{
    return refuses(CALLER) ? NULL
                           : keep(__libc_memalign(alignment, size), CALLER);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *made =
        refuses(CALLER) ? NULL : keep(__libc_memalign(alignment, size), CALLER);

    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

void free(void *block)
{
    failpoint_forget_block(block);
    __libc_free(block);
}
