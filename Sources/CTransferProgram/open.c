// libdispatch counts its running threads by /proc/TID/stat, about once a second while work waits, and ends the
// process where one of these files can't be opened ("registered worker exited prematurely",
// _dispatch_workq_monitor_pools): where /proc isn't mounted, and where no descriptor is left. No option turns that off.
// `open` of the program comes before `open` of the C library, in libdispatch as well: for these files, and no others, the
// failure becomes a descriptor that can't be read (EBADF), which libdispatch takes for a thread that doesn't run.
#include "CTransferProgram.h"
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <sys/types.h>

/// Above the kernel's highest number of descriptors (fs.nr_open is at most 2^31 - 64): nobody's.
static const int unreadable = INT_MAX;

/// "/proc/", the number of a thread, "/stat", by the flags of libdispatch.
static int is_state_of_a_thread(const char *path, int flags) {
    if (flags != (O_RDONLY | O_NONBLOCK)) return 0;
    static const char before[] = "/proc/", after[] = "/stat";
    if (strncmp(path, before, sizeof before - 1) != 0) return 0;
    const char *number = path + sizeof before - 1;
    size_t digits = strspn(number, "0123456789");
    return digits > 0 && strcmp(number + digits, after) == 0;
}

int open(const char *path, int flags, ...) {
    mode_t mode = 0;
    if ((flags & O_CREAT) != 0 || (flags & __O_TMPFILE) == __O_TMPFILE) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    int descriptor = openat(AT_FDCWD, path, flags, mode);
    return descriptor == -1 && is_state_of_a_thread(path, flags) ? unreadable : descriptor;
}
