import Glibc
package import TransferCore
package import TransferEngine
import TransferUpload

extension JobSettings {
    /// The settings for host keys and logins of SSH servers. Values that are `nil` have the defaults of ssh(1).
    public struct SSHAccess: Sendable, Hashable {
        /// The user's name where ``JobSettings/auth`` names none; `nil` means the user that runs the program.
        public var user: String?
        /// The path of the file with known host keys, in place of `~/.ssh/known_hosts` and `~/.ssh/known_hosts2`. The
        /// files are only read: a server in neither of them nor in `/etc/ssh/ssh_known_hosts` is refused.
        public var knownHosts: String?
        /// The fingerprint of the only key that the server may have (`SHA256:…`), in place of known host keys.
        public var hostKey: String?
        /// The path of a private key; `nil` means the first existing one of `id_ed25519`, `id_ecdsa` and `id_rsa` in
        /// `~/.ssh`.
        public var key: String?
        /// The passphrase of an encrypted private key; `nil` for none.
        public var keyPassphrase: SecretText?
        /// Whether the keys of the agent are used; `nil` means where `SSH_AUTH_SOCK` names an agent.
        public var agent: Bool?

        /// Creates settings with the defaults.
        public init() {}
    }

    /// The settings for FTP servers.
    public struct FTPAccess: Sendable, Hashable {
        /// Whether `ftp` URLs need TLS too (AUTH TLS, RFC 4217). A server without TLS is refused before anything is
        /// sent to it.
        public var requireTLS = false
        /// Whether the server opens the data connections (active mode).
        public var active = false

        /// Creates settings with the defaults: passive mode, and TLS only for `ftps` URLs.
        public init() {}
    }
}

extension JobSettings {
    /// Returns the settings for file servers.
    ///
    /// - Parameter secrets: The source of the user's home folder; without a home, no host key is known.
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

    /// The user's name at an SSH server for a login without a password.
    package var sshUser: String { ssh?.user ?? SSHKeys.userName }
}

/// The defaults that ssh(1) finds automatically.
private enum SSHKeys {
    /// The names of key files, the most modern first.
    private static let names = ["id_ed25519", "id_ecdsa", "id_rsa"]

    /// The administrator's files of known host keys for all users (ssh_config(5), GlobalKnownHostsFile).
    static let systemKnownHosts = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]

    static func standard(in folder: String) -> String? {
        names.lazy.map { folder + $0 }.first { access($0, R_OK) == 0 }
    }

    /// The user that runs the program, from the system's list of users.
    static let userName: String = UserEntry(geteuid())?.name ?? "\(geteuid())"
}
