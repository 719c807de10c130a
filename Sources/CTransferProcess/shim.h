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

// Its ends are closed in children that others start at the same time.
static inline int transfer_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC | O_NONBLOCK); }

// A file in memory (memfd_create(2)), closed in children that others start at the same time.
static inline int transfer_memory_file(const char *name) { return (int)syscall(SYS_memfd_create, name, 1u); }
