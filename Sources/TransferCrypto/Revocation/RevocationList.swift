import CTransferOpenSSL
public import TransferCore

/// A list of certificates that an authority has revoked (RFC 5280 §5).
///
/// `@unchecked Sendable`: the list never changes, and OpenSSL sorts it for look-ups under its lock.
public final class RevocationList: @unchecked Sendable, Hashable, CustomStringConvertible {
    /// The bytes of the list.
    public let der: [UInt8]
    private let pointer: OpaquePointer

    /// Creates a list from its bytes.
    ///
    /// - Throws: `TransferError` where the bytes are no list.
    public init(der: [UInt8]) throws(TransferError) {
        OpenSSLLibrary.clearErrors()
        let parsed = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_X509_CRL(nil, &place, buffer.count)
        }
        guard let parsed else { throw OpenSSLText.failure(.invalidRequest, "the bytes are no revocation list") }
        pointer = parsed
        self.der = der
    }

    /// Creates a list.
    ///
    /// - Parameter bytes: The bytes in PEM or DER.
    /// - Throws: `TransferError` where the bytes are no list.
    public convenience init(pemOrDER bytes: [UInt8]) throws(TransferError) {
        guard CredentialFile.isPEM(bytes) else {
            try self.init(der: bytes)
            return
        }
        guard let list = OpenSSLText.reading(bytes, { transfer_pem_revocation_list($0) }) ?? nil else {
            throw OpenSSLText.failure(.invalidRequest, "the PEM text has no revocation list")
        }
        defer { X509_CRL_free(list) }
        try self.init(der: OpenSSLText.encoded { i2d_X509_CRL(list, $0) })
    }

    /// Creates a list from a file.
    ///
    /// - Parameter path: The path of a PEM or DER file.
    /// - Throws: `TransferError` with the file's name.
    public convenience init(path: String) throws(TransferError) {
        let bytes = try CredentialFile.read(path)
        do { try self.init(pemOrDER: bytes) } catch {
            throw TransferError(error.code, "\(path): \(error.message)", cause: error.cause)
        }
    }

    deinit { X509_CRL_free(pointer) }

    public static func == (one: RevocationList, other: RevocationList) -> Bool { one.der == other.der }

    public func hash(into hasher: inout Hasher) { hasher.combine(der) }

    /// The issuer of the list, in words.
    public var description: String { "revocation list of \(issuer)" }

    /// The owner of the list in the form of RFC 2253.
    public var issuer: String { OpenSSLText.name(X509_CRL_get_issuer(pointer)) }

    /// The time at which the list was created, in seconds since 1970.
    public var thisUpdate: Int64 { OpenSSLText.seconds(X509_CRL_get0_lastUpdate(pointer)) ?? .max }

    /// The time by which a newer list will exist, in seconds since 1970; `nil` where it is not announced.
    public var nextUpdate: Int64? { OpenSSLText.seconds(X509_CRL_get0_nextUpdate(pointer)) }

    /// Returns the status of a certificate, after checks of the list's own signature, dates and scope (RFC 5280
    /// §6.3.3).
    ///
    /// - Parameter time: The current time in seconds since 1970.
    /// - Throws: `TransferError` where the list is not the issuer's, or not for this certificate and time.
    public func answer(
        about certificate: Certificate, issuer: Certificate, at time: Int64
    ) throws(TransferError) -> RevocationAnswer {
        OpenSSLLibrary.clearErrors()
        defer { OpenSSLLibrary.clearErrors() }
        guard let context = X509_STORE_CTX_new(), let anchors = transfer_x509_stack_new(),
            let lists = transfer_crl_stack_new()
        else { throw OpenSSLText.failure(.internalFault, "OpenSSL has no memory") }
        defer {
            X509_STORE_CTX_free(context)
            transfer_x509_stack_free(anchors)
            transfer_crl_stack_free(lists)
        }
        _ = transfer_x509_stack_push(anchors, issuer.pointer)
        _ = transfer_crl_stack_push(lists, pointer)
        guard X509_STORE_CTX_init(context, nil, certificate.pointer, nil) == 1 else {
            throw OpenSSLText.failure(.internalFault, "OpenSSL cannot verify")
        }
        X509_STORE_CTX_set0_trusted_stack(context, anchors)
        X509_STORE_CTX_set0_crls(context, lists)
        X509_STORE_CTX_set_flags(context, UInt(X509_V_FLAG_CRL_CHECK | X509_V_FLAG_PARTIAL_CHAIN))
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), Int(time))
        let isGood = X509_verify_cert(context) == 1
        let code = X509_STORE_CTX_get_error(context)
        switch code {
        case X509_V_ERR_CERT_REVOKED:
            var entry: OpaquePointer?
            X509_CRL_get0_by_cert(pointer, &entry, certificate.pointer)
            let date = entry.flatMap { OpenSSLText.seconds(X509_REVOKED_get0_revocationDate($0)) }
            return answer(.revoked(at: date ?? thisUpdate, reason: entry.flatMap { Self.reason($0) }))
        // Dates of certificates are checked after the revocation, by the verification of the chain.
        case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID: return answer(.good)
        default:
            guard isGood else {
                let text = String(cString: X509_verify_cert_error_string(Int(code)))
                throw TransferError(.badResponse, "the \(self) says nothing of \(certificate): \(text)")
            }
            return answer(.good)
        }
    }

    /// Returns the reason for a revocation (RFC 5280 §5.3.1).
    private static func reason(_ entry: OpaquePointer) -> String? {
        guard let value = X509_REVOKED_get_ext_d2i(entry, NID_crl_reason, nil, nil) else { return nil }
        let number = value.assumingMemoryBound(to: ASN1_ENUMERATED.self)
        defer { ASN1_ENUMERATED_free(number) }
        return String(cString: OCSP_crl_reason_str(ASN1_ENUMERATED_get(number)))
    }

    private func answer(_ status: RevocationStatus) -> RevocationAnswer {
        RevocationAnswer(status: status, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
    }
}
