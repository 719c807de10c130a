internal import Foundation
internal import Glibc

/// A real OpenSSH server on a free loopback port that offers only SFTP, with its own host key, users and log. It reads
/// only the users of the system. It ends with the last reference and with the test process.
public final class SSHServer: Sendable {
    public struct Options: Sendable {
        /// The passwords of the server's own users by name. They are aliases of the user who runs the tests. Root is
        /// needed: see ``SSHServer/canHaveUsers``.
        public var users: [String: String] = [:]
        public var allowsPasswords = false
        /// Additional lines of sshd_config(5).
        public var configuration = ""
        /// The shell command that serves SFTP, in place of the server built into sshd.
        public var sftp = "internal-sftp"
        /// The port, in place of a free one.
        public var port: UInt16?
        /// The path of a private host key, in place of a new one.
        public var hostKey: String?

        public init() {}
    }

    public let port: UInt16
    public let folder: TemporaryFolder
    /// The path of a private key (Ed25519) with which every user may log in.
    public let userKey: String
    /// The path of a known-hosts file with the server's key.
    public let knownHosts: String
    public let hostKey: String
    private let process: ChildProcess

    /// The path of the SFTP server outside of sshd.
    public static let sftpProgram = "/usr/lib/openssh/sftp-server"

    /// The user who runs the tests.
    public static let userName = NSUserName()

    /// Whether a server with users of its own can be started here.
    public static let canHaveUsers: Bool = {
        if geteuid() == 0 { return true }
        print("SKIPPED: users of an SSH server's own take root: passwords, and two users of one server, are not tested")
        return false
    }()

    /// Whether the suites of this server run: if it is installed, or required (`TRANSFER_PEERS=required`).
    public static let isWanted = Peer.isWanted("OpenSSH's server", package: "openssh-server", isInstalled: isInstalled)

