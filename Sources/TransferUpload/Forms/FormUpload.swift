public import TransferCore

/// A file in a form: one request with `multipart/form-data` (RFC 7578), its fields first and the file last.
public struct FormUpload: UploadDialogue {
    private let url: String
    private let method: String
    private let source: UploadSource
    private let fields: [HeaderField]
    private let fileField: String
    private let boundary: String

    /// Creates an upload.
    ///
    /// - Parameters:
    ///   - fields: The names and values, in the order in which they are sent.
    ///   - fileField: The name of the field with the file.
    ///   - boundary: The text between the parts. It must not occur in one, so a random text is best.
    public init(
        url: String, method: String = "POST", source: UploadSource, fields: [HeaderField] = [],
        fileField: String = "file", boundary: String = FormUpload.randomBoundary()
    ) {
        self.url = url
        self.method = method
        self.source = source
        self.fields = fields
        self.fileField = fileField
        self.boundary = boundary
    }

    /// Returns a random boundary.
    public static func randomBoundary() -> String {
        "transfer-" + String(UInt64.random(in: .min ... .max), radix: 16)
            + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    /// Returns the first actions.
    public mutating func begin(now: Int64) -> [UploadAction] {
        var prefix = ""
        for field in fields {
            prefix += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(field.name))\"\r\n\r\n"
            prefix += field.value + "\r\n"
        }
        prefix += "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escaped(fileField))\"; "
        let type = source.labels?.type ?? FileMediaType.suggested(by: source.name) ?? FileMediaType.unknown
        prefix += "filename=\"\(Self.escaped(source.name))\"\r\nContent-Type: \(type)\r\n\r\n"
        let request = UploadRequest(
            id: 1, method: method, url: url,
            headers: [HeaderField("Content-Type", "multipart/form-data; boundary=\(boundary)")],
            body: .source(0..<source.size, prefix: Array(prefix.utf8), suffix: Array("\r\n--\(boundary)--\r\n".utf8)),
            ownersFields: .all)
        return [.send(request)]
    }

    /// Returns the actions that follow an event.
    public mutating func handle(_ event: UploadEvent, now: Int64) -> [UploadAction] {
        switch event {
        case .answered(let answer): [PlainAnswer.end(answer, now: now)]
        case .failed(_, let error, _): [.fail(error)]
        case .interim, .digested: []
        }
    }

    /// Finishes at once, as the server holds nothing for the upload.
    public mutating func abandon(now: Int64) -> [UploadAction] { [.finish(UploadResult(url: url, status: 0))] }

    /// Escapes quotes and line breaks by the form's standard (RFC 7578 §2, HTML's multipart/form-data encoding).
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "\"": result += "%22"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

/// The answer to a request that was the whole upload.
enum PlainAnswer {
    static func end(_ answer: UploadAnswer, now: Int64, namesWhatItMade: Bool = false) -> UploadAction {
        guard (200..<300).contains(answer.head.status) else { return .fail(StatusRule.error(answer.head, now: now)) }
        let location = namesWhatItMade ? answer.head.singleValue("Location") : nil
        return .finish(
            UploadResult(
                url: location.flatMap { URLReference.resolve($0, against: answer.url) } ?? answer.url,
                status: answer.head.status, validator: Validator(answer.head)?.description,
                response: answer.body.isEmpty ? nil : String(decoding: answer.body, as: UTF8.self)))
    }
}
