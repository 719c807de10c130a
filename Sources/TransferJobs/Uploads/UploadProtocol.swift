import TransferCore

extension JobSpec.UploadProtocol: RawRepresentable, CaseIterable, Hashable {
    /// The protocol's name in a job file.
    public var rawValue: String { entry.name }

    /// Returns the registered protocol with this name; `nil` where there is none.
    public init?(rawValue: String) {
        guard let known = UploadRegistry.current.named(rawValue) else { return nil }
        self = known
    }

    /// All registered protocols.
    public static var allCases: [Self] { UploadRegistry.current.protocols }

    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

// The protocols of this package; each has its entry in a file of its own (`Protocols/`).
extension JobSpec.UploadProtocol {
    /// An upload with the file as the body of one PUT request. Where the server offers resumable uploads (the IETF
    /// draft), they are used.
    public static let put = PlainUploads.put
    /// An upload with the file as the body of one POST request, which is not repeated.
    public static let post = PlainUploads.post
    /// An upload by `put` with `createFolders`, which creates missing folders (WebDAV's MKCOL).
    package static let putIntoFolders = PlainUploads.putIntoFolders
    /// An upload as a form (RFC 7578) with fields and the file.
    public static let multipart = FormUploads.multipart
    /// An upload by tus 1.0.
    public static let tus = TusUploads.tus
    /// An upload by the IETF draft "Resumable Uploads for HTTP".
    public static let resumable = ResumableUploads.resumable
    /// Uploads to Amazon S3 and compatible servers; the URL is `s3://bucket/key`.
    public static let s3 = S3Uploads.s3
    /// Uploads to `ftp://…` or `ftps://…`. The file grows beside its destination and gets its name once it is complete.
    public static let ftp = FileServerUploads.ftp
    /// Uploads to `sftp://…`, which work in the same way.
    public static let sftp = FileServerUploads.sftp
}

extension JobSpec.UploadProtocol {
    /// Whether the URL only creates uploads and the server assigns each its own, so that many uploads have the same
    /// URL.
    public var givesNames: Bool { entry.givesNames }

    /// Returns the protocol that a URL's scheme implies; `nil` for HTTP URLs.
    public static func of(url: String) -> Self? {
        // The fast path matters with a million jobs, most of which use HTTP.
        guard !url.utf8.starts(with: "http".utf8) else { return nil }
        return UploadRegistry.current.claiming(url)
    }

    /// Explains why the protocol cannot be used with a URL, in words; `nil` where it can.
    public func refusal(of url: String) -> String? {
        if let own = Self.of(url: url) {
            let scheme = url.prefix { $0 != ":" }.lowercased()
            return own == self ? nil : "a URL of \(scheme):// goes with the protocol \"\(own.rawValue)\""
        }
        return entry.urls.schemes.isEmpty ? nil : "the protocol \"\(rawValue)\" has URLs as \(entry.urls.form)"
    }
}

extension JobSpec.Upload {
    /// The entry of the upload's protocol, as its options choose it.
    package var entry: UploadEntry {
        _read {
            let chosen = uploadProtocol.entry.variant(options) ?? uploadProtocol
            yield chosen.entry
        }
    }

    /// The size in bytes from which a plain request is offered as a resumable upload.
    package static let upgradeSize: Int64 = 4 << 20

    /// Returns whether the first attempt is a single request, whatever the name of its source.
    package func isOneRequest(size: Int64) -> Bool { entry.isOneRequest && size < Self.upgradeSize }
}
