// A verdict on a server's certificates that is asked for inside a TLS handshake and given outside of it.
//
// The handshake runs as an OpenSSL ASYNC job, on a small stack of its own: what happens there is written in C, and does
// no more than put the question into a list and pause. Everything here is used on one thread at a time.
#pragma once
#include <openssl/async.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>

enum transfer_verdict { TRANSFER_UNASKED, TRANSFER_ASKED, TRANSFER_ACCEPTED, TRANSFER_REFUSED };

typedef struct transfer_handshake {
    enum transfer_verdict verdict;
    // One for the SSL_CTX, one for whoever gives the verdict.
    int references;
    // Whether a stapled OCSP answer is waited for; it comes after the certificates in TLS 1.2.
    int wants_staple;
    // Answers at once, on the stack of the handshake; NULL puts the question into the list.
    void (*judge)(struct transfer_handshake *);
    void *owner;
    // While the question is open:
    SSL *ssl;
    STACK_OF(X509) *chain;
    // The X509 error for the alert to the server.
    int error;
    // Whether the peer has said by a closing alert that nothing more follows.
    int has_closed;
    // Of what was accepted, for a renegotiation.
    X509 *accepted;
    struct transfer_handshake **list;
    struct transfer_handshake *next;
} transfer_handshake;

static inline transfer_handshake *transfer_handshake_new(void) {
    transfer_handshake *handshake = calloc(1, sizeof *handshake);
    if (handshake) handshake->references = 1;
    return handshake;
}

static inline void transfer_handshake_release(transfer_handshake *handshake) {
    if (!handshake || --handshake->references > 0) return;
    X509_free(handshake->accepted);
    free(handshake);
}

static inline int transfer_handshake_ask(transfer_handshake *handshake, SSL *ssl, STACK_OF(X509) *chain) {
    X509 *leaf = chain && sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : NULL;
    if (!leaf) return 0;
    // A renegotiation may ask again: nobody is there any more to judge, so the server has to be the one it was.
    if (handshake->verdict == TRANSFER_ACCEPTED) return handshake->accepted && X509_cmp(leaf, handshake->accepted) == 0;
    if (handshake->verdict == TRANSFER_UNASKED) {
        handshake->ssl = ssl;
        handshake->chain = chain;
        handshake->verdict = TRANSFER_ASKED;
        if (handshake->judge) {
            handshake->judge(handshake);
        } else {
            handshake->next = *handshake->list;
            *handshake->list = handshake;
        }
    }
    while (handshake->verdict == TRANSFER_ASKED) {
        // Outside of a job there is nothing to pause: what isn't accepted is refused.
        if (!ASYNC_get_current_job() || !ASYNC_pause_job()) return 0;
    }
    SSL_clear_mode(ssl, SSL_MODE_ASYNC);
    handshake->ssl = NULL;
    handshake->chain = NULL;
    if (handshake->verdict != TRANSFER_ACCEPTED) return 0;
    X509_up_ref(leaf);
    handshake->accepted = leaf;
    return 1;
}

// In place of OpenSSL's own verification of the chain.
static int transfer_handshake_verify(X509_STORE_CTX *store, void *argument) {
    transfer_handshake *handshake = argument;
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    if (!ssl) return 0;
    if (handshake->wants_staple && handshake->verdict == TRANSFER_UNASKED && SSL_version(ssl) < TLS1_3_VERSION)
        return 1;
    int accepted = transfer_handshake_ask(handshake, ssl, X509_STORE_CTX_get0_untrusted(store));
    X509_STORE_CTX_set_error(
        store, accepted ? X509_V_OK : handshake->error ? handshake->error : X509_V_ERR_APPLICATION_VERIFICATION);
    return accepted;
}

// Called before anything is sent that depends on the server's identity, also when there is no stapled answer.
static int transfer_handshake_status(SSL *ssl, void *argument) {
    transfer_handshake *handshake = argument;
    if (handshake->verdict == TRANSFER_ACCEPTED || SSL_session_reused(ssl)) return 1;
    return transfer_handshake_ask(handshake, ssl, SSL_get_peer_cert_chain(ssl));
}

static void transfer_handshake_free(
    void *parent, void *pointer, CRYPTO_EX_DATA *data, int index, long number, void *argument) {
    (void)parent, (void)data, (void)index, (void)number, (void)argument;
    transfer_handshake_release(pointer);
}

// An index for `transfer_handshake_install`; once per process.
static inline int transfer_handshake_index(void) {
    return SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, transfer_handshake_free);
}

// The handshake that made a connection, kept beyond that connection's end; NULL where it wasn't ours.
static inline transfer_handshake *transfer_handshake_retained(void *ssl, int index) {
    transfer_handshake *handshake = ssl ? SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), index) : NULL;
    if (handshake) handshake->references++;
    return handshake;
}

// The index of `transfer_handshake_install`, for the callback that is installed with it: each source file that includes
// this one has its own.
static int transfer_handshake_slot = -1;

// libcurl's options make OpenSSL report a connection that was cut as one that was closed: the alert itself tells.
static void transfer_handshake_told(const SSL *ssl, int where, int value) {
    if (where != SSL_CB_READ_ALERT || (value & 0xff) != SSL_AD_CLOSE_NOTIFY) return;
    transfer_handshake *handshake = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), transfer_handshake_slot);
    if (handshake) handshake->has_closed = 1;
}

// Makes `handshake` decide about the connection that `context` is for. Returns whether it does.
static inline int transfer_handshake_install(SSL_CTX *context, transfer_handshake *handshake, int index) {
    if (SSL_CTX_set_ex_data(context, index, handshake) != 1) return 0;
    handshake->references++;
    transfer_handshake_slot = index;
    SSL_CTX_set_info_callback(context, transfer_handshake_told);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, transfer_handshake_verify, handshake);
    if (handshake->wants_staple) {
        SSL_CTX_set_tlsext_status_type(context, TLSEXT_STATUSTYPE_ocsp);
        SSL_CTX_set_tlsext_status_cb(context, transfer_handshake_status);
        SSL_CTX_set_tlsext_status_arg(context, handshake);
    }
    if (!handshake->judge) SSL_CTX_set_mode(context, SSL_MODE_ASYNC);
    return 1;
}

static inline int transfer_handshake_count(const transfer_handshake *handshake) {
    return handshake->chain ? sk_X509_num(handshake->chain) : 0;
}

static inline X509 *transfer_handshake_certificate(const transfer_handshake *handshake, int index) {
    return sk_X509_value(handshake->chain, index);
}

// The stapled OCSP answer; 0 when there is none.
static inline long transfer_handshake_staple(const transfer_handshake *handshake, const unsigned char **bytes) {
    unsigned char *answer = NULL;
    long length = handshake->ssl ? SSL_get_tlsext_status_ocsp_resp(handshake->ssl, &answer) : 0;
    *bytes = answer;
    return length > 0 ? length : 0;
}

// Shows `certificate` to a server that asks for one. Returns whether the key belongs to it.
static inline int transfer_context_use_identity(SSL_CTX *context, X509 *certificate, EVP_PKEY *key) {
    return SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1 &&
           SSL_CTX_check_private_key(context) == 1;
}

static inline int transfer_context_add_chain(SSL_CTX *context, X509 *certificate) {
    return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline int transfer_context_limit_to_tls12(SSL_CTX *context) {
    return (int)SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
}

static inline int transfer_context_max_version(SSL_CTX *context) {
    return (int)SSL_CTX_get_max_proto_version(context);
}
