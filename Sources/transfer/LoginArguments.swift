import ArgumentParser
import TransferCore
import TransferQueue

/// Who logs in to servers, and how SSH and FTP servers are spoken to.
struct LoginArguments: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Who logs in; the URL may name the user too (sftp://NAME@HOST/…). On a terminal the password is asked for.",
            valueName: "name"))
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
        _ = try SecretArgument.value(password, "--password")
        _ = try SecretArgument.value(keyPassphrase, "--ssh-key-passphrase")
        if keyPassphrase != nil, key == nil { throw ValidationError("--ssh-key-passphrase needs --ssh-key") }
        if password != nil, netrc { throw ValidationError("--netrc and --password don't go together") }
        if let user, user.contains(":") {
            // Every user of the machine sees the command line.
            throw ValidationError("--user is a name alone; --password '$VARIABLE' or '@FILE' is the rest")
        }
        if let refusal = hostKey.flatMap(HostKeyRule.refusal) { throw ValidationError("--host-key: \(refusal)") }
    }

    /// Settings of the job of one URL.
    ///
    /// - Parameters:
    ///   - named: The URL as the user wrote it; it may hold a user.
    ///   - base: What is said of requests otherwise.
    ///   - typed: The password, where somebody was asked for it.
    /// - Returns: The URL without its user, and the settings.
    /// - Throws: `ValidationError`, which never repeats a secret.
    func settings(
        of named: String, base: JobSettings = JobSettings(), typed: String? = nil
    ) throws -> (url: String, JobSettings) {
        var settings = base
        let (url, owner) = try Self.withoutUser(named)
        let name = user ?? owner
        let isSSH = Origin(fileServerURL: url)?.scheme == "sftp"
        if netrc {
            settings.auth = .netrc(user: name.map { .literal($0) })
        } else if let password = try typed.map({ .literal($0) }) ?? SecretArgument.value(password, "--password") {
            guard let name else { throw ValidationError("--password needs --user") }
            settings.auth = .basic(user: .literal(name), password: password)
        } else if name != nil, !isSSH, !PasswordPrompt.isPossible {
            throw ValidationError("a user needs --password or --netrc, but for sftp:// URLs")
        }
        if knownHosts != nil || hostKey != nil || key != nil || (isSSH && name != nil) {
            var ssh = settings.ssh ?? JobSettings.SSHAccess()
            ssh.user = isSSH ? name : nil
            ssh.knownHosts = knownHosts.map(Composition.absolute)
            ssh.hostKey = hostKey
            ssh.key = key.map(Composition.absolute)
            ssh.keyPassphrase = try SecretArgument.value(keyPassphrase, "--ssh-key-passphrase")
            settings.ssh = ssh
        }
        if requireTLS {
            var ftp = settings.ftp ?? JobSettings.FTPAccess()
            ftp.requireTLS = true
            settings.ftp = ftp
        }
        return (url, settings)
    }

    /// Asks for the password of a user of one of the URLs that nothing else says it of.
    ///
    /// - Returns: `nil` where nobody has to be asked.
    func askedPassword(for urls: [String]) throws -> String? {
        guard !netrc, password == nil else { return nil }
        for named in urls {
            let (url, owner) = try Self.withoutUser(named)
            guard let name = user ?? owner, Origin(fileServerURL: url)?.scheme != "sftp" else { continue }
            return try PasswordPrompt.ask(for: name)
        }
        return nil
    }

    /// Lays the options over what job files say.
    ///
    /// - Throws: `ValidationError` that names the option.
    func lay(over rules: inout RequestRules) throws {
        var members: [(key: String, value: JSONText, option: String)] = []
        if netrc {
            members.append(("auth", .object(["netrc": .true]), "--netrc"))
            if let user { members.append(("auth", .object(["netrc": .true, "user": .string(user)]), "--user")) }
        } else if let password = try SecretArgument.value(password, "--password") {
            guard let user else { throw ValidationError("--password needs --user") }
            members.append(("auth", .object(["user": .string(user), "password": JSONText(password)]), "--user"))
        }
        if let user { members.append(("ssh", .object(["user": .string(user)]), "--user")) }
        if let knownHosts { members.append(("ssh", .object(["knownHosts": .path(knownHosts)]), "--known-hosts")) }
        if let hostKey { members.append(("ssh", .object(["hostKey": .string(hostKey)]), "--host-key")) }
        if let key {
            members.append(("ssh", .object(["key": .path(key)]), "--ssh-key"))
            if let passphrase = try SecretArgument.value(keyPassphrase, "--ssh-key-passphrase") {
                let value = JSONText.object(["key": .path(key), "keyPassphrase": JSONText(passphrase)])
                members.append(("ssh", value, "--ssh-key-passphrase"))
            }
        }
        if requireTLS { members.append(("ftp", .object(["requireTLS": .true]), "--require-tls")) }
        for member in members {
            guard let refusal = rules.set(member.key, to: member.value.text) else { continue }
            throw ValidationError("\(member.option): \(refusal)")
        }
    }

    /// The options that were given, to be given again.
    var words: [String] {
        let given: [(String, String?)] = [
            ("--user", user), ("--password", password), ("--known-hosts", knownHosts), ("--host-key", hostKey),
            ("--ssh-key", key), ("--ssh-key-passphrase", keyPassphrase),
        ]
        return given.flatMap { name, value in value.map { [name, $0] } ?? [] } + (netrc ? ["--netrc"] : [])
            + (requireTLS ? ["--require-tls"] : [])
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
}
