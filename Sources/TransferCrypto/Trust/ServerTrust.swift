import CTransferOpenSSL
import Synchronization
import TransferCore

/// The certificates that a server sent in a TLS handshake, for evaluation.
public final class ServerTrust: Sendable {
    /// The certificates in the server's order, its own first. Further ones may be unrelated.
    public let certificates: [Certificate]
    /// The requested host: a name or an address, without a port.
    public let host: String
    /// The authorities that are trusted unless an evaluation uses others.
    public let anchors: TrustAnchors
    /// The DER of the OCSP response stapled to the handshake (RFC 6066 §8); `nil` for none.
    public let ocspResponse: [UInt8]?
    private let changes = Mutex(TrustAdjustments())

    /// Creates a trust.
    ///
    /// - Parameters:
    ///   - chain: The certificates, with the server's own first.
    ///   - host: A name or an address, with or without brackets.
    public init(chain: [Certificate], host: String, anchors: TrustAnchors, ocspResponse: [UInt8]?) {
        certificates = chain
        self.host = host
        self.anchors = anchors
        self.ocspResponse = ocspResponse
    }

    /// The rules and authorities that an evaluator set; they apply to all later evaluations.
    public var adjustments: TrustAdjustments {
        get { changes.withLock { $0 } }
        set { changes.withLock { $0 = newValue } }
    }

    /// Evaluates the certificates. The chain is checked for a TLS server (RFC 5280 §6) up to an anchor: an authority,
    /// or the server's own certificate. Then the host is checked against the names and addresses in the certificate,
    /// never its subject (RFC 9110 §4.3.4). Any thread may call the function, and nothing is fetched.
    ///
    /// - Parameters:
    ///   - validatesHost: Whether the certificate must be for ``host``.
    ///   - validatesChain: Whether signatures, dates and the authority are checked.
    ///   - additionalAnchors: Certificates that are trusted besides ``anchors``.
    ///   - onlyAdditionalAnchors: Whether those replace ``anchors``.
    ///   - time: The time for which the validity is checked, in seconds since 1970; `nil` means now.
    public func evaluate(
        validatesHost: Bool = true, validatesChain: Bool = true, additionalAnchors: [Certificate] = [],
        onlyAdditionalAnchors: Bool = false, at time: Int64? = nil
    ) -> TrustResult {
        guard let leaf = certificates.first else {
            return .failure(TrustFailure(.other, "the server showed no certificate"))
        }
        var chain = certificates
        if validatesChain {
            let (set, isOnly) = changes.withLock { ($0.anchors, $0.usesOnlyAnchors) }
            let verification = ChainVerification(
                trust: self, additionalAnchors: additionalAnchors + (set ?? []),
                onlyAdditionalAnchors: onlyAdditionalAnchors || (set != nil && isOnly), time: time)
            switch verification.run() {
            case .success(let verified): chain = verified
            case .failure(let failure): return .failure(failure)
            }
        }
        if validatesHost, let failure = leaf.failure(forHost: host) { return .failure(failure) }
        return .success(chain)
    }

    /// The server's own certificate, followed by those that each signed the one before. Pins may be matched against
    /// them where the chain is not verified, since a server can add any other certificate.
    public var signedChain: [Certificate] {
        guard var last = certificates.first else { return [] }
        var (chain, left) = ([last], certificates.dropFirst())
        while let index = left.firstIndex(where: { last.isSigned(by: $0) }) {
            last = left.remove(at: index)
            chain.append(last)
        }
        return chain
    }
}

extension Certificate {
    /// Returns whether the certificate names the host (RFC 9110 §4.3.4). A wildcard stands for one whole label, and the
    /// subject does not count.
    ///
    /// - Parameter host: A name, possibly international, or an address, with or without brackets.
    public func isValid(forHost host: String) -> Bool {
        switch CertifiedName(host) {
        case .address(let address):
            return X509_check_ip(pointer, address.bytes, address.bytes.count, 0) == 1
        case .name(let name):
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            return X509_check_host(pointer, name, name.utf8.count, UInt32(flags), nil) == 1
        case nil:
            return false
        }
    }

    /// Returns the reason why the certificate is not for the host.
    ///
    /// - Returns: `nil` where the certificate names the host.
    public func failure(forHost host: String) -> TrustFailure? {
        guard !isValid(forHost: host) else { return nil }
        let isAddress = if case .address = CertifiedName(host) { true } else { false }
        let code = isAddress ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH
        return TrustFailure(code: code, certificate: self, host: host)
    }

    /// Returns whether the other certificate has the name and key that signed this one.
    func isSigned(by issuer: Certificate) -> Bool {
        defer { OpenSSLLibrary.clearErrors() }
        guard issuer != self, X509_check_issued(issuer.pointer, pointer) == X509_V_OK,
            let key = X509_get0_pubkey(issuer.pointer)
        else { return false }
        return X509_verify(pointer, key) == 1
    }
}
