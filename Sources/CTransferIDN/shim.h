#pragma once
#if !__has_include(<idn2.h>)
#error "libidn2 is missing: apt-get install libidn2-dev"
#endif
#include <idn2.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// One label to its A-label (UTS 46), in `form`, which has room for `capacity` bytes with the zero at the end.
// Symbols are valid in UTS 46 and in browsers, but not in IDNA 2008: libidn2 takes them in its transitional mode alone,
// which writes other letters for the four that IDNA 2003 knew otherwise, so that the caller says whether there are any.
// Returns IDN2_OK or what is wrong.
static inline int transfer_idn_label(const char *label, int has_deviations, char *form, size_t capacity) {
    uint8_t *found = NULL;
    int code = idn2_lookup_u8((const uint8_t *)label, &found, IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
    if (code == IDN2_DISALLOWED && !has_deviations)
        code = idn2_lookup_u8((const uint8_t *)label, &found, IDN2_NFC_INPUT | IDN2_TRANSITIONAL);
    if (code != IDN2_OK) return code;
    size_t length = strlen((const char *)found);
    if (length < capacity) memcpy(form, found, length + 1);
    else code = IDN2_TOO_BIG_LABEL;
    idn2_free(found);
    return code;
}

// In English or the language of the locale; never freed.
static inline const char *transfer_idn_words(int code) { return idn2_strerror(code); }
