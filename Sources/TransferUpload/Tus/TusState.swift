import FoundationEssentials
import TransferCore

/// The state that a tus upload leaves to its next attempt.
struct TusState: Codable, Hashable {
    private var version = 1
    /// Where it was created, without secrets: another target is another upload.
    var to: String
    var size: Int64
    /// The source's digest, where it was known.
    var digest: String?
    /// In the order of the source, without gaps.
    var parts: [Part]
    /// The algorithm that the server agreed to.
    var checksum: DigestAlgorithm?
    /// The upload that the parts were joined to.
    var joined: String?
    /// The request that completes the upload, and that the protocol can't ask about, may have been sent.
    var mayBeFinished: Bool?
    /// The last bytes were being sent, or were, and no answer is known: an upload that's gone may be complete.
    var isEnding: Bool?
    /// The most bytes that one request may carry, learnt from refusals.
    var cap: Int64?
    /// Earlier uploads, which the server wouldn't tell anything about: they are terminated once their successors are
    /// there.
    var replaced: [String]?

    struct Part: Codable, Hashable {
        var from: Int64
        var to: Int64
        var url: String?
        /// Seconds since 1970. For words only: a server may keep an upload longer, clocks differ, and to ask costs one
        /// round trip where sending again costs the file.
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

    /// - Returns: `nil` for what isn't a state of this form.
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

    /// Why nothing can be made of it for this upload, in words.
    func mismatch(to url: String, _ source: UploadSource) -> String? {
        if to != Redaction.url(url) { return "the upload goes to another URL now" }
        if size != source.size { return "the file has \(CountText.bytes(source.size)) now, not \(size)" }
        if let digest, let now = source.digest.map(\.description), digest != now {
            // Another algorithm says nothing about the bytes.
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
