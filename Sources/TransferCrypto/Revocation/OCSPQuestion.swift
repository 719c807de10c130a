import CTransferOpenSSL
public import TransferCore

/// A request for the status of one certificate (RFC 6960 §4.1).
public struct OCSPQuestion: Sendable {
    /// The certificate in question.
    public let certificate: Certificate
    /// The issuer of the certificate.
    public let issuer: Certificate
    /// The bytes of the request.
    public let der: [UInt8]

    /// Creates a request.
    ///
    /// - Parameter usesNonce: Whether the response must be made for this request. Many responders send prepared
    ///   responses without a nonce, which are accepted in any case (RFC 8954 §2.1).
    /// - Throws: `TransferError` with `.internalFault` where OpenSSL cannot make the request.
    public init(certificate: Certificate, issuer: Certificate, usesNonce: Bool = false) throws(TransferError) {
        self.certificate = certificate
        self.issuer = issuer
        OpenSSLLibrary.clearErrors()
        let request = OCSP_REQUEST_new()
        defer {
            OCSP_REQUEST_free(request)
            withExtendedLifetime((certificate, issuer)) {}
        }
        // The SHA-1 digest only names the certificate and protects nothing; every responder supports it (RFC 5019
        // §2.1.1).
        guard let identifier = OCSP_cert_to_id(nil, certificate.pointer, issuer.pointer),
            OCSP_request_add0_id(request, identifier) != nil,
            !usesNonce || OCSP_request_add1_nonce(request, nil, 16) == 1
        else { throw OpenSSLText.failure(.internalFault, "OpenSSL cannot ask about \(certificate)") }
        der = OpenSSLText.encoded { i2d_OCSP_REQUEST(request, $0) }
    }

    /// Returns the URL for GET; `nil` where the request is too long for one (RFC 6960 appendix A.1).
    public func url(at responder: String) -> String? {
        let text = OpenSSLText.base64(der)
        guard text.utf8.count < 255, !responder.contains("?") else { return nil }
        let escaped = text.map { character -> String in
            switch character {
            case "+": "%2B"
            case "/": "%2F"
            case "=": "%3D"
            default: String(character)
            }
        }.joined()
        return responder + (responder.hasSuffix("/") ? "" : "/") + escaped
    }

    /// Checks a response. It must be signed by the issuer or by its delegate (RFC 6960 §4.2.2.2), concern this
    /// certificate, and be current.
    ///
    /// - Parameter time: The current time in seconds since 1970.
    /// - Throws: `TransferError` with the fault of the response.
    public func answer(_ response: [UInt8], at time: Int64) throws(TransferError) -> RevocationAnswer {
        OpenSSLLibrary.clearErrors()
        defer { OpenSSLLibrary.clearErrors() }
        let parsed = response.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &place, buffer.count)
        }
        guard let parsed else { throw OpenSSLText.failure(.badResponse, "the OCSP answer cannot be read") }
        defer { OCSP_RESPONSE_free(parsed) }
        let outcome = OCSP_response_status(parsed)
        guard outcome == OCSP_RESPONSE_STATUS_SUCCESSFUL, let basic = OCSP_response_get1_basic(parsed) else {
            let text = String(cString: OCSP_response_status_str(Int(outcome)))
            throw TransferError(.badResponse, "the OCSP responder answers \(text)")
        }
        defer { OCSP_BASICRESP_free(basic) }
        try checkNonce(basic)
        try checkSignature(basic, at: time)
        return try status(basic, at: time)
    }

    private func checkNonce(_ basic: OpaquePointer) throws(TransferError) {
        let request = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_OCSP_REQUEST(nil, &place, buffer.count)
        }
        defer { OCSP_REQUEST_free(request) }
        guard OCSP_check_nonce(request, basic) != 0 else {
            throw TransferError(.badResponse, "the OCSP answer was made for another request")
        }
    }

    private func checkSignature(_ basic: OpaquePointer, at time: Int64) throws(TransferError) {
        let (store, known) = (X509_STORE_new(), transfer_x509_stack_new())
        defer {
            X509_STORE_free(store)
            transfer_x509_stack_free(known)
        }
        guard let store, let known else { throw OpenSSLText.failure(.internalFault, "OpenSSL has no memory") }
        // Only the issuer can authorize the signer, whatever is trusted elsewhere.
        X509_STORE_add_cert(store, issuer.pointer)
        X509_STORE_set_flags(store, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        X509_VERIFY_PARAM_set_time(X509_STORE_get0_param(store), Int(time))
        _ = transfer_x509_stack_push(known, issuer.pointer)
        guard OCSP_basic_verify(basic, known, store, UInt(OCSP_NOEXPLICIT | OCSP_PARTIAL_CHAIN)) == 1 else {
            throw OpenSSLText.failure(
                .badResponse, "the OCSP answer is not signed by \(issuer), nor by one it charged with that")
        }
    }

    /// The tolerance for the responder's clock, in seconds.
    private static let skew: Int64 = 300
    /// The maximum age in seconds of a response that does not announce the next one.
    private static let longest: Int64 = 86_400

    private func status(_ basic: OpaquePointer, at time: Int64) throws(TransferError) -> RevocationAnswer {
        var (code, reason): (Int32, Int32) = (0, 0)
        var (revoked, this, next):
            (UnsafeMutablePointer<ASN1_TIME>?, UnsafeMutablePointer<ASN1_TIME>?, UnsafeMutablePointer<ASN1_TIME>?)
        (revoked, this, next) = (nil, nil, nil)
        // A responder may identify the certificate by a better digest than that of the request.
        let isThere = [nil, EVP_sha256()].contains { digest in
            let identifier = OCSP_cert_to_id(digest, certificate.pointer, issuer.pointer)
            defer { OCSP_CERTID_free(identifier) }
            return OCSP_resp_find_status(basic, identifier, &code, &reason, &revoked, &this, &next) == 1
        }
        guard isThere else { throw TransferError(.badResponse, "the OCSP answer is about another certificate") }
        guard let thisUpdate = OpenSSLText.seconds(this) else {
            throw TransferError(.badResponse, "the OCSP answer has no date")
        }
        let nextUpdate = next.flatMap { OpenSSLText.seconds($0) }
        guard thisUpdate <= time + Self.skew else {
            throw TransferError(.badResponse, "the OCSP answer is of the future: \(UTCDate.text(thisUpdate))")
        }
        let end = next == nil ? thisUpdate + Self.longest : nextUpdate ?? .min
        guard end >= time - Self.skew else {
            throw TransferError(.badResponse, "the OCSP answer of \(UTCDate.text(thisUpdate)) is out of date")
        }
        let status: RevocationStatus =
            switch code {
            case V_OCSP_CERTSTATUS_GOOD: .good
            case V_OCSP_CERTSTATUS_REVOKED:
                .revoked(
                    at: OpenSSLText.seconds(revoked) ?? thisUpdate,
                    reason: reason < 0 ? nil : String(cString: OCSP_crl_reason_str(Int(reason))))
            default: .unknown
            }
        return RevocationAnswer(status: status, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
    }
}
