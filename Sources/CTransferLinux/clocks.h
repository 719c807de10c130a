// C's structures of time, as whole numbers. Swift reads their members nowhere: it counts them to the module that it met
// first of all that show them, so that a file which imports Glibc may read them or not by what other files ask for.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include "../CTransferTimes/times.h"

// A clock's nanoseconds; below zero where the system doesn't have it.
static inline int64_t transfer_clock(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) == 0 ? transfer_nanoseconds(time) : -1;
}

// Seconds of processor time that the process has used, its own and the kernel's on its behalf; below zero where the
// system doesn't tell.
static inline double transfer_processor_time(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return -1;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

// Gives an open file its modification time, in nanoseconds since 1970; the time of the last reading stays.
static inline int transfer_set_modified(int descriptor, int64_t modified) {
    int64_t fraction = (modified % 1000000000 + 1000000000) % 1000000000;
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
                                {.tv_sec = (modified - fraction) / 1000000000, .tv_nsec = fraction}};
    return futimens(descriptor, times) == 0 ? 0 : errno;
}

// Gives a name, and not what a link leads to, both of its times.
static inline int transfer_set_times(const char *path, int64_t seconds, int64_t nanoseconds) {
    struct timespec time = {.tv_sec = seconds, .tv_nsec = nanoseconds};
    struct timespec times[2] = {time, time};
    return utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}
