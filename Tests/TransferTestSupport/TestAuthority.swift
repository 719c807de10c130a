internal import Foundation
internal import Glibc
internal import Synchronization

/// A small certificate authority, made by OpenSSL's command: a root, an intermediate, and the certificates that they
/// sign. EC keys limit the cost of a certificate to two short processes.
public final class TestAuthority: Sendable {
    /// A certificate and its key, as PEM files.
    public struct Pair: Sendable {
        public let certificate: String
        public let key: String
    }

    /// An issued certificate.
    public struct Issued: Sendable {
        /// The PEM file that a server sends, with its own certificate first.
        public let chain: String
        /// The PEM file of the certificate alone.
        public let certificate: String
        public let key: String
        /// The serial number in upper-case hexadecimal.
        public let serial: String

        /// The certificate for `NginxServer.Options`, and `openssl s_server`.
        public var server: ServerCertificate { ServerCertificate(path: chain, key: key) }
        public var pair: Pair { Pair(certificate: certificate, key: key) }
    }

    /// The issuer that signs a certificate.
    public enum Signer: Sendable {
        case intermediate, root, itself
    }

    /// The properties of a certificate to issue. Unchanged, it is a good certificate for 127.0.0.1 and localhost.
    public struct Order: Sendable {
        public var name = "localhost"
        /// The alternative names in OpenSSL's notation; empty for none.
        public var alternativeNames = ["IP:127.0.0.1", "IP:::1", "DNS:localhost"]
        /// The begin of the validity, in days from now.
        public var validFrom = -1
        public var validUntil = 2
        public var signer = Signer.intermediate
        public var usage = "serverAuth"
        /// The PEM file of an existing key, in place of a new one.
        public var key: String?
        /// The serial number in upper-case hexadecimal; a new one if `nil`.
        public var serial: String?
        public var sendsIntermediate = true
        public var ocspURL: String?
        public var listURL: String?
        /// Additional lines of OpenSSL's configuration.
        public var extensions: [String] = []

        public init() {}
    }

    public let folder: TemporaryFolder
    public let root: Pair
    public let intermediate: Pair
    /// The PEM file of the root, which is all that a client has to trust.
    public var anchors: String { root.certificate }
    private let count = Mutex(0)

    /// Returns the authority of this process, which is made on first use.
    public static func shared() async throws -> TestAuthority { try await sharedTask.value }

    private static let sharedTask = Task {
        let authority = try await TestAuthority.make()
        // A value in a constant is never released, so the folder has to be removed at the end of the process.
        lastFolder.withLock { $0 = authority.folder.path }
        atexit { lastFolder.withLock { path in if let path { try? FileManager.default.removeItem(atPath: path) } } }
        return authority
    }
    private static let lastFolder = Mutex<String?>(nil)

