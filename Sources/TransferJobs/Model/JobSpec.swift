public import TransferCore

/// One job as its owner describes it: what to move, where to, and by which rules.
///
/// A spec is a plain value that names its secrets and never holds them. The defaults of a batch are already merged in.
public struct JobSpec: Sendable, Hashable {
    /// The job's name in its batch; `nil` means that the destination is its identity.
    public var id: String?
    public var work: Work
    /// Identities of jobs of the same batch that must be complete before this one starts.
    public var needs: [String]
    /// Higher starts earlier; −1,000,000 to 1,000,000, 0 by default.
    public var priority: Int
    /// The jobs of a file mostly have the same rules, and have them in common then.
    package var sharedSettings: Shared<JobSettings>
    /// The fingerprint, where it isn't that of the values here: a configuration makes no other job of one.
    package var lasting: Int64?

    public var settings: JobSettings {
        _read { yield sharedSettings.wrappedValue }
        _modify { yield &sharedSettings.wrappedValue }
    }

    public init(
        id: String? = nil, work: Work, needs: [String] = [], priority: Int = 0, settings: JobSettings = JobSettings()
    ) {
        self.init(id: id, work: work, needs: needs, priority: priority, settings: Shared(wrappedValue: settings))
    }

    /// - Parameter settings: Those of other jobs too.
    package init(id: String?, work: Work, needs: [String], priority: Int, settings: Shared<JobSettings>) {
        self.id = id
        self.work = work
        self.needs = needs
        self.priority = priority
        sharedSettings = settings
    }

    /// Behind one reference: a job goes through many hands.
    public indirect enum Work: Sendable, Hashable {
        case download(Download)
        case upload(Upload)
    }

    public struct Download: Sendable, Hashable {
        /// Mirrors of one file, in the order of preference; never empty; `http`, `https`, `s3`,
        /// `ftp`, `ftps` or `sftp`.
        public var urls: [String]
        /// A file, or a folder when it ends in `/` (the name then comes from the server or the URL).
        public var destination: String
        /// The file's name in a folder where the server gives none; that of the URL otherwise.
        public var defaultName: String?
        public var checksum: Checksum?
        /// Of all of the file's pieces. They are compared with the whole file, and with the beginning that another tool left.
        public var pieces: PieceDigests?
        /// The bytes that the file must have; a file of another size fails. `nil` where nobody knows.
        public var size: Int64?
        public var ifExists: IfExists
        /// `nil` is GET.
        public var method: String?
        /// A request body to send, as text.
        public var body: String?
        /// Give the file the server's Last-Modified time; true by default.
        public var remoteTime: Bool
        /// How many connections the one file may get; automatic by default. They share the limit for the file's host with
        /// other jobs, which come first.
        public var segments: SegmentCount
        public var adopt: Adopt
        /// What nothing proves to be whole fails: a file of which no digest is known and whose length only the end of the
        /// connection tells. Nothing is adopted then that nothing proves.
        public var strict: Bool
        /// The server may compress the file on its way, and it's stored decoded; false by default. Such a file gets one
        /// connection and can't be continued: it begins anew after each failure. Digests and ``size`` are of the decoded file.
        public var compressed: Bool

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

        /// How many connections the file gets: ranges of a file that is compressed on its way are none of its own.
        package var connections: SegmentCount { compressed ? .exactly(1) : segments }

        /// Whether digests decide about the whole file.
        package var isProvenByDigests: Bool { checksum != nil || pieces != nil }
    }

    public struct Upload: Sendable, Hashable {
        public var source: String
        public var url: String
        public var uploadProtocol: UploadProtocol
        /// `nil` is the protocol's own: PUT for `put`, POST for `post`.
        public var method: String?
        /// What the source's digest has to be; it's compared before anything is sent.
        public var checksum: Checksum?
        public var options: Options
        /// The source of a copy, which is on another server; then ``source`` names it for people. `nil` for a file.
        public var from: CopySource?

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

        /// A copy from server to server, with no file between.
        public init(
            from source: CopySource, url: String, uploadProtocol: UploadProtocol = .put, options: Options = Options()
        ) {
            self.init(
                source: Redaction.url(source.download.urls.first ?? ""), url: url, uploadProtocol: uploadProtocol,
                checksum: source.download.checksum, options: options)
            from = source
        }
    }

    /// How an upload speaks to its server; known by its name.
    public struct UploadProtocol: Sendable {
        /// Behind one reference: each job has it.
        private let shared: Shared<UploadEntry>

        package init(_ entry: UploadEntry) { shared = Shared(wrappedValue: entry) }

        package var entry: UploadEntry {
            _read { yield shared.wrappedValue }
        }
    }

    /// What to do when the destination is there already.
    public enum IfExists: String, Sendable, Hashable, CaseIterable {
        /// What our record or the checksum proves complete is kept; anything else fails and says what to write.
        case verify
        /// Kept where the checksum proves it, or where the server confirms the version that we recorded (304 to its ETag or
        /// Last-Modified); anything else is fetched and replaced, as a server can tell nothing of bytes that it didn't give.
        case update
        case overwrite, skip, rename, fail
    }

    /// When a download goes on with a partial file of another tool, at the destination or beside it as `NAME.part`.
    public enum Adopt: String, Sendable, Hashable, CaseIterable {
        /// Where a checksum decides about the whole.
        case proven
        /// Also where nothing does; the receipt says so.
        case unproven
        case never
    }

