import FoundationEssentials
import TransferQueue

/// The JSON form of explanations in responses.
enum ExplanationJSON {
    /// Returns an explanation as JSON.
    ///
    /// - Parameters:
    ///   - troubles: The batch's hooks whose calls failed.
    ///   - gid: The job's gid.
    ///   - isOwner: Whether queries of URLs are shown.
    static func bytes(
        _ explanation: JobExplanation, _ troubles: [HookTrouble], gid: String, isOwner: Bool
    ) throws -> [UInt8] {
        var record = ExplanationRecord(
            explanation, troubles: troubles.filter { $0.job == nil || $0.job == explanation.job })
        record.subject.gid = gid
        if !isOwner { record.hideQueries { JobJSON.shown($0, false) } }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(record))
    }
}
