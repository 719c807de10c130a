internal import Foundation
internal import Glibc

extension TestAuthority {
    /// Makes a list of revoked certificates, and returns the path of its DER file.
    ///
    /// - Parameters:
    ///   - revoked: The serial numbers of the revoked certificates.
    ///   - hours: The hours from now until the next list.
    public func revocationList(
        of signer: Signer = .intermediate, revoked: [String], hours: Int = 24
    ) async throws -> String {
        guard let pair = pair(of: signer) else { throw TestSupportError("nobody signs the list") }
        let files = IssueFiles(folder: folder, prefix: nextPrefix("crl"))
        try folder.write(index(of: revoked, isRevoked: true), to: files.relative("index"))
        try folder.write("01\n", to: files.relative("number"))
        let configuration = """
            [ca]
            default_ca = authority
            [authority]
            database = \(files.path("index"))
            crlnumber = \(files.path("number"))
            default_md = sha256
            crl_extensions = extensions
            [extensions]
            authorityKeyIdentifier = keyid

            """
        try folder.write(configuration, to: files.relative("conf"))
        try await OpenSSLCommand.run([
            "ca", "-gencrl", "-config", files.path("conf"), "-cert", pair.certificate, "-keyfile", pair.key,
            "-crlhours", "\(hours)", "-out", files.path("pem"),
        ])
        try await OpenSSLCommand.run(["crl", "-in", files.path("pem"), "-outform", "DER", "-out", files.path("der")])
        return files.path("der")
    }

    /// The certificates that a responder knows, and the signer of its answers.
    public struct ResponderOrder: Sendable {
        /// The serial numbers of the good certificates.
        public var good: [String] = []
        public var revoked: [String] = []
        /// The issuer of the certificates.
        public var authority = Signer.intermediate
        /// The signer of the answers; the authority itself if `nil`.
        public var signer: Pair?
        /// The validity of an answer in minutes; `nil` leaves the end out.
        public var minutes: Int? = 60

        public init(good: [String] = [], revoked: [String] = []) {
            self.good = good
            self.revoked = revoked
        }
    }

    /// Starts OpenSSL's responder on a port that the system chooses. Its certificates contain its URL, so their serial
    /// numbers are chosen before: `newSerial()`, `Order.serial`.
    public func startResponder(_ order: ResponderOrder) async throws -> OCSPResponder {
        let process = try OpenSSLCommand.start(
            try responderArguments(order) + ["-port", "0"], timeout: .seconds(300))
        let line = try await process.line(.standardOutput) { $0.hasPrefix("ACCEPT ") }
        let address = line.split(separator: " ").dropFirst().first ?? ""
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw TestSupportError("openssl ocsp tells no port: \(line)")
        }
        return OCSPResponder(port: port, process: process)
    }

    /// Returns the DER file of an answer about a certificate, for `ssl_stapling_file` of nginx or `-status_file` of
    /// `openssl s_server`.
    public func ocspAnswer(about issued: Issued, _ order: ResponderOrder) async throws -> String {
        guard let authority = pair(of: order.authority) else { throw TestSupportError("nobody answers") }
        let prefix = nextPrefix("ocsp")
        let (request, response) = (folder.path(prefix + ".request"), folder.path(prefix + ".response"))
        try await OpenSSLCommand.run([
            "ocsp", "-issuer", authority.certificate, "-cert", issued.certificate, "-no_nonce", "-reqout", request,
        ])
        try await OpenSSLCommand.run(
            try responderArguments(order) + ["-reqin", request, "-respout", response, "-noverify"])
        return response
    }

    private func responderArguments(_ order: ResponderOrder) throws -> [String] {
        guard let authority = pair(of: order.authority) else { throw TestSupportError("nobody answers") }
        let signer = order.signer ?? authority
        let index = try folder.write(
            index(of: order.good, isRevoked: false) + index(of: order.revoked, isRevoked: true),
            to: nextPrefix("ocsp") + ".index")
        return [
            "ocsp", "-index", index, "-CA", authority.certificate, "-rsigner", signer.certificate, "-rkey", signer.key,
        ] + (order.minutes.map { ["-nmin", "\($0)"] } ?? [])
    }

    /// Returns OpenSSL's database: status, end, revocation, serial, file and subject, separated by tabs.
    private func index(of serials: [String], isRevoked: Bool) -> String {
        serials.map { serial in
            let revocation = isRevoked ? "\(UTCText.short(Date() - 3_600)),keyCompromise" : ""
            let fields = [
                isRevoked ? "R" : "V", UTCText.short(Date() + 864_000), revocation, serial, "unknown", "/CN=localhost",
            ]
            return fields.joined(separator: "\t") + "\n"
        }.joined()
    }
}

/// A running `openssl ocsp`, which ends with the last reference.
public final class OCSPResponder: Sendable {
    public let port: UInt16
    private let process: ChildProcess

    init(port: UInt16, process: ChildProcess) {
        self.port = port
        self.process = process
    }

    deinit { process.kill(SIGTERM) }

    public var url: String { "http://127.0.0.1:\(port)" }

    /// Ends the responder, so that no process answers on its port.
    public func stop() async {
        process.kill(SIGKILL)
        _ = try? await process.result()
    }
}
