import CTransferOpenSSL
import Glibc
public import TransferCore

/// The certificates that a chain may end at. Made once and shared: reading the system's costs milliseconds.
///
/// `@unchecked Sendable`: an `X509_STORE` is never changed once it's made, and OpenSSL looks things up under its lock.
public final class TrustAnchors: @unchecked Sendable {
    /// The system's, read when they're first needed. Without any of them no chain is trusted.
    ///
    /// The file of `CURL_CA_BUNDLE` alone, where that is set; a file that can't be read leaves none. Else the file of
    /// `SSL_CERT_FILE`, OpenSSL's own, or where distributions keep theirs; and beside it the folders of `SSL_CERT_DIR`,
    /// whose files are named as openssl-rehash(1) does it.
    ///
    /// OpenSSL's own folder is left out: going through it costs 17 ms a connection, and the file has the same.
    public static let system = TrustAnchors.system { name in getenv(name).map { String(cString: $0) } }

    /// - Parameter variable: A variable of the environment. An empty one is none.
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

    /// The file they came from.
    public let source: String?
    /// An `X509_STORE *` that lives as long as this object, or `nil` when there are no anchors.
    public let pointer: OpaquePointer?

    /// - Throws: `TransferError` that names the file, when it can't be read or has no certificate.
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

    /// - Parameter certificates: Any, also those of intermediate authorities and of servers themselves: a chain ends
    ///   at the first that is among them.
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

    /// All of them.
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

    /// - Parameter given: By the environment.
    private static func systemFiles(_ given: String?) -> [String] {
        var paths = given.map { [$0] } ?? []
        if let file = X509_get_default_cert_file() { paths.append(String(cString: file)) }
        return paths + [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
            "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
        ]
    }
}
