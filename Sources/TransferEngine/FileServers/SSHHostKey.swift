import TransferCore

/// A fault of the key that an SSH server showed.
struct SSHHostKey: Sendable, Hashable {
    enum Fault: Sendable, Hashable { case unknown, changed, notPinned }

    let fault: Fault
    /// `ED25519`; `nil` where nobody says.
    let type: String?
    /// `SHA256:…`
    let fingerprint: String?

    /// - Parameters:
    ///   - origin: Of the server.
    ///   - file: Of the known hosts.
    func error(_ origin: Origin, file: String?) -> TransferError {
        let name = origin.hostAndPort
        let kind = [type, fingerprint].compactMap { $0 }.joined(separator: ", ")
        let key = "the host key of \(name)\(kind.isEmpty ? "" : " (\(kind))")"
        let path = ShellWord.quoted(file ?? "known_hosts")
        let message =
            switch fault {
            case .unknown:
                "\(key) isn't in \(path); if it's the right one, add it: \(Self.scan(origin)) >> \(path)"
            case .changed:
                "\(key) is another one than in \(path): somebody may be in between; if the server was set up anew, "
                    + "remove its old key (ssh-keygen -f \(path) -R '\(Self.entry(origin))') and add the new one: "
                    + "\(Self.scan(origin)) >> \(path)"
            case .notPinned:
                "\(key) isn't the pinned one: somebody may be in between; if the server was set up anew, pin its new key "
                    + "(hostKey\(CommandWords.only(", --host-key"))), which \(Self.scan(origin)) | ssh-keygen -lf - shows"
            }
        return TransferError(.hostKeyRefused, message)
    }

    /// libcurl takes any key where it's told of none.
    static func noRule(_ origin: Origin) -> TransferError {
        TransferError(
            .hostKeyRefused,
            "no key of \(origin.hostAndPort) is known, and unknown ones are refused: name a file of known hosts or a "
                + "fingerprint (\(scan(origin)) shows the keys)")
    }

    /// - Parameter type: `nil` for every kind of key.
    static func scan(_ origin: Origin, type: String? = nil) -> String {
        let kind = type.map { "-t \($0) " } ?? ""
        return "ssh-keyscan \(kind)\(origin.isDefaultPort ? "" : "-p \(origin.port) ")\(origin.host)"
    }

    /// As a file of known hosts has it (sshd(8)).
    private static func entry(_ origin: Origin) -> String {
        origin.isDefaultPort ? origin.host : "[\(origin.host)]:\(origin.port)"
    }
}
