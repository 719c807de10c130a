/// The reason why a transfer failed: an extensible code, a message for people, the underlying cause, and the data for a
/// retry rule.
///
/// The scheduler uses `code`, `isTransient` and `scope`, and never parses messages.
public struct TransferError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of the failure.
    public var code: Code
    /// The message: the event and, where useful, advice; without secrets and without a period at the end.
    public var message: String
    /// The underlying cause; `nil` for none.
    public var cause: Cause?
    /// Whether the same request may succeed later.
    public var isTransient: Bool
    /// Whether the fault concerns the whole origin (it is unreachable, or asks for a pause) or only this transfer.
    public var scope: Scope
    /// The time for which the server asked to wait; `nil` where it did not.
    public var retryAfter: Duration?
    /// The proxy that failed, rather than the server behind it: scheme, host and port, without credentials.
    public var proxy: String?
    /// The server of a copy's source that failed, rather than the destination's: host and port.
    public var sourceHost: String?
    /// Whether the request is known not to have begun to leave, not even its head. A server that stays silent at a
    /// login or a handshake has received nothing of a file.
    package var isBeforeRequest = false
    /// Whether the server reports that the credentials have expired. Their source, if there is one, has new ones.
    package var hasExpiredCredentials = false
    /// The ID of the access key that has expired; `nil` where it is unknown, and for other failures.
    package var expiredAccessKey: String?

    /// Creates an error; the message must not contain secrets.
    public init(
        _ code: Code, _ message: String, cause: Cause? = nil, isTransient: Bool = false, scope: Scope = .transfer,
        retryAfter: Duration? = nil
    ) {
        self.code = code
        self.message = message
        self.cause = cause
        self.isTransient = isTransient
        self.scope = scope
        self.retryAfter = retryAfter
    }

    /// The message.
    public var description: String { message }

    /// The status of the server's own response, as opposed to a proxy's; `nil` for none.
    public var serverStatus: Int? { proxy == nil && code != .proxyRefused ? status : nil }

    /// The host and port of the failed machine, where it is not the job's own server.
    public var failedHost: String? { proxyHost ?? sourceHost }

    /// The host and port of the failed proxy.
    public var proxyHost: String? {
        proxy.flatMap { url in url.range(of: "://").map { String(url[$0.upperBound...]) } }
    }

    /// The HTTP status, where the failure is a response.
    public var status: Int? {
        if case .http(let status) = cause { return status }
        return nil
    }

    /// The value of `errno`, where the failure is the operating system's.
    public var errno: Int32? {
        if case .os(let number) = cause { return number }
        return nil
    }

    /// The part that the fault concerns: one transfer, or the whole origin.
    public enum Scope: Sendable, Hashable {
        case transfer, origin
    }

    /// The underlying cause of a failure.
    public enum Cause: Sendable, Hashable {
        /// An error of libcurl, a `CURLcode` in libcurl-errors(3).
        case curl(Int32)
        /// An error of the operating system.
        case os(errno: Int32)
        /// A response with this status.
        case http(status: Int)
        /// An error of OpenSSL, in its words.
        case openSSL(String)
        /// The reason why a server's certificate was refused: a number of X509_STORE_CTX_get_error(3).
        case certificate(Int32)
    }

    /// The kind of a failure; the list may grow.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The name of the code.
        public let rawValue: String
        /// Creates a code from its name.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }
    }
}

extension TransferError.Code {
    private init(_ name: String) { self.init(rawValue: name) }

    // The codes for faults of the network.

