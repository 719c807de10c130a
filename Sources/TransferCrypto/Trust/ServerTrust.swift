import CTransferOpenSSL
import Synchronization
import TransferCore

/// The certificates that a server showed in a TLS handshake, to be judged.
public final class ServerTrust: Sendable {
    /// As the server sent them: its own first. What follows may be anything.
    public let certificates: [Certificate]
    /// The host that was asked for: a name or an address, without a port.
    public let host: String
    /// The authorities that are trusted unless an evaluation says otherwise.
    public let anchors: TrustAnchors
    /// The DER of the OCSP answer that was stapled to the handshake (RFC 6066 §8).
    public let ocspResponse: [UInt8]?
    private let changes = Mutex(TrustAdjustments())

    /// - Parameters:
    ///   - chain: The server's own certificate first.
    ///   - host: A name or an address, in brackets or not.
    public init(chain: [Certificate], host: String, anchors: TrustAnchors, ocspResponse: [UInt8]?) {
        certificates = chain
        self.host = host
        self.anchors = anchors
        self.ocspResponse = ocspResponse
    }

    /// The rules and authorities that an evaluator set; they hold for every evaluation from then on.
    public var adjustments: TrustAdjustments {
        get { changes.withLock { $0 } }
        set { changes.withLock { $0 = newValue } }
    }

    /// Judges the certificates: the chain for the purpose of a TLS server (RFC 5280 §6) up to an anchor, which may be
    /// an intermediate or the server's own certificate, then the host (RFC 9110 §4.3.4: the names and addresses that
    /// the certificate lists; never its subject). Any thread may call it; nothing is fetched.
    ///
    /// - Parameters:
    ///   - validatesHost: Whether the certificate must be for ``host``.
    ///   - validatesChain: Whether signatures, dates and the authority count.
    ///   - additionalAnchors: Trusted besides ``anchors``.
    ///   - onlyAdditionalAnchors: Whether those are trusted in place of ``anchors``.
    ///   - time: When it has to be valid, seconds since 1970; `nil` is now.
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

    /// The server's own certificate and, of those it sent, each that signed the one before: what pins may be looked
    /// for in where the chain isn't verified. Anything else a server can simply send along.
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
    /// Whether it lists the host (RFC 9110 §4.3.4): a wildcard stands for one whole label, the subject doesn't count.
    ///
    /// - Parameter host: A name, also an international one, or an address, in brackets or not.
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

    /// Why it's not the host's.
    ///
    /// - Returns: `nil` when it is.
    public func failure(forHost host: String) -> TrustFailure? {
        guard !isValid(forHost: host) else { return nil }
        let isAddress = if case .address = CertifiedName(host) { true } else { false }
        let code = isAddress ? X509_V_ERR_IP_ADDRESS_MISMATCH : X509_V_ERR_HOSTNAME_MISMATCH
        return TrustFailure(code: code, certificate: self, host: host)
    }

    /// Whether the other's name and key are those that signed this one.
    func isSigned(by issuer: Certificate) -> Bool {
        defer { OpenSSLLibrary.clearErrors() }
        guard issuer != self, X509_check_issued(issuer.pointer, pointer) == X509_V_OK,
            let key = X509_get0_pubkey(issuer.pointer)
        else { return false }
        return X509_verify(pointer, key) == 1
    }
}
