/* Tells the thread sanitizer what Swift's runtime orders, which isn't instrumented; `make tsan` preloads this.
 *
 * - Mutex: its uncontended path is inlined and seen; a lock taken in the contended one looked like none at all.
 * - Arrays and other values that are copied when written: who lets go of its copy comes before whoever finds itself
 *   the only owner, and so writes in place.
 *
 * The calls go through to the runtime, and the sanitizer hears of them. Nothing else is ordered by this. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

#define HANDLE __attribute__((swift_context)) void *handle
#define SWIFT __attribute__((swiftcall))

/* Only in programs that are built with the sanitizer. */
extern void __tsan_acquire(void *) __attribute__((weak));
extern void __tsan_release(void *) __attribute__((weak));

/* Synchronization._MutexHandle._lockSlow(UInt32) */
SWIFT void lock_slow(uint32_t, HANDLE) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
/* Synchronization._MutexHandle._unlockSlow() */
SWIFT void unlock_slow(HANDLE) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

typedef SWIFT void (*lock_function)(uint32_t, HANDLE);
typedef SWIFT void (*unlock_function)(HANDLE);

static lock_function next_lock;
static unlock_function next_unlock;
static void (*next_release)(void *);
static _Bool (*next_is_unique)(const void *);

/* Looked up before there are threads where that's possible: it takes locks of its own. */
__attribute__((constructor)) static void find(void) {
    next_lock = (lock_function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
    next_unlock = (unlock_function)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF");
    next_release = (void (*)(void *))dlsym(RTLD_NEXT, "swift_release");
    next_is_unique = (_Bool(*)(const void *))dlsym(RTLD_NEXT, "swift_isUniquelyReferenced_nonNull_native");
}

SWIFT void lock_slow(uint32_t thread, HANDLE) {
    if (!next_lock) find();
    next_lock(thread, handle);
    if (__tsan_acquire) __tsan_acquire(handle);
}

SWIFT void unlock_slow(HANDLE) {
    if (__tsan_release) __tsan_release(handle);
    if (!next_unlock) find();
    next_unlock(handle);
}

void swift_release(void *object) {
    if (!next_release) find();
    if (object && __tsan_release) __tsan_release(object);
    next_release(object);
}

_Bool swift_isUniquelyReferenced_nonNull_native(const void *object) {
    if (!next_is_unique) find();
    _Bool is_unique = next_is_unique(object);
    if (is_unique && __tsan_acquire) __tsan_acquire((void *)object);
    return is_unique;
}
