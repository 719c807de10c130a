import TransferCore

/// The state of an upload that outlives an attempt, as one line of text.
struct S3State: Sendable, Hashable {
    /// The source's size when the upload was begun.
    var size: Int64
    /// The region of the bucket that the server reported; `nil` where the request's region was right.
    var region: String?
    var stage: Stage

    enum Stage: Sendable, Hashable {
        /// The single request may have been sent.
        case single
        /// A multipart upload with an unknown ID may have been created since then (in seconds since 1970).
        ///
        /// `tries` is the number of attempts that asked for it without an answer.
        case creating(since: Int64, tries: Int)
        case multipart(uploadID: String, partSize: Int64, keepsChecksums: Bool, completion: Completion?)
    }

    /// The marks that identify the object, if the upload has been completed.
    struct Completion: Sendable, Hashable {
        /// The MD5 over the parts' MD5s and their number, without quotes.
        var etag: String?
        /// The SHA-256 over the parts' digests and their number, in base64.
        var checksum: String?
    }

    static let kind = "s3"
    private static let version = "s3/1"

    /// Reads a state.
    ///
    /// - Returns: `nil` for the state of another dialogue.
    init?(_ saved: UploadState) {
        guard saved.kind == Self.kind else { return nil }
        self.init(saved.payload)
    }

    var saved: UploadState {
        let mayBeComplete = if case .multipart(_, _, _, .some) = stage { true } else { false }
        return UploadState(kind: Self.kind, canAsk: true, mayBeComplete: mayBeComplete, payload: text)
    }

    var text: String {
        var words = [Self.version, "size=\(size)"]
        if let region { words.append("region=\(PercentEncoding.encode(region))") }
        if case .creating(let since, let tries) = stage {
            words.append("creating=\(since)")
            if tries > 0 { words.append("tries=\(tries)") }
        }
        guard case .multipart(let id, let partSize, let keepsChecksums, let completion) = stage else {
            return words.joined(separator: " ")
        }
        words.append("part=\(partSize)")
        if keepsChecksums { words.append("checksums=sha256") }
        if let completion {
            words.append("completing=yes")
            if let etag = completion.etag { words.append("etag=\(PercentEncoding.encode(etag))") }
            if let checksum = completion.checksum { words.append("checksum=\(PercentEncoding.encode(checksum))") }
        }
        words.append("upload=\(PercentEncoding.encode(id))")
        return words.joined(separator: " ")
    }

    init(size: Int64, region: String? = nil, stage: Stage) {
        self.size = size
        self.region = region
        self.stage = stage
    }

    /// Parses a state.
    ///
    /// - Returns: `nil` for a text of another version or a damaged one.
    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.first == Self.version[...] else { return nil }
        var values: [Substring: String] = [:]
        for word in words.dropFirst() {
            guard let equals = word.firstIndex(of: "="),
                let value = String(
                    validating: PercentEncoding.decode(word[equals...].dropFirst()), as: UTF8.self)
            else { return nil }
            values[word[..<equals]] = value
        }
        guard let size = values["size"].flatMap({ Int64($0) }), size >= 0 else { return nil }
        self.size = size
        region = values["region"]
        guard let id = values["upload"] else {
            if let creating = values["creating"] {
                guard let since = Int64(creating), let tries = Int(values["tries"] ?? "0"), tries >= 0 else {
                    return nil
                }
                stage = .creating(since: since, tries: tries)
            } else {
                stage = .single
            }
            return
        }
        guard let partSize = values["part"].flatMap({ Int64($0) }), partSize > 0, !id.isEmpty else { return nil }
        stage = .multipart(
            uploadID: id, partSize: partSize, keepsChecksums: values["checksums"] == "sha256",
            completion: values["completing"] == nil
                ? nil : Completion(etag: values["etag"], checksum: values["checksum"]))
    }
}
