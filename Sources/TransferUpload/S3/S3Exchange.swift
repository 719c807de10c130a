import TransferCore

/// One of a dialogue's requests, as what it's for: enough to send it anew for another region.
enum S3Exchange: Sendable, Hashable {
    case put(Checksum?)
    case create
    /// ListParts, after this number.
    case list(after: Int)
    case part(Int, Checksum?)
    case complete
    case head(S3Question)
    /// The object, to be hashed: its tag tells nothing, or isn't the digest of its bytes.
    case fetch(S3Question)
    /// AbortMultipartUpload: for good, or to begin again for this reason.
    case abort(thenRestart: String?)
    /// An upload that an earlier attempt created and didn't write down.
    case stray(S3Stray)
}

/// Why the object itself is asked for.
enum S3Question: Sendable, Hashable {
    /// An earlier attempt may have put it.
    case put
    /// The upload is gone; an earlier attempt may have completed it.
    case completed
    /// The server doesn't tell which parts it has, for this reason; an earlier attempt may have completed it.
    case unlisted(String)
    /// The answer to completing it said neither yes nor no; this error, if the object doesn't either.
    case unclear(TransferError)
}

/// The purpose of a digest.
enum S3DigestPurpose: Sendable, Hashable {
    case put
    case part(Int)
    /// Whether the object is ours: it is, if the digest is this one.
    case object(Checksum, S3Question, UploadResult)
    /// The same by the bytes that the object has.
    case bytes(Checksum, S3Question, UploadResult)
}

/// A multipart upload that the server has given an ID.
struct S3Multipart: Sendable, Hashable {
    let uploadID: String
    let integrity: S3Options.Integrity
    var parts: S3Parts
    /// Digested, and waiting for a request to end.
    var ready: [Ready] = []
    /// Set once it may have been completed.
    var completion: S3State.Completion?
    /// Whether the server's parts were asked for again, after it said that one is missing.
    var isListedAgain = false
    /// More pages of ListParts than any server needs, that has as many parts as the upload.
    var pages: Detours

    init(
        uploadID: String, integrity: S3Options.Integrity, parts: S3Parts, completion: S3State.Completion? = nil
    ) {
        self.uploadID = uploadID
        self.integrity = integrity
        self.parts = parts
        self.completion = completion
        pages = Detours(most: 8 + parts.count / 50)
    }

    struct Ready: Sendable, Hashable {
        var number: Int
        var digest: Checksum?
    }

    var stage: S3State.Stage {
        .multipart(
            uploadID: uploadID, partSize: parts.partSize, keepsChecksums: integrity == .storedSHA256,
            completion: completion)
    }
}
