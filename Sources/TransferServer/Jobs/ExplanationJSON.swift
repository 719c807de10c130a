import FoundationEssentials
import TransferQueue

/// Explanations as the answers have them.
enum ExplanationJSON {
    /// - Parameters:
    ///   - gid: The job's.
    ///   - isOwner: Whether queries of URLs are shown.
    static func bytes(_ explanation: JobExplanation, gid: String, isOwner: Bool) throws -> [UInt8] {
        var record = ExplanationRecord(explanation)
        record.subject.gid = gid
        if !isOwner { record.hideQueries { JobJSON.shown($0, false) } }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(record))
    }
}
