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
