public import TransferCore

/// A job as its owner describes it: the source, the destination and the rules.
///
/// A spec is a plain value that names its secrets and should not contain them. The defaults of a batch are already
/// merged in.
public struct JobSpec: Sendable, Hashable {
    /// The job's ID in its batch; `nil` means that the destination is the identity.
    public var id: String?
    /// The transfer itself: a download or an upload.
    public var work: Work
    /// The identities of jobs in the same batch that must be complete before this one starts.
    public var needs: [String]
    /// The priority, −1,000,000 to 1,000,000; jobs with higher values start earlier. The default is 0.
    public var priority: Int
    /// The settings, stored once for all jobs of a file that have the same.
    package var sharedSettings: Shared<JobSettings>
    /// The fingerprint, where it is not that of the values here, because a configuration must not change a job's
    /// identity.
    package var lasting: Int64?

    /// The settings of the transfer.
    public var settings: JobSettings {
        _read { yield sharedSettings.wrappedValue }
        _modify { yield &sharedSettings.wrappedValue }
    }

    /// Creates a job; `priority` is −1,000,000 to 1,000,000.
    public init(
        id: String? = nil, work: Work, needs: [String] = [], priority: Int = 0, settings: JobSettings = JobSettings()
    ) {
        self.init(id: id, work: work, needs: needs, priority: priority, settings: Shared(wrappedValue: settings))
    }

    /// Creates a job.
    ///
    /// - Parameter settings: The settings, which may be shared with other jobs.
    package init(id: String?, work: Work, needs: [String], priority: Int, settings: Shared<JobSettings>) {
        self.id = id
        self.work = work
        self.needs = needs
        self.priority = priority
        sharedSettings = settings
    }

    /// The transfer of a job, stored behind a reference because jobs are passed on many times.
    public indirect enum Work: Sendable, Hashable {
        case download(Download)
        case upload(Upload)
    }

    /// A download of one file.
    public struct Download: Sendable, Hashable {
        /// The mirrors of the file, in order of preference. The list is never empty; the schemes are `http`, `https`,
        /// `s3`, `ftp`, `ftps` and `sftp`.
        public var urls: [String]
        /// The path of a file, or of a folder when it ends in `/`; the server or the URL then gives the name.
        public var destination: String
        /// The file's name in a folder where the server gives none; `nil` means the name in the URL.
        public var defaultName: String?
        /// The checksum of the whole file; `nil` verifies nothing.
        public var checksum: Checksum?
        /// The digests of all pieces of the file. They are compared with the whole file, and with the partial file of
        /// another tool.
        public var pieces: PieceDigests?
        /// The size of the file in bytes, `nil` where it is unknown; a file of another size fails.
        public var size: Int64?
        /// The treatment of a destination that exists already.
        public var ifExists: IfExists
        /// The request's method; `nil` means GET.
        public var method: String?
        /// The request's body, as text; `nil` for none.
        public var body: String?
        /// Whether the file gets the server's Last-Modified time; true by default.
        public var remoteTime: Bool
        /// The number of connections that the file may use; automatic by default. They share the limit for the file's
        /// host with other jobs, which take precedence.
        public var segments: SegmentCount
        /// The rule for partial files of other tools.
        public var adopt: Adopt
        /// Whether a file fails where nothing proves that it is complete: no digest is known, and only the end of the
        /// connection ends it. A partial file of another tool is then adopted only with a proof.
        public var strict: Bool
        /// Whether the server may compress the file for the transfer; false by default. The file is stored decoded. It
        /// gets one connection and cannot be continued, so it begins anew after each failure. Digests and ``size`` are
        /// those of the decoded file.
        public var compressed: Bool

        /// Creates a download; `urls` must not be empty.
        public init(
            urls: [String], destination: String, checksum: Checksum? = nil, pieces: PieceDigests? = nil,
            ifExists: IfExists = .verify, method: String? = nil, body: String? = nil, remoteTime: Bool = true,
            segments: SegmentCount = .automatic, adopt: Adopt = .proven, strict: Bool = false,
            compressed: Bool = false
        ) {
            self.urls = urls
            self.destination = destination
            self.checksum = checksum
            self.pieces = pieces
            self.ifExists = ifExists
            self.method = method
            self.body = body
            self.remoteTime = remoteTime
            self.segments = segments
            self.adopt = adopt == .unproven && strict ? .proven : adopt
            self.strict = strict
            self.compressed = compressed
        }

        /// The number of connections that the file may use; one for a compressed transfer, whose ranges are not those
        /// of the file.
        package var connections: SegmentCount { compressed ? .exactly(1) : segments }

        /// Whether digests verify the whole file.
        package var isProvenByDigests: Bool { checksum != nil || pieces != nil }
    }

