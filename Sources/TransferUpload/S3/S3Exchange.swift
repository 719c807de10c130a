import TransferCore

/// A request of a dialogue by its purpose, from which it can be made again for another region.
enum S3Exchange: Sendable, Hashable {
    case put(Checksum?)
    case create
    /// ListParts requests the parts after this number.
    case list(after: Int)
    case part(Int, Checksum?)
    case complete
    case head(S3Question)
    /// The object is read to be hashed, as its tag is unknown or not the digest of its bytes.
    case fetch(S3Question)
    /// AbortMultipartUpload ends the upload for good, or for a new beginning with this reason.
    case abort(thenRestart: String?)
    /// An upload that an earlier attempt created without recording its ID is sought.
    case stray(S3Stray)
}

/// A request that awaits its answer, with the key that signed it: the credentials may be renewed meanwhile.
struct S3PendingRequest: Sendable, Hashable {
    var exchange: S3Exchange
    var accessKey: String

    /// Names the key in an error about expired credentials.
    func signing(_ error: TransferError) -> TransferError {
        guard error.hasExpiredCredentials else { return error }
        var error = error
        error.expiredAccessKey = accessKey
        return error
    }
}

/// The reason of a question about the object itself.
enum S3Question: Sendable, Hashable {
    /// An earlier attempt may have put the object.
    case put
    /// The upload is gone; an earlier attempt may have completed it.
    case completed
    /// The server does not list its parts, for this reason; an earlier attempt may have completed the upload.
    case unlisted(String)
    /// The answer to the completion was ambiguous; this error follows if the object does not decide either.
    case unclear(TransferError)
}

/// The purpose of a digest.
enum S3DigestPurpose: Sendable, Hashable {
    case put
    case part(Int)
    /// The object is ours if the digest equals this one.
    case object(Checksum, S3Question, UploadResult)
    /// The object is ours if the digest of its own bytes equals this one.
    case bytes(Checksum, S3Question, UploadResult)
}

/// A multipart upload to which the server has given an ID.
struct S3Multipart: Sendable, Hashable {
    let uploadID: String
    let integrity: S3Options.Integrity
    var parts: S3Parts
    /// The parts with a digest that wait for the end of a request.
    var ready: [Ready] = []
    /// The marks of the complete object, set once the upload may have been completed.
    var completion: S3State.Completion?
    /// Whether the server's parts were listed again, after it reported that one is missing.
    var isListedAgain = false
    /// The budget of ListParts pages, which is more than any server needs for the parts of the upload.
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
