package import DequeModule
package import TransferCore
package import TransferJobs
package import TransferStore

/// The first jobs of a new batch, which the store inserts as claimed already. A claim takes them from memory, in the
/// order of the file, and reads nothing (``ReserveClaims``).
package struct JobReserve: Sendable {
    package struct Job: Sendable {
        package let id: Int64
        package let identity: String
        package let spec: Shared<JobSpec>
    }

    /// The ready jobs of a lane.
    package struct LaneJobs: Sendable {
        package var jobs = Deque<Job>()
        /// The number of the lane's jobs, with those that are only in the store.
        package var count = 0
    }

    package let lanes: [Lane: LaneJobs]

    /// The jobs' numbers, from the first to the last; `nil` without jobs.
    package var ids: ClosedRange<Int64>? {
        let ends = lanes.values.flatMap { [$0.jobs.first, $0.jobs.last] }.compactMap { $0?.id }
        guard let first = ends.min(), let last = ends.max() else { return nil }
        return first...last
    }

    /// A collector of a batch's jobs, for as long as they start in the order in which they come.
    package struct Builder {
        private let batch: Int64
        private var lanes: [Lane: LaneJobs] = [:]
        /// The present lane is kept here, because jobs of one lane mostly come one after the other.
        private var lane: Lane?
        private var run = LaneJobs()
        private var room: Int
        private var priority: Int?

        /// - Parameter room: The number of jobs that the reserve may hold.
        package init(batch: Int64, room: Int) {
            self.batch = batch
            self.room = room
        }

        package var hasRoom: Bool { room > 0 }

        /// - Parameter isReserved: Whether the store has the job as claimed.
        /// - Returns: `false` where the jobs do not start in the order in which they come: there is no reserve then.
        package mutating func add(_ job: StagedJob, id: Int64, isReserved: Bool) -> Bool {
            guard job.spec.needs.isEmpty, job.spec.priority == priority ?? job.spec.priority else { return false }
            priority = job.spec.priority
            if lane?.origin != job.row.origin || lane?.network != job.row.network {
                endRun()
                lane = Lane(batch: batch, origin: job.row.origin, network: job.row.network)
            }
            run.count += 1
            guard isReserved else { return true }
            room -= 1
            run.jobs.append(Job(id: id, identity: job.row.identity, spec: job.sharedSpec))
            return true
        }

        private mutating func endRun() {
            guard let lane else { return }
            let ended = exchange(&run, with: LaneJobs())
            guard let index = lanes.index(forKey: lane) else {
                lanes[lane] = ended
                return
            }
            lanes.values[index].jobs += ended.jobs
            lanes.values[index].count += ended.count
        }

        /// - Returns: `nil` without jobs.
        package mutating func finish() -> JobReserve? {
            endRun()
            return lanes.isEmpty ? nil : JobReserve(lanes: lanes)
        }
    }
}
