public import Foundation
import TransferCore
public import TransferCrypto

// The functions of Apple's Security framework that pinning code calls, for this library's types. Their results are
// Swift values, under the names of Core Foundation's types, so that `data as CFData` compiles.

/// `Data`, under the name that pinning code casts to.
public typealias CFData = Data
/// An array of anything, under the name that pinning code casts to.
public typealias CFArray = [Any]
/// Anything, under the name that pinning code casts to.
public typealias CFTypeRef = Any
/// `String`, under the name that pinning code casts to.
public typealias CFString = String
/// A dictionary, under the name that pinning code casts to.
public typealias CFDictionary = [String: Any]
/// An error, under the name that pinning code gives it.
public typealias CFError = any Error

/// The allocator of Core Foundation. On Linux it has no values, as Swift allocates.
public enum CFAllocator: Sendable {}

/// The default allocator.
public let kCFAllocatorDefault: CFAllocator? = nil

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Makes a certificate.
///
/// - Parameter data: The DER of one certificate.
/// - Returns: `nil` when the data are not a certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? Certificate(der: [UInt8](data))
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Makes a certificate.
///
/// - Parameter data: The DER of one certificate.
/// - Returns: `nil` when the data are not a certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: NSData) -> SecCertificate? {
    SecCertificateCreateWithData(allocator, Data(referencing: data))
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the certificate in DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { Data(certificate.der) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the certificate's public key.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { certificate.publicKey }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a description of the certificate's subject.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? { certificate.description }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the key without its algorithm: PKCS #1 of an RSA key (RFC 8017), the point of an elliptic curve's (RFC
/// 5480).
///
/// - Parameter error: A pointer that is never set, as every public key has a representation.
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<CFError?>?) -> CFData? {
    Data(key.keyBytes)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the algorithm and the size of the key, by ``kSecAttrKeyType`` and ``kSecAttrKeySizeInBits``. Pinning code
/// chooses the head of the SubjectPublicKeyInfo by them.
public func SecKeyCopyAttributes(_ key: SecKey) -> CFDictionary? {
    let (algorithm, bits) = key.size
    var attributes: CFDictionary = [kSecAttrKeySizeInBits: bits]
    switch algorithm {
    case .rsa: attributes[kSecAttrKeyType] = kSecAttrKeyTypeRSA
    case .ellipticCurve: attributes[kSecAttrKeyType] = kSecAttrKeyTypeECSECPrimeRandom
    case .other: break
    }
    return attributes
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a policy for the chain and, if `hostname` is not `nil`, the host.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    hostname.map { .host($0) } ?? .chain
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns a policy for the chain alone.
public func SecPolicyCreateBasicX509() -> SecPolicy { .chain }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Creates a trust of certificates that no server sent, for tests of evaluators.
///
/// - Parameters:
///   - certificates: One certificate, or an array of them with the server's own first.
///   - policies: One policy, or an array of them; `nil` for the chain alone.
///   - trust: The place of the new trust.
/// - Returns: ``errSecParam`` when there is no certificate.
public func SecTrustCreateWithCertificates(
    _ certificates: Any, _ policies: Any?, _ trust: UnsafeMutablePointer<SecTrust?>
) -> OSStatus {
    let chain = (certificates as? [Any] ?? [certificates]).compactMap { $0 as? SecCertificate }
    guard !chain.isEmpty else { return errSecParam }
    let made = ServerTrust(chain: chain, host: "", anchors: .system, ocspResponse: nil)
    trust.pointee = made
    return SecTrustSetPolicies(made, policies ?? TrustPolicy.chain)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Replaces the policies of the trust.
///
/// - Parameter policies: One policy, or an array of them.
/// - Returns: ``errSecParam`` when there is none.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: Any) -> OSStatus {
    let rules = (policies as? [Any] ?? [policies]).compactMap { $0 as? SecPolicy }
    guard !rules.isEmpty else { return errSecParam }
    trust.adjustments.rules = rules
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Makes these certificates the only authorities of the trust; ``SecTrustSetAnchorCertificatesOnly(_:_:)`` can add the
/// usual ones again.
///
/// - Parameter certificates: The authorities; `nil` for the usual ones.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ certificates: CFArray?) -> OSStatus {
    let anchors = certificates.map { $0.compactMap { $0 as? SecCertificate } }
    guard anchors?.count == certificates?.count else { return errSecParam }
    trust.adjustments.anchors = anchors
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Sets whether the authorities that were set replace the usual ones.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ isOnly: Bool) -> OSStatus {
    trust.adjustments.usesOnlyAnchors = isOnly
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Evaluates the trust, and returns whether it is accepted.
///
/// - Parameter error: The place of the reason for a refusal.
public func SecTrustEvaluateWithError(_ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?) -> Bool {
    do {
        try trust.af.judge()
        return true
    } catch let failure {
        error?.pointee = failure
        return false
    }
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Evaluates the trust, and always returns ``errSecSuccess``.
///
/// - Parameter result: The place of the result.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.af.outcome.result
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the number of certificates that the server sent.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> Int { trust.certificates.count }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns one of the certificates that the server sent, its own first; `nil` for an index out of range.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: Int) -> SecCertificate? {
    trust.certificates.indices.contains(index) ? trust.certificates[index] : nil
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the certificates that the server sent, its own first.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.certificates }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Returns the public key of the server's own certificate.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { trust.certificates.first?.publicKey }
