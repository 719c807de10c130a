import CTransferOpenSSL
public import TransferCore

extension ClientIdentity {
    /// Creates an identity from PEM or DER files, without ever prompting on a terminal.
    ///
    /// - Parameters:
    ///   - path: The path of the certificate, which those of intermediate authorities may follow.
    ///   - key: The path of the private key; `nil` where the first file contains it.
    ///   - passphrase: The passphrase of an encrypted key, up to 1,024 bytes.
    /// - Throws: `TransferError` with the file's name. The file cannot be read, or contains no certificate or key. The
    ///   passphrase may be missing (`.secretMissing`) or wrong, or the key may belong to another certificate.
    public convenience init(
        pemCertificate path: String, key: String? = nil, passphrase: String? = nil
    ) throws(TransferError) {
        let certificates = try Certificate.certificates(atPath: path)
        let keyPath = key ?? path
        let bytes = try CredentialFile.read(keyPath)
        let pointer = try Self.privateKey(bytes, path: keyPath, passphrase: passphrase)
        guard let own = certificates.first(where: { X509_check_private_key($0.pointer, pointer) == 1 })
        else {
            EVP_PKEY_free(pointer)
            OpenSSLLibrary.clearErrors()
            throw TransferError(
                .invalidRequest, "the key of \(keyPath) is not that of the certificate of \(path)")
        }
        try self.init(certificate: own, others: certificates, key: pointer, source: keyPath)
    }

    /// Creates an identity from files whose content determines their form: PEM, DER, or PKCS#12 where there is no key
    /// file.
    ///
    /// - Throws: The errors of the initializer for the form.
    public convenience init(
        contentsOfFile path: String, key: String? = nil, passphrase: String? = nil
    ) throws(TransferError) {
        // A DER certificate cannot contain a key, so a single file that is not PEM must be PKCS#12.
        if key == nil, !CredentialFile.isPEM(try CredentialFile.read(path)) {
            try self.init(pkcs12: path, passphrase: passphrase)
        } else {
            try self.init(pemCertificate: path, key: key, passphrase: passphrase)
        }
    }

    /// Creates an identity from a PKCS#12 file (RFC 7292; `.p12`, `.pfx`).
    ///
    /// - Parameter passphrase: The passphrase; `nil` for a file without one.
    /// - Throws: `TransferError` with the file's name. The file cannot be read, or is no PKCS#12. Its passphrase may be
    ///   missing (`.secretMissing`) or wrong, or it may have no certificate with a key.
    public convenience init(pkcs12 path: String, passphrase: String?) throws(TransferError) {
        try self.init(pkcs12: try CredentialFile.read(path), passphrase: passphrase, source: path)
    }

    /// Creates an identity from the bytes of a PKCS#12 file.
    ///
    /// - Parameter passphrase: The passphrase; `nil` for bytes without one.
    /// - Throws: The same errors as for a file.
    public convenience init(pkcs12 bytes: [UInt8], passphrase: String?) throws(TransferError) {
        try self.init(pkcs12: bytes, passphrase: passphrase, source: "the PKCS#12 bytes")
    }

    private convenience init(pkcs12 bytes: [UInt8], passphrase: String?, source: String) throws(TransferError) {
        OpenSSLLibrary.clearErrors()
        let parsed = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var place = buffer.baseAddress
            return d2i_PKCS12(nil, &place, buffer.count)
        }
        guard let parsed else { throw OpenSSLText.failure(.invalidRequest, "\(source): no PKCS#12") }
        defer { PKCS12_free(parsed) }
        // An empty passphrase and a missing one are encoded differently (RFC 7292 appendix B.1), and often confused.
        let fits =
            passphrase.map { PKCS12_verify_mac(parsed, $0, -1) == 1 }
            ?? (PKCS12_verify_mac(parsed, nil, 0) == 1 || PKCS12_verify_mac(parsed, "", 0) == 1)
        guard fits || PKCS12_mac_present(parsed) == 0 else {
            OpenSSLLibrary.clearErrors()
            throw Self.refusedPassphrase(source, isMissing: passphrase == nil)
        }
        var (key, leaf, others): (OpaquePointer?, OpaquePointer?, OpaquePointer?) = (nil, nil, nil)
        OpenSSLLibrary.clearErrors()
        guard PKCS12_parse(parsed, passphrase, &key, &leaf, &others) == 1 else {
            throw OpenSSLText.failure(
                .invalidRequest, "\(source) cannot be opened (its cipher may be one that OpenSSL gave up, such as RC2)")
        }
        defer {
            X509_free(leaf)
            transfer_x509_stack_pop_free(others)
        }
        guard let key, let leaf else {
            EVP_PKEY_free(key)
            throw TransferError(.invalidRequest, "\(source) has no certificate with its key")
        }
        let chain = (0..<transfer_x509_stack_count(others)).compactMap { index in
            transfer_x509_stack_value(others, index).map { Certificate(retaining: $0) }
        }
        try self.init(certificate: Certificate(retaining: leaf), others: chain, key: key, source: source)
    }

    private static func privateKey(
        _ bytes: [UInt8], path: String, passphrase: String?
    ) throws(TransferError) -> OpaquePointer {
        OpenSSLLibrary.clearErrors()
        guard CredentialFile.isPEM(bytes) else {
            let key = bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                var place = buffer.baseAddress
                return d2i_AutoPrivateKey(nil, &place, buffer.count)
            }
            guard let key else { throw OpenSSLText.failure(.invalidRequest, "\(path) has no private key") }
            return key
        }
        guard CredentialFile.contains(bytes, "PRIVATE KEY-----") else {
            throw TransferError(.invalidRequest, "\(path) has no private key")
        }
        if let key = OpenSSLText.reading(bytes, { transfer_pem_private_key($0, passphrase) }) ?? nil { return key }
        // OpenSSL's error depends on the random padding, so the fact that the key is encrypted is more informative.
        if CredentialFile.contains(bytes, "ENCRYPTED") {
            OpenSSLLibrary.clearErrors()
            throw refusedPassphrase(path, isMissing: passphrase == nil)
        }
        throw OpenSSLText.failure(.invalidRequest, "the private key of \(path) is damaged")
    }

    private static func refusedPassphrase(_ source: String, isMissing: Bool) -> TransferError {
        isMissing
            ? TransferError(.secretMissing, "\(source) is encrypted, and there is no passphrase")
            : TransferError(.invalidRequest, "the passphrase of \(source) is wrong")
    }
}