    /// An upload of one file.
    public struct Upload: Sendable, Hashable {
        /// The path of the file; for a copy, the source's name for display.
        public var source: String
        /// The URL to which the file is sent.
        public var url: String
        /// The protocol of the upload.
        public var uploadProtocol: UploadProtocol
        /// The request's method; `nil` means the protocol's own: PUT for `put`, POST for `post`.
        public var method: String?
        /// The required digest of the source, which is compared before anything is sent.
        public var checksum: Checksum?
        /// The options of the protocol.
        public var options: Options
        /// The source of a copy, which is on another server; ``source`` then names it for display. It is `nil` for a
        /// file.
        public var from: CopySource?

        /// Creates an upload of a file.
        public init(
            source: String, url: String, uploadProtocol: UploadProtocol = .put, method: String? = nil,
            checksum: Checksum? = nil, options: Options = Options()
        ) {
            self.source = source
            self.url = url
            self.uploadProtocol = uploadProtocol
            self.method = method
            self.checksum = checksum
            self.options = options
        }

        /// Creates a copy from server to server, with no file between.
        public init(
            from source: CopySource, url: String, uploadProtocol: UploadProtocol = .put, options: Options = Options()
        ) {
            self.init(
                source: Redaction.url(source.download.urls.first ?? ""), url: url, uploadProtocol: uploadProtocol,
                checksum: source.download.checksum, options: options)
            from = source
        }
    }

    /// The protocol of an upload, identified by its name.
    public struct UploadProtocol: Sendable {
        /// The entry, stored behind a reference because each job has one.
        private let shared: Shared<UploadEntry>

        package init(_ entry: UploadEntry) { shared = Shared(wrappedValue: entry) }

        package var entry: UploadEntry {
            _read { yield shared.wrappedValue }
        }
    }

    /// The treatment of a destination that exists already.
    public enum IfExists: String, Sendable, Hashable, CaseIterable {
        /// A file is kept where our record or the checksum proves that it is complete. Any other file fails, with
        /// advice in the message.
        case verify
        /// A file is kept where the checksum proves it complete, or where the server confirms the recorded version (304
        /// to its ETag or Last-Modified). Any other file is fetched again and replaced, since a server cannot confirm
        /// bytes that it did not send.
        case update
        case overwrite, skip, rename, fail
    }

    /// The rule for continuing a partial file of another tool, at the destination or beside it as `NAME.part`.
    public enum Adopt: String, Sendable, Hashable, CaseIterable {
        /// A partial file is continued where a checksum verifies the whole file.
        case proven
        /// A partial file is continued even without a checksum, as the receipt then says.
        case unproven
        case never
    }

    /// The job's name within its batch: its `id`, or else its destination, in a folder with the name in the URL. For an
    /// upload whose server chooses the names, it is the source.
    public var identity: String {
        if let id { return id }
        return switch work {
        case .download(let download): download.expectedFile
        case .upload(let upload):
            upload.uploadProtocol.givesNames ? upload.source : Redaction.url(upload.url)
        }
    }
}

extension JobSpec.Download {
    /// The destination, in a folder with the name in the URL; a response may change the name.
    package var expectedFile: String {
        guard destination.hasSuffix("/") else { return destination }
        return (destination == "./" ? "" : destination)
            + (defaultName ?? SafeFileName.fromURL(urls.first ?? "") ?? "index.html")
    }
}

extension JobSpec {
    /// Whether the job is an upload or a copy.
    public var isUpload: Bool { work.isUpload }

    /// The source of a copy; `nil` for other jobs.
    package var copySource: CopySource? {
        if case .upload(let upload) = work { upload.from } else { nil }
    }

    /// Whether the job is a copy whose destination keeps no partial data, so that it begins anew after a failure.
    public var beginsAgain: Bool { copySource != nil && !asksFirst }

    /// The URLs that the job requests: a download's mirrors, or an upload's only URL.
    package var urls: [String] {
        get { work.urls }
        set { work.urls = newValue }
    }

    package var checksum: Checksum? { work.checksum }

    /// The method of the job's request.
    package var method: String { work.method }

    /// Whether the server can report its data before anything is sent again.
    package var asksFirst: Bool { work.asksFirst }

    /// Whether a repeated request could change something on the server again, judged by its method and the owner's
    /// rules.
    package var mustNotRepeat: Bool { work.mustNotRepeat(settings.retry) }

    /// The method that decides whether a failed attempt may be repeated; protocols that ask the server first may always
    /// repeat.
    package var methodOfRetries: String { asksFirst ? "PUT" : method }

    /// Whether the job is a download that fails where nothing proves that it is complete.
    package var isStrict: Bool { work.isStrict }

    /// Whether the job is a download that may be compressed for the transfer.
    package var isCompressed: Bool { work.isCompressed }

    /// Whether an upload fails when the source's version changes.
    package var failsIfChanged: Bool { work.failsIfChanged }

    /// Whether the job shares the settings of all jobs that set none, as nearly every job does. Its settings then need
    /// no writing, hashing or redaction. Equal settings in a separate value are not detected, which only costs time.
    package var hasNoSettings: Bool { sharedSettings.isSame(as: JobDefaults.noSettings) }

    /// The job's own rate limit in bytes a second; `nil` for none.
    package var limitRate: Int64? { hasNoSettings ? nil : settings.limitRate }

