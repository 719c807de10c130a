import HTTPTypes
import TransferQueue

/// The forms of jobs that a request may contain, by its content type.
enum JobBody {
    /// Returns the form for a content type.
    ///
    /// - Returns: `nil` where the contents determine the form.
    /// - Throws: A 415 for other types.
    static func format(_ mediaType: String?) throws -> JobFileFormat? {
        switch mediaType {
        case "application/json": .json
        case "application/x-ndjson", "application/jsonl": .jsonLines
        case "application/metalink4+xml", "application/metalink+xml": .metalink
        case "text/csv": .csv
        case nil, "text/plain", "text/uri-list", "application/octet-stream": nil
        case .some(let type):
            throw Problem(
                .unsupportedMediaType, "mediaType", "no form of jobs is called \(Wording.quoted(type))",
                hint:
                    "application/json, application/x-ndjson, text/plain, text/csv and application/metalink4+xml are taken"
            )
        }
    }
}
