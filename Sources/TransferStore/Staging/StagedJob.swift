package import TransferCore
package import TransferJobs

/// A job with the columns to store. The thread that read the job makes it where possible, so that the database only has
/// to insert it.
package final class StagedJob: Sendable {
    package let sharedSpec: Shared<JobSpec>
    package var spec: JobSpec { _read { yield sharedSpec.wrappedValue } }
    /// The job's place in its file, if it comes from one.
    package let place: JobLocations?
    package let row: JobRow
    package let secrets: JobSecrets?
    /// The hash of the identity in this process. It is `nil` for an identity with a NUL, because the database sees a
    /// text that ends there.
    package let identityHash: Int?

    /// - Parameters:
    ///   - directory: The folder that the batch's relative paths start from.
    ///   - origins: The origin of the last job, kept from job to job.
    package init(_ spec: JobSpec, at place: JobLocations?, directory: String, origins: inout OriginMemory) {
        let spec = spec.spelt
        sharedSpec = Shared(wrappedValue: spec)
        self.place = place
        let secrets = JobSecrets(spec)
        self.secrets = secrets
        row = JobRow(
            identity: spec.identity, span: place?.id ?? place?.to, number: place?.index, priority: spec.priority,
            origin: origins.origin(of: spec), destination: spec.destinationKey(directory: directory),
            text: (secrets == nil ? spec : spec.redacted).canonicalJSON, fingerprint: spec.fingerprint,
            hasSecrets: secrets != nil, isUpload: spec.isUpload,
            networkPlaces: place.flatMap { $0.network.isEmpty ? nil : $0.network.text },
            network: spec.settings.network.key, tags: spec.workerTags.text)
        identityHash = row.identity.hasByte(0) ? nil : PathKey(row.identity).hashValue
    }
}

/// The origin of the last job, which is mostly that of the next job too.
package struct OriginMemory {
    /// The scheme, host and port as they were written, with the slash that follows.
    private var start = ""
    private var origin = ""

    package init() {}

    package mutating func origin(of spec: JobSpec) -> String {
        let url =
            switch spec.work {
            case .download(let download): download.urls.first ?? ""
            case .upload(let upload): upload.url
            }
        if !start.isEmpty, url.hasPrefix(start) { return origin }
        origin = spec.origin(mirror: 0)
        start = Self.start(of: url)
        return origin
    }

    /// - Returns: An empty text where the beginning of the URL does not determine the origin.
    private static func start(of url: String) -> String {
        guard url.hasPrefix("http"),
            let slash = url.utf8.dropFirst("https://".utf8.count).firstIndex(of: UInt8(ascii: "/"))
        else { return "" }
        return String(url[...slash])
    }
}
