import FoundationEssentials

/// The state that survives an attempt, as JSON.
struct ResumableState: Sendable, Hashable, Codable {
    /// The upload's own URL; `nil` before it is known.
    var url: String?
    /// The interop version that the server speaks, or in which it is asked first.
    var version: Int64?
    /// Whether the server has shown that it speaks that version; otherwise the version is a guess.
    var isVersionHeard: Bool?
    /// The time in seconds since 1970 when the server deletes the upload.
    var expires: Int64?
    /// The length of the source in bytes when the upload began.
    var length: Int64
    /// The most bytes of one request, learnt from a refusal, or from a limit that the whole source exceeded.
    var cap: Int64?
    /// Whether the last bytes may have been sent without a known answer.
    ///
    /// The flag is only kept for methods that must not be applied twice: an upload that is gone then is not simply sent
    /// again.
    var isEnding: Bool?
    /// Whether the last bytes were answered by an error that may have been the target's own.
    ///
    /// A complete upload then need not be a success.
    var isRefused: Bool?
    /// The number of requests for the target's lost answer.
    var replaysAsked: Int?
    /// The earlier uploads whose state the server did not report; they are cancelled when the file is complete.
    ///
    /// As long as there is no other upload, the last of them is asked about.
    var replaced: [String]?

    init(length: Int64) { self.length = length }

    static let kind = "resumable"

    /// Reads a state.
    ///
    /// - Returns: `nil` for the state of another dialogue.
    init?(_ saved: UploadState) {
        guard saved.kind == Self.kind else { return nil }
        self.init(text: saved.payload)
    }

    var saved: UploadState {
        UploadState(kind: Self.kind, canAsk: url != nil, mayBeComplete: isEnding == true, payload: text)
    }

    /// Parses a state.
    ///
    /// - Returns: `nil` for a text of another form.
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

    /// Forgets the upload, but not the facts about the server.
    mutating func forgetUpload() {
        url = nil
        expires = nil
        isEnding = nil
        isRefused = nil
        replaysAsked = nil
    }
}
