import ArgumentParser
import TransferCore
import TransferQueue

/// The options for the proxy of requests.
struct ProxyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The URL of the proxy: http, https, socks5 or socks5h. An empty value switches off the proxies of the "
                + "environment.", valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("proxy-user"),
        help: ArgumentHelp(
            "The user who logs in to the proxy.", valueName: "name"))
    var proxyUser: String?

    @Option(
        name: .customLong("proxy-password"),
        help: ArgumentHelp(
            "The password of the proxy's user, by name: '$VARIABLE' or '@FILE'.", valueName: "$variable|@file"))
    var proxyPassword: String?

    @Option(
        name: .customLong("noproxy"),
        help: ArgumentHelp(
            "Hosts that are reached without a proxy, also without a proxy of the environment; comma-separated.",
            valueName: "list"))
    var noProxy: String?

    func add(to members: inout RequestMembers) throws {
        members.add("proxy", try value(), "--proxy")
        members.add("noProxy", noProxy.map { .string($0) }, "--noproxy")
    }

    private func value() throws -> JSONText? {
        let password = try SecretArgument.value(proxyPassword, "--proxy-password")
        guard proxyUser != nil || password != nil else { return proxy.map(Self.url) }
        guard let proxy, let proxyUser, let password else {
            throw ValidationError("--proxy-user and --proxy-password go together, with --proxy")
        }
        if proxyUser.contains(":") {
            // Every user of the machine can see the command line.
            throw ValidationError("--proxy-user is a name alone; --proxy-password '$VARIABLE' or '@FILE' is the rest")
        }
        return .object(["url": Self.url(proxy), "user": .string(proxyUser), "password": JSONText(password)])
    }

    /// Returns a proxy's URL. A proxy without a scheme speaks HTTP, as in curl.
    static func url(_ written: String) -> JSONText {
        .string(written.isEmpty || written.contains("://") ? written : "http://" + written)
    }

    func add(to given: inout GivenOptions) {
        given.add("--proxy", proxy)
        given.add("--proxy-user", proxyUser)
        given.add("--proxy-password", proxyPassword)
        given.add("--noproxy", noProxy)
    }
}
