package import TransferCore

/// The source and the target of a job, redacted; of an upload both are its URL.
public struct JobRoute: Sendable, Hashable {
    /// Told in words only when somebody asks for them: most ends have no listener.
    private let spec: Shared<JobSpec>
    /// The whole job, its named secrets included.
    package var job: JobSpec { spec.wrappedValue }

    package init(_ spec: Shared<JobSpec>) { self.spec = spec }

    package init(_ spec: JobSpec) { self.spec = Shared(wrappedValue: spec) }

    /// The redacted URL: a download's first source, or an upload's server.
    public var url: String { Redaction.url(spec.wrappedValue.urls.first ?? "") }

    /// A download's destination as the job has it, or an upload's URL.
    public var to: String {
        switch spec.wrappedValue.work {
        case .download(let download): download.destination
        case .upload(let upload): Redaction.url(upload.url)
        }
    }

    public static func == (one: JobRoute, other: JobRoute) -> Bool { one.url == other.url && one.to == other.to }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(to)
    }
}
