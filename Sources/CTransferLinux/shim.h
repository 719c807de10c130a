// Linux's own calls that Swift's Glibc module leaves out, or shows with types that are awkward to use.
#pragma once
// Without _GNU_SOURCE: with it, glibc's types would differ from those of Swift's own Glibc module.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <linux/sockios.h>
#include <sys/timex.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

static inline int transfer_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int transfer_epoll_control(int epoll, int operation, int descriptor, uint32_t events, uint64_t tag) {
    struct epoll_event event = {.events = events, .data = {.u64 = tag}};
    return epoll_ctl(epoll, operation, descriptor, &event);
}

static inline uint64_t transfer_epoll_tag(const struct epoll_event *event) { return event->data.u64; }

enum {
    TRANSFER_EPOLL_ADD = EPOLL_CTL_ADD,
    TRANSFER_EPOLL_MODIFY = EPOLL_CTL_MOD,
    TRANSFER_EPOLL_DELETE = EPOLL_CTL_DEL,
    TRANSFER_EPOLL_IN = EPOLLIN,
    TRANSFER_EPOLL_OUT = EPOLLOUT,
    TRANSFER_EPOLL_ERROR = EPOLLERR,
    TRANSFER_EPOLL_HANG_UP = EPOLLHUP,
    TRANSFER_EPOLL_PRIORITY = EPOLLPRI,
};

static inline int transfer_eventfd(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }
// CLOCK_BOOTTIME goes on while the machine is suspended; what was due meanwhile is due when it wakes up.
static inline int transfer_timerfd(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK); }

static inline int transfer_timerfd_set(int descriptor, int64_t nanoseconds) {
    struct itimerspec value = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &value, NULL);
}

static inline void transfer_name_thread(const char *name) { prctl(PR_SET_NAME, name); }

// SCHED_BATCH for the calling thread, unless somebody chose another policy than the usual one (sched(7)). Its macro needs
// _GNU_SOURCE; linux/sched.h would clash with what glibc shows without it.
#define TRANSFER_SCHED_BATCH 3
static inline void transfer_yield_to_others(void) {
    struct sched_param parameters = {0};
    if (sched_getscheduler(0) == SCHED_OTHER) sched_setscheduler(0, TRANSFER_SCHED_BATCH, &parameters);
}

// A file without a name, closed in programs that are run.
static inline int transfer_memory_file(const char *name) {
    return (int)syscall(SYS_memfd_create, name, 1u /* MFD_CLOEXEC */);
}

// The number `to` stands for the open file of `from` from then on; what it stood for before is closed (dup3(2), which needs
// _GNU_SOURCE).
static inline int transfer_replace_descriptor(int from, int to) { return (int)syscall(SYS_dup3, from, to, O_CLOEXEC); }

// Copies bytes from one open file to the other within the kernel, which shares their blocks where the file system can
// (copy_file_range(2), which needs _GNU_SOURCE). Both files go on behind them.
static inline int64_t transfer_copy_range(int from, int to, uint64_t count) {
    return syscall(SYS_copy_file_range, from, NULL, to, NULL, count, 0);
}

// Whether the file system has no space for a file of this length, of which some may be there. One that can't reserve isn't
// judged: what it compresses takes less.
static inline int transfer_lacks_space(int descriptor, int64_t length) {
    struct stat file;
    struct statvfs disk;
    if (syscall(SYS_fallocate, descriptor, FALLOC_FL_KEEP_SIZE, (int64_t)0, (int64_t)1) != 0) return errno == ENOSPC;
    if (fstat(descriptor, &file) != 0 || fstatvfs(descriptor, &disk) != 0) return 0;
    uint64_t space = (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) * (uint64_t)disk.f_frsize;
    return (uint64_t)length > space + (uint64_t)file.st_blocks * 512;
}

// Reserves blocks without changing the file's size, so that the size goes on telling how much was written. Where there
// aren't enough, file systems may keep what they got (ext4).
static inline int transfer_reserve(int descriptor, int64_t length) {
    return syscall(SYS_fallocate, descriptor, FALLOC_FL_KEEP_SIZE, (int64_t)0, length) == 0 ? 0 : errno;
}

// The start of the first hole of a file (lseek(2), SEEK_HOLE); its end where it has none, -1 where that can't be told.
static inline int64_t transfer_first_hole(int descriptor) {
    return syscall(SYS_lseek, descriptor, (int64_t)0, 4 /* SEEK_HOLE */);
}

