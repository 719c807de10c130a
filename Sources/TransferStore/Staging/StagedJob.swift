package import TransferCore
package import TransferJobs

/// A job as it's to be written down: worked out by the thread that has read it, so that the database only has to keep it.
package final class StagedJob: Sendable {
    package let sharedSpec: Shared<JobSpec>
    package var spec: JobSpec { _read { yield sharedSpec.wrappedValue } }
    /// The job's place in its file, if it comes from one.
    package let place: JobLocations?
    package let row: JobRow
    package let secrets: JobSecrets?
    /// In this process; `nil` where the database sees another text, as it does of one with a NUL, which is its end there.
    package let identityHash: Int?

    /// - Parameters:
    ///   - directory: What the batch's relative paths start from.
    ///   - origins: Kept from job to job.
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

/// The origin of the last job, which mostly is that of the next one too.
package struct OriginMemory {
    /// Scheme, host and port as they were written, with the slash behind them.
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

    /// - Returns: Nothing where the origin isn't the URL's own, or can't be told from its beginning.
    private static func start(of url: String) -> String {
        guard url.hasPrefix("http"),
            let slash = url.utf8.dropFirst("https://".utf8.count).firstIndex(of: UInt8(ascii: "/"))
        else { return "" }
        return String(url[...slash])
    }
}
