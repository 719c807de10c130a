import DequeModule
import Dispatch
import Synchronization
import TransferCore
package import TransferEventLoop
package import TransferJobs

/// A queue of groups of jobs between the thread that reads them and the thread that writes them to the database. Both
/// work at the same time, and the faster of them makes the ``StagedJob`` of each job. The reader waits when it is
/// `groupsAhead` groups ahead, so that a long file is not held in memory.
package final class JobPrefetcher: Sendable {
    private typealias Read = (spec: JobSpec, place: JobLocations?)

    private enum Group {
        case read([Read])
        case staged([StagedJob])
    }

    private struct State {
        var groups: Deque<Group> = []
        var end: Result<Bool, any Error>?
        var isAbandoned = false
    }

    private struct Abandoned: Error {}

    private static let groupSize = 128
    private static let groupsAhead = 32
    /// The number of waiting groups from which on the writer is the slower side.
    private static let manyGroups = 4

    private let state = Mutex(State())
    // Both begin with 0: libdispatch requires that a semaphore ends with no less than its initial value.
    private let room = DispatchSemaphore(value: 0)
    private let arrivals = DispatchSemaphore(value: 0)

    /// The folder that the batch's relative paths start from.
    private let directory: String

    /// Begins to read, on a thread of `pool`.
    ///
    /// - Parameter read: The reader, which calls its argument for each job.
    package init(
        on pool: WorkerPool, directory: String,
        _ read: @escaping @Sendable ((JobSpec, JobLocations?) throws -> Void) throws -> Bool
    ) {
        self.directory = directory
        for _ in 0..<Self.groupsAhead { room.signal() }
        pool.execute { self.finish(Result { try self.make(read) }) }
    }

    /// Calls `take` on this thread for each job, in the order of the file. May be called once.
    ///
    /// - Returns: The result of the reader.
    /// - Throws: The error of `take`, after the reader has ended, or that of the reader.
    package func takeAll(_ take: (StagedJob) throws -> Void) throws -> Bool {
        do {
            var origins = OriginMemory()
            while let group = next() {
                switch group {
                case .staged(let jobs): for job in jobs { try take(job) }
                case .read(let jobs): for job in jobs { try take(staged(job, &origins)) }
                }
            }
        } catch {
            abandon()
            while next() != nil {}
            throw error
        }
        return try state.withLock { $0.end }?.get() ?? false
    }

    /// Ends the reading, because no further job will be taken.
    package func abandon() {
        state.withLock { $0.isAbandoned = true }
        room.signal()
    }

    // MARK: The reader's side

    private func make(_ read: ((JobSpec, JobLocations?) throws -> Void) throws -> Bool) throws -> Bool {
        var group: [Read] = []
        group.reserveCapacity(Self.groupSize)
        var origins = OriginMemory()
        let result = try read { spec, place in
            group.append((spec, place))
            guard group.count == Self.groupSize else { return }
            try hand(group, &origins)
            group.removeAll(keepingCapacity: true)
        }
        if !group.isEmpty { try hand(group, &origins) }
        return result
    }

    private func staged(_ job: Read, _ origins: inout OriginMemory) -> StagedJob {
        StagedJob(job.spec, at: job.place, directory: directory, origins: &origins)
    }

    private func hand(_ jobs: [Read], _ origins: inout OriginMemory) throws {
        // The reader must not wait for room after the writer has stopped.
        let isAhead = try state.withLock { state throws in
            guard !state.isAbandoned else { throw Abandoned() }
            return state.groups.count >= Self.manyGroups
        }
        let group = isAhead ? Group.staged(jobs.map { staged($0, &origins) }) : .read(jobs)
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
    private func next() -> Group? {
        arrivals.wait()
        guard let group = state.withLock({ $0.groups.popFirst() }) else { return nil }
        room.signal()
        return group
    }
}
