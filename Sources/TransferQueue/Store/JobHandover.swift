import DequeModule
import Dispatch
import Synchronization
import TransferCore
import TransferEventLoop

/// Brings jobs from the thread that reads them to the one that writes them down, in groups: each works while the other
/// does. The reader waits where it's some groups ahead, so that a long file isn't held in memory.
final class JobHandover: Sendable {
    private struct State {
        var groups: Deque<[StagedJob]> = []
        var end: Result<Bool, any Error>?
        var isAbandoned = false
    }

    private struct Abandoned: Error {}

    private static let groupSize = 128
    private static let groupsAhead = 4

    private let state = Mutex(State())
    // Both begin with 0: libdispatch wants a semaphore to end with as much as it began with, or more.
    private let room = DispatchSemaphore(value: 0)
    private let arrivals = DispatchSemaphore(value: 0)

    /// What the batch's relative paths start from.
    private let directory: String

    private init(_ directory: String) {
        self.directory = directory
        for _ in 0..<Self.groupsAhead { room.signal() }
    }

    /// Reads on a thread of `pool` and calls `take` here, in the order of the file.
    ///
    /// - Parameter read: Calls its argument for each job.
    /// - Returns: What `read` returns.
    /// - Throws: What `take` throws, once `read` has ended, or what `read` throws.
    static func run(
        on pool: WorkerPool, directory: String,
        _ read: @escaping @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool,
        _ take: (StagedJob) throws -> Void
    ) throws -> Bool {
        let handover = JobHandover(directory)
        pool.execute { handover.finish(Result { try handover.make(read) }) }
        do {
            while let group = handover.next() { for job in group { try take(job) } }
        } catch {
            handover.abandon()
            while handover.next() != nil {}
            throw error
        }
        return try handover.state.withLock { $0.end }?.get() ?? false
    }

    // MARK: The reader's side

    private func make(_ read: ((JobSpec, JobLocations?) throws -> Void) throws -> Bool) throws -> Bool {
        var group: [StagedJob] = []
        group.reserveCapacity(Self.groupSize)
        var origins = OriginMemory()
        let result = try read { spec, place in
            group.append(StagedJob(spec, at: place, directory: directory, origins: &origins))
            guard group.count == Self.groupSize else { return }
            try hand(exchange(&group, with: []))
        }
        if !group.isEmpty { try hand(group) }
        return result
    }

    private func hand(_ group: [StagedJob]) throws {
        room.wait()
        try state.withLock { state throws in
            guard !state.isAbandoned else { throw Abandoned() }
            state.groups.append(group)
        }
        arrivals.signal()
    }

    private func finish(_ end: Result<Bool, any Error>) {
        state.withLock { $0.end = end }
        arrivals.signal()
    }

    // MARK: The writer's side

    /// - Returns: `nil` once there are no more.
    private func next() -> [StagedJob]? {
        arrivals.wait()
        guard let group = state.withLock({ $0.groups.popFirst() }) else { return nil }
        room.signal()
        return group
    }

    private func abandon() { state.withLock { $0.isAbandoned = true } }
}
