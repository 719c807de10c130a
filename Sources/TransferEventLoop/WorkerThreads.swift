import CTransferLinux
import DequeModule
import Glibc
import TransferCore

/// The system's threads of a ``WorkerPool``.
///
/// `@unchecked Sendable`: `queue`, `idle`, `started` and `isStopping` are accessed only while `mutex` is held.
final class WorkerThreads: Workers, @unchecked Sendable {
    private let name: String
    private let limit: Int
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var queue = Deque<@Sendable () -> Void>()
    private var idle = 0
    private var started = 0
    private var isStopping = false

    init(name: String, limit: Int) {
        self.name = name
        self.limit = limit
        mutex = .allocate(capacity: 1)
        condition = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        // Threads hold the pool while they run, so none is left here.
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func execute(_ work: @escaping @Sendable () -> Void) {
        pthread_mutex_lock(mutex)
        queue.append(work)
        let mustStart = idle < queue.count && started < limit
        if mustStart { started += 1 }
        let mustWake = idle > 0
        pthread_mutex_unlock(mutex)
        // The signal follows the release of the lock, since the woken thread needs it at once.
        if mustWake { pthread_cond_signal(condition) }
        if mustStart { startThread() }
    }

    func stop() {
        pthread_mutex_lock(mutex)
        isStopping = true
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    private func startThread() {
        do {
            _ = try LoopThread.start(name: name) { [self] in runThread() }
        } catch {
            pthread_mutex_lock(mutex)
            started -= 1
            let isAlone = started == 0
            pthread_mutex_unlock(mutex)
            // Without any thread, the work runs here rather than never.
            if isAlone { runQueue() }
        }
    }

    private func runThread() {
        // A worker with queued work need not preempt other threads when it wakes. On machines with few processors,
        // those are the loops and the servers to which they are connected.
        transfer_yield_to_others()
        pthread_mutex_lock(mutex)
        while true {
            if !queue.isEmpty {
                var work: (@Sendable () -> Void)? = queue.removeFirst()
                pthread_mutex_unlock(mutex)
                work?()
                // Objects of the closure may need the lock: the last owner of a pool stops it.
                work = nil
                pthread_mutex_lock(mutex)
            } else if isStopping {
                break
            } else {
                idle += 1
                pthread_cond_wait(condition, mutex)
                idle -= 1
            }
        }
        started -= 1
        pthread_mutex_unlock(mutex)
    }

    private func runQueue() {
        while true {
            pthread_mutex_lock(mutex)
            let work = queue.popFirst()
            pthread_mutex_unlock(mutex)
            guard let work else { return }
            work()
        }
    }
}
