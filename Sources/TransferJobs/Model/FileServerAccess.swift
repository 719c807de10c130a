import Glibc
package import TransferCore
package import TransferEngine
import TransferUpload

extension JobSettings {
    /// How SSH servers are known, and logged in to. What isn't said here is as ssh(1) has it.
    public struct SSHAccess: Sendable, Hashable {
        /// Who logs in where ``JobSettings/auth`` names nobody; whoever runs the program by default.
        public var user: String?
        /// The path of the keys of known servers, in place of `~/.ssh/known_hosts` and `~/.ssh/known_hosts2`. The files
        /// are only read: a server that isn't in them or in `/etc/ssh/ssh_known_hosts` is refused.
        public var knownHosts: String?
        /// The fingerprint of the only key that the server may have (`SHA256:…`), in place of known servers.
        public var hostKey: String?
        /// The path of a private key; by default the first that is there of `id_ed25519`, `id_ecdsa` and `id_rsa` in
        /// `~/.ssh`.
        public var key: String?
        public var keyPassphrase: SecretText?
        /// Whether the keys of the agent are used; by default where `SSH_AUTH_SOCK` names one.
        public var agent: Bool?

        public init() {}
    }

    /// How FTP servers are spoken to.
    public struct FTPAccess: Sendable, Hashable {
        /// TLS for `ftp` URLs too (AUTH TLS, RFC 4217): a server without it is refused before anything is said.
        public var requireTLS = false
        /// The server makes the data connections.
        public var active = false

        public init() {}
    }
}

extension JobSettings {
    /// - Parameter secrets: Tells where the user's home is: without one nobody is known.
    package func fileServer(_ secrets: SecretSource) throws(TransferError) -> FileServerSettings {
        let access = ssh ?? SSHAccess()
        let folder = secrets.variable("HOME").flatMap { $0.isEmpty ? nil : $0 + "/.ssh/" }
        var files = FileServerSettings()
        files.hostKey = access.hostKey
        files.knownHosts = access.knownHosts ?? folder.map { $0 + "known_hosts" }
        files.furtherKnownHosts =
            (access.knownHosts == nil ? folder.map { [$0 + "known_hosts2"] } ?? [] : []) + SSHKeys.systemKnownHosts
        files.usesAgent = access.agent ?? (secrets.variable("SSH_AUTH_SOCK")?.isEmpty == false)
        if let path = access.key ?? folder.flatMap(SSHKeys.standard) {
            files.privateKey = FileServerSettings.PrivateKey(
                path: path,
                passphrase: try access.keyPassphrase.map { text throws(TransferError) in try secrets.read(text) })
        }
        files.requiresTLS = ftp?.requireTLS ?? false
        files.usesActiveMode = ftp?.active ?? false
        return files
    }

    /// Who logs in to an SSH server without a password.
    package var sshUser: String { ssh?.user ?? SSHKeys.userName }
}

/// What ssh(1) finds by itself.
private enum SSHKeys {
    /// Those that are made today first.
    private static let names = ["id_ed25519", "id_ecdsa", "id_rsa"]

    /// Files of known hosts that the administrator keeps for all (ssh_config(5), GlobalKnownHostsFile).
    static let systemKnownHosts = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]

    static func standard(in folder: String) -> String? {
        names.lazy.map { folder + $0 }.first { access($0, R_OK) == 0 }
    }

    /// Who runs the program, by the system's list of users.
    static let userName: String = {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 16 << 10)
        guard getpwuid_r(geteuid(), &entry, &buffer, buffer.count, &found) == 0, found != nil,
            let name = entry.pw_name
        else { return "\(geteuid())" }
        return String(cString: name)
    }()
}
