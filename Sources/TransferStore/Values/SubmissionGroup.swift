package import TransferJobs

/// The jobs that one caller submits: they are taken all, or not at all.
package struct SubmissionGroup: Sendable {
    package let jobs: [JobSpec]
    /// `nil` where the caller doesn't ask for the answer a second time.
    package let key: SubmissionKey?

    package init(_ jobs: [JobSpec], key: SubmissionKey? = nil) {
        self.jobs = jobs
        self.key = key
    }

    /// The jobs as they are compared and kept.
    package var spelt: SubmissionGroup { SubmissionGroup(jobs.map(\.spelt), key: key) }
}

/// A submission with a key that is to be remembered, in the transaction that takes its jobs.
package struct SubmissionNote: Sendable, Hashable {
    package let key: SubmissionKey
    /// The jobs' identities, in their order; `nil` where a batch is taken as a whole.
    package let identities: [String]?
    /// How many of them weren't there before; of a whole batch all.
    package let added: Int?

    package init(_ key: SubmissionKey, identities: [String]? = nil, added: Int? = nil) {
        self.key = key
        self.identities = identities
        self.added = added
    }

    /// The answer, now that the jobs have numbers.
    ///
    /// - Parameters:
    ///   - count: Jobs that were taken with the batch.
    ///   - number: The number of the batch's job of an identity.
    package func answer(
        batch: HeldBatch, count: Int, number: (String) throws -> Int64?
    ) rethrows -> AnsweredSubmission {
        AnsweredSubmission(
            key: key, batch: batch.id, isNewBatch: batch.isNew, added: added ?? count,
            numbers: try (identities ?? []).map { try number($0) ?? 0 })
    }
}
