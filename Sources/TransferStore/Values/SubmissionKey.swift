/// A name that a caller gives to its submission, so that it may send the same again without doubling it
/// (draft-ietf-httpapi-idempotency-key-header).
package struct SubmissionKey: Sendable, Hashable {
    package let name: String
    /// A digest of the whole request: the same name with another digest is another submission.
    package let digest: String

    /// The time for which a key is remembered, in milliseconds.
    package static let lifetime: Int64 = 86_400_000

    package init(_ name: String, digest: String) {
        self.name = name
        self.digest = digest
    }
}

/// The answer that a submission with a key got. It is as durable as the jobs that it reports.
package struct AnsweredSubmission: Sendable, Hashable {
    package let key: SubmissionKey
    /// The number of the batch that the jobs are in.
    package let batch: Int64
    /// Whether the submission made the batch.
    package let isNewBatch: Bool
    /// The number of jobs that were not there before.
    package let added: Int
    /// The numbers of the jobs, in their order; empty for a batch that was taken as a whole.
    package let numbers: [Int64]

    package init(key: SubmissionKey, batch: Int64, isNewBatch: Bool, added: Int, numbers: [Int64]) {
        self.key = key
        self.batch = batch
        self.isNewBatch = isNewBatch
        self.added = added
        self.numbers = numbers
    }
}

/// The error that another process has answered a submission with that key already: nothing was taken.
package struct SubmissionKeyTaken: Error, Equatable {
    package let name: String

    package init(name: String) { self.name = name }
}
