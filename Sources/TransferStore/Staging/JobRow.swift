import TransferCore
package import TransferJobs

/// The columns of a job that has had no attempt yet.
package struct JobRow: Sendable, Equatable {
    package var identity: String
    /// The place where the job file names the job's ID, or its destination where it has no ID.
    package var span: SourceSpan?
    /// The job's number in its file, counted from 0.
    package var number: Int?
    package var priority: Int
    package var origin: String
    package var destination: String
    /// The job as `JobSpec.canonicalJSON`, without secrets.
    package var text: String
    package var fingerprint: Int64
    package var hasSecrets: Bool
    package var isUpload: Bool
    /// The places where the job file names the job's network rules.
    package var networkPlaces: String?
    /// The key of the job's network rules (``/TransferJobs/Lane/network``).
    package var network: String
    /// The tags of the workers that may do the job (``/TransferJobs/Lane/tags``); empty in a queue of one machine.
    package var tags = ""

    package init(
        identity: String, span: SourceSpan? = nil, number: Int? = nil, priority: Int, origin: String,
        destination: String, text: String, fingerprint: Int64, hasSecrets: Bool, isUpload: Bool,
        networkPlaces: String? = nil, network: String, tags: String = ""
    ) {
        self.identity = identity
        self.span = span
        self.number = number
        self.priority = priority
        self.origin = origin
        self.destination = destination
        self.text = text
        self.fingerprint = fingerprint
        self.hasSecrets = hasSecrets
        self.isUpload = isUpload
        self.networkPlaces = networkPlaces
        self.network = network
        self.tags = tags
    }
}
