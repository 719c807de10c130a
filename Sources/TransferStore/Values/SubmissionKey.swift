/// A name that a caller gives to what it submits, so that it may send the same again without having it done twice
/// (draft-ietf-httpapi-idempotency-key-header).
package struct SubmissionKey: Sendable, Hashable {
    package let name: String
    /// A digest of all that was asked: the same name with another digest is another submission.
    package let digest: String

    /// Milliseconds for which a key is remembered.
    package static let lifetime: Int64 = 86_400_000

    package init(_ name: String, digest: String) {
        self.name = name
        self.digest = digest
    }
}

/// The answer that a submission with a key got. It's durable with the jobs that it tells of.
package struct AnsweredSubmission: Sendable, Hashable {
    package let key: SubmissionKey
    /// The number of the batch that the jobs are in.
    package let batch: Int64
    /// Whether the submission made the batch.
    package let isNewBatch: Bool
    /// How many of the jobs weren't there before.
    package let added: Int
    /// The jobs' own numbers, in their order; none of a batch that was taken as a whole.
    package let numbers: [Int64]

    package init(key: SubmissionKey, batch: Int64, isNewBatch: Bool, added: Int, numbers: [Int64]) {
        self.key = key
        self.batch = batch
        self.isNewBatch = isNewBatch
        self.added = added
        self.numbers = numbers
    }
}

/// A submission with that key was answered already, by another process: nothing was taken.
package struct SubmissionKeyTaken: Error, Equatable {
    package let name: String

    package init(name: String) { self.name = name }
}
