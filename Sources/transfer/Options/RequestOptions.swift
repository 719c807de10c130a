import ArgumentParser
import TransferCore
import TransferQueue

/// How requests are made, the same for `get`, `put`, `run` and `watch`: each option is a key of the job file, whose own word
/// is stronger. None makes another job of one.
struct RequestOptions: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "A field to send; '$VARIABLE' and '@FILE' name a value that is secret.", valueName: "name: value"))
    var headers: [String] = []

    @Option(
        name: [.customShort("A"), .customLong("user-agent")],
        help: ArgumentHelp("The User-Agent field.", valueName: "name"))
    var userAgent: String?

    @Option(name: [.customShort("e"), .long], help: ArgumentHelp("The Referer field.", valueName: "url"))
    var referer: String?

    @Option(
        name: [.customShort("b"), .customLong("cookie"), .customLong("load-cookies")],
        help: ArgumentHelp(
            "A file of cookies in Netscape's form, or '$VARIABLE' with the Cookie field of the job's own server.",
            valueName: "file|$variable"))
    var cookies: String?

    @OptionGroup var login: LoginArguments

    @Option(
        help: ArgumentHelp(
            "http, https, socks5 or socks5h; an empty one switches off those of the environment.", valueName: "url"))
    var proxy: String?

    @Option(name: .customLong("proxy-user"), help: ArgumentHelp("Who logs in to the proxy.", valueName: "name"))
    var proxyUser: String?

    @Option(
        name: .customLong("proxy-password"),
        help: ArgumentHelp("That user's password, by name.", valueName: "$variable|@file"))
    var proxyPassword: String?

    @Option(
        name: .customLong("noproxy"),
        help: ArgumentHelp("Hosts that are reached without the proxy, comma-separated.", valueName: "list"))
    var noProxy: String?

    @Option(
        name: .customLong("cacert"),
        help: ArgumentHelp("The only authorities to trust, a PEM file.", valueName: "file"))
    var authorities: String?

    @Option(
        name: .customLong("cert"),
        help: ArgumentHelp("The client's certificate: PEM, DER or PKCS#12.", valueName: "file"))
    var certificate: String?

    @Option(name: .customLong("key"), help: ArgumentHelp("The certificate's private key.", valueName: "file"))
    var certificateKey: String?

    @Option(
        name: .customLong("key-passphrase"),
        help: ArgumentHelp("What opens the key, by name.", valueName: "$variable|@file"))
    var certificateKeyPassphrase: String?

    @Option(
        name: .customLong("pinnedpubkey"),
        help: ArgumentHelp(
            "The digests of public keys, one of which the server must have: sha256//…, separated by semicolons.",
            valueName: "digests"))
    var pins: String?

    @Flag(
        name: .shortAndLong,
        help: ArgumentHelp("Take whoever answers for the server: anybody on the way can read and change everything."))
    var insecure = false

    @Flag(name: .customLong("http1.1"), help: "Speak HTTP/1.1, also to servers that speak HTTP/2.")
    var http1 = false

    @Option(
        name: .customLong("interface"),
        help: ArgumentHelp("The only link to use; without it the transfers wait.", valueName: "name"))
    var link: String?

    @Option(help: ArgumentHelp("Attempts after the first.", valueName: "n"))
    var retry: Int?

    @Option(
        name: .customLong("retry-delay"), help: ArgumentHelp("The delay between attempts.", valueName: "time"))
    var retryDelay: TimeArgument?

    @Option(
        name: .customLong("connect-timeout"),
        help: ArgumentHelp("Time to connect, TLS included.", valueName: "time"))
    var connectTimeout: TimeArgument?

    @Option(help: ArgumentHelp("The longest silence of a server.", valueName: "time"))
    var timeout: TimeArgument?

    @Option(
        name: .customLong("max-time"),
        help: ArgumentHelp("The longest time that one attempt may take.", valueName: "time"))
    var maxTime: TimeArgument?

    func validate() throws {
        // Other tools have these letters for something else.
        if let userAgent, userAgent.hasPrefix("*") {
            throw ValidationError("-A is the User-Agent field; names aren't matched, as web sites aren't copied")
        }
        if let referer, referer.hasPrefix("robots=") {
            throw ValidationError("-e is the Referer field; robots.txt isn't asked, as web sites aren't copied")
        }
        _ = try rules()
    }

    /// The options as rules for all jobs.
    ///
    /// - Throws: `ValidationError` that names the option.
    func rules() throws -> RequestRules {
        var rules = RequestRules()
        for member in try members() {
            guard let refusal = rules.set(member.key, to: member.json) else { continue }
            throw ValidationError("\(member.option): \(refusal)")
        }
        return rules
    }

    /// The same, with who logs in, for jobs whose URLs stand in files.
    ///
    /// - Parameter isAsking: Whether somebody is asked for a password.
    func rulesOfFiles(isAsking: Bool = false) throws -> RequestRules {
        var rules = try rules()
        try login.lay(over: &rules)
        if isAsking, let user = login.user, login.password == nil, !login.netrc, login.key == nil {
            rules.logIn(as: user, password: try PasswordPrompt.ask(for: user))
        }
        return rules
    }

    /// Keys of `defaults` with their values, and the options that they come from.
    private func members() throws -> [(key: String, json: String, option: String)] {
        var members: [(key: String, json: String, option: String)] = []
        func add(_ key: String, _ value: JSONText?, _ option: String) {
            if let value { members.append((key, value.text, option)) }
        }
        for header in try HeaderArgument.settings(headers) {
            add("headers", .object([header.name: JSONText(header.value)]), "--header")
        }
        add("headers", userAgent.map { .object(["User-Agent": .string($0)]) }, "--user-agent")
        add("headers", referer.map { .object(["Referer": .string($0)]) }, "--referer")
        if let cookies { try addCookies(cookies, add) }
        add("proxy", try proxyValue(), "--proxy")
        add("noProxy", noProxy.map { .string($0) }, "--noproxy")
        add("tls", authorities.map { .object(["ca": .path($0)]) }, "--cacert")
        add("tls", certificate.map { .object(["cert": .path($0)]) }, "--cert")
        add("tls", certificateKey.map { .object(["key": .path($0)]) }, "--key")
        let passphrase = try SecretArgument.value(certificateKeyPassphrase, "--key-passphrase")
        add("tls", passphrase.map { .object(["keyPassphrase": JSONText($0)]) }, "--key-passphrase")
        add("tls", pins.map { .object(["pins": .array(Self.pins($0).map { .string($0) })]) }, "--pinnedpubkey")
        if insecure { add("tls", .object(["insecure": .true]), "--insecure") }
        if http1 { add("httpVersion", .string("1.1"), "--http1.1") }
        add("network", link.map { .object(["require": .string($0)]) }, "--interface")
        add("retry", retry.map { .object(["limit": .number($0)]) }, "--retry")
        add("retry", retryDelay.map { .object(["scale": $0.json, "maxDelay": $0.json]) }, "--retry-delay")
        add("connectTimeout", connectTimeout?.json, "--connect-timeout")
        add("timeout", timeout?.json, "--timeout")
        add("maxTime", maxTime?.json, "--max-time")
        return members
    }

    private func addCookies(_ cookies: String, _ add: (String, JSONText?, String) -> Void) throws {
        if cookies.hasPrefix("$") {
            guard let value = try SecretArgument.value(cookies, "--cookie") else { return }
            return add("headers", .object(["Cookie": JSONText(value)]), "--cookie")
        }
        guard !cookies.contains("=") else {
            // Every user of the machine sees the command line.
            throw ValidationError("a cookie is a secret: name a file of cookies, or write --cookie '$VARIABLE'")
        }
        add("cookies", .path(cookies), "--cookie")
    }

    /// A proxy without a scheme speaks HTTP, as curl has it.
    private static func proxyURL(_ written: String) -> JSONText {
        .string(written.isEmpty || written.contains("://") ? written : "http://" + written)
    }

    private func proxyValue() throws -> JSONText? {
        let password = try SecretArgument.value(proxyPassword, "--proxy-password")
        guard proxyUser != nil || password != nil else {
            if noProxy != nil, proxy == nil { throw ValidationError("--noproxy needs --proxy") }
            return proxy.map(Self.proxyURL)
        }
        guard let proxy, let proxyUser, let password else {
            throw ValidationError("--proxy-user and --proxy-password go together, with --proxy")
        }
        if proxyUser.contains(":") {
            // Every user of the machine sees the command line.
            throw ValidationError("--proxy-user is a name alone; --proxy-password '$VARIABLE' or '@FILE' is the rest")
        }
        return .object(["url": Self.proxyURL(proxy), "user": .string(proxyUser), "password": JSONText(password)])
    }

    /// curl writes `sha256//…;sha256//…`.
    private static func pins(_ text: String) -> [String] {
        text.split(separator: ";").map { pin in
            pin.hasPrefix("sha256//") ? "sha256/" + pin.dropFirst("sha256//".count) : String(pin)
        }
    }

    /// The options that were given, to be given again.
    var words: [String] {
        let given: [(String, String?)] =
            headers.map { ("-H", $0) } + [
                ("-A", userAgent), ("-e", referer), ("-b", cookies), ("--proxy", proxy), ("--proxy-user", proxyUser),
                ("--proxy-password", proxyPassword), ("--noproxy", noProxy), ("--cacert", authorities),
                ("--cert", certificate), ("--key", certificateKey), ("--key-passphrase", certificateKeyPassphrase),
                ("--pinnedpubkey", pins), ("--interface", link), ("--retry", retry.map { "\($0)" }),
                ("--retry-delay", retryDelay?.written), ("--connect-timeout", connectTimeout?.written),
                ("--timeout", timeout?.written), ("--max-time", maxTime?.written),
            ]
        return given.flatMap { name, value in value.map { [name, $0] } ?? [] } + login.words
            + (insecure ? ["--insecure"] : []) + (http1 ? ["--http1.1"] : [])
    }
}

/// A duration as it was typed.
struct TimeArgument: ExpressibleByArgument {
    let written: String
    init?(argument: String) {
        guard DurationText.parse(argument) != nil else { return nil }
        written = argument
    }

    var json: JSONText { .string(written) }
}
