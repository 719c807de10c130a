package import TransferJobs

/// Takes jobs into a batch while it's staged.
package protocol JobSubmissionBatcher: AnyObject {
    /// Whether there are jobs with faults of their own, which weren't added: others may need them.
    var isPartial: Bool { get set }

    func add(_ job: StagedJob) throws

    /// - Parameter place: Where the job stands in its file, if it comes from one.
    func add(_ spec: JobSpec, at place: JobLocations?) throws
}
