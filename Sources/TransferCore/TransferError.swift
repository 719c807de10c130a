/// Why a transfer failed: an extensible code, words for people, the cause underneath, and what a retry rule needs.
///
/// The scheduler reads `code`, `isTransient` and `scope` and never parses messages.
public struct TransferError: Error, Sendable, Hashable, CustomStringConvertible {
    public var code: Code
    /// A message that says what happened and, where it helps, what to do; no secret, no trailing period.
    public var message: String
    public var cause: Cause?
    /// Whether the same request may succeed later.
    public var isTransient: Bool
    /// Whether the fault is the origin's as a whole (it can't be reached, it asks for a pause) or this transfer's.
    public var scope: Scope
    /// How long the server asked to be left alone.
    public var retryAfter: Duration?
    /// The proxy that failed, in place of the server behind it: scheme, host and port, without credentials.
    public var proxy: String?
    /// The server of a copy's source that failed, in place of the destination's: host and port.
    public var sourceHost: String?
    /// Whether it is known that the request had not begun to leave, not even its head: a server that stays silent at a
    /// login or a handshake has heard nothing of a file.
    package var isBeforeRequest = false

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

    public var description: String { message }

    /// The status of the server's own answer: a proxy's is none.
    public var serverStatus: Int? { proxy == nil && code != .proxyRefused ? status : nil }

    /// Host and port of the machine that failed, where it isn't the one that the job is for.
    public var failedHost: String? { proxyHost ?? sourceHost }

    /// Host and port of the proxy that failed.
    public var proxyHost: String? {
        proxy.flatMap { url in url.range(of: "://").map { String(url[$0.upperBound...]) } }
    }

    /// The HTTP status, when the failure is an answer.
    public var status: Int? {
        if case .http(let status) = cause { return status }
        return nil
    }

    /// `errno`, when the failure is the operating system's.
    public var errno: Int32? {
        if case .os(let number) = cause { return number }
        return nil
    }

    public enum Scope: Sendable, Hashable {
        case transfer, origin
    }

    public enum Cause: Sendable, Hashable {
        /// A `CURLcode`, as libcurl-errors(3) lists them.
        case curl(Int32)
        case os(errno: Int32)
        case http(status: Int)
        case openSSL(String)
        /// Why a server's certificate was refused: a number of X509_STORE_CTX_get_error(3).
        case certificate(Int32)
    }

    /// The kind of a failure; the list may grow.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public var description: String { rawValue }
    }
}

extension TransferError.Code {
    private init(_ name: String) { self.init(rawValue: name) }

    // The network.
    public static let cannotResolveHost = Self("cannotResolveHost")
    /// Nothing can be bound to the link that the transfer requires.
    public static let linkUnavailable = Self("linkUnavailable")
    public static let cannotConnect = Self("cannotConnect")
    public static let connectionLost = Self("connectionLost")
    public static let timedOut = Self("timedOut")
    /// The way that it went is gone (an address, a link); nothing is known against the other side.
    public static let networkChanged = Self("networkChanged")
    public static let tooSlow = Self("tooSlow")
    public static let secureConnectionFailed = Self("secureConnectionFailed")
    public static let certificateRefused = Self("certificateRefused")
    /// The SSH server's key isn't the one that is known.
    public static let hostKeyRefused = Self("hostKeyRefused")
    /// A file server refused the user, or what the user shows.
    public static let loginRefused = Self("loginRefused")
    /// The server serves as many as it wants to, or as many of this user: fewer at a time, or later.
    public static let tooManyConnections = Self("tooManyConnections")
    public static let proxyRefused = Self("proxyRefused")
    /// The origin has not answered for as many attempts as the retry limit allows.
    public static let originUnreachable = Self("originUnreachable")

    // The answer.
    public static let httpStatus = Self("httpStatus")
    public static let badResponse = Self("badResponse")
    /// A success that came before all of what it would be a receipt for had been sent.
    public static let answeredEarly = Self("answeredEarly")
    /// The server accepted an upload and doesn't show that it has it.
    public static let unconfirmed = Self("unconfirmed")
    public static let tooManyRedirects = Self("tooManyRedirects")
    public static let redirectRefused = Self("redirectRefused")
    /// The server's address is none of those that the transfer may connect to.
    public static let addressRefused = Self("addressRefused")
    /// Nothing proves that what came is all, and whoever asked wants proof.
    public static let unproven = Self("unproven")
    public static let checksumMismatch = Self("checksumMismatch")
    /// A server doesn't say the digest of what it has, nor gives it back to be hashed.
    public static let digestUnknown = Self("digestUnknown")
    /// A part of a file isn't the one that was asked for.
    public static let wrongPart = Self("wrongPart")
    public static let changedDuringTransfer = Self("changedDuringTransfer")

    // This machine.
    public static let badURL = Self("badURL")
    public static let invalidRequest = Self("invalidRequest")
    public static let fileExists = Self("fileExists")
    public static let fileMissing = Self("fileMissing")
    public static let fileAccess = Self("fileAccess")
    public static let fileLocked = Self("fileLocked")
    /// A file that isn't ours has the partial file's name.
    public static let partNotOurs = Self("partNotOurs")
    public static let diskFull = Self("diskFull")
    public static let sourceChanged = Self("sourceChanged")
    public static let secretMissing = Self("secretMissing")
    public static let mayHaveBeenSent = Self("mayHaveBeenSent")
    /// The queue that a job waits in is run by no process.
    public static let unattended = Self("unattended")
    public static let cancelled = Self("cancelled")
    public static let internalFault = Self("internalFault")
}
