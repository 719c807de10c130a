internal import Foundation
internal import Glibc

/// A real FTP server on a free loopback port, with its own folder, users and log. pyftpdlib can simulate every
/// misbehaviour, and vsftpd is the alternative. It ends with the last reference and with the test process.
public final class FTPServer: Sendable {
    public enum Program: Sendable {
        case pyftpdlib
        /// vsftpd, with anonymous users only.
        case vsftpd
    }

    public struct Options: Sendable {
        public var program = Program.pyftpdlib
        /// The certificate with which the server offers TLS.
        public var certificate: ServerCertificate?
        /// Whether TLS begins with the connection.
        public var isImplicit = false
        /// Whether the server refuses clients without TLS, also for data.
        public var requiresTLS = false
        /// The certificate of data connections, in place of the other (pyftpdlib).
        public var dataCertificate: ServerCertificate?
        /// The passwords of the users by name (pyftpdlib).
        public var users = ["alice": "secret-a", "bob": "secret-b"]
        /// The commands that the server does not support (pyftpdlib).
        public var lacks: [String] = []
        /// Replies to the next commands of a name, in place of the real ones. 421 closes the connection, and an empty
        /// reply carries out the command (pyftpdlib).
        public var replies: [String: [String]] = [:]
        /// The port of a relay that clients use for data, in place of ``FTPServer/dataPort`` (pyftpdlib, EPSV).
        public var dataRelay: UInt16?
        /// The rate of downloads in bytes per second. At a low rate the kernel buffers hardly more of a file than the
        /// client has.
        public var sendRate: Int?
        /// The port, in place of a free one.
        public var port: UInt16?
        /// The served folder; a new one if `nil`.
        public var root: String?

        public init() {}

        /// Returns the options of vsftpd. With a certificate (AUTH TLS) its data connections have to resume the TLS
        /// session.
        public static func vsftpd(_ certificate: ServerCertificate? = nil) -> Options {
            var options = Options()
            options.program = .vsftpd
            options.certificate = certificate
            options.requiresTLS = certificate != nil
            return options
        }

        /// Returns the options of pyftpdlib with implicit TLS.
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

    /// Whether the suites of this server run: if it is installed, or required (`TRANSFER_PEERS=required`).
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
        // Another process may take the port before the server does, and then another port is tried.
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

    /// - Parameter path: The escaped path, with its leading slash.
    public func url(_ path: String, host: String = "127.0.0.1") -> String { "\(scheme)://\(host):\(port)\(path)" }

    /// Returns the commands that the server has received, one per line, without passwords.
    public func log() -> String { (try? folder.text("log")) ?? "" }

    /// Returns the received commands of that name.
    public func commands(_ name: String) -> [String] {
        log().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
    }

    /// The port of the server's own data connection after the last EPSV, while clients are sent to the relay.
    public var dataPort: UInt16 { commands("DATA ").last.flatMap { UInt16($0.dropFirst(5)) } ?? 0 }

    /// Signals every process that serves a connection (vsftpd has one for each).
    public func signalSessions(_ signal: Int32) {
        for child in Peer.descendants(of: process.processID) { kill(child, signal) }
    }

    /// Sends a signal to all processes of the server.
    public func signal(_ signal: Int32) {
        process.kill(signal)
        signalSessions(signal)
    }

    /// Closes all open connections at once (pyftpdlib).
    public func cut() { process.kill(SIGUSR1) }

    /// Ends the server with its connections.
    public func stop() async {
        signalSessions(SIGKILL)
        process.kill(SIGKILL)
        _ = try? await process.result()
    }

    private static let isInstalled =
        access("/usr/sbin/vsftpd", X_OK) == 0
        && access("/usr/lib/python3/dist-packages/pyftpdlib/__init__.py", R_OK) == 0
        && access("/usr/lib/python3/dist-packages/OpenSSL/__init__.py", R_OK) == 0

    /// Waits for the start: the script of pyftpdlib reports it, and vsftpd is probed, which has no side effect.
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
                // The default of vsftpd, and a trap: the data connection has to resume the session of the control
                // connection.
                "require_ssl_reuse=YES", "implicit_ssl=\(options.isImplicit ? "YES" : "NO")",
                "force_anon_logins_ssl=\(options.requiresTLS ? "YES" : "NO")",
                "force_anon_data_ssl=\(options.requiresTLS ? "YES" : "NO")",
            ]
        }
        return lines.joined(separator: "\n") + "\n"
    }
}
