import TransferCore

/// The reader of the keys that only a download has.
package enum DownloadDecoder {
    /// Reads a URL, or the mirrors of one file.
    package static func mirrors(_ decoder: inout JobDecoder, _ draft: inout JobDraft) throws(JSONFault) {
        let kind = try decoder.reader.kind()
        let start = decoder.reader.offset
        let before = decoder.problems.count
        switch kind {
        case .string: try mirror(&decoder, &draft)
        case .array:
            _ = try decoder.array { (decoder) throws(JSONFault) in
                guard try decoder.expect(.string) else { return }
                try mirror(&decoder, &draft)
            }
            if draft.rules.download.urls.isEmpty, decoder.problems.count == before, !decoder.isTrusted {
                decoder.note("at least one URL is needed", start..<start + 1)
            }
        default: try decoder.mismatch("a URL or an array of URLs", kind)
        }
        draft.urlsAreWrong = decoder.problems.count > before
    }

    private static func mirror(_ decoder: inout JobDecoder, _ draft: inout JobDraft) throws(JSONFault) {
        let text = try decoder.reader.string()
        let url = decoder.reader.string(text)
        if !decoder.isTrusted, let refusal = URLRule.refusal(of: url) {
            decoder.note(refusal.message, text.token, isSecret: refusal.isSecret)
        } else {
            draft.rules.download.urls.append(url)
        }
    }

    /// Checks the rules that involve several keys of a download, and returns its work.
    package static func finish(
        _ decoder: inout JobDecoder, _ draft: JobDraft, _ seen: UInt64
    ) -> JobSpec.Work? {
        draft.refuse(&decoder, decoder.fields.bits.ofUploads & seen, belongsTo: "an upload")
        if decoder.fields.has(.compressed, seen), decoder.fields.has(.segments, seen), !decoder.isTrusted {
            draft.checkConnections(&decoder)
        }
        guard let to = draft.to else { return nil }
        var destination = decoder.reader.string(to)
        if !decoder.isTrusted {
            if let message = DestinationPath.refusal(ofPath: destination) {
                decoder.note(message, to.token)
                return nil
            }
            if destination.contains("://"), URLRule.refusal(of: destination) == nil {
                decoder.note("the \"to\" of a download is a path, not a URL", to.token)
                return nil
            }
            if let message = DestinationTemplate.refusal(of: destination) {
                decoder.note(message, to.token)
                return nil
            }
            destination = DestinationPath.normalized(destination)
            if let url = draft.rules.download.urls.first {
                destination = DestinationTemplate.expanded(destination, url: url, decoder.turn)
            }
        }
        var download = draft.rules.download
        download.destination = destination
        if download.checksum == nil, let list = draft.rules.checksums, !draft.urlsAreWrong {
            download.checksum = list.checksum(of: name(destination, download.urls))
            if let message = missing(download, list) {
                if draft.namesChecksums {
                    decoder.note(message, decoder.range(of: .checksums, in: draft))
                } else {
                    decoder.note("\(message); \"checksums\": false takes it without one", to.token)
                }
            }
        }
        return .download(download.strict ? download.strictly : download)
    }

    /// Returns the checksum that a list has for a download.
    static func listedChecksum(of download: JobSpec.Download, _ list: ChecksumList?) -> Checksum? {
        list?.checksum(of: name(download.destination, download.urls))
    }

    /// Explains why a download cannot be accepted: its list of checksums does not contain it, and no other digest
    /// verifies it.
    static func missing(_ download: JobSpec.Download, _ list: ChecksumList?) -> String? {
        guard let list, !list.isUnread, !download.isProvenByDigests else { return nil }
        return "no checksum for \(Wording.quoted(name(download.destination, download.urls))) is listed"
    }

    /// Returns the path under which a list of checksums may have the file; in a folder, the URL gives the name.
    private static func name(_ destination: String, _ urls: [String]) -> String {
        guard destination.hasSuffix("/"), let url = urls.first else { return destination }
        return destination + (SafeFileName.fromURL(url) ?? "")
    }
}