    /// Makes a separate authority, for tests that trust only their own root or revoke the intermediate.
    public static func make(name: String = "Test") async throws -> TestAuthority {
        let folder = try TemporaryFolder("authority")
        let root = Pair(certificate: folder.path("root.pem"), key: folder.path("root.key"))
        try await OpenSSLCommand.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
            "-keyout", root.key, "-out", root.certificate, "-subj", "/O=\(name)/CN=\(name) Root", "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
        ])
        let intermediate = Pair(certificate: folder.path("intermediate.pem"), key: folder.path("intermediate.key"))
        try await sign(
            IssueFiles(folder: folder, prefix: "intermediate"), subject: "/O=\(name)/CN=\(name) Intermediate",
            serial: newSerial(), signer: root, key: nil, days: (-1, 20),
            extensions: [
                "basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign",
                "subjectKeyIdentifier=hash", "authorityKeyIdentifier=keyid",
            ])
        return TestAuthority(folder: folder, root: root, intermediate: intermediate)
    }

    private init(folder: TemporaryFolder, root: Pair, intermediate: Pair) {
        self.folder = folder
        self.root = root
        self.intermediate = intermediate
    }

    func nextPrefix(_ kind: String) -> String {
        count.withLock { count in
            count += 1
            return "\(kind)-\(count)"
        }
    }

    func pair(of signer: Signer) -> Pair? {
        switch signer {
        case .intermediate: intermediate
        case .root: root
        case .itself: nil
        }
    }

    /// Issues a certificate.
    public func issue(_ order: Order = Order()) async throws -> Issued {
        let files = IssueFiles(folder: folder, prefix: nextPrefix("leaf"))
        var extensions = [
            "basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature",
            "subjectKeyIdentifier=hash",
        ]
        if order.signer != .itself { extensions.append("authorityKeyIdentifier=keyid") }
        if !order.usage.isEmpty { extensions.append("extendedKeyUsage=\(order.usage)") }
        if !order.alternativeNames.isEmpty {
            extensions.append("subjectAltName=\(order.alternativeNames.joined(separator: ","))")
        }
        if let url = order.ocspURL { extensions.append("authorityInfoAccess=OCSP;URI:\(url)") }
        if let url = order.listURL { extensions.append("crlDistributionPoints=URI:\(url)") }
        let serial = order.serial ?? Self.newSerial()
        try await Self.sign(
            files, subject: "/CN=\(order.name)", serial: serial, signer: pair(of: order.signer), key: order.key,
            days: (order.validFrom, order.validUntil), extensions: extensions + order.extensions)
        var chain = try folder.text(files.relative("pem"))
        if order.signer == .intermediate, order.sendsIntermediate { chain += try folder.text("intermediate.pem") }
        return Issued(
            chain: try folder.write(chain, to: files.relative("chain.pem")), certificate: files.path("pem"),
            key: order.key ?? files.path("key"), serial: serial)
    }

    /// Issues a certificate that differs from a good one.
    public func issue(_ change: (inout Order) -> Void) async throws -> Issued {
        var order = Order()
        change(&order)
        return try await issue(order)
    }

    /// Writes a certificate and its key as PKCS#12, with the intermediate, and returns the path.
    public func pkcs12(_ issued: Issued, passphrase: String) async throws -> String {
        let path = folder.path(nextPrefix("identity") + ".p12")
        try await OpenSSLCommand.run([
            "pkcs12", "-export", "-in", issued.certificate, "-inkey", issued.key, "-certfile",
            intermediate.certificate, "-out", path, "-passout", "pass:\(passphrase)",
        ])
        return path
    }

    /// Writes an encrypted copy of a key (PKCS#8), and returns the path.
    public func encrypted(key: String, passphrase: String) async throws -> String {
        let path = folder.path(nextPrefix("encrypted") + ".key")
        try await OpenSSLCommand.run([
            "pkcs8", "-topk8", "-in", key, "-out", path, "-passout", "pass:\(passphrase)",
        ])
        return path
    }

    /// Writes the DER file of a certificate, and returns the path.
    public func der(_ certificate: String) async throws -> String {
        let path = folder.path(nextPrefix("certificate") + ".der")
        try await OpenSSLCommand.run(["x509", "-in", certificate, "-outform", "DER", "-out", path])
        return path
    }

    /// Writes the PEM file of a certificate's public key, and returns the path.
    public func publicKey(_ certificate: String) async throws -> String {
        let text = try await OpenSSLCommand.run(["x509", "-in", certificate, "-pubkey", "-noout"])
        return try folder.write(text, to: nextPrefix("public") + ".pub")
    }

    /// Returns an unused serial number.
    public static func newSerial() -> String {
        (0..<8).map { _ in String(format: "%02X", UInt8.random(in: 16...127)) }.joined()
    }

    /// Signs a certificate. Only `openssl ca` takes exact dates, and each run has its own database, so that runs do not
    /// wait for each other.
    private static func sign(
        _ files: IssueFiles, subject: String, serial: String, signer: Pair?, key: String?, days: (Int, Int),
        extensions: [String]
    ) async throws {
        let own = key ?? files.path("key")
        let request = ["req", "-new", "-subj", subject, "-out", files.path("csr")]
        try await OpenSSLCommand.run(
            request
                + (key.map { ["-key", $0] }
                    ?? ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", own]))
        try files.folder.write("", to: files.relative("index"))
        try files.folder.write(serial + "\n", to: files.relative("serial"))
        let configuration = """
            [ca]
            default_ca = authority
            [authority]
            database = \(files.path("index"))
            serial = \(files.path("serial"))
            new_certs_dir = \(files.folder.path)
            default_md = sha256
            policy = anything
            unique_subject = no
            email_in_dn = no
            [anything]
            organizationName = optional
            commonName = optional
            [extensions]
            \(extensions.joined(separator: "\n"))

            """
        try files.folder.write(configuration, to: files.relative("conf"))
        let dates = [days.0, days.1].map { UTCText.generalized(Date() + TimeInterval($0 * 86_400)) }
        let signing = signer.map { ["-cert", $0.certificate, "-keyfile", $0.key] } ?? ["-selfsign", "-keyfile", own]
        try await OpenSSLCommand.run(
            [
                "ca", "-batch", "-notext", "-config", files.path("conf"), "-extensions", "extensions", "-in",
                files.path("csr"), "-out", files.path("pem"), "-startdate", dates[0], "-enddate", dates[1],
            ] + signing)
    }
}

/// The files of one certificate.
struct IssueFiles {
    let folder: TemporaryFolder
    let prefix: String

    func relative(_ name: String) -> String { "\(prefix).\(name)" }
    func path(_ name: String) -> String { folder.path(relative(name)) }
}

/// Dates in the form `20261121080000Z`, and without the century.
enum UTCText {
    static func generalized(_ date: Date) -> String {
        var (time, parts) = (time_t(date.timeIntervalSince1970), tm())
        gmtime_r(&time, &parts)
        return String(
            format: "%04d%02d%02d%02d%02d%02dZ", Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1,
            Int(parts.tm_mday), Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
    }

    static func short(_ date: Date) -> String { String(generalized(date).dropFirst(2)) }
}

enum OpenSSLCommand {
    static func start(_ arguments: [String], timeout: Duration = .seconds(60)) throws -> ChildProcess {
        try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/openssl", arguments, environment: ["PATH": "/usr/bin:/bin"], timeout: timeout))
    }

    @discardableResult
    static func run(_ arguments: [String]) async throws -> String {
        let result = try await start(arguments).result()
        guard result.exitCode == 0 else {
            throw TestSupportError("openssl \(arguments.first ?? "") fails: \(result.standardError)")
        }
        return result.standardOutput
    }
}
