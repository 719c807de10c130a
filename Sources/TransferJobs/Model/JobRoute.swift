package import TransferCore

/// The source and the target of a job, without secrets. For an upload both are its URL; for a copy they are the URLs of
/// its two sides.
public struct JobRoute: Sendable, Hashable {
    /// The origin of the texts, which are made only on request, since most ends have no listener.
    private enum Source: Sendable {
        case spec(Shared<JobSpec>)
        /// The text of ``JobSpec/canonicalJSON``.
        case text(String)
        /// The places that another machine reported.
        case reported(url: String, to: String, isInsecure: Bool)
    }

    private let source: Source

    /// The whole job, including the names of its secrets; `nil` where its record cannot be read.
    package var job: JobSpec? {
        switch source {
        case .spec(let spec): spec.wrappedValue
        case .text(let text): try? JobSpec(canonicalJSON: text)
        case .reported: nil
        }
    }

    /// Creates a route from the report of a server.
    ///
    /// - Parameters:
    ///   - url: The URL, as reported.
    ///   - to: The target, as reported.
    ///   - isInsecure: Whether certificates are not checked for the job.
    package init(url: String, to: String, isInsecure: Bool) {
        source = .reported(url: url, to: to, isInsecure: isInsecure)
    }

    package init(_ spec: Shared<JobSpec>) { source = .spec(spec) }

    package init(_ spec: JobSpec) { source = .spec(Shared(wrappedValue: spec)) }

    /// Creates a route from a job's record.
    ///
    /// - Parameter canonicalJSON: The canonical text of the job, which is parsed only when needed.
    package init(canonicalJSON: String) { source = .text(canonicalJSON) }

    /// The URL without secrets: the first source of a download or a copy, or an upload's server. It is empty where the
    /// record cannot be read.
    public var url: String { words?.url ?? "" }

    /// A download's destination as the job has it, or an upload's URL. It is empty where the record cannot be read.
    public var to: String { words?.to ?? "" }

    /// Whether certificates are not checked for the job (`tls.insecure`).
    public var isInsecure: Bool {
        if case .reported(_, _, let isInsecure) = source { return isInsecure }
        return job?.settings.tls.insecure ?? false
    }

    /// The URL and the target together: callers that need both read the record only once.
    package var words: (url: String, to: String)? {
        if case .reported(let url, let to, _) = source { return (url, to) }
        return job.map { (Self.origin($0), Self.target($0)) }
    }

    private static func origin(_ job: JobSpec) -> String {
        Redaction.url((job.copySource?.download.urls ?? job.urls).first ?? "")
    }

    /// Returns both texts, with the file's path in place of a download's folder.
    ///
    /// - Parameter path: The file's path, where it is known; otherwise the URL's last component is used.
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
