import TransferCore

/// A job as it's to be written down: worked out by the thread that has read it, so that the database only has to keep it.
struct StagedJob: Sendable {
    let spec: JobSpec
    /// Where the job stands in its file, if it comes from one.
    let place: JobLocations?
    let identity: String
    let text: String
    let destination: String
    let fingerprint: Int64
    let origin: String
    let secrets: JobSecrets?
    /// Where its file names its network rules.
    let networkPlaces: String?

    /// - Parameter directory: What the batch's relative paths start from.
    init(_ spec: JobSpec, at place: JobLocations?, directory: String) {
        self.spec = spec
        self.place = place
        identity = spec.identity
        text = spec.redacted.canonicalJSON
        destination = spec.destinationKey(directory: directory)
        fingerprint = spec.fingerprint
        origin = spec.origin(mirror: 0)
        secrets = JobSecrets(spec)
        networkPlaces = place.flatMap { $0.network.isEmpty ? nil : $0.network.text }
    }
}
