package import TransferJobs

/// A change of a job's stored state, as a value: the states that it leads from, the state that it leads to, and the columns
/// that it sets. Each store renders it as a statement; ``QueueModel`` applies it to a job in memory.
package struct JobChange: Sendable, Hashable {
    /// The new value of a column. A column that a change does not name is kept.
    package enum Value: Sendable, Hashable {
        case null
        case number(Int64)
        case flag(Bool)
        /// The value that is passed with the job.
        case given
        /// The value that is passed with the job; without one, the column is kept.
        case givenOrKept
        /// The value that is passed with the job; without one, the column is kept if the file's size and time are the
        /// same.
        case givenOrKeptForSameFile
        case now
        /// The current time. If the job's process ended with the job under way, it is the time of that process's claim.
        case nowUnlessInterrupted
        case nextEndNumber
        /// An upload's record is kept if another attempt may continue it, and is removed otherwise.
        case keptIfItContinues
        /// The column is kept if a condition holds, which is passed with the job. Otherwise it gets the value of a job
        /// without an attempt.
        case kept(if: Condition)
    }

    /// A condition of a job that is staged anew.
    package enum Condition: String, Sendable {
        /// The content of the job is the same.
        case isUnchanged
        /// The job stays as it is.
        case stays
        /// The job stays as it is, or was ready without a change: its attempts count.
        case countContinues
        /// The job stays as it is, and has ended.
        case staysEnded
        /// The content is the same, and no doubt of an interrupted upload was settled.
        case keepsInterruption
    }

    package struct Assignment: Sendable, Hashable {
        package let column: JobColumn
        package let value: Value

        package init(column: JobColumn, value: Value) {
            self.column = column
            self.value = value
        }
    }

    /// The state after the change.
    package enum Target: Sendable, Hashable {
        case state(JobState)
        /// Ready, or blocked while the job waits for others.
        case readyOrBlocked
        /// The state that is passed with the job.
        case given
    }

    /// The states in which a job must be for the change.
    package let from: [JobState]
    package let to: Target
    package let columns: [Assignment]

    init(from: [JobState], to: Target, _ columns: KeyValuePairs<JobColumn, Value> = [:], isFreshStart: Bool = false) {
        self.from = from
        self.to = to
        let forgotten = isFreshStart ? JobColumn.forgottenByFreshStart : []
        self.columns =
            forgotten.map { Assignment(column: $0, value: $0.neutral) }
            + columns.map { Assignment(column: $0.key, value: $0.value) }
    }

    func adding(_ more: KeyValuePairs<JobColumn, Value>) -> JobChange {
        JobChange(from: from, to: to, columns + more.map { Assignment(column: $0.key, value: $0.value) })
    }

    private init(from: [JobState], to: Target, _ columns: [Assignment]) {
        self.from = from
        self.to = to
        self.columns = columns
    }

    /// Whether the job may start again, with its count of attempts reset.
    package var isFreshStart: Bool { columns.contains { $0.column == .attempts && $0.value == .number(0) } }

    /// Whether the change ends the job, and so gives it a number among the ends.
    package var isEnd: Bool { columns.contains { $0.value == .nextEndNumber } }
}
