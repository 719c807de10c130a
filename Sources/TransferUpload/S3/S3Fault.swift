import TransferCore

/// A failure as S3 reports it ("Error responses" of the S3 API reference).
struct S3Fault: Sendable, Hashable {
    var code: String
    var message: String?
    /// The region of the bucket, in errors about that.
    var region: String?
    /// The server's time, in errors about that.
    var serverTime: String?

    /// Parses the body of an error.
    ///
    /// - Returns: `nil` for a body that is not S3's `<Error>`.
    init?(_ body: [UInt8]) {
        guard let element = XMLElement.read(body), element.name == "Error", let code = element.text("Code") else {
            return nil
        }
        self.code = code
        message = element.text("Message")
        region = element.text("Region")
        serverTime = element.text("ServerTime")
    }

    static func code(_ answer: UploadAnswer) -> String? { S3Fault(answer.body)?.code }

    /// Returns whether the upload of an answer does not exist: never made, aborted, expired or completed.
    static func isNoSuchUpload(_ answer: UploadAnswer) -> Bool {
        guard answer.head.status == 404 else { return false }
        return code(answer).map { $0 == "NoSuchUpload" } ?? true
    }

    /// Returns the error of an answer without success, or with an `<Error>` under a status of success.
    static func error(_ answer: UploadAnswer, now: Int64) -> TransferError {
        var error = StatusRule.error(answer.head, now: now)
        let status = answer.head.status
        guard let fault = S3Fault(answer.body) else {
            if status == 301 || status == 307 {
                error.message = "the bucket is at another endpoint, which the server does not name"
                error.isTransient = status == 307
                error.cause = nil
            }
            return error
        }
        let code = printable(fault.code, 64)
        error.message = fault.message.map { "\(code): \(printable($0, 300))" } ?? code
        if fault.code == "RequestTimeTooSkewed" {
            let server = fault.serverTime.map { ", the server's says \(printable($0, 40))" } ?? ""
            error.message = "\(code): this machine's clock is wrong; it says \(HTTPDate.format(now))\(server)"
        }
        if damaged.contains(fault.code) { error.code = .checksumMismatch }
        error.hasExpiredCredentials = S3CredentialLease.codesOfExpiry.contains(fault.code)
        error.isTransient = error.isTransient || status == 307 || transient.contains(fault.code)
        if paused.contains(fault.code) || status == 503 { error.scope = .origin }
        // The retry rule uses the status where there is one: it is omitted where the code is more precise.
        let repeatsByStatus = StatusRule.mayPass(status)
        error.cause = repeatsByStatus == error.isTransient && status >= 300 ? .http(status: status) : nil
        return error
    }

    /// Returns the error, with advice where the bucket demands a digest of the content.
    ///
    /// A bucket with Object Lock demands that ("Using Object Lock" of the S3 user guide).
    static func error(_ answer: UploadAnswer, to integrity: S3Options.Integrity, now: Int64) -> TransferError {
        var error = error(answer, now: now)
        guard answer.head.status == 400, integrity == .none || integrity == .sha256,
            let fault = S3Fault(answer.body), demandsDigest(fault)
        else { return error }
        error.message +=
            "; write \"s3\": {\"integrity\": \"stored-sha256\"}\(CommandPhrases.only(" or --integrity stored-sha256")) (md5 for an older server)"
        return error
    }

    private static func demandsDigest(_ fault: S3Fault) -> Bool {
        let words = "\(fault.code) \(fault.message ?? "")".lowercased()
        return ["content-md5", "contentmd5", "x-amz-checksum", "object lock"].contains { words.contains($0) }
            && !damaged.contains(fault.code)
    }

    /// The codes by which the server asks for fewer requests.
    private static let paused: Set<String> = [
        "SlowDown", "SlowDownRead", "SlowDownWrite", "ServiceUnavailable", "Throttling", "ThrottlingException",
        "RequestLimitExceeded", "BandwidthLimitExceeded", "TooManyRequests",
    ]
    /// The codes for bytes that differ from the signed ones: they were damaged on the way, or the source was being
    /// written.
    private static let damaged: Set<String> = [
        "BadDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch", "IncompleteBody",
    ]
    private static let transient: Set<String> = paused.union(damaged).union([
        "InternalError", "RequestTimeout", "OperationAborted", "ConditionalRequestConflict", "TemporaryRedirect",
    ])

    /// Returns a server's text as one line of a bounded length.
    private static func printable(_ text: String, _ limit: Int) -> String {
        let scalars = text.unicodeScalars.prefix(limit).map { scalar -> Unicode.Scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? " " : scalar
        }
        var line = String(String.UnicodeScalarView(scalars))
        while line.hasSuffix(".") || line.hasSuffix(" ") { line.removeLast() }
        return line
    }
}