// Whether a file system lacks the call, as opposed to a refusal of this one file. FUSE, shared folders and FAT-like file
// systems say it in several ways: renameat2(2) and link(2) name EINVAL, ENOSYS, EOPNOTSUPP and EPERM, and servers behind FUSE
// answer EIO to a request that they don't know.
static inline int transfer_lacks_call(int number) {
    return number == EINVAL || number == ENOSYS || number == EOPNOTSUPP || number == EPERM || number == EIO
        || number == EMLINK;
}

// Takes the new name by an empty file that is made exclusively, and renames over it: for file systems that have neither
// RENAME_NOREPLACE nor hard links. What another process wrote to the empty file meanwhile is left (EEXIST).
static inline int transfer_rename_claimed_at(int from_folder, const char *from, int to_folder, const char *to) {
    int descriptor = openat(to_folder, to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor < 0) return errno;
    close(descriptor);
    struct stat claimed;
    if (fstatat(to_folder, to, &claimed, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    if (!S_ISREG(claimed.st_mode) || claimed.st_size != 0) return EEXIST;
    if (renameat(from_folder, from, to_folder, to) == 0) return 0;
    int number = errno;
    unlinkat(to_folder, to, 0);
    return number;
}

// Renames only when nothing is there under the new name, by the first way that the file system has: RENAME_NOREPLACE, a
// second name by link(2), which refuses a name that exists, or an empty file that takes the name.
static inline int transfer_rename_new_at(int from_folder, const char *from, int to_folder, const char *to) {
    if (syscall(SYS_renameat2, from_folder, from, to_folder, to, 1 /* RENAME_NOREPLACE */) == 0) return 0;
    if (!transfer_lacks_call(errno)) return errno;
    if (linkat(from_folder, from, to_folder, to, 0) == 0) return unlinkat(from_folder, from, 0) == 0 ? 0 : errno;
    if (!transfer_lacks_call(errno)) return errno;
    return transfer_rename_claimed_at(from_folder, from, to_folder, to);
}

static inline int transfer_rename_new(const char *from, const char *to) {
    return transfer_rename_new_at(AT_FDCWD, from, AT_FDCWD, to);
}

// Whether the file's file system has hard links, which a second name shows that is taken away again at once.
static inline int transfer_has_links(const char *path) {
    size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    if (folder + 48 > PATH_MAX || length >= PATH_MAX) return 1;
    char name[PATH_MAX];
    memcpy(name, path, folder);
    snprintf(name + folder, sizeof name - folder, ".transfer-%d-%ld.link", (int)getpid(), (long)syscall(SYS_gettid));
    if (link(path, name) != 0) return !transfer_lacks_call(errno);
    unlink(name);
    return 1;
}

// Has the file system itself tell how a file looks: FUSE, NFS and CIFS else answer for a while with what they remember.
static inline void transfer_refresh_status(const char *path) {
    // A struct statx has 256 bytes.
    char answer[256];
    syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | 0x2000 /* AT_STATX_FORCE_SYNC */, 0x7ffu, answer);
}

// Whether a folder is of a FUSE file system (statfs(2)).
static inline int transfer_is_fuse(const char *folder) {
    struct statfs disk;
    return statfs(folder, &disk) == 0 && disk.f_type == 0x65735546;
}

// Makes a file that has all its bytes, and has them on the disk, when its name appears; EEXIST where there is one.
static inline int transfer_make_whole_file(
    const char *folder, const char *path, unsigned mode, const void *bytes, size_t count
) {
    int descriptor = open(folder, __O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
    if (descriptor < 0) return errno;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    int number = 0;
    if (fchmod(descriptor, mode) != 0) number = errno;
    else if (write(descriptor, bytes, count) != (ssize_t)count) number = errno ? errno : ENOSPC;
    else if (fsync(descriptor) != 0) number = errno;
    else if (linkat(AT_FDCWD, name, AT_FDCWD, path, AT_SYMLINK_FOLLOW) != 0) number = errno;
    close(descriptor);
    return number;
}

static inline int transfer_open_at(int folder, const char *name, int flags, unsigned mode) {
    return openat(folder, name, flags, mode);
}

// A folder that others are found from; it needn't be one that may be listed.
static inline int transfer_open_folder(const char *path) { return open(path, __O_PATH | O_DIRECTORY | O_CLOEXEC); }

// Opens a file of the folder for reading where that takes no disk: what leads to it is in memory, and on the folder's own
// mount (openat2(2): RESOLVE_CACHED, since Linux 5.12, and RESOLVE_NO_XDEV).
static inline int transfer_open_cached(int folder, const char *name) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = 0x20 | 0x01};
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

// Looks up a name beneath the folder: links that lead out of it, and the kernel's own (/proc), aren't followed (openat2(2):
// RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS; since Linux 5.6).
static inline int transfer_open_beneath(int folder, const char *name) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = __O_PATH | O_CLOEXEC, .resolve = 0x08 | 0x02};
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

