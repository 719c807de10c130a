import CTransferOpenSSL
public import TransferCore

extension Certificate {
    /// The extensions of certificate files, in lower case.
    public static let fileExtensions: Set<String> = ["pem", "crt", "cer", "der"]

    /// Returns the certificates of a PEM text, which may contain several and other text between them, or the
    /// certificate of DER bytes.
    ///
    /// - Throws: `TransferError` where there is none, or a damaged one.
    public static func certificates(pemOrDER bytes: [UInt8]) throws(TransferError) -> [Certificate] {
        guard CredentialFile.isPEM(bytes) else { return [try Certificate(der: bytes)] }
        let certificates = try pem(bytes)
        guard !certificates.isEmpty else { throw TransferError(.invalidRequest, "the PEM text has no certificate") }
        return certificates
    }

    /// Returns the certificates of a file, PEM or DER.
    ///
    /// - Throws: `TransferError` with the file's name, where it cannot be read, has no certificate, or a damaged one.
    public static func certificates(atPath path: String) throws(TransferError) -> [Certificate] {
        let bytes = try CredentialFile.read(path)
        do { return try certificates(pemOrDER: bytes) } catch {
            throw TransferError(error.code, "\(path): \(error.message)", cause: error.cause)
        }
    }

    /// Returns the certificates of a folder's `.pem`, `.crt`, `.cer` and `.der` files by file name, without
    /// repetitions. Subfolders and PEM files without certificates (keys) are ignored.
    ///
    /// - Throws: `TransferError` where the folder or a file cannot be read, or a certificate is damaged. A silently
    ///   missing pin would only show as a refused server.
    public static func certificates(inFolder folder: String) throws(TransferError) -> [Certificate] {
        var (seen, result): (Set<Certificate>, [Certificate]) = ([], [])
        for path in try CredentialFile.paths(inFolder: folder, extensions: fileExtensions) {
            let bytes = try CredentialFile.read(path)
            let certificates: [Certificate]
            do {
                certificates = CredentialFile.isPEM(bytes) ? try pem(bytes) : [try Certificate(der: bytes)]
            } catch {
                if PublicKey.isKey(bytes) { continue }
                throw TransferError(error.code, "\(path): \(error.message)", cause: error.cause)
            }
            result += certificates.filter { seen.insert($0).inserted }
        }
        return result
    }

    private static func pem(_ bytes: [UInt8]) throws(TransferError) -> [Certificate] {
        let certificates = try OpenSSLText.reading(bytes) { bio throws(TransferError) -> [Certificate] in
            var found: [Certificate] = []
            while let certificate = transfer_pem_certificate(bio) {
                found.append(Certificate(retaining: certificate))
                X509_free(certificate)
            }
            guard OpenSSLText.isEndOfPEM() else {
                throw OpenSSLText.failure(.invalidRequest, "certificate \(found.count + 1) is damaged")
            }
            OpenSSLLibrary.clearErrors()
            return found
        }
        guard let certificates else { throw OpenSSLText.failure(.internalFault, "OpenSSL cannot read certificates") }
        return certificates
    }
}
