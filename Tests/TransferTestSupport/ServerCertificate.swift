internal import Foundation

/// A self-signed certificate for 127.0.0.1 and localhost, made by OpenSSL's command for one test.
public struct ServerCertificate: Sendable {
    /// The path of the PEM file, which is also the only authority that a client has to trust.
    public let path: String
    public let key: String

    /// - Throws: An error if `openssl` is missing or fails.
    public static func make(in folder: TemporaryFolder) async throws -> ServerCertificate {
        let (path, key) = (folder.path("certificate.pem"), folder.path("key.pem"))
        let arguments = [
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-keyout", key, "-out", path, "-subj", "/CN=localhost", "-addext",
            "subjectAltName=IP:127.0.0.1,DNS:localhost",
        ]
        let process = try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/openssl", arguments, environment: ["PATH": "/usr/bin:/bin"], timeout: .seconds(60)))
        let result = try await process.result()
        guard result.exitCode == 0 else { throw TestSupportError("openssl fails: \(result.standardError)") }
        return ServerCertificate(path: path, key: key)
    }
}
