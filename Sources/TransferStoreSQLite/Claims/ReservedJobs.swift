import DequeModule
import Synchronization
package import TransferJobs
import TransferStore

/// The jobs that are left of this process's reserves (``JobReserve``), by lane.
///
/// The database decides: another process may have given a reserve back, and then its rest here is worthless.
package final class ReservedJobs: Sendable {
    private struct State {
        var lanes: [Lane: Deque<JobReserve.Job>] = [:]
        /// Lanes with more ready jobs than their reserve; those are in the database and follow it.
        var longer: Set<Lane> = []
        /// Batches with a reserve of which jobs may have become ready again. Those jobs go first, and are in the
        /// database.
        var returned: Set<Int64> = []
        /// Batches whose reserve was given back before it was used up.
        var takenBack: Set<Int64> = []

        func has(_ batch: Int64) -> Bool { lanes.keys.contains { $0.batch == batch } }

        mutating func forget(_ batch: Int64) {
            guard !lanes.isEmpty || !returned.isEmpty || !longer.isEmpty else { return }
            lanes = lanes.filter { $0.key.batch != batch }
            longer = longer.filter { $0.batch != batch }
            returned.remove(batch)
        }
    }

    private let state = Mutex(State())

    package func keep(_ reserve: JobReserve) {
        state.withLock { state in
            for (lane, jobs) in reserve.lanes where !jobs.jobs.isEmpty {
                state.lanes[lane] = jobs.jobs
                if jobs.count > jobs.jobs.count { state.longer.insert(lane) }
            }
        }
    }

    package func has(_ lane: Lane) -> Bool { state.withLock { $0.lanes[lane] != nil } }

    /// Returns whether the database has ready jobs that follow the lane's reserve.
    package func isLonger(_ lane: Lane) -> Bool { state.withLock { $0.longer.contains(lane) } }

    /// Returns whether the batch's reserve was given back, so that the batch is no longer as it was inserted.
    package func wasTakenBack(_ batch: Int64) -> Bool { state.withLock { $0.takenBack.contains(batch) } }

    /// Returns the numbers of jobs that are left, by lane.
    package func counts(of batch: Int64) -> [Lane: Int] {
        state.withLock { $0.lanes.filter { $0.key.batch == batch }.mapValues(\.count) }
    }

    package func take(_ lane: Lane, atMost limit: Int) -> [JobReserve.Job] {
        state.withLock { state in
            guard limit > 0, var jobs = state.lanes.removeValue(forKey: lane) else { return [] }
            let page = Array(jobs.prefix(limit))
            jobs.removeFirst(page.count)
            if !jobs.isEmpty { state.lanes[lane] = jobs }
            return page
        }
    }

    /// Notes that jobs of the batch are ready again, in the database.
    package func cameBack(_ batch: Int64) {
        state.withLock { if $0.has(batch) { $0.returned.insert(batch) } }
    }

    /// Notes that jobs of an unknown batch are ready again.
    package func cameBack() { state.withLock { state in state.returned.formUnion(state.lanes.keys.map(\.batch)) } }

    /// Returns whether jobs of the batch may have become ready again since it was inserted.
    package func mayHaveReturned(_ batch: Int64) -> Bool { state.withLock { $0.returned.contains(batch) } }

    /// Notes that the database has given the batch's reserve back: its jobs are claimed like all others.
    package func takeBack(_ batch: Int64) {
        state.withLock { state in
            guard state.has(batch) else { return }
            state.forget(batch)
            state.takenBack.insert(batch)
        }
    }

    /// Drops the batch, because its run is over.
    package func forget(_ batch: Int64) {
        state.withLock { state in
            state.forget(batch)
            state.takenBack.remove(batch)
        }
    }

    package func forgetAll() { state.withLock { $0 = State() } }
}
