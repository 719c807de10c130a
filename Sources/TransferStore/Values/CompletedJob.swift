package import TransferCore
package import TransferJobs

/// A job that was complete before, with the recorded facts about its file.
package struct CompletedJob: Sendable {
    package let id: Int64
    package let batch: Int64
    package let identity: String
    package let isUpload: Bool
    package let path: String
    package let facts: FileStamp
    package let digest: Checksum?
    /// The sums of the pieces of a download without a digest.
    package let sums: PieceSumList?
    package let validator: String?
    package let finalURL: String
    package let status: Int
    package let attempts: Int
    package let isLengthUnproven: Bool
    package let route: JobRoute
    /// The job's present `strict`, which is read only for jobs whose length is unproven.
    package let isStrict: Bool

    package init(
        id: Int64, batch: Int64, identity: String, isUpload: Bool, path: String, facts: FileStamp, digest: Checksum?,
        sums: PieceSumList?, validator: String?, finalURL: String, status: Int, attempts: Int, isLengthUnproven: Bool,
        route: JobRoute, isStrict: Bool
    ) {
        self.id = id
        self.batch = batch
        self.identity = identity
        self.isUpload = isUpload
        self.path = path
        self.facts = facts
        self.digest = digest
        self.sums = sums
        self.validator = validator
        self.finalURL = finalURL
        self.status = status
        self.attempts = attempts
        self.isLengthUnproven = isLengthUnproven
        self.route = route
        self.isStrict = isStrict
    }
}
