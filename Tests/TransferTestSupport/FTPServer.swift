internal import Foundation
internal import Glibc

/// A real FTP server on a free loopback port, with a folder, users and a log of its own: pyftpdlib, which can be asked for
/// every misbehaviour, or vsftpd. It ends with the last reference and with the test process.
public final class FTPServer: Sendable {
    public enum Program: Sendable {
        case pyftpdlib
        /// Takes anonymous users only.
        case vsftpd
    }

    public struct Options: Sendable {
        public var program = Program.pyftpdlib
        /// Offers TLS with this certificate.
        public var certificate: ServerCertificate?
        /// TLS begins with the connection.
        public var isImplicit = false
        /// Refuses who doesn't use TLS, for data too.
        public var requiresTLS = false
        /// Data connections show this certificate in place of the other (pyftpdlib).
        public var dataCertificate: ServerCertificate?
        /// By name, with their passwords (pyftpdlib).
        public var users = ["alice": "secret-a", "bob": "secret-b"]
        /// Commands that it doesn't know (pyftpdlib).
        public var lacks: [String] = []
        /// What it says to the next commands of a name, in place of what they ask for; with 421 it hangs up, and with
        /// nothing it does what is asked (pyftpdlib).
        public var replies: [String: [String]] = [:]
        /// Where clients are told to bring their data, in place of ``FTPServer/dataPort``: a relay (pyftpdlib, EPSV).
        public var dataRelay: UInt16?
        /// How fast it sends, in bytes per second: the kernel has hardly more of a file than its client has then.
        public var sendRate: Int?
        /// In place of a free one.
        public var port: UInt16?
        /// The folder to serve; one of its own when `nil`.
        public var root: String?

        public init() {}

        /// vsftpd, which continues the TLS session on data connections where it has a certificate (AUTH TLS).
        public static func vsftpd(_ certificate: ServerCertificate? = nil) -> Options {
            var options = Options()
            options.program = .vsftpd
            options.certificate = certificate
            options.requiresTLS = certificate != nil
            return options
        }

        /// pyftpdlib, with TLS from the first byte on.
        public static func implicitTLS(_ certificate: ServerCertificate) -> Options {
            var options = Options()
            options.certificate = certificate
            options.isImplicit = true
            options.requiresTLS = true
            return options
        }
    }

    public let port: UInt16
    private let scheme: String
    /// The folder that every user sees as the root.
    public let root: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// Whether its suites run: when it's installed, and when it has to be (`TRANSFER_PEERS=required`).
    public static let isWanted = Peer.isWanted(
        "vsftpd and pyftpdlib", package: "vsftpd, python3-pyftpdlib, python3-openssl", isInstalled: isInstalled)

    public static func start(_ options: Options = Options()) async throws -> FTPServer {
        guard isInstalled else {
            throw TestSupportError(
                "no FTP servers (Debian's packages vsftpd, python3-pyftpdlib and python3-openssl)")
        }
        let folder = try TemporaryFolder("ftpd")
        let root = try options.root ?? folder.folder("root")
        // vsftpd serves anonymous users as the system's user ftp.
        chmod(folder.path, 0o777)
        if options.root == nil { chmod(root, 0o777) }
        var failure = ""
        // Another process can take the port before the server does; then with another one.
        for _ in 0..<5 {
            let port = try options.port ?? LoopbackPort.free()
            let command: ChildProcess.Command
            switch options.program {
            case .pyftpdlib:
                try folder.write(FTPServerScript.text, to: "server.py")
                let settings = try JSONSerialization.data(withJSONObject: Self.settings(options, root, port))
                command = ChildProcess.Command(
                    "/usr/bin/python3",
                    ["-W", "ignore", folder.path("server.py"), String(decoding: settings, as: UTF8.self)],
                    environment: ["PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"], workingFolder: folder.path,
                    timeout: .seconds(3600))
            case .vsftpd:
                try folder.write(vsftpd(options, folder, root, port), to: "vsftpd.conf")
                command = ChildProcess.Command(
                    "/usr/sbin/vsftpd", [folder.path("vsftpd.conf")], environment: ["PATH": "/usr/sbin:/usr/bin"],
                    timeout: .seconds(3600))
            }
            let process = try ChildProcess.start(command)
            if await isReady(process, options.program, folder, port) {
                return FTPServer(port, options.isImplicit ? "ftps" : "ftp", root, folder, process)
            }
            process.kill(SIGKILL)
            failure = (try? await process.result()).map { "\($0)" } ?? ""
        }
        throw TestSupportError("the FTP server does not start: \(failure)")
    }

