import FoundationEssentials
import TransferCore

/// The state that a tus upload leaves to its next attempt.
struct TusState: Codable, Hashable {
    private var version = 1
    /// The URL of the creation, without secrets: another target is another upload.
    var to: String
    var size: Int64
    /// The source's digest, where it was known.
    var digest: String?
    /// The parts in the order of the source, without gaps.
    var parts: [Part]
    /// The negotiated checksum algorithm.
    var checksum: DigestAlgorithm?
    /// The URL of the upload to which the parts were joined.
    var joined: String?
    /// Whether the request that completes the upload, which the protocol cannot query, may have been sent.
    var mayBeFinished: Bool?
    /// Whether the last bytes may have been sent without a known answer, so that a missing upload may be complete.
    var isEnding: Bool?
    /// The most bytes of one request, learnt from refusals.
    var cap: Int64?
    /// The earlier uploads whose state the server did not report; they are terminated once their successors exist.
    var replaced: [String]?

    struct Part: Codable, Hashable {
        var from: Int64
        var to: Int64
        var url: String?
        /// The time of expiry in seconds since 1970, for messages only.
        ///
        /// A server may keep an upload longer, and clocks differ. A query costs one round trip, a repetition the file.
        var expires: Int64?
    }

    init(
        to: String, source: UploadSource, pieces: [TusPiece], checksum: DigestAlgorithm?, joined: String?,
        mayBeFinished: Bool, isEnding: Bool = false, cap: Int64? = nil, replaced: [String] = []
    ) {
        self.to = Redaction.url(to)
        size = source.size
        digest = source.digest?.description
        parts = pieces.map {
            Part(from: $0.range.lowerBound, to: $0.range.upperBound, url: $0.url, expires: $0.expires)
        }
        self.checksum = checksum
        self.joined = joined
        self.mayBeFinished = mayBeFinished ? true : nil
        self.isEnding = isEnding ? true : nil
        self.cap = cap
        self.replaced = replaced.isEmpty ? nil : replaced
    }

    static let kind = "tus"

    /// Reads a state.
    ///
    /// - Returns: `nil` for the state of another dialogue.
    init?(_ saved: UploadState) {
        guard saved.kind == Self.kind else { return nil }
        self.init(saved.payload)
    }

    var saved: UploadState {
        let canAsk = joined != nil || parts.contains { $0.url != nil }
        return UploadState(
            kind: Self.kind, canAsk: canAsk, mayBeComplete: mayBeFinished == true || isEnding == true, payload: text)
    }

    /// Parses a state.
    ///
    /// - Returns: `nil` for a text of another form.
    init?(_ text: String) {
        guard let state = try? JSONDecoder().decode(TusState.self, from: Data(text.utf8)), state.isWhole else {
            return nil
        }
        self = state
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Integers and strings can always be encoded.
        return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
    }

    var pieces: [TusPiece] { parts.map { TusPiece($0.from..<$0.to, url: $0.url, expires: $0.expires) } }

    /// Returns the reason, in words, why the state does not fit this upload.
    func mismatch(to url: String, _ source: UploadSource) -> String? {
        if to != Redaction.url(url) { return "the upload goes to another URL now" }
        if size != source.size { return "the file has \(CountText.bytes(source.size)) now, not \(size)" }
        if let digest, let now = source.digest.map(\.description), digest != now {
            // A digest of another algorithm proves nothing about the bytes.
            if digest.prefix(while: { $0 != ":" }) == now.prefix(while: { $0 != ":" }) { return "the file has changed" }
        }
        return nil
    }

    private var isWhole: Bool {
        var end: Int64 = 0
        for part in parts {
            guard part.from == end, part.to >= part.from else { return false }
            end = part.to
        }
        return version == 1 && end == size && !parts.isEmpty
    }
}
