public import TransferCrypto

/// The certificates that a server sent, under Apple's name.
public typealias SecTrust = ServerTrust
/// An X.509 certificate, under Apple's name.
public typealias SecCertificate = Certificate
/// A public key, under Apple's name.
public typealias SecKey = PublicKey
/// A policy for the evaluation of a trust, under Apple's name.
public typealias SecPolicy = TrustPolicy
/// A code of OpenSSL's verification (X509_STORE_CTX_get_error(3)); 0 for rules of other origin.
public typealias OSStatus = Int32

/// The earlier name of ``DisabledTrustEvaluator``.
public typealias DisabledEvaluator = DisabledTrustEvaluator
