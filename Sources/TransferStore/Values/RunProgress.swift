package import TransferJobs

/// The numbers of a running batch.
package struct RunProgress: Sendable {
    package let batch: Int64
    package let totals: BatchTotals
    /// The rate in bytes a second.
    package let rate: Int64
    /// The estimated time left, in seconds; `nil` where no estimate is possible.
    package let eta: Int64?
    /// The number of transfers under way.
    package let active: Int
    /// The IDs of jobs under way, or of some of them.
    package let underWay: [Int64]
    /// The work of the sources, by the IDs of jobs that have several connections or URLs.
    package let sources: [Int64: [JobSource]]
    /// The bytes that each job of the run has now, or some of the jobs, by their IDs.
    package var bytes: [Int64: Int64] = [:]
    /// The progress of the largest transfers, while a client watches them.
    package var rows: [Row] = []
    /// The reason why the network keeps all remaining jobs waiting; `nil` where it does not.
    package let waitingFor: String?

    package init(
        batch: Int64, totals: BatchTotals, rate: Int64, eta: Int64?, active: Int, underWay: [Int64],
        sources: [Int64: [JobSource]] = [:], waitingFor: String?
    ) {
        self.sources = sources
        self.batch = batch
        self.totals = totals
        self.rate = rate
        self.eta = eta
        self.active = active
        self.underWay = underWay
        self.waitingFor = waitingFor
    }
}

extension RunProgress {
    /// The progress of a transfer under way.
    package struct Row: Sendable {
        package let id: Int64
        package let progress: JobProgress

        package init(id: Int64, progress: JobProgress) {
            self.id = id
            self.progress = progress
        }

        /// The number of integers in a row.
        package static let width = 5

        /// The row as integers: the job's number, its bytes, its size (-1 where that is unknown), its rate and its
        /// ``Kind``.
        package var numbers: [Int64] {
            let kind = Kind(phase: progress.phase, isCopy: progress.isCopy)
            return [id, progress.completed, progress.total ?? -1, progress.rate, kind.code]
        }

        /// The phase of a transfer and whether it is a copy, as one number.
        package struct Kind {
            package let phase: JobProgress.Phase
            package let isCopy: Bool

            private static let phases: [JobProgress.Phase] = [.connecting, .transferring, .verifying, .saving]
            private static let copy: Int64 = 16

            package init(phase: JobProgress.Phase, isCopy: Bool) {
                self.phase = phase
                self.isCopy = isCopy
            }

            package init(code: Int64) {
                let index = Int(code % Self.copy)
                phase = Self.phases.indices.contains(index) ? Self.phases[index] : .transferring
                isCopy = code >= Self.copy
            }

            package var code: Int64 { Int64(Self.phases.firstIndex(of: phase) ?? 1) + (isCopy ? Self.copy : 0) }
        }
    }
}
