/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signals.h - SIGTERM and SIGINT as bytes in a pipe, for a thread to read.
 *
 * One at a time can have them in a process.
 */
#ifndef MO_EXEC_TRANSPORT_SIGNAL_PIPE_H
#define MO_EXEC_TRANSPORT_SIGNAL_PIPE_H

/* From here on each is written to fd as one byte, its number. */
void mo_signal_pipe_install(int fd);

/* They do nothing any more. */
void mo_signal_pipe_ignore(void);

/* They do what they did before. */
void mo_signal_pipe_restore(void);

#endif
