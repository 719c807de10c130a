import TransferCore

/// The decoder of copies: jobs with `download` and a URL in `to`, which transfer from server to server with no file
/// between.
enum CopyDecoder {
    /// Returns whether a job's `to` makes a download a copy.
    static func isMeant(_ decoder: JobDecoder, _ draft: JobDraft) -> Bool {
        guard let to = draft.to else { return false }
        let place = decoder.reader.string(to)
        guard place.contains("://") else { return false }
        return URLRule.refusal(of: place).map(\.isSecret) ?? true
    }

    /// Checks the rules that involve several keys of a copy.
    ///
    /// - Returns: The work, and the settings of its destination.
    static func finish(
        _ decoder: inout JobDecoder, _ draft: inout JobDraft, _ seen: UInt64
    ) -> (work: JobSpec.Work, settings: Shared<JobSettings>)? {
        draft.refuse(&decoder, decoder.fields.bits.ofFiles & seen, belongsTo: "a download to a file")
        guard let to = draft.to else { return nil }
        var url = decoder.reader.string(to)
        let name = draft.rules.download.urls.first.flatMap(SafeFileName.fromURL)
        if !decoder.isTrusted, !draft.urlsAreWrong {
            if let refusal = URLRule.refusal(ofDestination: url) {
                decoder.note(refusal.message, to.token, isSecret: refusal.isSecret)
                return nil
            }
            // In a folder, an upload by any protocol gets the source's name.
            let givesNames = draft.rules.upload.uploadProtocol.givesNames && JobSpec.UploadProtocol.of(url: url) == nil
            if url.hasSuffix("/"), !givesNames {
                guard let name else {
                    decoder.note("the source's URL has no name; say the destination's in full", to.token)
                    return nil
                }
                if let refusal = URLRule.requestRefusal(ofFolder: url) {
                    decoder.note(refusal, to.token)
                    return nil
                }
                url += PercentEncoding.encode(name)
            }
        }
        draft.rules.upload.source = Redaction.url(draft.rules.download.urls.first ?? "")
        draft.rules.upload.method = nil
        guard var upload = UploadDecoder.finish(&decoder, &draft, of: url, to.token, seen) else { return nil }
        var download = draft.rules.download
        if download.checksum == nil, let list = draft.rules.checksums, !draft.urlsAreWrong {
            download.checksum = name.flatMap { list.checksum(of: $0) }
            if download.checksum == nil, !list.isUnread, draft.namesChecksums {
                decoder.note(
                    "no checksum for \(Wording.quoted(name ?? "")) is listed", decoder.range(of: .checksums, in: draft))
            }
        }
        download = JobSpec.Download(
            urls: download.urls, destination: "", checksum: download.checksum, pieces: nil, method: download.method,
            body: download.body, segments: download.segments)
        download.size = draft.rules.download.size
        upload.checksum = download.checksum
        upload.from = CopySource(download, draft.rules.sharedSettings)
        return (.upload(upload), Shared(wrappedValue: destinationSettings(&decoder, draft, url)))
    }

    private static func destinationSettings(
        _ decoder: inout JobDecoder, _ draft: JobDraft, _ url: String
    ) -> JobSettings {
        let own = draft.destination
        if decoder.isTrusted {
            var settings = draft.rules.settings.ofJob
            own.lay(over: &settings)
            return settings
        }
        var settings = draft.rules.settings.ofBothSides
        let configured = decoder.configuration(for: url)
        settings.headers = configured.headers
        settings.auth = configured.auth
        settings.tls = configured.tls
        settings.http.cookies = configured.http.cookies
        // The setting of a protocol concerns the source if the source uses the protocol, and the destination otherwise.
        let sources = Set(draft.rules.download.urls.map(Self.scheme))
        settings.s3 = sources.contains("s3") ? configured.s3 : draft.rules.settings.s3 ?? configured.s3
        settings.ssh = sources.contains("sftp") ? configured.ssh : draft.rules.settings.ssh ?? configured.ssh
        settings.ftp =
            sources.isDisjoint(with: ["ftp", "ftps"]) ? draft.rules.settings.ftp ?? configured.ftp : configured.ftp
        own.lay(over: &settings)
        return settings
    }

    private static func scheme(_ url: String) -> String { url.prefix { $0 != ":" }.lowercased() }
}

/// The keys of a copy's `destination`, which apply to that server alone.
package struct DestinationRules {
    private var settings = JobSettings()
    private var seen: UInt64 = 0

    package init() {}

    package static let fields = ObjectFields<JobSettings>(SettingsFields.ofServers)

    package mutating func read(_ decoder: inout JobDecoder) throws(JSONFault) {
        seen = try Self.fields.read(&decoder, into: &settings, unsettingTo: JobSettings()) ?? 0
    }

    package func lay(over other: inout JobSettings) {
        for (index, field) in Self.fields.fields.enumerated() where seen & (1 << UInt64(index)) != 0 {
            field.copy?(&other, settings)
        }
    }
}
