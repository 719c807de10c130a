package import TransferJobs

/// A receiver of jobs for a batch while it is staged.
package protocol JobSubmissionBatcher: AnyObject {
    /// Whether jobs were left out because of their own faults; other jobs may need them.
    var isPartial: Bool { get set }

    func add(_ job: StagedJob) throws

    /// - Parameter place: The job's place in its file, if it comes from one.
    func add(_ spec: JobSpec, at place: JobLocations?) throws
}
