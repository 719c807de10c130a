import CTransferOpenSSL
public import TransferCore

extension Certificate {
    /// The extensions that files of certificates have, in lower case.
    public static let fileExtensions: Set<String> = ["pem", "crt", "cer", "der"]

    /// The certificates of a PEM text, which may have several and other things between them, or the one of DER bytes.
    ///
    /// - Throws: `TransferError` when there is none, or one that is damaged.
    public static func certificates(pemOrDER bytes: [UInt8]) throws(TransferError) -> [Certificate] {
        guard CredentialFile.isPEM(bytes) else { return [try Certificate(der: bytes)] }
        let certificates = try pem(bytes)
        guard !certificates.isEmpty else { throw TransferError(.invalidRequest, "the PEM text has no certificate") }
        return certificates
    }

    /// The certificates of a file, PEM or DER.
    ///
    /// - Throws: `TransferError` that names the file, when it can't be read, has none, or a damaged one.
    public static func certificates(atPath path: String) throws(TransferError) -> [Certificate] {
        let bytes = try CredentialFile.read(path)
        do { return try certificates(pemOrDER: bytes) } catch {
            throw TransferError(error.code, "\(path): \(error.message)", cause: error.cause)
        }
    }

    /// The certificates of a folder's `.pem`, `.crt`, `.cer` and `.der` files, by file name, each once; folders below
    /// it and PEM files without certificates (keys) are passed over.
    ///
    /// - Throws: `TransferError` when the folder or a file can't be read, or a certificate is damaged: a pin that is
    ///   silently missing would be found out by a refused server.
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
        guard let certificates else { throw OpenSSLText.failure(.internalFault, "OpenSSL can't read certificates") }
        return certificates
    }
}
