#pragma once
#if !__has_include(<libpsl.h>)
#error "libpsl is missing: apt-get install libpsl-dev"
#endif
#include <libpsl.h>

// The newer of the system's list and the one built into libpsl; NULL where there is neither. Never freed.
static inline const psl_ctx_t *transfer_psl_list(void) {
    const psl_ctx_t *latest = psl_latest(NULL);
    return latest ? latest : psl_builtin();
}

// Lower case and punycode. A single label that no rule knows counts as a public suffix.
static inline int transfer_psl_is_public_suffix(const psl_ctx_t *list, const char *domain) {
    return psl_is_public_suffix(list, domain);
}

// Points into `domain`; NULL for a public suffix.
static inline const char *transfer_psl_registrable(const psl_ctx_t *list, const char *domain) {
    return psl_registrable_domain(list, domain);
}