// Opens what has the name beneath the folder, in the way in which transfer_open_beneath() looks it up.
static inline int transfer_open_beneath_as(int folder, const char *name, int flags) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = (uint64_t)flags | O_CLOEXEC, .resolve = 0x08 | 0x02};
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

// The same for a folder by which others are found.
static inline int transfer_open_folder_beneath(int folder, const char *name) {
    return transfer_open_beneath_as(folder, name, __O_PATH | O_DIRECTORY);
}

// Opens a file of the folder for reading where its name is no link (openat2(2): RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS).
static inline int transfer_open_plain(int folder, const char *name) {
    struct {
        uint64_t flags, mode, resolve;
    } how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = 0x08 | 0x04};
    return (int)syscall(SYS_openat2, folder, name, &how, sizeof how);
}

static inline int transfer_make_folder_at(int folder, const char *name) { return mkdirat(folder, name, 0777); }

// As much of a file's beginning as is in memory (preadv2(2), RWF_NOWAIT).
static inline int64_t transfer_read_cached(int descriptor, void *bytes, size_t count) {
    struct iovec piece = {.iov_base = bytes, .iov_len = count};
    return syscall(SYS_preadv2, descriptor, &piece, 1L, 0L, 0L, 0x08L);
}

// Makes everything durable that was written to the file system of this descriptor.
static inline int transfer_sync_file_system(int descriptor) {
    return syscall(SYS_syncfs, descriptor) == 0 ? 0 : errno;
}

// Readable when the process ends.
static inline int transfer_pidfd(int pid) { return (int)syscall(SYS_pidfd_open, pid, 0); }

// A file without a name in the folder (open(2), O_TMPFILE): it's gone with its descriptor unless it gets a name.
static inline int transfer_open_unnamed(const char *folder) {
    return open(folder, __O_TMPFILE | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0666);
}

// Gives an unnamed file a name that nothing has.
static inline int transfer_name(int descriptor, const char *path) {
    char source[32];
    snprintf(source, sizeof source, "/proc/self/fd/%d", descriptor);
    return linkat(AT_FDCWD, source, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

static inline int transfer_lock(int descriptor) { return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : errno; }

// Locks of an open file description, one byte each (fcntl(2)): glibc names the commands only with _GNU_SOURCE.
enum { TRANSFER_OFD_GETLK = 36, TRANSFER_OFD_SETLK = 37 };

// Takes or gives back the lock of a byte without waiting; 0, or errno.
static inline int transfer_set_byte_lock(int descriptor, int64_t byte, int isTaken) {
    struct flock lock = {.l_type = isTaken ? F_WRLCK : F_UNLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    return fcntl(descriptor, TRANSFER_OFD_SETLK, &lock) == 0 ? 0 : errno;
}

// Whether somebody else has the lock of a byte: 1 or 0, or -1 where that can't be told.
static inline int transfer_is_byte_locked(int descriptor, int64_t byte) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
    if (fcntl(descriptor, TRANSFER_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}

// Gives a file the blocks of another one, which both keep until one is written to (ioctl_ficlonerange(2)).
static inline int transfer_clone(int to, int from) {
    // FICLONE: <linux/fs.h> doesn't go with glibc's own headers.
    return ioctl(to, 0x40049409, from);
}

static inline int transfer_open(const char *path, int flags, unsigned mode) { return open(path, flags, mode); }

// The kind of file system, as statfs(2) numbers them.
static inline int64_t transfer_file_system(const char *path) {
    struct statfs status;
    return statfs(path, &status) == 0 ? (int64_t)status.f_type : -1;
}

// Whether somebody (NTP) keeps the clock, as the kernel has it: adjtimex(2).
static inline int transfer_clock_is_synchronised(void) {
    struct timex state = {.modes = 0};
    return adjtimex(&state) != TIME_ERROR && !(state.status & STA_UNSYNC);
}

// Bytes in a socket's send queue that the peer has not acknowledged (tcp(7)); -1 where the kernel does not say.
static inline int64_t transfer_unacknowledged(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) == 0 ? bytes : -1;
}
