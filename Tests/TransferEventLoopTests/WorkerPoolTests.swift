import Dispatch
import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEventLoop

@Suite(.timeLimit(.minutes(1))) struct WorkerPoolTests {
    /// The last request that holds an engine may stop it in the same way.
    @Test func anObjectReleasedWithAJobMayStopThePool() async {
        final class Owner: Sendable {
            let pool: WorkerPool
            let stopped: CheckedContinuation<Void, Never>
            init(_ pool: WorkerPool, _ stopped: CheckedContinuation<Void, Never>) {
                self.pool = pool
                self.stopped = stopped
            }
            deinit {
                pool.stop()
                stopped.resume()
            }
        }
        let dropped = DispatchSemaphore(value: 0)
        await withCheckedContinuation { stopped in
            let pool = WorkerPool(name: "test", threads: 1)
            pool.execute { [owner = Owner(pool, stopped)] in withExtendedLifetime(owner) { dropped.wait() } }
            dropped.signal()
        }
    }

    @Test func theThreadsYieldTheProcessor() async throws {
        let pool = WorkerPool(name: "test", threads: 1)
        defer { pool.stop() }
        let usual = sched_getscheduler(getpid())
        let policy = try await pool.run { sched_getscheduler(0) }
        // SCHED_BATCH, which Glibc's module lacks. A different policy of the test process is kept.
        #expect(policy == (usual == SCHED_OTHER ? 3 : usual))
    }

    @Test(arguments: [1, 2, 4, 8])
    func runsEverythingOnAtMostSoManyThreads(_ threads: Int) async throws {
        struct Seen: Sendable { var now = 0, most = 0, all: Set<pthread_t> = [] }
        let pool = WorkerPool(name: "test", threads: threads)
        defer { pool.stop() }
        let seen = Locked(Seen())
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<400 {
                group.addTask {
                    try await pool.run {
                        seen.withLock { seen in
                            seen.now += 1
                            seen.most = max(seen.most, seen.now)
                            seen.all.insert(pthread_self())
                        }
                        sched_yield()
                        seen.withLock { $0.now -= 1 }
                        return number
                    }
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(sum == 400 * 399 / 2)
        #expect(seen.withLock { $0.most } <= threads)
        #expect(seen.withLock { $0.all.count } <= threads)
        #expect(!seen.withLock { $0.all.contains(pthread_self()) })
    }

    @Test func blockedWorkDoesNotHoldUpOtherThreads() async throws {
        let pool = WorkerPool(name: "test", threads: 3)
        defer { pool.stop() }
        let gate = Gate()
        for _ in 0..<2 { pool.execute { gate.pass() } }
        for number in 0..<50 { #expect(try await pool.run { number } == number) }
        gate.letThrough(2)
    }

    @Test func oneThreadKeepsTheOrder() async throws {
        let pool = WorkerPool(name: "test", threads: 1)
        defer { pool.stop() }
        let seen = Locked<[Int]>([])
        for number in 0..<1000 { pool.execute { seen.withLock { $0.append(number) } } }
        try await pool.run {}
        #expect(seen.withLock { $0 } == Array(0..<1000))
    }

    @Test func errorsComeBack() async throws {
        let pool = WorkerPool(name: "test", threads: 1)
        defer { pool.stop() }
        await #expect(throws: TransferError(.badURL, "bad")) {
            try await pool.run { throw TransferError(.badURL, "bad") }
        }
    }

    @Test func queuedAndLaterWorkRunsAtAStop() async throws {
        let pool = WorkerPool(name: "test", threads: 2)
        let gate = Gate()
        let count = Locked(0)
        for _ in 0..<2 { pool.execute { gate.pass() } }
        for _ in 0..<50 { pool.execute { count.withLock { $0 += 1 } } }
        pool.stop()
        #expect(count.withLock { $0 } == 0)
        gate.letThrough(2)
        #expect(try await pool.run { true })
        let limit = MonotonicTime.now + .seconds(10)
        while count.withLock({ $0 }) < 50, .now < limit { await Task.yield() }
        #expect(count.withLock { $0 } == 50)
    }

    @Test func aStoppedPoolEndsItsThreads() async throws {
        weak var weakPool: WorkerPool?
        do {
            let pool = WorkerPool(name: "test", threads: 4)
            weakPool = pool
            for number in 0..<20 { _ = try await pool.run { number } }
            pool.stop()
        }
        let limit = MonotonicTime.now + .seconds(10)
        while weakPool != nil, .now < limit { await Task.yield() }
        #expect(weakPool == nil)
    }
}