    /// The tags that a worker needs to run the job.
    package var workerTags: WorkerTags { hasNoSettings ? .none : settings.worker.tags }

    /// The bounds of a job that was submitted from outside this machine.
    package var confinement: JobConfinement? { hasNoSettings ? nil : settings.confinement }

    /// Whether a hook is called at the job's end.
    package var tellsHook: Bool { !hasNoSettings && settings.onFinish != nil }

    /// Whether the job contains a secret that must not be stored (``JobSecrets``).
    package var hasSecret: Bool { JobSecrets.isIn(self) }

    /// The job in the form that may be stored.
    package var redacted: JobSpec { JobSecrets.redacted(self) }
}

extension JobSpec {
    /// Returns whether a URL can be the source or destination of a transfer.
    public static func isSupported(url: String) -> Bool { URLRule.isSupported(url) }

    /// Returns the reason, in words, why a URL cannot be the source or destination of a transfer.
    public static func refusal(of url: String) -> String { URLRule.reason(against: url) }

    /// Explains why a supported URL cannot be the destination of an upload; `nil` where it can.
    package static func refusal(ofDestination url: String) -> String? { URLRule.requestRefusal(ofDestination: url) }

    /// Explains why a supported URL cannot be the folder of uploads, whose names are appended to it; `nil` where it
    /// can.
    package static func refusal(ofFolder url: String) -> String? { URLRule.requestRefusal(ofFolder: url) }
}

// The jobs that most programs create.
extension JobSpec {
    /// Returns a download of one file.
    ///
    /// - Parameters:
    ///   - url: A URL with the scheme `http`, `https`, `s3`, `ftp`, `ftps` or `sftp`.
    ///   - path: The path of a file, or of a folder when it ends in `/`.
    ///   - id: The job's ID in its batch; `nil` means the destination.
    ///   - checksum: The checksum of the file; `nil` verifies nothing.
    ///   - needs: The names of jobs in the same batch that must be complete before.
    ///   - priority: The priority, −1,000,000 to 1,000,000; jobs with higher values start earlier.
    ///   - network: The rules for links; `nil` takes those of `settings`.
    ///   - settings: The settings of the job.
    public static func download(
        _ url: String, to path: String, id: String? = nil, checksum: Checksum? = nil, needs: [String] = [],
        priority: Int = 0, network: NetworkPolicy? = nil, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        download(
            [url], to: path, id: id, checksum: checksum, needs: needs, priority: priority, network: network,
            settings: settings)
    }

    /// Returns a download of one file that several servers have.
    public static func download(
        _ mirrors: [String], to path: String, id: String? = nil, checksum: Checksum? = nil, needs: [String] = [],
        priority: Int = 0, network: NetworkPolicy? = nil, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        JobSpec(
            id: id, work: .download(Download(urls: mirrors, destination: path, checksum: checksum)), needs: needs,
            priority: priority, settings: settings, network: network)
    }

    /// Returns an upload of one file. `uploadProtocol` overrides the protocol of the URL's scheme, which is PUT for
    /// `http` and `https`.
    public static func upload(
        _ path: String, to url: String, id: String? = nil, uploadProtocol: UploadProtocol? = nil,
        needs: [String] = [], priority: Int = 0, network: NetworkPolicy? = nil, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        JobSpec(
            id: id,
            work: .upload(
                Upload(
                    source: path, url: url, uploadProtocol: uploadProtocol ?? UploadProtocol.of(url: url) ?? .put)),
            needs: needs, priority: priority, settings: settings, network: network)
    }

    /// Returns a copy from server to server, with no file between.
    ///
    /// - Parameters:
    ///   - mirrors: The source's URLs; further ones are used where the first does not respond.
    ///   - url: The destination's URL. `uploadProtocol` overrides the protocol of its scheme, which is PUT for `http`
    ///     and `https`.
    ///   - checksum: The checksum of the source; the last byte is not sent on before it has been verified.
    ///   - source: The settings for the source's servers; `settings` are those of the job and the destination.
    public static func copy(
        _ mirrors: [String], to url: String, id: String? = nil, checksum: Checksum? = nil,
        uploadProtocol: UploadProtocol? = nil, needs: [String] = [], priority: Int = 0, network: NetworkPolicy? = nil,
        source: JobSettings = JobSettings(), settings: JobSettings = JobSettings()
    ) -> JobSpec {
        let from = CopySource(Download(urls: mirrors, destination: "", checksum: checksum), settings: source)
        return JobSpec(
            id: id,
            work: .upload(
                Upload(from: from, url: url, uploadProtocol: uploadProtocol ?? UploadProtocol.of(url: url) ?? .put)),
            needs: needs, priority: priority, settings: settings, network: network)
    }

    private init(
        id: String?, work: Work, needs: [String], priority: Int, settings: JobSettings, network: NetworkPolicy?
    ) {
        var settings = settings
        if let network { settings.network = network }
        self.init(id: id, work: work, needs: needs, priority: priority, settings: settings)
    }
}
