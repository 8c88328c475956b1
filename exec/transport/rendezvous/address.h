/* SPDX-License-Identifier: Apache-2.0 */
/*
 * address.h - TCP sockets by address: resolve, listen, connect.
 *
 * An address is 16 bytes: IPv6, or IPv4-mapped (::ffff:1.2.3.4).
 */
#ifndef MO_EXEC_TRANSPORT_RENDEZVOUS_ADDRESS_H
#define MO_EXEC_TRANSPORT_RENDEZVOUS_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { MO_RDV_ADDRESS_BYTES = 16, MO_RDV_ADDRESS_TEXT = 64 };

extern const uint8_t mo_rdv_address_loopback[MO_RDV_ADDRESS_BYTES];

/* Returns false for other families, and for link-local addresses. */
bool mo_rdv_address_from_sockaddr(const struct sockaddr *from,
                                  uint8_t to[MO_RDV_ADDRESS_BYTES]);

/* Resolves a number or a name, such as "10.0.0.7", "::1" or "tau", to at most
 * n addresses. Returns their number; 0: none; -1: out of memory. */
int mo_rdv_address_resolve(const char *host,
                           uint8_t (*found)[MO_RDV_ADDRESS_BYTES], int n);

bool mo_rdv_address_is_loopback(const uint8_t address[MO_RDV_ADDRESS_BYTES]);

/* Returns whether host is "localhost", or a loopback address as a number; then
 * address is set. The machine's own name may resolve to loopback, too, but
 * means the machine as others see it. */
bool mo_rdv_address_parse_loopback(const char *host,
                                   uint8_t address[MO_RDV_ADDRESS_BYTES]);

bool mo_rdv_address_equal(const uint8_t a[MO_RDV_ADDRESS_BYTES],
                          const uint8_t b[MO_RDV_ADDRESS_BYTES]);

/* Formats the address of the other end of a socket, without its port; that of a
 * Unix socket is "this machine". */
void mo_rdv_address_format(const struct sockaddr *from,
                           char text[MO_RDV_ADDRESS_TEXT]);

/* Returns a nonblocking listening socket; address NULL: any, port 0: any. -1
 * with errno on failure. The caller closes it. */
int mo_rdv_socket_listen(const uint8_t *address, int port, int backlog);
int mo_rdv_socket_local_port(int listener);

/* Returns a connected, nonblocking socket, which the caller closes; -1 on
 * failure. */
int mo_rdv_socket_connect(const uint8_t address[MO_RDV_ADDRESS_BYTES], int port,
                          int64_t deadline_ns);

/* Returns whether these poll events have occurred by the deadline. */
bool mo_rdv_socket_poll(int socket, short events, int64_t deadline_ns);

/* Returns the milliseconds until the deadline, at most at_most_ns, for poll();
 * 0 when it has passed. */
int mo_rdv_timeout_ms(int64_t deadline_ns, int64_t at_most_ns);

#endif
