// Calls for children that Swift's Glibc module leaves out.
#pragma once
// Without _GNU_SOURCE: with it, glibc's types would differ from those of Swift's own Glibc module.
#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <unistd.h>

// glibc declares it with _GNU_SOURCE only; it's there since 2.34.
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int first);

// The child closes every descriptor from that one on.
static inline int transfer_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

// A pipe whose ends are closed in children that others start at the same time. Only the end that is read doesn't block:
// programs expect standard streams that do, and the mark is of the open file description, which a child shares.
static inline int transfer_pipe(int ends[2]) {
    if (syscall(SYS_pipe2, ends, O_CLOEXEC) != 0) return -1;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK);
}
