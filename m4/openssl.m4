# SPDX-License-Identifier: Apache-2.0
# MO_OPENSSL
# TLS 1.3 between ranks; version 3 of the library.
AC_DEFUN([MO_OPENSSL], [
  MO_WITH([openssl], [system /usr/local])
  AS_IF([test "$mo_found" = no],
    [MO_FIND([OPENSSL], [openssl/ssl.h], [ssl -lcrypto],
       [SSL_CTX_set_psk_use_session_callback(0, 0); OPENSSL_version_major()])])
  AS_IF([test "$mo_found" = yes],
    [MO_CONSTANT([mo_major], [OPENSSL], [openssl/opensslv.h], [OPENSSL_VERSION_MAJOR])
     MO_CONSTANT([mo_minor], [OPENSSL], [openssl/opensslv.h], [OPENSSL_VERSION_MINOR])
     MO_CONSTANT([mo_patch], [OPENSSL], [openssl/opensslv.h], [OPENSSL_VERSION_PATCH])])
  MO_CONCLUDE([openssl], [OPENSSL], [OpenSSL], [$mo_major.$mo_minor.$mo_patch],
    [tokens and certificates between ranks (package libssl-dev)])
])
