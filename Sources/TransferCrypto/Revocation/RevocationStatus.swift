/// An authority's statement about a certificate that it issued.
public enum RevocationStatus: Sendable, Hashable {
    case good
    /// The certificate was revoked, at a time in seconds since 1970.
    case revoked(at: Int64, reason: String?)
    /// The responder does not know the certificate.
    case unknown
}

/// A status with its period of validity.
public struct RevocationAnswer: Sendable, Hashable {
    /// The status of the certificate.
    public let status: RevocationStatus
    /// The time at which the status was known to be correct, in seconds since 1970.
    public let thisUpdate: Int64
    /// The time by which a newer status will exist, in seconds since 1970; `nil` where newer ones are always available.
    public let nextUpdate: Int64?

    /// Creates an answer; times are in seconds since 1970.
    public init(status: RevocationStatus, thisUpdate: Int64, nextUpdate: Int64?) {
        self.status = status
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
    }
}

extension TrustFailure {
    /// Creates the failure of a revoked certificate; `time` is in seconds since 1970.
    public init(revoked certificate: Certificate, at time: Int64, reason: String?) {
        self.init(
            .revoked, code: 23,
            "the certificate of \(certificate) was revoked on \(Self.date(time))\(reason.map { " (\($0))" } ?? "")")
    }
}
