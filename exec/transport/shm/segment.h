/* SPDX-License-Identifier: Apache-2.0 */
/*
 * segment.h - anonymous shared memory of processes on one host, and futexes in
 * it.
 *
 * The memory has no name in any file system: it vanishes with the last process
 * that maps it, and the size of /dev/shm does not limit it. Another process of
 * the same user and the same PID namespace opens it by its creator's process
 * and descriptor (/proc/PID/fd/N), which the kernel permits to that user
 * alone. Its size is sealed: no process can shrink it under another.
 *
 * Linux; elsewhere no segment can be created.
 */
#ifndef MO_EXEC_TRANSPORT_SHM_SEGMENT_H
#define MO_EXEC_TRANSPORT_SHM_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mo_shm_segment {
    void *memory; /* NULL: none */
    size_t bytes;
    int fd; /* of the creator, until mo_shm_segment_unpublish(); else -1 */
} mo_shm_segment;

/* Creates a segment of zeros that other processes may open. Returns false
 * where that is not possible; the caller frees it with
 * mo_shm_segment_clear(). */
bool mo_shm_segment_create(mo_shm_segment *segment, size_t bytes);

/* Maps the segment that process pid has created as descriptor fd; it has to
 * have exactly so many bytes. Returns false where that is not possible; the
 * caller frees it with mo_shm_segment_clear(). */
bool mo_shm_segment_open(mo_shm_segment *segment, int64_t pid, int fd,
                         size_t bytes);

/* Closes the creator's descriptor: the segment cannot be opened any more. */
void mo_shm_segment_unpublish(mo_shm_segment *segment);

/* Unmaps the memory and closes the descriptor; nothing for an empty one. */
void mo_shm_segment_clear(mo_shm_segment *segment);

/* Blocks while *word is value, for 100 ms at most; may return at any time. */
void mo_shm_futex_wait(atomic_uint *word, unsigned value);
/* Wakes all threads of all processes that are blocked on the word. */
void mo_shm_futex_wake(atomic_uint *word);

#endif
