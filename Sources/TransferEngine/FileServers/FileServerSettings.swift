import TransferCore

/// The settings of exchanges with `ftp`, `ftps` and `sftp` servers.
///
/// User and password are in ``ExchangeSettings/credentials``. No file of the user's home folder is read unless it is
/// named.
public struct FileServerSettings: Sendable, Hashable {
    /// The path of the file with the keys of known SSH servers (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
    ///
    /// The file is only read. Without it, ``furtherKnownHosts`` and ``hostKey`` every SSH server is refused.
    public var knownHosts: String?
    /// The paths of more such files, for example `/etc/ssh/ssh_known_hosts`.
    ///
    /// All files count alike: a key is known if one of them has it, and refused if one of them revokes it.
    public var furtherKnownHosts: [String] = []
    /// The fingerprint of the only key that the SSH server may have, as `ssh-keygen -lf` shows it (`SHA256:…`).
    ///
    /// With a fingerprint the files of known hosts are not read.
    public var hostKey: String?
    /// The key with which the user logs in to SSH servers.
    public var privateKey: PrivateKey?
    /// Whether the keys of the agent that `SSH_AUTH_SOCK` names may be used (ssh-agent(1)).
    public var usesAgent = false
    /// Whether `ftp` URLs require TLS too. It begins by AUTH TLS (RFC 4217) before any data of the user is sent.
    ///
    /// A server that does not offer it is refused. `ftps` URLs begin with TLS.
    public var requiresTLS = false
    /// Whether the server makes the data connections of FTP (EPRT, PORT), and not the client (EPSV, PASV).
    public var usesActiveMode = false
    /// Whether missing folders of a path are made.
    public var createsFolders = false

    /// Creates the default settings, which refuse every SSH server.
    public init() {}

    /// The paths of all files of known hosts, the user's own first.
    var knownHostsFiles: [String] { (knownHosts.map { [$0] } ?? []) + furtherKnownHosts }

    /// A key with which the user logs in to SSH servers.
    public struct PrivateKey: Sendable, Hashable {
        /// The path of the file, in OpenSSH's or PEM form. The public key is taken from the file.
        public var path: String
        /// The passphrase of the file; `nil` for a file without one.
        public var passphrase: String?

        /// Creates a key.
        public init(path: String, passphrase: String? = nil) {
            self.path = path
            self.passphrase = passphrase
        }
    }
}

extension FileServerSettings.PrivateKey: CustomStringConvertible {
    /// The path without the passphrase.
    public var description: String { passphrase == nil ? path : "\(path) (passphrase \(Redaction.mark))" }
}
