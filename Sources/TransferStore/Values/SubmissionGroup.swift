package import TransferJobs

/// The jobs that one caller submits, which are taken all, or not at all.
package struct SubmissionGroup: Sendable {
    package let jobs: [JobSpec]
    /// The key of the submission; `nil` where the caller does not ask for the answer a second time.
    package let key: SubmissionKey?

    package init(_ jobs: [JobSpec], key: SubmissionKey? = nil) {
        self.jobs = jobs
        self.key = key
    }

    /// The group with its jobs in the form in which they are compared and stored.
    package var spelt: SubmissionGroup { SubmissionGroup(jobs.map(\.spelt), key: key) }
}

/// A submission with a key that is to be remembered, in the transaction that takes its jobs.
package struct SubmissionNote: Sendable, Hashable {
    package let key: SubmissionKey
    /// The jobs' identities, in their order; `nil` where a batch is taken as a whole.
    package let identities: [String]?
    /// The number of jobs that were not there before; `nil` for a whole batch, of which all count.
    package let added: Int?

    package init(_ key: SubmissionKey, identities: [String]? = nil, added: Int? = nil) {
        self.key = key
        self.identities = identities
        self.added = added
    }

    /// Makes the answer, after the jobs have got numbers.
    ///
    /// - Parameters:
    ///   - count: The number of jobs that were taken with the batch.
    ///   - number: The lookup of a job's number in the batch by its identity.
    package func answer(
        batch: HeldBatch, count: Int, number: (String) throws -> Int64?
    ) rethrows -> AnsweredSubmission {
        AnsweredSubmission(
            key: key, batch: batch.id, isNewBatch: batch.isNew, added: added ?? count,
            numbers: try (identities ?? []).map { try number($0) ?? 0 })
    }
}
