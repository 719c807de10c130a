internal import Glibc

/// A gate at which threads wait until a test opens it.
///
/// `@unchecked Sendable`: several threads may use a semaphore.
public final class Gate: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    public init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    public func pass() { while sem_wait(semaphore) != 0 {} }

    public func letThrough(_ count: Int = 1) { for _ in 0..<count { sem_post(semaphore) } }
}
