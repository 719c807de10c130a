import CTransferOpenSSL

/// A run of OpenSSL's construction and verification of a chain.
struct ChainVerification {
    let trust: ServerTrust
    let additionalAnchors: [Certificate]
    let onlyAdditionalAnchors: Bool
    let time: Int64?

    /// The security level for 112 bits (SSL_CTX_set_security_level(3)), Debian's default: no SHA-1 signatures, no RSA
    /// below 2048 bits.
    private static let securityLevel: Int32 = 2

    func run() -> TrustResult {
        guard let context = X509_STORE_CTX_new(), let sent = transfer_x509_stack_new(),
            let anchors = transfer_x509_stack_new()
        else { return .failure(TrustFailure(.other, "OpenSSL has no memory")) }
        defer {
            X509_STORE_CTX_free(context)
            transfer_x509_stack_free(sent)
            transfer_x509_stack_free(anchors)
        }
        for certificate in trust.certificates { _ = transfer_x509_stack_push(sent, certificate.pointer) }
        let leaf = trust.certificates.first
        guard X509_STORE_CTX_init(context, trust.anchors.pointer, leaf?.pointer, sent) == 1,
            X509_STORE_CTX_set_default(context, "ssl_server") == 1
        else { return .failure(TrustFailure(.other, "OpenSSL cannot verify: \(OpenSSLText.takeError())")) }

        // A store never changes once it is made, so with additional anchors, all anchors are passed as a list.
        let usesList = onlyAdditionalAnchors || !additionalAnchors.isEmpty || trust.anchors.pointer == nil
        let listed = usesList ? (onlyAdditionalAnchors ? [] : trust.anchors.certificates) + additionalAnchors : []
        for certificate in listed { _ = transfer_x509_stack_push(anchors, certificate.pointer) }
        if usesList { X509_STORE_CTX_set0_trusted_stack(context, anchors) }

        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_TRUSTED_FIRST))
        let parameters = X509_STORE_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        if let time { X509_VERIFY_PARAM_set_time(parameters, Int(time)) }

        let isTrusted = withExtendedLifetime((leaf, listed, trust)) { X509_verify_cert(context) == 1 }
        defer { OpenSSLLibrary.clearErrors() }
        guard isTrusted else {
            let current = X509_STORE_CTX_get_current_cert(context).map { Certificate(retaining: $0) }
            let code = X509_STORE_CTX_get_error(context)
            return .failure(TrustFailure(code: code, certificate: current, host: trust.host))
        }
        guard let chain = X509_STORE_CTX_get0_chain(context) else { return .success(trust.certificates) }
        // If the leaf itself is the anchor, OpenSSL leaves issuers in the chain that it tried without success.
        let isLeafAnchor = X509_STORE_CTX_get_num_untrusted(context) == 0
        let count = isLeafAnchor ? min(1, transfer_x509_stack_count(chain)) : transfer_x509_stack_count(chain)
        return .success(
            (0..<count).compactMap { index in
                transfer_x509_stack_value(chain, index).map { Certificate(retaining: $0) }
            })
    }
}
