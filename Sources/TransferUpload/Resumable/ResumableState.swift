import FoundationEssentials

/// The state that survives an attempt, as JSON.
struct ResumableState: Sendable, Hashable, Codable {
    /// The upload's own URL; `nil` before it's known.
    var url: String?
    /// The interop version that the server speaks, or is to be asked with first.
    var version: Int64?
    /// Whether the server has shown that it speaks that version; otherwise it's a guess.
    var isVersionHeard: Bool?
    /// Seconds since 1970, when the server forgets the upload.
    var expires: Int64?
    /// Bytes of the source that the upload is of.
    var length: Int64
    /// The most bytes that one request may carry, learnt from a refusal, or from a limit that all of it was over.
    var cap: Int64?
    /// The last bytes were sent, or may have been, and no answer is known. Only kept for methods that must not be
    /// applied twice: an upload that is gone then isn't simply sent again.
    var isEnding: Bool?
    /// The last bytes were answered by an error that may have been the target's own: that the upload is complete
    /// doesn't mean that it was a success.
    var isRefused: Bool?
    /// How often the target's answer was asked for again.
    var replaysAsked: Int?
    /// Earlier uploads, which the server wouldn't tell anything about: cancelled when the file is there. As long as there
    /// is no other upload, the last of them is asked about.
    var replaced: [String]?

    init(length: Int64) { self.length = length }

    static let kind = "resumable"

    /// - Returns: `nil` for the state of another dialogue.
    init?(_ saved: UploadState) {
        guard saved.kind == Self.kind else { return nil }
        self.init(text: saved.payload)
    }

    var saved: UploadState {
        UploadState(kind: Self.kind, canAsk: url != nil, mayBeComplete: isEnding == true, payload: text)
    }

    /// - Returns: `nil` for text that isn't such a state.
    init?(text: String) {
        guard let state = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = state
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and integers can always be encoded.
        return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    /// Forgets the upload, but not what is known of the server.
    mutating func forgetUpload() {
        url = nil
        expires = nil
        isEnding = nil
        isRefused = nil
        replaysAsked = nil
    }
}
