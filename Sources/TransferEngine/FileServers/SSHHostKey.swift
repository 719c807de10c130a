import TransferCore

/// A fault of the key that an SSH server showed.
struct SSHHostKey: Sendable, Hashable {
    enum Fault: Sendable, Hashable {
        case unknown, changed, revoked, notPinned, authorityOnly
        /// Only keys of these other types are known.
        case otherTypes([String])

        /// Creates the fault of a verdict.
        ///
        /// - Returns: `nil` for a known key.
        init?(_ verdict: ServerKeys.Verdict) {
            switch verdict {
            case .known: return nil
            case .unknown: self = .unknown
            case .changed: self = .changed
            case .revoked: self = .revoked
            case .otherTypes(let types): self = .otherTypes(types)
            case .authorityOnly: self = .authorityOnly
            }
        }
    }

    let fault: Fault
    /// The type, such as `ED25519`; `nil` where it is unknown.
    let type: String?
    /// The fingerprint: `SHA256:…`
    let fingerprint: String?

    /// Returns the error for the fault.
    ///
    /// - Parameters:
    ///   - origin: The server.
    ///   - files: The files of known hosts, the user's own first.
    func error(_ origin: Origin, files: [String]) -> TransferError {
        let name = origin.hostAndPort
        let kind = [type, fingerprint].compactMap { $0 }.joined(separator: ", ")
        let key = "the host key of \(name)\(kind.isEmpty ? "" : " (\(kind))")"
        let path = ShellWord.quoted(files.first ?? "known_hosts")
        let message =
            switch fault {
            case .unknown:
                "\(key) is not in \(path); if it is the right one, add it: \(Self.scan(origin)) >> \(path)"
            case .changed:
                "\(key) is another one than in \(path): an attacker may intercept the connection; if the server was set up anew, "
                    + "remove its old key (ssh-keygen -f \(path) -R '\(Self.entry(origin))') and add the new one: "
                    + "\(Self.scan(origin)) >> \(path)"
            case .revoked:
                "\(key) is revoked (@revoked in \(files.map { ShellWord.quoted($0) }.joined(separator: " or "))): a server that has it may "
                    + "not be \(origin.host), and nothing secret was sent; its owner has to give it a new key"
            case .otherTypes(let types):
                "\(key) is not in \(path), which has only another kind of its keys (\(types.joined(separator: ", "))), and "
                    + "libssh2 and \(name) found none of them in common; if it is the right one, add it: "
                    + "\(Self.scan(origin)) >> \(path)"
            case .authorityOnly:
                "\(key) is not in \(path), which only has the key of an authority (@cert-authority): libssh2 cannot read "
                    + "certificates of servers; if it is the right one, add the server's own key: "
                    + "\(Self.scan(origin)) >> \(path)"
            case .notPinned:
                "\(key) is not the pinned one: an attacker may intercept the connection; if the server was set up anew, pin its new key "
                    + "(hostKey\(CommandPhrases.only(", --host-key"))), which \(Self.scan(origin)) | ssh-keygen -lf - shows"
            }
        return TransferError(.hostKeyRefused, message)
    }

    /// Returns the error where no key is configured: libcurl alone would then accept any key.
    static func noRule(_ origin: Origin) -> TransferError {
        TransferError(
            .hostKeyRefused,
            "no key of \(origin.hostAndPort) is known, and unknown ones are refused: name a file of known hosts or a "
                + "fingerprint (\(scan(origin)) shows the keys)")
    }

    /// Returns a command that shows a server's keys.
    ///
    /// - Parameter type: The type of the key; `nil` for every type.
    static func scan(_ origin: Origin, type: String? = nil) -> String {
        let kind = type.map { "-t \($0) " } ?? ""
        return "ssh-keyscan \(kind)\(origin.isDefaultPort ? "" : "-p \(origin.port) ")\(origin.host)"
    }

    /// Returns the error of a server that requires SHA-2 with RSA keys, as OpenSSH does since 8.8. libssh2 before 1.11
    /// has SHA-1 alone.
    static func noCommonSignature(_ origin: Origin, type: String, files: [String]) -> TransferError {
        let path = ShellWord.quoted(files.first ?? "known_hosts")
        return TransferError(
            .secureConnectionFailed,
            "no SSH connection with \(origin.hostAndPort): it and libssh2 agree on no way to prove its \(type) key, the only "
                + "kind that is in \(path)\(type == "ssh-rsa" ? " (older versions of libssh2 only know SHA-1 for it)" : ""); "
                + "add its other keys: \(scan(origin)) >> \(path)")
    }

    /// Returns the server's name in the form of a file of known hosts (sshd(8)).
    private static func entry(_ origin: Origin) -> String {
        origin.isDefaultPort ? origin.host : "[\(origin.host)]:\(origin.port)"
    }
}
