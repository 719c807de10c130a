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
static inline X509_CRL *transfer_pem_revocation_list(BIO *bio) {
    return PEM_read_bio_X509_CRL(bio, NULL, transfer_passphrase, NULL);
}

static inline int transfer_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int transfer_error_library(unsigned long code) { return ERR_GET_LIB(code); }

// A name as RFC 2253 writes it, in UTF-8.
static inline int transfer_name_print(BIO *bio, const X509_NAME *name) {
    return X509_NAME_print_ex(bio, name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
}

// Where an authority says what it took back: OCSP responders (RFC 5280 §4.2.2.1) and lists (§4.2.1.13).
static inline STACK_OF(OPENSSL_STRING) *transfer_x509_responders(X509 *certificate) {
    return X509_get1_ocsp(certificate);
}
static inline int transfer_strings_count(const STACK_OF(OPENSSL_STRING) *strings) {
    return strings ? sk_OPENSSL_STRING_num(strings) : 0;
}
static inline const char *transfer_strings_value(const STACK_OF(OPENSSL_STRING) *strings, int index) {
    return sk_OPENSSL_STRING_value(strings, index);
}
static inline void transfer_strings_free(STACK_OF(OPENSSL_STRING) *strings) { X509_email_free(strings); }
static inline CRL_DIST_POINTS *transfer_x509_list_points(const X509 *certificate) {
    return (CRL_DIST_POINTS *)X509_get_ext_d2i(certificate, NID_crl_distribution_points, NULL, NULL);
}
static inline int transfer_list_points_count(const CRL_DIST_POINTS *points) {
    return points ? sk_DIST_POINT_num(points) : 0;
}
// The names of one; NULL where it has none, or only some reasons or another issuer's list, which this doesn't read.
static inline const GENERAL_NAMES *transfer_list_point_names(const CRL_DIST_POINTS *points, int index) {
    const DIST_POINT *point = sk_DIST_POINT_value(points, index);
    if (point->reasons || point->CRLissuer || !point->distpoint || point->distpoint->type != 0) return NULL;
    return point->distpoint->name.fullname;
}
static inline void transfer_list_points_free(CRL_DIST_POINTS *points) { CRL_DIST_POINTS_free(points); }
static inline STACK_OF(X509_CRL) *transfer_crl_stack_new(void) { return sk_X509_CRL_new_null(); }
static inline int transfer_crl_stack_push(STACK_OF(X509_CRL) *stack, X509_CRL *list) {
    return sk_X509_CRL_push(stack, list);
}
static inline void transfer_crl_stack_free(STACK_OF(X509_CRL) *stack) { sk_X509_CRL_free(stack); }
