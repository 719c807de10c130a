import TransferCore
import TransferUpload

/// How an upload is made.
extension JobDecoder {
    static let parallelRequests = 1...64

    /// Bytes of one request; at least 1.
    mutating func chunkSize() throws(JSONFault) -> Int64? {
        _ = try reader.kind()
        let start = reader.offset
        guard let value = try byteCount() else { return nil }
        guard value > 0 || isTrusted else {
            note("a chunk has at least one byte", start..<reader.offset)
            return nil
        }
        return value
    }

    /// Statuses; at least one.
    mutating func success() throws(JSONFault) -> Set<Int>? {
        _ = try reader.kind()
        let start = reader.offset
        let before = problems.count
        var statuses: Set<Int> = []
        let isArray = try array("an array of statuses") { (decoder) throws(JSONFault) in
            _ = try decoder.reader.kind()
            let start = decoder.reader.offset
            guard let status = try decoder.integer(Self.statusCodes) else { return }
            if !decoder.isTrusted, !ReceiptRule.isNameable(status) {
                decoder.note(
                    "\(status) is no success; 200 to 299 are, and 302 and 303 after a form",
                    start..<decoder.reader.offset)
            }
            statuses.insert(status)
        }
        if isArray, statuses.isEmpty, problems.count == before, !isTrusted {
            note("at least one status is needed", start..<start + 1)
        }
        return isArray && !statuses.isEmpty ? statuses : nil
    }

    /// Names and values, in their order; a later one takes the place of an earlier one of the same name.
    mutating func fields(into fields: inout [JobSpec.Upload.Field]) throws(JSONFault) {
        guard try expect(.object) else { return }
        try reader.beginObject()
        var isFirst = true
        while let key = try reader.key(isFirst: &isFirst) {
            let name = reader.string(key)
            if !isTrusted, name.isEmpty { note("the name is empty", key.token) }
            let isSecret = Redaction.isSecretHeader(name)
            let literal = { (_: String) -> String? in
                isSecret ? "a secret is named, never written; \(Self.secretAdvice)" : nil
            }
            guard let value = try secret(isSecret: isSecret, literal) else { continue }
            fields.removeAll { $0.name == name }
            fields.append(JobSpec.Upload.Field(name: name, value: value))
        }
    }

    /// Keys that another protocol has.
    mutating func checkUpload(_ draft: JobDraft, _ seen: UInt64) {
        guard !isTrusted, seen & fields.bits.ofProtocols != 0 else { return }
        let upload = draft.rules.upload
        let uploadProtocol = upload.uploadProtocol
        for field in fields.foreign(to: uploadProtocol) where seen & fields.table.bit(of: field.key) != 0 {
            let names = Wording.alternatives(UploadRegistry.current.names(having: field.key).map { "\"\($0)\"" })
            note(
                "\"\(field.key)\" is for the protocol \(names), not \"\(uploadProtocol.rawValue)\"",
                range(ofKey: field.key, inObjectAt: draft.start))
        }
        if fields.has(.success, seen) || fields.has(.method, seen),
            (upload.method ?? uploadProtocol.entry.method) == "PUT",
            let page = upload.options.success?.first(where: ReceiptRule.isPage)
        {
            note("\(page) says nothing of a file that was sent by PUT", range(.success, draft))
        }
        if fields.has(.method, seen), let refusal = upload.method.flatMap(HeaderRule.refusal(ofUploadMethod:)) {
            note(refusal, range(.method, draft))
        }
    }
}

extension JobSpec.Upload {
    /// Why an option of the command line does nothing for this upload.
    ///
    /// - Parameter options: Those that were given: their keys in a job file, and how the command calls them.
    public func refusal(of options: [(key: String, name: String)]) -> String? {
        for field in JobFields.all.foreign(to: uploadProtocol) {
            guard let option = options.first(where: { $0.key == field.key }) else { continue }
            let names = Wording.alternatives(UploadRegistry.current.names(having: field.key))
            return "\(option.name) is for the protocol \(names), not \(uploadProtocol.rawValue)"
        }
        return method.flatMap(HeaderRule.refusal(ofUploadMethod:))
    }
}
