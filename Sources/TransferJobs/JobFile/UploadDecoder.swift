import TransferCore
import TransferUpload

/// Reads how an upload is made.
package enum UploadDecoder {
    /// Reads the bytes of one request; at least 1.
    package static func chunkSize(_ decoder: inout JobDecoder) throws(JSONFault) -> Int64? {
        _ = try decoder.reader.kind()
        let start = decoder.reader.offset
        guard let value = try decoder.byteCount() else { return nil }
        guard value > 0 || decoder.isTrusted else {
            decoder.note("a chunk has at least one byte", start..<decoder.reader.offset)
            return nil
        }
        return value
    }

    /// Reads statuses; at least one.
    package static func success(_ decoder: inout JobDecoder) throws(JSONFault) -> Set<Int>? {
        _ = try decoder.reader.kind()
        let start = decoder.reader.offset
        let before = decoder.problems.count
        var statuses: Set<Int> = []
        let isArray = try decoder.array("an array of statuses") { (decoder) throws(JSONFault) in
            _ = try decoder.reader.kind()
            let start = decoder.reader.offset
            guard let status = try decoder.integer(FieldRanges.statusCodes) else { return }
            if !decoder.isTrusted, !ReceiptRule.isNameable(status) {
                decoder.note(
                    "\(status) is no success; 200 to 299 are, and 302 and 303 after a form",
                    start..<decoder.reader.offset)
            }
            statuses.insert(status)
        }
        if isArray, statuses.isEmpty, decoder.problems.count == before, !decoder.isTrusted {
            decoder.note("at least one status is needed", start..<start + 1)
        }
        return isArray && !statuses.isEmpty ? statuses : nil
    }

    /// Checks what only shows when all keys of an upload are known, and makes the upload of them.
    package static func finish(
        _ decoder: inout JobDecoder, _ draft: inout JobDraft, _ seen: UInt64
    ) -> JobSpec.Upload? {
        draft.refuse(&decoder, decoder.fields.bits.ofDownloads & seen, belongsTo: "a download")
        guard let to = draft.to else { return nil }
        return finish(&decoder, &draft, of: decoder.reader.string(to), to.token, seen)
    }

    /// - Parameter place: Where the URL stands.
    static func finish(
        _ decoder: inout JobDecoder, _ draft: inout JobDraft, of reported: String, _ place: Range<Int>, _ seen: UInt64
    ) -> JobSpec.Upload? {
        var url = reported
        if !decoder.isTrusted, let refusal = URLRule.refusal(ofDestination: url) {
            let isPath = !url.isEmpty && !url.contains(":")
            decoder.note(
                isPath ? "the \"to\" of an upload is a URL, not a path" : refusal.message, place,
                isSecret: refusal.isSecret)
            return nil
        }
        if !decoder.isTrusted {
            let refusal = draft.rules.upload.uploadProtocol.refusal(of: url)
            if let own = JobSpec.UploadProtocol.of(url: url) {
                // That of the defaults may be for other jobs.
                if let refusal, decoder.fields.has(.protocol, seen) {
                    decoder.note(refusal, decoder.range(of: .protocol, in: draft))
                }
                draft.rules.upload.uploadProtocol = own
            } else if let refusal {
                decoder.note(refusal, place)
                return nil
            }
        }
        if !decoder.isTrusted, url.hasSuffix("/"), draft.rules.upload.uploadProtocol.entry.putsIntoFolders {
            if let refusal = URLRule.requestRefusal(ofFolder: url) {
                decoder.note(refusal, place)
                return nil
            }
            url += PercentEncoding.encode(draft.rules.upload.source.split(separator: "/").last.map(String.init) ?? "")
        }
        draft.rules.upload.url = url
        checkProtocolKeys(&decoder, draft, seen)
        return draft.rules.upload
    }

    /// Notes keys that another protocol has.
    private static func checkProtocolKeys(_ decoder: inout JobDecoder, _ draft: JobDraft, _ seen: UInt64) {
        guard !decoder.isTrusted, seen & decoder.fields.bits.ofProtocols != 0 else { return }
        let upload = draft.rules.upload
        let uploadProtocol = upload.uploadProtocol
        let fields = decoder.fields
        for field in fields.foreign(to: uploadProtocol) where seen & fields.table.bit(of: field.key) != 0 {
            let names = Wording.alternatives(UploadRegistry.current.names(having: field.key).map { "\"\($0)\"" })
            decoder.note(
                "\"\(field.key)\" is for the protocol \(names), not \"\(uploadProtocol.rawValue)\"",
                decoder.range(ofKey: field.key, inObjectAt: draft.start))
        }
        if decoder.fields.has(.success, seen) || decoder.fields.has(.method, seen),
            (upload.method ?? uploadProtocol.entry.method) == "PUT",
            let page = upload.options.success?.first(where: ReceiptRule.isPage)
        {
            decoder.note("\(page) says nothing of a file that was sent by PUT", decoder.range(of: .success, in: draft))
        }
        if decoder.fields.has(.method, seen), let refusal = upload.method.flatMap(HeaderRule.refusal(ofUploadMethod:)) {
            decoder.note(refusal, decoder.range(of: .method, in: draft))
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
