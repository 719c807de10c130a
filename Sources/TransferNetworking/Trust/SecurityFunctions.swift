public import Foundation
import TransferCore
public import TransferCrypto

// The functions of Apple's Security framework that pinning code calls, over the types here. What they copy there is a
// value of Swift's here, under the name of Core Foundation's type, so that `data as CFData` compiles.

/// `Data`, under the name that pinning code casts to.
public typealias CFData = Data
/// An array of anything, under the name that pinning code casts to.
public typealias CFArray = [Any]
/// `String`, under the name that pinning code casts to.
public typealias CFString = String
/// An error, under the name that pinning code gives it.
public typealias CFError = any Error

/// The allocator of Core Foundation; there is no other than Swift here.
public enum CFAllocator: Sendable {}

/// The allocator that is used where none is named.
public let kCFAllocatorDefault: CFAllocator? = nil

// swift-format-ignore: AlwaysUseLowerCamelCase
/// - Parameter data: The DER of one certificate.
/// - Returns: `nil` when it's no certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: CFData) -> SecCertificate? {
    try? Certificate(der: [UInt8](data))
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// - Parameter data: The DER of one certificate.
/// - Returns: `nil` when it's no certificate.
public func SecCertificateCreateWithData(_ allocator: CFAllocator?, _ data: NSData) -> SecCertificate? {
    SecCertificateCreateWithData(allocator, Data(referencing: data))
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The certificate's DER.
public func SecCertificateCopyData(_ certificate: SecCertificate) -> CFData { Data(certificate.der) }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The certificate's key.
public func SecCertificateCopyKey(_ certificate: SecCertificate) -> SecKey? { certificate.publicKey }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Whose certificate it is.
public func SecCertificateCopySubjectSummary(_ certificate: SecCertificate) -> CFString? { certificate.description }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key alone, without its algorithm: PKCS #1 of an RSA key (RFC 8017), the point of an elliptic curve's (RFC 5480).
///
/// - Parameter error: Isn't set: a public key always has one.
public func SecKeyCopyExternalRepresentation(_ key: SecKey, _ error: UnsafeMutablePointer<CFError?>?) -> CFData? {
    Data(key.keyBytes)
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Judges by the chain and, where `hostname` is one, the host.
public func SecPolicyCreateSSL(_ server: Bool, _ hostname: CFString?) -> SecPolicy {
    hostname.map { .host($0) } ?? .chain
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Judges by the chain.
public func SecPolicyCreateBasicX509() -> SecPolicy { .chain }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// A trust of certificates that no server showed: for tests of evaluators.
///
/// - Parameters:
///   - certificates: One certificate, or an array of them with the server's own first.
///   - policies: One policy, or an array of them; `nil` for the chain alone.
///   - trust: Where the trust is put.
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
/// Has the trust judged by these from now on.
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
/// Makes these the only authorities of the trust; ``SecTrustSetAnchorCertificatesOnly(_:_:)`` adds the others again.
///
/// - Parameter certificates: `nil` for the usual ones.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ certificates: CFArray?) -> OSStatus {
    let anchors = certificates.map { $0.compactMap { $0 as? SecCertificate } }
    guard anchors?.count == certificates?.count else { return errSecParam }
    trust.adjustments.anchors = anchors
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Whether the authorities that were set are the only ones.
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ isOnly: Bool) -> OSStatus {
    trust.adjustments.usesOnlyAnchors = isOnly
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// Judges the trust.
///
/// - Parameter error: Why it's refused.
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
/// Judges the trust.
@discardableResult
public func SecTrustEvaluate(_ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>) -> OSStatus {
    result.pointee = trust.af.outcome.result
    return errSecSuccess
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// How many certificates the server sent.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> Int { trust.certificates.count }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// One of the certificates that the server sent, its own first.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: Int) -> SecCertificate? {
    trust.certificates.indices.contains(index) ? trust.certificates[index] : nil
}

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The certificates that the server sent, its own first.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.certificates }

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of the server's own certificate.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? { trust.certificates.first?.publicKey }
