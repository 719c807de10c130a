import Glibc

/// A value behind a lock. `Mutex` is unsuitable: under contention it takes its lock inside the Swift runtime, where the
/// thread sanitizer cannot see it. The sanitizer then reports a race for every access; it does know the locks of
/// pthread.
///
/// `@unchecked Sendable` is safe because `value` is only accessed between lock and unlock.
final class Guarded<Value>: @unchecked Sendable {
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var value: Value

    init(_ value: Value) {
        self.value = value
        pthread_mutex_init(lock, nil)
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        pthread_mutex_lock(lock)
        defer { pthread_mutex_unlock(lock) }
        return body(&value)
    }
}
