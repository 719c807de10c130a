import ArgumentParser
import Glibc
import TransferCore
import TransferQueue

/// The options for a service (`transfer serve`) in place of a queue in a folder.
struct ServiceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Ask the service at this address (transfer serve) in place of a queue in a folder. Its secret is "
                + "TRANSFER_SECRET, or the secret of a service that the same user runs.", valueName: "url"),
        transform: ServiceAddress.text)
    var server: String?

    @Flag(
        name: .customLong("plain-http"),
        help: "Send the secret also to a service on another machine without TLS, where the network can read it.")
    var isPlainAllowed = false

    func validate() throws {
        guard server.map(Redaction.hasSecret) != true else {
            throw ValidationError("--server goes without a password in the address: TRANSFER_SECRET is the secret")
        }
    }

    /// Returns the service that an option names.
    ///
    /// - Parameter state: The state folder of the user's own service.
    func client(_ state: StateOptions) throws -> ServiceClient? {
        try server.map { try client(of: $0, state) }
    }

    /// Returns the service at an address.
    ///
    /// - Parameter state: The state folder of the user's own service.
    func client(of server: String, _ state: StateOptions) throws -> ServiceClient {
        let environment = Composition.environment
        var secret = environment["TRANSFER_SECRET"].flatMap { $0.isEmpty ? nil : $0 }
        // A local service shows its secret to its own user only.
        if secret == nil, let host = Origin(url: server)?.host,
            IPAddress(host)?.isLoopback == true || host == "localhost"
        {
            let path = try Composition.statePath(state.state) + "/serve.secret"
            secret = try? SecretSource().read(.file(path))
        }
        if secret != nil, !isPlainAllowed, let origin = Origin(url: server), origin.scheme == "http",
            origin.host != "localhost", IPAddress(origin.host)?.isLoopback != true
        {
            throw Failure(
                .wrongUsage,
                "\(origin) is another machine without TLS, and the network could read the secret: name its https:// "
                    + "address, or add --plain-http")
        }
        return ServiceClient(base: server.hasSuffix("/") ? String(server.dropLast()) : server, secret: secret)
    }
}

/// The address of a service.
enum ServiceAddress: OptionText {
    /// Accepts an address. One with a password is refused later, by a message that does not repeat the password.
    static func isTaken(_ argument: String) -> Bool { Origin(url: argument) != nil || Redaction.hasSecret(argument) }

    static let form = "the address of a service, such as http://127.0.0.1:6800"
}
