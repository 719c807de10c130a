import TransferCore

extension JobDecoder {
    /// Checks what only shows when all keys of a job are known, and makes the job of them.
    mutating func finish(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec? {
        let work: JobSpec.Work?
        let bits = fields.bits
        switch (seen & bits.download != 0, seen & bits.upload != 0) {
        case (true, false): work = download(&draft, seen)
        case (false, true): work = upload(&draft, seen)
        case (true, true):
            note("a job has either \"download\" or \"upload\", not both", range(.upload, draft))
            work = nil
        case (false, false):
            note("\"download\" or \"upload\" is missing", draft.start..<draft.start + 1)
            work = nil
        }
        if seen & bits.to == 0 { note("\"to\" is missing", draft.start..<draft.start + 1) }
        finishProxy(&draft, seen)
        if seen & bits.tls != 0, !isTrusted { checkTLS(draft) }
        guard !hasProblems, let work else { return nil }
        return JobSpec(
            id: draft.id.map { reader.string($0) }, work: work, needs: draft.needs, priority: draft.rules.priority,
            settings: draft.rules.sharedSettings)
    }

    /// The upload that an entry of `"watch"` makes of each file, held to what the job of one is.
    ///
    /// - Parameter seen: The keys that the entry has of a job.
    mutating func watchedUpload(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec.Upload? {
        let work = upload(&draft, seen)
        finishProxy(&draft, seen)
        if seen & fields.bits.tls != 0 { checkTLS(draft) }
        guard case .upload(let upload)? = work else { return nil }
        return upload
    }

    private mutating func download(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec.Work? {
        if seen & fields.bits.ofUploads != 0 { refuse(fields.bits.ofUploads & seen, draft, belongsTo: "an upload") }
        guard let to = draft.to else { return nil }
        var destination = reader.string(to)
        if !isTrusted {
            if let message = DestinationPath.refusal(ofPath: destination) {
                note(message, to.token)
                return nil
            }
            if destination.contains("://"), URLRule.refusal(of: destination) == nil {
                note("the \"to\" of a download is a path, not a URL", to.token)
                return nil
            }
            destination = DestinationPath.normalized(destination)
        }
        var download = draft.rules.download
        download.destination = destination
        if download.checksum == nil, let list = draft.rules.checksums, !draft.urlsAreWrong {
            download.checksum = list.checksum(of: name(destination, download.urls))
            if download.checksum == nil, draft.namesChecksums {
                note(
                    "no checksum for \(Wording.quoted(name(destination, download.urls))) is listed",
                    range(.checksums, draft))
            }
        }
        return .download(download.strict ? download.strictly : download)
    }

    /// The path under which a list of checksums may have the file; in a folder it's named after its URL.
    private func name(_ destination: String, _ urls: [String]) -> String {
        guard destination.hasSuffix("/"), let url = urls.first else { return destination }
        return destination + (SafeFileName.fromURL(url) ?? "")
    }

    private mutating func upload(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec.Work? {
        if seen & fields.bits.ofDownloads != 0 {
            refuse(fields.bits.ofDownloads & seen, draft, belongsTo: "a download")
        }
        guard let to = draft.to else { return nil }
        var url = reader.string(to)
        if !isTrusted, let refusal = URLRule.refusal(of: url) {
            let isPath = !url.isEmpty && !url.contains(":")
            note(
                isPath ? "the \"to\" of an upload is a URL, not a path" : refusal.message, to.token,
                isSecret: refusal.isSecret)
            return nil
        }
        if !isTrusted {
            let refusal = draft.rules.upload.uploadProtocol.refusal(of: url)
            if let own = JobSpec.UploadProtocol.of(url: url) {
                // That of the defaults may be for other jobs.
                if let refusal, fields.has(.protocol, seen) { note(refusal, range(.protocol, draft)) }
                draft.rules.upload.uploadProtocol = own
            } else if let refusal {
                note(refusal, to.token)
                return nil
            }
        }
        if !isTrusted, url.hasSuffix("/"), draft.rules.upload.uploadProtocol.entry.putsIntoFolders {
            url += PercentEncoding.encode(draft.rules.upload.source.split(separator: "/").last.map(String.init) ?? "")
        }
        draft.rules.upload.url = url
        checkUpload(draft, seen)
        return .upload(draft.rules.upload)
    }

    /// A `noProxy` joins the proxy of the job or of the defaults.
    private mutating func finishProxy(_ draft: inout JobDraft, _ seen: UInt64) {
        guard let noProxy = draft.rules.noProxy else { return }
        if draft.rules.settings.proxy != nil {
            draft.rules.settings.proxy?.noProxy = noProxy
        } else if fields.has(.noProxy, seen), !fields.has(.proxy, seen) {
            note("\"noProxy\" needs a \"proxy\"", range(.noProxy, draft))
        }
    }

    /// The job and its defaults together name what belongs together.
    private mutating func checkTLS(_ draft: JobDraft) {
        let tls = draft.rules.settings.tls
        guard tls.cert == nil else { return }
        if tls.keyPassphrase != nil { note("\"keyPassphrase\" needs a \"cert\"", range(.tls, draft)) }
    }

    private mutating func refuse(_ keys: UInt64, _ draft: JobDraft, belongsTo owner: String) {
        guard !isTrusted else { return }
        for (index, key) in fields.table.names.enumerated() where keys & (1 << UInt64(index)) != 0 {
            note("\"\(key)\" belongs to \(owner)", range(ofKey: key, inObjectAt: draft.start))
        }
    }

    func range(_ key: JobKey, _ draft: JobDraft) -> Range<Int> {
        range(ofKey: key.rawValue, inObjectAt: draft.start)
    }
}

/// Says what is wrong with a checksum.
enum ChecksumRule {
    static func refusal(of text: String) -> String {
        let algorithms = Wording.alternatives(DigestAlgorithm.allCases.map(\.rawValue))
        guard let separator = text.firstIndex(where: { $0 == ":" || $0 == "=" }) else {
            return "not a checksum; write \"sha256:\" and 64 hexadecimal digits"
        }
        let name = text[..<separator]
        guard let algorithm = DigestAlgorithm(rawValue: name.lowercased().filter { $0 != "-" }) else {
            return "unknown algorithm \(Wording.quoted(name)); \(algorithms) are possible"
        }
        let digits = text[text.index(after: separator)...]
        let wanted = algorithm.byteCount * 2
        guard digits.allSatisfy(\.isHexDigit) else {
            return "a checksum holds hexadecimal digits only"
        }
        return "\(algorithm.rawValue) has \(wanted) hexadecimal digits, found \(digits.count)"
    }
}
