import FoundationEssentials
import TransferCore
import TransferEngine

/// What an upload that was broken off left behind, for the next attempt: in this process or another.
struct UploadRecord: Sendable, Hashable, Codable {
    /// The source when the upload began: bytes, and nanoseconds since 1970.
    var size: Int64
    var modified: Int64
    /// What the protocol's dialogue wanted to keep; `nil` where only the version that it began with is known.
    var state: String?
    /// Bytes that the server had when that was last known.
    var confirmed: Int64

    init(_ facts: FileFacts, state: String?, confirmed: Int64) {
        size = facts.size
        modified = facts.modified
        self.state = state
        self.confirmed = confirmed
    }

    var facts: FileFacts { FileFacts(size: size, modified: modified) }

    /// Whether its server can be asked what it has.
    var knowsTheWay: Bool { state.map { UploadProtocols.knowsTheWay($0) } ?? false }

    var text: String? { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } }

    init?(text: String) {
        guard let record = try? JSONDecoder().decode(UploadRecord.self, from: Data(text.utf8)) else { return nil }
        self = record
    }
}
