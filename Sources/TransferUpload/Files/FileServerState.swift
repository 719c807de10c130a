import FoundationEssentials
import TransferCore

/// The state that an upload to a file server leaves to its next attempt.
struct FileServerState: Codable, Hashable {
    private var version = 1
    /// The target without secrets: another target is another upload.
    var to: String
    var size: Int64
    /// The source's digest, where it was known.
    var digest: String?
    /// The path under which the file grows; no other upload writes there.
    var part: String
    var mark: String
    var generation: Int
    /// Whether bytes may have arrived there.
    var hasSent: Bool?
    /// Whether all bytes left without a known answer. A missing part may then have been collected by a process on the
    /// server.
    var hasSentAll: Bool?
    /// Whether the server refused to append to a file.
    var cannotAppend: Bool?
    /// The facts of the renaming, once the part is whole and may have its name already.
    var naming: Naming?
    /// The earlier parts whose state the server did not report; they are removed when the file has its name.
    var replaced: [String]?

    struct Naming: Codable, Hashable {
        /// The part's ETag; a file keeps it when it is renamed. `nil` where the server reports no times.
        var etag: String?
        /// Whether the server reported no facts about the part, so that a file of that length cannot be identified.
        var isUnreported: Bool?
        /// Whether a small file was stored without a query, so that only its bytes identify it.
        var isByBytes: Bool?
    }

    init(to: String, source: UploadSource, part: String, mark: String, generation: Int = 0) {
        self.to = Redaction.url(to)
        size = source.size
        digest = source.digest?.description
        self.part = part
        self.mark = mark
        self.generation = generation
    }

    static let kind = "files"

    /// Reads a state.
    ///
    /// - Returns: `nil` for the state of another dialogue.
    init?(_ saved: UploadState) {
        guard saved.kind == Self.kind else { return nil }
        self.init(saved.payload)
    }

    var saved: UploadState {
        UploadState(kind: Self.kind, canAsk: true, mayBeComplete: naming != nil, payload: text)
    }

    /// Parses a state.
    ///
    /// - Returns: `nil` for a text of another form.
    init?(_ text: String) {
        guard let state = try? JSONDecoder().decode(FileServerState.self, from: Data(text.utf8)), state.version == 1,
            state.size >= 0, Origin(fileServerURL: state.part) != nil
        else { return nil }
        self = state
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Integers and strings can always be encoded.
        return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
    }

    /// Returns the reason, in words, why the state does not fit this upload.
    func mismatch(to url: String, _ source: UploadSource) -> String? {
        if to != Redaction.url(url) { return "the upload goes to another URL now" }
        if size != source.size { return "the file has \(CountText.bytes(source.size)) now, not \(size)" }
        // A digest of another algorithm proves nothing about the bytes.
        if let digest, let now = source.digest.map(\.description), digest != now,
            digest.prefix(while: { $0 != ":" }) == now.prefix(while: { $0 != ":" })
        {
            return "the file has changed"
        }
        return nil
    }
}
