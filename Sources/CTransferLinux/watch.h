// What watching a folder needs: inotify(7), folders read entry by entry, what a file is like, and whether it's written.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <linux/stat.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "../CTransferTimes/times.h"

enum {
    TRANSFER_IN_MODIFY = IN_MODIFY,
    TRANSFER_IN_CLOSE_WRITE = IN_CLOSE_WRITE,
    TRANSFER_IN_MOVED_FROM = IN_MOVED_FROM,
    TRANSFER_IN_MOVED_TO = IN_MOVED_TO,
    TRANSFER_IN_CREATE = IN_CREATE,
    TRANSFER_IN_DELETE = IN_DELETE,
    TRANSFER_IN_DELETE_SELF = IN_DELETE_SELF,
    TRANSFER_IN_MOVE_SELF = IN_MOVE_SELF,
    TRANSFER_IN_UNMOUNT = IN_UNMOUNT,
    TRANSFER_IN_Q_OVERFLOW = IN_Q_OVERFLOW,
    TRANSFER_IN_IGNORED = IN_IGNORED,
    TRANSFER_IN_ONLYDIR = IN_ONLYDIR,
    TRANSFER_IN_MASK_ADD = IN_MASK_ADD,
    TRANSFER_IN_DONT_FOLLOW = IN_DONT_FOLLOW,
    TRANSFER_IN_EXCL_UNLINK = IN_EXCL_UNLINK,
    TRANSFER_IN_ISDIR = IN_ISDIR,
};

// A descriptor, or the error's number below zero.
static inline int transfer_inotify_create(void) {
    int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

// A watch, or the error's number below zero.
static inline int transfer_inotify_add(int descriptor, const char *path, uint32_t mask) {
    int watch = inotify_add_watch(descriptor, path, mask);
    return watch >= 0 ? watch : -errno;
}

static inline void transfer_inotify_remove(int descriptor, int watch) { inotify_rm_watch(descriptor, watch); }

// A folder as a place to look things up from, which needs no right to read it; links are followed or refused.
static inline int transfer_open_place(int folder, const char *name, int follows) {
    int descriptor = openat(folder, name, __O_PATH | O_DIRECTORY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW));
    return descriptor >= 0 ? descriptor : -errno;
}

// What a link leads to, held without being opened.
static inline int transfer_open_target(int folder, const char *name) {
    int descriptor = openat(folder, name, __O_PATH | O_CLOEXEC);
    return descriptor >= 0 ? descriptor : -errno;
}

// The same folder, opened for reading its entries.
static inline DIR *transfer_open_entries(int folder) {
    int descriptor = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return NULL;
    DIR *entries = fdopendir(descriptor);
    if (entries == NULL) {
        int number = errno;
        close(descriptor);
        errno = number;
    }
    return entries;
}

// The next name, which is good until the next call; NULL at the end or with the error's number.
static inline const char *transfer_next_entry(DIR *entries, int *kind, int *error) {
    errno = 0;
    struct dirent *entry = readdir(entries);
    *error = entry == NULL ? errno : 0;
    if (entry == NULL) return NULL;
    *kind = entry->d_type;
    return entry->d_name;
}

struct transfer_file_look {
    uint64_t device, inode, links;
    int64_t size;
    // Nanoseconds since 1970.
    int64_t modified, changed;
    // S_IFMT of the mode.
    uint32_t kind;
};

static inline void transfer_note_look(const struct stat *status, struct transfer_file_look *look) {
    look->device = status->st_dev;
    look->inode = status->st_ino;
    look->links = status->st_nlink;
    look->size = status->st_size;
    look->modified = transfer_nanoseconds(status->st_mtim);
    look->changed = transfer_nanoseconds(status->st_ctim);
    look->kind = status->st_mode & S_IFMT;
}

// What is there under the name, a link being a link.
static inline int transfer_look(int folder, const char *name, struct transfer_file_look *look) {
    struct stat status;
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    transfer_note_look(&status, look);
    return 0;
}

static inline int transfer_look_at_descriptor(int descriptor, struct transfer_file_look *look) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return errno;
    transfer_note_look(&status, look);
    return 0;
}

// When the file was made, in nanoseconds since 1970, by its file system's clock; INT64_MIN where that isn't told. Links
// are followed.
static inline int64_t transfer_born(int folder, const char *name) {
    struct statx status;
    // glibc shows its own function to GNU's programs alone.
    if (syscall(SYS_statx, folder, name, 0, STATX_BTIME, &status) != 0 || !(status.stx_mask & STATX_BTIME)
        || status.stx_btime.tv_sec <= 0)
        return INT64_MIN;
    struct timespec born = {status.stx_btime.tv_sec, status.stx_btime.tv_nsec};
    return transfer_nanoseconds(born);
}

static inline int64_t transfer_file_system_of(int descriptor) {
    struct statfs status;
    return fstatfs(descriptor, &status) == 0 ? (int64_t)status.f_type : -1;
}

// Whether somebody has the file open for writing: 1 yes, 0 no, -1 the kernel doesn't say. It gives out a read lease
// only where nobody has (fcntl(2), F_SETLEASE), and only to the owner of the file or with CAP_LEASE. The lease is
// handed back at once; who opens the file in between waits that long.
static inline int transfer_is_written(int folder, const char *name, uint64_t inode, int follows) {
    int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW);
    int descriptor = openat(folder, name, flags);
    // Somebody else has a lease for writing.
    if (descriptor < 0) return errno == EWOULDBLOCK ? 1 : -1;
    int answer = -1;
    struct stat status;
    if (fstat(descriptor, &status) == 0 && status.st_ino == inode && S_ISREG(status.st_mode)) {
        // What is sent when somebody waits for the lease: by itself SIGIO, which would end the process.
        if (fcntl(descriptor, __F_SETSIG, SIGURG) == 0) {
            if (fcntl(descriptor, 1024 /* F_SETLEASE */, F_RDLCK) == 0) {
                answer = 0;
                fcntl(descriptor, 1024, F_UNLCK);
            } else if (errno == EAGAIN) {
                answer = 1;
            }
        }
    }
    close(descriptor);
    return answer;
}
