import Glibc
package import TransferCore
package import TransferEngine
import TransferUpload

extension JobSettings {
    /// The settings for host keys and logins of SSH servers. Values that are `nil` are those of ssh_config(5), and then
    /// the defaults of ssh(1).
    public struct SSHAccess: Sendable, Hashable {
        /// The path of the only file of ssh_config(5) to read, in place of `~/.ssh/config` and `/etc/ssh/ssh_config`;
        /// `/dev/null` for none. It gives the server's name and port, the user, and the files of keys.
        public var config: String?
        /// The user's name where ``JobSettings/auth`` names none; `nil` means ssh's `User`, and then the user that runs
        /// the program.
        public var user: String?
        /// The path of the file with known host keys, in place of `~/.ssh/known_hosts` and `~/.ssh/known_hosts2`. The
        /// files are only read: a server in neither of them nor in `/etc/ssh/ssh_known_hosts` is refused.
        public var knownHosts: String?
        /// The fingerprint of the only key that the server may have (`SHA256:…`), in place of known host keys.
        public var hostKey: String?
        /// The path of a private key; `nil` means the first existing one of ssh's `IdentityFile` lines, and without
        /// such lines of `id_ed25519`, `id_ecdsa` and `id_rsa` in `~/.ssh`.
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
    /// - Parameters:
    ///   - secrets: The source of the user's home folder; without a home, no host key is known.
    ///   - host: The values of ssh's configuration, for an SSH server.
    package func fileServer(
        _ secrets: SecretSource, at host: SSHHostSettings? = nil
    ) throws(TransferError) -> FileServerSettings {
        let access = ssh ?? SSHAccess()
        let folder = secrets.variable("HOME").flatMap { $0.isEmpty ? nil : $0 + "/.ssh/" }
        var files = FileServerSettings()
        files.hostKey = access.hostKey
        let standard = folder.map { folder in SSHKeys.knownHosts.map { folder + $0 } }
        let own = access.knownHosts.map { [$0] } ?? host?.knownHosts ?? standard ?? []
        files.knownHosts = own.first
        files.furtherKnownHosts = own.dropFirst() + (host?.systemKnownHosts ?? SSHKeys.systemKnownHosts)
        files.usesAgent =
            access.agent ?? (host?.hasNoAgent != true && secrets.variable("SSH_AUTH_SOCK")?.isEmpty == false)
        if let path = access.key ?? key(of: host, usesAgent: files.usesAgent, in: folder) {
            files.privateKey = FileServerSettings.PrivateKey(
                path: path,
                passphrase: try access.keyPassphrase.map { text throws(TransferError) in try secrets.read(text) })
        }
        files.requiresTLS = ftp?.requireTLS ?? false
        files.usesActiveMode = ftp?.active ?? false
        return files
    }

    /// Returns the first readable key of ssh's configuration, or of the standard keys where it names none.
    private func key(of host: SSHHostSettings?, usesAgent: Bool, in folder: String?) -> String? {
        // To ssh, the name of a public key is that of a key in the agent.
        guard let named = host?.identityFiles?.filter({ !$0.hasSuffix(".pub") }) else {
            return folder.flatMap(SSHKeys.standard)
        }
        if let key = named.first(where: SSHKeys.isReadable) { return key }
        // A missing key is reported only where no other login is possible.
        return auth == nil && !usesAgent ? named.first : nil
    }

    /// Returns the values of ssh's configuration for the server of an `sftp` URL; `nil` for another URL, and for a
    /// program without a home folder.
    func sshHost(of url: String, _ secrets: SecretSource) throws(TransferError) -> SSHHostSettings? {
        guard let authority = SSHAuthority(url), let files = SSHConfiguration(secrets, file: ssh?.config) else {
            return nil
        }
        var user = ssh?.user
        if case .basic(let name, _) = auth { user = try secrets.read(name) }
        return try files.settings(host: authority.host, port: authority.port, user: user)
    }

    /// Returns the URL with the name and the port that ssh would connect to.
    func sshURL(of url: String, _ secrets: SecretSource) throws(TransferError) -> String {
        guard let authority = SSHAuthority(url), let host = try sshHost(of: url, secrets) else { return url }
        return authority.url(url, at: host)
    }

    /// The user's name at an SSH server for a login without a password.
    package func sshUser(at host: SSHHostSettings?) -> String { ssh?.user ?? host?.user ?? UserEntry.own }
}

/// The defaults that ssh(1) finds automatically.
private enum SSHKeys {
    /// The names of key files, the most modern first.
    private static let names = ["id_ed25519", "id_ecdsa", "id_rsa"]

    /// The administrator's files of known host keys for all users (ssh_config(5), GlobalKnownHostsFile).
    static let systemKnownHosts = ["/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2"]

    /// The names of the user's files of known host keys.
    static let knownHosts = ["known_hosts", "known_hosts2"]

    static func standard(in folder: String) -> String? { names.lazy.map { folder + $0 }.first(where: isReadable) }

    static func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }
}
