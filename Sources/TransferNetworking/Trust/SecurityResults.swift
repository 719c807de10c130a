import TransferCrypto

/// The result of a trust's evaluation, under Apple's name.
public enum SecTrustResultType: UInt32, Sendable {
    /// The trust was not evaluated.
    case invalid = 0
    /// The user trusts the server; no evaluation on Linux has this result.
    case proceed = 1
    /// The user refuses the server; no evaluation on Linux has this result.
    case deny = 3
    /// The server is trusted.
    case unspecified = 4
    /// The server is refused for a reason that another rule may accept: dates, names, an unknown authority.
    case recoverableTrustFailure = 5
    /// The server is refused for good: a signature is wrong, or a certificate is revoked.
    case fatalTrustFailure = 6
    /// The trust could not be evaluated.
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
    /// Whether the result means that the server is trusted.
    public var isSuccess: Bool { type == .unspecified || type == .proceed }
}

extension OSStatus: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == OSStatus {
    /// Whether the status is ``errSecSuccess``.
    public var isSuccess: Bool { type == errSecSuccess }
}

/// The status of a success.
public let errSecSuccess: OSStatus = 0
/// The status of a call with an unusable argument.
public let errSecParam: OSStatus = -50

/// The key of ``SecKeyCopyAttributes(_:)`` for the algorithm.
public let kSecAttrKeyType: CFString = "type"
/// The key of ``SecKeyCopyAttributes(_:)`` for the size in bits, an `Int`.
public let kSecAttrKeySizeInBits: CFString = "bsiz"
/// The algorithm of an RSA key.
public let kSecAttrKeyTypeRSA: CFString = "42"
/// The algorithm of a key on an elliptic curve.
public let kSecAttrKeyTypeECSECPrimeRandom: CFString = "73"
/// The older name of ``kSecAttrKeyTypeECSECPrimeRandom``.
public let kSecAttrKeyTypeEC: CFString = "73"
