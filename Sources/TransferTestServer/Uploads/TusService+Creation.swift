/// The handling of POST, which creates an upload: empty, with a first body, or from other uploads.
extension TusService {
    mutating func create(_ id: Int, _ headers: HeaderFields) -> UploadServiceStep {
        guard offers.contains("creation") else { return .answer(answer(405)) }
        let field = headers["Upload-Metadata"]
        guard let metadata = field.map(TusUpload.metadata) ?? [:] else { return .answer(answer(400)) }
        var kind = TusUpload.Kind.whole
        if let concat = headers["Upload-Concat"] {
            guard offers.contains("concatenation") else { return .answer(answer(400)) }
            if concat.hasPrefix("final;") { return .answer(join(concat, headers, metadata, field: field)) }
            guard concat == "partial" else { return .answer(answer(400)) }
            kind = .partial
        }
        guard let length = headers["Upload-Length"].flatMap({ Int64($0) }), length >= 0 else {
            return .answer(answer(400))
        }
        if let maxSize, length > maxSize { return .answer(answer(413)) }
        let body = headers["Content-Length"].flatMap { Int64($0) } ?? 0
        guard body > 0 || headers["Transfer-Encoding"] != nil else {
            let index = add(length, metadata, field: field, kind)
            return .answer(created(index))
        }
        guard offers.contains("creation-with-upload") else { return .answer(answer(400)) }
        guard headers["Content-Type"] == "application/offset+octet-stream" else { return .answer(answer(415)) }
        guard body <= length else { return .answer(answer(413)) }
        let index = add(length, metadata, field: field, kind)
        start(id, index, TusWrite(upload: uploads[index].id, isCreation: true))
        return .read()
    }

    func created(_ index: Int, isWithBody: Bool = false) -> Response {
        let upload = uploads[index]
        var fields: HeaderFields = ["Location": "\(locationPrefix)\(endpoint)/\(upload.id)"]
        fields["Upload-Expires"] = upload.expiresField
        if isWithBody { fields["Upload-Offset"] = "\(upload.offset)" }
        return answer(201, fields)
    }

    /// Joins uploads. All parts must be complete, since concatenation-unfinished is not offered.
    private mutating func join(
        _ concat: String, _ headers: HeaderFields, _ metadata: [String: String], field: String?
    ) -> Response {
        let names = concat.dropFirst(6).split(separator: " ").map {
            $0.split(separator: "/").last.map(String.init) ?? ""
        }
        let parts = names.compactMap { name in uploads.first { $0.id == name } }
        guard parts.count == names.count else { return answer(404) }
        guard !parts.isEmpty, headers["Upload-Length"] == nil,
            parts.allSatisfy({ $0.kind == .partial && $0.isComplete })
        else { return answer(400) }
        let bytes = parts.flatMap(\.bytes)
        if let maxSize, Int64(bytes.count) > maxSize { return answer(413) }
        let index = add(Int64(bytes.count), metadata, field: field, .final(concat))
        change(index) { $0.bytes = bytes }
        let made = created(index)
        if removesJoinedParts {
            for part in parts { remove(part.id) }
        }
        return made
    }
}
