// Swift ends the process by a signal where it gets no memory (ulimit -v, ulimit -d, vm.overcommit_memory=2). What is
// recorded is durable by then, as it is after kill -9; this says why the process ends.
#include "CTransferProgram.h"
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

void transfer_limits_widen_stacks(void);

/// More than the command asks for at once.
static const size_t probe = 16 << 20;

/// Of fatal signals. Nothing that it calls takes memory or locks.
static void explain(int number, siginfo_t *info, void *context) {
    (void)context;
    int code = errno;
    void *place = mmap(NULL, probe, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED && errno == ENOMEM) {
        static const char words[] = "transfer: out of memory: the system gives no more address space; raise the limit with "
                                    "ulimit -v or -d, or LimitAS= or LimitDATA= in a unit; the same command continues\n";
        ssize_t written = write(STDERR_FILENO, words, sizeof words - 1);
        (void)written;
        _exit(1);
    }
    if (place != MAP_FAILED) munmap(place, probe);
    errno = code;
    // The handler is gone (SA_RESETHAND): a faulting instruction raises its signal again, another sender has to.
    if (info == NULL || info->si_code <= 0) raise(number);
}

static int is_limited(int resource) {
    struct rlimit limit;
    return getrlimit(resource, &limit) == 0 && limit.rlim_cur < (rlim_t)4 << 30;
}

void transfer_limits_prepare(void) {
    transfer_limits_widen_stacks();
    // Each thread's pool reserves 64 MiB of addresses, whatever is used of them.
    if (is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA)) mallopt(M_ARENA_MAX, 1);
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGABRT};
    for (size_t index = 0; index < sizeof fatal / sizeof *fatal; index++) {
        struct sigaction before, action = {0};
        // A handler that is there already, such as the one of Swift's backtraces or of a sanitizer, stays.
        if (sigaction(fatal[index], NULL, &before) != 0 || before.sa_handler != SIG_DFL) continue;
        action.sa_sigaction = explain;
        action.sa_flags = SA_SIGINFO | SA_RESETHAND | SA_NODEFER;
        sigemptyset(&action.sa_mask);
        sigaction(fatal[index], &action, NULL);
    }
}
