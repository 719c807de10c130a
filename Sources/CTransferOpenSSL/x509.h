// OpenSSL's stacks and private types, which are macros in its headers, as functions that Swift can call.
#pragma once
#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdint.h>
#include <string.h>

// Stacks of certificates and lists of revoked ones. The stacks made here own nothing; `pop_free` is for those that do.
static inline STACK_OF(X509) *transfer_x509_stack_new(void) { return sk_X509_new_null(); }
static inline int transfer_x509_stack_push(STACK_OF(X509) *stack, X509 *value) { return sk_X509_push(stack, value); }
static inline int transfer_x509_stack_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *transfer_x509_stack_value(const STACK_OF(X509) *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline void transfer_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_free(stack); }
static inline void transfer_x509_stack_pop_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

// The names of a certificate (RFC 5280 §4.2.1.6); other kinds than DNS and IP have no bytes here.
static inline GENERAL_NAMES *transfer_x509_alternative_names(const X509 *certificate) {
    return (GENERAL_NAMES *)X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
}
static inline int transfer_names_count(const GENERAL_NAMES *names) { return names ? sk_GENERAL_NAME_num(names) : 0; }
static inline const uint8_t *transfer_name_bytes(const GENERAL_NAMES *names, int index, int *type, int *length) {
    const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, index);
    *type = name->type;
    const ASN1_STRING *text = NULL;
    if (name->type == GEN_DNS) text = name->d.dNSName;
    if (name->type == GEN_IPADD) text = name->d.iPAddress;
    if (name->type == GEN_URI) text = name->d.uniformResourceIdentifier;
    *length = text ? ASN1_STRING_length(text) : 0;
    return text ? ASN1_STRING_get0_data(text) : NULL;
}
static inline void transfer_names_free(GENERAL_NAMES *names) { GENERAL_NAMES_free(names); }

// Memory as a BIO: what OpenSSL prints, and what it parses.
static inline BIO *transfer_bio_memory(void) { return BIO_new(BIO_s_mem()); }
static inline long transfer_bio_contents(BIO *bio, char **contents) { return BIO_get_mem_data(bio, contents); }

// A passphrase that is there or isn't: without a callback OpenSSL would ask on the terminal.
static inline int transfer_passphrase(char *buffer, int size, int writing, void *passphrase) {
    (void)writing;
    if (!passphrase) return -1;
    size_t length = strlen((const char *)passphrase);
    if (length > (size_t)size) return -1;
    memcpy(buffer, passphrase, length);
    return (int)length;
}
static inline EVP_PKEY *transfer_pem_private_key(BIO *bio, const char *passphrase) {
    return PEM_read_bio_PrivateKey(bio, NULL, transfer_passphrase, (void *)passphrase);
}
static inline X509 *transfer_pem_certificate(BIO *bio) {
    return PEM_read_bio_X509_AUX(bio, NULL, transfer_passphrase, NULL);
}
static inline EVP_PKEY *transfer_pem_public_key(BIO *bio) {
    return PEM_read_bio_PUBKEY(bio, NULL, transfer_passphrase, NULL);
}
static inline X509_CRL *transfer_pem_revocation_list(BIO *bio) {
    return PEM_read_bio_X509_CRL(bio, NULL, transfer_passphrase, NULL);
}

static inline int transfer_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int transfer_error_library(unsigned long code) { return ERR_GET_LIB(code); }

// A name as RFC 2253 writes it, in UTF-8.
static inline int transfer_name_print(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}