    public static func start(_ options: Options = Options()) async throws -> SSHServer {
        guard isInstalled else { throw TestSupportError("sshd is not installed (Debian's package openssh-server)") }
        let folder = try TemporaryFolder("sshd")
        let hostKey = options.hostKey ?? folder.path("host_key")
        if options.hostKey == nil { try await makeKey(hostKey) }
        let userKey = try await makeKey(folder.path("user_key"))
        try folder.write(folder.text("user_key.pub"), to: "authorized_keys")
        // sshd needs the folder of its privilege separation in any case. The unit of the system makes it otherwise.
        if geteuid() == 0 {
            try? FileManager.default.createDirectory(atPath: "/run/sshd", withIntermediateDirectories: true)
        }
        for _ in 0..<5 {
            let port = try options.port ?? LoopbackPort.free()
            try folder.write(configuration(options, folder, hostKey, port), to: "sshd_config")
            let log = folder.path("log")
            let sshd = "exec /usr/sbin/sshd -D -f \(folder.path("sshd_config")) -E \(log)"
            let script = options.users.isEmpty ? sshd : try await withUsers(options.users, folder, sshd)
            let process = try ChildProcess.start(
                ChildProcess.Command(
                    options.users.isEmpty ? "/bin/sh" : "/usr/bin/unshare",
                    options.users.isEmpty ? ["-c", script] : ["--mount", "/bin/sh", "-c", script],
                    environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], timeout: .seconds(3600)))
            if await Peer.isReady(process, { (try? folder.text("log"))?.contains("Server listening on") == true }) {
                let host = try String(contentsOfFile: hostKey + ".pub", encoding: .utf8)
                let known = try folder.write("[127.0.0.1]:\(port) \(host)", to: "known_hosts")
                return SSHServer(port, folder, userKey, known, hostKey, process)
            }
            process.kill(SIGKILL)
            _ = try? await process.result()
        }
        throw TestSupportError("sshd does not start: \((try? folder.text("log")) ?? "")")
    }

    private init(
        _ port: UInt16, _ folder: TemporaryFolder, _ userKey: String, _ knownHosts: String, _ hostKey: String,
        _ process: ChildProcess
    ) {
        self.port = port
        self.folder = folder
        self.userKey = userKey
        self.knownHosts = knownHosts
        self.hostKey = hostKey
        self.process = process
    }

    deinit {
        signalSessions(SIGKILL)
        process.kill(SIGTERM)
    }

    /// - Parameter path: An absolute path on this machine.
    public func url(_ path: String) -> String { "sftp://127.0.0.1:\(port)\(path)" }

    public func log() -> String { (try? folder.text("log")) ?? "" }

    /// Sends a signal to every process that serves a connection.
    public func signalSessions(_ signal: Int32) {
        for child in Peer.descendants(of: process.processID) { kill(child, signal) }
    }

    /// The number of processes that serve a connection; 0 without clients.
    public var sessionCount: Int { Peer.descendants(of: process.processID).count }

    /// Ends the server with its connections.
    public func stop() async {
        signalSessions(SIGKILL)
        process.kill(SIGTERM)
        _ = try? await process.result()
    }

    /// Makes a new Ed25519 key, without a passphrase unless one is given.
    @discardableResult
    public static func makeKey(_ path: String, passphrase: String = "") async throws -> String {
        let result = try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", passphrase, "-C", "test", "-f", path])
        ).result()
        guard result.exitCode == 0 else { throw TestSupportError("ssh-keygen fails: \(result.standardError)") }
        return path
    }

    /// Returns the `SHA256:…` fingerprint of the server's key.
    public func fingerprint() async throws -> String {
        let result = try await ChildProcess.start(
            ChildProcess.Command("/usr/bin/ssh-keygen", ["-lf", hostKey + ".pub"])
        ).result()
        guard let print = result.standardOutput.split(separator: " ").first(where: { $0.hasPrefix("SHA256:") }) else {
            throw TestSupportError("ssh-keygen fails: \(result.standardError)")
        }
        return String(print)
    }

    private static let isInstalled =
        access("/usr/sbin/sshd", X_OK) == 0 && access("/usr/bin/ssh-keygen", X_OK) == 0

    private static func configuration(
        _ options: Options, _ folder: TemporaryFolder, _ hostKey: String, _ port: UInt16
    ) -> String {
        """
        Port \(port)
        ListenAddress 127.0.0.1
        HostKey \(hostKey)
        PidFile none
        AuthorizedKeysFile \(folder.path("authorized_keys"))
        StrictModes no
        UsePAM no
        PermitRootLogin yes
        PasswordAuthentication \(options.allowsPasswords ? "yes" : "no")
        KbdInteractiveAuthentication no
        MaxStartups 100:30:200
        MaxSessions 50
        Subsystem sftp internal-sftp
        ForceCommand \(options.sftp)
        LogLevel VERBOSE
        \(options.configuration)
        """
    }

    /// Returns a command with users in files that only the server sees, in place of the system's.
    private static func withUsers(
        _ users: [String: String], _ folder: TemporaryFolder, _ command: String
    ) async throws -> String {
        var names = try String(contentsOfFile: "/etc/passwd", encoding: .utf8)
        var secrets = try String(contentsOfFile: "/etc/shadow", encoding: .utf8)
        let home = try folder.folder("home")
        for (name, password) in users.sorted(by: { $0.key < $1.key }) {
            let result = try await ChildProcess.start(
                ChildProcess.Command("/usr/bin/openssl", ["passwd", "-6", password])
            ).result()
            let hash = result.standardOutput.filter { $0 != "\n" }
            names += "\(name):x:\(getuid()):\(getgid())::\(home):/bin/sh\n"
            secrets += "\(name):\(hash):19000:0:99999:7:::\n"
        }
        let (passwd, shadow) = (try folder.write(names, to: "passwd"), try folder.write(secrets, to: "shadow"))
        return "mount --bind \(passwd) /etc/passwd && mount --bind \(shadow) /etc/shadow && \(command)"
    }
}
