import FoundationEssentials
import TransferCore

/// The state that an upload to a file server leaves to its next attempt.
struct FileServerState: Codable, Hashable {
    private var version = 1
    /// Without secrets: another target is another upload.
    var to: String
    var size: Int64
    /// The source's digest, where it was known.
    var digest: String?
    /// The path at which the file grows; nobody else writes there.
    var part: String
    var mark: String
    var generation: Int
    /// Bytes may have arrived there.
    var hasSent: Bool?
    /// All bytes left, and no answer is known: a part that's gone may have been taken away.
    var hasSentAll: Bool?
    /// The server refused to go on with a file.
    var cannotAppend: Bool?
    /// The part is whole, and may have its name already.
    var naming: Naming?
    /// Earlier parts, which the server wouldn't tell anything about: removed when the file has its name.
    var replaced: [String]?

    struct Naming: Codable, Hashable {
        /// The part's ETag; a file keeps it when it's renamed. `nil` where the server tells no times.
        var etag: String?
        /// The server told nothing of the part: a file of that length isn't known from another one.
        var isUnreported: Bool?
        /// The file is small, and nothing was asked: its bytes tell it from another one.
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

    /// - Returns: `nil` for the state of another dialogue.
    init?(_ saved: UploadState) {
        guard saved.kind == Self.kind else { return nil }
        self.init(saved.payload)
    }

    var saved: UploadState {
        UploadState(kind: Self.kind, canAsk: true, mayBeComplete: naming != nil, payload: text)
    }

    /// - Returns: `nil` for what isn't a state of this form.
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

    /// Why nothing can be made of it for this upload, in words.
    func mismatch(to url: String, _ source: UploadSource) -> String? {
        if to != Redaction.url(url) { return "the upload goes to another URL now" }
        if size != source.size { return "the file has \(CountText.bytes(source.size)) now, not \(size)" }
        // Another algorithm says nothing about the bytes.
        if let digest, let now = source.digest.map(\.description), digest != now,
            digest.prefix(while: { $0 != ":" }) == now.prefix(while: { $0 != ":" })
        {
            return "the file has changed"
        }
        return nil
    }
}
