import CTransferOpenSSL
import Glibc
public import TransferCore

/// The certificates at which a chain may end. They are made once and shared, since reading those of the system takes
/// milliseconds.
///
/// `@unchecked Sendable`: an `X509_STORE` never changes once it is made, and OpenSSL uses its lock for look-ups.
public final class TrustAnchors: @unchecked Sendable {
    /// The system's anchors, read on first use. Without any anchor no chain is trusted.
    ///
    /// The file of `CURL_CA_BUNDLE` counts alone if the variable is set; an unreadable file leaves no anchors. Without
    /// the variable, the file is that of `SSL_CERT_FILE`, of OpenSSL, or of the distribution. The folders of `SSL_CERT_DIR` are added, with files
    /// named as by openssl-rehash(1).
    ///
    /// OpenSSL's own folder is left out: searching it costs 17 ms for each connection, and the file has the same
    /// certificates.
    public static let system = TrustAnchors.system { name in getenv(name).map { String(cString: $0) } }

    /// Returns the system's anchors.
    ///
    /// - Parameter variable: A closure that returns an environment variable; an empty value counts as none.
    static func system(_ variable: (String) -> String?) -> TrustAnchors {
        func given(_ name: String) -> String? { variable(name).flatMap { $0.isEmpty ? nil : $0 } }
        if let file = given("CURL_CA_BUNDLE") {
            return (try? TrustAnchors(pemFile: file)) ?? TrustAnchors(store: nil, source: file)
        }
        let folders = given("SSL_CERT_DIR")
        for path in systemFiles(given("SSL_CERT_FILE")) {
            guard let anchors = try? TrustAnchors(pemFile: path) else { continue }
            if let folders, let store = anchors.pointer { X509_STORE_load_path(store, folders) }
            return anchors
        }
        guard let folders, let store = X509_STORE_new(), X509_STORE_load_path(store, folders) == 1 else {
            return TrustAnchors(store: nil, source: nil)
        }
        return TrustAnchors(store: store, source: folders)
    }

    /// The file from which the anchors came; `nil` for none.
    public let source: String?
    /// The `X509_STORE *`, which lives as long as this object; `nil` where there are no anchors.
    public let pointer: OpaquePointer?

    /// Creates anchors from a PEM file.
    ///
    /// - Throws: `TransferError` with the file's name, where it cannot be read or has no certificate.
    public convenience init(pemFile path: String) throws(TransferError) {
        OpenSSLLibrary.clearErrors()
        guard access(path, R_OK) == 0 else {
            _ = try CredentialFile.read(path)
            throw Self.unusable(path)
        }
        guard let store = X509_STORE_new() else { throw OpenSSLText.failure(.internalFault, "OpenSSL has no memory") }
        guard X509_STORE_load_file(store, path) == 1 else {
            X509_STORE_free(store)
            throw Self.unusable(path)
        }
        OpenSSLLibrary.clearErrors()
        self.init(store: store, source: path)
    }

    /// Creates anchors.
    ///
    /// - Parameter certificates: Any certificates, including those of intermediate authorities and of servers. A chain
    ///   ends at the first of them.
    public convenience init(certificates: [Certificate]) {
        let store = X509_STORE_new()
        for certificate in certificates { X509_STORE_add_cert(store, certificate.pointer) }
        OpenSSLLibrary.clearErrors()
        self.init(store: store, source: nil)
    }

    private init(store: OpaquePointer?, source: String?) {
        pointer = store
        self.source = source
    }

    deinit { X509_STORE_free(pointer) }

    /// All certificates.
    public var certificates: [Certificate] {
        guard let pointer, let stack = X509_STORE_get1_all_certs(pointer) else { return [] }
        defer { transfer_x509_stack_pop_free(stack) }
        return (0..<transfer_x509_stack_count(stack)).compactMap { index in
            transfer_x509_stack_value(stack, index).map { Certificate(retaining: $0) }
        }
    }

    private static func unusable(_ path: String) -> TransferError {
        OpenSSLText.failure(.invalidRequest, "\(path) has no certificates of authorities")
    }

    /// Returns the paths of the system's certificate files.
    ///
    /// - Parameter given: The path in the environment.
    private static func systemFiles(_ given: String?) -> [String] {
        var paths = given.map { [$0] } ?? []
        if let file = X509_get_default_cert_file() { paths.append(String(cString: file)) }
        return paths + [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
            "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        ]
    }
}
