import ArgumentParser
import TransferCore
import TransferQueue

/// The options for logins, and for connections to SSH and FTP servers.
struct LoginArguments: ParsableArguments {
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "The user who logs in. The URL may name the user too (sftp://NAME@HOST/…). On a terminal, the command asks "
                + "for the password.",
            valueName: "name"))
    var user: String?

    @Option(
        help: ArgumentHelp("The user's password, by name: '$VARIABLE' or '@FILE'.", valueName: "$variable|@file"))
    var password: String?

    @Flag(
        help: """
            Take user and password from ~/.netrc: from the machine's own entry, and from the entries of machines that \
            redirects lead to. Where a machine has several entries, --user or the user of the URL selects one.
            """)
    var netrc = false

    @Option(
        name: .customLong("netrc-file"),
        help: ArgumentHelp("Take user and password from this file, in place of ~/.netrc.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var netrcFile: String?

    @Option(
        name: .customLong("known-hosts"),
        help: ArgumentHelp("The file with the keys of SSH servers, in place of ~/.ssh/known_hosts.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var knownHosts: String?

    @Option(
        name: .customLong("host-key"),
        help: ArgumentHelp("The only key that the SSH server may have.", valueName: "SHA256:…"),
        transform: HostKeyArgument.text)
    var hostKey: String?

    @Option(
        name: .customLong("ssh-config"),
        help: ArgumentHelp(
            "The file with ssh's rules for servers, in place of ~/.ssh/config and /etc/ssh/ssh_config; /dev/null for "
                + "none.", valueName: "file"), completion: .file(), transform: PathArgument.text)
    var sshConfig: String?

    @Option(
        name: .customLong("ssh-key"), help: ArgumentHelp("The private key to log in with.", valueName: "file"),
        completion: .file(), transform: PathArgument.text)
    var key: String?

    @Option(
        name: .customLong("ssh-key-passphrase"),
        help: ArgumentHelp(
            "The passphrase of the SSH key, by name: '$VARIABLE' or '@FILE'.", valueName: "$variable|@file"))
    var keyPassphrase: String?

    @Flag(name: .customLong("require-tls"), help: "Require TLS from ftp:// servers.")
    var requireTLS = false

    /// Whether logins come from a `.netrc` file.
    var usesNetrc: Bool { netrc || netrcFile != nil }

    func validate() throws {
        _ = try SecretArgument.value(password, "--password")
        _ = try SecretArgument.value(keyPassphrase, "--ssh-key-passphrase")
        if keyPassphrase != nil, key == nil { throw ValidationError("--ssh-key-passphrase needs --ssh-key") }
        if password != nil, usesNetrc { throw ValidationError("--netrc and --password do not go together") }
        if let user, user.contains(":") {
            // Every user of the machine can see the command line.
            throw ValidationError("--user is a name alone; --password '$VARIABLE' or '@FILE' is the rest")
        }
    }

    /// Returns the settings of a job with one URL.
    ///
    /// - Parameters:
    ///   - named: The URL as the user wrote it; it may contain a user.
    ///   - base: The other settings of the request.
    ///   - typed: The passwords that a user typed.
    /// - Returns: The URL without its user, and the settings.
    /// - Throws: `ValidationError`, which never repeats a secret.
    func settings(
        of named: String, base: JobSettings = JobSettings(), typed: TypedPasswords? = nil
    ) throws -> (url: String, JobSettings) {
        var settings = base
        let (url, owner) = try Self.withoutUser(named)
        let name = user ?? owner
        let isSSH = Origin(fileServerURL: url)?.scheme == "sftp"
        if usesNetrc {
            settings.auth = .netrc(user: name.map { .literal($0) }, file: netrcFile.map(Composition.absolute))
        } else if let password = try SecretArgument.value(password, "--password") {
            guard let name else { throw ValidationError("--password needs --user") }
            settings.auth = .basic(user: .literal(name), password: password)
        } else if let name, !isSSH {
            if let password = typed?.password(of: name, at: Self.origin(of: url)) {
                settings.auth = .basic(user: .literal(name), password: .literal(password))
            } else if !PasswordPrompt.isPossible {
                throw ValidationError(PasswordPrompt.refusal)
            }
        }
        if [knownHosts, hostKey, sshConfig, key].contains(where: { $0 != nil }) || (isSSH && name != nil) {
            var ssh = settings.ssh ?? JobSettings.SSHAccess()
            ssh.config = sshConfig.map(Composition.absolute) ?? ssh.config
            if isSSH, let name { ssh.user = name }
            ssh.knownHosts = knownHosts.map(Composition.absolute) ?? ssh.knownHosts
            ssh.hostKey = hostKey ?? ssh.hostKey
            if let key {
                ssh.key = Composition.absolute(key)
                ssh.keyPassphrase = try SecretArgument.value(keyPassphrase, "--ssh-key-passphrase")
            }
            settings.ssh = ssh
        }
        if requireTLS {
            var ftp = settings.ftp ?? JobSettings.FTPAccess()
            ftp.requireTLS = true
            settings.ftp = ftp
        }
        return (url, settings)
    }

    /// Asks for the passwords of the URLs' users where no option names them, once for each user of a server.
    func askedPasswords(for urls: [String]) throws -> TypedPasswords {
        var typed = TypedPasswords()
        guard !usesNetrc, password == nil else { return typed }
        for named in urls {
            let (url, owner) = try Self.withoutUser(named)
            guard let name = user ?? owner, Origin(fileServerURL: url)?.scheme != "sftp" else { continue }
            try typed.ask(name, at: Self.origin(of: url))
        }
        return typed
    }

    private static func origin(of url: String) -> String { Origin(anyURL: url)?.description ?? Redaction.url(url) }

    /// Applies the options over the job files.
    ///
    /// - Throws: `ValidationError` that names the option.
    func lay(over rules: inout RequestRules) throws {
        var members = RequestMembers()
        if usesNetrc {
            let file = netrcFile.map { JSONText.path($0) } ?? .true
            members.add("auth", .object(["netrc": file]), "--netrc")
            members.add("auth", user.map { .object(["netrc": file, "user": .string($0)]) }, "--user")
        } else if let password = try SecretArgument.value(password, "--password") {
            guard let user else { throw ValidationError("--password needs --user") }
            members.add("auth", .object(["user": .string(user), "password": JSONText(password)]), "--user")
        }
        members.add("ssh", user.map { .object(["user": .string($0)]) }, "--user")
        members.add("ssh", knownHosts.map { .object(["knownHosts": .path($0)]) }, "--known-hosts")
        members.add("ssh", sshConfig.map { .object(["config": .path($0)]) }, "--ssh-config")
        members.add("ssh", hostKey.map { .object(["hostKey": .string($0)]) }, "--host-key")
        members.add("ssh", key.map { .object(["key": .path($0)]) }, "--ssh-key")
        if let key, let passphrase = try SecretArgument.value(keyPassphrase, "--ssh-key-passphrase") {
            let value = JSONText.object(["key": .path(key), "keyPassphrase": JSONText(passphrase)])
            members.add("ssh", value, "--ssh-key-passphrase")
        }
        if requireTLS { members.add("ftp", .object(["requireTLS": .true]), "--require-tls") }
        try members.lay(over: &rules)
    }

    func add(to given: inout GivenOptions) {
        given.add("--user", user)
        given.add("--password", password)
        given.add("--known-hosts", knownHosts)
        given.add("--host-key", hostKey)
        given.add("--ssh-config", sshConfig)
        given.add("--ssh-key", key)
        given.add("--ssh-key-passphrase", keyPassphrase)
        given.add("--netrc", netrc)
        given.add("--netrc-file", netrcFile.map(Composition.absolute))
        given.add("--require-tls", requireTLS)
    }

    /// Splits a URL into the URL without its user, and the user, which the settings carry.
    static func withoutUser(_ url: String) throws -> (url: String, user: String?) {
        guard let slash = url.firstIndex(of: "/"), url[slash...].hasPrefix("//") else { return (url, nil) }
        let start = url.index(slash, offsetBy: 2)
        let authority = url[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let at = authority.lastIndex(of: "@") else { return (url, nil) }
        guard !authority[..<at].contains(":") else {
            // Every user of the machine can see the command line.
            throw ValidationError("a password cannot be in a URL: write --password '$VARIABLE' or '@FILE'")
        }
        let user = String(decoding: PercentEncoding.decode(authority[..<at]), as: UTF8.self)
        return (String(url[..<start] + url[url.index(after: at)...]), user.isEmpty ? nil : user)
    }
}
