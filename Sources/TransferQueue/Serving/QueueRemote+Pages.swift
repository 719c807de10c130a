package import TransferJobs
package import TransferStore

extension QueueRemote {
    /// A page of jobs of all batches.
    package func jobs(_ selection: JobSelection) throws -> [JobEntry] { try told { try store.jobs(selection) } }

    /// How many jobs are so, of all batches.
    package func count(_ selection: JobSelection) throws -> Int { try told { try store.count(selection) } }

    /// The job of that number; `nil` where there is none any more.
    package func job(number: Int64) throws -> JobEntry? {
        var selection = JobSelection()
        selection.numbers = [number]
        return try jobs(selection).first
    }

    /// The least and the greatest number that a job has; `nil` where there is none.
    package func jobNumbers() throws -> ClosedRange<Int64>? { try told { try store.jobNumbers() } }

    /// How the job ended; `nil` while it goes on, or where there is no such job.
    package func end(batch: String, job: String) throws -> QueueEvent? {
        try told { try store.end(batch: batch, job: job) }
    }

    /// The ends of jobs behind a cursor, in order.
    package func ends(after cursor: Int64, limit: Int) throws -> [QueueEvent] {
        try told { try store.ends(after: cursor, limit: limit) }
    }

    /// The cursor of the last end.
    package func lastCursor() throws -> Int64 { try told { try store.lastCursor() } }
}
