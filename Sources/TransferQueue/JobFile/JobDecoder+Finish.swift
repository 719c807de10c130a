import TransferCore

extension JobDecoder {
    /// Checks what only shows when all keys of a job are known, and makes the job of them.
    mutating func finish(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec? {
        let work: JobSpec.Work?
        switch (seen & Seen.download != 0, seen & Seen.upload != 0) {
        case (true, false): work = download(&draft, seen)
        case (false, true): work = upload(&draft, seen)
        case (true, true):
            note("a job has either \"download\" or \"upload\", not both", range(.upload, draft))
            work = nil
        case (false, false):
            note("\"download\" or \"upload\" is missing", draft.start..<draft.start + 1)
            work = nil
        }
        if seen & Seen.to == 0 { note("\"to\" is missing", draft.start..<draft.start + 1) }
        finishProxy(&draft, seen)
        if seen & Seen.tls != 0, !isTrusted { checkTLS(draft) }
        guard !hasProblems, let work else { return nil }
        return JobSpec(
            id: draft.id.map { reader.string($0) }, work: work, needs: draft.needs, priority: draft.rules.priority,
            settings: draft.rules.sharedSettings)
    }

    /// The upload that an entry of `"watch"` makes of each file, held to what the job of one is.
    mutating func watchedUpload(_ draft: inout JobDraft, _ keys: [JobKey]) -> JobSpec.Upload? {
        let seen = JobKey.mask(of: keys)
        let work = upload(&draft, seen)
        finishProxy(&draft, seen)
        if seen & Seen.tls != 0 { checkTLS(draft) }
        guard case .upload(let upload)? = work else { return nil }
        return upload
    }

    private mutating func download(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec.Work? {
        if seen & Seen.ofUploads != 0 { refuse(Self.uploadKeys, seen, draft, belongsTo: "an upload") }
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
        if draft.checksum == nil, let list = draft.rules.checksums, !draft.urlsAreWrong {
            draft.checksum = list.checksum(of: name(destination, draft.urls))
            if draft.checksum == nil, draft.namesChecksums {
                note(
                    "no checksum for \(Wording.quoted(name(destination, draft.urls))) is listed",
                    range(.checksums, draft))
            }
        }
        return .download(
            JobSpec.Download(
                urls: draft.urls, destination: destination, checksum: draft.checksum, pieces: draft.pieces,
                ifExists: draft.rules.ifExists, method: draft.method, body: draft.body,
                remoteTime: draft.rules.remoteTime,
                segments: draft.rules.segments, adopt: draft.rules.adopt, strict: draft.rules.strict))
    }

    /// The path under which a list of checksums may have the file; in a folder it's named after its URL.
    private func name(_ destination: String, _ urls: [String]) -> String {
        guard destination.hasSuffix("/"), let url = urls.first else { return destination }
        return destination + (SafeFileName.fromURL(url) ?? "")
    }

    private mutating func upload(_ draft: inout JobDraft, _ seen: UInt64) -> JobSpec.Work? {
        if seen & Seen.ofDownloads != 0 { refuse(Self.downloadKeys, seen, draft, belongsTo: "a download") }
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
            let refusal = draft.rules.uploadProtocol.refusal(of: url)
            if let own = JobSpec.UploadProtocol.of(url: url) {
                // That of the defaults may be for other jobs.
                if let refusal, Self.has(.protocol, seen) { note(refusal, range(.protocol, draft)) }
                draft.rules.uploadProtocol = own
            } else if let refusal {
                note(refusal, to.token)
                return nil
            }
        }
        if !isTrusted, url.hasSuffix("/"), draft.rules.uploadProtocol.entry.putsIntoFolders, let source = draft.source {
            url += PercentEncoding.encode(source.split(separator: "/").last.map(String.init) ?? "")
        }
        checkUpload(draft, seen)
        return .upload(
            JobSpec.Upload(
                source: draft.source ?? "", url: url, uploadProtocol: draft.rules.uploadProtocol, method: draft.method,
                checksum: draft.checksum, options: draft.rules.upload))
    }

    /// A `noProxy` joins the proxy of the job or of the defaults.
    private mutating func finishProxy(_ draft: inout JobDraft, _ seen: UInt64) {
        guard let noProxy = draft.rules.noProxy else { return }
        if draft.rules.settings.proxy != nil {
            draft.rules.settings.proxy?.noProxy = noProxy
        } else if Self.has(.noProxy, seen), !Self.has(.proxy, seen) {
            note("\"noProxy\" needs a \"proxy\"", range(.noProxy, draft))
        }
    }

    /// The job and its defaults together name what belongs together.
    private mutating func checkTLS(_ draft: JobDraft) {
        let tls = draft.rules.settings.tls
        guard tls.cert == nil else { return }
        if tls.keyPassphrase != nil { note("\"keyPassphrase\" needs a \"cert\"", range(.tls, draft)) }
    }

    private mutating func refuse(_ keys: [JobKey], _ seen: UInt64, _ draft: JobDraft, belongsTo owner: String) {
        guard !isTrusted else { return }
        for key in keys where Self.has(key, seen) {
            note("\"\(key.rawValue)\" belongs to \(owner)", range(key, draft))
        }
    }

    func range(_ key: JobKey, _ draft: JobDraft) -> Range<Int> {
        range(ofKey: key.rawValue, inObjectAt: draft.start)
    }

    static func has(_ key: JobKey, _ seen: UInt64) -> Bool { seen & JobKey.mask(of: [key]) != 0 }

    /// Keys that mean nothing to an upload.
    private static let downloadKeys: [JobKey] = [
        .checksums, .pieces, .segments, .ifExists, .adopt, .strict, .remoteTime, .body,
    ]

    /// What each job is asked for.
    private enum Seen {
        static let download = JobKey.mask(of: [.download])
        static let upload = JobKey.mask(of: [.upload])
        static let to = JobKey.mask(of: [.to])
        static let tls = JobKey.mask(of: [.tls])
        static let ofUploads = JobKey.mask(of: JobDecoder.uploadKeys)
        static let ofDownloads = JobKey.mask(of: JobDecoder.downloadKeys)
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
