import FoundationEssentials
import TransferCore

/// The state that an upload in place leaves to its next attempt.
struct InPlaceState: Codable, Hashable {
    enum Left: String, Codable {
        case part, all

        var words: String { "\(self == .all ? "all" : "a part") of the file may be there under its name already" }
    }

    private var version = 1
    /// The target without secrets: another target is another upload.
    private var inPlace: String
    /// The bytes that interrupted attempts may have left under the file's own name.
    private(set) var left: Left?
    /// The hidden files of attempts with the other method.
    private(set) var parts: [String] = []

    static let kind = "inPlace"

    var saved: UploadState { UploadState(kind: Self.kind, canAsk: false, payload: text) }

    /// Reads a state.
    ///
    /// - Parameter saved: The state of an attempt with either method.
    init(_ saved: UploadState?, to url: String) {
        inPlace = Redaction.url(url)
        guard let saved else { return }
        if saved.kind == Self.kind {
            if let known = InPlaceState(text: saved.payload), known.inPlace == inPlace { self = known }
        } else if let known = FileServerState(saved) {
            // Another server is not sent the names of these files.
            let here = Origin(fileServerURL: url)
            parts = ([known.part] + (known.replaced ?? [])).filter { Origin(fileServerURL: $0) == here }
        }
    }

    /// Parses a state.
    ///
    /// - Returns: `nil` for a text of another form.
    init?(text: String) {
        guard let state = try? JSONDecoder().decode(InPlaceState.self, from: Data(text.utf8)), state.version == 1
        else { return nil }
        self = state
    }

    func leaving(_ left: Left) -> InPlaceState {
        var state = self
        if state.left != .all { state.left = left }
        return state
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings can always be encoded.
        return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self)
    }
}
