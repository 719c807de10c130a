import TransferCrypto

/// The result of an evaluation of a trust, under the name that documented programs use.
public enum SecTrustResultType: UInt32, Sendable {
    /// Nobody has evaluated it.
    case invalid = 0
    /// Trusted by the user's word; no evaluation here comes to it.
    case proceed = 1
    /// Refused by the user's word; no evaluation here comes to it.
    case deny = 3
    /// Trusted.
    case unspecified = 4
    /// Refused for a reason that another rule may judge differently: dates, names, an unknown authority.
    case recoverableTrustFailure = 5
    /// Refused for good: a signature is wrong, or a certificate is revoked.
    case fatalTrustFailure = 6
    /// The trust couldn't be evaluated.
    case otherError = 7

    init(_ failure: TrustFailure?) {
        switch failure?.kind {
        case nil: self = .unspecified
        case .revoked, .badSignature: self = .fatalTrustFailure
        case .expired, .notYetValid, .wrongHost, .unknownAuthority, .selfSigned, .other: self = .recoverableTrustFailure
        }
    }
}

extension SecTrustResultType: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecTrustResultType {
    /// Whether the trust is trusted.
    public var isSuccess: Bool { type == .unspecified || type == .proceed }
}

extension OSStatus: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == OSStatus {
    /// Whether it's ``errSecSuccess``.
    public var isSuccess: Bool { type == errSecSuccess }
}

/// The status of what succeeded.
public let errSecSuccess: OSStatus = 0
/// The status of what is given something that is no use to it.
public let errSecParam: OSStatus = -50
