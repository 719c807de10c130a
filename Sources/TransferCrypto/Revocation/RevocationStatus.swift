/// An authority's answer about a certificate that it issued.
public enum RevocationStatus: Sendable, Hashable {
    case good
    /// Taken back, at a time in seconds since 1970.
    case revoked(at: Int64, reason: String?)
    /// The responder doesn't know it.
    case unknown
}

/// A status and how long it holds.
public struct RevocationAnswer: Sendable, Hashable {
    public let status: RevocationStatus
    /// The time at which the answer was known to be right; seconds since 1970.
    public let thisUpdate: Int64
    /// The time by which there will be a newer one; `nil` when newer ones are always to be had.
    public let nextUpdate: Int64?

    public init(status: RevocationStatus, thisUpdate: Int64, nextUpdate: Int64?) {
        self.status = status
        self.thisUpdate = thisUpdate
        self.nextUpdate = nextUpdate
    }
}

extension TrustFailure {
    /// That the authority took a certificate back.
    public init(revoked certificate: Certificate, at time: Int64, reason: String?) {
        self.init(
            .revoked, code: 23,
            "the certificate of \(certificate) was revoked on \(Self.date(time))\(reason.map { " (\($0))" } ?? "")")
    }
}
