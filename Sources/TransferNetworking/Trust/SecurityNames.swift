public import TransferCrypto

/// The certificates that a server showed, under the name that documented programs use.
public typealias SecTrust = ServerTrust
/// An X.509 certificate, under the name that documented programs use.
public typealias SecCertificate = Certificate
/// A public key, under the name that documented programs use.
public typealias SecKey = PublicKey
/// The policy that a trust is judged by, under the name that documented programs use.
public typealias SecPolicy = TrustPolicy
/// A code of OpenSSL's verification (X509_STORE_CTX_get_error(3)); 0 where the rule isn't OpenSSL's.
public typealias OSStatus = Int32

/// The name that older documents use.
public typealias DisabledEvaluator = DisabledTrustEvaluator