    /// The name of the host could not be resolved.
    public static let cannotResolveHost = Self("cannotResolveHost")
    /// The link that the transfer requires cannot be used.
    public static let linkUnavailable = Self("linkUnavailable")
    /// No connection to the server could be established.
    public static let cannotConnect = Self("cannotConnect")
    /// The connection ended unexpectedly.
    public static let connectionLost = Self("connectionLost")
    /// The server did not respond in time.
    public static let timedOut = Self("timedOut")
    /// The network path is gone (an address, a link); the server is not at fault.
    public static let networkChanged = Self("networkChanged")
    /// The transfer was slower than its limit allows.
    public static let tooSlow = Self("tooSlow")
    /// The TLS handshake failed.
    public static let secureConnectionFailed = Self("secureConnectionFailed")
    /// The server's certificate was refused.
    public static let certificateRefused = Self("certificateRefused")
    /// The SSH server's key differs from the known one.
    public static let hostKeyRefused = Self("hostKeyRefused")
    /// A file server refused the user, or the user's credentials.
    public static let loginRefused = Self("loginRefused")
    /// The server accepts no more connections, in all or from this user; fewer connections or a later attempt may
    /// succeed.
    public static let tooManyConnections = Self("tooManyConnections")
    /// The proxy refused the request.
    public static let proxyRefused = Self("proxyRefused")
    /// The origin has not responded for as many attempts as the retry limit allows.
    public static let originUnreachable = Self("originUnreachable")

    // The codes for faults of the response.

    /// The response has a status that is no success.
    public static let httpStatus = Self("httpStatus")
    /// The response is malformed.
    public static let badResponse = Self("badResponse")
    /// A success arrived before the whole body had been sent, so it cannot confirm the upload.
    public static let answeredEarly = Self("answeredEarly")
    /// The server accepted an upload, but does not show that it has the file.
    public static let unconfirmed = Self("unconfirmed")
    /// There were more redirects than allowed.
    public static let tooManyRedirects = Self("tooManyRedirects")
    /// A redirect leads to a place that must not be followed.
    public static let redirectRefused = Self("redirectRefused")
    /// The server's address is not one to which the transfer may connect.
    public static let addressRefused = Self("addressRefused")
    /// Nothing proves that the received file is complete, and the job requires a proof.
    public static let unproven = Self("unproven")
    /// The checksum of the file differs from the required one.
    public static let checksumMismatch = Self("checksumMismatch")
    /// The server neither reports the digest of its file nor returns the file for hashing.
    public static let digestUnknown = Self("digestUnknown")
    /// A received part of a file is not the requested one.
    public static let wrongPart = Self("wrongPart")
    /// The file on the server changed during the transfer.
    public static let changedDuringTransfer = Self("changedDuringTransfer")

    // The codes for faults of this machine.

    /// The URL is invalid.
    public static let badURL = Self("badURL")
    /// The request, or a setting for it, is invalid.
    public static let invalidRequest = Self("invalidRequest")
    /// The destination exists already.
    public static let fileExists = Self("fileExists")
    /// The file does not exist.
    public static let fileMissing = Self("fileMissing")
    /// The file or folder cannot be accessed.
    public static let fileAccess = Self("fileAccess")
    /// Another process or transfer holds the file, the folder or the batch.
    public static let fileLocked = Self("fileLocked")
    /// A file that is not ours has the partial file's name.
    public static let partNotOurs = Self("partNotOurs")
    /// The disk is full, or the quota is exhausted.
    public static let diskFull = Self("diskFull")
    /// The source of an upload changed.
    public static let sourceChanged = Self("sourceChanged")
    /// The queue's database refuses this process until a person acts: its login, its version, or the database's name.
    public static let databaseRefused = Self("databaseRefused")
    /// The login of the queue's database lacks a right that its owner may grant.
    public static let rightMissing = Self("rightMissing")
    /// A secret could not be read.
    public static let secretMissing = Self("secretMissing")
    /// The upload may have been received, and must not be repeated automatically.
    public static let mayHaveBeenSent = Self("mayHaveBeenSent")
    /// No process runs the queue in which the job waits.
    public static let unattended = Self("unattended")
    /// The transfer was cancelled.
    public static let cancelled = Self("cancelled")
    /// An error in this library.
    public static let internalFault = Self("internalFault")
}