    /// The job's name within its batch: its `id`, else its destination (in a folder, with the name that the URL gives);
    /// the source of an upload whose server gives the names.
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
    /// The destination; in a folder with the name that the URL gives, which an answer may change.
    package var expectedFile: String {
        guard destination.hasSuffix("/") else { return destination }
        return (destination == "./" ? "" : destination)
            + (defaultName ?? SafeFileName.fromURL(urls.first ?? "") ?? "index.html")
    }
}

extension JobSpec {
    public var isUpload: Bool { work.isUpload }

    /// The source of a copy; `nil` for other jobs.
    package var copySource: CopySource? {
        if case .upload(let upload) = work { upload.from } else { nil }
    }

    /// Whether it's a copy of which the destination keeps no part: it begins again from its start.
    public var beginsAgain: Bool { copySource != nil && !asksFirst }

    /// The URLs that the job speaks to: a download's mirrors, or an upload's one.
    package var urls: [String] {
        get { work.urls }
        set { work.urls = newValue }
    }

    package var checksum: Checksum? { work.checksum }

    /// The method its request is made with.
    package var method: String { work.method }

    /// Whether its server can be asked what it has before anything is sent again.
    package var asksFirst: Bool { work.asksFirst }

    /// Whether its request changes something each time it's made, as far as its method says and its owner allows.
    package var mustNotRepeat: Bool { work.mustNotRepeat(settings.retry) }

    /// The method by which it's judged whether a failed attempt may be followed by another: protocols that ask first may
    /// always.
    package var methodOfRetries: String { asksFirst ? "PUT" : method }

    /// Whether it's a download that fails where nothing proves it to be whole.
    package var isStrict: Bool { work.isStrict }

    /// Whether it's a download that may be compressed on its way.
    package var isCompressed: Bool { work.isCompressed }

    /// Whether an upload of another version than it began with isn't wanted.
    package var failsIfChanged: Bool { work.failsIfChanged }

    /// Whether the job shares the settings of all jobs that say nothing about them, as nearly every job does: there is nothing
    /// to write then, to count or to hide. The same settings in a value of their own aren't told, which costs time alone.
    package var hasNoSettings: Bool { sharedSettings.isSame(as: JobDefaults.noSettings) }

    /// The job's own bound in bytes a second; `nil` without one.
    package var limitRate: Int64? { hasNoSettings ? nil : settings.limitRate }

    /// Names of the worker that may do it.
    package var workerTags: WorkerTags { hasNoSettings ? .none : settings.worker.tags }

    /// The bounds of a job that was submitted from outside this machine.
    package var confinement: JobConfinement? { hasNoSettings ? nil : settings.confinement }

    /// Whether somebody is told of its end.
    package var tellsHook: Bool { !hasNoSettings && settings.onFinish != nil }

    /// Whether it holds what must not be written down: ``JobSecrets``.
    package var hasSecret: Bool { JobSecrets.isIn(self) }

    /// The job as it may be written down.
    package var redacted: JobSpec { JobSecrets.redacted(self) }
}

extension JobSpec {
    /// Whether something can be moved from or to such a URL.
    public static func isSupported(url: String) -> Bool { URLRule.isSupported(url) }

    /// The reason why nothing can be moved from or to such a URL, in words.
    public static func refusal(of url: String) -> String { URLRule.reason(against: url) }

    /// Why nothing can be sent to a supported URL; `nil` where it can.
    package static func refusal(ofDestination url: String) -> String? { URLRule.requestRefusal(ofDestination: url) }

    /// Why no files can be sent to a supported URL that gets their names at its end; `nil` where they can.
    package static func refusal(ofFolder url: String) -> String? { URLRule.requestRefusal(ofFolder: url) }
}

// The jobs that most programs make.
extension JobSpec {
    /// A download of one file.
    ///
    /// - Parameters:
    ///   - url: `http`, `https`, `s3`, `ftp`, `ftps` or `sftp`.
    ///   - path: A file, or a folder when it ends in `/`.
    ///   - id: The job's name in its batch; `nil` takes the destination.
    ///   - checksum: What the file must hash to; `nil` verifies nothing.
    ///   - needs: Jobs of the same batch, by their names, that must be complete before.
    ///   - priority: Higher starts earlier; −1,000,000 to 1,000,000.
    ///   - network: The links that it may use; `nil` takes the rules of `settings`.
    ///   - settings: The rules of the job.
    public static func download(
        _ url: String, to path: String, id: String? = nil, checksum: Checksum? = nil, needs: [String] = [],
        priority: Int = 0, network: NetworkPolicy? = nil, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        download(
            [url], to: path, id: id, checksum: checksum, needs: needs, priority: priority, network: network,
            settings: settings)
    }

    /// A download of one file that several servers have.
    public static func download(
        _ mirrors: [String], to path: String, id: String? = nil, checksum: Checksum? = nil, needs: [String] = [],
        priority: Int = 0, network: NetworkPolicy? = nil, settings: JobSettings = JobSettings()
    ) -> JobSpec {
        JobSpec(
            id: id, work: .download(Download(urls: mirrors, destination: path, checksum: checksum)), needs: needs,
            priority: priority, settings: settings, network: network)
    }

    /// An upload of one file, by what the URL's scheme asks for, and by PUT for `http` and `https`, unless
    /// `uploadProtocol` says otherwise.
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

    /// A copy from server to server, with no file between.
    ///
    /// - Parameters:
    ///   - mirrors: Where it comes from; further ones are asked where the first doesn't answer.
    ///   - url: Where it goes, by what the URL's scheme asks for, and by PUT for `http` and `https`, unless
    ///     `uploadProtocol` says otherwise.
    ///   - checksum: What the source must hash to; its last byte isn't sent on before that is known.
    ///   - source: What the source's servers are asked by and shown; `settings` are the job's and the destination's.
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
