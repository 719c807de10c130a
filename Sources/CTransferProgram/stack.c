// A small stack (ulimit -s) ends a process by SIGSEGV: in constructors of libraries on its first thread, and later on its
// other threads, whose stacks get the same size. The first thread of the command does little; the work is done by others.
#include "CTransferProgram.h"
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

/// Of the first thread: less where the system doesn't give it. 8 MiB, as Linux has it by default.
static const rlim_t usual = 8 << 20;
/// Constructors of Swift's runtime and the dynamic linker take 40 KiB of it.
static const rlim_t needed = 96 << 10;

static void end_with(const char *words) {
    ssize_t written = write(STDERR_FILENO, words, strlen(words));
    (void)written;
    _exit(1);
}

/// Before the constructors of all libraries. Arguments and environment stand on the same stack, above this frame.
static void look_at_stack(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= usual) return;
    rlim_t before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < usual ? limit.rlim_max : usual;
    if (limit.rlim_cur <= before || setrlimit(RLIMIT_STACK, &limit) != 0) limit.rlim_cur = before;
    const char *top = (const char *)getauxval(AT_EXECFN);
    const char here = 0;
    rlim_t used = top > &here ? (rlim_t)(top - &here) : 0;
    if (limit.rlim_cur < used + needed)
        end_with("transfer: too little stack: 96 KiB are needed beside the arguments and the environment; "
                 "raise the limit with ulimit -s, or LimitSTACK= in a unit\n");
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = look_at_stack;

void transfer_limits_widen_stacks(void) {
    pthread_attr_t attributes;
    size_t size = 0;
    if (pthread_getattr_default_np(&attributes) != 0) return;
    // Threads have 2 MiB where the limit is "unlimited"; that is enough.
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < 2 << 20 &&
        pthread_attr_setstacksize(&attributes, usual) == 0)
        pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}
