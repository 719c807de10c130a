import TransferCore

extension JobSpec.UploadProtocol: RawRepresentable, CaseIterable, Hashable {
    /// The name in a job file.
    public var rawValue: String { entry.name }

    public init?(rawValue: String) {
        guard let known = UploadRegistry.current.named(rawValue) else { return nil }
        self = known
    }

    /// Every protocol that is registered.
    public static var allCases: [Self] { UploadRegistry.current.protocols }

    public static func == (one: Self, other: Self) -> Bool { one.rawValue == other.rawValue }

    public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

// The protocols of this package; each is an entry in a file of its own (`Protocols/`).
extension JobSpec.UploadProtocol {
    /// The file is the body of one request. Where the server offers to resume it (the IETF draft), that is used.
    public static let put = PlainUploads.put
    /// The same by POST, which isn't sent twice.
    public static let post = PlainUploads.post
    /// `put` with `createFolders`: folders that are missing are made (WebDAV's MKCOL).
    package static let putIntoFolders = PlainUploads.putIntoFolders
    /// A form (RFC 7578) with fields and the file.
    public static let multipart = FormUploads.multipart
    /// tus 1.0.
    public static let tus = TusUploads.tus
    /// Resumable Uploads for HTTP, an IETF draft.
    public static let resumable = ResumableUploads.resumable
    /// Amazon's S3 and what speaks like it; the URL is `s3://bucket/key`.
    public static let s3 = S3Uploads.s3
    /// The file grows beside its destination and gets its name when it's whole; the URL is `ftp://…` or `ftps://…`.
    public static let ftp = FileServerUploads.ftp
    /// The same with SSH's servers; the URL is `sftp://…`.
    public static let sftp = FileServerUploads.sftp
}

extension JobSpec.UploadProtocol {
    /// Whether the URL is only where uploads are made, and the server says where each is: then many have the same one.
    public var givesNames: Bool { entry.givesNames }

    /// The protocol that a URL's scheme leaves no choice about; `nil` for HTTP's.
    public static func of(url: String) -> Self? {
        // For each of a million jobs: most are HTTP's.
        guard !url.utf8.starts(with: "http".utf8) else { return nil }
        return UploadRegistry.current.claiming(url)
    }

    /// Why an upload to that URL can't speak it, in words; `nil` where it can.
    public func refusal(of url: String) -> String? {
        if let own = Self.of(url: url) {
            let scheme = url.prefix { $0 != ":" }.lowercased()
            return own == self ? nil : "a URL of \(scheme):// goes with the protocol \"\(own.rawValue)\""
        }
        return entry.urls.schemes.isEmpty ? nil : "the protocol \"\(rawValue)\" has URLs as \(entry.urls.form)"
    }
}

extension JobSpec.Upload {
    /// What its protocol does under its options.
    package var entry: UploadEntry {
        _read {
            let chosen = uploadProtocol.entry.variant(options) ?? uploadProtocol
            yield chosen.entry
        }
    }

    /// A plain request that is longer than this is offered to be resumed.
    package static let upgradeSize: Int64 = 4 << 20

    /// Whether a first attempt at it is one request and no more, whatever its source is called.
    package func isOneRequest(size: Int64) -> Bool { entry.isOneRequest && size < Self.upgradeSize }
}
