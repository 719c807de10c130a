// Digests whose state can be written down and gone on with by another process. OpenSSL's EVP can't do that; the functions
// from before EVP can, as their state is a plain structure. They are deprecated since 3.0 for new code, and kept.
#pragma once
#include <openssl/md5.h>
#include <openssl/sha.h>
#include <string.h>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum transfer_digest_kind { TRANSFER_SHA256, TRANSFER_SHA512, TRANSFER_SHA1, TRANSFER_MD5 };

typedef struct transfer_durable_digest {
    enum transfer_digest_kind kind;
    union {
        SHA256_CTX sha256;
        SHA512_CTX sha512;
        SHA_CTX sha1;
        MD5_CTX md5;
    } state;
} transfer_durable_digest;

static inline void transfer_durable_digest_begin(transfer_durable_digest *digest, enum transfer_digest_kind kind) {
    memset(digest, 0, sizeof *digest);
    digest->kind = kind;
    switch (kind) {
    case TRANSFER_SHA256: SHA256_Init(&digest->state.sha256); break;
    case TRANSFER_SHA512: SHA512_Init(&digest->state.sha512); break;
    case TRANSFER_SHA1: SHA1_Init(&digest->state.sha1); break;
    case TRANSFER_MD5: MD5_Init(&digest->state.md5); break;
    }
}

static inline void transfer_durable_digest_update(transfer_durable_digest *digest, const void *bytes, size_t count) {
    switch (digest->kind) {
    case TRANSFER_SHA256: SHA256_Update(&digest->state.sha256, bytes, count); break;
    case TRANSFER_SHA512: SHA512_Update(&digest->state.sha512, bytes, count); break;
    case TRANSFER_SHA1: SHA1_Update(&digest->state.sha1, bytes, count); break;
    case TRANSFER_MD5: MD5_Update(&digest->state.md5, bytes, count); break;
    }
}

// Room for 64 bytes.
static inline void transfer_durable_digest_finish(transfer_durable_digest *digest, unsigned char *result) {
    switch (digest->kind) {
    case TRANSFER_SHA256: SHA256_Final(result, &digest->state.sha256); break;
    case TRANSFER_SHA512: SHA512_Final(result, &digest->state.sha512); break;
    case TRANSFER_SHA1: SHA1_Final(result, &digest->state.sha1); break;
    case TRANSFER_MD5: MD5_Final(result, &digest->state.md5); break;
    }
}

#pragma GCC diagnostic pop
