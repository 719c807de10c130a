package import TransferCore

/// The source and the target of a job, redacted; of an upload both are its URL, of a copy those of its two sides.
public struct JobRoute: Sendable, Hashable {
    /// A job is told in words only when somebody asks for them: most ends have no listener.
    private enum Source: Sendable {
        case spec(Shared<JobSpec>)
        /// ``JobSpec/canonicalJSON``
        case text(String)
        /// Places that another machine told of.
        case reported(url: String, to: String, isInsecure: Bool)
    }

    private let source: Source

    /// The whole job, its named secrets included; `nil` where its record can't be read.
    package var job: JobSpec? {
        switch source {
        case .spec(let spec): spec.wrappedValue
        case .text(let text): try? JobSpec(canonicalJSON: text)
        case .reported: nil
        }
    }

    /// - Parameters:
    ///   - url: As a service told it.
    ///   - to: The same.
    ///   - isInsecure: Whether certificates aren't checked for it.
    package init(url: String, to: String, isInsecure: Bool) {
        source = .reported(url: url, to: to, isInsecure: isInsecure)
    }

    package init(_ spec: Shared<JobSpec>) { source = .spec(spec) }

    package init(_ spec: JobSpec) { source = .spec(Shared(wrappedValue: spec)) }

    /// - Parameter canonicalJSON: The job as its record has it; it's read when somebody asks.
    package init(canonicalJSON: String) { source = .text(canonicalJSON) }

    /// The redacted URL: the first source of a download or a copy, or an upload's server. Empty where the record can't be
    /// read.
    public var url: String { words?.url ?? "" }

    /// A download's destination as the job has it, or an upload's URL. Empty where the record can't be read.
    public var to: String { words?.to ?? "" }

    /// Whether certificates aren't checked for it (`tls.insecure`).
    public var isInsecure: Bool {
        if case .reported(_, _, let isInsecure) = source { return isInsecure }
        return job?.settings.tls.insecure ?? false
    }

    /// All of it, for who needs more than one: the record is read once.
    package var words: (url: String, to: String)? {
        if case .reported(let url, let to, _) = source { return (url, to) }
        return job.map { (Self.origin($0), Self.target($0)) }
    }

    private static func origin(_ job: JobSpec) -> String {
        Redaction.url((job.copySource?.download.urls ?? job.urls).first ?? "")
    }

    /// The same with a file in place of a download's folder.
    ///
    /// - Parameter path: The file's, where it's known; the URL's last component stands for it otherwise.
    package func words(path: String?) -> (url: String, to: String)? {
        guard let job else { return words }
        guard case .download(let download) = job.work, download.destination.hasSuffix("/") else { return words }
        return (Redaction.url(download.urls.first ?? ""), path ?? download.expectedFile)
    }

    private static func target(_ job: JobSpec) -> String {
        switch job.work {
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
