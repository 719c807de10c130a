import Glibc

/// A door that threads wait at until somebody opens it.
final class Gate: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    init() { sem_init(semaphore, 0, 0) }
    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }
    func pass() { while sem_wait(semaphore) != 0 {} }
    func letThrough() { sem_post(semaphore) }
}