    private init(
        _ port: UInt16, _ scheme: String, _ root: String, _ folder: TemporaryFolder, _ process: ChildProcess
    ) {
        self.port = port
        self.scheme = scheme
        self.root = root
        self.folder = folder
        self.process = process
    }

    deinit {
        signalSessions(SIGKILL)
        process.kill(SIGCONT)
        process.kill(SIGTERM)
    }

    /// - Parameter path: With its slash; escaped already.
    public func url(_ path: String, host: String = "127.0.0.1") -> String { "\(scheme)://\(host):\(port)\(path)" }

    /// What it was told, a command a line, without passwords.
    public func log() -> String { (try? folder.text("log")) ?? "" }

    /// The commands of that name that it was given.
    public func commands(_ name: String) -> [String] {
        log().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
    }

    /// Where it waits for the data of the last EPSV, which clients were told to bring to the relay.
    public var dataPort: UInt16 { commands("DATA ").last.flatMap { UInt16($0.dropFirst(5)) } ?? 0 }

    /// Signals every process that serves a connection (vsftpd has one for each).
    public func signalSessions(_ signal: Int32) {
        for child in Peer.descendants(of: process.processID) { kill(child, signal) }
    }

    /// Signals all of it.
    public func signal(_ signal: Int32) {
        process.kill(signal)
        signalSessions(signal)
    }

    /// Closes the connections under way, in the middle of whatever they do (pyftpdlib).
    public func cut() { process.kill(SIGUSR1) }

    /// Ends it with its connections.
    public func stop() async {
        signalSessions(SIGKILL)
        process.kill(SIGKILL)
        _ = try? await process.result()
    }

    private static let isInstalled =
        access("/usr/sbin/vsftpd", X_OK) == 0
        && access("/usr/lib/python3/dist-packages/pyftpdlib/__init__.py", R_OK) == 0
        && access("/usr/lib/python3/dist-packages/OpenSSL/__init__.py", R_OK) == 0

    /// pyftpdlib's script says when it listens; vsftpd is asked, which is nothing to it.
    private static func isReady(_ process: ChildProcess, _ program: Program, _ folder: TemporaryFolder, _ port: UInt16)
        async
        -> Bool
    {
        await Peer.isReady(process) {
            switch program {
            case .pyftpdlib: folder.exists("ready")
            case .vsftpd: LoopbackPort.answers(port)
            }
        }
    }

    private static func settings(_ options: Options, _ root: String, _ port: UInt16) -> [String: Any] {
        [
            "port": Int(port), "root": root, "users": options.users, "lacks": options.lacks,
            "replies": options.replies,
            "certificate": options.certificate.map { [$0.path, $0.key] } ?? [],
            "dataCertificate": options.dataCertificate.map { [$0.path, $0.key] } ?? [],
            "isImplicit": options.isImplicit, "requiresTLS": options.requiresTLS,
            "dataRelay": Int(options.dataRelay ?? 0), "sendRate": options.sendRate ?? 0,
        ]
    }

    private static func vsftpd(
        _ options: Options, _ folder: TemporaryFolder, _ root: String, _ port: UInt16
    ) -> String {
        let empty = (try? folder.folder("empty")) ?? folder.path
        var lines = [
            "listen=YES", "listen_address=127.0.0.1", "listen_port=\(port)", "background=NO", "anonymous_enable=YES",
            "local_enable=NO", "no_anon_password=YES", "anon_root=\(root)", "allow_writeable_chroot=YES",
            "write_enable=YES", "anon_upload_enable=YES", "anon_mkdir_write_enable=YES", "anon_other_write_enable=YES",
            "anon_world_readable_only=NO", "anon_umask=022", "secure_chroot_dir=\(empty)", "seccomp_sandbox=NO",
            "mdtm_write=YES", "xferlog_enable=YES", "log_ftp_protocol=YES", "vsftpd_log_file=\(folder.path("log"))",
        ]
        if let rate = options.sendRate { lines.append("anon_max_rate=\(rate)") }
        if let certificate = options.certificate {
            lines += [
                "ssl_enable=YES", "allow_anon_ssl=YES", "rsa_cert_file=\(certificate.path)",
                "rsa_private_key_file=\(certificate.key)", "ssl_ciphers=HIGH", "ssl_tlsv1=YES",
                // Its default, and a trap: the data connection has to continue the session of the other one.
                "require_ssl_reuse=YES", "implicit_ssl=\(options.isImplicit ? "YES" : "NO")",
                "force_anon_logins_ssl=\(options.requiresTLS ? "YES" : "NO")",
                "force_anon_data_ssl=\(options.requiresTLS ? "YES" : "NO")",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
