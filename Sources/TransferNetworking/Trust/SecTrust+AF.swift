public import Foundation
public import TransferCrypto

extension ServerTrust: AlamofireExtended {}
extension Certificate: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == ServerTrust {
    /// As the server sent them: its own first.
    public var certificates: [SecCertificate] { type.certificates }

    /// The DER of the certificates.
    public var certificateData: [Data] { type.certificates.af.data }

    /// The public keys of the certificates.
    public var publicKeys: [SecKey] { type.certificates.af.publicKeys }

    // MARK: Judging

    /// Judges by the policies that were applied; without any, the chain and the host that was asked for.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func evaluate() throws {
        do { try judge() } catch {
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: error))
        }
    }

    /// Applies a policy, and judges by it.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func evaluate(afterApplying policy: SecPolicy) throws { try apply(policy: policy).af.evaluate() }

    /// Has the trust judged by this policy from now on.
    ///
    /// - Throws: Nothing; a policy can always be applied here.
    @discardableResult
    public func apply(policy: SecPolicy) throws -> SecTrust {
        type.adjustments.rules = [policy]
        return type
    }

    /// Makes these the only authorities of the trust from now on.
    ///
    /// - Throws: Nothing; any certificate can be an authority here.
    public func setAnchorCertificates(_ certificates: [SecCertificate]) throws {
        type.adjustments.anchors = certificates
        type.adjustments.usesOnlyAnchors = true
    }

    /// Judges by the policies that were applied, and throws an error of the caller's.
    ///
    /// - Parameter errorProducer: Makes the error, of OpenSSL's code (0 where the rule isn't OpenSSL's) and the result.
    public func validate(errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error) throws {
        let (status, result) = outcome
        guard result.af.isSuccess else { throw errorProducer(status, result) }
    }

    /// Applies a policy, judges by it, and throws an error of the caller's.
    ///
    /// - Parameter errorProducer: Makes the error, of OpenSSL's code (0 where the rule isn't OpenSSL's) and the result.
    public func validate(
        policy: SecPolicy, errorProducer: (_ status: OSStatus, _ result: SecTrustResultType) -> any Error
    ) throws { try apply(policy: policy).af.validate(errorProducer: errorProducer) }

    /// Judges the chain alone.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func performDefaultValidation(forHost host: String) throws { try verifiedChain(forHost: host) }

    /// Judges the host alone.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` with `trustEvaluationFailed`, whose error is a `TrustFailure`.
    public func performValidation(forHost host: String) throws {
        guard let failure = type.hostFailure(host) else { return }
        throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: failure))
    }

    /// - Throws: A `TrustFailure`.
    func judge() throws {
        let rules: [any TrustRule] = type.adjustments.rules
        for rule in rules.isEmpty ? [TrustPolicy.host(type.host)] : rules { try rule.judge(type) }
    }

    /// What comes of judging it.
    var outcome: (status: OSStatus, result: SecTrustResultType) {
        do {
            try judge()
            return (errSecSuccess, .unspecified)
        } catch {
            let failure = error as? TrustFailure
            return (failure?.code ?? errSecSuccess, failure.map { SecTrustResultType($0) } ?? .otherError)
        }
    }

    /// - Parameter onlyAnchors: The only authorities to trust; `nil` trusts the session's.
    /// - Returns: From the server's certificate to the authority.
    @discardableResult
    func verifiedChain(forHost host: String, onlyAnchors: [SecCertificate]? = nil) throws -> [SecCertificate] {
        let result = type.evaluate(
            validatesHost: false, additionalAnchors: onlyAnchors ?? [], onlyAdditionalAnchors: onlyAnchors != nil)
        switch result {
        case .success(let chain): return chain
        case .failure(let failure):
            throw AFError.serverTrustEvaluationFailed(reason: .trustEvaluationFailed(error: failure))
        }
    }
}

extension ServerTrust {
    /// Why the server's own certificate isn't the host's; `nil` when it is.
    func hostFailure(_ host: String) -> TrustFailure? {
        guard let leaf = certificates.first else { return TrustFailure(.other, "the server showed no certificate") }
        return leaf.failure(forHost: host)
    }
}

extension AlamofireExtension where ExtendedType == Certificate {
    /// The certificate's key.
    public var publicKey: SecKey? { type.publicKey }
}

extension Array: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == [Certificate] {
    /// The DER of each.
    public var data: [Data] { type.map { Data($0.der) } }

    /// The public key of each.
    public var publicKeys: [SecKey] { type.map(\.publicKey) }
}
