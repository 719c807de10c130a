#pragma once
#if !__has_include(<openssl/evp.h>)
#error "OpenSSL is missing: apt-get install libssl-dev"
#endif
#include <openssl/evp.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/crypto.h>
#include "x509.h"
#include "handshake.h"
#include "durable_digest.h"
