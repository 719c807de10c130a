// C's structure of time, as a whole number. Apart from CTransferLinux, as Swift counts a structure of C to the module that
// it met first of all that show it: TransferCore has `stat` in its face, which must stay Glibc's.
#pragma once
#include <stdint.h>
#include <time.h>

// Of times that are further from 1970 than 292 years: the first or the last that fits.
static inline int64_t transfer_nanoseconds(struct timespec time) {
    int64_t result;
    if (__builtin_mul_overflow((int64_t)time.tv_sec, 1000000000, &result)
        || __builtin_add_overflow(result, (int64_t)time.tv_nsec, &result))
        return time.tv_sec < 0 ? INT64_MIN : INT64_MAX;
    return result;
}
