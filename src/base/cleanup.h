/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.h - removal of temporary files on a terminating signal.
 *
 * While a path is registered, a signal from outside that ends the process
 * (SIGINT, SIGTERM, SIGHUP and the like) removes the file first. Signals that
 * a program handles or ignores itself are left alone.
 */
#ifndef MO_BASE_CLEANUP_H
#define MO_BASE_CLEANUP_H

/* The caller keeps path valid and unchanged until it is unregistered. Capacity
 * is limited; beyond it a signal leaves the file, which is the only effect. */
void mo_cleanup_register(const char *path);
void mo_cleanup_unregister(const char *path);

/* The same for a folder with its contents. The remover is called by a signal
 * handler, and is the same one for all folders. */
typedef void mo_cleanup_remover(const char *path);
void mo_cleanup_register_folder(const char *path, mo_cleanup_remover *remover);
void mo_cleanup_unregister_folder(const char *path);

/* Removes all registered files and folders: for a process that is about to call
 * _exit. */
void mo_cleanup_run(void);

/* Called first by every command: afterwards a closed pipe (SIGPIPE) or a file
 * size limit (SIGXFSZ) is a failed write, reported like any other. */
void mo_cleanup_ignore_write_signals(void);

/* Opens descriptors 0 to 2 where a command was started without them, so that
 * files and connections cannot get these numbers and receive messages. */
void mo_cleanup_reserve_standard_fds(void);

#endif
