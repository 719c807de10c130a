import TransferCore

/// Settings of exchanges with `ftp`, `ftps` and `sftp` servers, beside the user and the password, which are
/// ``ExchangeSettings/credentials``.
///
/// Nothing is read from the user's home folder: each file has to be named.
public struct FileServerSettings: Sendable, Hashable {
    /// The path of the file with the keys of known SSH servers (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). It's only read.
    /// Without it, ``furtherKnownHosts`` and ``hostKey`` every SSH server is refused.
    public var knownHosts: String?
    /// Paths of more such files, as `/etc/ssh/ssh_known_hosts`. All files count alike: a key is known if one of them has
    /// it, and refused if one of them revokes it.
    public var furtherKnownHosts: [String] = []
    /// The fingerprint of the only key that the SSH server may have, as `ssh-keygen -lf` shows it (`SHA256:…`);
    /// files of known hosts aren't read then.
    public var hostKey: String?
    public var privateKey: PrivateKey?
    /// Whether the keys of the agent that `SSH_AUTH_SOCK` names may be used (ssh-agent(1)).
    public var usesAgent = false
    /// Whether `ftp` URLs are for TLS too, begun by AUTH TLS (RFC 4217) before anything of the user is sent; a server
    /// that doesn't offer it is refused. `ftps` URLs begin with TLS.
    public var requiresTLS = false
    /// Whether the server makes the data connections of FTP (EPRT, PORT), and not the client (EPSV, PASV).
    public var usesActiveMode = false
    /// Whether folders that a path names and that aren't there are made.
    public var createsFolders = false

    public init() {}

    /// The paths of all files of known hosts, the user's own first.
    var knownHostsFiles: [String] { (knownHosts.map { [$0] } ?? []) + furtherKnownHosts }

    /// A key that the user shows to SSH servers.
    public struct PrivateKey: Sendable, Hashable {
        /// The path of the file, in OpenSSH's or PEM form. The public key is taken from it.
        public var path: String
        public var passphrase: String?

        public init(path: String, passphrase: String? = nil) {
            self.path = path
            self.passphrase = passphrase
        }
    }
}

extension FileServerSettings.PrivateKey: CustomStringConvertible {
    /// Without the passphrase.
    public var description: String { passphrase == nil ? path : "\(path) (passphrase \(Redaction.mark))" }
}
