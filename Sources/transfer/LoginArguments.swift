import ArgumentParser
import TransferCore
import TransferQueue

/// Who logs in to servers, and how SSH and FTP servers are spoken to.
struct LoginArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp("Who logs in; the URL may name the user too (sftp://NAME@HOST/…).", valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("The user's password, by name: '$VARIABLE' or '@FILE'.", valueName: "$variable|@file"))
    var password: String?

    @Flag(
        help: """
            Take user and password from ~/.netrc: the machine's own entry (of --user, or of the URL's user, where it has \
            several), and those of machines that redirects lead to.
            """)
    var netrc = false

    @Option(
        name: .customLong("known-hosts"),
        help: ArgumentHelp("Keys of SSH servers, in place of ~/.ssh/known_hosts.", valueName: "file"))
    var knownHosts: String?

    @Option(
        name: .customLong("host-key"),
        help: ArgumentHelp("The only key that the SSH server may have.", valueName: "SHA256:…"))
    var hostKey: String?

    @Option(name: .customLong("ssh-key"), help: ArgumentHelp("The private key to log in with.", valueName: "file"))
    var key: String?

    @Option(
        name: .customLong("ssh-key-passphrase"),
        help: ArgumentHelp("What opens it, by name: '$VARIABLE' or '@FILE'.", valueName: "$variable|@file"))
    var keyPassphrase: String?

    @Flag(name: .customLong("require-tls"), help: "Speak to ftp:// servers by TLS, or not at all.")
    var requireTLS = false

    func validate() throws {
        _ = try Self.secret(password, "--password")
        _ = try Self.secret(keyPassphrase, "--ssh-key-passphrase")
        if keyPassphrase != nil, key == nil { throw ValidationError("--ssh-key-passphrase needs --ssh-key") }
        if password != nil, netrc { throw ValidationError("--netrc and --password don't go together") }
        if let refusal = hostKey.flatMap(HostKeyRule.refusal) { throw ValidationError("--host-key: \(refusal)") }
    }

    /// - Returns: The URL without its user, and who logs in there.
    /// - Throws: `ValidationError`, which never repeats a secret.
    func settings(of named: String) throws -> (url: String, JobSettings) {
        var settings = JobSettings()
        let (url, owner) = try Self.withoutUser(named)
        let name = user ?? owner
        let isSSH = Origin(fileServerURL: url)?.scheme == "sftp"
        if netrc {
            settings.auth = .netrc(user: name.map { .literal($0) })
        } else if let password = try Self.secret(password, "--password") {
            guard let name else { throw ValidationError("--password needs --user") }
            settings.auth = .basic(user: .literal(name), password: password)
        } else if name != nil, !isSSH {
            throw ValidationError("a user needs --password or --netrc, but for sftp:// URLs")
        }
        if knownHosts != nil || hostKey != nil || key != nil || (isSSH && name != nil) {
            var ssh = JobSettings.SSHAccess()
            ssh.user = isSSH ? name : nil
            ssh.knownHosts = knownHosts.map(Composition.absolute)
            ssh.hostKey = hostKey
            ssh.key = key.map(Composition.absolute)
            ssh.keyPassphrase = try Self.secret(keyPassphrase, "--ssh-key-passphrase")
            settings.ssh = ssh
        }
        if requireTLS {
            var ftp = JobSettings.FTPAccess()
            ftp.requireTLS = true
            settings.ftp = ftp
        }
        return (url, settings)
    }

    /// Servers are told of a user by the settings, and so is the next process.
    private static func withoutUser(_ url: String) throws -> (url: String, user: String?) {
        guard let slash = url.firstIndex(of: "/"), url[slash...].hasPrefix("//") else { return (url, nil) }
        let start = url.index(slash, offsetBy: 2)
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return (url, nil) }
        guard !authority[..<at].contains(":") else {
            // Every user of the machine sees the command line.
            throw ValidationError("a password can't be in a URL: write --password '$VARIABLE' or '@FILE'")
        }
        let user = String(decoding: PercentEncoding.decode(authority[..<at]), as: UTF8.self)
        return (String(url[..<start] + url[url.index(after: at)...]), user.isEmpty ? nil : user)
    }

    private static func secret(_ text: String?, _ option: String) throws -> SecretText? {
        guard let text else { return nil }
        if text.hasPrefix("$"), text.count > 1 { return .environment(String(text.dropFirst())) }
        if text.hasPrefix("@"), text.count > 1 { return .file(Composition.absolute(String(text.dropFirst()))) }
        throw ValidationError("\(option) takes '$VARIABLE' or '@FILE': every user of the machine sees the command line")
    }
}
